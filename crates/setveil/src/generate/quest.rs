//! Market baskets after the model of R. Agrawal and R. Srikant, "Fast
//! algorithms for mining association rules", VLDB 1994, section 4.1, known
//! from the data sets T10I4D100K and the like.
//!
//! A basket is put together from patterns: itemsets that tend to be bought
//! together. A pattern's size is Poisson; some of its items (an exponential
//! share whose mean is the correlation) come from the pattern before, the
//! others are drawn uniformly. Its weight is exponential, and it has a
//! corruption level (normal, mean 0.5, variance 0.1): items leave an
//! occurrence of the pattern as long as a coin falls below the level. A
//! pattern that no longer fits into a basket goes in all the same in half of
//! the cases and into the next basket in the other half.
//!
//! Deviation: baskets of size zero are drawn again, because a record without
//! items is nothing to publish.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::draw::{Poisson, Weighted, exponential, normal};
use crate::{Error, Result};

/// The shape of the baskets.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QuestParameters {
    /// How many records (D).
    pub records: u64,
    /// How many different items (N).
    pub items: u32,
    /// The mean number of items in a record (T).
    pub mean_length: f64,
    /// How many patterns (L).
    pub patterns: u32,
    /// The mean number of items in a pattern (I).
    pub pattern_length: f64,
    /// The mean share of items that a pattern has from the one before.
    pub correlation: f64,
}

setters!(QuestParameters {
    /// How many records (D).
    records: u64,
    /// How many different items (N).
    items: u32,
    /// The mean number of items in a record (T).
    mean_length: f64,
    /// How many patterns (L).
    patterns: u32,
    /// The mean number of items in a pattern (I).
    pattern_length: f64,
    /// The mean share of items that a pattern has from the one before.
    correlation: f64,
});

impl Default for QuestParameters {
    fn default() -> Self {
        Self {
            records: 100_000,
            items: 1_000,
            mean_length: 10.0,
            patterns: 2_000,
            pattern_length: 4.0,
            correlation: 0.5,
        }
    }
}

impl QuestParameters {
    fn check(&self) -> Result<()> {
        let refuse = |name, found: &dyn std::fmt::Display, expected| {
            Err(Error::Parameter { name, found: found.to_string(), expected })
        };
        if self.items == 0 {
            return refuse("items", &self.items, "at least 1");
        }
        if self.patterns == 0 {
            return refuse("patterns", &self.patterns, "at least 1");
        }
        if !(self.mean_length > 0.0 && self.mean_length <= f64::from(self.items).min(1e6)) {
            return refuse(
                "mean-length",
                &self.mean_length,
                "more than 0, at most the number of items",
            );
        }
        if !(self.pattern_length > 0.0 && self.pattern_length <= f64::from(self.items).min(1e6)) {
            let expected = "more than 0, at most the number of items";
            return refuse("pattern-length", &self.pattern_length, expected);
        }
        if !(0.0..=1.0).contains(&self.correlation) {
            return refuse("correlation", &self.correlation, "a share from 0 to 1");
        }
        Ok(())
    }
}

/// A stream of baskets. Items are numbers from 0.
///
/// ```
/// use setveil::generate::{Quest, QuestParameters};
///
/// let parameters = QuestParameters::default().records(100);
/// let mut quest = Quest::new(&parameters, 1)?;
/// let mut records = 0;
/// while let Some(record) = quest.next_record() {
///     assert!(record.is_sorted() && !record.is_empty());
///     records += 1;
/// }
/// assert_eq!(records, 100);
/// # Ok::<(), setveil::Error>(())
/// ```
pub struct Quest {
    rng: ChaCha8Rng,
    left: u64,
    length: Poisson,
    patterns: Vec<Pattern>,
    weights: Weighted,
    record: Vec<u32>,
    /// A pattern's items that did not fit into the basket before.
    waiting: Vec<u32>,
}

struct Pattern {
    items: Vec<u32>,
    corruption: f64,
}

impl Quest {
    /// Draws the patterns.
    pub fn new(parameters: &QuestParameters, seed: u64) -> Result<Self> {
        parameters.check()?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let size = Poisson::new(parameters.pattern_length);
        let mut patterns: Vec<Pattern> = Vec::with_capacity(parameters.patterns as usize);
        for _ in 0..parameters.patterns {
            let before = patterns.last().map_or(&[][..], |p| &p.items);
            let items = pattern(before, &size, parameters, &mut rng);
            let corruption = (0.5 + 0.1f64.sqrt() * normal(&mut rng)).clamp(0.0, 1.0);
            patterns.push(Pattern { items, corruption });
        }
        let weights = Weighted::new(patterns.iter().map(|_| exponential(&mut rng)));
        let length = Poisson::new(parameters.mean_length);
        let (record, waiting) = (Vec::new(), Vec::new());
        Ok(Self { rng, left: parameters.records, length, patterns, weights, record, waiting })
    }

    /// The next record, ascending, or none after the last.
    pub fn next_record(&mut self) -> Option<&[u32]> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let length = loop {
            match self.length.draw(&mut self.rng) {
                0 => {}
                length => break length,
            }
        };
        self.record.clear();
        self.record.append(&mut self.waiting);
        // Corruption may leave nothing of a pattern, and patterns overlap: the number of tries is bounded.
        let mut tries = 10 * length + 10;
        while tries > 0 && self.record.len() < length && self.add_pattern(length) {
            tries -= 1;
        }
        if self.record.is_empty() {
            let pattern = &self.patterns[self.weights.draw(&mut self.rng)].items;
            self.record.push(pattern[self.rng.random_range(0..pattern.len())]);
        }
        self.record.sort_unstable();
        self.record.dedup();
        Some(&self.record)
    }

    /// Adds what is left of a pattern to the basket, or keeps it for the next
    /// one; whether the basket takes more.
    fn add_pattern(&mut self, length: usize) -> bool {
        let pattern = &self.patterns[self.weights.draw(&mut self.rng)];
        let mut items = pattern.items.clone();
        while !items.is_empty() && self.rng.random::<f64>() < pattern.corruption {
            items.swap_remove(self.rng.random_range(0..items.len()));
        }
        items.retain(|i| !self.record.contains(i));
        let fits = self.record.len() + items.len() <= length;
        if !fits && !self.record.is_empty() && self.rng.random::<bool>() {
            self.waiting = items;
            return false;
        }
        self.record.append(&mut items);
        self.record.len() < length
    }
}

fn pattern(
    before: &[u32],
    size: &Poisson,
    parameters: &QuestParameters,
    rng: &mut ChaCha8Rng,
) -> Vec<u32> {
    let size = size.draw(rng).clamp(1, parameters.items as usize);
    let share = (parameters.correlation * exponential(rng)).min(1.0);
    let common = ((share * size as f64).round() as usize).min(before.len());
    let mut pool = before.to_vec();
    let mut items = Vec::with_capacity(size);
    for _ in 0..common {
        items.push(pool.swap_remove(rng.random_range(0..pool.len())));
    }
    while items.len() < size {
        let item = rng.random_range(0..parameters.items);
        if !items.contains(&item) {
            items.push(item);
        }
    }
    items
}
