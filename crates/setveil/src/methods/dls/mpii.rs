//! MPII: the minimal problematic itemsets of a cluster (dls-2022, section
//! 5.1.1 and Algorithm 1).
//!
//! An itemset of at most m items is *problematic* if it occurs, but in fewer
//! than k records, and *minimal* if none of its subsets is. A bag is
//! k^m-anonymous exactly when it has no minimal problematic itemset.
//!
//! What is enumerated are itemsets with at least k records in which every
//! item narrows the records down: if taking an item away leaves the same
//! records, no itemset that contains the whole can be minimal. Twins (items
//! with equal columns) and items that imply others therefore cost nothing,
//! however many there are in long records.

use std::ops::ControlFlow;

use super::columns::{Columns, count_and};
use crate::Result;
use crate::data::{ItemId, K, M};
use crate::progress::{Progress, Pulse};

/// The minimal problematic itemsets of a cluster's records, ascending by
/// size, then by items.
///
/// # Complexity
/// One intersection of bit sets for each pair of itemsets that differ in
/// their last item, over the non-redundant itemsets with at least k records
/// and fewer than m items.
///
/// # Deviations
/// Depth first on bit sets instead of scans of the cluster for each level.
/// Algorithm 1 prunes only with the problematic itemsets of the level before;
/// here every subset counts, as Definition 7 says.
///
/// ```
/// use setveil::data::{K, M};
/// use setveil::methods::dls::mpii;
/// // {0, 1} is in one record; 0 and 1 alone are in three each.
/// let records: [&[u32]; 5] = [&[0, 1], &[0], &[0], &[1], &[1, 2]];
/// assert_eq!(mpii(&records, K::new(2)?, M::new(3)?), [vec![2], vec![0, 1]]);
/// # Ok::<(), setveil::Error>(())
/// ```
pub fn mpii(records: &[&[ItemId]], k: K, m: M) -> Vec<Vec<ItemId>> {
    let (columns, rare, _) = whole(records, k);
    let mut found: Vec<Vec<ItemId>> = rare.into_iter().map(|item| vec![item]).collect();
    let _ = minimal_problematic(&columns, k, m, &(), |itemset, _| {
        found.push(itemset.iter().map(|&i| columns.items()[i]).collect());
        ControlFlow::Continue(())
    });
    found.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    found
}

/// The columns of a cluster's items with at least `k` records, and the others.
fn whole(records: &[&[ItemId]], k: K) -> (Columns, Vec<ItemId>, Vec<u32>) {
    Columns::split(records, k.get(), &|_| false, &()).expect("nobody says stop")
}

/// How many minimal problematic itemsets of 1, 2, .. m items there are; the
/// same search as [`mpii`] without keeping them.
pub fn mpii_counts(records: &[&[ItemId]], k: K, m: M) -> Vec<u64> {
    let (columns, rare, _) = whole(records, k);
    let mut counts = vec![0; m.get() as usize];
    counts[0] = rare.len() as u64;
    let _ = minimal_problematic(&columns, k, m, &(), |itemset, _| {
        counts[itemset.len() - 1] += 1;
        ControlFlow::Continue(())
    });
    counts
}

/// Calls `visit` with every minimal problematic itemset of two or more items,
/// as ascending indices of columns, and with the records that hold it, until
/// it breaks off; whether it did is returned. Every column must have at least
/// k records.
pub(crate) fn minimal_problematic(
    columns: &Columns,
    k: K,
    m: M,
    progress: &dyn Progress,
    visit: impl FnMut(&[usize], &[u64]) -> ControlFlow<()>,
) -> Result<ControlFlow<()>> {
    if m.get() < 2 {
        return Ok(ControlFlow::Continue(()));
    }
    let mut root = Level::default();
    for i in 0..columns.len() {
        debug_assert!(columns.support(i) >= k.get());
        root.push(i, columns.support(i), columns.column(i).iter().copied());
    }
    let mut levels: Vec<Level> = vec![root];
    levels.resize_with(m.get() as usize, Level::default);
    let search =
        Search { columns, k: k.get(), m: m.get() as usize, path: Vec::new(), scratch: Vec::new() };
    Visitor { search, levels, visit, pulse: Pulse::new(progress) }.descend(0)
}

/// The extensions of one itemset by one item, each with at least k records.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    pub(super) items: Vec<usize>,
    pub(super) supports: Vec<u32>,
    bits: Vec<u64>,
}

impl Level {
    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.supports.clear();
        self.bits.clear();
    }

    pub(super) fn push(&mut self, item: usize, support: u32, bits: impl Iterator<Item = u64>) {
        self.items.push(item);
        self.supports.push(support);
        self.bits.extend(bits);
    }

    pub(super) fn bits(&self, i: usize, words: usize) -> &[u64] {
        &self.bits[i * words..(i + 1) * words]
    }
}

struct Search<'a> {
    columns: &'a Columns,
    k: u32,
    m: usize,
    path: Vec<usize>,
    scratch: Vec<usize>,
}

struct Visitor<'a, F> {
    search: Search<'a>,
    levels: Vec<Level>,
    visit: F,
    pulse: Pulse<'a>,
}

impl<F: FnMut(&[usize], &[u64]) -> ControlFlow<()>> Visitor<'_, F> {
    /// `levels[depth]` holds the extensions of `path`, which has `depth` items.
    fn descend(&mut self, depth: usize) -> Result<ControlFlow<()>> {
        let words = self.search.columns.words();
        for a in 0..self.levels[depth].items.len() {
            let (above, below) = self.levels.split_at_mut(depth + 1);
            let (here, next) = (&above[depth], &mut below[0]);
            next.clear();
            let bits_a = here.bits(a, words);
            for b in a + 1..here.items.len() {
                let bits_b = here.bits(b, words);
                let support = count_and(bits_a, bits_b);
                if support == 0 {
                    continue;
                }
                let both = || bits_a.iter().zip(bits_b).map(|(x, y)| x & y);
                let (x, y) = (here.items[a], here.items[b]);
                if support < self.search.k {
                    if self.search.parts_exceed(x, y, self.search.k - 1) {
                        let records: Vec<u64> = both().collect();
                        self.search.scratch.clone_from(&self.search.path);
                        self.search.scratch.extend([x, y]);
                        if (self.visit)(&self.search.scratch, &records).is_break() {
                            return Ok(ControlFlow::Break(()));
                        }
                    }
                } else if depth + 2 < self.search.m
                    && support < here.supports[a].min(here.supports[b])
                    && self.search.parts_exceed(x, y, support)
                {
                    next.push(y, support, both());
                }
            }
            self.pulse.work(words * (self.levels[depth].items.len() - a))?;
            if self.levels[depth + 1].items.len() > 1 {
                self.search.path.push(self.levels[depth].items[a]);
                if self.descend(depth + 1)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                self.search.path.pop();
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Search<'_> {
    /// Whether `path + x + y` without any one item of the path is in more
    /// than `bound` records. (Without x or y it is known already.)
    fn parts_exceed(&self, x: usize, y: usize, bound: u32) -> bool {
        (0..self.path.len()).all(|left_out| {
            let rest = self.path.iter().enumerate().filter(move |(i, _)| *i != left_out);
            let part = rest.map(|(_, &item)| item).chain([x, y]);
            self.columns.itemset_support(part) > bound
        })
    }
}
