//! `setveil itemsets`.

use std::fmt::Write;
use std::path::PathBuf;

use setveil::error::plain;
use setveil::io::{TableFormat, itemset_text};
use setveil::workflow::{self, ItemsetOptions, Rule, files};

use super::query::{OutputArgs, Prior, describe, remark_on_noise};
use super::reconstruct::Terms;
use crate::context::{Context, Exit};

/// List the most frequent itemsets of a release with bounds, and rules between items
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  setveil itemsets release -n 100 --at-least 2\n  \
    setveil itemsets release --rules 0.5 --rules-output rules.csv --output itemsets.csv\n\n\
    Candidates are mined from one possible original, and every one of them is then answered from the release itself. An itemset \
    with an expected support near the last one's may be missing.")]
pub struct Args {
    /// The release directory
    #[arg(value_name = "RELEASE")]
    release: PathBuf,
    /// How many itemsets
    #[arg(short, default_value = "1000")]
    n: usize,
    /// Leave out itemsets with fewer items
    #[arg(long, value_name = "ITEMS", default_value = "1")]
    at_least: usize,
    /// Also list rules whose expected confidence is at least this
    #[arg(long, value_name = "CONFIDENCE", value_parser = confidence)]
    rules: Option<f64>,
    /// Write the rules to this file instead: .csv, .json, .jsonl or .parquet
    #[arg(long, value_name = "FILE", requires = "rules")]
    rules_output: Option<PathBuf>,
    /// How often a term of a term chunk occurs in its cluster
    #[arg(long, default_value = "once")]
    terms: Terms,
    /// For the expected support, with `--terms once`: how likely the data sets are that fit the release
    #[arg(long, default_value = "measured")]
    prior: Prior,
    /// Chooses the possible original that candidates are mined from
    #[arg(long, default_value = "0")]
    seed: u64,
    #[command(flatten)]
    output: OutputArgs,
}

fn confidence(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|c| (0.0..=1.0).contains(c));
    number.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        for path in self.output.output.iter().chain(&self.rules_output) {
            TableFormat::of(path)?;
        }
        let release = files::read(&self.release, context)?;
        remark_on_noise(&release, context);
        let options = ItemsetOptions::default()
            .n(self.n)
            .at_least(self.at_least)
            .confidence(self.rules)
            .terms(self.terms.occurrences())
            .prior(self.prior.prior())
            .seed(self.seed);
        let mut found = workflow::itemsets(&release, &options, context)?;
        if let Some(path) = &self.rules_output {
            files::write_rules(&found.rules, path, self.output.force)?;
            found.rules.clear();
        }
        match &self.output.output {
            Some(path) => files::write_answers(&found.itemsets, path, self.output.force)?,
            None => context
                .answer(&found, || describe(&found.itemsets) + &describe_rules(&found.rules))?,
        }
        Ok(Exit::Done)
    }
}

fn describe_rules(rules: &[Rule]) -> String {
    let mut text = String::new();
    if !rules.is_empty() {
        let _ = writeln!(text, "\n{:>10} {:>12} {:>10}  rule", "at least", "expected", "at most");
    }
    for rule in rules {
        let upper = rule.upper.map_or_else(|| "unknown".to_owned(), |u| format!("{u:.3}"));
        let antecedent = plain(&itemset_text(&rule.antecedent)).to_string();
        let consequent = plain(&itemset_text(&[&rule.consequent])).to_string();
        let _ = writeln!(
            text,
            "{:>10.3} {:>12.3} {:>10}  {antecedent} => {consequent}",
            rule.lower, rule.expected, upper,
        );
    }
    text
}
