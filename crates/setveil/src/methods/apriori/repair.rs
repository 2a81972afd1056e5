//! The cheapest way to make a rare itemset frequent: raise some of its nodes
//! to ancestors, so that k records contain what it becomes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use super::cut::Cut;
use crate::Result;
use crate::data::Hierarchy;
use crate::data::hierarchy::NodeId;
use crate::methods::generalization::Rows;
use crate::progress::{Progress, Pulse};

/// How many sets of ancestors the search looks at before it becomes greedy.
const STATES: usize = 20_000;

/// For every node the rows with a leaf at or below it.
pub(super) struct Repair<'a> {
    tree: &'a Hierarchy,
    weights: &'a [u32],
    offsets: Vec<usize>,
    rows: Vec<u32>,
    k: u64,
    pulse: Pulse<'a>,
}

impl<'a> Repair<'a> {
    pub(super) fn new(
        tree: &'a Hierarchy,
        rows: &'a Rows,
        k: u64,
        progress: &'a dyn Progress,
    ) -> Result<Self> {
        let mut pulse = Pulse::new(progress);
        let mut offsets = vec![0usize; tree.len() + 1];
        each_node(tree, rows, &mut pulse, |node, _| offsets[node as usize + 1] += 1)?;
        for i in 0..tree.len() {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut list = vec![0u32; offsets[tree.len()]];
        each_node(tree, rows, &mut pulse, |node, row| {
            list[next[node as usize]] = row;
            next[node as usize] += 1;
        })?;
        Ok(Self { tree, weights: &rows.weights, offsets, rows: list, k, pulse })
    }

    /// Generalises the cut so that `itemset`, which is in it, becomes frequent.
    pub(super) fn fix(&mut self, cut: &mut Cut, itemset: &[NodeId]) -> Result<()> {
        for node in self.cheapest(cut, itemset)? {
            if !cut.is_stale(node) {
                cut.raise(self.tree, node);
            }
        }
        Ok(())
    }

    /// Best-first over sets of ancestors; the first frequent one is cheapest,
    /// because raising a node never costs less.
    fn cheapest(&mut self, cut: &Cut, itemset: &[NodeId]) -> Result<Vec<NodeId>> {
        let mut start = itemset.to_vec();
        start.sort_unstable();
        let mut seen: FxHashSet<Vec<NodeId>> = FxHashSet::default();
        let mut heap = BinaryHeap::from([Reverse((0u64, start))]);
        while let Some(Reverse((_, state))) = heap.pop() {
            if self.is_frequent(&state)? {
                return Ok(state);
            }
            if seen.len() > STATES {
                return self.greedy(cut, state);
            }
            for i in 0..state.len() {
                let raised = self.raised(&state, i);
                if seen.insert(raised.clone()) {
                    heap.push(Reverse((cost(cut, &raised), raised)));
                }
            }
        }
        Ok(vec![0])
    }

    /// Raises the node that is cheapest to raise until the set is frequent.
    fn greedy(&mut self, cut: &Cut, mut state: Vec<NodeId>) -> Result<Vec<NodeId>> {
        while !self.is_frequent(&state)? {
            let options = (0..state.len()).map(|i| self.raised(&state, i));
            match options.map(|s| (cost(cut, &s), s)).min() {
                Some((_, next)) if next != state => state = next,
                _ => return Ok(vec![0]),
            }
        }
        Ok(state)
    }

    /// The set with its `i`-th node raised to its parent; what that covers is
    /// part of it now.
    fn raised(&self, state: &[NodeId], i: usize) -> Vec<NodeId> {
        let parent = self.tree.parent(state[i]);
        let mut raised: Vec<NodeId> =
            state.iter().copied().filter(|&n| !self.tree.covers(parent, n)).collect();
        raised.insert(raised.partition_point(|&n| n < parent), parent);
        raised
    }

    /// Whether at least k records contain all nodes.
    fn is_frequent(&mut self, nodes: &[NodeId]) -> Result<bool> {
        let Self { weights, offsets, rows, k, pulse, .. } = self;
        let list = |&n: &NodeId| &rows[offsets[n as usize]..offsets[n as usize + 1]];
        let mut lists: Vec<&[u32]> = nodes.iter().map(list).collect();
        lists.sort_unstable_by_key(|l| l.len());
        let Some((first, rest)) = lists.split_first_mut() else { return Ok(true) };
        let mut support = 0;
        'rows: for &row in *first {
            pulse.work(nodes.len())?;
            for list in rest.iter_mut() {
                *list = advance(list, row);
                match list.first() {
                    None => break 'rows,
                    Some(&found) if found != row => continue 'rows,
                    _ => {}
                }
            }
            support += u64::from(weights[row as usize]);
            if support >= *k {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn cost(cut: &Cut, nodes: &[NodeId]) -> u64 {
    nodes.iter().map(|&n| cut.cost(n)).sum()
}

/// `list` from the first element that is not below `row`, by galloping.
fn advance(list: &[u32], row: u32) -> &[u32] {
    let mut step = 1;
    while step < list.len() && list[step] < row {
        step *= 2;
    }
    let end = list.len().min(step + 1);
    &list[list[..end].partition_point(|&r| r < row)..]
}

/// Calls `each(node, row)` once for every row and every node above one of its
/// leaves, the leaf included; rows ascend.
fn each_node(
    tree: &Hierarchy,
    rows: &Rows,
    pulse: &mut Pulse,
    mut each: impl FnMut(NodeId, u32),
) -> Result<()> {
    let mut last = vec![u32::MAX; tree.len()];
    for row in 0..rows.len() as u32 {
        for &leaf in rows.row(row as usize) {
            let mut node = leaf;
            while last[node as usize] != row {
                last[node as usize] = row;
                each(node, row);
                if node == 0 {
                    break;
                }
                node = tree.parent(node);
            }
        }
        pulse.work(rows.row(row as usize).len())?;
    }
    Ok(())
}
