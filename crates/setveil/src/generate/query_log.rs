//! A query log in the layout of AOL's of 2006, for tests of scale: who asked
//! what and when, and what was clicked. No real person's data.
//!
//! Queries are drawn by Zipf's law from a domain of any size and spelled from
//! made-up words; the number of queries of a user is log-normal, so a few
//! users ask thousands. The rows come user by user.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::draw::{Zipf, normal};
use crate::{Error, Result};

/// The spread of the number of queries a user.
const SIGMA: f64 = 1.2;
/// From 1 March to 31 May.
const SECONDS: u32 = 92 * 86_400;
/// The share of rows with a click.
const CLICKS: f64 = 0.5;

/// The shape of the log.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QueryLogParameters {
    /// How many users.
    pub users: u64,
    /// The mean number of queries of a user.
    pub mean_queries: f64,
    /// How many different queries there are to choose from.
    pub distinct_queries: u64,
    /// The exponent of Zipf's law: 0 makes all queries equally likely.
    pub skew: f64,
}

setters!(QueryLogParameters {
    /// How many users.
    users: u64,
    /// The mean number of queries of a user.
    mean_queries: f64,
    /// How many different queries there are to choose from.
    distinct_queries: u64,
    /// The exponent of Zipf's law: 0 makes all queries equally likely.
    skew: f64,
});

impl Default for QueryLogParameters {
    fn default() -> Self {
        Self { users: 10_000, mean_queries: 24.7, distinct_queries: 150_000, skew: 0.8 }
    }
}

impl QueryLogParameters {
    fn check(&self) -> Result<()> {
        let refuse = |name, found: &dyn std::fmt::Display, expected| {
            Err(Error::Parameter { name, found: found.to_string(), expected })
        };
        if !(1..=1 << 40).contains(&self.distinct_queries) {
            return refuse("distinct-queries", &self.distinct_queries, "at least 1");
        }
        if !(self.mean_queries >= 1.0 && self.mean_queries <= 1e6) {
            return refuse("mean-queries", &self.mean_queries, "a number from 1 to 1000000");
        }
        if !(0.0..=5.0).contains(&self.skew) {
            return refuse("skew", &self.skew, "a number from 0 to 5");
        }
        Ok(())
    }
}

/// One row of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryRow {
    /// The query's rank by popularity, from 1; see [`query_text`].
    pub query: u64,
    /// Seconds since the log began; see [`query_time`].
    pub second: u32,
    /// The rank of the result that was clicked.
    pub click: Option<u8>,
}

/// A stream of users.
pub struct QueryLog {
    rng: ChaCha8Rng,
    left: u64,
    mu: f64,
    queries: Zipf,
    rows: Vec<QueryRow>,
}

impl QueryLog {
    /// Checks the parameters.
    pub fn new(parameters: &QueryLogParameters, seed: u64) -> Result<Self> {
        parameters.check()?;
        Ok(Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
            left: parameters.users,
            mu: parameters.mean_queries.ln() - SIGMA * SIGMA / 2.0,
            queries: Zipf::new(parameters.distinct_queries, parameters.skew),
            rows: Vec::new(),
        })
    }

    /// The rows of the next user by time, or none after the last.
    pub fn next_user(&mut self) -> Option<&[QueryRow]> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let rng = &mut self.rng;
        let count = (self.mu + SIGMA * normal(rng)).exp().round().clamp(1.0, 1e7) as usize;
        self.rows.clear();
        for _ in 0..count {
            let query = self.queries.draw(rng);
            let second = rng.random_range(0..SECONDS);
            // Each further result is clicked half as often.
            let click = rng
                .random_bool(CLICKS)
                .then(|| (1 + rng.random::<u64>().trailing_zeros() as u8).min(10));
            self.rows.push(QueryRow { query, second, click });
        }
        self.rows.sort_unstable_by_key(|r| (r.second, r.query));
        Some(&self.rows)
    }
}

/// Appends the text of a query: words of two syllables, one for the most
/// popular 4,096 queries, two for the next 16 million. Different ranks have
/// different texts.
pub fn query_text(rank: u64, text: &mut String) {
    const WORDS: u64 = 64 * 64;
    // Bijective numeration: after the last query of n words comes the first of n + 1.
    let (mut rest, mut words, mut span) = (rank - 1, 1, WORDS);
    while rest >= span {
        rest -= span;
        words += 1;
        span = span.saturating_mul(WORDS);
    }
    for place in (0..words).rev() {
        word(rest / WORDS.pow(place) % WORDS, text);
        if place > 0 {
            text.push(' ');
        }
    }
}

fn word(number: u64, text: &mut String) {
    const CONSONANTS: &[u8; 16] = b"bdfghjklmnprstvz";
    const VOWELS: &[u8; 4] = b"aeio";
    for syllable in [number / 64, number % 64] {
        text.push(char::from(CONSONANTS[(syllable / 4) as usize]));
        text.push(char::from(VOWELS[(syllable % 4) as usize]));
    }
}

/// The time as AOL wrote it: `2006-03-01 07:17:12`.
pub fn query_time(second: u32) -> String {
    let day = second / 86_400;
    let (month, day) = match day {
        0..31 => (3, day + 1),
        31..61 => (4, day - 30),
        _ => (5, day - 60),
    };
    let of_day = second % 86_400;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("2006-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_differ_and_times_are_dates() {
        let text = |rank| {
            let mut text = String::new();
            query_text(rank, &mut text);
            text
        };
        assert_eq!((text(1), text(2), text(4096)), ("baba".into(), "babe".into(), "zozo".into()));
        assert_eq!(text(4097), "baba baba");
        assert_eq!(text(4096 + 4096 * 4096), "zozo zozo");
        assert_eq!(text(4097 + 4096 * 4096), "baba baba baba");
        let all: std::collections::HashSet<String> = (1..20_000).map(text).collect();
        assert_eq!(all.len(), 19_999);
        assert_eq!(query_time(0), "2006-03-01 00:00:00");
        assert_eq!(query_time(31 * 86_400), "2006-04-01 00:00:00");
        assert_eq!(query_time(SECONDS - 1), "2006-05-31 23:59:59");
    }
}
