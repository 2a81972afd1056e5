//! Slots in clusters of chunks.

use super::super::holders::Holders;
use super::super::unfit;
use super::places::numbers;
use super::{Range, inside};
use crate::Result;
use crate::data::{Dataset, ItemId};
use crate::release::{Bag, Cluster, Disassociated};

/// A record chunk or shared chunk.
struct Chunk<'a> {
    bag: &'a Bag,
    /// Its items with the original's numbers, ascending.
    domain: Vec<ItemId>,
    /// The records that may have its sub-records.
    range: Range,
}

/// A simple cluster.
struct Leaf {
    range: Range,
    /// Its own chunks, then those shared with others, the nearest first.
    chunks: Vec<u32>,
    /// How many of them are its own.
    own: usize,
    /// Its term chunk with the original's numbers, ascending.
    terms: Vec<ItemId>,
}

/// Simple clusters with the chunks that hold parts of their records.
pub(in super::super) struct Clusters<'a> {
    original: &'a Dataset,
    leaf_of: &'a [u32],
    leaves: Vec<Leaf>,
    chunks: Vec<Chunk<'a>>,
    /// The number in the release of each item of the original, and the other way.
    published: Vec<Option<ItemId>>,
    there: Vec<Option<ItemId>>,
    /// Whether instances were suppressed.
    lower: bool,
}

impl<'a> Clusters<'a> {
    pub(super) fn new(
        body: &'a Disassociated,
        original: &'a Dataset,
        leaf_of: &'a [u32],
        lower: bool,
    ) -> Result<Self> {
        let mut clusters = Self {
            original,
            leaf_of,
            leaves: Vec::new(),
            chunks: Vec::new(),
            published: numbers(original.vocabulary(), &body.vocabulary),
            there: numbers(&body.vocabulary, original.vocabulary()),
            lower,
        };
        for cluster in &body.clusters {
            clusters.add(cluster, &mut Vec::new());
        }
        let sizes = clusters.leaves.iter().map(|leaf| leaf.range.1 - leaf.range.0);
        let mut sizes: Vec<u64> = sizes.collect();
        for &leaf in leaf_of {
            let size = sizes.get_mut(leaf as usize);
            let left = size.and_then(|size| size.checked_sub(1).map(|left| *size = left));
            left.ok_or_else(|| unfit(format!("cluster {leaf} has no room for its records")))?;
        }
        Ok(clusters)
    }

    /// Adds a cluster below joint ones that share the chunks `above`, the
    /// farthest first.
    fn add(&mut self, cluster: &'a Cluster, above: &mut Vec<u32>) {
        let start = self.leaves.last().map_or(0, |leaf| leaf.range.1);
        let range = (start, start + u64::from(cluster.size()));
        let first = self.chunks.len() as u32;
        for bag in cluster.chunks() {
            let domain = bag.domain().iter().filter_map(|&i| self.there[i as usize]).collect();
            self.chunks.push(Chunk { bag, domain, range });
        }
        let here = first..self.chunks.len() as u32;
        match cluster {
            Cluster::Simple(leaf) => {
                let terms = leaf.term_chunk.iter().filter_map(|&i| self.there[i as usize]);
                let terms = terms.collect();
                let own = here.len();
                let chunks = here.chain(above.iter().rev().copied()).collect();
                self.leaves.push(Leaf { range, chunks, own, terms });
            }
            Cluster::Joint(joint) => {
                let depth = above.len();
                above.extend(here);
                joint.children.iter().for_each(|child| self.add(child, above));
                above.truncate(depth);
            }
        }
    }

    /// The chunk that has an item of a record of this leaf: its own chunks,
    /// then its term chunk (none), then the nearest shared one.
    fn chunk_of(&self, leaf: &Leaf, item: ItemId) -> Option<u32> {
        let has = |&&chunk: &&u32| self.chunks[chunk as usize].domain.binary_search(&item).is_ok();
        let (own, shared) = leaf.chunks.split_at(leaf.own);
        let own = own.iter().find(has);
        if own.is_none() && leaf.terms.binary_search(&item).is_ok() {
            return None;
        }
        own.or_else(|| shared.iter().find(has)).copied()
    }

    /// How many of `found` are the slot of `target`; one of c equal ones
    /// counts 1/c.
    pub(super) fn hits(
        &self,
        holders: &Holders,
        target: usize,
        known: &[ItemId],
        found: &[u32],
    ) -> f64 {
        let leaf = &self.leaves[self.leaf_of[target] as usize];
        let chunks: Vec<Option<u32>> = known.iter().map(|&i| self.chunk_of(leaf, i)).collect();
        let held = |chunk: u32| chunks.iter().filter(|c| **c == Some(chunk)).count();
        // The first of those that hold most.
        let most = leaf.chunks.iter().rev().copied().max_by_key(|&chunk| held(chunk));
        let Some(number) = most.filter(|&chunk| held(chunk) > 0) else {
            let here = inside(found, leaf.range);
            return here.len() as f64 / (leaf.range.1 - leaf.range.0) as f64;
        };
        let chunk = &self.chunks[number as usize];
        let (own, equal) = self.own_subrecord(leaf, number, target);
        let same = |&&position: &&u32| {
            let leaf = self.leaf_at(position);
            let part = holders.items(position).filter(|&i| self.chunk_of(leaf, i) == Some(number));
            part.eq(own.iter().copied())
        };
        inside(found, chunk.range).iter().filter(same).count() as f64 / equal.max(1) as f64
    }

    fn leaf_at(&self, position: u32) -> &Leaf {
        let at = self.leaves.partition_point(|leaf| leaf.range.1 <= u64::from(position));
        &self.leaves[at]
    }

    /// The target's sub-record in a chunk, and how many are equal. Where
    /// instances were suppressed: the largest sub-record that it could be.
    fn own_subrecord(&self, leaf: &Leaf, number: u32, target: usize) -> (Vec<ItemId>, u64) {
        let Chunk { bag, range, .. } = &self.chunks[number as usize];
        let record = self.original.record(target).iter().copied();
        let own: Vec<ItemId> = record.filter(|&i| self.chunk_of(leaf, i) == Some(number)).collect();
        let wanted: Vec<ItemId> =
            own.iter().filter_map(|&item| self.published[item as usize]).collect();
        let exact = bag.iter().find(|(items, _)| *items == wanted).map(|(_, count)| count);
        if let Some(count) = exact {
            return (own, u64::from(count));
        }
        let empty = (range.1 - range.0).saturating_sub(bag.total());
        if !self.lower {
            return (own, empty);
        }
        let fits = bag
            .iter()
            .filter(|(items, _)| items.iter().all(|i| wanted.binary_search(i).is_ok()))
            .max_by_key(|(items, _)| items.len());
        match fits {
            None => (Vec::new(), empty),
            Some((items, count)) => {
                let kept = items.iter().filter_map(|&item| self.there[item as usize]);
                (kept.collect(), u64::from(count))
            }
        }
    }
}
