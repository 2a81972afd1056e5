//! Ranks of items, and how large parts may be: what a [plan](super::plan) is made with.

use serde::{Deserialize, Serialize};

use crate::data::{ItemId, K, damaged};
use crate::{Error, Result};

/// The ranks of items: 0 is the most frequent one. Of two that are equally
/// frequent the first by text comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ranks {
    /// By item; `NONE` for one that has no rank.
    ranks: Vec<u32>,
    /// By rank; the first of those that share one.
    items: Vec<ItemId>,
}

const NONE: u32 = u32::MAX;

impl Ranks {
    /// The ranks of the items with these counts; one with a count of 0 has none.
    pub fn new(counts: &[u64]) -> Self {
        let mut items: Vec<ItemId> =
            (0..counts.len() as ItemId).filter(|&item| counts[item as usize] > 0).collect();
        items.sort_by_key(|&item| (std::cmp::Reverse(counts[item as usize]), item));
        let mut ranks = vec![NONE; counts.len()];
        for (rank, &item) in items.iter().enumerate() {
            ranks[item as usize] = rank as u32;
        }
        Self { ranks, items }
    }

    /// As [`new`](Self::new), for parts of records. Neighbours that are in so few records that all
    /// of these are half of the least part share a rank: no beginning that ends with it is ever
    /// made longer, so nobody asks which of them it was, and a large vocabulary is a few counts.
    pub fn of_records(counts: &[u64], size: PartSize) -> Self {
        let Self { mut ranks, items: all } = Self::new(counts);
        let (mut items, mut together) = (Vec::new(), 0u64);
        for item in all {
            together = together.saturating_add(counts[item as usize]);
            if items.is_empty() || together > size.min() / 2 {
                items.push(item);
                together = counts[item as usize];
            }
            ranks[item as usize] = items.len() as u32 - 1;
        }
        Self { ranks, items }
    }

    /// The ranks of terms that have not been shared, the rarest first: of those
    /// that several `clusters` have, and at least k `records` together.
    pub fn rare_first(clusters: &[u64], records: &[u64], k: K) -> Self {
        let common = |(&c, &r): (&u64, &u64)| c > 1 && r >= u64::from(k.get());
        let both = clusters.iter().zip(records);
        let counts = both.map(|some| if common(some) { u64::MAX - some.0 } else { 0 });
        Self::new(&counts.collect::<Vec<u64>>())
    }

    /// Writes the ranks of the items that have one to `ranks`, ascending; one that several share
    /// as often as they are there.
    pub fn of(&self, items: &[ItemId], ranks: &mut Vec<u32>) {
        ranks.clear();
        let found = items.iter().filter_map(|&item| self.ranks.get(item as usize));
        ranks.extend(found.filter(|&&rank| rank != NONE));
        ranks.sort_unstable();
    }

    /// As [`of`](Self::of), in any order, for items that were read from a shelf.
    ///
    /// # Errors
    /// If there is no such item.
    pub(super) fn of_items(
        &self,
        items: impl Iterator<Item = Option<ItemId>>,
        ranks: &mut Vec<u32>,
    ) -> Result<()> {
        ranks.clear();
        for item in items {
            let rank = item.and_then(|item| self.ranks.get(item as usize));
            ranks.extend(Some(*rank.ok_or_else(damaged)?).filter(|&rank| rank != NONE));
        }
        Ok(())
    }

    /// The items of these ranks, ascending; of each its first.
    pub fn items(&self, ranks: &[u32]) -> Vec<ItemId> {
        let mut items: Vec<ItemId> = ranks.iter().map(|&rank| self.items[rank as usize]).collect();
        items.sort_unstable();
        items
    }

    /// Whether an item has a rank.
    pub fn has(&self, item: ItemId) -> bool {
        self.ranks.get(item as usize).is_some_and(|&rank| rank != NONE)
    }
}

/// How large a part may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartSize {
    max: u64,
}

impl PartSize {
    /// Parts of at most about `max` records and at least a quarter of that.
    ///
    /// # Errors
    /// If that is less than 16 clusters of `cluster` records each.
    pub fn records(max: u64, cluster: usize) -> Result<Self> {
        if max < 16 * cluster as u64 {
            return Err(Error::Parameter {
                name: "part-size",
                found: max.to_string(),
                expected: "at least 16 times the largest cluster",
            });
        }
        Ok(Self { max })
    }

    /// Parts of at most about so much of anything.
    pub fn weight(max: u64) -> Self {
        Self { max: max.max(4) }
    }

    /// How many parts equal ones of this weight fill.
    pub(super) fn pieces(self, weight: u64) -> u64 {
        weight.div_ceil(self.max)
    }

    /// The smaller of the two.
    #[must_use]
    pub fn at_most(self, max: u64) -> Self {
        Self::weight(self.max.min(max))
    }

    /// The least of a part, if there is so much at all.
    pub fn min(self) -> u64 {
        self.max / 4
    }

    /// What a part has at most, but for what cannot be divided; the last one a
    /// quarter more.
    pub fn max(self) -> u64 {
        self.max
    }
}
