//! `setveil evaluate`.

use std::num::NonZeroU32;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use setveil::measure::kl::Queries;
use setveil::measure::{Evaluation, Options};
use setveil::workflow::files;
use setveil::{io, workflow};

use super::reconstruct::DrawArgs;
use crate::context::{Context, Exit};
use crate::inputs::{KeepArgs, OriginalArgs};
use crate::table::table;

/// Measure what a release is still good for, compared with the original
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  setveil evaluate release --original baskets.dat --reconstructions 10"
)]
pub struct Args {
    /// The release directory
    #[arg(value_name = "RELEASE")]
    release: PathBuf,
    #[command(flatten)]
    original: OriginalArgs,
    #[command(flatten)]
    keep: KeepArgs,
    #[command(flatten)]
    measure: MeasureArgs,
}

/// What the measures depend on.
#[derive(Clone, Debug, clap::Args)]
pub struct MeasureArgs {
    /// re looks at the pairs of terms with these ranks, the most frequent has rank 0
    #[arg(long, value_name = "A..B", default_value = "200..220", value_parser = range)]
    re_range: Range<usize>,
    /// Average supports over this many reconstructions
    #[arg(long, value_name = "N", default_value = "1")]
    reconstructions: NonZeroU32,
    /// tkd looks at this many of the most frequent itemsets
    #[arg(long, value_name = "K", default_value = "1000")]
    top: usize,
    /// A hierarchy for tkd_ml2, or the full one of a release that hides the names of its leaves
    #[arg(long, value_name = "FILE")]
    hierarchy: Option<PathBuf>,
    /// kl: how many random group-by queries
    #[arg(long, value_name = "N", default_value_t = Queries::default().count)]
    kl_queries: u32,
    /// kl: how many non-sensitive items each query is grouped by
    #[arg(long, value_name = "R", default_value_t = Queries::default().r)]
    kl_items: u32,
    /// kl: where the random draws of the queries begin
    #[arg(long, value_name = "SEED", default_value_t = Queries::default().seed)]
    kl_seed: u64,
    #[command(flatten)]
    draw: DrawArgs,
}

fn range(text: &str) -> Result<Range<usize>, String> {
    let parse = || {
        let (start, end) = text.split_once("..")?;
        Some(start.trim().parse().ok()?..end.trim().parse().ok()?)
    };
    let bad = || "expected two ranks A..B with A + 1 < B, such as 200..220".to_owned();
    parse().filter(|range: &Range<usize>| range.start + 1 < range.end).ok_or_else(bad)
}

impl MeasureArgs {
    pub fn options(&self) -> anyhow::Result<Options> {
        let hierarchy = self.hierarchy.as_deref().map(io::read_hierarchy).transpose()?;
        Ok(Options::default()
            .top(self.top)
            .re_range(self.re_range.clone())
            .reconstructions(self.reconstructions)
            .seed(self.draw.seed)
            .terms(self.draw.terms())
            .hierarchy(hierarchy.map(Arc::new))
            .kl(Queries { count: self.kl_queries, r: self.kl_items, seed: self.kl_seed }))
    }
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let options = self.measure.options()?.keep(self.keep.read()?);
        let release = files::read(&self.release, context)?;
        let original = self.original.read(context)?;
        let evaluation = workflow::evaluate(&release, &original.dataset, &options, context)?;
        context.answer(&evaluation, || describe(&evaluation))?;
        Ok(Exit::Done)
    }
}

/// One line a measure that applies, with what it means.
fn describe(evaluation: &Evaluation) -> String {
    let values = serde_json::json!(evaluation);
    let rows = setveil::measure::MEANINGS.iter().filter_map(|&(name, better, meaning)| {
        let value = values.get(name)?.as_f64()?;
        Some(vec![name.to_owned(), format!("{value:.4}"), better.to_owned(), meaning.to_owned()])
    });
    let mut text = table(["", "", "", ""], rows, &[0, 2, 3]);
    if let (Some(pairs), Some(occurring)) = (evaluation.re_pairs, evaluation.re_pairs_occurring) {
        text += &match evaluation.re {
            Some(_) => format!("re is a mean over {pairs} pairs, of which {occurring} occur\n"),
            None => format!(
                "re is not known: none of the {pairs} pairs of its terms occurs; try --re-range 0..20\n"
            ),
        };
    }
    text
}
