//! Pairs of items whose supports are asked for: the most frequent ones, and
//! some drawn among all that are not too rare.

use std::collections::HashMap;

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use setveil::data::ItemId;
use setveil::workflow::{self, QueryOptions};
use setveil::{Dataset, Release};

/// So many of each kind.
const PAIRS: usize = 1000;
/// What is drawn has at least this support.
const RARE: u32 = 5;

/// Pairs with their supports in the original.
pub struct Pairs {
    frequent: Vec<([String; 2], u32)>,
    random: Vec<([String; 2], u32)>,
}

impl Pairs {
    pub fn of(data: &Dataset, seed: u64) -> Self {
        let mut supports: HashMap<(ItemId, ItemId), u32> = HashMap::new();
        for record in data.records() {
            for (i, &a) in record.iter().enumerate() {
                for &b in &record[i + 1..] {
                    *supports.entry((a, b)).or_default() += 1;
                }
            }
        }
        let text = |(a, b): (ItemId, ItemId)| [a, b].map(|i| data.vocabulary().label(i).to_owned());
        let mut all: Vec<_> = supports.into_iter().filter(|(_, n)| *n >= RARE).collect();
        all.sort_unstable();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let drawn = sample(&mut rng, all.len(), PAIRS.min(all.len()));
        let random = drawn.iter().map(|i| (text(all[i].0), all[i].1)).collect();
        all.sort_by_key(|&(pair, n)| (std::cmp::Reverse(n), pair));
        let frequent = all.iter().take(PAIRS).map(|&(pair, n)| (text(pair), n)).collect();
        Self { frequent, random }
    }

    /// The mean relative error of the expected supports of frequent pairs.
    pub fn error_of_frequent(&self, release: &Release) -> anyhow::Result<f64> {
        error(release, &self.frequent, &QueryOptions::default())
    }

    /// The same for pairs that were drawn.
    pub fn error_of_random(&self, release: &Release) -> anyhow::Result<f64> {
        error(release, &self.random, &QueryOptions::default())
    }

    /// Both, of answers with these options.
    pub fn errors(&self, release: &Release, options: &QueryOptions) -> anyhow::Result<[f64; 2]> {
        Ok([error(release, &self.frequent, options)?, error(release, &self.random, options)?])
    }
}

/// The relative error is |s - e| over the mean of s and e, 0 to 2.
fn error(
    release: &Release,
    pairs: &[([String; 2], u32)],
    options: &QueryOptions,
) -> anyhow::Result<f64> {
    let asked: Vec<Vec<&str>> =
        pairs.iter().map(|(pair, _)| pair.iter().map(String::as_str).collect()).collect();
    let answers = workflow::query(release, &asked, options, &())?;
    let error = |(answer, pair): (&setveil::query::Answer, &([String; 2], u32))| {
        let (original, expected) = (f64::from(pair.1), answer.expected);
        2.0 * (original - expected).abs() / (original + expected)
    };
    Ok(answers.iter().zip(pairs).map(error).sum::<f64>() / pairs.len().max(1) as f64)
}
