//! What people come for, from end to end: options in, a result out that can be
//! written as JSON. The command line, and whatever else stands on this
//! library, calls these and adds nothing but words.
//!
//! This is the only part that sees everything: methods and `verify`, releases
//! and originals. Facts that one part needs and only another can tell (which
//! records are in a cluster, how a method treats one, what is sensitive) are
//! found out here, so that no caller can forget one.
//!
//! Functions work on values in memory; those of [`files`] read and write.

mod anonymize;
mod attack;
pub mod compare;
mod evaluate;
pub mod files;
mod itemsets;
mod limits;
mod profile;
mod query;
mod reconstruct;
mod report;
mod tables;
mod verify;

pub use anonymize::{Anonymized, anonymize};
pub use attack::{Attacked, FormatGuarantee, attack};
pub use compare::compare;
pub use evaluate::evaluate;
pub use itemsets::{ItemsetOptions, Itemsets, Rule, items, itemsets};
pub use profile::{Profiled, profile};
pub use query::{QueryOptions, query};
pub use reconstruct::{ReconstructOptions, reconstruct, reconstruct_one};
pub use report::{Reported, report};
pub use verify::{check, spelling, verify, verify_from};
