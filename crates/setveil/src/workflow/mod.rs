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
mod command;
pub mod compare;
mod evaluate;
mod example;
pub mod files;
mod itemsets;
mod keep;
mod limits;
mod on_disk;
mod profile;
mod query;
pub mod recommend;
mod reconstruct;
mod replay;
mod report;
mod risk;
mod search;
mod tables;
mod understood;
mod verify;

pub use anonymize::{Anonymized, anonymize};
pub use attack::{Attacked, FormatGuarantee, attack};
pub use command::{CommandFiles, command, full_command, quoted};
pub use compare::compare;
pub use evaluate::evaluate;
pub use example::{Example, Piece, example};
pub use itemsets::{ItemsetOptions, Itemsets, Rule, items, itemsets};
pub use keep::KeptSet;
pub use profile::{Profiled, Suggestion, profile};
pub use query::{QueryOptions, query};
pub use recommend::recommend;
pub use reconstruct::{ReconstructOptions, reconstruct, reconstruct_one};
pub use report::{Assessed, Reported, assess, promised, report};
pub use risk::risk;
pub use search::{
    Catalogue, Listed, Matches, Node, Window, find_answers, find_nodes, missing_from,
};
pub use understood::{Understood, understood};
pub use verify::{
    CheckedFile, cautions, check, spelling, verify, verify_file, verify_files, verify_from,
};

use evaluate::measured;
use risk::played;
