//! The least support of an itemset in a joint cluster: what stands together in
//! chunks, and what must overlap because there are not enough records to stay
//! apart.

use smallvec::SmallVec;

use super::bounds;
use super::cluster::{ClusterWorlds, Leaf};
use super::parts::{Asked, Items, TERM};
use super::places::{Source, Spots};
use crate::data::ItemId;

/// Up to this many items, lower bounds try every way to split the itemset.
const SPLIT_LIMIT: usize = 6;

/// In joint clusters of up to this many clusters, lower bounds also look for
/// items that must overlap because the whole has too few records.
const OVERLAP_LIMIT: usize = 32;

/// The parts of an itemset that are looked at, such that parts come before the whole.
struct Subsets {
    /// Positions in the itemset.
    all: Vec<SmallVec<[usize; 4]>>,
    /// Whether these are all; else the single items and everything.
    every: bool,
}

impl Subsets {
    fn of(items: usize) -> Self {
        let every = items <= SPLIT_LIMIT;
        let all = if every {
            let subset = |mask: usize| (0..items).filter(move |i| mask >> i & 1 == 1);
            (1..1 << items).map(|mask| subset(mask).collect()).collect()
        } else {
            let single = |i| SmallVec::from_slice(&[i]);
            (0..items).map(single).chain([(0..items).collect()]).collect()
        };
        Self { all, every }
    }

    /// What subset `s` has at least in `size` records, by what its parts have: `here`.
    fn overlap(&self, s: usize, here: &[u64], size: u64) -> u64 {
        if self.every {
            let mask = s + 1;
            let halves = (1..mask).filter(|half| half & mask == *half);
            let sums = halves.map(|half| here[half - 1] + here[(mask ^ half) - 1]);
            return sums.max().unwrap_or(0).saturating_sub(size);
        }
        let singles = self.all.len() - 1;
        if s < singles {
            return 0;
        }
        here[..singles].iter().sum::<u64>().saturating_sub((singles as u64 - 1) * size)
    }
}

impl ClusterWorlds<'_> {
    /// The least support of an itemset of which leaves have `own` for certain by
    /// their own chunks.
    pub(super) fn lower(&self, itemset: &[ItemId], own: u64) -> u64 {
        if self.nodes.len() > OVERLAP_LIMIT {
            return own.saturating_add(self.in_one_shared_chunk(itemset));
        }
        let subsets = Subsets::of(itemset.len());
        let width = subsets.all.len();
        let mut least = self.in_shared_chunks(itemset, &subsets);
        let mut spots: SmallVec<[Spots; 4]> =
            itemset.iter().map(|&item| self.spots(item)).collect();
        for (n, node) in self.nodes.iter().enumerate() {
            let (below, here) = least.split_at_mut(n * width);
            let here = &mut here[..width];
            let leaf_number = node.leaves.start;
            let sources: SmallVec<[Option<Source>; 4]> = match node.children.is_empty() {
                true => spots.iter_mut().map(|s| s.source(leaf_number as u32)).collect(),
                false => SmallVec::new(),
            };
            for (s, subset) in subsets.all.iter().enumerate() {
                let own = match node.children.is_empty() {
                    true => self.in_leaf(&self.leaves[leaf_number], itemset, subset, &sources),
                    false => node.children.iter().map(|&child| below[child * width + s]).sum(),
                };
                here[s] += own;
                here[s] = here[s].max(subsets.overlap(s, here, node.size));
            }
        }
        least.last().copied().unwrap_or(0)
    }

    /// By node and subset: how many sub-records of its shared chunks have the
    /// whole subset.
    fn in_shared_chunks(&self, itemset: &[ItemId], subsets: &Subsets) -> Vec<u64> {
        let width = subsets.all.len();
        let mut supports = vec![0; self.nodes.len() * width];
        for (s, subset) in subsets.all.iter().enumerate() {
            let items: Items = subset.iter().map(|&i| itemset[i]).collect();
            for c in self.places.shared(items[0]) {
                let chunk = &self.chunks[c as usize];
                if items[1..].iter().all(|&item| chunk.has(item)) {
                    supports[chunk.node() * width + s] += chunk.support(&items);
                }
            }
        }
        supports
    }

    /// The least support of a subset in a leaf by its own chunks.
    fn in_leaf(
        &self,
        leaf: &Leaf,
        itemset: &[ItemId],
        subset: &[usize],
        sources: &[Option<Source>],
    ) -> u64 {
        let mut own: SmallVec<[Source; 4]> = SmallVec::new();
        for &i in subset {
            match sources[i] {
                Some(source)
                    if source.chunk == TERM || !self.chunks[source.chunk as usize].is_shared() =>
                {
                    own.push(source);
                }
                _ => return 0,
            }
        }
        let items: Items = subset.iter().map(|&i| itemset[i]).collect();
        let parts = self.parts(leaf, &items, &own, &mut Asked::default());
        let least = |parts: super::parts::Parts| {
            bounds::lower(&leaf.model, &parts.counts(), parts.terms, leaf.most_shared)
        };
        parts.map_or(0, least)
    }

    /// How many sub-records of shared chunks have the whole itemset.
    fn in_one_shared_chunk(&self, itemset: &[ItemId]) -> u64 {
        let Some((&first, others)) = itemset.split_first() else { return 0 };
        let chunks = self.places.shared(first).map(|c| &self.chunks[c as usize]);
        let whole = chunks.filter(|chunk| others.iter().all(|&item| chunk.has(item)));
        whole.map(|chunk| chunk.support(itemset)).sum()
    }
}
