//! `setveil query`.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use serde::Serialize;
use setveil::Release;
use setveil::error::plain;
use setveil::io::TableFormat;
use setveil::query::{Answer, parse_itemset};
use setveil::release::Supports;
use setveil::workflow::{self, QueryOptions, files};

use super::reconstruct::Terms;
use crate::context::{Context, Exit};

/// Ask in how many records items stand together: lower bound, expected support, upper bound
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  setveil query release \"itunes,flu\"\n  \
    setveil query release --file itemsets.txt --output answers.csv\n\n\
    The original support is never outside the bounds; a release with noise has none. Items with a comma go in double quotes: \
    '\"new york, hotels\",flu'.")]
pub struct Args {
    /// The release directory
    #[arg(value_name = "RELEASE")]
    release: PathBuf,
    /// Itemsets, their items separated by commas
    #[arg(value_name = "ITEMSET", required_unless_present = "file")]
    itemsets: Vec<String>,
    /// A file with one itemset a line
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// For the expected support: how often a term of a term chunk occurs in its cluster
    #[arg(long, default_value = "once")]
    terms: Terms,
    /// For the expected support, with `--terms once`: how likely the data sets are that fit the release
    #[arg(long, default_value = "measured")]
    prior: Prior,
    #[command(flatten)]
    output: OutputArgs,
}

/// Where many answers go.
#[derive(Debug, clap::Args)]
pub struct OutputArgs {
    /// Write the answers to this file instead: .csv, .json, .jsonl or .parquet
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace an earlier file of that name
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// How likely the data sets are that fit a release.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Prior {
    /// As measured on other data: rare items of a cluster gather in few records
    Measured,
    /// All equally: the mean over what `reconstruct` draws
    Worlds,
}

impl Prior {
    pub fn prior(self) -> setveil::query::Prior {
        match self {
            Self::Measured => setveil::query::Prior::Measured,
            Self::Worlds => setveil::query::Prior::Worlds,
        }
    }
}

#[derive(Serialize)]
struct Answers {
    answers: Vec<Answer>,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        self.output.output.as_deref().map(TableFormat::of).transpose()?;
        let mut itemsets = Vec::new();
        for text in &self.itemsets {
            itemsets.push(parse_itemset(text)?);
        }
        if let Some(file) = &self.file {
            let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
            for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
                let place = || format!("{}:{}", file.display(), i + 1);
                itemsets.push(parse_itemset(line).with_context(place)?);
            }
            ensure!(!itemsets.is_empty(), "{}: there is no itemset in it", file.display());
        }
        let release = files::read(&self.release, context)?;
        remark_on_noise(&release, context);
        let options =
            QueryOptions::default().terms(self.terms.occurrences()).prior(self.prior.prior());
        let answers = workflow::query(&release, &itemsets, &options, context)?;
        remark_on_unknown(&answers, context);
        if let Some(path) = &self.output.output {
            files::write_answers(&answers, path, self.output.force)?;
            return Ok(Exit::Done);
        }
        match &answers[..] {
            [answer] if self.file.is_none() => {
                context.answer(answer, || describe(std::slice::from_ref(answer)))?;
            }
            _ => {
                let all = Answers { answers };
                context.answer(&all, || describe(&all.answers))?;
            }
        }
        Ok(Exit::Done)
    }
}

/// Says which items the release does not have.
fn remark_on_unknown(answers: &[Answer], context: &Context) {
    let mut unknown: Vec<&String> = answers.iter().flat_map(|answer| &answer.unknown).collect();
    unknown.sort_unstable();
    unknown.dedup();
    if !unknown.is_empty() {
        let shown: Vec<String> = unknown.iter().take(5).map(|item| format!("{item:?}")).collect();
        let more = if unknown.len() > 5 { ", ..." } else { "" };
        let (count, shown) = (unknown.len(), shown.join(", "));
        let items = if count == 1 { "item is" } else { "items are" };
        context.remark(&format!("{count} {items} not in the release: {shown}{more}"));
    }
}

/// Says what noise means for the answers.
pub fn remark_on_noise(release: &Release, context: &Context) {
    if release.manifest.guarantee.supports == Supports::Noisy {
        context.remark(
            "the counts are noisy: the expected support is an estimate, and nothing bounds \
             the original one",
        );
    }
}

/// One line an answer.
pub fn describe(answers: &[Answer]) -> String {
    let mut text = format!("{:>10} {:>12} {:>10}  itemset\n", "at least", "expected", "at most");
    for answer in answers {
        let upper = answer.upper.map_or_else(|| "unknown".to_owned(), |u| u.to_string());
        let _ = writeln!(
            text,
            "{:>10} {:>12.1} {:>10}  {}",
            answer.lower,
            answer.expected,
            upper,
            plain(answer.itemset.join(", "))
        );
    }
    text
}
