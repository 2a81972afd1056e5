//! REFINE: clusters share chunks over terms that are too rare in each of them
//! alone (disassociation-2012, section 4).
//!
//! In every round the clusters are ordered by their (virtual) term chunks and
//! neighbours are joined where Equation 1 says that it helps. A join moves
//! terms from the term chunks of the leaves to shared chunks of the new joint
//! cluster; [`join`](super::join) decides whether that is safe. Rounds go on
//! until one changes nothing.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::join::{Joiner, Node};
use super::{Clusters, Parameters};
use crate::data::{Dataset, ItemId};
use crate::progress::Progress;
use crate::release::{Cluster, SimpleCluster};

/// Neighbours are joined inside blocks of this many clusters, which can be
/// worked on at the same time. Fixed, so that the number of threads does not
/// change the result.
const BLOCK: usize = 256;
/// So many of the most common terms of a term chunk decide its place.
const PREFIX: usize = 16;
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
/// A round is linear in the terms of the term chunks and in the records of the
/// clusters that are joined, but for sorting the clusters. Terms that only one
/// cluster has left are forgotten, so later rounds are cheaper.
///
/// # Deviations
/// See [`join`](super::join). The order looks at the first 16 terms of a term
/// chunk; further ones hardly ever decide.
pub(super) fn refine(
    leaves: Vec<SimpleCluster>,
    clusters: &Clusters,
    data: &Dataset,
    sensitive: &[bool],
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Vec<Cluster> {
    let joiner = Joiner { clusters, data, k: parameters.k, m: parameters.m };
    let mut nodes = start(leaves, &joiner, sensitive);
    let mut done: Vec<Node> = Vec::new();
    let mut rejected: FxHashSet<(Identity, Identity)> = FxHashSet::default();
    let mut more = parameters.refine;
    while more {
        progress.stage("refining", Some(nodes.len() as u64));
        let common = forget_lonely_terms(&mut nodes, data.item_count());
        let (alive, finished) = nodes.into_iter().partition(|n: &Node| !n.terms.is_empty());
        nodes = alive;
        done.extend::<Vec<Node>>(finished);
        order(&mut nodes, &common);
        let (joined, refused) = join_neighbours(nodes, &joiner, &rejected, progress);
        nodes = joined.nodes;
        more = joined.count > 0;
        rejected.extend(refused);
    }
    done.extend(nodes);
    let mut clusters: Vec<Cluster> = done.into_par_iter().map(Node::into_cluster).collect();
    clusters.par_iter_mut().for_each(Cluster::canonicalize);
    clusters.par_sort_unstable();
    clusters
}

/// One node a leaf, with the terms that other clusters' term chunks have too.
fn start(leaves: Vec<SimpleCluster>, joiner: &Joiner, sensitive: &[bool]) -> Vec<Node> {
    let mut shared_by = vec![0u32; joiner.data.item_count()];
    for &term in leaves.iter().flat_map(|leaf| &leaf.term_chunk) {
        shared_by[term as usize] += 1;
    }
    let sharable = |t: ItemId| shared_by[t as usize] > 1 && !sensitive[t as usize];
    leaves
        .into_par_iter()
        .enumerate()
        .map_init(Vec::new, |scratch, (number, leaf)| {
            joiner.leaf(number as u32, leaf, &sharable, scratch)
        })
        .collect()
}

/// Drops terms that fewer than two nodes have left: nodes only grow, so they
/// can never be shared. Gives the terms' numbers of nodes (the paper's tcs).
fn forget_lonely_terms(nodes: &mut [Node], items: usize) -> Vec<u32> {
    let mut tcs = vec![0u32; items];
    for &(term, _) in nodes.iter().flat_map(|n| &n.terms) {
        tcs[term as usize] += 1;
    }
    nodes.par_iter_mut().for_each(|n| n.terms.retain(|&(t, _)| tcs[t as usize] > 1));
    tcs
}

/// Sorts the nodes by their most common terms (section 4, ordering of REFINE).
fn order(nodes: &mut Vec<Node>, tcs: &[u32]) {
    let mut terms: Vec<ItemId> =
        (0..tcs.len() as ItemId).filter(|&t| tcs[t as usize] > 1).collect();
    terms.par_sort_unstable_by_key(|&t| (std::cmp::Reverse(tcs[t as usize]), t));
    let mut rank = vec![u32::MAX; tcs.len()];
    for (r, &t) in terms.iter().enumerate() {
        rank[t as usize] = r as u32;
    }
    let mut keyed: Vec<([u32; PREFIX], Node)> = std::mem::take(nodes)
        .into_par_iter()
        .map(|node| (smallest(node.terms.iter().map(|&(t, _)| rank[t as usize])), node))
        .collect();
    keyed.par_sort_unstable_by(|a, b| (a.0, a.1.first_leaf()).cmp(&(b.0, b.1.first_leaf())));
    nodes.extend(keyed.into_iter().map(|(_, node)| node));
}

/// The smallest ranks, ascending.
fn smallest(ranks: impl Iterator<Item = u32>) -> [u32; PREFIX] {
    let mut best = [u32::MAX; PREFIX];
    for rank in ranks {
        if rank < best[PREFIX - 1] {
            let place = best.partition_point(|&b| b < rank);
            best.copy_within(place..PREFIX - 1, place + 1);
            best[place] = rank;
        }
    }
    best
}

/// A node is known by its first leaf and its number of leaves: nodes only grow.
type Identity = (u32, usize);

struct Joined {
    nodes: Vec<Node>,
    count: usize,
}

/// Joins adjacent pairs where that is allowed and useful; gives the pairs that
/// were refused, so that they are not tried again.
fn join_neighbours(
    nodes: Vec<Node>,
    joiner: &Joiner,
    rejected: &FxHashSet<(Identity, Identity)>,
    progress: &dyn Progress,
) -> (Joined, Vec<(Identity, Identity)>) {
    let mut blocks: Vec<Vec<Node>> = Vec::with_capacity(nodes.len() / BLOCK + 1);
    let mut rest = nodes.into_iter();
    loop {
        let block: Vec<Node> = rest.by_ref().take(BLOCK).collect();
        if block.is_empty() {
            break;
        }
        blocks.push(block);
    }
    let results: Vec<(Joined, Vec<(Identity, Identity)>)> = blocks
        .into_par_iter()
        .map_init(Vec::new, |scratch, block| {
            progress.advance(block.len() as u64);
            let (mut nodes, mut refused, mut count) =
                (Vec::with_capacity(block.len()), Vec::new(), 0);
            let mut waiting: Option<Node> = None;
            for node in block {
                let Some(before) = waiting.take() else {
                    waiting = Some(node);
                    continue;
                };
                let pair = (before.identity(), node.identity());
                let deep = before.depth.max(node.depth) >= MAX_DEPTH;
                let plan = if deep || rejected.contains(&pair) {
                    None
                } else {
                    let plan = joiner.plan(&before, &node, scratch);
                    if plan.is_none() {
                        refused.push(pair);
                    }
                    plan
                };
                match plan {
                    Some(plan) => {
                        nodes.push(before.join(node, plan));
                        count += 1;
                    }
                    None => {
                        nodes.push(before);
                        waiting = Some(node);
                    }
                }
            }
            nodes.extend(waiting);
            (Joined { nodes, count }, refused)
        })
        .collect();
    let (mut all, mut refused) = (Joined { nodes: Vec::new(), count: 0 }, Vec::new());
    for (joined, pairs) in results {
        all.nodes.extend(joined.nodes);
        all.count += joined.count;
        refused.extend(pairs);
    }
    (all, refused)
}
