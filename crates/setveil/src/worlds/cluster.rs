//! The worlds of a published cluster, simple or joint of any depth.
//!
//! Every item has one source in a given leaf: a record chunk, else the term
//! chunk, else the lowest joint cluster above with the item in a shared chunk.
//! This file builds that structure; [`places`](super::places) finds items in
//! it, [`parts`](super::parts) splits itemsets by it, [`answers`](super::answers)
//! gives bounds and expectations.

use super::chunk::{Chunk, Inflow};
use super::places::Places;
use super::{ClusterModel, Knowledge, Room};
use crate::data::ItemId;
use crate::release::Cluster;

/// What is taken for possible in bounds, and what for likely in expectations.
pub(super) struct Assumptions {
    pub(super) possible: Knowledge,
    pub(super) likely: Box<dyn Fn(Room) -> Knowledge + Send + Sync>,
}

impl std::fmt::Debug for Assumptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Assumptions").field("possible", &self.possible).finish_non_exhaustive()
    }
}

/// One published cluster, prepared for answers about any itemset.
#[derive(Debug)]
pub(super) struct ClusterWorlds<'a> {
    pub(super) leaves: Vec<Leaf<'a>>,
    /// In postorder: the root is last.
    pub(super) nodes: Vec<Node>,
    pub(super) chunks: Vec<Chunk<'a>>,
    /// For a joint cluster.
    pub(super) places: Places,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) size: u64,
    /// The range of leaves below.
    pub(super) leaves: std::ops::Range<usize>,
    /// Indices of nodes; empty for a leaf.
    pub(super) children: Vec<usize>,
    /// Indices of shared chunks; empty for a leaf.
    pub(super) shared: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Leaf<'a> {
    /// Its own chunks, with sums that also count what shared chunks bring.
    pub(super) model: ClusterModel,
    /// Its own record chunks.
    pub(super) own: Vec<usize>,
    pub(super) term_chunk: &'a [ItemId],
    /// Whether anything can come from shared chunks.
    pub(super) shares: bool,
    /// No more sub-records than this can come from shared chunks.
    pub(super) most_shared: u64,
    /// The joint clusters above, from the lowest upwards, so chunks ascend.
    pub(super) path: Vec<usize>,
    /// Shared chunks above that bring nothing or not everything, ascending.
    pub(super) exceptions: Vec<usize>,
    /// Those that bring something.
    pub(super) partly: Vec<Partly>,
}

/// A shared chunk that brings something to a leaf, but not everything.
#[derive(Debug)]
pub(super) struct Partly {
    pub(super) chunk: usize,
    /// Items of the chunk that have another source in this leaf, ascending:
    /// sub-records with one of them may not come.
    pub(super) blocked: Vec<ItemId>,
    /// The mean number of sub-records that come to one record.
    pub(super) mean: f64,
}

impl Leaf<'_> {
    /// What keeps sub-records of a shared chunk from this leaf, if some come.
    pub(super) fn partly(&self, chunk: usize) -> Option<&Partly> {
        let at = self.partly.binary_search_by_key(&chunk, |p| p.chunk).ok()?;
        Some(&self.partly[at])
    }

    /// The items that keep a sub-record of a shared chunk from this leaf.
    pub(super) fn blocked(&self, chunk: usize) -> &[ItemId] {
        self.partly(chunk).map_or(&[], |p| &p.blocked)
    }
}

impl<'a> ClusterWorlds<'a> {
    /// # Complexity
    /// Linear in the cluster, and in what `inflow.rs` says for shared chunks.
    pub(super) fn new(cluster: &'a Cluster, assumptions: &Assumptions) -> Self {
        let (leaves, nodes, chunks) = (Vec::new(), Vec::new(), Vec::new());
        let mut worlds = Self { leaves, nodes, chunks, places: Places::default() };
        worlds.add(cluster, assumptions.possible);
        if worlds.is_joint() {
            worlds.places = Places::new(&worlds);
            worlds.add_inflows();
        }
        worlds.expect(assumptions);
        worlds
    }

    /// Whether the cluster has shared chunks, so that expectations across
    /// chunks are approximations.
    pub(super) fn is_joint(&self) -> bool {
        self.nodes.len() > 1
    }

    fn add(&mut self, cluster: &'a Cluster, possible: Knowledge) -> usize {
        let first = self.leaves.len();
        let children: Vec<usize> =
            cluster.children().iter().map(|child| self.add(child, possible)).collect();
        let first_chunk = self.chunks.len();
        let joint = matches!(cluster, Cluster::Joint(_));
        self.chunks.extend(cluster.chunks().iter().map(|bag| Chunk::new(bag, joint)));
        let chunks: Vec<usize> = (first_chunk..self.chunks.len()).collect();
        let node = self.nodes.len();
        let mut shared = Vec::new();
        match cluster {
            Cluster::Simple(simple) => self.leaves.push(Leaf {
                model: ClusterModel::without_repetitions(simple, possible),
                own: chunks,
                term_chunk: &simple.term_chunk,
                shares: false,
                most_shared: 0,
                path: Vec::new(),
                exceptions: Vec::new(),
                partly: Vec::new(),
            }),
            Cluster::Joint(_) => {
                for &c in &chunks {
                    self.chunks[c].inflow = Some(Box::new(Inflow { node, ..Inflow::default() }));
                }
                shared = chunks;
            }
        }
        let leaves = first..self.leaves.len();
        let size = leaves.clone().map(|l| self.leaves[l].model.size()).sum();
        self.nodes.push(Node { size, leaves, children, shared });
        node
    }

    /// Gives every leaf sums for expectations, which also count what comes
    /// from shared chunks on average. Bounds keep looking at its own chunks.
    fn expect(&mut self, assumptions: &Assumptions) {
        for l in 0..self.leaves.len() {
            let leaf = &self.leaves[l];
            let (size, terms) = (leaf.model.size(), leaf.model.term_chunk_len);
            let mut totals = leaf.model.totals.clone();
            // Whole numbers of sub-records; what is left over goes to the next chunk.
            let mut rest = 0.0;
            for (chunk, partly) in self.inflows(leaf) {
                let whole = || self.chunks[chunk].coming(&[], &[]).1;
                rest += partly.map_or_else(whole, |p| p.mean) * size as f64;
                let coming = (rest.round().max(0.0) as u64).min(size);
                rest -= coming as f64;
                if coming > 0 {
                    totals.push(coming);
                }
            }
            let uncovered = size.saturating_sub(totals.iter().sum());
            let likely = (assumptions.likely)(Room { size, uncovered, terms });
            if leaf.shares {
                // What the leaf cannot do without, it gets.
                let terms = terms.saturating_mul(likely.max_occurrences(size));
                totals.push(uncovered.saturating_sub(terms));
            }
            let other = leaf.shares || likely != leaf.model.knowledge;
            if other {
                self.leaves[l].model.expect(totals, likely);
            }
        }
    }

    /// The shared chunks that bring something to a leaf, from the lowest
    /// upwards, with what keeps sub-records from it.
    pub(super) fn inflows<'s>(
        &'s self,
        leaf: &'s Leaf,
    ) -> impl Iterator<Item = (usize, Option<&'s Partly>)> {
        let chunks = leaf.path.iter().flat_map(|&node| &self.nodes[node].shared);
        chunks.filter_map(|&chunk| match leaf.exceptions.binary_search(&chunk) {
            Err(_) => Some((chunk, None)),
            Ok(_) => leaf.partly(chunk).map(|partly| (chunk, Some(partly))),
        })
    }
}
