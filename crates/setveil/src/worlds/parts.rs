//! An itemset, split by where a leaf can have its items from.

use super::bounds;
use super::cluster::{Chunk, ClusterWorlds, Leaf, lets_in};
use crate::data::ItemId;

/// The source of a term of the term chunk; others are numbers of chunks.
pub(super) const TERM: u32 = u32::MAX;

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

/// What one question has asked shared chunks before: many leaves of a joint
/// cluster ask the same.
#[derive(Default)]
pub(super) struct Asked(Vec<(usize, Vec<ItemId>, (u64, f64))>);

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
        if let Some(known) = self.0.iter().find(|(at, set, _)| *at == c && set == items) {
            return known.2;
        }
        let answer = chunk.coming(blocked, items);
        self.0.push((c, items.to_vec(), answer));
        answer
    }
}

impl Chunk<'_> {
    pub(super) fn is_shared(&self) -> bool {
        !self.postings.is_empty()
    }

    pub(super) fn has(&self, item: ItemId) -> bool {
        self.domain.binary_search(&item).is_ok()
    }

    /// Lists the sub-records with each item: a question about few items of a
    /// large shared chunk comes from many leaves.
    pub(super) fn add_postings(&mut self) {
        self.postings = vec![Vec::new(); self.domain.len()];
        for (u, (items, _)) in self.bag.iter().enumerate() {
            for item in items {
                let position = self.domain.binary_search(item).expect("the domain has it");
                self.postings[position].push(u as u32);
            }
        }
    }

    /// Finds out for a shared chunk how many records each sub-record may go to.
    pub(super) fn find_open(&mut self, leaves: &[(u64, &Vec<ItemId>)]) {
        let blocking: Vec<_> = leaves.iter().filter(|(_, b)| !b.is_empty()).collect();
        let always: u64 = leaves.iter().filter(|(_, b)| b.is_empty()).map(|(size, _)| size).sum();
        for (items, count) in self.bag.iter() {
            let more = blocking.iter().filter(|(_, b)| lets_in(b, items)).map(|(size, _)| size);
            let open = always + more.sum::<u64>();
            self.open.push(open);
            self.total.1 += f64::from(count) / open as f64;
            for item in items {
                let position = self.domain.binary_search(item).expect("the domain has it");
                self.supports[position].1 += f64::from(count) / open as f64;
            }
        }
    }

    /// How many sub-records of a shared chunk with all of `items` may come
    /// in spite of `blocked`, and how many do on average to one record.
    pub(super) fn coming(&self, blocked: &[ItemId], items: &[ItemId]) -> (u64, f64) {
        match (items, blocked.is_empty()) {
            ([], true) => return self.total,
            ([item], true) => {
                return self.domain.binary_search(item).map_or((0, 0.0), |i| self.supports[i]);
            }
            _ => {}
        }
        let (mut most, mut mean) = (0, 0.0);
        self.each_with(items, |u, sub_record, count| {
            if lets_in(blocked, sub_record) {
                most += u64::from(count);
                mean += f64::from(count) / self.open[u] as f64;
            }
        });
        (most, mean)
    }

    /// Calls `each` with position, items and count of the sub-records of a
    /// shared chunk that have all of `items`.
    pub(super) fn each_with(&self, items: &[ItemId], mut each: impl FnMut(usize, &[ItemId], u32)) {
        let postings = |item: &ItemId| match self.domain.binary_search(item) {
            Ok(position) => &self.postings[position][..],
            Err(_) => &[],
        };
        let Some(shortest) = items.iter().map(postings).min_by_key(|p| p.len()) else {
            return self.bag.iter().enumerate().for_each(|(u, (s, count))| each(u, s, count));
        };
        for &u in shortest {
            let (sub_record, count) = self.bag.get(u as usize);
            if items.len() == 1 || contains(sub_record, items) {
                each(u as usize, sub_record, count);
            }
        }
    }

    /// How many sub-records have all of `items`.
    pub(super) fn support(&self, items: &[ItemId]) -> u64 {
        match items {
            [item] => self.domain.binary_search(item).map_or(0, |i| self.supports[i].0),
            _ if self.postings.is_empty() => self.bag.support(items),
            _ => {
                let mut support = 0;
                self.each_with(items, |_, _, count| support += u64::from(count));
                support
            }
        }
    }
}

impl ClusterWorlds<'_> {
    /// Where a leaf has each item from: a record chunk, [`TERM`], or the lowest
    /// shared chunk that can bring it. None if one has no source.
    pub(super) fn sources(&self, leaf: &Leaf, itemset: &[ItemId]) -> Option<Vec<u32>> {
        let source = |&item: &ItemId| {
            if let Some(&chunk) = leaf.own.iter().find(|&&c| self.chunks[c].has(item)) {
                return Some(chunk as u32);
            }
            if leaf.term_chunk.binary_search(&item).is_ok() {
                return Some(TERM);
            }
            let mut inflows = self.inflows(leaf);
            let brings = |(chunk, blocked): &(usize, &[ItemId])| {
                self.chunks[*chunk].has(item) && !blocked.contains(&item)
            };
            inflows.find(brings).map(|(chunk, _)| chunk as u32)
        };
        itemset.iter().map(source).collect()
    }

    /// Splits the itemset by its sources in a leaf; none if no sub-record with
    /// a part may be there.
    pub(super) fn parts(
        &self,
        leaf: &Leaf,
        itemset: &[ItemId],
        sources: &[u32],
        asked: &mut Asked,
    ) -> Option<Parts> {
        let mut parts = Parts::default();
        for (&item, &source) in itemset.iter().zip(sources) {
            let chunk = source as usize;
            if source == TERM {
                parts.terms += 1;
            } else if self.chunks[chunk].is_shared() {
                match parts.shared.iter_mut().find(|p| p.chunk == chunk) {
                    Some(part) => part.items.push(item),
                    None => {
                        let part = SharedPart { chunk, items: vec![item], most: 0, mean: 0.0 };
                        parts.shared.push(part);
                    }
                }
            } else {
                match parts.own.iter_mut().find(|p| p.chunk == chunk) {
                    Some(part) => part.items.push(item),
                    None => parts.own.push(OwnPart { chunk, items: vec![item], count: 0 }),
                }
            }
        }
        for part in &mut parts.own {
            part.count = self.chunks[part.chunk].support(&part.items);
        }
        for part in &mut parts.shared {
            let (chunk, blocked) = (&self.chunks[part.chunk], leaf.blocked(part.chunk));
            let (most, mean) = asked.coming(part.chunk, chunk, blocked, &part.items);
            (part.most, part.mean) = (most, mean * leaf.model.size as f64);
        }
        let empty =
            parts.own.iter().any(|p| p.count == 0) || parts.shared.iter().any(|p| p.most == 0);
        (!empty).then_some(parts)
    }
}

/// Whether ascending `items` has all of `itemset`.
pub(super) fn contains(items: &[ItemId], itemset: &[ItemId]) -> bool {
    itemset.iter().all(|i| items.binary_search(i).is_ok())
}
