//! Leaves with the sub-records that their records keep, and what is known of
//! the rest (`docs/local-suppression.md`).
//!
//! A leaf of `size` s stands for s records, none of them empty.
//!
//! - The kept sub-records belong to different records of the leaf.
//! - A counted item is in exactly so many *further* records of the leaf:
//!   records whose kept sub-record does not have it.
//! - A listed item is in at least one further record of the leaf. If it has a
//!   total, then over all leaves that list it, it is in exactly so many
//!   further records.
//!
//! Canonical order: items ascend by text; sub-records by items; leaves by size,
//! kept sub-records, counted and listed items.

use super::Bag;
use crate::data::{ItemId, Vocabulary};

/// The body of a located release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Located {
    /// The labels of all published items.
    pub vocabulary: Vocabulary,
    /// The leaves in canonical order.
    pub leaves: Vec<Leaf>,
    /// Listed items with the number of further records over all leaves that
    /// list them, ascending.
    pub totals: Vec<(ItemId, u64)>,
}

/// Records that are hidden among each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leaf {
    /// How many records the leaf holds.
    pub size: u32,
    /// What the records keep, at most one sub-record each.
    pub kept: Bag,
    /// Items and in how many further records they are, ascending.
    pub counted: Vec<(ItemId, u32)>,
    /// Items that are in at least one further record, ascending.
    pub listed: Vec<ItemId>,
}

impl Leaf {
    /// The records that keep nothing.
    pub fn bare(&self) -> u64 {
        u64::from(self.size).saturating_sub(self.kept.total())
    }

    /// The same leaf with every item renumbered; in order only if `renumber` is
    /// monotone.
    pub(crate) fn renumber(&mut self, renumber: &[ItemId]) {
        self.kept.renumber(renumber);
        self.counted.iter_mut().for_each(|c| c.0 = renumber[c.0 as usize]);
        self.listed.iter_mut().for_each(|item| *item = renumber[*item as usize]);
    }

    /// Where a leaf comes among others, as far as its size and the first two
    /// items of its first sub-record tell.
    pub(crate) fn sort_key(&self) -> u128 {
        let items = if self.kept.is_empty() { &[][..] } else { self.kept.get(0).0 };
        // What has no such item comes first.
        let item = |i: usize| items.get(i).map_or(0, |&item| u128::from(item) + 1);
        u128::from(self.size) << 80 | item(0) << 40 | item(1)
    }
}

impl Located {
    /// How many records the leaves hold together.
    pub fn records(&self) -> u64 {
        self.leaves.iter().map(|l| u64::from(l.size)).sum()
    }

    /// The total of `item`, if it has one.
    pub fn total(&self, item: ItemId) -> Option<u64> {
        let at = self.totals.binary_search_by_key(&item, |t| t.0).ok()?;
        Some(self.totals[at].1)
    }
}
