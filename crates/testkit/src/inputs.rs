//! Every data set of a few records over a few items, and what a method
//! publishes of each: the truth about what an output says of its input,
//! without any notion of what the published format allows.

use std::collections::BTreeMap;

use setveil::data::ItemId;
use setveil::release::{Cluster, SimpleCluster};

use crate::worlds::{World, support};

/// Outputs in the order in which they are found, each with all its inputs.
pub type ByOutput = Vec<(Cluster, Vec<World>)>;

/// Gives all data sets of `size` non-empty records over `items` items, up to
/// the order of records, to `publish`, except those that are not `allowed`.
pub fn inputs_by_output(
    size: usize,
    items: u32,
    publish: &dyn Fn(&[&[ItemId]]) -> SimpleCluster,
    allowed: &dyn Fn(&World) -> bool,
) -> ByOutput {
    let mut found: BTreeMap<String, (Cluster, Vec<World>)> = BTreeMap::new();
    each_input(size, items, 1, &mut Vec::new(), &mut |records| {
        let world: World = records.iter().map(|r| r.iter().copied().collect()).collect();
        if !allowed(&world) {
            return;
        }
        let rows: Vec<&[ItemId]> = records.iter().map(Vec::as_slice).collect();
        let mut output = Cluster::Simple(publish(&rows));
        output.canonicalize();
        let entry = found.entry(format!("{output:?}")).or_insert_with(|| (output, Vec::new()));
        entry.1.push(world);
    });
    found.into_values().collect()
}

/// Records are subsets of the items, as bits, in ascending order.
fn each_input(
    size: usize,
    items: u32,
    first: u32,
    records: &mut Vec<Vec<ItemId>>,
    each: &mut dyn FnMut(&[Vec<ItemId>]),
) {
    if records.len() == size {
        return each(records);
    }
    for subset in first..1 << items {
        records.push((0..items).filter(|i| subset >> i & 1 == 1).collect());
        each_input(size, items, subset, records, each);
        records.pop();
    }
}

/// The greatest support over the inputs of every pair of items of different
/// record chunks, pairs ascending.
pub fn greatest_by_output(
    published: &SimpleCluster,
    inputs: &[World],
) -> Vec<((ItemId, ItemId), u64)> {
    let mut most = BTreeMap::new();
    for (i, a) in published.record_chunks.iter().enumerate() {
        for b in &published.record_chunks[i + 1..] {
            for x in a.domain() {
                for y in b.domain() {
                    let pair = (x.min(y), x.max(y));
                    let supports = inputs.iter().map(|world| support(world, &[pair.0, pair.1]));
                    most.insert(pair, supports.max().unwrap_or(0));
                }
            }
        }
    }
    most.into_iter().collect()
}
