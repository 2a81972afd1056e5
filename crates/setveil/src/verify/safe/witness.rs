//! Whether every set of at most m terms of different chunks is in k records of
//! some input of the release: by room, by chance, or by a placement that is
//! found (`docs/safe.md`).

use super::super::work::Meter;
use super::Rules;
use super::chunks::{Leaf, Term, Thresholds};
use super::tails::{self, Tails};
use crate::Result;

/// So many sets are placed one by one at most.
const SETS: usize = 20_000;

/// A chunk without the terms of all records: its terms by their place in the
/// leaf, and its sub-records over them.
struct Part {
    terms: Vec<usize>,
    rows: Vec<Vec<usize>>,
}

/// Terms of one chunk and how many sub-records have them all.
struct Known {
    terms: Vec<usize>,
    support: u32,
}

pub(super) fn exist(
    leaf: &Leaf,
    thresholds: &Thresholds,
    rules: Rules,
    tails: &mut Tails,
    meter: &mut Meter,
) -> Result<bool> {
    let parts: Vec<Part> = parts(leaf);
    let mut search = Search { leaf, thresholds, rules, parts: &parts, left: SETS };
    for q in 2..=parts.len().min(rules.m as usize) {
        let mut chosen: Vec<usize> = (0..q).collect();
        loop {
            meter.step(q as u64)?;
            if !search.chunks_have_room(&chosen) && !search.all_sets(&chosen, tails, meter)? {
                return Ok(false);
            }
            if !next_combination(&mut chosen, parts.len()) {
                break;
            }
        }
    }
    Ok(true)
}

fn parts(leaf: &Leaf) -> Vec<Part> {
    let part = |chunk: usize| {
        let terms: Vec<usize> =
            (0..leaf.terms.len()).filter(|&t| leaf.terms[t].chunk == chunk).collect();
        let mut rows = Vec::new();
        for (items, count) in leaf.chunks[chunk].iter() {
            let has = |&t: &usize| items.contains(&leaf.terms[t].item);
            let row: Vec<usize> = terms.iter().copied().filter(has).collect();
            if !row.is_empty() {
                rows.extend(std::iter::repeat_n(row, count as usize));
            }
        }
        // Long ones first, then by the order of their terms.
        rows.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        Part { terms, rows }
    };
    let mut parts: Vec<Part> =
        (0..leaf.chunks.len()).map(part).filter(|part| !part.terms.is_empty()).collect();
    // In the order of their first units.
    parts.sort_by_key(|part| part.terms.iter().map(|&t| leaf.terms[t].unit).min());
    parts
}

fn next_combination(chosen: &mut [usize], of: usize) -> bool {
    let q = chosen.len();
    let Some(i) = (0..q).rev().find(|&i| chosen[i] < of - q + i) else { return false };
    chosen[i] += 1;
    for j in i + 1..q {
        chosen[j] = chosen[j - 1] + 1;
    }
    true
}

struct Search<'a> {
    leaf: &'a Leaf<'a>,
    thresholds: &'a Thresholds,
    rules: Rules,
    parts: &'a [Part],
    left: usize,
}

impl Search<'_> {
    /// k records with all parts, and the other sub-records apart.
    fn chunks_have_room(&self, chosen: &[usize]) -> bool {
        let rows: usize = chosen.iter().map(|&c| self.parts[c].rows.len()).sum();
        rows <= self.leaf.n as usize + self.rules.k as usize * (chosen.len() - 1)
    }

    fn all_sets(&mut self, chosen: &[usize], tails: &mut Tails, meter: &mut Meter) -> Result<bool> {
        let largest = self.rules.m as usize - chosen.len() + 1;
        let mut known: Vec<Vec<Known>> = Vec::new();
        for &c in chosen {
            let found = occurring(self.leaf, &self.parts[c], largest, meter)?;
            if found.len() > self.left {
                return Ok(false);
            }
            known.push(found);
        }
        let mut at = vec![0; chosen.len()];
        loop {
            let set: Vec<&Known> = at.iter().zip(&known).map(|(&i, known)| &known[i]).collect();
            let size: usize = set.iter().map(|known| known.terms.len()).sum();
            meter.step(1)?;
            let small = size <= self.rules.m as usize;
            if small && !self.has_witness(chosen, &set, tails, meter)? {
                return Ok(false);
            }
            let Some(i) = (0..at.len()).rev().find(|&i| at[i] + 1 < known[i].len()) else {
                return Ok(true);
            };
            at[i] += 1;
            at[i + 1..].fill(0);
        }
    }

    fn has_witness(
        &mut self,
        chosen: &[usize],
        set: &[&Known],
        tails: &mut Tails,
        meter: &mut Meter,
    ) -> Result<bool> {
        if let [a, b] = set {
            let tails = tails.of(self.leaf.n, a.support, b.support, meter)?;
            if tails::at(tails, self.rules.k) > self.thresholds.lost + 1 {
                return Ok(true);
            }
        }
        if self.left <= 1 {
            return Ok(false);
        }
        self.left -= 1;
        meter.step(u64::from(self.leaf.n) * self.leaf.terms.len() as u64)?;
        Ok(self.place(chosen, set))
    }

    /// Places chunk after chunk: the k shortest sub-records with the known terms
    /// in the first k records, every other one, the longest first, in the
    /// emptiest of the other records in which it makes no link.
    fn place(&self, chosen: &[usize], set: &[&Known]) -> bool {
        let (n, k) = (self.leaf.n as usize, self.rules.k as usize);
        let mut records: Vec<Vec<usize>> = vec![Vec::new(); n];
        let mut meetings = Meetings::default();
        for (&c, known) in chosen.iter().zip(set) {
            let rows = &self.parts[c].rows;
            let with: Vec<usize> = (0..rows.len())
                .rev()
                .filter(|&r| known.terms.iter().all(|t| rows[r].contains(t)))
                .take(k)
                .collect();
            if with.len() < k {
                return false;
            }
            for (i, &r) in with.iter().enumerate() {
                meetings.add(&mut records[k - 1 - i], &rows[r]);
            }
            let mut taken = vec![false; n];
            for r in (0..rows.len()).filter(|r| !with.contains(r)) {
                let free = (k..n)
                    .filter(|&s| !taken[s] && self.no_link(&meetings, &records[s], &rows[r]))
                    .min_by_key(|&s| records[s].len());
                let Some(s) = free else { return false };
                taken[s] = true;
                meetings.add(&mut records[s], &rows[r]);
            }
        }
        true
    }

    fn no_link(&self, meetings: &Meetings, record: &[usize], row: &[usize]) -> bool {
        let term = |t: usize| -> &Term { &self.leaf.terms[t] };
        record.iter().all(|&a| {
            row.iter().all(|&b| meetings.of(a, b) + 1 < self.thresholds.get(term(a), term(b)))
        })
    }
}

/// The sets of up to `largest` terms that some sub-record of a chunk has.
fn occurring(leaf: &Leaf, part: &Part, largest: usize, meter: &mut Meter) -> Result<Vec<Known>> {
    let mut all: Vec<Known> = part
        .terms
        .iter()
        .map(|&t| Known { terms: vec![t], support: leaf.terms[t].support })
        .collect();
    let mut from = 0;
    for _ in 1..largest {
        let to = all.len();
        for i in from..to {
            let last = *all[i].terms.last().expect("not empty");
            for &t in part.terms.iter().filter(|&&t| t > last) {
                let mut terms = all[i].terms.clone();
                terms.push(t);
                let has = |row: &&Vec<usize>| terms.iter().all(|t| row.contains(t));
                let support = part.rows.iter().filter(has).count() as u32;
                meter.step(part.rows.len() as u64)?;
                if support > 0 {
                    all.push(Known { terms, support });
                }
            }
            if all.len() > SETS {
                // Too many, whatever follows.
                return Ok(all);
            }
        }
        from = to;
    }
    Ok(all)
}

/// How often two terms meet so far.
#[derive(Default)]
struct Meetings(std::collections::BTreeMap<(usize, usize), u32>);

impl Meetings {
    fn of(&self, a: usize, b: usize) -> u32 {
        self.0.get(&(a.min(b), a.max(b))).copied().unwrap_or(0)
    }

    fn add(&mut self, record: &mut Vec<usize>, row: &[usize]) {
        for &a in &*record {
            for &b in row {
                *self.0.entry((a.min(b), a.max(b))).or_default() += 1;
            }
        }
        record.extend_from_slice(row);
    }
}
