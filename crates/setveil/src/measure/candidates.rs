//! How surely a person is found in a release by a few known items: the
//! counterpart of [`profile`](crate::profile)'s re-identification risk.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::data::ItemId;
use crate::query::Prepared;
use crate::reconstruct::TermOccurrences;
use crate::release::Supports;
use crate::{Dataset, Progress, Release, Result, Stage};

/// Draws for each number of known items.
const DRAWS: usize = 2000;

/// For 1 to `most_known` known items: the mean of 1 / (records that could have
/// them in some data set that fits the release). A record with enough items is
/// drawn uniformly, then so many of its items. Nobody is found by items that
/// cannot stand together in the release (they were suppressed), and 0 is the
/// answer where no record has so many items.
///
/// With noise there is nothing that a data set must fit: the answer is empty.
///
/// The candidates are those of the format guarantee. How likely each of them
/// is, and what else is inferred, is another question.
///
/// # Errors
/// If `progress` says stop.
pub fn candidates(
    release: &Release,
    original: &Dataset,
    most_known: u32,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<f64>> {
    let mut risks = Vec::new();
    if release.manifest.guarantee.supports == Supports::Noisy {
        return Ok(risks);
    }
    let index = Prepared::new(release, TermOccurrences::default(), progress)?;
    for known in 1..=most_known {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ u64::from(known) << 32);
        let targets: Vec<usize> =
            (0..original.len()).filter(|&r| original.record(r).len() >= known as usize).collect();
        let mut itemsets: Vec<Vec<&str>> = Vec::new();
        for _ in 0..if targets.is_empty() { 0 } else { DRAWS } {
            let record = original.record(targets[rng.random_range(0..targets.len())]);
            let mut items =
                rand::seq::index::sample(&mut rng, record.len(), known as usize).into_vec();
            items.sort_unstable();
            let label = |i: usize| original.vocabulary().label(record[i] as ItemId);
            itemsets.push(items.into_iter().map(label).collect());
        }
        progress.stage(Stage::Guessing, Some(itemsets.len() as u64));
        let found = itemsets.par_iter().map(|itemset| {
            progress.step(1)?;
            Ok(match index.most(itemset) {
                0 => 0.0,
                records => 1.0 / records as f64,
            })
        });
        // In order, so that the sum does not depend on the threads.
        let sum: f64 = found.collect::<Result<Vec<f64>>>()?.iter().sum();
        risks.push(if itemsets.is_empty() { 0.0 } else { sum / itemsets.len() as f64 });
    }
    Ok(risks)
}
