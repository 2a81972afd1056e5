//! `setveil reconstruct`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::ValueEnum;
use setveil::io::ExportFormat;
use setveil::reconstruct::TermOccurrences;
use setveil::release::Supports;
use setveil::workflow::{ReconstructOptions, files};

use crate::context::{Context, Exit};

/// Draw random data sets that a release could have come from, for ordinary tools
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  setveil reconstruct release -n 10 -o worlds\n\n\
    Every file obeys the whole release: cluster sizes, chunks, shared chunks only where they may \
    go, no empty record. Average what you compute over several of them.")]
pub struct Args {
    /// The release directory
    #[arg(value_name = "RELEASE")]
    release: PathBuf,
    /// How many data sets to draw
    #[arg(short, default_value = "1")]
    n: NonZeroU32,
    /// The directory to write reconstruction-1.dat, reconstruction-2.dat ... to
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// Replace earlier reconstructions in that directory
    #[arg(long)]
    force: bool,
    /// The layout: FIMI cannot hold items with blanks [default: fimi, or jsonl where it must be]
    #[arg(long)]
    format: Option<Layout>,
    #[command(flatten)]
    draw: DrawArgs,
}

/// What decides which data set is drawn.
#[derive(Clone, Debug, clap::Args)]
pub struct DrawArgs {
    /// Chooses the random numbers; the same seed gives the same data sets
    #[arg(long, default_value = "0")]
    pub seed: u64,
    /// How often a term of a term chunk is put into its cluster
    #[arg(long, default_value = "once")]
    pub terms: Terms,
}

/// The layouts of reconstructed data.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Layout {
    /// One record a line, items separated by a blank
    Fimi,
    /// One JSON array of strings a line
    Jsonl,
    /// One record a line, items separated by commas
    Csv,
    /// A table with the columns record and item
    LongCsv,
    /// A column of lists of items
    Parquet,
}

/// How often a term of a term chunk occurs.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Terms {
    /// Once, or as few times as leave no record empty
    Once,
    /// Fewer than k times
    BelowK,
    /// Any number of times: everything the format allows is equally likely
    Any,
}

impl DrawArgs {
    pub fn terms(&self) -> TermOccurrences {
        self.terms.occurrences()
    }
}

impl Terms {
    pub fn occurrences(self) -> TermOccurrences {
        match self {
            Self::Once => TermOccurrences::Once,
            Self::BelowK => TermOccurrences::BelowK,
            Self::Any => TermOccurrences::Any,
        }
    }
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let release = files::read(&self.release, context)?;
        if release.manifest.guarantee.supports == Supports::Noisy {
            context.remark(
                "the counts are noisy: the data sets are the published records as they are, and \
                 not possible originals",
            );
        }
        let (seed, terms) = (self.draw.seed, self.draw.terms());
        let options = ReconstructOptions::default().n(self.n).seed(seed).terms(terms);
        let layout = self.format.map(|layout| match layout {
            Layout::Fimi => ExportFormat::Fimi,
            Layout::Jsonl => ExportFormat::JsonLines,
            Layout::Csv => ExportFormat::BasketCsv,
            Layout::LongCsv => ExportFormat::LongCsv,
            Layout::Parquet => ExportFormat::Parquet,
        });
        let output = &self.output;
        let answer = files::reconstruct(&release, &options, layout, output, self.force, context)?;
        context.answer(&answer, || {
            let mut text = String::new();
            for file in &answer.files {
                text += &format!("{}\n", file.display());
            }
            text
        })?;
        Ok(Exit::Done)
    }
}
