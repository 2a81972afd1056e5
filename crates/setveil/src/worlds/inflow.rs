//! Where the sub-records of shared chunks may go: into which leaves, and how
//! many of them on average.
//!
//! The work is linear in the items that leaves and shared chunks have in common,
//! times the sub-records with these items, up to a limit. Beyond it, what a
//! leaf keeps out is no longer counted: more seems to be able to come, which
//! bounds may say and expectations may neglect.

use smallvec::SmallVec;

use super::chunk::{Chunk, Inflow};
use super::cluster::{ClusterWorlds, Exception};
use crate::data::ItemId;

/// Sub-records that are looked at per item of a joint cluster.
const LIMIT: u64 = 256;

/// How many sub-records of shared chunks come to a leaf on average, in whole
/// numbers; what is left over goes to the next chunk.
#[derive(Clone, Debug, Default)]
pub(super) struct Coming {
    pub(super) totals: Vec<u64>,
    rest: f64,
}

impl Coming {
    fn add(&mut self, mean: f64, size: u64) {
        self.rest += mean * size as f64;
        let coming = (self.rest.round().max(0.0) as u64).min(size);
        self.rest -= coming as f64;
        if coming > 0 {
            self.totals.push(coming);
        }
    }
}

impl ClusterWorlds<'_> {
    /// Finds out where the sub-records of shared chunks may go, from the
    /// lowest joint clusters upwards, and how many come to each leaf. Needs the
    /// places of the items.
    pub(super) fn add_inflows(&mut self) -> Vec<Coming> {
        let mut coming = vec![Coming::default(); self.leaves.len()];
        let items: usize = self.chunks.iter().map(|chunk| chunk.bag.items().len()).sum();
        let mut budget = LIMIT * (items + self.leaves.len()) as u64;
        for n in 0..self.nodes.len() {
            let leaves = self.nodes[n].leaves.clone();
            for at in 0..self.nodes[n].shared.len() {
                let c = self.nodes[n].shared[at];
                let blocked = self.blocked_items(n, c);
                let size = self.nodes[n].size;
                let sizes: Vec<u64> = leaves.clone().map(|l| self.leaves[l].model.size()).collect();
                self.chunks[c].spread(n, size, &blocked, leaves.start, &sizes, &mut budget);
                self.let_in(c, leaves.clone(), &blocked, &mut coming, &mut budget);
            }
            if !self.nodes[n].shared.is_empty() {
                leaves.for_each(|l| self.leaves[l].path.push(n));
            }
        }
        self.exceptions.shrink_to_fit();
        self.blocked.shrink_to_fit();
        coming
    }

    /// For the items of a shared chunk the leaves that have them from nearer by,
    /// as pairs of leaf and item, ascending.
    fn blocked_items(&self, node: usize, c: usize) -> Vec<(u32, ItemId)> {
        let range = &self.nodes[node].leaves;
        let mut blocked = Vec::new();
        for &item in self.chunks[c].domain() {
            let own = self.places.own(item).iter().map(|place| place.leaf);
            blocked.extend(own.filter(|&l| range.contains(&(l as usize))).map(|l| (l, item)));
            for lower in self.places.shared(item) {
                let lower = self.chunks[lower as usize].node();
                if lower < node && range.contains(&self.nodes[lower].leaves.start) {
                    let leaves = self.nodes[lower].leaves.clone();
                    blocked.extend(leaves.map(|l| (l as u32, item)));
                }
            }
        }
        blocked.sort_unstable();
        blocked.dedup();
        blocked
    }

    /// Tells the leaves what a shared chunk brings them.
    fn let_in(
        &mut self,
        c: usize,
        leaves: std::ops::Range<usize>,
        blocked: &[(u32, ItemId)],
        coming: &mut [Coming],
        budget: &mut u64,
    ) {
        let (mut rest, first) = (blocked, self.exceptions.len() as u32);
        for l in leaves {
            let (here, after) = rest.split_at(rest.partition_point(|b| b.0 as usize <= l));
            rest = after;
            let blocked: SmallVec<[ItemId; 16]> = here.iter().map(|b| b.1).collect();
            let chunk = &self.chunks[c];
            let work: usize = blocked.iter().map(|&item| chunk.postings(item).len()).sum();
            let spent = budget.checked_sub(work as u64);
            *budget = spent.unwrap_or(*budget);
            let kept_out = spent.map_or((0, 0.0), |_| chunk.kept_out(&blocked));
            let most = chunk.total - kept_out.0.min(chunk.total);
            let mean = chunk.inflow.as_ref().map_or(0.0, |i| i.mean) - kept_out.1;
            let leaf = &mut self.leaves[l];
            leaf.most_shared += most.min(leaf.model.size());
            leaf.shares |= most > 0;
            if most > 0 || blocked.is_empty() {
                coming[l].add(mean.max(0.0), leaf.model.size());
            }
            if !blocked.is_empty() {
                leaf.exceptions.push(self.exceptions.len() as u32);
                self.except(l, c, most > 0, &blocked);
            }
        }
        let exceptions = first..self.exceptions.len() as u32;
        if let Some(inflow) = &mut self.chunks[c].inflow {
            inflow.exceptions = exceptions;
        }
    }

    fn except(&mut self, leaf: usize, chunk: usize, open: bool, blocked: &[ItemId]) {
        let start = self.blocked.len() as u32;
        // What brings nothing need not say why.
        self.blocked.extend(blocked.iter().filter(|_| open));
        let (leaf, chunk, end) = (leaf as u32, chunk as u32, self.blocked.len() as u32);
        self.exceptions.push(Exception { leaf, chunk, open, start, end });
    }
}

impl Chunk<'_> {
    /// The joint cluster of a shared chunk.
    pub(super) fn node(&self) -> usize {
        self.inflow.as_ref().map_or(usize::MAX, |inflow| inflow.node)
    }

    /// Finds out how many of the `size` records of the leaves each sub-record may
    /// go to, given what is `blocked` where.
    fn spread(
        &mut self,
        node: usize,
        size: u64,
        blocked: &[(u32, ItemId)],
        first: usize,
        sizes: &[u64],
        budget: &mut u64,
    ) {
        let mut open = vec![size; self.bag.len()];
        // The leaves that keep out each item of the domain.
        let mut leaves: Vec<Vec<u32>> = vec![Vec::new(); self.domain().len()];
        for &(l, item) in blocked {
            if let Ok(i) = self.domain().binary_search(&item) {
                leaves[i].push(l);
            }
        }
        let mut closed = vec![usize::MAX; sizes.len()];
        for (u, (items, _)) in self.bag.iter().enumerate() {
            let places = items.iter().filter_map(|item| self.domain().binary_search(item).ok());
            let places: Vec<usize> = places.filter(|&i| !leaves[i].is_empty()).collect();
            let work: usize = places.iter().map(|&i| leaves[i].len()).sum();
            let Some(left) = budget.checked_sub(work as u64) else { continue };
            *budget = left;
            for &l in places.iter().flat_map(|&i| &leaves[i]) {
                let l = l as usize - first;
                if closed[l] != u {
                    closed[l] = u;
                    open[u] -= sizes[l].min(open[u]);
                }
            }
        }
        let mut inflow = Inflow { node, open, ..Inflow::default() };
        inflow.means = vec![0.0; self.domain().len()];
        for (u, (items, count)) in self.bag.iter().enumerate() {
            let mean = f64::from(count) / inflow.open[u].max(1) as f64;
            inflow.mean += mean;
            for item in items {
                if let Ok(i) = self.domain().binary_search(item) {
                    inflow.means[i] += mean;
                }
            }
        }
        self.inflow = Some(Box::new(inflow));
    }
}
