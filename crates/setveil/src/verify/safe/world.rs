//! One world of a leaf without a link, and whether a few exchanges of
//! sub-records bring a set into k records of it (`docs/safe.md`, "the search").

use super::super::work::Meter;
use super::chunks::{Term, Thresholds};
use super::witness::Part;
use crate::Result;

/// Seeds of the shuffle that are tried.
const SEEDS: u64 = 8;
/// Places to begin at that are tried.
const BEGINNINGS: usize = 4;

/// What it costs to look at a set.
const LOOK: u64 = 64;

pub(super) struct World<'a> {
    parts: &'a [Part],
    thresholds: &'a Thresholds,
    terms: &'a [Term],
    /// `places[p][r]`: which sub-record of part p is in record r.
    places: Vec<Vec<Option<usize>>>,
    /// `count[a * terms + b]`, a in an earlier part than b.
    count: Vec<u32>,
    left: u64,
}

/// A sub-record of a part moves between two records.
struct Exchange {
    part: usize,
    one: usize,
    other: usize,
}

impl<'a> World<'a> {
    pub(super) fn without_links(
        n: usize,
        terms: &'a [Term],
        parts: &'a [Part],
        thresholds: &'a Thresholds,
        left: u64,
    ) -> Option<Self> {
        let count = vec![0; terms.len() * terms.len()];
        let mut world = Self { parts, thresholds, terms, places: Vec::new(), count, left };
        for seed in 0..SEEDS {
            world.places = deal(n, parts, seed);
            world.count.fill(0);
            let mut raised = Vec::new();
            for record in 0..n {
                for part in 0..parts.len() {
                    world.count_with(part, record, 0..part, 1, &mut raised);
                }
            }
            if world.is_fine(&raised) {
                return Some(world);
            }
        }
        None
    }

    fn row(&self, part: usize, record: usize) -> &'a [usize] {
        self.places[part][record].map_or(&[][..], |row| &self.parts[part].rows[row])
    }

    /// Adds `by` to the meetings of a part with others in one record.
    fn count_with(
        &mut self,
        part: usize,
        record: usize,
        others: std::ops::Range<usize>,
        by: i32,
        raised: &mut Vec<usize>,
    ) {
        let own = self.row(part, record);
        if own.is_empty() {
            return;
        }
        for other in others.filter(|&o| o != part) {
            let theirs = self.row(other, record);
            for &y in theirs {
                for &x in own {
                    let (a, b) = if part < other { (x, y) } else { (y, x) };
                    let cell = a * self.terms.len() + b;
                    self.count[cell] = self.count[cell].wrapping_add_signed(by);
                    if by > 0 {
                        raised.push(cell);
                    }
                }
            }
            self.left = self.left.saturating_sub((own.len() * theirs.len()) as u64);
        }
    }

    fn is_fine(&self, raised: &[usize]) -> bool {
        let len = self.terms.len();
        raised.iter().all(|&cell| {
            let pair = (&self.terms[cell / len], &self.terms[cell % len]);
            self.count[cell] < self.thresholds.get(pair.0, pair.1)
        })
    }

    fn exchange(&mut self, Exchange { part, one, other }: &Exchange, raised: &mut Vec<usize>) {
        let all = 0..self.parts.len();
        self.count_with(*part, *one, all.clone(), -1, raised);
        self.count_with(*part, *other, all.clone(), -1, raised);
        self.places[*part].swap(*one, *other);
        self.count_with(*part, *one, all.clone(), 1, raised);
        self.count_with(*part, *other, all, 1, raised);
    }

    /// Whether k records can hold the set, which has a piece in each chosen part.
    pub(super) fn can_hold(
        &mut self,
        chosen: &[usize],
        set: &[&[usize]],
        k: usize,
        meter: &mut Meter,
    ) -> Result<bool> {
        if self.left < LOOK {
            return Ok(false);
        }
        self.left -= LOOK;
        let has = |p: usize, r: usize| set[p].iter().all(|t| self.row(chosen[p], r).contains(t));
        let n = self.places[0].len();
        let holders: Vec<Vec<bool>> =
            (0..set.len()).map(|p| (0..n).map(|r| has(p, r)).collect()).collect();
        meter.step((n * set.len()) as u64)?;
        let whole: Vec<usize> = (0..n).filter(|&r| holders.iter().all(|h| h[r])).collect();
        if whole.len() >= k {
            return Ok(true);
        }
        for beginning in 0..BEGINNINGS {
            if self.left == 0 {
                return Ok(false);
            }
            let before = self.left;
            let plan = plan(chosen, &holders, &whole, k, beginning);
            let found = plan.is_some_and(|plan| self.works(&plan));
            meter.step(before - self.left)?;
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether there is no link after the exchanges, which are taken back.
    fn works(&mut self, plan: &[Exchange]) -> bool {
        let mut raised = Vec::new();
        plan.iter().for_each(|exchange| self.exchange(exchange, &mut raised));
        let fine = self.is_fine(&raised);
        plan.iter().rev().for_each(|exchange| self.exchange(exchange, &mut raised));
        fine
    }
}

/// k records for the set: those that hold it whole, then the next that hold its
/// first piece. The other pieces come from the next records outside of these.
fn plan(
    chosen: &[usize],
    holders: &[Vec<bool>],
    whole: &[usize],
    k: usize,
    beginning: usize,
) -> Option<Vec<Exchange>> {
    let from_beginning = |mut records: Vec<usize>| {
        let begin = records.len() * beginning / BEGINNINGS;
        records.rotate_left(begin);
        records
    };
    let n = holders[0].len();
    let first = (0..n).filter(|r| holders[0][*r] && !whole.contains(r)).collect();
    let mut home = whole.to_vec();
    home.extend(from_beginning(first).into_iter().take(k - whole.len()));
    if home.len() < k {
        return None;
    }
    let mut plan = Vec::new();
    for (piece, holds) in holders.iter().enumerate().skip(1) {
        let outside = (0..n).filter(|r| holds[*r] && !home.contains(r)).collect();
        let mut outside = from_beginning(outside).into_iter();
        for &one in home.iter().filter(|r| !holds[**r]) {
            plan.push(Exchange { part: chosen[piece], one, other: outside.next()? });
        }
    }
    Some(plan)
}

/// Shuffles the records for each part in turn with SplitMix64 and Fisher-Yates,
/// and deals the sub-records out to them in order.
fn deal(n: usize, parts: &[Part], seed: u64) -> Vec<Vec<Option<usize>>> {
    let mut state = seed;
    let mut draw = |end: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * end as u128) >> 64) as usize
    };
    let mut deal_one = |part: &Part| {
        let mut order: Vec<usize> = (0..n).collect();
        (1..n).rev().for_each(|i| order.swap(i, draw(i + 1)));
        let mut places = vec![None; n];
        (0..part.rows.len()).for_each(|row| places[order[row]] = Some(row));
        places
    };
    parts.iter().map(&mut deal_one).collect()
}
