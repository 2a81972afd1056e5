//! Whether an attacker who knows the program still finds, for every set of at
//! most m terms of different chunks, an input that has it k times.
//!
//! An input of a release is any placement of its chunks in which no pair across
//! chunks reaches its threshold. Two ways to see that there is one with the set in
//! k records, tried in this order:
//!
//! 1. There is room: k records hold the set, and the other sub-records of its
//!    chunks stand apart. Then no pair of these meets more than k times, which
//!    never links; and the other chunks, placed at random, make a link with a
//!    probability of at most eta < 1, so some placement of them makes none.
//! 2. A [`Placement`] of all chunks without a link, in which sub-records change
//!    places until k records hold the set, and there is still no link.
//!
//! All of it depends on the chunks alone, so whoever holds the release finds the
//! same answer, and it tells nothing more.

use super::Rule;
use super::columns::Columns;
use super::links::Thresholds;
use super::placement::Placement;
use crate::Result;
use crate::progress::{Progress, Pulse};

/// So much is tried before the cluster is given up, in meetings of two terms.
const WORK: u64 = 1 << 27;
/// With more sets of one chunk than this, the cluster is given up.
const SETS: usize = 20_000;

/// The chunks of a cluster, each with its terms by falling support.
pub(super) struct Witnesses<'a> {
    pub(super) columns: &'a Columns,
    pub(super) thresholds: &'a Thresholds,
    pub(super) rule: Rule,
    pub(super) chunks: &'a [Vec<usize>],
}

/// What a search uses up.
struct Rest<'a> {
    /// Made when it is needed for the first time; none if there is none.
    placement: Option<Option<Placement<'a>>>,
    pulse: Pulse<'a>,
}

impl<'a> Witnesses<'a> {
    /// Whether every set has a witness.
    ///
    /// # Errors
    /// If `progress` says stop.
    pub(super) fn exist(&'a self, progress: &'a dyn Progress) -> Result<bool> {
        let covered: Vec<u32> = self.chunks.iter().map(|c| self.columns.covered(c)).collect();
        let most = self.chunks.len().min(self.rule.m as usize);
        let mut rest = Rest { placement: None, pulse: Pulse::new(progress) };
        self.spread(&mut Vec::new(), most, &covered, &mut rest)
    }

    /// The first way.
    fn room(&self, covered: &[u32]) -> bool {
        let all: u64 = covered.iter().map(|&c| u64::from(c)).sum();
        let aligned = u64::from(self.rule.k) * (covered.len() as u64 - 1);
        all <= u64::from(self.columns.n) + aligned
    }

    /// Looks at all sets that are spread over the `chosen` chunks, or over
    /// these and later ones. A way is left where even the largest of the later
    /// chunks have room, so every step leads to sets that are looked at.
    fn spread(
        &'a self,
        chosen: &mut Vec<usize>,
        most: usize,
        covered: &[u32],
        rest: &mut Rest<'a>,
    ) -> Result<bool> {
        let here: Vec<u32> = chosen.iter().map(|&c| covered[c]).collect();
        if chosen.len() > 1 && !self.room(&here) && !self.all_sets_of(chosen, rest)? {
            return Ok(false);
        }
        let first = chosen.last().map_or(0, |last| last + 1);
        let mut worst = covered[first..].to_vec();
        worst.sort_unstable_by(|a, b| b.cmp(a));
        worst.truncate(most - chosen.len());
        rest.pulse.work(worst.len())?;
        worst.extend(here);
        if worst.len() < 2 || self.room(&worst) {
            return Ok(true);
        }
        let more = if chosen.len() < most { self.chunks.len() } else { 0 };
        for next in first..more {
            chosen.push(next);
            let fine = self.spread(chosen, most, covered, rest)?;
            chosen.pop();
            if !fine {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn all_sets_of(&'a self, chosen: &[usize], rest: &mut Rest<'a>) -> Result<bool> {
        let largest = self.rule.m as usize + 1 - chosen.len();
        let mut parts = Vec::new();
        for &c in chosen {
            let mut found = Vec::new();
            if !self.parts(&self.chunks[c], largest, &mut found) {
                return Ok(false);
            }
            rest.pulse.work(found.len())?;
            parts.push(found);
        }
        let new = || Placement::new(self.columns, self.thresholds, self.chunks, WORK);
        let Some(placement) = rest.placement.get_or_insert_with(new) else { return Ok(false) };
        self.each_set(placement, chosen, &parts, &mut Vec::new(), &mut rest.pulse)
    }

    /// The sets of up to `largest` terms that occur in a chunk; whether they
    /// are not too many.
    fn parts(&self, terms: &[usize], largest: usize, found: &mut Vec<Vec<usize>>) -> bool {
        let mut start = 0;
        found.extend(terms.iter().map(|&t| vec![t]));
        if found.len() > SETS {
            return false;
        }
        for _ in 1..largest {
            let end = found.len();
            for i in start..end {
                let set = found[i].clone();
                let last = terms.iter().position(|t| t == set.last().expect("not empty"));
                for &t in &terms[last.expect("a term of the chunk") + 1..] {
                    let longer: Vec<usize> = set.iter().copied().chain([t]).collect();
                    if self.columns.together(&longer) > 0 {
                        found.push(longer);
                    }
                }
                if found.len() > SETS {
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
        placement: &mut Placement,
        chosen: &[usize],
        parts: &'p [Vec<Vec<usize>>],
        set: &mut Vec<&'p [usize]>,
        pulse: &mut Pulse,
    ) -> Result<bool> {
        let terms: usize = set.iter().map(|part| part.len()).sum();
        if terms + (parts.len() - set.len()) > self.rule.m as usize {
            return Ok(true);
        }
        if set.len() == parts.len() {
            pulse.work(self.rule.k as usize)?;
            return Ok(placement.brings_together(chosen, set, self.rule.k));
        }
        for part in &parts[set.len()] {
            set.push(part);
            let fine = self.each_set(placement, chosen, parts, set, pulse)?;
            set.pop();
            if !fine {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
