//! The methods: each takes a [`Dataset`](crate::Dataset) and checked
//! parameters and gives a [`Release`](crate::Release). One folder each, files
//! named after the paper's algorithms.
//!
//! No method sees [`verify`](crate::verify), and `verify` sees no method.

pub mod apriori;
pub mod cahd;
pub mod diffpart;
pub mod disassociation;
pub mod dls;
pub mod generalization;
pub mod members;
pub mod partition;
pub mod perm_mondrian;
pub mod sensitive;
pub mod suppress_rare;
