//! REFINE: clusters share chunks over terms that are too rare in each of them
//! alone (disassociation-2012, section 4).
//!
//! In every round the clusters are ordered by their (virtual) term chunks and
//! neighbours are joined where Equation 1 says that it helps. A join moves
//! terms from the term chunks of the leaves to shared chunks of the new joint
//! cluster; [`join`](super::join) decides whether that is safe. Rounds go on
//! until one changes nothing.

use rayon::prelude::*;

use super::Parameters;
use super::join::{Joiner, Scratch};
use super::leaves::{AHEAD, Leaves, touch_terms};
use super::node::Node;
use super::spare::Spare;
use crate::data::ItemId;
use crate::progress::{Progress, Stage};
use crate::release::Cluster;

/// Neighbours are joined inside blocks, which can be worked on at the same
/// time: about so many, each of so many clusters. The number of threads does
/// not change the result.
const BLOCKS: usize = 32;
const BLOCK: std::ops::RangeInclusive<usize> = 8..=256;
/// So many of the most common terms of a term chunk decide its place; their
/// ranks are one number.
const PREFIX: usize = 4;
/// A cluster that found no partner in so many rounds is finished.
const PATIENCE: u32 = 2;
/// Joint clusters are nested at most this deep, so that any JSON reader can
/// follow (serde_json stops at 128 brackets, a level takes two).
const MAX_DEPTH: u32 = 48;

/// Joins clusters and puts the result in canonical order.
///
/// # Guarantee
/// Every shared chunk is k^m-anonymous, a term that also stands in a chunk
/// below it is alone in its chunk, and Lemma 2 holds for every leaf.
///
/// # Complexity
/// A round is linear in the terms of the term chunks, in the records of the
/// clusters that are joined and in the vocabulary, but for sorting the
/// clusters. Those that find no partner leave, so rounds become cheaper quickly.
///
/// # Deviations
/// See [`join`](super::join). The order looks at the first four terms of a
/// term chunk: looking at more did not make more terms shared. A cluster that
/// was refused in two rounds is not tried again: what it would still find does
/// not pay for rounds over all clusters.
pub(super) fn refine(
    leaves: Leaves,
    sensitive: &[bool],
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Vec<Cluster> {
    let joiner = Joiner { leaves: &leaves, k: parameters.k, m: parameters.m };
    let mut nodes: Vec<Node> =
        (0..leaves.len() as u32).map(|leaf| Node::new(leaf, &leaves)).collect();
    let mut done: Vec<Node> = Vec::new();
    let spare = Spare::default();
    let mut more = parameters.refine;
    while more {
        progress.stage(Stage::Refining, Some(nodes.len() as u64));
        let tcs = term_chunk_supports(&nodes, &leaves);
        nodes = order(nodes, &leaves, &tcs, &mut done);
        more = join_neighbours(&mut nodes, &joiner, &spare, progress);
    }
    done.extend(nodes);
    let leaves = leaves.finish(sensitive);
    // By keys: comparing clusters means looking into their chunks.
    let keyed = |node: Node| {
        let mut cluster = node.into_cluster(&leaves);
        cluster.canonicalize();
        (cluster.sort_key(), cluster)
    };
    let mut keyed: Vec<(u128, Cluster)> = done.into_par_iter().map(keyed).collect();
    keyed.par_sort_unstable_by(|(a, x), (b, y)| a.cmp(b).then_with(|| x.cmp(y)));
    keyed.into_iter().map(|(_, cluster)| cluster).collect()
}

/// In how many (virtual) term chunks each term stands (the paper's tcs).
fn term_chunk_supports(nodes: &[Node], leaves: &Leaves) -> Vec<u32> {
    let none = || vec![0; leaves.item_count()];
    let count = |piece: &[Node]| {
        let mut tcs = none();
        for some in piece.chunks(AHEAD) {
            touch(some, leaves);
            for term in some.iter().flat_map(|node| node.sharable(leaves)) {
                tcs[term as usize] += 1;
            }
        }
        tcs
    };
    let sum = |mut a: Vec<u32>, b: Vec<u32>| {
        a.iter_mut().zip(b).for_each(|(x, y)| *x += y);
        a
    };
    // Few and large pieces: each has counts of its own.
    let pieces = nodes.par_chunks(nodes.len().div_ceil(8).max(1));
    pieces.map(count).reduce(none, sum)
}

/// Sorts the nodes by their most common terms (section 4, ordering of REFINE).
/// Those that are finished, or have no term in common with any other, go to
/// `done`.
fn order(mut nodes: Vec<Node>, leaves: &Leaves, tcs: &[u32], done: &mut Vec<Node>) -> Vec<Node> {
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
    let mut order = vec![(NOTHING, 0, 0); nodes.len()];
    order.par_chunks_mut(AHEAD).zip(nodes.par_chunks(AHEAD)).enumerate().for_each(
        |(i, (to, some))| {
            touch(some, leaves);
            for (j, (to, node)) in to.iter_mut().zip(some).enumerate() {
                *to = (key(node), node.first_leaf, i * AHEAD + j);
            }
        },
    );
    order.retain(|(key, ..)| *key != NOTHING);
    order.par_sort_unstable();
    let ordered = order.iter().map(|&(.., number)| std::mem::take(&mut nodes[number]));
    let ordered = ordered.collect();
    done.extend(nodes.into_iter().filter(|node| !node.is_empty()).map(Node::retire));
    ordered
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
fn touch(nodes: &[Node], leaves: &Leaves) {
    touch_terms(nodes.iter().map(|node| node.terms(leaves)));
}

/// Joins adjacent pairs where that is allowed and useful, and says whether any
/// were (Alg. REFINE, line 4).
fn join_neighbours(
    nodes: &mut Vec<Node>,
    joiner: &Joiner,
    spare: &Spare<Scratch>,
    progress: &dyn Progress,
) -> bool {
    let before = nodes.len();
    let block = (before / BLOCKS).clamp(*BLOCK.start(), *BLOCK.end());
    nodes.par_chunks_mut(block).for_each(|block| {
        spare.with(|scratch| join_block(block, joiner, scratch));
        progress.advance(block.len() as u64);
    });
    nodes.retain(|node| !node.is_empty());
    nodes.len() < before
}

/// What joins another leaves nothing in its place.
fn join_block(block: &mut [Node], joiner: &Joiner, scratch: &mut Scratch) {
    let mut waiting = None;
    for i in 0..block.len() {
        if i % AHEAD == 0 {
            touch(&block[i..block.len().min(i + AHEAD)], joiner.leaves);
        }
        let (before, from_here) = block.split_at_mut(i);
        waiting = match waiting {
            None => Some(i),
            Some(w) if joiner.join(&mut before[w], &mut from_here[0], scratch) => None,
            Some(w) => {
                before[w].refuse(&from_here[0]);
                Some(i)
            }
        };
    }
    if let Some(w) = waiting {
        block[w].idle += 1;
    }
}
