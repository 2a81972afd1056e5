//! `setveil query`.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use serde::Serialize;
use setveil::error::plain;
use setveil::query::{Answer, parse_itemset};
use setveil::release::Supports;
use setveil::workflow::{self, QueryOptions, files};

use super::reconstruct::Terms;
use crate::context::{Context, Exit};

/// Ask in how many records items stand together: lower bound, expected support, upper bound
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  setveil query release \"itunes,flu\"\n  \
    setveil query release --file itemsets.txt --json\n\n\
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
}

#[derive(Serialize)]
struct Answers {
    answers: Vec<Answer>,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
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
        if release.manifest.guarantee.supports == Supports::Noisy {
            context.remark(
                "the counts are noisy: the expected support is an estimate, and nothing bounds \
                 the original one",
            );
        }
        let options = QueryOptions::default().terms(self.terms.occurrences());
        let answers = workflow::query(&release, &itemsets, &options, context)?;
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

fn describe(answers: &[Answer]) -> String {
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
