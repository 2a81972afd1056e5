//! The leaves of a joint cluster, and who may take what.
//!
//! For a leaf, every item has at most one source on the way up: the leaf's
//! own chunks, or else the nearest joint cluster with the item in a shared
//! chunk. A sub-record of J may go to a leaf if J is the source of each of
//! its items there: to every leaf below J but those that have one of the
//! items from further below. Such leaves are few, so they are what is noted.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::too_much;
use crate::Result;
use crate::data::ItemId;
use crate::release::{Bag, Cluster, SimpleCluster};

/// So many ranges of leaves may be noted for one joint cluster. Releases that
/// verify need about one for each shared sub-record.
const RANGES: usize = 1 << 24;

/// A joint cluster laid out flat.
pub(super) struct Tree<'a> {
    pub(super) leaves: Vec<&'a SimpleCluster>,
    /// Leaf `l` has the slots `starts[l]..starts[l + 1]`.
    pub(super) starts: Vec<u32>,
    /// The shared chunks, those of inner clusters first.
    pub(super) chunks: Vec<Vec<Kind<'a>>>,
    /// Ranges of leaves; a kind has a run of them.
    ranges: Vec<Range<u32>>,
}

/// A shared sub-record, as often as it occurs.
#[derive(Clone, Debug)]
pub(super) struct Kind<'a> {
    pub(super) items: &'a [ItemId],
    pub(super) count: u32,
    /// Where its leaves stand in the ranges of the tree.
    takers: Range<usize>,
}

impl Kind<'_> {
    /// Whether two kinds may go to the same leaves for sure.
    pub(super) fn same_takers(&self, other: &Self) -> bool {
        self.takers == other.takers
    }
}

/// For an item, the ranges of leaves that have it from below, ascending.
type Below = FxHashMap<ItemId, Vec<Range<u32>>>;

impl<'a> Tree<'a> {
    pub(super) fn new(cluster: &'a Cluster) -> Result<Self> {
        let mut tree = Self { leaves: vec![], starts: vec![0], chunks: vec![], ranges: vec![] };
        tree.visit(cluster, &mut Below::default())?;
        Ok(tree)
    }

    /// How many records all leaves have.
    pub(super) fn slots(&self) -> usize {
        self.starts[self.starts.len() - 1] as usize
    }

    /// The leaf that a slot belongs to.
    pub(super) fn leaf_of(&self, slot: u32) -> usize {
        self.starts.partition_point(|&start| start <= slot) - 1
    }

    /// The ranges of leaves that may take a kind, ascending.
    pub(super) fn takers(&self, kind: &Kind) -> &[Range<u32>] {
        &self.ranges[kind.takers.clone()]
    }

    /// The ranges of slots that may take a kind, ascending.
    pub(super) fn slots_for<'b>(&'b self, kind: &Kind) -> impl Iterator<Item = Range<u32>> + 'b {
        let slots = |r: &Range<u32>| self.starts[r.start as usize]..self.starts[r.end as usize];
        self.takers(kind).iter().map(slots)
    }

    fn visit(&mut self, cluster: &'a Cluster, below: &mut Below) -> Result<()> {
        let first = self.leaves.len() as u32;
        match cluster {
            Cluster::Simple(leaf) => {
                let end = self.starts[first as usize].checked_add(leaf.size);
                self.starts.push(end.ok_or_else(|| too_much("records"))?);
                self.leaves.push(leaf);
                let own = leaf.record_chunks.iter().flat_map(|c| c.items());
                own.chain(&leaf.term_chunk).for_each(|&item| note(below, item, first..first + 1));
            }
            Cluster::Joint(joint) => {
                joint.children.iter().try_for_each(|child| self.visit(child, below))?;
                let range = first..self.leaves.len() as u32;
                for chunk in &joint.shared_chunks {
                    self.add(chunk, range.clone(), below)?;
                }
                let shared = joint.shared_chunks.iter().flat_map(|c| c.items());
                shared.for_each(|&item| note(below, item, range.clone()));
            }
        }
        Ok(())
    }

    /// Adds a shared chunk of the joint cluster over the leaves `range`.
    fn add(&mut self, chunk: &'a Bag, range: Range<u32>, below: &Below) -> Result<()> {
        let everywhere = self.ranges.len()..self.ranges.len() + 1;
        self.ranges.push(range.clone());
        let mut kinds = Vec::with_capacity(chunk.len());
        let mut taken: Vec<Range<u32>> = Vec::new();
        for (items, count) in chunk.iter() {
            taken.clear();
            for list in items.iter().filter_map(|item| below.get(item)) {
                let inside = list.partition_point(|r| r.start < range.start);
                taken.extend_from_slice(&list[inside..]);
            }
            let takers = if taken.is_empty() {
                everywhere.clone()
            } else {
                taken.sort_unstable_by_key(|r| r.start);
                let start = self.ranges.len();
                self.ranges.extend(between(range.clone(), &taken));
                start..self.ranges.len()
            };
            if self.ranges.len() > RANGES {
                return Err(too_much("shared sub-records that few leaves may take"));
            }
            kinds.push(Kind { items, count, takers });
        }
        self.chunks.push(kinds);
        Ok(())
    }
}

/// Leaves are visited in order and a cluster after what is below it, so what
/// the new range covers stands at the end of the list.
fn note(below: &mut Below, item: ItemId, range: Range<u32>) {
    let list = below.entry(item).or_default();
    while list.last().is_some_and(|last| last.start >= range.start) {
        list.pop();
    }
    list.push(range);
}

/// What is left of `range` without `taken`, which are sorted by their starts.
fn between(range: Range<u32>, taken: &[Range<u32>]) -> Vec<Range<u32>> {
    let (mut gaps, mut next) = (Vec::new(), range.start);
    for t in taken {
        if next < t.start {
            gaps.push(next..t.start);
        }
        next = next.max(t.end);
    }
    if next < range.end {
        gaps.push(next..range.end);
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_between_ranges() {
        assert_eq!(between(0..5, &[]), vec![Range { start: 0, end: 5 }]);
        assert_eq!(between(0..9, &[0..2, 1..3, 5..6]), [3..5, 6..9]);
        assert!(between(2..4, std::slice::from_ref(&(2..4))).is_empty());
    }

    #[test]
    fn a_range_swallows_what_is_below_it() {
        let mut below = Below::default();
        for range in [0..1, 2..3, 3..4] {
            note(&mut below, 7, range);
        }
        note(&mut below, 7, 2..5);
        assert_eq!(below[&7], [0..1, 2..5]);
    }
}
