//! Disassociation: keeps every original term and hides which rare
//! combinations occurred together (disassociation-2012).
//!
//! [`horpart`](Horpart) brings similar records together, [`verpart`] splits
//! the records of each cluster into chunks, `refine` lets clusters share
//! chunks: one folder each, with the algorithm in its `mod.rs`. The horizontal
//! and the vertical partitioning are chosen by the [`Parameters`]; another one
//! can be plugged in by code ([`anonymize_with`]).

mod clusters;
mod diversity;
mod horpart;
mod index;
pub(crate) mod lemma2;
mod parameters;
mod part;
mod partitioning;
pub mod parts;
mod pipeline;
mod recipe;
mod refine;
pub mod safe;
mod scratch;
mod together;
mod verpart;

pub use clusters::Clusters;
pub use horpart::{CountOnly, Horpart};
pub use parameters::{DEFAULT_MAX_CLUSTER_SIZE, Parameters, Sensitive, Sizes};
pub(super) use part::part;
pub use part::{Part, anonymize_part};
pub use partitioning::{
    Chunking, Clustering, HorizontalPartitioning, TermChunks, VerticalPartitioning, Whole,
};
pub use pipeline::{anonymize, anonymize_with, publish};
pub(super) use pipeline::{
    chunk_clusters, cluster_records, disassociate, refuse_other_chunking, release,
};
pub(super) use recipe::{KNOBS, Method};
pub(super) use together::Together;
pub use verpart::{ChunkedCluster, Chunker, Verpart, verpart};
