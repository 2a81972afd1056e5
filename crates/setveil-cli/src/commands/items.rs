//! `setveil items`.

use std::path::PathBuf;

use serde::Serialize;
use setveil::io::TableFormat;
use setveil::query::Answer;
use setveil::workflow::{self, QueryOptions, files};

use super::query::{OutputArgs, Prior, describe, remark_on_noise};
use super::reconstruct::Terms;
use crate::context::{Context, Exit};

/// List every item of a release with the number of records that have it: at least, expected, at most
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  setveil items release\n  \
    setveil items release --output items.parquet")]
pub struct Args {
    /// The release directory
    #[arg(value_name = "RELEASE")]
    release: PathBuf,
    /// For the expected number: how often a term of a term chunk occurs in its cluster
    #[arg(long, default_value = "once")]
    terms: Terms,
    /// For the expected support, with `--terms once`: how likely the data sets are that fit the release
    #[arg(long, default_value = "measured")]
    prior: Prior,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
struct Items<'a> {
    items: &'a [Answer],
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        self.output.output.as_deref().map(TableFormat::of).transpose()?;
        let release = files::read(&self.release, context)?;
        remark_on_noise(&release, context);
        let options =
            QueryOptions::default().terms(self.terms.occurrences()).prior(self.prior.prior());
        let answers = workflow::items(&release, &options, context)?;
        match &self.output.output {
            Some(path) => files::write_answers(&answers, path, self.output.force)?,
            None => context.answer(&Items { items: &answers }, || describe(&answers))?,
        }
        Ok(Exit::Done)
    }
}
