//! How property tests run.

use proptest::test_runner::{Config, RngSeed};

/// `cases` cases that are the same on every run and every machine: a property
/// that fails today failed yesterday. No file of earlier failures is kept.
pub fn cases(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() }
}

/// How often a test under torture repeats something: `few` times, or
/// `SETVEIL_TORTURE` times as often.
pub fn rounds(few: u64) -> u64 {
    let times = std::env::var("SETVEIL_TORTURE").ok().and_then(|times| times.parse().ok());
    few.saturating_mul(times.unwrap_or(1).max(1))
}
