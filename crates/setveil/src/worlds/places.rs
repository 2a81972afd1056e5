//! Where each item of a joint cluster can be: the leaves with a source of it.

use super::cluster::ClusterWorlds;
use super::parts::TERM;
use crate::data::ItemId;

/// For each item of a joint cluster the leaves that have it in a chunk of their
/// own, and the shared chunks that bring it to the leaves below them.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// By item, then by leaf.
    own: Vec<Place>,
    /// By item, then by chunk.
    shared: Vec<(ItemId, u32)>,
    /// The second halves of `shared`.
    chunks: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) item: ItemId,
    pub(super) leaf: u32,
    pub(super) source: u32,
}

/// Leaves in which all items of an itemset have a source, ascending.
#[derive(Debug, Default)]
pub(super) struct Sites {
    leaves: Vec<u32>,
    /// For every leaf as many as the itemset has items, in its order.
    sources: Vec<u32>,
}

impl Places {
    pub(super) fn new(cluster: &ClusterWorlds) -> Self {
        let mut places = Self::default();
        for (l, leaf) in cluster.leaves.iter().enumerate() {
            let leaf_number = l as u32;
            for &c in &leaf.own {
                let items = cluster.chunks[c].bag.items().iter();
                let place = |&item| Place { item, leaf: leaf_number, source: c as u32 };
                places.own.extend(items.map(place));
            }
            let place = |&item| Place { item, leaf: leaf_number, source: TERM };
            places.own.extend(leaf.term_chunk.iter().map(place));
        }
        places.own.sort_unstable();
        // The nearest source counts: a record chunk before the term chunk.
        places.own.dedup_by_key(|place| (place.item, place.leaf));
        for (c, chunk) in cluster.chunks.iter().enumerate().filter(|(_, c)| c.is_shared()) {
            places.shared.extend(chunk.domain().iter().map(|&item| (item, c as u32)));
        }
        places.shared.sort_unstable();
        places.chunks = places.shared.iter().map(|s| s.1).collect();
        places
    }

    /// The leaves with the item in a chunk of their own, ascending.
    pub(super) fn own(&self, item: ItemId) -> &[Place] {
        let start = self.own.partition_point(|p| p.item < item);
        let len = self.own[start..].partition_point(|p| p.item == item);
        &self.own[start..start + len]
    }

    /// The shared chunks with the item, the lowest first.
    pub(super) fn shared(&self, item: ItemId) -> &[u32] {
        let start = self.shared.partition_point(|s| s.0 < item);
        let len = self.shared[start..].partition_point(|s| s.0 == item);
        &self.chunks[start..start + len]
    }
}

/// One item of an itemset: where it can be.
struct Spots<'a> {
    own: &'a [Place],
    shared: &'a [u32],
}

impl ClusterWorlds<'_> {
    /// The leaves in which all items have a source; none for an empty itemset.
    pub(super) fn sites(&self, itemset: &[ItemId]) -> Sites {
        let mut sites = Sites::default();
        if !self.is_joint() {
            if let (false, Some(sources)) = (itemset.is_empty(), self.sources(0, itemset)) {
                sites = Sites { leaves: vec![0], sources };
            }
            return sites;
        }
        let spots: Vec<Spots> = itemset.iter().map(|&item| self.spots(item)).collect();
        let Some(rarest) = spots.iter().min_by_key(|s| self.leaves_of(s)) else { return sites };
        let mut candidates: Vec<u32> = rarest.own.iter().map(|p| p.leaf).collect();
        for &c in rarest.shared {
            let leaves = self.nodes[self.chunks[c as usize].node()].leaves.clone();
            candidates.extend(leaves.map(|l| l as u32));
        }
        candidates.sort_unstable();
        candidates.dedup();
        for l in candidates {
            let before = sites.sources.len();
            let sources = spots.iter().map_while(|s| self.source(l as usize, s));
            sites.sources.extend(sources);
            if sites.sources.len() == before + itemset.len() {
                sites.leaves.push(l);
            } else {
                sites.sources.truncate(before);
            }
        }
        sites
    }

    fn spots(&self, item: ItemId) -> Spots<'_> {
        Spots { own: self.places.own(item), shared: self.places.shared(item) }
    }

    fn leaves_of(&self, spots: &Spots) -> usize {
        let below = |&c: &u32| self.nodes[self.chunks[c as usize].node()].leaves.len();
        spots.own.len() + spots.shared.iter().map(below).sum::<usize>()
    }

    /// Where a leaf has each item from: a record chunk, [`TERM`], or the lowest
    /// shared chunk with it, if that may bring something. None if one has no source.
    pub(super) fn sources(&self, leaf: usize, itemset: &[ItemId]) -> Option<Vec<u32>> {
        if self.is_joint() {
            return itemset.iter().map(|&item| self.source(leaf, &self.spots(item))).collect();
        }
        let simple = &self.leaves[leaf];
        let source = |&item: &ItemId| {
            let chunk = simple.own.iter().find(|&&c| self.chunks[c].has(item));
            let term = || simple.term_chunk.binary_search(&item).is_ok().then_some(TERM);
            chunk.map(|&c| c as u32).or_else(term)
        };
        itemset.iter().map(source).collect()
    }

    fn source(&self, l: usize, spots: &Spots) -> Option<u32> {
        if let Ok(at) = spots.own.binary_search_by_key(&(l as u32), |p| p.leaf) {
            return Some(spots.own[at].source);
        }
        let above = |c: &&u32| self.nodes[self.chunks[**c as usize].node()].leaves.contains(&l);
        let &chunk = spots.shared.iter().find(above)?;
        let leaf = &self.leaves[l];
        let whole = leaf.exceptions.binary_search(&(chunk as usize)).is_err();
        (whole || leaf.partly(chunk as usize).is_some()).then_some(chunk)
    }
}

impl Sites {
    pub(super) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// The leaves with the sources of the items.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let items = (self.sources.len() / self.leaves.len().max(1)).max(1);
        self.leaves.iter().map(|&l| l as usize).zip(self.sources.chunks(items))
    }
}
