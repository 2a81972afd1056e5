//! In which order REFINE looks at clusters: those with the same common terms
//! in their term chunks become neighbours (disassociation-2012, section 4).

use rayon::prelude::*;

use super::leaves::{AHEAD, Leaves, touch_terms};
use super::node::Node;
use super::{MAX_DEPTH, PATIENCE};
use crate::Result;
use crate::data::ItemId;
use crate::methods::disassociation::index::LeafId;
use crate::progress::{Progress, Pulse};

/// So many of the most common terms of a term chunk decide its place; their
/// ranks are one number.
const PREFIX: usize = 4;
/// Of so many groups of clusters that are fetched together one asks.
const ASKED: usize = 32;

/// In how many (virtual) term chunks each term stands (the paper's tcs).
pub(super) fn term_chunk_supports(
    nodes: &[Node],
    leaves: &Leaves,
    progress: &dyn Progress,
) -> Result<Vec<u32>> {
    let none = || vec![0; leaves.item_count()];
    let count = |piece: &[Node]| {
        let (mut tcs, mut pulse) = (none(), Pulse::new(progress));
        for some in piece.chunks(AHEAD) {
            touch(some, leaves);
            for term in some.iter().flat_map(|node| node.sharable(leaves)) {
                tcs[term as usize] += 1;
            }
            pulse.work(some.iter().map(|node| node.terms(leaves).len()).sum())?;
        }
        Ok(tcs)
    };
    let sum = |mut a: Vec<u32>, b: Vec<u32>| {
        a.iter_mut().zip(b).for_each(|(x, y)| *x += y);
        Ok(a)
    };
    // Few and large pieces: each has counts of its own.
    let pieces = nodes.par_chunks(nodes.len().div_ceil(8).max(1));
    pieces.map(count).try_reduce(none, sum)
}

/// Sorts the nodes by their most common terms (section 4, ordering of REFINE).
/// Those that are finished, or have no term in common with any other, go to
/// `done`.
pub(super) fn order(
    mut nodes: Vec<Node>,
    leaves: &Leaves,
    tcs: &[u32],
    done: &mut Vec<Node>,
    progress: &dyn Progress,
) -> Result<Vec<Node>> {
    let mut terms: Vec<ItemId> =
        (0..tcs.len() as ItemId).filter(|&t| tcs[t as usize] > 1).collect();
    terms.par_sort_unstable_by_key(|&t| (std::cmp::Reverse(tcs[t as usize]), t));
    let mut rank = vec![u32::MAX; tcs.len()];
    for (r, &t) in terms.iter().enumerate() {
        rank[t as usize] = r as u32;
    }
    let key = |node: &Node| {
        if node.idle >= PATIENCE || node.depth >= MAX_DEPTH {
            return NOTHING;
        }
        smallest(node.sharable(leaves).map(|t| rank[t as usize]))
    };
    // Key, first leaf, number.
    let mut order = vec![(NOTHING, LeafId::default(), 0); nodes.len()];
    order.par_chunks_mut(AHEAD).zip(nodes.par_chunks(AHEAD)).enumerate().try_for_each(
        |(i, (to, some))| {
            touch(some, leaves);
            for (j, (to, node)) in to.iter_mut().zip(some).enumerate() {
                *to = (key(node), node.first_leaf, i * AHEAD + j);
            }
            if i % ASKED == 0 { progress.step(0) } else { Ok(()) }
        },
    )?;
    order.retain(|(key, ..)| *key != NOTHING);
    order.par_sort_unstable();
    let ordered = order.iter().map(|&(.., number)| std::mem::take(&mut nodes[number]));
    let ordered = ordered.collect();
    done.extend(nodes.into_iter().filter(|node| !node.is_empty()).map(Node::retire));
    progress.step(0)?;
    Ok(ordered)
}

/// The key of a node without a common term.
const NOTHING: u128 = u128::MAX;

/// The smallest ranks, ascending, as one number.
fn smallest(ranks: impl Iterator<Item = u32>) -> u128 {
    let mut best = [u32::MAX; PREFIX];
    for mut rank in ranks {
        if rank < best[PREFIX - 1] {
            for place in &mut best {
                (*place, rank) = ((*place).min(rank), (*place).max(rank));
            }
        }
    }
    best.iter().fold(0, |key, &rank| key << u32::BITS | u128::from(rank))
}

/// Fetches the terms of some nodes from memory.
pub(super) fn touch(nodes: &[Node], leaves: &Leaves) {
    touch_terms(nodes.iter().map(|node| node.terms(leaves)));
}
