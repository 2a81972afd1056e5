//! `setveil report`.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;
use setveil::io;
use setveil::report::{About, Colour};
use setveil::workflow::{self, Reported, files};

use super::evaluate::MeasureArgs;
use crate::context::{Context, Exit};
use crate::inputs::{KeepArgs, LayoutArgs};

/// Write one self-contained page about a release, for a data protection officer and an analyst
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  setveil report release --original baskets.dat -o report.html\n  \
    setveil report release --original baskets.dat --data-set \"Baskets 2025\" \\\n    \
    --responsible \"A. Smith, data protection\" -o report.html\n\n\
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
    /// The title of the page
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// What the data set is called
    #[arg(long, value_name = "NAME")]
    data_set: Option<String>,
    /// Who answers for the release
    #[arg(long, value_name = "NAME")]
    responsible: Option<String>,
    /// The day on the page; `none` for no date [default: today, in UTC]
    #[arg(long, value_name = "DATE")]
    date: Option<String>,
    /// Say that no item is sensitive: what everybody in a cluster has is then told, and does not
    /// make the verdict amber
    #[arg(long)]
    no_sensitive: bool,
    /// Replace the page if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    keep: KeepArgs,
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
        let options = self.measure.options()?.keep(self.keep.read()?);
        let (release, verdict) = files::verify(&self.release, context)?;
        let original =
            self.original.as_deref().map(|path| self.layout.read(path, context)).transpose()?;
        let original = original.as_ref().map(|input| &input.dataset);
        let about = self.about();
        let reported = workflow::report(&release, &verdict, original, &about, &options, context)?;
        io::write_file(&self.output, reported.page.as_bytes(), self.force)?;
        let answer = Answer { report: &self.output, reported: &reported };
        context.answer(&answer, || {
            let verdict = match reported.colour {
                Colour::Green => context.good("the promise holds"),
                Colour::Amber => context.warn("read the verdict before publishing"),
                Colour::Red => context.bad("do not publish"),
            };
            format!("{}: {verdict}\n", self.output.display())
        })?;
        Ok(if reported.holds { Exit::Done } else { Exit::Violated })
    }

    fn about(&self) -> About {
        let date = match self.date.as_deref() {
            Some("none") => None,
            Some(date) => Some(date.to_owned()),
            None => Some(io::day(SystemTime::now())),
        };
        About::default()
            .title(self.title.clone())
            .data_set(self.data_set.clone())
            .responsible(self.responsible.clone())
            .date(date)
            .no_sensitive(self.no_sensitive)
    }
}
