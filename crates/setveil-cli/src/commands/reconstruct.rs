//! `setveil reconstruct`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;
use setveil::io::{self, ExportFormat};
use setveil::reconstruct::{Options, TermOccurrences, reconstruct_many};
use setveil::release::Supports;

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
        match self.terms {
            Terms::Once => TermOccurrences::Once,
            Terms::BelowK => TermOccurrences::BelowK,
            Terms::Any => TermOccurrences::Any,
        }
    }
}

#[derive(Serialize)]
struct Answer {
    files: Vec<PathBuf>,
    records: usize,
    items: usize,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let release = io::read_release(&self.release)?;
        if release.manifest.guarantee.supports == Supports::Noisy {
            context.remark(
                "the counts are noisy: the data sets are the published records as they are, and \
                 not possible originals",
            );
        }
        let options = Options { seed: self.draw.seed, terms: self.draw.terms() };
        let sets = reconstruct_many(&release, options, self.n.get(), context)?;
        let format = match self.format {
            Some(Layout::Fimi) => ExportFormat::Fimi,
            Some(Layout::Jsonl) => ExportFormat::JsonLines,
            None => ExportFormat::for_labels(release.body.vocabulary()),
        };
        let files = io::write_datasets(&sets, &self.output, "reconstruction", format, self.force)?;
        let answer = Answer { files, records: sets[0].len(), items: sets[0].item_count() };
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
