//! What is published, and nothing else.
//!
//! A [`Release`] is a manifest and one of four bodies. It holds no link to
//! the original data: whatever takes a release alone can only use what every
//! recipient has. Reading and writing is in [`io`](crate::io).

mod bag;
mod disassociated;
mod generalized;
mod grouped;
pub(crate) mod key;
mod located;
mod manifest;
mod nonsense;
mod promises;

pub use bag::Bag;
pub(crate) use disassociated::in_canonical_order;
pub use disassociated::{Cluster, Disassociated, JointCluster, SimpleCluster};
pub use generalized::Generalized;
pub use grouped::{Group, Grouped};
pub use located::{Leaf, Located};
pub use manifest::{
    FORMAT, FileEntry, Guarantee, Manifest, Model, Supports, Universe, VERSION, VERSION_LOCATED,
};
pub use promises::Promises;

use crate::data::{ItemId, Vocabulary};

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

/// What of the original a release with exact supports does not speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeavesOut {
    /// Every record and every item is there.
    Nothing,
    /// Items of fewer than k records, and records that have no others.
    RareItems,
    /// Records with sensitive items only: others may have held these too.
    BareRecords,
}

impl Release {
    /// Classes of records that were not generalised are what was left when
    /// rare items were dropped; of other bodies the parameters tell.
    pub fn leaves_out(&self) -> LeavesOut {
        let parameter = |name: &str| self.manifest.parameters.get(name);
        match &self.body {
            Body::Generalized(body) if body.hierarchy.is_none() => LeavesOut::RareItems,
            Body::Disassociated(_) if parameter("drop_below_k").is_some() => LeavesOut::RareItems,
            Body::Grouped(_) if parameter("sensitive_only").is_some_and(|rule| rule == "drop") => {
                LeavesOut::BareRecords
            }
            _ => LeavesOut::Nothing,
        }
    }
}

impl Body {
    /// The labels that the body uses.
    pub fn vocabulary(&self) -> &Vocabulary {
        match self {
            Self::Disassociated(body) => &body.vocabulary,
            Self::Generalized(body) => &body.vocabulary,
            Self::Grouped(body) => &body.vocabulary,
            Self::Located(body) => &body.vocabulary,
        }
    }

    /// How many records the body speaks of, and at least how many occurrences
    /// of items they have together; the largest number where it does not fit.
    /// A few bytes can speak of billions: ask before making them.
    pub fn extent(&self) -> (u64, u64) {
        let bag = |bag: &Bag| {
            let occurrences =
                |(items, count): (&[ItemId], u32)| items.len() as u64 * u64::from(count);
            bag.iter().map(occurrences).fold(0, u64::saturating_add)
        };
        let add = |a: (u64, u64), b: (u64, u64)| (a.0.saturating_add(b.0), a.1.saturating_add(b.1));
        match self {
            Self::Disassociated(body) => {
                let leaf = |leaf: &SimpleCluster| {
                    let chunks = leaf.record_chunks.iter().map(bag).fold(0, u64::saturating_add);
                    (u64::from(leaf.size), chunks.saturating_add(leaf.term_chunk.len() as u64))
                };
                let leaves = body.clusters.iter().flat_map(Cluster::leaves);
                leaves.map(leaf).fold((0, 0), add)
            }
            Self::Generalized(body) => (body.classes.total(), bag(&body.classes)),
            Self::Grouped(body) => {
                let groups = body.groups.iter();
                groups.map(|g| (u64::from(g.size), bag(&g.records))).fold((0, 0), add)
            }
            Self::Located(body) => {
                let leaf = |leaf: &Leaf| {
                    let counted = leaf.counted.iter().map(|c| u64::from(c.1));
                    let further = counted.fold(leaf.listed.len() as u64, u64::saturating_add);
                    (u64::from(leaf.size), bag(&leaf.kept).saturating_add(further))
                };
                body.leaves.iter().map(leaf).fold((0, 0), add)
            }
        }
    }

    /// The file that holds the body, if it is one.
    pub fn file_name(&self) -> &'static str {
        match self {
            Self::Disassociated(_) => "clusters.jsonl",
            Self::Generalized(_) => "classes.jsonl",
            Self::Grouped(_) => "groups.jsonl",
            Self::Located(_) => "leaves.jsonl",
        }
    }
}
