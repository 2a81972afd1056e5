//! REFINE: clusters share chunks over terms that are too rare in each of them
//! alone (disassociation-2012, section 4).
//!
//! In every round the clusters are ordered by their (virtual) term chunks
//! ([`ordering`]) and neighbours are joined where Equation 1 says that it
//! helps. A join moves terms from the term chunks of the leaves to shared
//! chunks of the new joint cluster; [`join`] decides whether that is safe, and
//! [`shared_chunks`] makes the chunks by the chosen vertical partitioning.
//! Rounds go on until one changes nothing.

mod join;
mod leaves;
mod node;
mod open;
mod ordering;
mod shared_chunks;

use join::{Joiner, Scratch};
use leaves::AHEAD;
pub(super) use leaves::{Block, Leaves};
use node::Node;
pub(super) use open::{OpenCluster, open_leaves, open_terms_of, refine_open};
use rayon::prelude::*;

use super::index::LeafId;
use super::scratch::ScratchPool;
use super::{Parameters, VerticalPartitioning};
use crate::Result;
use crate::progress::{Progress, Pulse, Stage};
use crate::release::{Cluster, in_canonical_order};

/// Neighbours are joined inside blocks, which can be worked on at the same
/// time: about so many, each of so many clusters. The number of threads does
/// not change the result.
const BLOCKS: usize = 32;
const BLOCK: std::ops::RangeInclusive<usize> = 8..=256;
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
/// See [`join`]. The order looks at the first four terms of a term chunk:
/// looking at more did not make more terms shared. A cluster that was refused
/// in two rounds is not tried again: what it would still find does not pay for
/// rounds over all clusters.
pub(super) fn refine<V: VerticalPartitioning>(
    leaves: Leaves,
    sensitive: &[bool],
    parameters: &Parameters,
    vertical: &V,
    progress: &dyn Progress,
) -> Result<Vec<Cluster>> {
    let nodes: Vec<Node> =
        (0..leaves.len() as u32).map(|leaf| Node::new(LeafId(leaf), &leaves)).collect();
    let nodes = rounds(nodes, &leaves, parameters, vertical, progress)?;
    publish(leaves, nodes, sensitive, progress)
}

/// Joins until a round changes nothing; in any order.
fn rounds<V: VerticalPartitioning>(
    mut nodes: Vec<Node>,
    leaves: &Leaves,
    parameters: &Parameters,
    vertical: &V,
    progress: &dyn Progress,
) -> Result<Vec<Node>> {
    let Parameters { k, m, .. } = *parameters;
    let joiner = Joiner { leaves, vertical, k, m, progress };
    let mut done: Vec<Node> = Vec::new();
    let scratch = ScratchPool::default();
    let mut more = parameters.refine;
    while more {
        progress.stage(Stage::Refining, Some(nodes.len() as u64));
        let tcs = ordering::term_chunk_supports(&nodes, leaves, progress)?;
        nodes = ordering::order(nodes, leaves, &tcs, &mut done, progress)?;
        more = join_neighbours(&mut nodes, &joiner, &scratch)?;
    }
    done.extend(nodes);
    Ok(done)
}

/// The clusters as they are published, in canonical order.
fn publish(
    leaves: Leaves,
    nodes: Vec<Node>,
    sensitive: &[bool],
    progress: &dyn Progress,
) -> Result<Vec<Cluster>> {
    let leaves = leaves.finish(sensitive);
    progress.step(0)?;
    let build = |node: Node| node.into_cluster(&leaves);
    let clusters = nodes.into_par_iter().map(build).collect();
    progress.step(0)?;
    let clusters = in_canonical_order(clusters);
    progress.step(0)?;
    Ok(clusters)
}

/// Joins adjacent pairs where that is allowed and useful, and says whether any
/// were (Alg. REFINE, line 4).
fn join_neighbours<V: VerticalPartitioning>(
    nodes: &mut Vec<Node>,
    joiner: &Joiner<V>,
    scratch: &ScratchPool<Scratch>,
) -> Result<bool> {
    let before = nodes.len();
    let block = (before / BLOCKS).clamp(*BLOCK.start(), *BLOCK.end());
    nodes
        .par_chunks_mut(block)
        .try_for_each(|block| scratch.with(|scratch| join_block(block, joiner, scratch)))?;
    nodes.retain(|node| !node.is_empty());
    Ok(nodes.len() < before)
}

/// What joins another leaves nothing in its place.
fn join_block<V: VerticalPartitioning>(
    block: &mut [Node],
    joiner: &Joiner<V>,
    scratch: &mut Scratch,
) -> Result<()> {
    let mut pulse = Pulse::new(joiner.progress);
    let mut waiting = None;
    for i in 0..block.len() {
        if i % AHEAD == 0 {
            ordering::touch(&block[i..block.len().min(i + AHEAD)], joiner.leaves);
        }
        let (before, from_here) = block.split_at_mut(i);
        waiting = match waiting {
            None => Some(i),
            Some(w) if joiner.join(&mut before[w], &mut from_here[0], scratch, &mut pulse)? => None,
            Some(w) => {
                before[w].refuse(&from_here[0]);
                Some(i)
            }
        };
        pulse.done(1)?;
    }
    if let Some(w) = waiting {
        block[w].idle += 1;
    }
    pulse.flush()
}
