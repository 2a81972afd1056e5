//! How property tests run.

use proptest::test_runner::{Config, RngSeed};

/// `cases` cases that are the same on every run and every machine: a property
/// that fails today failed yesterday. No file of earlier failures is kept.
pub fn cases(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() }
}
