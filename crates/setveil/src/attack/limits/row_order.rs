//! What the order of rows would give away: chunks side by side, every
//! sub-record in the row of its record, as the papers draw them.

use rustc_hash::FxHashMap;

use crate::data::{Dataset, ItemId, K};
use crate::release::{Disassociated, SimpleCluster};
use crate::worlds::{ClusterModel, Knowledge};

/// A release without shared chunks, published with and without its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowOrder {
    /// The records.
    pub records: u64,
    /// Those with items in two or more record chunks.
    pub records_in_chunks: u64,
    /// Pairs of items that a record has in different record chunks: rows link
    /// every one of them.
    pub pairs: u64,
    /// Those that the canonical order links for certain as well: whoever has
    /// one of the items in this cluster has the other.
    pub certain: u64,
    /// The mean probability of the second item given the first and the
    /// cluster, in canonical order; with rows it is 1.
    pub mean_probability: f64,
    /// Records with a pair that fewer than k rows of the release show: m = 2
    /// known items then find fewer than k records.
    pub below_k: u64,
}

/// Counts what rows would link. `members` are the records of each cluster, in
/// the order of the release, which must not have joint clusters.
///
/// # Complexity
/// Pairs of items of the records, times the sub-records of a cluster.
pub fn row_order(body: &Disassociated, data: &Dataset, members: &[Vec<u32>], k: K) -> RowOrder {
    let leaves: Vec<&SimpleCluster> = body.clusters.iter().flat_map(|c| c.leaves()).collect();
    let mut order = RowOrder { records: data.len() as u64, ..RowOrder::default() };
    let mut rows: FxHashMap<(ItemId, ItemId), u64> = FxHashMap::default();
    let mut shown: Vec<Vec<ItemId>> = Vec::new();
    let mut probability = 0.0;
    for (leaf, members) in leaves.iter().zip(members) {
        let linked = Linked::new(leaf);
        for &r in members {
            let row = linked.row(data.record(r as usize));
            for (i, &(a, in_a)) in row.iter().enumerate() {
                for &(b, in_b) in &row[i + 1..] {
                    *rows.entry((a.min(b), a.max(b))).or_default() += 1;
                    if in_a != in_b {
                        order.pairs += 1;
                        let (certain, mean) = linked.canonical(a, b);
                        order.certain += u64::from(certain);
                        probability += mean;
                    }
                }
            }
            order.records_in_chunks += u64::from(row.iter().any(|&(_, c)| c != row[0].1));
            shown.push(row.into_iter().map(|(item, _)| item).collect());
        }
    }
    order.mean_probability = probability / order.pairs.max(1) as f64;
    let rare = |row: &&Vec<ItemId>| {
        let few = |a: ItemId, b: ItemId| rows[&(a.min(b), a.max(b))] < u64::from(k.get());
        (0..row.len()).any(|i| row[i + 1..].iter().any(|&b| few(row[i], b)))
    };
    order.below_k = shown.iter().filter(rare).count() as u64;
    order
}

/// The record chunks of a leaf.
struct Linked {
    model: ClusterModel,
    /// Chunk and support of every item.
    items: FxHashMap<ItemId, (usize, u64)>,
}

impl Linked {
    fn new(leaf: &SimpleCluster) -> Self {
        let mut items = FxHashMap::default();
        for (c, bag) in leaf.record_chunks.iter().enumerate() {
            for (sub_record, count) in bag.iter() {
                for &item in sub_record {
                    items.entry(item).or_insert((c, 0)).1 += u64::from(count);
                }
            }
        }
        Self { model: ClusterModel::of(leaf, Knowledge::Format), items }
    }

    /// The items of a record that stand in record chunks, with their chunk.
    fn row(&self, record: &[ItemId]) -> Vec<(ItemId, usize)> {
        record.iter().filter_map(|i| self.items.get(i).map(|&(chunk, _)| (*i, chunk))).collect()
    }

    /// Without rows: whether one of the items is always with the other, and
    /// how probable the second one is given the first, both ways, on average.
    fn canonical(&self, a: ItemId, b: ItemId) -> (bool, f64) {
        let counts = [self.items[&a].1, self.items[&b].1];
        let (lower, _) = self.model.bounds(&counts, 0);
        let expected = self.model.expected_support(&counts, 0);
        let mean = counts.iter().map(|&c| expected / c as f64).sum::<f64>() / 2.0;
        (lower >= counts[0].min(counts[1]), mean)
    }
}
