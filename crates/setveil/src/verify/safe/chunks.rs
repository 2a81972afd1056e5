//! The chunks of one leaf against the rule of safe disassociation
//! (`docs/safe.md`), from what is published of the leaf.

use std::collections::BTreeMap;

use super::super::Findings;
use super::super::work::Meter;
use super::tails::{self, ONE, Tails};
use super::{Rules, witness};
use crate::Result;
use crate::data::ItemId;
use crate::release::{Bag, SimpleCluster};

/// Methods make no safe cluster in which a term is in more records than this
/// and missing in more: the distribution of its meetings would be too long.
const LARGEST: u32 = 5_000;

/// With more terms than this, those of all records left out, nothing is linked.
const MOST_TERMS: usize = 2_048;

/// What a leaf shows: its terms in the order of the rule, each with its
/// support, its chunk and its unit.
pub(super) struct Leaf<'a> {
    pub(super) n: u32,
    pub(super) chunks: &'a [Bag],
    /// By falling support, ties by text; terms of all records left out.
    pub(super) terms: Vec<Term>,
    pub(super) units: usize,
    /// Terms of all records, with their chunk.
    pub(super) full: Vec<(ItemId, usize)>,
}

pub(super) struct Term {
    pub(super) item: ItemId,
    pub(super) support: u32,
    pub(super) chunk: usize,
    pub(super) unit: usize,
}

impl<'a> Leaf<'a> {
    pub(super) fn new(leaf: &'a SimpleCluster, rules: Rules) -> Self {
        let (mut terms, mut full) = (Vec::new(), Vec::new());
        for (chunk, bag) in leaf.record_chunks.iter().enumerate() {
            let mut counts: BTreeMap<ItemId, u64> = BTreeMap::new();
            for (items, count) in bag.iter() {
                for &item in items {
                    *counts.entry(item).or_default() += u64::from(count);
                }
            }
            for (item, support) in counts {
                if support >= u64::from(leaf.size) {
                    full.push((item, chunk));
                } else {
                    terms.push(Term { item, support: support as u32, chunk, unit: 0 });
                }
            }
        }
        terms.sort_by_key(|t| (std::cmp::Reverse(t.support), t.item));
        let mut this = Self { n: leaf.size, chunks: &leaf.record_chunks, terms, units: 0, full };
        this.number_units(rules);
        this
    }

    /// Terms whose supports alone make any m of them meet k times.
    fn number_units(&mut self, rules: Rules) {
        // Per unit the supports of its m - 1 rarest terms, the rarest last.
        let mut rarest: Vec<Vec<u64>> = Vec::new();
        let (n, k) = (u64::from(self.n), u64::from(rules.k));
        for term in &mut self.terms {
            let support = u64::from(term.support);
            let joins = |others: &Vec<u64>| {
                support + others.iter().sum::<u64>() >= k + others.len() as u64 * n
            };
            term.unit = rarest.iter().position(joins).unwrap_or(rarest.len());
            if term.unit == rarest.len() {
                rarest.push(Vec::new());
            }
            let unit = &mut rarest[term.unit];
            unit.push(support);
            if unit.len() >= rules.m as usize {
                unit.remove(0);
            }
        }
        self.units = rarest.len();
    }

    /// How many sub-records the chunks have together.
    fn subrecords(&self) -> u64 {
        self.chunks.iter().map(Bag::total).sum()
    }

    /// Sub-records that Lemma 2 asks for.
    fn needed(&self, rules: Rules) -> u64 {
        let together = (self.chunks.len() as u64).min(rules.m.into()).saturating_sub(1);
        u64::from(self.n) + u64::from(rules.k) * together
    }

    /// Whether the leaf can do without its term chunk.
    pub(super) fn is_open(&self, rules: Rules) -> bool {
        !self.full.is_empty()
            || self.chunks.len() > 1 && rules.m > 1 && self.subrecords() >= self.needed(rules)
    }
}

/// Checks a leaf.
pub(super) fn check(
    leaf: &SimpleCluster,
    rules: Rules,
    tails: &mut Tails,
    place: &dyn Fn() -> String,
    meter: &mut Meter,
    findings: &mut Findings,
) -> Result<()> {
    if leaf.record_chunks.iter().any(|chunk| chunk.total() > u64::from(leaf.size)) {
        // There is no room, which is said elsewhere; what follows relies on it.
        return Ok(());
    }
    let seen = Leaf::new(leaf, rules);
    let mut home = vec![None; seen.units];
    for term in &seen.terms {
        if *home[term.unit].get_or_insert(term.chunk) != term.chunk {
            findings.add("safe-units", place, &[term.item], 2, 1);
        }
    }
    if seen.full.is_empty() || seen.terms.len() > MOST_TERMS {
        for (chunk, _) in leaf.record_chunks.iter().enumerate() {
            let units = home.iter().filter(|h| **h == Some(chunk)).count() as u64;
            if units > 1 {
                findings.add("safe-units", place, &leaf.record_chunks[chunk].domain(), units, 1);
            }
        }
    }
    if seen.full.is_empty() {
        let have = seen.subrecords() + leaf.term_chunk.len() as u64;
        if leaf.record_chunks.len() > 1 && have < seen.needed(rules) {
            findings.add("safe-lemma-2", place, &[], have, seen.needed(rules));
        }
        return Ok(());
    }
    full_terms(&seen, place, findings);
    if seen.units < 2 || seen.terms.len() > MOST_TERMS {
        return Ok(());
    }
    if let Some(wide) = seen.terms.iter().find(|t| t.support.min(seen.n - t.support) > LARGEST) {
        findings.add("safe-links", place, &[wide.item], wide.support.into(), LARGEST.into());
        return Ok(());
    }
    let thresholds = Thresholds::new(&seen, rules, tails, meter)?;
    let linked = connected(&seen, &thresholds, place, meter, findings)?;
    if linked && !witness::exist(&seen, &thresholds, rules, meter)? {
        findings.add("safe-witness", place, &[], 0, u64::from(rules.k));
    }
    Ok(())
}

/// The terms of all records stand in the chunk with most occurrences of other
/// terms; of equal ones in that with the first unit.
fn full_terms(seen: &Leaf, place: &dyn Fn() -> String, findings: &mut Findings) {
    let mut weight = vec![0u64; seen.chunks.len()];
    seen.terms.iter().for_each(|t| weight[t.chunk] += u64::from(t.support));
    let heaviest = weight.iter().max().copied().unwrap_or(0);
    let expected = seen
        .terms
        .iter()
        .filter(|t| weight[t.chunk] == heaviest)
        .min_by_key(|t| t.unit)
        .map_or(seen.full[0].1, |t| t.chunk);
    for &(item, chunk) in seen.full.iter().filter(|f| f.1 != expected) {
        findings.add("safe-full", place, &[item], chunk as u64, expected as u64);
    }
}

/// From how many meetings on two terms of different units are linked.
pub(super) struct Thresholds {
    /// Per pair of supports.
    of: BTreeMap<(u32, u32), u32>,
}

impl Thresholds {
    fn new(seen: &Leaf, rules: Rules, tails: &mut Tails, meter: &mut Meter) -> Result<Self> {
        let mut pairs: BTreeMap<(u32, u32), u128> = BTreeMap::new();
        for (i, a) in seen.terms.iter().enumerate() {
            for b in seen.terms[i + 1..].iter().filter(|b| b.unit != a.unit) {
                *pairs.entry((b.support, a.support)).or_default() += 1;
            }
            meter.step(seen.terms.len() as u64)?;
        }
        let share = ONE * u128::from(rules.eta) / 1_000_000;
        let mut alpha = share;
        loop {
            let (mut of, mut lost) = (BTreeMap::new(), 0u128);
            for (&(a, b), &count) in &pairs {
                let tails = tails.of(seen.n, a, b, meter)?;
                // There is nothing beyond the smaller support.
                let rare = (rules.k + 1..=a).find(|&o| tails::at(tails, o) <= alpha);
                let threshold = rare.unwrap_or((a + 1).max(rules.k + 1));
                of.insert((a, b), threshold);
                lost = lost.saturating_add(count.saturating_mul(tails::at(tails, threshold)));
            }
            if lost <= share {
                return Ok(Self { of });
            }
            alpha >>= 1;
        }
    }

    pub(super) fn get(&self, a: &Term, b: &Term) -> u32 {
        let pair = (a.support.min(b.support), a.support.max(b.support));
        self.of.get(&pair).copied().unwrap_or(u32::MAX)
    }
}

/// Every chunk of several units is held together by links; whether there is one.
fn connected(
    seen: &Leaf,
    thresholds: &Thresholds,
    place: &dyn Fn() -> String,
    meter: &mut Meter,
    findings: &mut Findings,
) -> Result<bool> {
    let mut some = false;
    for (chunk, bag) in seen.chunks.iter().enumerate() {
        let terms: Vec<&Term> = seen.terms.iter().filter(|t| t.chunk == chunk).collect();
        let mut units: Vec<usize> = terms.iter().map(|t| t.unit).collect();
        units.sort_unstable();
        units.dedup();
        if units.len() < 2 {
            continue;
        }
        some = true;
        // Spread from the first unit along links.
        let mut reached = vec![units[0]];
        let mut next = 0;
        while next < reached.len() {
            let from = reached[next];
            for a in terms.iter().filter(|t| t.unit == from) {
                for b in &terms {
                    if reached.contains(&b.unit) {
                        continue;
                    }
                    meter.step(bag.items().len() as u64)?;
                    let both = if a.item < b.item { [a.item, b.item] } else { [b.item, a.item] };
                    if bag.support(&both) >= u64::from(thresholds.get(a, b)) {
                        reached.push(b.unit);
                    }
                }
            }
            next += 1;
        }
        if reached.len() < units.len() {
            let (found, all) = (reached.len() as u64, units.len() as u64);
            findings.add("safe-links", place, &bag.domain(), found, all);
        }
    }
    Ok(some)
}
