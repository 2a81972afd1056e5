//! Where each original record stands in the release, and whether a picked
//! record is the target's.
//!
//! A slot is the smallest thing in a release that belongs to one person:
//!
//! - clusters: a sub-record of the record chunk or shared chunk that holds most
//!   of what is known. If no chunk holds any of it, every record of the
//!   cluster is as likely to be the person's;
//! - leaves: the sub-record that the person's record keeps in its leaf;
//! - classes: one of the records of the person's class;
//! - groups: the row with the person's ordinary items, in a group that has the
//!   person's sensitive items.
//!
//! Equal sub-records, rows and records of a class cannot be told apart: who
//! picks one of c has found the person with probability 1/c.
//!
//! Positions in a drawn data set tell the cluster, class, leaf or group:
//! reconstructions hold one after the other, in the order in which they are
//! published, and inside of leaves and groups the published sub-records in
//! their order, then records without one.

mod clusters;
mod places;

use super::holders::Holders;
use super::unfit;
use crate::Result;
use crate::data::{Dataset, ItemId};
use crate::release::{Body, Release, Supports};
use clusters::Clusters;
use places::Places;

/// Where the custodian put each record of the original, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Slots {
    /// The number of the simple cluster, counted in the order of publication.
    Clusters(Vec<u32>),
    /// The number of the class; [`Slots::LEFT_OUT`] for a record without one.
    Classes(Vec<u32>),
    /// The number of the leaf, and what the record keeps there.
    Leaves(Vec<(u32, Vec<ItemId>)>),
    /// Groups show the ordinary items as they are: the rows tell.
    Rows,
    /// Nobody knows, or nobody is anywhere: linking is not measured.
    Unknown,
}

impl Slots {
    /// For a record that is not in the release.
    pub const LEFT_OUT: u32 = u32::MAX;

    /// For how many records it says something.
    fn len(&self) -> Option<usize> {
        match self {
            Self::Clusters(list) | Self::Classes(list) => Some(list.len()),
            Self::Leaves(list) => Some(list.len()),
            Self::Rows | Self::Unknown => None,
        }
    }
}

/// Says whether a picked record is the target's slot.
pub(super) enum Judge<'a> {
    Clusters(Clusters<'a>),
    Places(Places<'a>),
    Unknown,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        release: &'a Release,
        original: &'a Dataset,
        slots: &'a Slots,
    ) -> Result<Self> {
        if let Some(given) = slots.len().filter(|&given| given != original.len()) {
            return Err(unfit(format!("{given} places for {} records", original.len())));
        }
        match (&release.body, slots) {
            (Body::Disassociated(body), Slots::Clusters(leaf_of)) => {
                let lower = release.manifest.guarantee.supports == Supports::LowerBound;
                Clusters::new(body, original, leaf_of, lower).map(Self::Clusters)
            }
            (Body::Generalized(body), Slots::Classes(class_of)) => {
                Places::classes(body, class_of).map(Self::Places)
            }
            (Body::Located(body), Slots::Leaves(leaves)) => {
                Places::leaves(body, original, leaves).map(Self::Places)
            }
            (Body::Grouped(body), Slots::Rows) => Ok(Self::Places(Places::groups(body, original))),
            (_, Slots::Unknown) => Ok(Self::Unknown),
            _ => Err(unfit("the places are those of another kind of release".into())),
        }
    }

    /// Whether linking is measured at all.
    pub(super) fn links(&self) -> bool {
        !matches!(self, Self::Unknown)
    }

    /// The probability that one of `found`, picked uniformly, is the slot of
    /// record `target`.
    pub(super) fn score(
        &self,
        holders: &Holders,
        target: usize,
        known: &[ItemId],
        found: &[u32],
    ) -> f64 {
        let hits = match self {
            Self::Clusters(clusters) => clusters.hits(holders, target, known, found),
            Self::Places(places) => places.hits(target, found),
            Self::Unknown => 0.0,
        };
        hits / found.len().max(1) as f64
    }
}

/// Positions in a drawn data set, from the first to before the last.
type Range = (u64, u64);

/// Those of `found`, which ascend, that lie in a range of positions.
fn inside(found: &[u32], (start, end): Range) -> &[u32] {
    let at = |limit: u64| found.partition_point(|&r| u64::from(r) < limit);
    &found[at(start)..at(end)]
}
