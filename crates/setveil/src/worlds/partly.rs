//! What comes to each leaf from shared chunks that do not bring everything,
//! multiplied out: a posterior asks every leaf for all of it.

use super::chunk::lets_in;
use super::cluster::ClusterWorlds;
use crate::data::ItemId;

/// Clusters for which more than so many entries per item would be kept do without.
const LIMIT: usize = 64;

/// By leaf, then by exception: the items that come, and how often to one record.
#[derive(Debug)]
pub(super) struct Partly {
    /// The exceptions of leaf `l` are those from `leaves[l]` to `leaves[l + 1]`.
    leaves: Vec<u32>,
    chunks: Vec<u32>,
    /// The entries of exception `e` are those from `starts[e]` to `starts[e + 1]`.
    starts: Vec<u32>,
    items: Vec<ItemId>,
    means: Vec<f64>,
}

impl Partly {
    /// None if it would take too much memory.
    pub(super) fn new(cluster: &ClusterWorlds) -> Option<Self> {
        let len = |c: usize| cluster.chunks[c].bag.items().len();
        let all: usize = (0..cluster.chunks.len()).map(len).sum();
        let open = cluster.exceptions.iter().filter(|exception| exception.open);
        let most: usize = open.map(|exception| len(exception.chunk as usize)).sum();
        if most > LIMIT * (all + cluster.leaves.len()) || u32::try_from(most).is_err() {
            return None;
        }
        let mut partly = Self {
            leaves: vec![0],
            chunks: Vec::with_capacity(cluster.exceptions.len()),
            starts: Vec::with_capacity(cluster.exceptions.len() + 1),
            items: Vec::new(),
            means: Vec::new(),
        };
        partly.starts.push(0);
        for leaf in &cluster.leaves {
            for exception in leaf.exceptions.iter().map(|&e| &cluster.exceptions[e as usize]) {
                let chunk = &cluster.chunks[exception.chunk as usize];
                let blocked = cluster.blocked(exception);
                let coming = chunk.bag.iter().enumerate().filter(|_| exception.open);
                for (u, (items, count)) in coming.filter(|(_, s)| lets_in(blocked, s.0)) {
                    let mean = f64::from(count) / chunk.open(u);
                    partly.items.extend_from_slice(items);
                    partly.means.resize(partly.items.len(), mean);
                }
                partly.chunks.push(exception.chunk);
                partly.starts.push(partly.items.len() as u32);
            }
            partly.leaves.push(partly.chunks.len() as u32);
        }
        partly.items.shrink_to_fit();
        partly.means.shrink_to_fit();
        Some(partly)
    }

    fn exceptions(&self, leaf: usize) -> std::ops::Range<usize> {
        self.leaves[leaf] as usize..self.leaves[leaf + 1] as usize
    }

    /// The shared chunks that do not bring everything to a leaf, ascending.
    pub(super) fn chunks(&self, leaf: usize) -> &[u32] {
        &self.chunks[self.exceptions(leaf)]
    }

    /// What comes to a leaf from all of them.
    pub(super) fn coming(&self, leaf: usize) -> impl Iterator<Item = (ItemId, f64)> {
        let exceptions = self.exceptions(leaf);
        self.entries(exceptions.start, exceptions.end)
    }

    /// What comes from the one at this place in [`chunks`](Self::chunks).
    pub(super) fn coming_from(
        &self,
        leaf: usize,
        at: usize,
    ) -> impl Iterator<Item = (ItemId, f64)> {
        let exception = self.exceptions(leaf).start + at;
        self.entries(exception, exception + 1)
    }

    fn entries(&self, from: usize, to: usize) -> impl Iterator<Item = (ItemId, f64)> {
        let range = self.starts[from] as usize..self.starts[to] as usize;
        self.items[range.clone()].iter().copied().zip(self.means[range].iter().copied())
    }
}
