//! A measured prior that was chosen without the data set that it is judged on: for each data set the one
//! that does best on the other five.
//!
//! First the factors of rare items, by two rules. *Fixed*: the same factors for every release. *By lengths*: factors
//! grow with how much the mean lengths of the records of leaves differ, which a release
//! shows ([`spread`](setveil::worlds::spread)); by how much is chosen. What is best is the least mean of three ratios to
//! equally likely worlds: relative error, root mean square error, calibration error, all of random pairs.
//!
//! Then, with these factors, how far what is seen of a pair is followed, and how carefully. That
//! matters for pairs that are seen at all, so the errors of frequent pairs and of those
//! that are not rare count too.
//!
//! Among equals the most careful counts: the one that takes back most.

use std::path::Path;

use rayon::prelude::*;
use setveil::query::Factors;

use super::case::{ALL, Case, Errors, OF_RANDOM};
use super::{Args, DATA};

const OCCURRENCES: [f64; 3] = [1.0, 1.15, 1.3];
const TERM_AND_CHUNK: [f64; 3] = [1.0, 1.3, 1.7];
const TWO_TERMS: [f64; 5] = [1.0, 1.5, 2.0, 3.0, 5.0];
/// The same two for rules by lengths: what the spread is multiplied by.
const TERM_AND_CHUNK_BY_LENGTHS: [f64; 5] = [0.0, 0.4, 0.8, 1.2, 1.6];
const TWO_TERMS_BY_LENGTHS: [f64; 5] = [0.0, 1.0, 2.0, 3.0, 4.0];
/// Powers of how much more often than by chance a pair is seen.
const SEEN: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
/// What is added to both sides of that comparison, the most careful first.
const CAUTION: [f64; 4] = [8.0, 4.0, 2.0, 1.0];

/// How factors are chosen for a release.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rule {
    by_lengths: bool,
    occurrences: f64,
    two_terms: f64,
    term_and_chunk: f64,
    seen: f64,
    caution: f64,
}

impl Rule {
    /// All without what is seen of pairs.
    fn all(by_lengths: bool) -> Vec<Self> {
        let (chunks, terms) = match by_lengths {
            false => (&TERM_AND_CHUNK[..], &TWO_TERMS[..]),
            true => (&TERM_AND_CHUNK_BY_LENGTHS[..], &TWO_TERMS_BY_LENGTHS[..]),
        };
        let Factors { seen, caution, .. } = Factors::WORLDS;
        let mut rules = Vec::new();
        for occurrences in OCCURRENCES {
            for &term_and_chunk in chunks {
                for &two_terms in terms {
                    rules.push(Self {
                        by_lengths,
                        occurrences,
                        two_terms,
                        term_and_chunk,
                        seen,
                        caution,
                    });
                }
            }
        }
        rules
    }

    /// The same with every way to follow what is seen of pairs.
    fn with_pairs(self) -> Vec<Self> {
        let with = |seen: f64| CAUTION.map(|caution| Self { seen, caution, ..self });
        SEEN.into_iter().flat_map(with).collect()
    }

    fn factors(&self, case: &Case) -> Factors {
        let &Self { occurrences, two_terms, term_and_chunk, seen, caution, .. } = self;
        let rare = match self.by_lengths {
            true => Factors::by_lengths(two_terms, term_and_chunk, case.spread),
            false => Factors { two_terms, term_and_chunk, ..Factors::WORLDS },
        };
        Factors { occurrences, seen, caution, ..rare }
    }
}

/// Rules, and what they give for each case.
struct Tried {
    rules: Vec<Rule>,
    errors: Vec<Vec<Errors>>,
}

impl Tried {
    fn new(rules: Vec<Rule>, cases: &[Case], all: bool) -> anyhow::Result<Self> {
        let of_rule =
            |rule: &Rule| cases.iter().map(|case| case.judge(rule.factors(case), all)).collect();
        let errors = rules.par_iter().map(of_rule).collect::<anyhow::Result<_>>()?;
        Ok(Self { rules, errors })
    }

    /// The rule that does best on all cases but one, by the sum of ratios to `worlds`: the first of
    /// those that are as good as the best but for rounding.
    fn best(&self, worlds: &[Errors], held_out: usize, counted: std::ops::Range<usize>) -> usize {
        let score = |errors: &Vec<Errors>| -> f64 {
            let others = (0..worlds.len()).filter(|&case| case != held_out);
            let ratio = |case: usize, i: usize| errors[case][i] / worlds[case][i].max(1e-9);
            others.map(|case| counted.clone().map(|i| ratio(case, i)).sum::<f64>()).sum()
        };
        let scores: Vec<f64> = self.errors.iter().map(score).collect();
        let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
        scores.iter().position(|&score| score <= least + 1e-9).unwrap_or(0)
    }
}

/// The table that is written.
struct Table(csv::Writer<std::fs::File>);

impl Table {
    fn new(path: &Path) -> anyhow::Result<Self> {
        let mut table = csv::Writer::from_path(path)?;
        let first = ["data", "spread", "rule", "occurrences", "two_terms", "term_and_chunk"];
        let errors = ["relative_error", "rmse", "calibration_error", "frequent", "not_rare"];
        table.write_record(first.iter().chain(&["seen", "caution"]).chain(&errors))?;
        Ok(Self(table))
    }

    fn write(&mut self, case: &Case, title: &str, factors: Factors) -> anyhow::Result<()> {
        let number = |x: f64| format!("{x:.3}");
        let Factors { occurrences, two_terms, term_and_chunk, seen, caution, .. } = factors;
        let chosen = [occurrences, two_terms, term_and_chunk, seen, caution];
        let numbers = chosen.into_iter().chain(case.judge(factors, true)?).map(number);
        let row = [case.name.to_owned(), number(case.spread), title.to_owned()];
        Ok(self.0.write_record(row.into_iter().chain(numbers))?)
    }
}

pub(super) fn run(args: &Args, output: &Path) -> anyhow::Result<()> {
    let cases: Vec<Case> =
        DATA.iter().map(|name| Case::new(name, args)).collect::<anyhow::Result<_>>()?;
    let mut table = Table::new(&output.join("held-out.csv"))?;
    let worlds: Vec<Errors> = cases
        .iter()
        .map(|case| case.judge(Factors::WORLDS, true))
        .collect::<anyhow::Result<_>>()?;
    for case in &cases {
        table.write(case, "worlds", Factors::WORLDS)?;
        table.write(case, "in use", case.in_use())?;
        table.write(case, "in use, without pairs", Factors { seen: 0.0, ..case.in_use() })?;
    }
    for (by_lengths, title) in [(false, "held out, fixed"), (true, "held out, by lengths")] {
        let tried = Tried::new(Rule::all(by_lengths), &cases, false)?;
        // Often the same rule is best without either of two data sets: what it gives is computed once.
        let mut known: Vec<(Rule, Tried)> = Vec::new();
        for (held_out, case) in cases.iter().enumerate() {
            let rule = tried.rules[tried.best(&worlds, held_out, OF_RANDOM)];
            table.write(case, &format!("{title}, without pairs"), rule.factors(case))?;
            let at = match known.iter().position(|(other, _)| *other == rule) {
                Some(at) => at,
                None => {
                    known.push((rule, Tried::new(rule.with_pairs(), &cases, true)?));
                    known.len() - 1
                }
            };
            let with_pairs = &known[at].1;
            let rule = with_pairs.rules[with_pairs.best(&worlds, held_out, ALL)];
            table.write(case, title, rule.factors(case))?;
        }
    }
    Ok(table.0.flush()?)
}
