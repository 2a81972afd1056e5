//! An itemset, split by where a leaf can have its items from.

use smallvec::SmallVec;

use super::bounds;
use super::chunk::Chunk;
use super::cluster::{ClusterWorlds, Leaf};
use super::places::Source;
use crate::data::ItemId;

/// A few items: most questions are about pairs.
pub(super) type Items = SmallVec<[ItemId; 4]>;

/// The source of a term of the term chunk; others are numbers of chunks.
pub(super) const TERM: u32 = u32::MAX;

/// The parts of an itemset in a leaf, one per source.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    pub(super) own: SmallVec<[OwnPart; 2]>,
    /// How many terms of the term chunk.
    pub(super) terms: usize,
    pub(super) shared: SmallVec<[SharedPart; 2]>,
}

/// Items from one of the leaf's own record chunks.
#[derive(Clone, Debug)]
pub(super) struct OwnPart {
    pub(super) chunk: usize,
    pub(super) items: Items,
    pub(super) count: u64,
}

/// Items from one shared chunk.
#[derive(Clone, Debug)]
pub(super) struct SharedPart {
    pub(super) chunk: usize,
    pub(super) items: Items,
    /// What keeps sub-records out, if anything does.
    pub(super) exception: Option<u32>,
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

    pub(super) fn counts(&self) -> SmallVec<[u64; 4]> {
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

/// What one question has asked shared chunks before: many leaves of a joint
/// cluster ask the same.
#[derive(Default)]
pub(super) struct Asked(Vec<(usize, Items, (u64, f64))>);

impl Asked {
    fn coming(
        &mut self,
        c: usize,
        chunk: &Chunk,
        blocked: &[ItemId],
        items: &[ItemId],
    ) -> (u64, f64) {
        if items.len() < 2 || !blocked.is_empty() {
            return chunk.coming(blocked, items);
        }
        if let Some(known) = self.0.iter().find(|(at, set, _)| *at == c && set[..] == *items) {
            return known.2;
        }
        let answer = chunk.coming(blocked, items);
        self.0.push((c, Items::from_slice(items), answer));
        answer
    }
}

impl ClusterWorlds<'_> {
    /// Splits the itemset by its sources in a leaf; none if no sub-record with
    /// a part may be there.
    pub(super) fn parts(
        &self,
        leaf: &Leaf,
        itemset: &[ItemId],
        sources: &[Source],
        asked: &mut Asked,
    ) -> Option<Parts> {
        let mut parts = Parts::default();
        for (&item, source) in itemset.iter().zip(sources) {
            let (chunk, one) = (source.chunk as usize, || Items::from_slice(&[item]));
            if source.chunk == TERM {
                parts.terms += 1;
            } else if self.chunks[chunk].is_shared() {
                match parts.shared.iter_mut().find(|p| p.chunk == chunk) {
                    Some(part) => part.items.push(item),
                    None => {
                        let (items, exception) = (one(), source.exception());
                        let part = SharedPart { chunk, items, exception, most: 0, mean: 0.0 };
                        parts.shared.push(part);
                    }
                }
            } else {
                match parts.own.iter_mut().find(|p| p.chunk == chunk) {
                    Some(part) => part.items.push(item),
                    None => {
                        let (items, count) = (one(), source.count.into());
                        parts.own.push(OwnPart { chunk, items, count });
                    }
                }
            }
        }
        for part in parts.own.iter_mut().filter(|part| part.items.len() > 1) {
            part.count = self.chunks[part.chunk].support(&part.items);
        }
        for part in &mut parts.shared {
            let exception = part.exception.map(|e| &self.exceptions[e as usize]);
            let blocked = exception.map_or(&[][..], |exception| self.blocked(exception));
            let chunk = &self.chunks[part.chunk];
            let (most, mean) = asked.coming(part.chunk, chunk, blocked, &part.items);
            (part.most, part.mean) = (most, mean * leaf.model.size() as f64);
        }
        let empty =
            parts.own.iter().any(|p| p.count == 0) || parts.shared.iter().any(|p| p.most == 0);
        (!empty).then_some(parts)
    }
}
