//! Factors of the measured prior that were chosen without the data set that they are judged
//! on: for each data set those that do best on the other five.
//!
//! Two rules. *Fixed*: the same factors for every release. *By spread*: two terms meet 1 + b * s
//! times as often, s being how much the mean lengths of the records of clusters differ (their
//! squared coefficient of variation), which a release shows: if records are more and less
//! active, rare items gather in the active ones. What is best is the least mean of three ratios to
//! equally likely worlds: relative error, root mean square error, calibration error.

use std::path::Path;

use rayon::prelude::*;
use setveil::data::{K, M};
use setveil::methods::disassociation::{self, Parameters};
use setveil::query::Factors;
use setveil::release::{Bag, Body, Cluster, Release};
use setveil::workflow::{self, QueryOptions};

use super::{Args, DATA, Judged, Summary};
use crate::data;

const OCCURRENCES: [f64; 3] = [1.0, 1.15, 1.3];
const TERM_AND_CHUNK: [f64; 3] = [1.0, 1.3, 1.7];
const TWO_TERMS: [f64; 5] = [1.0, 1.5, 2.0, 3.0, 5.0];
const BY_SPREAD: [f64; 5] = [0.0, 1.0, 2.0, 4.0, 8.0];

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
    by_spread: bool,
    occurrences: f64,
    two_terms: f64,
    term_and_chunk: f64,
}

impl Rule {
    fn all(by_spread: bool) -> Vec<Self> {
        let values = if by_spread { BY_SPREAD } else { TWO_TERMS };
        let mut rules = Vec::new();
        for occurrences in OCCURRENCES {
            for term_and_chunk in TERM_AND_CHUNK {
                let rule = |two_terms| Self { by_spread, occurrences, two_terms, term_and_chunk };
                rules.extend(values.map(rule));
            }
        }
        rules
    }

    fn factors(&self, case: &Case) -> Factors {
        let Self { by_spread, occurrences, two_terms, term_and_chunk } = *self;
        let two_terms = if by_spread { 1.0 + two_terms * case.spread } else { two_terms };
        Factors { occurrences, two_terms, term_and_chunk }
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
        let spread = spread(&release);
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
        let Factors { occurrences, two_terms, term_and_chunk } = factors;
        let numbers = [occurrences, two_terms, term_and_chunk].into_iter().chain(found).map(number);
        let row = [case.name.to_owned(), number(case.spread), title.to_owned()];
        table.write_record(row.into_iter().chain(numbers))
    };
    for (case, &found) in cases.iter().zip(&worlds) {
        write(case, "worlds", Factors::WORLDS, found)?;
        write(case, "as shipped", Factors::MEASURED, case.judge(Factors::MEASURED)?)?;
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
            let best = (0..rules.len()).min_by(|a, b| score(a).total_cmp(&score(b)));
            let Some(best) = best else { continue };
            let title = if by_spread { "held out, by spread" } else { "held out, fixed" };
            write(case, title, rules[best].factors(case), judged[best][held_out])?;
        }
    }
    Ok(table.flush()?)
}

/// How much the mean lengths of the records of clusters differ: variance divided by the
/// square of the mean, over records.
fn spread(release: &Release) -> f64 {
    let Body::Disassociated(body) = &release.body else { return 0.0 };
    let (mut records, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for cluster in &body.clusters {
        let size = f64::from(cluster.size());
        let mean = occurrences(cluster) / size.max(1.0);
        records += size;
        sum += size * mean;
        squares += size * mean * mean;
    }
    let mean: f64 = sum / records;
    squares / records / (mean * mean) - 1.0
}

/// How many items the chunks of a cluster and those below have, a term counting once.
fn occurrences(cluster: &Cluster) -> f64 {
    let in_bag = |bag: &Bag| -> f64 {
        bag.iter().map(|(items, count)| items.len() as f64 * f64::from(count)).sum()
    };
    let here: f64 = cluster.chunks().iter().map(in_bag).sum();
    let below: f64 = cluster.children().iter().map(occurrences).sum();
    let terms = match cluster {
        Cluster::Simple(leaf) => leaf.term_chunk.len() as f64,
        Cluster::Joint(_) => 0.0,
    };
    here + below + terms
}
