//! Random data sets, small enough for brute force or large enough to be real.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use setveil::Dataset;
use setveil::data::DatasetBuilder;
use setveil::generate::{Quest, QuestParameters};

/// A generator for tests: the same numbers for the same seed, everywhere.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Market baskets of the Quest model over items `0`, `1`, ...
pub fn quest(records: u64, items: u32) -> Dataset {
    let parameters = QuestParameters::default().records(records).items(items);
    let mut quest = Quest::new(&parameters, 1).expect("valid parameters");
    let mut builder = DatasetBuilder::default();
    while let Some(record) = quest.next_record() {
        record.iter().for_each(|item| builder.push(&item.to_string()));
        builder.end_record();
    }
    builder.finish().expect("few enough records").0
}

/// Records over single-letter items `a`, `b`, ... with a skewed frequency.
/// No record is empty.
pub fn records(seed: u64, len: usize, items: usize, mean_length: f64) -> Vec<Vec<String>> {
    let mut rng = rng(seed);
    let weight: Vec<f64> = (0..items).map(|i| 1.0 / (i as f64 + 1.0)).collect();
    let scale = mean_length / weight.iter().sum::<f64>();
    let mut make = |_| {
        let mut record: Vec<usize> =
            (0..items).filter(|&i| rng.random_bool((weight[i] * scale).clamp(0.0, 1.0))).collect();
        if record.is_empty() {
            record.push(rng.random_range(0..items));
        }
        record.into_iter().map(label).collect()
    };
    (0..len).map(&mut make).collect()
}

/// `a` .. `z`, then `i26`, `i27` ...
pub fn label(item: usize) -> String {
    match u8::try_from(item) {
        Ok(i) if i < 26 => char::from(b'a' + i).to_string(),
        _ => format!("i{item}"),
    }
}

/// A strategy for data sets of up to `records` records over up to `items` items.
pub fn dataset(records: usize, items: usize) -> impl Strategy<Value = Dataset> {
    prop::collection::vec(prop::collection::btree_set(0..items, 1..=items), 1..=records)
        .prop_map(|rows| Dataset::from_records(rows.into_iter().map(|r| r.into_iter().map(label))))
}
