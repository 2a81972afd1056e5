//! `setveil report`.

use std::path::{Path, PathBuf};

use serde::Serialize;
use setveil::io;
use setveil::workflow::{self, Reported, files};

use super::evaluate::MeasureArgs;
use crate::context::{Context, Exit};
use crate::inputs::LayoutArgs;

/// Write one self-contained page about a release, for a data protection officer and an analyst
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  setveil report release --original baskets.dat -o report.html\n\n\
    Without --original the page holds nothing that is not in the release. The exit code is 1 if \
    the guarantee does not hold."
)]
pub struct Args {
    /// The release directory
    #[arg(value_name = "RELEASE")]
    release: PathBuf,
    /// The original data, for risk before and after and for utility
    #[arg(long, value_name = "DATA")]
    original: Option<PathBuf>,
    #[command(flatten)]
    layout: LayoutArgs,
    /// The page to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Replace the page if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    measure: MeasureArgs,
}

#[derive(Serialize)]
struct Answer<'a> {
    report: &'a Path,
    #[serde(flatten)]
    reported: &'a Reported,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        io::check_file(&self.output, self.force)?;
        let options = self.measure.options()?;
        let (release, verdict) = files::verify(&self.release, context)?;
        let original =
            self.original.as_deref().map(|path| self.layout.read(path, context)).transpose()?;
        let original = original.as_ref().map(|input| &input.dataset);
        let reported = workflow::report(&release, &verdict, original, &options, context)?;
        io::write_file(&self.output, reported.page.as_bytes(), self.force)?;
        let answer = Answer { report: &self.output, reported: &reported };
        context.answer(&answer, || format!("{}\n", self.output.display()))?;
        Ok(if reported.holds { Exit::Done } else { Exit::Violated })
    }
}
