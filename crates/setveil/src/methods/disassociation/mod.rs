//! Disassociation: keeps every original term and hides which rare
//! combinations occurred together (disassociation-2012).
//!
//! [`horpart`](Horpart) brings similar records together, [`verpart`] splits
//! the records of each cluster into chunks, `refine` lets clusters share
//! chunks. The horizontal partitioning stands behind a small interface, so
//! that another one can take its place, and so does the vertical one.

mod chunking;
mod clusters;
mod diversity;
mod horpart;
mod join;
mod leaves;
pub(crate) mod lemma2;
mod masks;
mod node;
mod parameters;
mod pipeline;
mod pooling;
mod postings;
mod present;
mod recipe;
mod refine;
mod rows;
mod spare;
mod verpart;

pub use clusters::Clusters;
pub use horpart::Horpart;
pub use parameters::{DEFAULT_MAX_CLUSTER_SIZE, Parameters, Sensitive, Sizes};
pub(super) use pipeline::release;
pub use pipeline::{Verpart, VerticalPartitioning, anonymize, disassociate, partition};
pub(super) use recipe::{KNOBS, Method};
pub use verpart::{Split, verpart};

use crate::data::Dataset;
use crate::progress::Progress;

/// Brings similar records together in clusters of k to max records.
pub trait HorizontalPartitioning: Sync {
    /// Divides all records of `data`, at least k, into clusters. Only items
    /// with `may_split` may decide who comes together. The clusters must not
    /// depend on the order of the records.
    fn partition(
        &self,
        data: &Dataset,
        may_split: &[bool],
        sizes: Sizes,
        progress: &dyn Progress,
    ) -> Clusters;
}
