//! Means over people and drawn data sets, with their standard errors.

use serde::{Deserialize, Serialize};

use super::attacker::Attempt;

/// Every figure by its key: a short heading, and what it says. Printed wherever
/// the figures are.
pub const MEANINGS: &[(&str, &str, &str)] = &[
    (
        "raw",
        "raw data",
        "how often somebody who knows so many items of a person finds the person in the raw data",
    ),
    (
        "linking",
        "found",
        "how often she picks the person's own place in a data set that the release could have come \
         from",
    ),
    ("linking_p95", "1 in 20", "one person in twenty is found at least this often"),
    ("disclosure", "read", "the share of the person's further items that the record she picks has"),
    ("disclosure_80", "nearly all", "how often that is more than four fifths of them"),
    ("inference", "guessed", "how often her best guess of a further item is right"),
    (
        "candidates_format",
        "candidates",
        "the fewest records that can have the known items in some data set that fits the files, \
         which is all that the promise speaks of",
    ),
];

/// A mean over people with its standard error. On a few people the error is
/// large: it is part of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measured {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
}

impl Measured {
    /// The mean of `values`; none if there is no value.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for value in values {
            n += 1.0;
            sum += value;
            squares += value * value;
        }
        if n == 0.0 {
            return None;
        }
        let mean: f64 = sum / n;
        let variance =
            if n > 1.0 { (squares / n - mean * mean).max(0.0) * n / (n - 1.0) } else { 0.0 };
        Some(Self { mean, error: (variance / n).sqrt() })
    }
}

/// The risk for people of whom `known` items are known. Every figure is a mean
/// over people, with its standard error beside it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Level {
    /// How many items are known.
    pub known: u32,
    /// How many people were attacked.
    pub targets: u64,
    /// How often the attacker finds the person in the raw data.
    pub raw: Option<f64>,
    /// Its standard error.
    pub raw_error: Option<f64>,
    /// How often the attacker picks the person's own slot in the release; none
    /// where a release has no slots.
    pub linking: Option<f64>,
    /// Its standard error.
    pub linking_error: Option<f64>,
    /// For one person in twenty it is at least this.
    pub linking_p95: Option<f64>,
    /// Its standard error.
    pub linking_p95_error: Option<f64>,
    /// The share of the person's further items that the picked record has.
    pub disclosure: Option<f64>,
    /// Its standard error.
    pub disclosure_error: Option<f64>,
    /// How often it is more than four fifths of them.
    pub disclosure_80: Option<f64>,
    /// Its standard error.
    pub disclosure_80_error: Option<f64>,
    /// The same share in the raw data.
    pub disclosure_raw: Option<f64>,
    /// How often the best guess of a further item is right.
    pub inference: Option<f64>,
    /// Its standard error.
    pub inference_error: Option<f64>,
    /// How often it is right in the raw data.
    pub inference_raw: Option<f64>,
    /// The smallest number of candidates that the format leaves to one of the
    /// people; none where noise leaves nothing to fit.
    pub candidates_format: Option<u64>,
}

impl Level {
    /// The means of several measurements of the same release or setting; errors
    /// are those of the means. None if there is no measurement.
    pub fn mean(levels: &[Self]) -> Option<Self> {
        let first = levels.first()?;
        let of = |value: fn(&Self) -> Option<f64>| mean(levels.iter().filter_map(value));
        let error = |value: fn(&Self) -> Option<f64>| {
            let squares: Vec<f64> = levels.iter().filter_map(value).map(|e| e * e).collect();
            let n = squares.len() as f64;
            (n > 0.0).then(|| squares.iter().sum::<f64>().sqrt() / n)
        };
        Some(Self {
            known: first.known,
            targets: levels.iter().map(|level| level.targets).sum(),
            raw: of(|l| l.raw),
            raw_error: error(|l| l.raw_error),
            linking: of(|l| l.linking),
            linking_error: error(|l| l.linking_error),
            linking_p95: of(|l| l.linking_p95),
            linking_p95_error: error(|l| l.linking_p95_error),
            disclosure: of(|l| l.disclosure),
            disclosure_error: error(|l| l.disclosure_error),
            disclosure_80: of(|l| l.disclosure_80),
            disclosure_80_error: error(|l| l.disclosure_80_error),
            disclosure_raw: of(|l| l.disclosure_raw),
            inference: of(|l| l.inference),
            inference_error: error(|l| l.inference_error),
            inference_raw: of(|l| l.inference_raw),
            candidates_format: levels.iter().filter_map(|l| l.candidates_format).min(),
        })
    }

    pub(super) fn new(
        known: u32,
        raw: &[Attempt],
        worlds: &[&[Attempt]],
        links: bool,
        candidates_format: Option<u64>,
    ) -> Self {
        let linking = per_person(worlds, |a| Some(a.linking));
        let linked = Measured::of(linking.iter().copied()).filter(|_| links);
        let p95 = linked.and_then(|_| percentile(linking, 0.95));
        let disclosure = Measured::of(per_person(worlds, |a| a.disclosure.map(|d| d.0)));
        let nearly = Measured::of(per_person(worlds, |a| a.disclosure.map(|d| d.1)));
        let inference = Measured::of(per_person(worlds, |a| a.inference));
        let found = Measured::of(raw.iter().map(|a| a.linking));
        Self {
            known,
            targets: raw.len() as u64,
            raw: found.map(|m| m.mean),
            raw_error: found.map(|m| m.error),
            linking: linked.map(|m| m.mean),
            linking_error: linked.map(|m| m.error),
            linking_p95: p95.map(|m| m.mean),
            linking_p95_error: p95.map(|m| m.error),
            disclosure: disclosure.map(|m| m.mean),
            disclosure_error: disclosure.map(|m| m.error),
            disclosure_80: nearly.map(|m| m.mean),
            disclosure_80_error: nearly.map(|m| m.error),
            disclosure_raw: mean(raw.iter().filter_map(|a| a.disclosure.map(|d| d.0))),
            inference: inference.map(|m| m.mean),
            inference_error: inference.map(|m| m.error),
            inference_raw: mean(raw.iter().filter_map(|a| a.inference)),
            candidates_format,
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    Measured::of(values).map(|m| m.mean)
}

/// Each person's mean over the drawn data sets; people without one are left out.
fn per_person(worlds: &[&[Attempt]], value: impl Fn(&Attempt) -> Option<f64>) -> Vec<f64> {
    let people = worlds.first().map_or(0, |w| w.len());
    (0..people).filter_map(|t| mean(worlds.iter().filter_map(|w| value(&w[t])))).collect()
}

/// The smallest value that at least `share` of all do not exceed. Its error is
/// half the distance between the values one standard error of the rank away.
fn percentile(mut values: Vec<f64>, share: f64) -> Option<Measured> {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len() as f64;
    let spread = (n * share * (1.0 - share)).sqrt();
    let at = |rank: f64| {
        let last = values.len().saturating_sub(1);
        values.get((rank.ceil() as usize).max(1).min(last + 1) - 1).copied()
    };
    let (low, high) = (at(n * share - spread)?, at(n * share + spread)?);
    Some(Measured { mean: at(n * share)?, error: (high - low) / 2.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_errors_and_percentiles() {
        let m = Measured::of([0.0, 1.0, 1.0, 0.0]).unwrap();
        assert!((m.mean - 0.5).abs() < 1e-12 && (m.error - (1.0f64 / 12.0).sqrt()).abs() < 1e-12);
        assert_eq!(Measured::of([]), None);
        let p95 = |values: Vec<f64>| percentile(values, 0.95).map(|m| (m.mean, m.error));
        // One standard error of the rank is the root of 20 * 0.95 * 0.05, about 1.
        assert_eq!(p95((1..=20).map(f64::from).collect()), Some((19.0, 0.5)));
        assert_eq!(p95(vec![3.0]), Some((3.0, 0.0)));
        assert_eq!(p95(vec![]), None);
    }
}
