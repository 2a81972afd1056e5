//! An itemset, split by where a leaf can have its items from.

use super::bounds;
use super::cluster::{Chunk, ClusterWorlds, Inflow, Leaf};
use crate::data::ItemId;

/// The parts of an itemset in a leaf, one per source.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    pub(super) own: Vec<OwnPart>,
    /// How many terms of the term chunk.
    pub(super) terms: usize,
    pub(super) shared: Vec<SharedPart>,
}

/// Items from one of the leaf's own record chunks.
#[derive(Clone, Debug)]
pub(super) struct OwnPart {
    pub(super) chunk: usize,
    pub(super) items: Vec<ItemId>,
    pub(super) count: u64,
}

/// Items from one shared chunk.
#[derive(Clone, Debug)]
pub(super) struct SharedPart {
    /// Index of the leaf's inflow.
    pub(super) inflow: usize,
    pub(super) node: usize,
    pub(super) chunk: usize,
    pub(super) items: Vec<ItemId>,
    /// How many sub-records with them may come.
    pub(super) most: u64,
    /// How many do on average.
    pub(super) mean: f64,
}

impl Parts {
    /// Record and shared chunks that are touched.
    pub(super) fn sources(&self) -> usize {
        self.own.len() + self.shared.len()
    }

    pub(super) fn counts(&self) -> Vec<u64> {
        self.own.iter().map(|part| part.count).collect()
    }

    /// The product of the counts: what the model's ratio is multiplied by.
    pub(super) fn product(&self) -> f64 {
        self.own.iter().map(|p| p.count as f64).product::<f64>()
            * self.shared.iter().map(|p| p.mean).product::<f64>()
    }

    pub(super) fn expected(&self, leaf: &Leaf) -> f64 {
        self.product() * leaf.model.ratio(self.sources(), self.terms)
    }

    pub(super) fn upper(&self, leaf: &Leaf) -> u64 {
        let (counts, extra) = (self.counts(), self.shared.len());
        let upper = bounds::upper(&leaf.model, &counts, self.terms, extra, leaf.most_shared);
        self.shared.iter().map(|p| p.most).fold(upper, u64::min)
    }
}

impl Chunk<'_> {
    pub(super) fn has(&self, item: ItemId) -> bool {
        self.domain.binary_search(&item).is_ok()
    }

    /// Finds out for a shared chunk how many records each sub-record may go to.
    pub(super) fn find_open(&mut self, leaves: &[(u64, &Inflow)]) {
        let blocking: Vec<_> = leaves.iter().filter(|(_, i)| !i.blocked.is_empty()).collect();
        let always: u64 =
            leaves.iter().filter(|(_, i)| i.blocked.is_empty()).map(|(size, _)| size).sum();
        for (items, count) in self.bag.iter() {
            let more = blocking.iter().filter(|(_, i)| i.lets_in(items)).map(|(size, _)| size);
            let open = always + more.sum::<u64>();
            self.open.push(open);
            for item in items {
                let position = self.domain.binary_search(item).expect("the domain has it");
                self.supports[position].1 += f64::from(count) / open as f64;
            }
        }
    }

    /// How many sub-records with all of `items` may come through `inflow`.
    fn most(&self, inflow: &Inflow, items: &[ItemId]) -> u64 {
        if let ([item], true) = (items, inflow.blocked.is_empty()) {
            return self.domain.binary_search(item).map_or(0, |i| self.supports[i].0);
        }
        let coming = self
            .bag
            .iter()
            .filter(|(sub_record, _)| contains(sub_record, items) && inflow.lets_in(sub_record));
        coming.map(|(_, count)| u64::from(count)).sum()
    }

    /// How many of them do on average, to a leaf of `size` records.
    pub(super) fn mean(&self, inflow: &Inflow, items: &[ItemId], size: u64) -> f64 {
        if let ([item], true) = (items, inflow.blocked.is_empty()) {
            let support = self.domain.binary_search(item).map_or(0.0, |i| self.supports[i].1);
            return support * size as f64;
        }
        let coming = self.bag.iter().zip(&self.open).filter(|((sub_record, _), _)| {
            contains(sub_record, items) && inflow.lets_in(sub_record)
        });
        size as f64 * coming.map(|((_, count), open)| f64::from(count) / *open as f64).sum::<f64>()
    }
}

impl ClusterWorlds<'_> {
    /// The lowest shared chunk that can bring `item` to the leaf, as an index
    /// of its inflows.
    fn inflow(&self, leaf: &Leaf, item: ItemId) -> Option<usize> {
        let chunks = self.shared_with.get(&item)?;
        chunks.iter().find_map(|c| leaf.shared.binary_search_by_key(c, |i| i.chunk).ok())
    }

    /// Splits the itemset by its sources in a leaf; none if an item has no
    /// source or no sub-record with a part may be there.
    pub(super) fn parts(&self, leaf: &Leaf, itemset: &[ItemId]) -> Option<Parts> {
        let mut parts = Parts::default();
        for &item in itemset {
            if let Some(&chunk) = leaf.own.iter().find(|&&c| self.chunks[c].has(item)) {
                match parts.own.iter_mut().find(|p| p.chunk == chunk) {
                    Some(part) => part.items.push(item),
                    None => parts.own.push(OwnPart { chunk, items: vec![item], count: 0 }),
                }
            } else if leaf.term_chunk.binary_search(&item).is_ok() {
                parts.terms += 1;
            } else {
                let inflow = self.inflow(leaf, item)?;
                match parts.shared.iter_mut().find(|p| p.inflow == inflow) {
                    Some(part) => part.items.push(item),
                    None => {
                        let Inflow { node, chunk, .. } = leaf.shared[inflow];
                        let items = vec![item];
                        let part = SharedPart { inflow, node, chunk, items, most: 0, mean: 0.0 };
                        parts.shared.push(part);
                    }
                }
            }
        }
        for part in &mut parts.own {
            part.count = self.chunks[part.chunk].support(&part.items);
        }
        for part in &mut parts.shared {
            let (chunk, inflow) = (&self.chunks[part.chunk], &leaf.shared[part.inflow]);
            part.most = chunk.most(inflow, &part.items);
            part.mean = chunk.mean(inflow, &part.items, leaf.model.size);
        }
        let empty =
            parts.own.iter().any(|p| p.count == 0) || parts.shared.iter().any(|p| p.most == 0);
        (!empty).then_some(parts)
    }
}

impl Chunk<'_> {
    fn support(&self, items: &[ItemId]) -> u64 {
        match items {
            [item] => self.domain.binary_search(item).map_or(0, |i| self.supports[i].0),
            _ => self.bag.support(items),
        }
    }
}

/// Whether ascending `items` has all of `itemset`.
pub(super) fn contains(items: &[ItemId], itemset: &[ItemId]) -> bool {
    itemset.iter().all(|i| items.binary_search(i).is_ok())
}
