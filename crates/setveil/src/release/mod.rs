//! What is published, and nothing else.
//!
//! A [`Release`] is a manifest and one of four bodies. It holds no link to
//! the original data: whatever takes a release alone can only use what every
//! recipient has. Reading and writing is in [`io`](crate::io).

mod bag;
mod disassociated;
mod generalized;
mod grouped;
mod located;
mod manifest;

pub use bag::Bag;
pub(crate) use disassociated::in_canonical_order;
pub use disassociated::{Cluster, Disassociated, JointCluster, SimpleCluster};
pub use generalized::Generalized;
pub use grouped::{Group, Grouped};
pub use located::{Leaf, Located};
pub use manifest::{
    FORMAT, FileEntry, Guarantee, Manifest, Model, Supports, Universe, VERSION, VERSION_LOCATED,
};

use crate::data::Vocabulary;

/// A published data set.
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    /// What was done, and what is promised.
    pub manifest: Manifest,
    /// The data.
    pub body: Body,
}

/// The four shapes a release can have.
// There is one body a release, so nothing is gained by making the largest smaller.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Clusters of chunks: disassociation and DLS.
    Disassociated(Disassociated),
    /// Classes of equal generalised records: Partition, Apriori, DiffPart, rare-item suppression.
    Generalized(Generalized),
    /// Groups with separated sensitive items: CAHD, PermMondrian.
    Grouped(Grouped),
    /// Leaves with kept sub-records, counts and lists: local suppression.
    Located(Located),
}

/// What it says of an item that it is not published, where supports are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// No record has it.
    Nowhere,
    /// Items that fewer than k records have were dropped.
    BelowK,
}

impl Body {
    /// Classes of records that were not generalised are what was left when
    /// rare items were dropped.
    pub fn absent(&self) -> Absent {
        match self {
            Self::Generalized(body) if body.hierarchy.is_none() => Absent::BelowK,
            _ => Absent::Nowhere,
        }
    }

    /// The labels that the body uses.
    pub fn vocabulary(&self) -> &Vocabulary {
        match self {
            Self::Disassociated(body) => &body.vocabulary,
            Self::Generalized(body) => &body.vocabulary,
            Self::Grouped(body) => &body.vocabulary,
            Self::Located(body) => &body.vocabulary,
        }
    }

    /// The file that holds the body.
    pub fn file_name(&self) -> &'static str {
        match self {
            Self::Disassociated(_) => "clusters.jsonl",
            Self::Generalized(_) => "classes.jsonl",
            Self::Grouped(_) => "groups.jsonl",
            Self::Located(_) => "leaves.jsonl",
        }
    }
}
