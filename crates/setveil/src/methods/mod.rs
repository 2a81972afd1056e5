//! The methods: each takes a [`Dataset`](crate::Dataset) and checked
//! parameters and gives a [`Release`](crate::Release). One folder each, files
//! named after the paper's algorithms. [`Method`] is one of them with its
//! parameters, as a value.
//!
//! No method sees [`verify`](crate::verify), and `verify` sees no method.

pub mod apriori;
pub mod cahd;
pub mod diffpart;
pub mod disassociation;
pub mod dls;
mod generalization;
mod limits;
pub mod local_suppression;
mod members;
mod method;
pub mod partition;
pub mod perm_mondrian;
mod recipe;
mod sensitive;
pub mod suppress_rare;

pub(crate) use disassociation::Clusters;
pub(crate) use members::match_up;
pub use method::Method;
pub use recipe::{ClusterAlgorithm, Details, Knob, Outcome, PublishCluster};
