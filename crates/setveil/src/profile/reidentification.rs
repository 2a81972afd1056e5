//! How surely a person is found by a few known items (cahd-2008, Table II).
//!
//! A record with at least as many items as are known is drawn uniformly, then
//! that many of its items. The attacker who knows them is left with as many
//! candidates as records hold them all: with probability 1 / support the
//! right one is picked, and with support 1 there is nothing to pick.
//!
//! The paper does not say how it draws; this is the attacker who has met a
//! random person and noticed random things.
//!
//! All draws are looked at while they are few, otherwise a sample of them,
//! with the standard error of its means.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::postings::Postings;
use crate::data::ItemId;
use crate::progress::{Progress, Pulse, Stage};
use crate::{Dataset, Result};

/// The most items that are assumed to be known.
pub const MOST_KNOWN: u32 = 4;
/// As many (record, itemset) pairs are all looked at.
const EXACT: u64 = 2_000_000;
/// Draws that one task makes, with a random stream of its own.
const TASK: u64 = 500;

/// The risk for one number of known items.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reidentification {
    /// How many items are known.
    pub known: u32,
    /// The mean of 1 / support; 0 if no record has so many items.
    pub probability: f64,
    /// The share of targets that nobody else matches.
    pub unique: f64,
    /// How many records have at least so many items.
    pub records: u64,
    /// How many draws were made; none if all possible ones were looked at.
    pub samples: Option<u64>,
    /// The standard error of `probability`; 0 if all were looked at.
    pub probability_error: f64,
    /// The standard error of `unique`.
    pub unique_error: f64,
}

/// How to sample where all draws are too many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sampling {
    /// How many draws.
    pub samples: u64,
    /// The random seed; the same seed gives the same numbers on any number of threads.
    pub seed: u64,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { samples: 20_000, seed: 1 }
    }
}

/// The risk for 1..4 known items.
///
/// # Errors
/// If `progress` says stop.
///
/// # Complexity
/// Linear in the data for one known item. For more, linear in the number of
/// (record, itemset) pairs up to two million of them; beyond that a draw
/// intersects posting lists, the long ones as bit sets.
pub fn reidentification(
    data: &Dataset,
    sampling: &Sampling,
    progress: &dyn Progress,
) -> Result<Vec<Reidentification>> {
    let mut postings = None;
    (1..=MOST_KNOWN)
        .map(|known| {
            progress.step(0)?;
            let size = known as usize;
            let targets: Vec<u32> = (0..data.len())
                .filter(|&r| data.record(r).len() >= size)
                .map(|r| r as u32)
                .collect();
            if targets.is_empty() {
                return Ok(Moments::default().result(known, 0, None));
            }
            if known == 1 {
                return Ok(singles(data).result(known, targets.len(), None));
            }
            if draws(data, size) <= EXACT {
                return Ok(all(data, &targets, size, progress)?.result(known, targets.len(), None));
            }
            let postings = postings.get_or_insert_with(|| Postings::new(data));
            progress.stage(Stage::Guessing, Some(sampling.samples));
            let found = sampled(data, postings, &targets, size, sampling, progress)?;
            Ok(found.result(known, targets.len(), Some(sampling.samples)))
        })
        .collect()
}

/// Sums over draws, each with its weight.
#[derive(Clone, Copy, Default)]
struct Moments {
    weight: f64,
    inverse: f64,
    inverse_squared: f64,
    unique: f64,
}

impl Moments {
    fn add(&mut self, weight: f64, support: u32) {
        let inverse = 1.0 / f64::from(support);
        self.weight += weight;
        self.inverse += weight * inverse;
        self.inverse_squared += weight * inverse * inverse;
        self.unique += if support == 1 { weight } else { 0.0 };
    }

    fn merge(mut self, other: Self) -> Self {
        self.weight += other.weight;
        self.inverse += other.inverse;
        self.inverse_squared += other.inverse_squared;
        self.unique += other.unique;
        self
    }

    fn result(self, known: u32, records: usize, samples: Option<u64>) -> Reidentification {
        let mean = |sum: f64| if self.weight > 0.0 { sum / self.weight } else { 0.0 };
        let (probability, unique) = (mean(self.inverse), mean(self.unique));
        // Sums of thirds and the like may end a hair above one.
        let (probability, unique) = (probability.min(1.0), unique.min(1.0));
        let error = |variance: f64| match samples {
            Some(n) if n > 1 => (variance.max(0.0) / (n - 1) as f64).sqrt(),
            _ => 0.0,
        };
        Reidentification {
            known,
            probability,
            unique,
            records: records as u64,
            samples,
            probability_error: error(mean(self.inverse_squared) - probability * probability),
            unique_error: error(unique - unique * unique),
        }
    }
}

fn singles(data: &Dataset) -> Moments {
    let supports = data.supports();
    let mut moments = Moments::default();
    for record in data.records() {
        for &item in record {
            moments.add(1.0 / record.len() as f64, supports[item as usize]);
        }
    }
    moments
}

/// How many (record, itemset of `size`) pairs there are.
fn draws(data: &Dataset, size: usize) -> u64 {
    data.records().fold(0u64, |sum, r| sum.saturating_add(choose(r.len() as u64, size as u64)))
}

fn choose(n: u64, k: u64) -> u64 {
    if k > n {
        return 0;
    }
    (0..k).fold(1u64, |product, i| product.saturating_mul(n - i) / (i + 1))
}

/// Every draw there is.
fn all(data: &Dataset, targets: &[u32], size: usize, progress: &dyn Progress) -> Result<Moments> {
    let mut pulse = Pulse::new(progress);
    let subsets =
        |target: u32| choose(data.record(target as usize).len() as u64, size as u64) as usize;
    let mut supports: FxHashMap<[ItemId; MOST_KNOWN as usize], u32> = FxHashMap::default();
    for &target in targets {
        pulse.work(subsets(target))?;
        each_subset(data.record(target as usize), size, |set| {
            *supports.entry(set).or_default() += 1;
        });
    }
    let mut moments = Moments::default();
    for &target in targets {
        pulse.work(subsets(target))?;
        let record = data.record(target as usize);
        let weight = 1.0 / choose(record.len() as u64, size as u64) as f64;
        each_subset(record, size, |set| moments.add(weight, supports[&set]));
    }
    Ok(moments)
}

/// Calls `each` with every subset of `size` items, filled up with the largest number.
fn each_subset(
    record: &[ItemId],
    size: usize,
    mut each: impl FnMut([ItemId; MOST_KNOWN as usize]),
) {
    let mut chosen = [0; MOST_KNOWN as usize];
    chosen[..size].iter_mut().enumerate().for_each(|(i, c)| *c = i);
    loop {
        let mut set = [ItemId::MAX; MOST_KNOWN as usize];
        for (slot, &c) in set.iter_mut().zip(&chosen[..size]) {
            *slot = record[c];
        }
        each(set);
        // The next combination: the last place that can still move on.
        let Some(place) = (0..size).rev().find(|&p| chosen[p] < record.len() - size + p) else {
            return;
        };
        chosen[place] += 1;
        for p in place + 1..size {
            chosen[p] = chosen[p - 1] + 1;
        }
    }
}

fn sampled(
    data: &Dataset,
    postings: &Postings,
    targets: &[u32],
    size: usize,
    sampling: &Sampling,
    progress: &dyn Progress,
) -> Result<Moments> {
    let tasks = sampling.samples.div_ceil(TASK);
    let sums: Vec<Moments> = (0..tasks)
        .into_par_iter()
        .map(|task| {
            let mut rng = ChaCha8Rng::seed_from_u64(sampling.seed);
            // A stream for every task and size: no thread's luck changes the numbers.
            rng.set_stream(task * u64::from(MOST_KNOWN) + size as u64 - 1);
            let count = TASK.min(sampling.samples - task * TASK);
            let mut moments = Moments::default();
            let (mut order, mut set) = (Vec::new(), Vec::new());
            for _ in 0..count {
                progress.step(1)?;
                let target = targets[rng.random_range(0..targets.len())] as usize;
                let record = data.record(target);
                set.clear();
                order.clear();
                while order.len() < size {
                    let i = rng.random_range(0..record.len());
                    if !order.contains(&i) {
                        order.push(i);
                        set.push(record[i]);
                    }
                }
                moments.add(1.0, postings.support(&set));
            }
            Ok(moments)
        })
        .collect::<Result<_>>()?;
    Ok(sums.into_iter().fold(Moments::default(), Moments::merge))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> Dataset {
        Dataset::from_records([
            vec!["a", "b"],
            vec!["a", "b", "c"],
            vec!["a"],
            vec!["c", "d", "a", "b"],
        ])
    }

    #[test]
    fn by_hand_on_four_records() {
        // Supports: a 4, b 3, c 2, d 1; ab 3, ac 2, ad 1, bc 2, bd 1, cd 1.
        let found = reidentification(&data(), &Sampling::default(), &()).unwrap();
        let a = [1.0 / 4.0, 1.0 / 3.0, 1.0 / 2.0, 1.0];
        let single = [
            a[0] / 2.0 + a[1] / 2.0,
            (a[0] + a[1] + a[2]) / 3.0,
            a[0],
            a.iter().sum::<f64>() / 4.0,
        ];
        assert!((found[0].probability - single.iter().sum::<f64>() / 4.0).abs() < 1e-12);
        assert!((found[0].unique - 1.0 / 16.0).abs() < 1e-12);
        let pairs = [1.0 / 3.0, (1.0 / 3.0 + 0.5 + 0.5) / 3.0, (1.0 / 3.0 + 0.5 + 0.5 + 3.0) / 6.0];
        assert!((found[1].probability - pairs.iter().sum::<f64>() / 3.0).abs() < 1e-12);
        assert!((found[1].unique - 0.5 / 3.0).abs() < 1e-12);
        assert_eq!((found[3].probability, found[3].unique, found[3].records), (1.0, 1.0, 1));
        assert!(found.iter().all(|f| f.samples.is_none()));
    }

    #[test]
    fn a_sample_comes_near_the_exact_value_and_says_how_near() {
        let data = data();
        let postings = Postings::new(&data);
        let targets = [0, 1, 3];
        let exact = all(&data, &targets, 2, &()).unwrap().result(2, 3, None);
        let sampling = Sampling { samples: 20_000, seed: 7 };
        let sampled = sampled(&data, &postings, &targets, 2, &sampling, &()).unwrap();
        let sampled = sampled.result(2, 3, Some(20_000));
        // Five standard errors: a false alarm in about two million seeds.
        let near = |a: f64, b: f64, error: f64| (a - b).abs() <= 5.0 * error && error < 0.01;
        assert!(near(exact.probability, sampled.probability, sampled.probability_error));
        assert!(near(exact.unique, sampled.unique, sampled.unique_error));
    }
}
