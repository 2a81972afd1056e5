//! The answer for two items in a joint cluster: most questions are about pairs.
//!
//! The same as [`answers`](super::answers) gives for any itemset (a test compares them),
//! in one pass over the leaves that keeps nothing but sums. What a pass looks at in every
//! leaf lies together in memory.

use std::sync::atomic::{AtomicU64, Ordering};

use super::cluster::{ClusterWorlds, Leaf};
use super::parts::TERM;
use super::places::Source;
use super::{Answer, ClusterModel, bounds};
use crate::data::ItemId;

/// What the answer for a pair needs of a leaf.
#[derive(Debug)]
pub(super) struct Facts {
    size: f64,
    /// No more records than this have two parts.
    most: u64,
    /// No more than this have a term of the term chunk.
    most_with_term: u64,
    shares: bool,
    /// The model's ratios for two parts of which 0, 1 or 2 are terms, once they
    /// have been asked for.
    ratios: [AtomicU64; 3],
}

/// Not a number that a ratio can be.
const UNKNOWN: u64 = u64::MAX;

impl Facts {
    pub(super) fn of(leaf: &Leaf) -> Self {
        Self {
            size: leaf.model.size() as f64,
            most: bounds::upper(&leaf.model, &[], 0, 2, leaf.most_shared),
            most_with_term: leaf.model.knowledge.max_occurrences(leaf.model.size()),
            shares: leaf.shares,
            ratios: [const { AtomicU64::new(UNKNOWN) }; 3],
        }
    }

    fn ratio(&self, terms: usize, model: &ClusterModel) -> f64 {
        match self.ratios[terms].load(Ordering::Relaxed) {
            UNKNOWN => {
                let ratio = model.ratio(2 - terms, terms);
                self.ratios[terms].store(ratio.to_bits(), Ordering::Relaxed);
                ratio
            }
            bits => f64::from_bits(bits),
        }
    }
}

/// One item of the pair in a leaf: how many sub-records or records may have it, and
/// how many do on average.
#[derive(Clone, Copy)]
struct Part {
    most: u64,
    mean: f64,
}

/// What leaves that draw the same from shared chunks may have together: no more
/// than these chunks have.
struct Group {
    /// The shared chunks, the upper one first; the lower one may be none.
    chunks: (u32, u32),
    /// What each brings: the first item, the second, or both.
    items: [usize; 2],
    /// What the lower one has at most, and the upper one.
    limits: (u64, u64),
    sum: u64,
}

const NONE: u32 = u32::MAX;

/// A pass over the leaves.
struct Pass<'c, 'a> {
    cluster: &'c ClusterWorlds<'a>,
    pair: [ItemId; 2],
    expected: f64,
    exact: bool,
    /// What leaves have for certain, and at most, without shared chunks.
    lower: u64,
    upper: u64,
    groups: Vec<Group>,
    /// What was last asked of a shared chunk: for each item alone, and for both.
    last: [(u32, u64, f64); 3],
}

impl ClusterWorlds<'_> {
    /// Bounds and expectation for two different items, the smaller first.
    pub(super) fn answer_pair(&self, pair: [ItemId; 2]) -> Answer {
        let mut spots = pair.map(|item| self.spots(item));
        let rarest = if spots[0].leaves() <= spots[1].leaves() { 0 } else { 1 };
        let mut pass = Pass {
            cluster: self,
            pair,
            expected: 0.0,
            exact: true,
            lower: 0,
            upper: 0,
            groups: Vec::new(),
            last: [(NONE, 0, 0.0); 3],
        };
        for leaf in spots[rarest].ranges().into_iter().flatten() {
            let Some(first) = spots[rarest].source(leaf) else { continue };
            let Some(second) = spots[1 - rarest].source(leaf) else { continue };
            let sources = if rarest == 0 { [first, second] } else { [second, first] };
            pass.visit(leaf as usize, sources);
        }
        pass.finish()
    }
}

impl Pass<'_, '_> {
    fn visit(&mut self, l: usize, sources: [Source; 2]) {
        if sources[0].chunk == sources[1].chunk && sources[0].chunk != TERM {
            return self.together(l, sources[0]);
        }
        let parts = [self.part(0, sources[0]), self.part(1, sources[1])];
        let facts = &self.cluster.facts[l];
        let (mut terms, mut product, mut upper) = (0, 1.0, facts.most);
        let mut most = facts.size;
        for (source, part) in sources.iter().zip(&parts) {
            if source.chunk == TERM {
                terms += 1;
                upper = upper.min(facts.most_with_term);
            } else if part.most == 0 {
                return;
            } else {
                let shared = self.is_shared(*source);
                let mean = if shared { part.mean * facts.size } else { part.mean };
                (product, most) = (product * mean, most.min(mean));
                upper = upper.min(part.most);
            }
        }
        let leaf = &self.cluster.leaves[l];
        let mean = product * facts.ratio(terms, &leaf.model);
        self.expected += self.cluster.prior.expected(2 - terms, terms, most, |_, _| mean);
        self.exact &= !facts.shares;
        match [self.is_shared(sources[0]), self.is_shared(sources[1])] {
            [false, false] => {
                let own = sources.iter().zip(&parts).filter(|(s, _)| s.chunk != TERM);
                let counts: smallvec::SmallVec<[u64; 2]> = own.map(|(_, p)| p.most).collect();
                self.lower += bounds::lower(&leaf.model, &counts, terms, leaf.most_shared);
                self.upper += upper;
            }
            [true, false] => self.group((sources[0].chunk, NONE), [0, 0], upper),
            [false, true] => self.group((sources[1].chunk, NONE), [1, 1], upper),
            // Chunks are numbered from the lowest joint cluster upwards.
            [true, true] if sources[0].chunk > sources[1].chunk => {
                self.group((sources[0].chunk, sources[1].chunk), [0, 1], upper);
            }
            [true, true] => self.group((sources[1].chunk, sources[0].chunk), [1, 0], upper),
        }
    }

    fn is_shared(&self, source: Source) -> bool {
        source.chunk != TERM && self.cluster.chunks[source.chunk as usize].is_shared()
    }

    fn part(&mut self, which: usize, source: Source) -> Part {
        if source.chunk == TERM {
            return Part { most: 0, mean: 0.0 };
        }
        if !self.is_shared(source) {
            return Part { most: source.count.into(), mean: f64::from(source.count) };
        }
        let item = self.pair[which];
        let (most, mean) = self.coming(which, source, &[item]);
        Part { most, mean }
    }

    /// What a shared chunk brings of some items to one record of a leaf.
    fn coming(&mut self, which: usize, source: Source, items: &[ItemId]) -> (u64, f64) {
        let chunk = &self.cluster.chunks[source.chunk as usize];
        if let Some(exception) = source.exception() {
            let exception = &self.cluster.exceptions[exception as usize];
            return chunk.coming(self.cluster.blocked(exception), items);
        }
        if self.last[which].0 != source.chunk {
            let (most, mean) = chunk.coming(&[], items);
            self.last[which] = (source.chunk, most, mean);
        }
        (self.last[which].1, self.last[which].2)
    }

    /// Both items from one chunk.
    fn together(&mut self, l: usize, source: Source) {
        let (leaf, size) = (&self.cluster.leaves[l], self.cluster.facts[l].size);
        if !self.is_shared(source) {
            let count = self.cluster.chunks[source.chunk as usize].support(&self.pair);
            self.expected += count as f64;
            self.upper += count.min(leaf.model.size());
            self.lower += count;
            return;
        }
        let pair = self.pair;
        let (most, mean) = self.coming(2, source, &pair);
        if most > 0 {
            self.expected += mean * size;
            self.group((source.chunk, source.chunk), [2, 2], most.min(leaf.model.size()));
        }
    }

    /// Adds a leaf to those that draw the same; `items` says what of each chunk.
    fn group(&mut self, chunks: (u32, u32), items: [usize; 2], upper: u64) {
        // Leaves below a chunk follow each other.
        let same = |group: &Group| group.chunks == chunks && group.items == items;
        let at = self.groups.iter().rposition(same);
        if let Some(at) = at {
            self.groups[at].sum = self.groups[at].sum.saturating_add(upper);
            return;
        }
        let limit = |chunk: u32, which: usize| {
            let chunk = &self.cluster.chunks[chunk as usize];
            if which == 2 { chunk.support(&self.pair) } else { chunk.support(&[self.pair[which]]) }
        };
        let above = limit(chunks.0, items[0]);
        let below = if chunks.1 == NONE { u64::MAX } else { limit(chunks.1, items[1]) };
        self.groups.push(Group { chunks, items, limits: (below, above), sum: upper });
    }

    fn finish(mut self) -> Answer {
        // What the lower chunks leave is cut by the upper ones once more.
        let node = |chunk: u32| self.cluster.chunks[chunk as usize].node();
        let same_node = |chunks: (u32, u32)| chunks.1 != NONE && node(chunks.0) == node(chunks.1);
        // Two chunks of one joint cluster are drawn from at once.
        let key = |group: &Group| {
            let lower = if same_node(group.chunks) { group.chunks.1 } else { NONE };
            (group.chunks.0, lower, group.items[0])
        };
        let mut cut: Vec<((u32, u32, usize), u64, u64)> = self
            .groups
            .iter()
            .map(|group| (key(group), group.limits.1, group.sum.min(group.limits.0)))
            .collect();
        cut.sort_unstable();
        for run in cut.chunk_by(|a, b| a.0 == b.0) {
            let sum = run.iter().map(|group| group.2).fold(0, u64::saturating_add);
            self.upper = self.upper.saturating_add(sum.min(run[0].1));
        }
        let lower = self.cluster.lower(&self.pair, self.lower).min(self.upper);
        let expected = self.expected.clamp(lower as f64, self.upper as f64);
        Answer { lower, expected, upper: self.upper, exact: self.exact || lower == self.upper }
    }
}
