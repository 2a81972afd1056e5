//! MPIE: elimination of the minimal problematic itemsets, which makes the
//! first record chunk (dls-2022, section 5.1.2 and Algorithms 2 to 4).
//!
//! Items enter the chunk one by one, the most frequent first (those that shall
//! stay together before them). The minimal
//! problematic itemsets that an item brings are eliminated by *local
//! suppression*: an item of the itemset is taken out of the records that hold
//! it, if no other itemset becomes problematic by that. The suppression with
//! the best anonymity gain goes first: itemsets eliminated per instance lost.
//! Where an itemset cannot be eliminated so, or where this would cost more
//! pair occurrences than the item brings, the item is *partitioned*: it stays
//! out with all of its instances.
//!
//! Invariants, after every item: the suppressed records are k^m-anonymous
//! over the chunk's domain; every item of it has at least k instances, so
//! none vanishes; a record that held an item of the domain holds one still,
//! because a suppression for I leaves the rest of I where it was.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use super::columns::{Columns, count, count_and, subtract, within};
use super::mpii::{Level, minimal_problematic};
use crate::Result;
use crate::data::{ItemId, K, M};
use crate::progress::{Progress, Pulse};

/// An item that brings more minimal problematic itemsets is partitioned
/// without weighing them one by one.
const WEIGHED: usize = 256;

/// The outcome of MPIE.
#[derive(Clone, Debug)]
pub(crate) struct FirstChunk {
    /// The suppressed records C1', over the same items as the cluster's.
    pub(crate) suppressed: Columns,
    /// The domain D1, as ascending indices of columns.
    pub(crate) domain: Vec<usize>,
    /// The partitioned items Dr, as ascending indices of columns.
    pub(crate) partitioned: Vec<usize>,
}

/// Divides the items into the first chunk's domain and the partitioned ones,
/// and suppresses instances in the former.
///
/// # Guarantee
/// The projection of `suppressed` on `domain` is k^m-anonymous, and each of
/// its items has at least k instances.
///
/// # Complexity
/// An item weighs at most 256 itemsets in as many steps, each by the pairs
/// (for m > 2: the itemsets) that would lose support. It ends always: a step
/// eliminates an itemset for good and creates none.
///
/// # Deviations
/// - The chunk is made from the suppressed records. Algorithm 2, line 7,
///   projects the original ones, which brings every suppressed instance back.
/// - Definition 8 leaves out itemsets with other items of the eliminated one;
///   they lose support as well, so every itemset of at most m items that
///   loses an instance is tested.
/// - Algorithm 3 keeps V_L from earlier rounds and so suppresses where this is
///   no longer valid, and it compares the gain of suppressing an item that
///   cannot be suppressed. Here actions are weighed anew after every step, and
///   only those that are available.
/// - Algorithm 3 starts from all items. Items that have to go in the end then
///   stand in the way of suppressions until they go. Entering one by one keeps
///   more (`docs/dls.md` has the figures) and takes a fraction of the time.
pub(crate) fn mpie(
    columns: &Columns,
    (k, m): (K, M),
    rank: &dyn Fn(ItemId) -> u32,
    progress: &dyn Progress,
) -> Result<FirstChunk> {
    let mut chunk = Chunk {
        columns: columns.clone(),
        k: k.get(),
        m,
        domain: Vec::new(),
        progress,
        pulse: Pulse::new(progress),
    };
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|&i| (rank(columns.item(i)), Reverse(columns.support(i)), i));
    for item in order {
        chunk.enter(item)?;
    }
    chunk.recheck(k)?;
    chunk.domain.sort_unstable();
    let inside = |i: &usize| chunk.domain.binary_search(i).is_ok();
    let partitioned = (0..columns.len()).filter(|i| !inside(i)).collect();
    Ok(FirstChunk { suppressed: chunk.columns, domain: chunk.domain, partitioned })
}

/// A minimal problematic itemset and the records that hold it.
struct Problem {
    items: Vec<usize>,
    holders: Vec<u64>,
}

/// Taking `item` out of the records `from`.
struct Suppression {
    item: usize,
    from: Vec<u64>,
    /// PG: how many minimal problematic itemsets end.
    eliminated: u64,
}

impl Suppression {
    /// IL: how many instances are lost.
    fn lost(&self) -> u64 {
        u64::from(count(&self.from))
    }

    /// Whether this is to be taken rather than `other`: by anonymity gain
    /// (equation 1), then by what is lost, then by the item's text.
    fn beats(&self, other: &Self) -> bool {
        let (mine, theirs) = (self.eliminated * other.lost(), other.eliminated * self.lost());
        (mine, other.lost(), other.item) > (theirs, self.lost(), self.item)
    }
}

/// The first chunk as it grows.
struct Chunk<'a> {
    columns: Columns,
    k: u32,
    m: M,
    domain: Vec<usize>,
    progress: &'a dyn Progress,
    pulse: Pulse<'a>,
}

impl Chunk<'_> {
    /// Lets `item` enter, or leaves everything as it was.
    fn enter(&mut self, item: usize) -> Result<()> {
        let mut problems = self.problems_of(item)?;
        let mut worth: i64 =
            self.domain.iter().map(|&d| i64::from(self.columns.pair_support(d, item))).sum();
        let mut done: Vec<Suppression> = Vec::new();
        self.domain.push(item);
        while !problems.is_empty() && problems.len() <= WEIGHED && worth >= 0 {
            let Some(best) = self.best_suppression(&problems)? else { break };
            worth -= self.pairs_lost(&best);
            self.columns.suppress(best.item, &best.from);
            for problem in problems.iter_mut().filter(|p| p.items.contains(&best.item)) {
                subtract(&mut problem.holders, &best.from);
            }
            problems.retain(|p| count(&p.holders) > 0);
            done.push(best);
        }
        if !problems.is_empty() || worth < 0 {
            for step in done.iter().rev() {
                self.columns.restore(step.item, &step.from);
            }
            self.domain.pop();
        }
        Ok(())
    }

    /// MPII for the itemsets that contain `item`, the others being of the
    /// domain, which has none of its own: among the records of the item, what
    /// is minimal with one item less.
    fn problems_of(&mut self, item: usize) -> Result<Vec<Problem>> {
        let own = self.columns.column(item);
        let (mut problems, mut frequent) = (Vec::new(), Vec::new());
        if self.m.get() < 2 {
            return Ok(problems);
        }
        self.pulse.work(self.domain.len() * self.columns.words())?;
        for &other in &self.domain {
            match self.columns.pair_support(other, item) {
                0 => {}
                support if support < self.k => {
                    let both = self.columns.column(other).iter().zip(own).map(|(x, y)| x & y);
                    problems.push(Problem { items: vec![other, item], holders: both.collect() });
                }
                _ => frequent.push(other),
            }
        }
        let (Ok(k), Ok(m)) = (K::new(self.k), M::new(self.m.get() - 1)) else {
            return Ok(problems);
        };
        frequent.sort_unstable();
        let among = self.columns.select(&frequent).restrict(own);
        let _ = minimal_problematic(&among, k, m, self.progress, |itemset, holders| {
            let items = itemset.iter().map(|&i| frequent[i]).chain([item]).collect();
            problems.push(Problem { items, holders: holders.to_vec() });
            if problems.len() > WEIGHED {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        Ok(problems)
    }

    /// Algorithm 3, lines 3 to 11: the available suppression with the best
    /// gain; none if some itemset has none.
    fn best_suppression(&mut self, problems: &[Problem]) -> Result<Option<Suppression>> {
        let mut best: Option<Suppression> = None;
        for problem in problems {
            let mut available = false;
            for &item in &problem.items {
                if !self.is_valid(item, &problem.holders)? {
                    continue;
                }
                available = true;
                let ends =
                    |p: &&Problem| p.items.contains(&item) && within(&p.holders, &problem.holders);
                let eliminated = problems.iter().filter(ends).count() as u64;
                let action = Suppression { item, from: problem.holders.clone(), eliminated };
                if best.as_ref().is_none_or(|b| action.beats(b)) {
                    best = Some(action);
                }
            }
            if !available {
                return Ok(None);
            }
        }
        Ok(best)
    }

    /// Algorithm 4: whether no itemset of at most m items that is in k records
    /// drops below k when `item` is taken out of `from`. Since `from` has
    /// fewer than k records, none can drop to zero.
    fn is_valid(&mut self, item: usize, from: &[u64]) -> Result<bool> {
        self.pulse.work(self.domain.len() * self.columns.words())?;
        let own = self.columns.column(item);
        if count(own) < self.k + count(from) {
            return Ok(false);
        }
        let mut pairs = Level::default();
        for other in self.domain.iter().copied().filter(|&o| o != item) {
            let column = self.columns.column(other);
            let loss = count_and(column, from);
            let support = if loss == 0 { 0 } else { count_and(column, own) };
            if support < self.k {
                continue;
            }
            if support - loss < self.k {
                return Ok(false);
            }
            pairs.push(other, support, column.iter().zip(own).map(|(x, y)| x & y));
        }
        Ok(self.m.get() < 3 || self.keeps_larger(&pairs, 3, from)?)
    }

    /// The same for the itemsets of `size` and more items that extend `level`.
    fn keeps_larger(&mut self, level: &Level, size: u32, from: &[u64]) -> Result<bool> {
        let words = self.columns.words();
        for a in 0..level.items.len() {
            self.pulse.work(words * (level.items.len() - a))?;
            let mut next = Level::default();
            for b in a + 1..level.items.len() {
                let (bits_a, bits_b) = (level.bits(a, words), level.bits(b, words));
                let both = || bits_a.iter().zip(bits_b).map(|(x, y)| x & y);
                let loss: u32 = both().zip(from).map(|(x, y)| (x & y).count_ones()).sum();
                let support = count_and(bits_a, bits_b);
                if loss == 0 || support < self.k {
                    continue;
                }
                if support - loss < self.k {
                    return Ok(false);
                }
                // With the same records as a smaller itemset, nothing new follows.
                if support < level.supports[a].min(level.supports[b]) {
                    next.push(level.items[b], support, both());
                }
            }
            let deeper = size < self.m.get() && next.items.len() > 1;
            if deeper && !self.keeps_larger(&next, size + 1, from)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// How many pair occurrences of the chunk a suppression takes away.
    fn pairs_lost(&self, action: &Suppression) -> i64 {
        let others = self.domain.iter().filter(|&&d| d != action.item);
        others.map(|&d| i64::from(count_and(self.columns.column(d), &action.from))).sum()
    }

    /// The full re-check of the whole chunk: the steps are not believed, their
    /// outcome is counted. It finds nothing; if it did, the items concerned
    /// would be partitioned.
    fn recheck(&mut self, k: K) -> Result<()> {
        loop {
            self.domain.sort_unstable();
            let mut found = None;
            let all = self.columns.select(&self.domain);
            let _ = minimal_problematic(&all, k, self.m, self.progress, |itemset, _| {
                found = itemset.last().copied();
                ControlFlow::Break(())
            })?;
            let Some(position) = found else { return Ok(()) };
            debug_assert!(false, "a suppression was not valid");
            self.domain.remove(position);
        }
    }
}
