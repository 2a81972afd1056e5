//! Single worlds of one cluster, all of them or random ones, for the
//! algorithm-aware attacker; and what is counted over them.

use rand::RngExt;
use rand::seq::index::sample;
use rustc_hash::FxHashMap;

use super::Kernel;
use crate::data::{ItemId, K};
use crate::release::{Bag, SimpleCluster};
use crate::worlds::{ClusterModel, Knowledge};

/// Draws that may fail, per world that is asked for, because a record is empty.
const PATIENCE: usize = 50;

/// ln of the number of worlds if records have no order and the first chunk
/// stays in place; plus infinity if there is no world.
pub(super) fn ln_up_to_order(leaf: &SimpleCluster) -> f64 {
    // Whoever enumerates has a word for the records.
    if leaf.size >= u64::BITS {
        return f64::INFINITY;
    }
    let all = ClusterModel::of(leaf, Knowledge::Format).log_worlds();
    if !all.is_finite() {
        return f64::INFINITY;
    }
    let Some(first) = leaf.record_chunks.first() else { return all };
    let alone = ClusterModel::new(first.total(), std::slice::from_ref(first), 0, Knowledge::Format);
    // Placements of the first chunk: which records, and how in these.
    let places: f64 =
        (0..first.total()).map(|i| ((u64::from(leaf.size) - i) as f64 / (i + 1) as f64).ln()).sum();
    all - alone.log_worlds() - places
}

/// ln of the number of ways that [`enumerate`] tries, whether or not a record stays empty: few
/// worlds can be hidden among very many of them.
pub(super) fn ln_placements(leaf: &SimpleCluster) -> f64 {
    let ln_factorial = |n: u64| (1..=n).map(|i| (i as f64).ln()).sum::<f64>();
    let size = u64::from(leaf.size);
    let chunk = |bag: &Bag| {
        let same: f64 = bag.iter().map(|(_, count)| ln_factorial(count.into())).sum();
        ln_factorial(size) - ln_factorial(size.saturating_sub(bag.total())) - same
    };
    let chunks: f64 = leaf.record_chunks.iter().skip(1).map(chunk).sum();
    chunks + leaf.term_chunk.len() as f64 * f64::from(leaf.size) * std::f64::consts::LN_2
}

/// Calls `each` with every world in which the first chunk's sub-records are in
/// the first records: one of each set of worlds that differ by the order of
/// records only, and equally many of each.
pub(super) fn enumerate(
    leaf: &SimpleCluster,
    kernel: &Kernel,
    each: &mut dyn FnMut(&[Vec<ItemId>]),
) {
    let mut records = vec![Vec::new(); leaf.size as usize];
    if let Some(first) = leaf.record_chunks.first() {
        let sub_records = first.iter().flat_map(|(s, c)| std::iter::repeat_n(s, c as usize));
        for (record, sub_record) in records.iter_mut().zip(sub_records) {
            record.extend_from_slice(sub_record);
        }
    }
    place_chunk(leaf, kernel, 1, &mut records, each);
}

fn place_chunk(
    leaf: &SimpleCluster,
    kernel: &Kernel,
    chunk: usize,
    records: &mut Vec<Vec<ItemId>>,
    each: &mut dyn FnMut(&[Vec<ItemId>]),
) {
    let Some(bag) = leaf.record_chunks.get(chunk) else {
        return place_term(leaf, kernel, 0, records, each);
    };
    let mut left: Vec<u32> = bag.iter().map(|(_, count)| count).collect();
    let total = bag.total() as usize;
    place_sub_records(leaf, kernel, (chunk, 0, total), &mut left, records, each);
}

/// Gives record `r` and all later ones one of the `missing` sub-records of a
/// chunk that are left, or none.
fn place_sub_records(
    leaf: &SimpleCluster,
    kernel: &Kernel,
    (chunk, r, missing): (usize, usize, usize),
    left: &mut Vec<u32>,
    records: &mut Vec<Vec<ItemId>>,
    each: &mut dyn FnMut(&[Vec<ItemId>]),
) {
    if missing == 0 {
        return place_chunk(leaf, kernel, chunk + 1, records, each);
    }
    if records.len() - r < missing {
        return;
    }
    place_sub_records(leaf, kernel, (chunk, r + 1, missing), left, records, each);
    for u in 0..left.len() {
        if left[u] == 0 {
            continue;
        }
        left[u] -= 1;
        let before = records[r].len();
        records[r].extend_from_slice(leaf.record_chunks[chunk].get(u).0);
        place_sub_records(leaf, kernel, (chunk, r + 1, missing - 1), left, records, each);
        records[r].truncate(before);
        left[u] += 1;
    }
}

fn place_term(
    leaf: &SimpleCluster,
    kernel: &Kernel,
    term: usize,
    records: &mut Vec<Vec<ItemId>>,
    each: &mut dyn FnMut(&[Vec<ItemId>]),
) {
    let Some(&item) = leaf.term_chunk.get(term) else {
        if records.iter().all(|r| !r.is_empty()) {
            let mut sorted = records.clone();
            sorted.iter_mut().for_each(|r| r.sort_unstable());
            each(&sorted);
        }
        return;
    };
    // Enumerated clusters are small: their records fit into a word.
    let most = kernel.most(item, u64::from(leaf.size), u64::from(leaf.size));
    let few = |subset: &u64| u64::from(subset.count_ones()) <= most;
    for subset in (1u64..1 << records.len()).filter(few) {
        let chosen = || (0..leaf.size as usize).filter(|r| subset >> r & 1 == 1);
        chosen().for_each(|r| records[r].push(item));
        place_term(leaf, kernel, term + 1, records, each);
        for r in chosen() {
            records[r].pop();
        }
    }
}

/// Calls `each` with up to `count` random worlds in which every term is in
/// fewer than k records, or as many as the kernel allows a sensitive one. In a leaf of a joint cluster, records that would be
/// empty get an item that stands for what shared chunks bring.
pub(super) fn draw(
    leaf: &SimpleCluster,
    joint: bool,
    k: K,
    kernel: &Kernel,
    count: usize,
    rng: &mut impl RngExt,
    each: &mut dyn FnMut(&[Vec<ItemId>]),
) {
    let size = leaf.size as usize;
    let most = Knowledge::Algorithm(k).max_occurrences(size as u64) as usize;
    let terms: Vec<(ItemId, Vec<f64>)> = leaf
        .term_chunk
        .iter()
        .map(|&term| {
            let most = kernel.most(term, size as u64, most as u64) as usize;
            (term, shares_of_occurrences(size, most.max(1)))
        })
        .collect();
    let mut drawn = 0;
    for _ in 0..count * PATIENCE {
        if drawn == count {
            return;
        }
        let mut records: Vec<Vec<ItemId>> = vec![Vec::new(); size];
        for chunk in &leaf.record_chunks {
            let places = sample(rng, size, (chunk.total() as usize).min(size));
            let sub_records = chunk.iter().flat_map(|(s, c)| std::iter::repeat_n(s, c as usize));
            for (r, sub_record) in places.iter().zip(sub_records) {
                records[r].extend_from_slice(sub_record);
            }
        }
        for (term, occurrences) in &terms {
            let mut share: f64 = rng.random();
            let more = occurrences.iter().take_while(|&&o| {
                share -= o;
                share > 0.0
            });
            let c = (1 + more.count()).min(occurrences.len());
            sample(rng, size, c).iter().for_each(|r| records[r].push(*term));
        }
        if joint {
            fill(&mut records, most);
        }
        if records.iter().all(|r| !r.is_empty()) {
            records.iter_mut().for_each(|r| r.sort_unstable());
            each(&records);
            drawn += 1;
        }
    }
}

/// The share of the placements of a term in c records, for c = 1..=most.
fn shares_of_occurrences(size: usize, most: usize) -> Vec<f64> {
    let mut ln = 0.0;
    let logs: Vec<f64> = (1..=most)
        .map(|c| {
            ln += ((size - c + 1) as f64 / c as f64).ln();
            ln
        })
        .collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = logs.iter().map(|l| (l - top).exp()).sum();
    logs.iter().map(|l| (l - top).exp() / total).collect()
}

/// Puts items that are in no chunk, each in at most `most` records, into empty
/// records.
fn fill(records: &mut [Vec<ItemId>], most: usize) {
    let first = records.iter().flatten().max().map_or(0, |i| i + 1);
    let empty = records.iter_mut().filter(|r| r.is_empty());
    for (i, record) in empty.enumerate() {
        record.push(first + (i / most.max(1)) as ItemId);
    }
}

/// Supports of the pairs of record-chunk items of different chunks, over the
/// accepted worlds.
pub(super) struct Tally {
    pub(super) tried: u64,
    pub(super) accepted: u64,
    items: Vec<Item>,
    index: FxHashMap<ItemId, usize>,
    /// For the pair (i, j), i < j: greatest support, sum, sum of squares.
    pairs: Vec<(u32, f64, f64)>,
    scratch: Vec<u32>,
}

struct Item {
    item: ItemId,
    chunk: usize,
    support: u64,
}

/// What was counted about one pair.
pub(super) struct Pair {
    pub(super) a: ItemId,
    pub(super) b: ItemId,
    pub(super) support_a: u64,
    pub(super) support_b: u64,
    pub(super) max: u64,
    pub(super) sum: f64,
    pub(super) squares: f64,
}

impl Tally {
    pub(super) fn new(leaf: &SimpleCluster) -> Self {
        let chunks = leaf.record_chunks.iter().enumerate();
        let mut items: Vec<Item> = chunks
            .flat_map(|(chunk, bag)| {
                let domain = bag.domain().into_iter();
                domain.map(move |item| Item { item, chunk, support: bag.support(&[item]) })
            })
            .collect();
        items.sort_unstable_by_key(|i| i.item);
        let index = items.iter().enumerate().map(|(i, item)| (item.item, i)).collect();
        let cells = items.len() * items.len();
        let pairs = vec![(0, 0.0, 0.0); cells];
        Self { tried: 0, accepted: 0, items, index, pairs, scratch: vec![0; cells] }
    }

    pub(super) fn count(&mut self, records: &[Vec<ItemId>], accepted: bool) {
        self.tried += 1;
        if !accepted {
            return;
        }
        self.accepted += 1;
        let n = self.items.len();
        self.scratch.fill(0);
        for record in records {
            let here: Vec<usize> =
                record.iter().filter_map(|i| self.index.get(i).copied()).collect();
            for (p, &i) in here.iter().enumerate() {
                here[p + 1..].iter().for_each(|&j| self.scratch[i * n + j] += 1);
            }
        }
        for (pair, &support) in self.pairs.iter_mut().zip(&self.scratch) {
            if support > 0 {
                pair.0 = pair.0.max(support);
                pair.1 += f64::from(support);
                pair.2 += f64::from(support).powi(2);
            }
        }
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = Pair> {
        let n = self.items.len();
        (0..n).flat_map(move |i| {
            (i + 1..n).filter(move |&j| self.items[i].chunk != self.items[j].chunk).map(move |j| {
                let (a, b, (max, sum, squares)) =
                    (&self.items[i], &self.items[j], self.pairs[i * n + j]);
                let (support_a, support_b) = (a.support, b.support);
                Pair { a: a.item, b: b.item, support_a, support_b, max: max.into(), sum, squares }
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two chunks and a term in four records: 6 placements of two equal sub-records, 15 of the term.
    #[test]
    fn ways_are_counted_with_those_that_leave_a_record_empty() {
        let first: &[ItemId] = &[0];
        let chunk = Bag::from_itemsets([&[1][..], &[1]]);
        let record_chunks = vec![Bag::from_itemsets([first]), chunk];
        let leaf = SimpleCluster { size: 4, record_chunks, term_chunk: vec![2] };
        let mut worlds = 0;
        enumerate(&leaf, &Kernel::unknown(), &mut |_| worlds += 1);
        let ways = ln_placements(&leaf).exp();
        assert!((ways - 6.0 * 16.0).abs() < 1e-9, "{ways}");
        assert!(worlds > 0 && f64::from(worlds) < ways, "{worlds} of {ways}");
    }
}
