//! Factors of the measured prior that were chosen without the data set that they are judged
//! on: for each data set those that do best on the other five.
//!
//! Two rules. *Fixed*: the same factors for every release. *By spread*: factors count in full only
//! where the mean lengths of the records of clusters differ by so much, which a release
//! shows ([`spread`]), and less and less below: if records are more and less
//! active, rare items gather in the active ones. What is best is the least mean of three ratios to
//! equally likely worlds: relative error, root mean square error, calibration error. Among equals
//! the most careful counts: the one that takes back most.

use std::path::Path;

use rayon::prelude::*;
use setveil::data::{K, M};
use setveil::methods::disassociation::{self, Parameters};
use setveil::query::{Factors, Prior};
use setveil::release::Release;
use setveil::workflow::{self, QueryOptions};
use setveil::worlds::spread;

use super::{Args, DATA, Judged, Summary};
use crate::data;

const OCCURRENCES: [f64; 3] = [1.0, 1.15, 1.3];
const TERM_AND_CHUNK: [f64; 3] = [1.0, 1.3, 1.7];
const TWO_TERMS: [f64; 5] = [1.0, 1.5, 2.0, 3.0, 5.0];
/// From this spread on factors count in full; the most careful first.
const FULL_SPREAD: [f64; 4] = [0.4, 0.2, 0.1, 0.05];

/// What was released of a data set, and what is asked of it.
struct Case {
    name: &'static str,
    release: Release,
    asked: Vec<Vec<String>>,
    supports: Vec<u64>,
    spread: f64,
}

/// How factors are chosen for a release.
#[derive(Clone, Copy, Debug)]
struct Rule {
    factors: Factors,
    full_spread: f64,
}

impl Rule {
    fn all(by_spread: bool) -> Vec<Self> {
        let mut rules = Vec::new();
        for occurrences in OCCURRENCES {
            for term_and_chunk in TERM_AND_CHUNK {
                for two_terms in TWO_TERMS {
                    let factors =
                        Factors { occurrences, two_terms, term_and_chunk, ..Factors::MEASURED };
                    let full = if by_spread { &FULL_SPREAD[..] } else { &[0.0] };
                    rules.extend(full.iter().map(|&full_spread| Self { factors, full_spread }));
                }
            }
        }
        rules
    }

    fn factors(&self, case: &Case) -> Factors {
        match self.full_spread {
            0.0 => self.factors,
            // Up to half of it they do not count at all.
            full => self.factors.scaled(2.0 * case.spread / full - 1.0),
        }
    }
}

impl Case {
    fn judge(&self, factors: Factors) -> anyhow::Result<[f64; 3]> {
        let options = QueryOptions::default().factors(Some(factors));
        let answers = workflow::query(&self.release, &self.asked, &options, &())?;
        let found: Vec<Judged> =
            answers.iter().zip(&self.supports).map(|(a, &s)| Judged::new(a, s)).collect();
        let Summary { relative, rmse, calibration, .. } = Summary::of(&found);
        Ok([relative, rmse, calibration])
    }
}

pub(super) fn run(args: &Args, output: &Path) -> anyhow::Result<()> {
    let parameters = Parameters::new(K::new(args.k)?, M::new(args.m)?);
    let mut cases = Vec::new();
    for &name in DATA {
        let original = data::load(name)?;
        let pairs = args.pairs(&original);
        let release = disassociation::anonymize(&original, &parameters, &())?;
        let spread = spread(&release.body);
        let (asked, supports) = pairs.into_iter().map(|pair| (pair.labels, pair.support)).unzip();
        cases.push(Case { name, release, asked, supports, spread });
    }
    let mut table = csv::Writer::from_path(output.join("held-out.csv"))?;
    table.write_record([
        "data",
        "spread",
        "rule",
        "occurrences",
        "two_terms",
        "term_and_chunk",
        "relative_error",
        "rmse",
        "calibration_error",
    ])?;
    let worlds: Vec<[f64; 3]> =
        cases.iter().map(|case| case.judge(Factors::WORLDS)).collect::<anyhow::Result<_>>()?;
    let mut write = |case: &Case, title: &str, factors: Factors, found: [f64; 3]| {
        let number = |x: f64| format!("{x:.3}");
        let Factors { occurrences, two_terms, term_and_chunk, .. } = factors;
        let numbers = [occurrences, two_terms, term_and_chunk].into_iter().chain(found).map(number);
        let row = [case.name.to_owned(), number(case.spread), title.to_owned()];
        table.write_record(row.into_iter().chain(numbers))
    };
    for (case, &found) in cases.iter().zip(&worlds) {
        write(case, "worlds", Factors::WORLDS, found)?;
        let shipped = Prior::Measured.factors(&case.release.body);
        write(case, "as shipped", shipped, case.judge(shipped)?)?;
    }
    for by_spread in [false, true] {
        let rules = Rule::all(by_spread);
        // By rule, then by case.
        let judged: Vec<Vec<[f64; 3]>> = rules
            .par_iter()
            .map(|rule| cases.iter().map(|case| case.judge(rule.factors(case))).collect())
            .collect::<anyhow::Result<_>>()?;
        for (held_out, case) in cases.iter().enumerate() {
            let score = |rule: &usize| {
                let others = (0..cases.len()).filter(|&c| c != held_out);
                let ratios = others.flat_map(|c| (0..3).map(move |i| (c, i)));
                ratios.map(|(c, i)| judged[*rule][c][i] / worlds[c][i].max(1e-9)).sum::<f64>()
            };
            // The first of those that are as good as the best but for rounding.
            let least = (0..rules.len()).map(|rule| score(&rule)).fold(f64::INFINITY, f64::min);
            let best = (0..rules.len()).find(|rule| score(rule) <= least + 1e-9);
            let Some(best) = best else { continue };
            let title = if by_spread { "held out, by spread" } else { "held out, fixed" };
            write(case, title, rules[best].factors(case), judged[best][held_out])?;
        }
    }
    Ok(table.flush()?)
}
