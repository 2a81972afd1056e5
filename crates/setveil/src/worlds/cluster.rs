//! The worlds of a published cluster, simple or joint of any depth.
//!
//! Every item has one source in a given leaf: a record chunk, else the term
//! chunk, else the lowest joint cluster above with the item in a shared chunk.
//! This file builds that structure; [`parts`](super::parts) splits itemsets by
//! it, [`answers`](super::answers) gives bounds and expectations.

use super::{ClusterModel, Knowledge, Room};
use crate::data::ItemId;
use crate::release::{Bag, Cluster};
use crate::{Progress, Result};

/// What is taken for possible in bounds, and what for likely in expectations.
pub(super) struct Assumptions<'f> {
    pub(super) possible: Knowledge,
    pub(super) likely: &'f (dyn Fn(Room) -> Knowledge + Sync),
}

/// One published cluster, prepared for answers about any itemset.
#[derive(Clone, Debug)]
pub(super) struct ClusterWorlds<'a> {
    pub(super) leaves: Vec<Leaf<'a>>,
    /// In postorder: the root is last.
    pub(super) nodes: Vec<Node>,
    pub(super) chunks: Vec<Chunk<'a>>,
}

/// A record or shared chunk.
#[derive(Clone, Debug)]
pub(super) struct Chunk<'a> {
    pub(super) bag: &'a Bag,
    /// Ascending.
    pub(super) domain: Vec<ItemId>,
    /// For a shared chunk: its joint cluster.
    pub(super) node: usize,
    /// For a shared chunk: how many records each distinct sub-record may go to.
    pub(super) open: Vec<u64>,
    /// For a shared chunk: the positions of the distinct sub-records with each
    /// item of the domain.
    pub(super) postings: Vec<Vec<u32>>,
    /// The number of sub-records and, for a shared chunk, the mean number per
    /// record if every record is open to all of them.
    pub(super) total: (u64, f64),
    /// For each item of the domain: its support and, for a shared chunk, the
    /// mean number per record that is open to it.
    pub(super) supports: Vec<(u64, f64)>,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) size: u64,
    /// The range of leaves below.
    pub(super) leaves: std::ops::Range<usize>,
    /// Indices of nodes; empty for a leaf.
    pub(super) children: Vec<usize>,
    /// Indices of shared chunks; empty for a leaf.
    pub(super) shared: Vec<usize>,
}

#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
pub(super) struct Partly {
    pub(super) chunk: usize,
    /// Items of the chunk that have another source in this leaf: sub-records
    /// with one of them may not come.
    pub(super) blocked: Vec<ItemId>,
}

impl Leaf<'_> {
    /// The items that keep a sub-record of a shared chunk from this leaf.
    pub(super) fn blocked(&self, chunk: usize) -> &[ItemId] {
        self.partly.iter().find(|p| p.chunk == chunk).map_or(&[], |p| &p.blocked)
    }
}

/// Whether a sub-record with these items may come in spite of `blocked`.
pub(super) fn lets_in(blocked: &[ItemId], sub_record: &[ItemId]) -> bool {
    blocked.is_empty() || !sub_record.iter().any(|i| blocked.contains(i))
}

impl<'a> ClusterWorlds<'a> {
    pub(super) fn new(
        cluster: &'a Cluster,
        assumptions: &Assumptions,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut worlds = Self { leaves: Vec::new(), nodes: Vec::new(), chunks: Vec::new() };
        worlds.add(cluster, assumptions.possible);
        if worlds.is_joint() {
            worlds.add_inflows(progress)?;
        }
        worlds.expect(assumptions, progress)?;
        Ok(worlds)
    }

    pub(super) fn size(&self) -> u64 {
        self.nodes.last().map_or(0, |root| root.size)
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
        let chunks: Vec<usize> = cluster.chunks().iter().map(|bag| self.add_chunk(bag)).collect();
        let mut shared = Vec::new();
        match cluster {
            Cluster::Simple(simple) => self.leaves.push(Leaf {
                model: ClusterModel::without_sums(simple, possible),
                own: chunks,
                term_chunk: &simple.term_chunk,
                shares: false,
                most_shared: 0,
                path: Vec::new(),
                exceptions: Vec::new(),
                partly: Vec::new(),
            }),
            Cluster::Joint(_) => {
                shared = chunks;
                for &c in &shared {
                    self.chunks[c].add_postings();
                }
            }
        }
        let leaves = first..self.leaves.len();
        let size = leaves.clone().map(|l| self.leaves[l].model.size).sum();
        self.nodes.push(Node { size, leaves, children, shared });
        self.nodes.len() - 1
    }

    fn add_chunk(&mut self, bag: &'a Bag) -> usize {
        let domain = bag.domain();
        let mut supports = vec![(0, 0.0); domain.len()];
        for (items, count) in bag.iter() {
            for item in items {
                supports[domain.binary_search(item).expect("the domain has it")].0 +=
                    u64::from(count);
            }
        }
        self.chunks.push(Chunk {
            bag,
            domain,
            node: 0,
            open: Vec::new(),
            postings: Vec::new(),
            total: (bag.total(), 0.0),
            supports,
        });
        self.chunks.len() - 1
    }

    /// Finds out where the sub-records of shared chunks may go, from the
    /// lowest joint clusters upwards.
    fn add_inflows(&mut self, progress: &dyn Progress) -> Result<()> {
        // Items that a leaf takes from no cluster further up, ascending.
        let mut taken: Vec<Vec<ItemId>> = self.leaves.iter().map(|l| self.own_items(l)).collect();
        for (n, node) in self.nodes.iter().enumerate() {
            for &c in &node.shared {
                progress.step(0)?;
                let chunk = &mut self.chunks[c];
                chunk.node = n;
                let also = |l: usize| {
                    let has = |i: &&ItemId| taken[l].binary_search(i).is_ok();
                    chunk.domain.iter().filter(has).copied().collect::<Vec<ItemId>>()
                };
                let blocked: Vec<Vec<ItemId>> = node.leaves.clone().map(also).collect();
                let sizes = node.leaves.clone().map(|l| self.leaves[l].model.size);
                chunk.find_open(&sizes.zip(&blocked).collect::<Vec<_>>());
                for (l, blocked) in node.leaves.clone().zip(blocked) {
                    let most = chunk.coming(&blocked, &[]).0;
                    let leaf = &mut self.leaves[l];
                    leaf.most_shared += most.min(leaf.model.size);
                    leaf.shares |= most > 0;
                    if !blocked.is_empty() {
                        leaf.exceptions.push(c);
                        if most > 0 {
                            leaf.partly.push(Partly { chunk: c, blocked });
                        }
                    }
                }
            }
            let domain: Vec<ItemId> =
                node.shared.iter().flat_map(|&c| &self.chunks[c].domain).copied().collect();
            for l in node.leaves.clone().filter(|_| !domain.is_empty()) {
                self.leaves[l].path.push(n);
                taken[l].extend_from_slice(&domain);
                taken[l].sort_unstable();
                taken[l].dedup();
            }
        }
        Ok(())
    }

    /// Gives every leaf sums for expectations, which also count what comes
    /// from shared chunks on average. Bounds keep looking at its own chunks.
    fn expect(&mut self, assumptions: &Assumptions, progress: &dyn Progress) -> Result<()> {
        for l in 0..self.leaves.len() {
            progress.step(0)?;
            let leaf = &self.leaves[l];
            let ClusterModel { size, term_chunk_len, .. } = leaf.model;
            let mut totals = leaf.model.totals.clone();
            for (chunk, blocked) in self.inflows(leaf) {
                let mean = self.chunks[chunk].coming(blocked, &[]).1 * size as f64;
                totals.push((mean.round() as u64).min(size));
            }
            let uncovered = size.saturating_sub(totals.iter().sum());
            let likely = (assumptions.likely)(Room { size, uncovered, terms: term_chunk_len });
            if leaf.shares {
                // What the leaf cannot do without, it gets.
                let terms = term_chunk_len.saturating_mul(likely.max_occurrences(size));
                totals.push(uncovered.saturating_sub(terms));
            }
            self.leaves[l].model.set_sums(&totals, likely);
        }
        Ok(())
    }

    /// The shared chunks that bring something to a leaf, from the lowest
    /// upwards, with the items that keep sub-records from it.
    pub(super) fn inflows<'s>(
        &'s self,
        leaf: &'s Leaf,
    ) -> impl Iterator<Item = (usize, &'s [ItemId])> {
        let chunks = leaf.path.iter().flat_map(|&node| &self.nodes[node].shared);
        chunks.filter_map(|&chunk| match leaf.exceptions.binary_search(&chunk) {
            Err(_) => Some((chunk, &[][..])),
            Ok(_) => Some((chunk, leaf.blocked(chunk))).filter(|(_, blocked)| !blocked.is_empty()),
        })
    }

    fn own_items(&self, leaf: &Leaf) -> Vec<ItemId> {
        let own = leaf.own.iter().flat_map(|&c| &self.chunks[c].domain);
        let mut items: Vec<ItemId> = own.chain(leaf.term_chunk).copied().collect();
        items.sort_unstable();
        items.dedup();
        items
    }
}
