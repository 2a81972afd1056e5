//! `setveil evaluate`.

use std::fmt::Write;
use std::path::PathBuf;

use setveil::io;
use setveil::measure::kl::Queries;
use setveil::measure::{Options, evaluate};
use setveil::methods::members::members;

use crate::context::{Context, Exit};
use crate::inputs::OriginalArgs;

/// Measure what a release is still good for, compared with the original
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  setveil evaluate release --original baskets.dat")]
pub struct Args {
    /// The release directory
    #[arg(value_name = "RELEASE")]
    release: PathBuf,
    #[command(flatten)]
    original: OriginalArgs,
    /// kl: how many random group-by queries
    #[arg(long, value_name = "N", default_value_t = Queries::default().count)]
    kl_queries: u32,
    /// kl: how many non-sensitive items each query is grouped by
    #[arg(long, value_name = "R", default_value_t = Queries::default().r)]
    kl_items: u32,
    /// kl: where the random draws of the queries begin
    #[arg(long, value_name = "SEED", default_value_t = Queries::default().seed)]
    kl_seed: u64,
    /// The full hierarchy, for a release that hides the names of its leaves
    #[arg(long, value_name = "FILE")]
    hierarchy: Option<PathBuf>,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let release = io::read_release(&self.release)?;
        let original = self.original.read(context)?;
        let hierarchy = self.hierarchy.as_deref().map(io::read_hierarchy).transpose()?;
        let options = Options {
            kl: Queries { count: self.kl_queries, r: self.kl_items, seed: self.kl_seed },
            members: members(&release, &original.dataset, context)?,
            hierarchy,
        };
        let evaluation = evaluate(&release, &original.dataset, &options, context)?;
        context.answer(&evaluation, || {
            let mut text = String::new();
            if let serde_json::Value::Object(measures) = serde_json::json!(evaluation) {
                for (name, value) in measures.iter().filter(|(_, v)| !v.is_null()) {
                    let _ = writeln!(text, "{name:<12} {value}");
                }
            }
            text
        })?;
        Ok(Exit::Done)
    }
}
