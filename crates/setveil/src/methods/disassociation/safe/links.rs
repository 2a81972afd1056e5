//! Which units belong together: those with terms that meet so often that
//! chunks placed at random almost never would.
//!
//! A refusal to bring terms together tells nothing if acceptance would have
//! been a surprise. The threshold of a pair depends on the supports alone, and
//! all thresholds of a cluster together are exceeded by chance with a
//! probability of at most eta.

use super::columns::Columns;
use super::tails::{DIGITS, Tails};
use super::{Eta, Rule};
use crate::Result;
use crate::progress::{Progress, Pulse};

/// From how many meetings on a pair is a link.
#[derive(Debug)]
pub(super) struct Thresholds {
    /// Per term: the number of its support among the different ones.
    class_of: Vec<usize>,
    classes: usize,
    thresholds: Vec<u32>,
}

impl Eta {
    /// In units of 2^-96, rounded down.
    fn share(self) -> u128 {
        (u128::from(self.millionths()) << DIGITS) / 1_000_000
    }
}

impl Thresholds {
    /// Thresholds for the terms of `supports`, which fall, in `units`.
    ///
    /// Every pair across units gets the smallest number of meetings, more than
    /// k, whose tail is at most alpha = eta / 2^j, with the smallest j for which
    /// the tails of all pairs sum up to at most eta.
    pub(super) fn new(
        n: u32,
        supports: &[u32],
        units: &[Vec<usize>],
        rule: Rule,
        tails: &mut Tails,
    ) -> Self {
        let (mut values, mut class_of) = (Vec::new(), Vec::with_capacity(supports.len()));
        for &support in supports {
            if values.last() != Some(&support) {
                values.push(support);
            }
            class_of.push(values.len() - 1);
        }
        let classes = values.len();
        let pairs = pairs_by_class(&class_of, classes, units);
        let all: u64 = pairs.iter().sum();
        let mut thresholds = vec![0; classes * classes];
        let share = rule.eta.share();
        let mut fill = |j: u32| {
            let mut sum = 0u128;
            for a in 0..classes {
                for b in (a..classes).filter(|b| pairs[a * classes + b] > 0) {
                    let tail = tails.get(n, values[a], values[b]);
                    let threshold = tail.threshold(share >> j).max(rule.k + 1);
                    thresholds[a * classes + b] = threshold;
                    thresholds[b * classes + a] = threshold;
                    let pairs = u128::from(pairs[a * classes + b]);
                    sum = sum.saturating_add(tail.at(threshold).saturating_mul(pairs));
                }
            }
            sum
        };
        // With j so large, no sum can be too large; sums fall with j.
        let (mut low, mut high) = (0, all.next_power_of_two().trailing_zeros());
        while low < high {
            let middle = (low + high) / 2;
            if fill(middle) <= share {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        fill(low);
        Self { class_of, classes, thresholds }
    }

    pub(super) fn get(&self, a: usize, b: usize) -> u32 {
        self.thresholds[self.class_of[a] * self.classes + self.class_of[b]]
    }
}

/// How many pairs across units have the two supports; only where a <= b.
fn pairs_by_class(class_of: &[usize], classes: usize, units: &[Vec<usize>]) -> Vec<u64> {
    let count = |terms: &mut dyn Iterator<Item = usize>| {
        let mut counts = vec![0u64; classes];
        terms.for_each(|t| counts[class_of[t]] += 1);
        counts
    };
    let mut pairs = vec![0; classes * classes];
    let mut add = |counts: &[u64], inside: bool| {
        for a in (0..classes).filter(|&a| counts[a] > 0) {
            for b in a..classes {
                let some =
                    if a == b { counts[a] * (counts[a] - 1) / 2 } else { counts[a] * counts[b] };
                let pairs = &mut pairs[a * classes + b];
                *pairs = if inside { *pairs - some } else { *pairs + some };
            }
        }
    };
    add(&count(&mut units.iter().flatten().copied()), false);
    units.iter().filter(|u| u.len() > 1).for_each(|u| add(&count(&mut u.iter().copied()), true));
    pairs
}

/// Brings units together that are linked, directly or through others, into
/// chunks that are k^m-anonymous. A chunk is given by its units, ascending.
pub(super) fn chunks(
    columns: &Columns,
    units: &[Vec<usize>],
    thresholds: &Thresholds,
    rule: Rule,
    progress: &dyn Progress,
) -> Result<Vec<Vec<usize>>> {
    let linked = links(columns, units, thresholds, progress)?;
    let count = units.len();
    let is_linked = |u: usize, v: usize| linked[u * count + v];
    let all: Vec<usize> = (0..count).collect();
    let mut chunks = Vec::new();
    for component in connected(&all, &is_linked) {
        for chunk in first_fit(columns, units, &component, rule) {
            chunks.extend(connected(&chunk, &is_linked));
        }
    }
    // In the order of their first units, which a release shows.
    chunks.sort_unstable();
    Ok(chunks)
}

/// For every two units whether some of their terms meet often enough.
fn links(
    columns: &Columns,
    units: &[Vec<usize>],
    thresholds: &Thresholds,
    progress: &dyn Progress,
) -> Result<Vec<bool>> {
    let count = units.len();
    let mut linked = vec![false; count * count];
    let mut pulse = Pulse::new(progress);
    for u in 0..count {
        for v in u + 1..count {
            pulse.work(units[u].len() * units[v].len())?;
            let link = units[u].iter().any(|&a| {
                units[v].iter().any(|&b| {
                    let threshold = thresholds.get(a, b);
                    columns.supports[b] >= threshold && columns.overlap(a, b) >= threshold
                })
            });
            linked[u * count + v] = link;
            linked[v * count + u] = link;
        }
    }
    Ok(linked)
}

/// The connected parts of some units, each ascending, by their first unit.
fn connected(units: &[usize], linked: &dyn Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut rest: Vec<usize> = units.to_vec();
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let mut part = vec![rest.remove(0)];
        let mut done = 0;
        while done < part.len() {
            let from = part[done];
            let (more, others) = rest.into_iter().partition(|&v| linked(from, v));
            part.extend::<Vec<usize>>(more);
            rest = others;
            done += 1;
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}

/// Each unit goes to the first chunk that stays k^m-anonymous with it.
fn first_fit(
    columns: &Columns,
    units: &[Vec<usize>],
    component: &[usize],
    rule: Rule,
) -> Vec<Vec<usize>> {
    let mut chunks: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    for &unit in component {
        let taken = chunks.iter_mut().any(|(members, terms)| {
            let before = terms.len();
            let fits = units[unit].iter().all(|&t| {
                let accepts = columns.accepts(terms, t, rule.k, rule.m);
                terms.push(t);
                accepts
            });
            if fits {
                members.push(unit);
            } else {
                terms.truncate(before);
            }
            fits
        });
        if !taken {
            chunks.push((vec![unit], units[unit].clone()));
        }
    }
    chunks.into_iter().map(|(members, _)| members).collect()
}
