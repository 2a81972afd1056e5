//! Pairs that a release shows together more often than chance would, and what
//! that says about the rest of their support.
//!
//! Chunks and kept sub-records show some of the records that have a pair. The
//! rest is expected as if its items ignored each other inside of a cluster.
//! Items that seek each other where it can be seen do so elsewhere too, so the
//! rest is multiplied by the square root of how many times more often they are
//! seen together than items that ignore each other would be. The root was
//! chosen by measurement (`docs/analyst.md`, `experiments estimates`).
//!
//! Not done here: pairs that are seen together less often than by chance stay
//! as they are, because what is too rare to be published looks the same. Sets
//! of three items and more stay as they are.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::prepared::Estimate;
use crate::Result;
use crate::data::ItemId;
use crate::progress::{Progress, Pulse};
use crate::release::{Bag, Body, Cluster, Leaf};
use crate::worlds::Factors;

/// Tasks that count: each has counters of its own.
const TASKS: usize = 16;

/// How often items and pairs of them are seen.
#[derive(Debug)]
pub(super) struct Affinity {
    records: f64,
    /// The least that the rest of a support is multiplied by.
    least: f64,
    /// How far what is seen is followed, and how carefully: see [`Factors`].
    power: f64,
    caution: f64,
    /// Per item: records where it is seen, and those where it is known to be without being seen.
    items: Vec<u32>,
    besides: Vec<u32>,
    /// How many records have a term of a term chunk, on average.
    occurrences: f64,
    /// Records where a pair is seen.
    pairs: FxHashMap<(ItemId, ItemId), u32>,
}

impl Affinity {
    /// What `body` shows of `pairs` (the smaller item first); none where nothing
    /// is shown in parts.
    pub(super) fn new(
        body: &Body,
        pairs: Vec<(ItemId, ItemId)>,
        factors: Factors,
        progress: &dyn Progress,
    ) -> Result<Option<Self>> {
        let asked = Asked::new(pairs, body.vocabulary().len());
        let (counted, least, occurrences) = match body {
            // What is more likely for terms of a term chunk, the worlds count themselves.
            Body::Disassociated(body) => {
                (asked.count(&body.clusters, progress)?, 1.0, factors.occurrences)
            }
            Body::Located(body) => {
                let mut counted = asked.count(&body.leaves, progress)?;
                for &(item, total) in &body.totals {
                    let besides = &mut counted.besides[item as usize];
                    *besides = besides.saturating_add(u32::try_from(total).unwrap_or(u32::MAX));
                }
                (counted, factors.not_kept, 1.0)
            }
            _ => return Ok(None),
        };
        let records = body.extent().0 as f64;
        let Factors { seen: power, caution, .. } = factors;
        let Counted { items, besides, pairs } = counted;
        Ok(Some(Self { records, least, power, caution, items, besides, occurrences, pairs }))
    }

    /// The estimate with more of what cannot be seen, where that is likely.
    pub(super) fn applied(&self, itemset: &[ItemId], estimate: Estimate) -> Estimate {
        let &[a, b] = itemset else { return estimate };
        let Some(&seen) = self.pairs.get(&(a, b)) else { return estimate };
        let [of_a, of_b] = [a, b].map(|item| f64::from(self.items[item as usize]));
        let by_chance = of_a * of_b / self.records.max(1.0);
        let times = (f64::from(seen) + self.caution) / (by_chance + self.caution);
        // What no world lacks is not a matter of chance.
        let rest = (estimate.expected - estimate.lower as f64).max(0.0);
        let more = rest * (times.powf(self.power).max(self.least) - 1.0);
        // No more often than each of the two, whatever is likely.
        let most = self.alone(a).min(self.alone(b)).min(estimate.upper as f64);
        let expected = (estimate.expected + more).min(most);
        Estimate { expected: expected.max(estimate.expected), ..estimate }
    }

    /// How often an item is expected, at least.
    fn alone(&self, item: ItemId) -> f64 {
        let item = item as usize;
        f64::from(self.items[item]) + self.occurrences * f64::from(self.besides[item])
    }
}

/// Something with bags of sub-records.
trait Shows: Sync {
    /// Calls `each` with every bag.
    fn each_bag(&self, each: &mut dyn FnMut(&Bag) -> Result<()>) -> Result<()>;

    /// Calls `each` with items and counts of records that have them, where it does not say which.
    fn each_besides(&self, each: &mut dyn FnMut(ItemId, u32));
}

impl Shows for Cluster {
    fn each_bag(&self, each: &mut dyn FnMut(&Bag) -> Result<()>) -> Result<()> {
        self.chunks().iter().try_for_each(&mut *each)?;
        self.children().iter().try_for_each(|child| child.each_bag(each))
    }

    fn each_besides(&self, each: &mut dyn FnMut(ItemId, u32)) {
        if let Self::Simple(leaf) = self {
            leaf.term_chunk.iter().for_each(|&item| each(item, 1));
        }
        self.children().iter().for_each(|child| child.each_besides(each));
    }
}

impl Shows for Leaf {
    fn each_bag(&self, each: &mut dyn FnMut(&Bag) -> Result<()>) -> Result<()> {
        each(&self.kept)
    }

    fn each_besides(&self, each: &mut dyn FnMut(ItemId, u32)) {
        // For what is listed there are totals.
        self.counted.iter().for_each(|&(item, count)| each(item, count));
    }
}

/// The pairs to count, by their smaller item.
struct Asked {
    pairs: Vec<(ItemId, ItemId)>,
    /// Per item: where its pairs begin.
    starts: Vec<u32>,
}

/// What one task saw.
struct Seen {
    items: Vec<u32>,
    besides: Vec<u32>,
    pairs: Vec<u32>,
}

impl Asked {
    fn new(mut pairs: Vec<(ItemId, ItemId)>, items: usize) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0; items + 1];
        pairs.iter().for_each(|pair| starts[pair.0 as usize + 1] += 1);
        for i in 0..items {
            starts[i + 1] += starts[i];
        }
        Self { pairs, starts }
    }

    fn partners(&self, item: ItemId) -> std::ops::Range<usize> {
        self.starts[item as usize] as usize..self.starts[item as usize + 1] as usize
    }

    fn count(self, all: &[impl Shows], progress: &dyn Progress) -> Result<Counted> {
        let tasks: Vec<Seen> = all
            .par_chunks(all.len().div_ceil(TASKS).max(1))
            .map(|some| self.look(some, progress))
            .collect::<Result<_>>()?;
        let mut sum = self.nothing();
        for seen in tasks {
            add(&mut sum.items, &seen.items);
            add(&mut sum.besides, &seen.besides);
            add(&mut sum.pairs, &seen.pairs);
        }
        let Seen { items, besides, pairs } = sum;
        Ok(Counted { items, besides, pairs: self.pairs.into_iter().zip(pairs).collect() })
    }

    fn nothing(&self) -> Seen {
        let items = vec![0; self.starts.len() - 1];
        Seen { besides: items.clone(), items, pairs: vec![0; self.pairs.len()] }
    }

    fn look(&self, some: &[impl Shows], progress: &dyn Progress) -> Result<Seen> {
        let mut seen = self.nothing();
        let (mut here, mut pulse) = (vec![false; seen.items.len()], Pulse::new(progress));
        for shows in some {
            shows.each_besides(&mut |item, count| {
                let besides = &mut seen.besides[item as usize];
                *besides = besides.saturating_add(count);
            });
            shows.each_bag(&mut |bag| {
                for (items, count) in bag.iter() {
                    self.look_at(items, count, &mut here, &mut seen);
                    pulse.work(items.len())?;
                }
                Ok(())
            })?;
        }
        Ok(seen)
    }

    fn look_at(&self, items: &[ItemId], count: u32, here: &mut [bool], seen: &mut Seen) {
        items.iter().for_each(|&item| here[item as usize] = true);
        for &item in items {
            seen.items[item as usize] = seen.items[item as usize].saturating_add(count);
            for pair in self.partners(item) {
                if here[self.pairs[pair].1 as usize] {
                    seen.pairs[pair] = seen.pairs[pair].saturating_add(count);
                }
            }
        }
        items.iter().for_each(|&item| here[item as usize] = false);
    }
}

fn add(sum: &mut [u32], some: &[u32]) {
    sum.iter_mut().zip(some).for_each(|(sum, &some)| *sum = sum.saturating_add(some));
}

/// What all tasks saw.
struct Counted {
    items: Vec<u32>,
    besides: Vec<u32>,
    pairs: FxHashMap<(ItemId, ItemId), u32>,
}
