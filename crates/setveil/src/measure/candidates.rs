//! How surely a person is found in a release by a few known items: the
//! counterpart of [`profile`](crate::profile)'s re-identification risk.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::data::ItemId;
use crate::query::Index;
use crate::reconstruct::TermOccurrences;
use crate::{Dataset, Release, Result};

/// Draws for each number of known items.
const DRAWS: usize = 2000;

/// For 1 to `most_known` known items: the mean of 1 / (expected number of
/// records with them according to the release, at least 1). A record with
/// enough items is drawn uniformly, then so many of its items. 0 where no
/// record has so many.
///
/// This is a measured risk for the average person, not a guarantee for anyone.
pub fn candidates(
    release: &Release,
    original: &Dataset,
    most_known: u32,
    terms: TermOccurrences,
    seed: u64,
) -> Result<Vec<f64>> {
    let index = Index::new(release, terms);
    let mut risks = Vec::new();
    for known in 1..=most_known {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ u64::from(known) << 32);
        let targets: Vec<usize> =
            (0..original.len()).filter(|&r| original.record(r).len() >= known as usize).collect();
        let mut itemsets: Vec<Vec<&str>> = Vec::new();
        for _ in 0..if targets.is_empty() { 0 } else { DRAWS } {
            let record = original.record(targets[rng.random_range(0..targets.len())]);
            let items = rand::seq::index::sample(&mut rng, record.len(), known as usize);
            let label = |i: usize| original.vocabulary().label(record[i] as ItemId);
            itemsets.push(items.into_iter().map(label).collect());
        }
        let answers = index.ask_all(&itemsets, &())?;
        let sum: f64 = answers.iter().map(|a| 1.0 / a.expected.max(1.0)).sum();
        risks.push(if answers.is_empty() { 0.0 } else { sum / answers.len() as f64 });
    }
    Ok(risks)
}
