//! The KL-divergence of group-by queries with a sensitive item (cahd-2008,
//! section II-B): how well a grouped release tells over which combinations of
//! non-sensitive items a sensitive item is spread.
//!
//! A query is a sensitive item s and r non-sensitive items. The 2^r cells are
//! the combinations of those items that a record has. Actual: the share of
//! the records with s in each cell. Estimated, from the release alone: the
//! sum over the groups of a * b / |G|, with a records of s and b records of
//! the cell in the group, over the occurrences of s. The divergence is the
//! sum of actual * ln(actual / estimated) in nats, where 0 ln 0 = 0.

use rand::seq::IteratorRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::data::{Dataset, ItemId};
use crate::release::{Group, Grouped};
use crate::{Error, Progress, Result};

/// The queries to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Queries {
    /// How many queries.
    pub count: u32,
    /// How many non-sensitive items each is grouped by; at most [`Queries::MAX_R`].
    pub r: u32,
    /// Where the random draws begin.
    pub seed: u64,
}

impl Queries {
    /// The largest r: 2^r cells are kept in memory.
    pub const MAX_R: u32 = 20;
}

impl Default for Queries {
    /// 100 queries over 4 items, as the paper does.
    fn default() -> Self {
        Self { count: 100, r: 4, seed: 1 }
    }
}

/// The mean divergence over random queries with the `sensitive` labels: s uniformly among the sensitive
/// items that occur, the r items uniformly among the non-sensitive ones (all
/// of them, if there are fewer). The same original, sensitive items and
/// `queries` give the same queries for every release.
///
/// None if no sensitive item occurs or no query is asked for. Infinite if a
/// cell with a sensitive record is estimated empty: that cannot happen with
/// an exact release of this original.
pub fn kl_divergence(
    sensitive: &[String],
    release: &Grouped,
    original: &Dataset,
    queries: &Queries,
    progress: &dyn Progress,
) -> Result<Option<f64>> {
    if queries.r == 0 || queries.r > Queries::MAX_R {
        return Err(Error::Parameter {
            name: "r",
            found: queries.r.to_string(),
            expected: "a whole number from 1 to 20",
        });
    }
    let sensitive = items(sensitive, original);
    let is_qid = |i: &ItemId| sensitive.binary_search(i).is_err();
    let supports = original.supports();
    let occurs = |i: &ItemId| supports[*i as usize] > 0;
    let asked: Vec<ItemId> = sensitive.iter().copied().filter(occurs).collect();
    if asked.is_empty() || queries.count == 0 {
        return Ok(None);
    }
    let known = || (0..original.item_count() as ItemId).filter(is_qid).filter(occurs);
    let mut rng = ChaCha8Rng::seed_from_u64(queries.seed);
    let mut cells = Cells::new(original, release);
    let mut sum = 0.0;
    for _ in 0..queries.count {
        progress.step(0)?;
        let s = asked[rng.random_range(0..asked.len())];
        let mut by = known().sample(&mut rng, queries.r as usize);
        by.sort_unstable();
        sum += cells.divergence(s, &by);
    }
    Ok(Some(sum / f64::from(queries.count)))
}

/// The labels as ids of the original, ascending.
fn items(labels: &[String], original: &Dataset) -> Vec<ItemId> {
    let mut items: Vec<ItemId> =
        labels.iter().filter_map(|l| original.vocabulary().id(l)).collect();
    items.sort_unstable();
    items.dedup();
    items
}

/// Sorts records into the cells of a query, on both sides.
struct Cells<'a> {
    original: &'a Dataset,
    release: &'a Grouped,
    /// The bit of an item in the number of a cell; 0 for items that are not asked for.
    actual_bits: Vec<u32>,
    estimated_bits: Vec<u32>,
}

impl<'a> Cells<'a> {
    fn new(original: &'a Dataset, release: &'a Grouped) -> Self {
        Self {
            original,
            release,
            actual_bits: vec![0; original.item_count()],
            estimated_bits: vec![0; release.vocabulary.len()],
        }
    }

    fn divergence(&mut self, s: ItemId, by: &[ItemId]) -> f64 {
        self.set_bits(by, true);
        let cells = 1 << by.len();
        let actual = self.actual(s, cells);
        let estimated = self.estimated(s, cells);
        self.set_bits(by, false);
        divergence(&actual, &estimated)
    }

    fn set_bits(&mut self, by: &[ItemId], on: bool) {
        for (i, &item) in by.iter().enumerate() {
            let bit = if on { 1 << i } else { 0 };
            self.actual_bits[item as usize] = bit;
            let label = self.original.vocabulary().label(item);
            if let Some(item) = self.release.vocabulary.id(label) {
                self.estimated_bits[item as usize] = bit;
            }
        }
    }

    /// The records with `s` in each cell.
    fn actual(&self, s: ItemId, cells: usize) -> Vec<f64> {
        let mut counts = vec![0.0; cells];
        for record in self.original.records().filter(|r| r.binary_search(&s).is_ok()) {
            counts[cell(record, &self.actual_bits)] += 1.0;
        }
        counts
    }

    /// The records with `s` that the release suggests in each cell.
    fn estimated(&self, s: ItemId, cells: usize) -> Vec<f64> {
        let mut sums = vec![0.0; cells];
        let label = self.original.vocabulary().label(s);
        let Some(s) = self.release.vocabulary.id(label) else { return sums };
        for group in &self.release.groups {
            let Some(a) = occurrences(group, s) else { continue };
            let share = f64::from(a) / f64::from(group.size);
            for (items, count) in group.records.iter() {
                sums[cell(items, &self.estimated_bits)] += share * f64::from(count);
            }
            // Records without any non-sensitive item are published by the size alone.
            let bare = u64::from(group.size).saturating_sub(group.records.total());
            sums[0] += share * bare as f64;
        }
        sums
    }
}

fn occurrences(group: &Group, s: ItemId) -> Option<u32> {
    group.sensitive.iter().find(|(item, _)| *item == s).map(|&(_, count)| count)
}

fn cell(items: &[ItemId], bits: &[u32]) -> usize {
    items.iter().fold(0, |cell, &i| cell | bits[i as usize]) as usize
}

/// The divergence of two distributions given by what they count: each over
/// the occurrences of the sensitive item, which is the same number for both.
fn divergence(actual: &[f64], estimated: &[f64]) -> f64 {
    let total: f64 = actual.iter().sum();
    let pairs = actual.iter().zip(estimated).filter(|(a, _)| **a > 0.0);
    pairs.map(|(a, e)| a / total * (a / e).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_lost_is_zero_and_half_of_the_only_cell_is_ln_2() {
        assert_eq!(divergence(&[1.0, 0.0, 3.0], &[1.0, 0.0, 3.0]), 0.0);
        assert!((divergence(&[0.0, 1.0], &[0.5, 0.5]) - 2f64.ln()).abs() < 1e-12);
        assert_eq!(divergence(&[1.0, 1.0], &[2.0, 0.0]), f64::INFINITY);
    }
}
