//! `setveil report`.

use std::path::{Path, PathBuf};

use serde::Serialize;
use setveil::measure::evaluate;
use setveil::profile::profile;
use setveil::report::{Measured, Risk, report};
use setveil::{Dataset, Release, io, measure};

use super::evaluate::MeasureArgs;
use super::verify::check;
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
    bytes: usize,
    holds: bool,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        io::check_file(&self.output, self.force)?;
        let options = self.measure.options()?;
        let (release, verdict) = check(&self.release)?;
        let measured = match &self.original {
            Some(path) => {
                let original = self.layout.read(path, context)?.dataset;
                Some(measured(&release, &original, &options, context)?)
            }
            None => None,
        };
        let page = report(&release, &verdict, measured.as_ref());
        io::write_file(&self.output, page.as_bytes(), self.force)?;
        let answer = Answer { report: &self.output, bytes: page.len(), holds: verdict.holds };
        context.answer(&answer, || format!("{}\n", self.output.display()))?;
        Ok(if verdict.holds { Exit::Done } else { Exit::Violated })
    }
}

/// Everything that needs the original.
pub fn measured(
    release: &Release,
    original: &Dataset,
    options: &measure::Options,
    context: &Context,
) -> anyhow::Result<Measured> {
    let evaluation = evaluate(release, original, options, context)?;
    let profile = profile(original, &Default::default(), context);
    let known = profile.reidentification.len() as u32;
    let after = measure::candidates(release, original, known, options.seed);
    let risk = profile.reidentification.iter().zip(after).map(|(before, after)| Risk {
        known: before.known,
        before: before.probability,
        unique: before.unique,
        after,
    });
    Ok(Measured {
        size: (profile.records, profile.items, profile.occurrences),
        evaluation,
        risk: risk.collect(),
    })
}
