//! The cover problem (cover-problem-2016, section 5): pairs of items that no
//! data set with k records would have led VERPART to publish apart.
//!
//! VERPART fills one chunk after the other, offering it the remaining items by
//! falling support (ties by text). An item x of a later chunk was therefore
//! refused by **every** earlier chunk: with the items I that this chunk held
//! then, some combination of at most m items would have had fewer than k
//! records. If every record of y has all of I, then k records with both x and y
//! would have been k records with any part of I and x, and x would have been
//! accepted. So {x, y} is in fewer than k records of this cluster, though the
//! published format leaves more possible.
//!
//! A release does not say in which order its chunks were made, but supports
//! do: every chunk begins with the first remaining item, so chunks were made in
//! the order of their most frequent items (ties by text), and items entered a
//! chunk by falling support.
//!
//! This reasoning is about VERPART as printed. It does not see a term that a
//! repair of Lemma 2 moved to the term chunk, and says nothing across clusters.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Background;
use crate::data::{ItemId, K};
use crate::release::{Bag, Disassociated, SimpleCluster};
use crate::worlds::BodyWorlds;
use crate::{Progress, Result};

/// Must stand wherever a number of covers is printed.
pub const NO_COVER_IS_NOT_SAFETY: &str = "absence of a cover is not safety: enumeration of small \
    clusters finds pairs that an attacker who knows the algorithm can narrow down to fewer than k \
    records although no cover shows them";

/// Must be said where some covers may not be counted.
pub(super) const LARGE: &str = "in clusters with more than 129 items in chunks, 64 covers an item \
    are counted at most, and none beyond 2048 items";

/// Covers of one leaf per item of its chunks, at most: up to 129 items have no more pairs.
const MOST: usize = 64;

/// Leaves with more items in their chunks are not looked at. No method makes such a one of
/// ordinary data, and the work grows with the square of the items.
const LARGEST: usize = 1 << 11;

/// How many items stand in the chunks.
fn items_of(chunks: &[Ranked]) -> usize {
    chunks.iter().map(|chunk| chunk.items.len()).sum()
}

/// A pair that is in fewer than k records of its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cover {
    /// The cluster's number in the release.
    pub cluster: usize,
    /// The smaller item.
    pub a: ItemId,
    /// The larger item.
    pub b: ItemId,
}

/// A chunk with its items in the order in which VERPART offered them.
struct Ranked<'a> {
    bag: &'a Bag,
    /// Support and item.
    items: Vec<(u64, ItemId)>,
}

/// The record chunks in the order in which VERPART made them.
fn ranked(leaf: &SimpleCluster) -> Vec<Ranked<'_>> {
    let mut chunks: Vec<Ranked> = leaf.record_chunks.iter().map(rank).collect();
    chunks.sort_by(|a, b| by_rank(&a.items[0], &b.items[0]));
    chunks
}

fn rank(bag: &Bag) -> Ranked<'_> {
    let mut supports: FxHashMap<ItemId, u64> = FxHashMap::default();
    for (items, count) in bag.iter() {
        for &item in items {
            *supports.entry(item).or_default() += u64::from(count);
        }
    }
    let mut items: Vec<(u64, ItemId)> = supports.into_iter().map(|(i, s)| (s, i)).collect();
    items.sort_unstable_by(by_rank);
    Ranked { bag, items }
}

/// Falling support, then text.
fn by_rank(a: &(u64, ItemId), b: &(u64, ItemId)) -> std::cmp::Ordering {
    b.0.cmp(&a.0).then(a.1.cmp(&b.1))
}

/// All covers of a release, by the corrected test.
///
/// # Deviations
/// Definition 3 looks at the chunk before only, and at items of at least the
/// support of x. Here every earlier chunk refused x, I is exactly what it
/// held then, and y may be any of its items. For m = 2, an item of I that must
/// share k records with x anyway (there are not enough records to stay apart)
/// cannot have been the reason and is left out of I.
///
/// # Complexity
/// Per cluster, items times sub-records and items times items of earlier chunks, up to
/// 2048 items.
///
/// # Errors
/// If `progress` says stop.
pub fn find(body: &Disassociated, k: K, m: u32, progress: &dyn Progress) -> Result<Vec<Cover>> {
    Ok(find_counted(body, k, m, progress)?.0)
}

/// The same, and whether some covers may not be counted.
pub(super) fn find_counted(
    body: &Disassociated,
    k: K,
    m: u32,
    progress: &dyn Progress,
) -> Result<(Vec<Cover>, bool)> {
    let covers = body.clusters.par_iter().enumerate().map(|(cluster, published)| {
        progress.step(1)?;
        let (mut covers, mut large) = (Vec::new(), false);
        for leaf in published.leaves() {
            progress.step(0)?;
            let (pairs, cut) = of_chunks(&ranked(leaf), leaf.size, k, m);
            large |= cut;
            let covers_of = |(a, b): (ItemId, ItemId)| Cover { cluster, a: a.min(b), b: a.max(b) };
            covers.extend(pairs.into_iter().map(covers_of));
        }
        covers.sort_unstable();
        covers.dedup();
        Ok((covers, large))
    });
    let covers: Vec<(Vec<Cover>, bool)> = covers.collect::<Result<_>>()?;
    let large = covers.iter().any(|(_, large)| *large);
    Ok((covers.into_iter().flat_map(|(covers, _)| covers).collect(), large))
}

/// The covered pairs of one leaf.
pub fn of_leaf(leaf: &SimpleCluster, k: K, m: u32) -> Vec<(ItemId, ItemId)> {
    of_chunks(&ranked(leaf), leaf.size, k, m).0
}

/// The covered pairs, and whether there may be more.
fn of_chunks(chunks: &[Ranked], size: u32, k: K, m: u32) -> (Vec<(ItemId, ItemId)>, bool) {
    let (k, size) = (u64::from(k.get()), u64::from(size));
    let (mut pairs, items) = (Vec::new(), items_of(chunks));
    // With m = 1 a chunk refuses nothing.
    if m < 2 || items > LARGEST {
        return (pairs, m >= 2);
    }
    for (e, earlier) in chunks.iter().enumerate() {
        let mut later: Vec<&(u64, ItemId)> =
            chunks[e + 1..].iter().flat_map(|c| &c.items).collect();
        later.sort_unstable_by(|a, b| by_rank(a, b));
        let mut held = Held::new(earlier);
        for x in later {
            let end = earlier.items.partition_point(|y| by_rank(y, x).is_lt());
            // No overlap of k by force: only then can it be the reason.
            let by_force = |y: &(u64, ItemId)| m == 2 && y.0 + x.0 >= size + k;
            let start = earlier.items.partition_point(by_force);
            if start >= end {
                continue;
            }
            held.hold(start, end);
            for (at, (support, y)) in earlier.items.iter().enumerate() {
                if held.apart[at] == 0 && support + x.0 < size + k {
                    pairs.push((*y, x.1));
                }
            }
            if pairs.len() >= MOST * items {
                return (pairs, true);
            }
        }
    }
    (pairs, false)
}

/// What an earlier chunk held when it refused an item: a range of its items,
/// by rank, that only grows as the refused ones become less frequent.
struct Held<'a> {
    chunk: &'a Ranked<'a>,
    range: std::ops::Range<usize>,
    /// For each sub-record, whether it has all of the range.
    has_all: Vec<bool>,
    /// For each item, how many sub-records have it and not all of the range.
    apart: Vec<u32>,
    rank: FxHashMap<ItemId, usize>,
}

impl<'a> Held<'a> {
    fn new(chunk: &'a Ranked<'a>) -> Self {
        let rank = chunk.items.iter().enumerate().map(|(at, item)| (item.1, at)).collect();
        let apart = vec![0; chunk.items.len()];
        Self { chunk, range: 0..0, has_all: vec![true; chunk.bag.len()], apart, rank }
    }

    fn hold(&mut self, start: usize, end: usize) {
        if self.range.is_empty() {
            self.range = start..start;
        }
        let before = std::mem::replace(&mut self.range, start..end);
        for at in (start..before.start).chain(before.end..end) {
            let held = self.chunk.items[at].1;
            for (s, (items, _)) in self.chunk.bag.iter().enumerate() {
                if self.has_all[s] && !items.contains(&held) {
                    self.has_all[s] = false;
                    items.iter().for_each(|item| self.apart[self.rank[item]] += 1);
                }
            }
        }
    }
}

/// How Algorithm 1 can be read where it is at odds with its text. The default
/// is what is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// `max` starts from zero in every cluster; printed, it survives.
    pub max_per_cluster: bool,
    /// `l` starts from the chunk before for every item; printed, it is set once
    /// per chunk, so that only the first item is compared with earlier chunks.
    pub every_item: bool,
    /// A cluster adds the breaches of all its chunks; printed, only the most of
    /// one chunk.
    pub all_chunks: bool,
}

/// Algorithm 1 as printed, with what makes it run: chunks and items in
/// VERPART's order, chunks numbered from 1, an empty I is no cover, y is any
/// item of I with the least support.
///
/// Its faults are kept: `l` is set once per chunk, so that only the first item
/// of a chunk is compared with the earlier chunks; `max` survives from cluster
/// to cluster; and the total counts pairs of an item and a chunk, not records.
pub fn printed_total(body: &Disassociated, background: &Background) -> u64 {
    total_as_read(body, background, Reading::default())
}

/// Algorithm 1 in another reading: none of them counts records.
pub fn total_as_read(body: &Disassociated, background: &Background, reading: Reading) -> u64 {
    let (mut max, mut total) = (0, 0);
    let leaves = body.clusters.iter().flat_map(|c| c.leaves());
    for chunks in leaves.map(ranked).filter(|chunks| items_of(chunks) <= LARGEST) {
        let mut sum = 0;
        if reading.max_per_cluster {
            max = 0;
        }
        for (j, later) in chunks.iter().enumerate() {
            let mut breach = 0;
            let mut l = j; // Alg. 1, line 7, with chunks 0..l before this one
            for x in &later.items {
                if reading.every_item {
                    l = j;
                }
                while l > 0 {
                    l -= 1;
                    breach += u64::from(is_printed_cover(&chunks[l], x, background));
                }
            }
            sum += breach;
            max = max.max(breach);
        }
        total += if reading.all_chunks { sum } else { max }; // line 23
    }
    total
}

/// Alg. 1, lines 10 to 13.
fn is_printed_cover(earlier: &Ranked, x: &(u64, ItemId), background: &Background) -> bool {
    let set: Vec<&(u64, ItemId)> = earlier.items.iter().filter(|y| y.0 >= x.0).collect();
    let Some(least) = set.iter().map(|y| y.0).min() else { return false };
    let mut items: Vec<ItemId> = set.iter().map(|y| y.1).collect();
    items.sort_unstable();
    earlier.bag.support(&items) == least
        && set.iter().any(|y| y.0 == least && background.knows_pair(y.1, x.1))
}

/// The covers that the attacker's knowledge can use.
pub(super) fn known(covers: &[Cover], background: &Background) -> Vec<Cover> {
    covers.iter().copied().filter(|c| background.knows_pair(c.a, c.b)).collect()
}

/// How many distinct pairs of `known` are below k in the release as a whole:
/// an attacker need not even know the target's cluster.
pub(super) fn below_k_everywhere(
    known: &[Cover],
    covers: &[Cover],
    body: &Disassociated,
    algorithm: &BodyWorlds,
    k: K,
    progress: &dyn Progress,
) -> Result<u64> {
    let k = u64::from(k.get());
    let covers: FxHashSet<Cover> = covers.iter().copied().collect();
    let mut pairs: Vec<(ItemId, ItemId)> = known.iter().map(|c| (c.a, c.b)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let below = |&(a, b): &(ItemId, ItemId)| {
        progress.step(0)?;
        let mut most = 0;
        algorithm.upper_bounds_until(&[a, b], |cluster, upper| {
            // A joint cluster has other leaves: there the cover is of one leaf.
            let covered = covers.contains(&Cover { cluster, a, b })
                && body.clusters[cluster].children().is_empty();
            most += if covered { upper.min(k - 1) } else { upper };
            most >= k
        });
        Ok(u64::from(most < k))
    };
    pairs.par_iter().map(below).try_reduce(|| 0, |a, b| Ok(a + b))
}
