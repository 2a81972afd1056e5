//! Whether every set of at most m terms of different chunks is in k records of
//! some input of the release: there is room, or a world is found by a search
//! that everybody can repeat (`docs/safe.md`).

use std::collections::BTreeMap;

use super::super::work::Meter;
use super::Rules;
use super::chunks::{Leaf, Thresholds};
use super::world::World;
use crate::Result;

/// So many meetings of two terms are counted at most.
const WORK: u64 = 1 << 27;
/// So many sets of one chunk are looked at, at most.
const SETS: usize = 20_000;

/// A chunk without the terms of all records, or a unit: its terms by their place
/// in the leaf, and its sub-records over them.
pub(super) struct Part {
    terms: Vec<usize>,
    pub(super) rows: Vec<Vec<usize>>,
}

/// What is published, and the units it is made of: linking begins only where
/// these have witnesses too.
pub(super) fn exist(
    leaf: &Leaf,
    thresholds: &Thresholds,
    rules: Rules,
    meter: &mut Meter,
) -> Result<bool> {
    for by_unit in [true, false] {
        let parts = parts(leaf, by_unit);
        let most = parts.len().min(rules.m as usize);
        let mut search = Search { leaf, thresholds, rules, parts: &parts, most, world: None };
        if !search.from(&mut Vec::new(), meter)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The chunks, or the units, in the order of their first units.
fn parts(leaf: &Leaf, by_unit: bool) -> Vec<Part> {
    let mut groups: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (t, term) in leaf.terms.iter().enumerate() {
        let unit = if by_unit { term.unit } else { 0 };
        groups.entry((term.chunk, unit)).or_default().push(t);
    }
    let mut parts: Vec<Part> = Vec::new();
    for ((chunk, _), terms) in groups {
        let numbers: BTreeMap<_, _> = terms.iter().map(|&t| (leaf.terms[t].item, t)).collect();
        let mut rows = Vec::new();
        for (items, count) in leaf.chunks[chunk].iter() {
            let mut row: Vec<usize> =
                items.iter().filter_map(|item| numbers.get(item).copied()).collect();
            row.sort_unstable();
            if !row.is_empty() {
                rows.extend(std::iter::repeat_n(row, count as usize));
            }
        }
        // Long ones first, then by the order of their terms.
        rows.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        parts.push(Part { terms, rows });
    }
    parts.sort_by_key(|part| part.terms.iter().map(|&t| leaf.terms[t].unit).min());
    parts
}

struct Search<'a> {
    leaf: &'a Leaf<'a>,
    thresholds: &'a Thresholds,
    rules: Rules,
    parts: &'a [Part],
    /// A set is spread over so many parts at most.
    most: usize,
    /// Made when it is needed first.
    world: Option<World<'a>>,
}

impl<'a> Search<'a> {
    /// All sets over the chosen parts and any later ones. Where the largest
    /// later ones have room, all have.
    fn from(&mut self, chosen: &mut Vec<usize>, meter: &mut Meter) -> Result<bool> {
        let q = chosen.len();
        if q > 1 && !self.has_room(chosen) && !self.all_sets(chosen, meter)? {
            return Ok(false);
        }
        let first = chosen.last().map_or(0, |last| last + 1);
        let mut worst: Vec<usize> = (first..self.parts.len()).collect();
        meter.step(worst.len() as u64 + 1)?;
        worst.sort_by_key(|&c| std::cmp::Reverse(self.parts[c].rows.len()));
        worst.truncate(self.most - q);
        worst.extend_from_slice(chosen);
        if q == self.most || worst.len() < 2 || self.has_room(&worst) {
            return Ok(true);
        }
        for next in first..self.parts.len() {
            chosen.push(next);
            let fine = self.from(chosen, meter)?;
            chosen.pop();
            if !fine {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// k records with all parts, and the other sub-records apart.
    fn has_room(&self, chosen: &[usize]) -> bool {
        let rows: usize = chosen.iter().map(|&c| self.parts[c].rows.len()).sum();
        rows <= self.leaf.n as usize + self.rules.k as usize * (chosen.len() - 1)
    }

    fn all_sets(&mut self, chosen: &[usize], meter: &mut Meter) -> Result<bool> {
        let m = self.rules.m as usize;
        let mut known: Vec<Vec<Vec<usize>>> = Vec::new();
        for &c in chosen {
            let found = occurring(&self.parts[c], m - chosen.len() + 1, meter)?;
            if found.len() > SETS {
                return Ok(false);
            }
            known.push(found);
        }
        if self.world.is_none() {
            meter.step(u64::from(self.leaf.n) + (self.leaf.terms.len() as u64).pow(2))?;
            let (n, terms) = (self.leaf.n as usize, &self.leaf.terms);
            self.world = World::without_links(n, terms, self.parts, self.thresholds, WORK);
        }
        let Some(world) = &mut self.world else { return Ok(false) };
        let mut at = vec![0; chosen.len()];
        loop {
            let set: Vec<&[usize]> =
                at.iter().zip(&known).map(|(&i, known)| &known[i][..]).collect();
            meter.step(u64::from(self.rules.k))?;
            let small = set.iter().map(|part| part.len()).sum::<usize>() <= m;
            if small && !world.can_hold(chosen, &set, self.rules.k as usize, meter)? {
                return Ok(false);
            }
            let Some(i) = (0..at.len()).rev().find(|&i| at[i] + 1 < known[i].len()) else {
                return Ok(true);
            };
            at[i] += 1;
            at[i + 1..].fill(0);
        }
    }
}

/// The sets of up to `largest` terms that some sub-record of a chunk has.
fn occurring(part: &Part, largest: usize, meter: &mut Meter) -> Result<Vec<Vec<usize>>> {
    let words = part.rows.len().div_ceil(64);
    let rows_with = |&t: &usize| {
        let mut rows = vec![0u64; words];
        let with = (0..part.rows.len()).filter(|&r| part.rows[r].contains(&t));
        with.for_each(|r| rows[r / 64] |= 1 << (r % 64));
        rows
    };
    let of: Vec<Vec<u64>> = part.terms.iter().map(rows_with).collect();
    meter.step((part.terms.len() * part.rows.len()) as u64)?;
    // The places of the terms in the part, and the rows that have them all.
    let mut all: Vec<(Vec<usize>, Vec<u64>)> =
        of.iter().enumerate().map(|(place, rows)| (vec![place], rows.clone())).collect();
    let mut from = 0;
    'larger: for _ in 1..largest {
        let to = all.len();
        for i in from..to {
            let last = *all[i].0.last().expect("not empty");
            meter.step(((of.len() - last) * words) as u64)?;
            for (next, rows) in of.iter().enumerate().skip(last + 1) {
                let both: Vec<u64> = all[i].1.iter().zip(rows).map(|(a, b)| a & b).collect();
                if both.iter().any(|&w| w != 0) {
                    let mut places = all[i].0.clone();
                    places.push(next);
                    all.push((places, both));
                }
            }
            if all.len() > SETS {
                // Too many, whatever follows.
                break 'larger;
            }
        }
        from = to;
    }
    let terms = |(places, _): (Vec<usize>, Vec<u64>)| {
        places.into_iter().map(|place| part.terms[place]).collect()
    };
    Ok(all.into_iter().map(terms).collect())
}
