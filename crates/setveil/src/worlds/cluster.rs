//! The worlds of a published joint cluster, of any depth.
//!
//! Every item has one source in a given leaf: a record chunk, else the term
//! chunk, else the lowest joint cluster above with the item in a shared chunk.
//! This file builds that structure; [`places`](super::places) finds items in
//! it, [`parts`](super::parts) splits itemsets by it, [`answers`](super::answers)
//! gives bounds and expectations.

use std::sync::OnceLock;

use super::chunk::{Chunk, Inflow};
use super::inflow::Coming;
use super::model::SharedSums;
use super::pair::Facts;
use super::partly::Partly;
use super::places::Places;
use super::{ClusterModel, Factors, Knowledge, Room};
use crate::data::ItemId;
use crate::release::Cluster;

/// What is taken for possible in bounds, and what for likely in expectations.
pub(crate) struct Assumptions {
    pub(crate) possible: Knowledge,
    pub(crate) likely: Box<dyn Fn(Room) -> Knowledge + Send + Sync>,
    pub(crate) prior: Factors,
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
    pub(super) places: Places,
    /// Shared chunks that do not bring everything to a leaf: by chunk, then by leaf.
    pub(super) exceptions: Vec<Exception>,
    /// What keeps sub-records out, one exception after the other.
    pub(super) blocked: Vec<ItemId>,
    pub(super) prior: Factors,
    /// By leaf.
    pub(super) facts: Vec<Facts>,
    /// For posteriors, once one has been asked for.
    partly: OnceLock<Option<Partly>>,
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
    pub(super) own: std::ops::Range<usize>,
    pub(super) term_chunk: &'a [ItemId],
    /// Whether anything can come from shared chunks.
    pub(super) shares: bool,
    /// No more sub-records than this can come from shared chunks.
    pub(super) most_shared: u64,
    /// The joint clusters above, from the lowest upwards, so chunks ascend.
    pub(super) path: Vec<usize>,
    /// Positions of the leaf's exceptions, so chunks ascend.
    pub(super) exceptions: Vec<u32>,
}

/// A shared chunk that brings nothing to a leaf below it, or not everything.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exception {
    pub(super) leaf: u32,
    pub(super) chunk: u32,
    /// Whether something comes.
    pub(super) open: bool,
    /// Where the items of the chunk stand in `blocked` that have another source in
    /// this leaf, ascending: sub-records with one of them may not come.
    pub(super) start: u32,
    pub(super) end: u32,
}

impl<'a> ClusterWorlds<'a> {
    /// # Complexity
    /// Linear in the cluster, and in what `inflow.rs` says for shared chunks.
    pub(super) fn new(cluster: &'a Cluster, assumptions: &Assumptions, sums: &SharedSums) -> Self {
        let mut worlds = Self {
            leaves: Vec::new(),
            nodes: Vec::new(),
            chunks: Vec::new(),
            places: Places::default(),
            exceptions: Vec::new(),
            blocked: Vec::new(),
            prior: assumptions.prior,
            facts: Vec::new(),
            partly: OnceLock::new(),
        };
        worlds.add(cluster, assumptions.possible);
        worlds.places = Places::new(&worlds);
        let coming = worlds.add_inflows();
        worlds.expect(coming, assumptions, sums);
        worlds.facts = worlds.leaves.iter().map(Facts::of).collect();
        worlds
    }

    /// What comes to each leaf from shared chunks that do not bring everything,
    /// unless that is too much to keep.
    pub(super) fn partly(&self) -> Option<&Partly> {
        self.partly.get_or_init(|| Partly::new(self)).as_ref()
    }

    /// The items that keep sub-records of a shared chunk from a leaf.
    pub(super) fn blocked(&self, exception: &Exception) -> &[ItemId] {
        &self.blocked[exception.start as usize..exception.end as usize]
    }

    fn add(&mut self, cluster: &'a Cluster, possible: Knowledge) -> usize {
        let first = self.leaves.len();
        let children: Vec<usize> =
            cluster.children().iter().map(|child| self.add(child, possible)).collect();
        let first_chunk = self.chunks.len();
        let joint = matches!(cluster, Cluster::Joint(_));
        self.chunks.extend(cluster.chunks().iter().map(|bag| Chunk::new(bag, joint)));
        let chunks = first_chunk..self.chunks.len();
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
            }),
            Cluster::Joint(_) => {
                for c in chunks.clone() {
                    self.chunks[c].inflow = Some(Box::new(Inflow { node, ..Inflow::default() }));
                }
                shared = chunks.collect();
            }
        }
        let leaves = first..self.leaves.len();
        let size = leaves.clone().map(|l| self.leaves[l].model.size()).sum();
        self.nodes.push(Node { size, leaves, children, shared });
        node
    }

    /// Gives every leaf sums for expectations, which also count what comes
    /// from shared chunks on average. Bounds keep looking at its own chunks.
    fn expect(&mut self, coming: Vec<Coming>, assumptions: &Assumptions, sums: &SharedSums) {
        for (leaf, coming) in self.leaves.iter_mut().zip(coming) {
            let (size, terms) = (leaf.model.size(), leaf.model.term_chunk_len);
            let mut totals = leaf.model.totals.clone();
            totals.extend(coming.totals);
            let uncovered = size.saturating_sub(totals.iter().sum());
            let likely = (assumptions.likely)(Room { size, uncovered, terms });
            if leaf.shares {
                // What the leaf cannot do without, it gets.
                let terms = terms.saturating_mul(likely.max_occurrences(size));
                totals.push(uncovered.saturating_sub(terms));
            }
            if leaf.shares || likely != leaf.model.knowledge {
                leaf.model.expect(totals, likely, sums);
            }
        }
    }

    /// The shared chunks that bring something to a leaf, from the lowest
    /// upwards, with what keeps sub-records from it.
    pub(super) fn inflows<'s>(
        &'s self,
        leaf: &'s Leaf,
    ) -> impl Iterator<Item = (usize, &'s [ItemId])> {
        let mut exceptions = leaf.exceptions.iter().map(|&e| &self.exceptions[e as usize]);
        let mut next = exceptions.next();
        let chunks = leaf.path.iter().flat_map(|&node| &self.nodes[node].shared);
        chunks.filter_map(move |&chunk| match next {
            Some(exception) if exception.chunk as usize == chunk => {
                next = exceptions.next();
                exception.open.then(|| (chunk, self.blocked(exception)))
            }
            _ => Some((chunk, &[][..])),
        })
    }
}
