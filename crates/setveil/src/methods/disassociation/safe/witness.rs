//! Whether an attacker who knows the program still finds, for every set of at
//! most m terms of different chunks, an input that has it k times.
//!
//! An input of a release is any placement of its chunks in which no pair across
//! chunks reaches its threshold. Only the chunks that the set is spread over
//! need a placement of their own: the others, placed at random, make a link with
//! a probability of at most eta < 1, so some placement of them makes none. That
//! leaves three ways to see that an input exists, tried in this order:
//!
//! 1. There is room: k records hold the set, and the other sub-records of its
//!    chunks stand apart. Then no pair meets more than k times, which never links.
//! 2. Chance: the set is in k records with a larger probability than that some
//!    link is made.
//! 3. A search: as in 1, but where room is missing sub-records share a record
//!    with those that they may still meet.
//!
//! All of it depends on the chunks alone, so whoever holds the release finds the
//! same answer, and it tells nothing more.

use super::Rule;
use super::columns::Columns;
use super::links::Thresholds;
use super::tails::Tails;
use crate::Result;
use crate::progress::{Progress, Pulse};

/// So many sets are looked at one by one before the cluster is given up.
const SETS: usize = 20_000;

/// The chunks of a cluster, each with its terms by falling support.
pub(super) struct Witnesses<'a> {
    pub(super) columns: &'a Columns,
    pub(super) thresholds: &'a Thresholds,
    pub(super) rule: Rule,
    pub(super) chunks: &'a [Vec<usize>],
}

/// A set of terms inside one chunk, and how many records have all of them.
type Part = (Vec<usize>, u32);

impl Witnesses<'_> {
    /// Whether every set has a witness.
    ///
    /// # Errors
    /// If `progress` says stop.
    pub(super) fn exist(&self, tails: &mut Tails, progress: &dyn Progress) -> Result<bool> {
        let covered: Vec<u32> = self.chunks.iter().map(|c| self.columns.covered(c)).collect();
        let most = self.chunks.len().min(self.rule.m as usize);
        let mut sorted = covered.clone();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        if most < 2 || self.room(&sorted[..most]) {
            return Ok(true);
        }
        let mut rest = Rest { tails, sets: SETS, pulse: Pulse::new(progress) };
        for first in 0..self.chunks.len() {
            if !self.spread(&mut vec![first], most, &covered, &mut rest)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The first way.
    fn room(&self, covered: &[u32]) -> bool {
        let all: u64 = covered.iter().map(|&c| u64::from(c)).sum();
        let aligned = u64::from(self.rule.k) * (covered.len() as u64 - 1);
        all <= u64::from(self.columns.n) + aligned
    }

    /// Looks at all sets that are spread over the `chosen` chunks, or over
    /// these and later ones.
    fn spread(
        &self,
        chosen: &mut Vec<usize>,
        most: usize,
        covered: &[u32],
        rest: &mut Rest,
    ) -> Result<bool> {
        if chosen.len() > 1 && !self.all_sets_of(chosen, covered, rest)? {
            return Ok(false);
        }
        let last = *chosen.last().expect("one at least");
        let more = if chosen.len() < most { self.chunks.len() } else { 0 };
        for next in last + 1..more {
            chosen.push(next);
            let fine = self.spread(chosen, most, covered, rest)?;
            chosen.pop();
            if !fine {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn all_sets_of(&self, chosen: &[usize], covered: &[u32], rest: &mut Rest) -> Result<bool> {
        let here: Vec<u32> = chosen.iter().map(|&c| covered[c]).collect();
        if self.room(&here) {
            return Ok(true);
        }
        let largest = self.rule.m as usize + 1 - chosen.len();
        let mut parts = Vec::new();
        for &c in chosen {
            let mut found = Vec::new();
            if !self.parts(&self.chunks[c], largest, &mut found, rest.sets) {
                return Ok(false);
            }
            rest.pulse.work(found.len())?;
            parts.push(found);
        }
        let chunks: Vec<&[usize]> = chosen.iter().map(|&c| &self.chunks[c][..]).collect();
        let mut search = Placement::new(self, &chunks);
        self.each_set(&mut search, &parts, &mut Vec::new(), rest)
    }

    /// The sets of up to `largest` terms that occur in a chunk; whether they
    /// are not too many.
    fn parts(&self, terms: &[usize], largest: usize, found: &mut Vec<Part>, limit: usize) -> bool {
        let mut start = 0;
        for &t in terms {
            found.push((vec![t], self.columns.supports[t]));
        }
        for _ in 1..largest {
            let end = found.len();
            for i in start..end {
                let (set, _) = found[i].clone();
                let last = terms.iter().position(|t| t == set.last().expect("not empty"));
                for &t in &terms[last.expect("a term of the chunk") + 1..] {
                    let longer: Vec<usize> = set.iter().copied().chain([t]).collect();
                    let support = self.columns.together(&longer);
                    if support > 0 {
                        found.push((longer, support));
                    }
                }
                if found.len() > limit {
                    return false;
                }
            }
            start = end;
        }
        true
    }

    /// Whether every choice of one part from each chunk, of at most m terms
    /// together, has a witness.
    fn each_set<'p>(
        &self,
        search: &mut Placement,
        parts: &'p [Vec<Part>],
        set: &mut Vec<&'p Part>,
        rest: &mut Rest,
    ) -> Result<bool> {
        let terms: usize = set.iter().map(|part| part.0.len()).sum();
        if terms + (parts.len() - set.len()) > self.rule.m as usize {
            return Ok(true);
        }
        if set.len() < parts.len() {
            for part in &parts[set.len()] {
                set.push(part);
                let fine = self.each_set(search, parts, set, rest)?;
                set.pop();
                if !fine {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        if let [(_, a), (_, b)] = set[..] {
            // The second way. Tails are rounded up, by less than one unit.
            let tail = rest.tails.get(self.columns.n, *a, *b).at(self.rule.k);
            if tail > self.thresholds.lost + 1 {
                return Ok(true);
            }
        }
        rest.pulse.work(search.terms.len() * self.columns.n as usize)?;
        rest.sets = rest.sets.saturating_sub(1);
        Ok(rest.sets > 0 && search.finds(set))
    }
}

/// What a search for witnesses uses up.
struct Rest<'a> {
    tails: &'a mut Tails,
    /// So many sets can still be placed.
    sets: usize,
    pulse: Pulse<'a>,
}

/// The third way: a placement of some chunks.
struct Placement<'a> {
    of: &'a Witnesses<'a>,
    /// All terms of the chunks, one chunk after the other.
    terms: Vec<usize>,
    /// The sub-records of each chunk, as indices into `terms`, in an order that
    /// depends on the chunk alone: the longest first.
    rows: Vec<Vec<Vec<usize>>>,
    /// How often two terms meet so far.
    meetings: Vec<u32>,
}

impl<'a> Placement<'a> {
    fn new(of: &'a Witnesses<'a>, chunks: &[&[usize]]) -> Self {
        let (mut terms, mut rows) = (Vec::new(), Vec::new());
        for chunk in chunks {
            let first = terms.len();
            let mut own = of.columns.rows(chunk);
            own.iter_mut().flatten().for_each(|t| *t += first);
            own.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
            rows.push(own);
            terms.extend_from_slice(chunk);
        }
        let meetings = vec![0; terms.len() * terms.len()];
        Self { of, terms, rows, meetings }
    }

    /// Whether the set, one part from each chunk, is brought into k records
    /// while no pair reaches its threshold.
    fn finds(&mut self, set: &[&Part]) -> bool {
        let k = self.of.rule.k as usize;
        self.meetings.fill(0);
        let mut slots: Vec<Vec<usize>> = vec![Vec::new(); self.of.columns.n as usize];
        let rows = std::mem::take(&mut self.rows);
        let fine = rows.iter().zip(set).all(|(rows, part)| {
            let has =
                |row: &[usize]| part.0.iter().all(|t| row.iter().any(|&i| self.terms[i] == *t));
            // The shortest that hold the part: the last k.
            let holds: Vec<bool> = rows.iter().map(|row| has(row)).collect();
            let mut left = k;
            let mut aligned = vec![false; rows.len()];
            for r in (0..rows.len()).rev().filter(|&r| holds[r]) {
                if left == 0 {
                    break;
                }
                left -= 1;
                aligned[r] = true;
                self.put(&mut slots[left], &rows[r]);
            }
            left == 0 && self.place_rest(&mut slots[k..], rows, &aligned)
        });
        self.rows = rows;
        fine
    }

    /// Places the other sub-records of a chunk: the longest alone, the others
    /// with the shortest that they may meet.
    fn place_rest(
        &mut self,
        slots: &mut [Vec<usize>],
        rows: &[Vec<usize>],
        aligned: &[bool],
    ) -> bool {
        let mut used = vec![false; slots.len()];
        let rest = rows.iter().zip(aligned).filter(|(_, aligned)| !**aligned).map(|(row, _)| row);
        for row in rest {
            let open = (0..slots.len()).filter(|&s| !used[s] && self.may_meet(&slots[s], row));
            let Some(slot) = open.min_by_key(|&s| slots[s].len()) else { return false };
            used[slot] = true;
            self.put(&mut slots[slot], row);
        }
        true
    }

    fn may_meet(&self, slot: &[usize], row: &[usize]) -> bool {
        slot.iter().all(|&a| {
            row.iter().all(|&b| {
                let threshold = self.of.thresholds.get(self.terms[a], self.terms[b]);
                self.meetings[a * self.terms.len() + b] + 1 < threshold
            })
        })
    }

    fn put(&mut self, slot: &mut Vec<usize>, row: &[usize]) {
        for &a in &*slot {
            for &b in row {
                self.meetings[a * self.terms.len() + b] += 1;
            }
        }
        slot.extend_from_slice(row);
    }
}
