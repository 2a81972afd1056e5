//! What the methods that separate sensitive items have in common.

use setveil::data::P;
use setveil::{Dataset, Release, Result};

use crate::context::{Context, Exit};
use crate::inputs::{DataArgs, TargetArgs};
use crate::sensitive::{SensitiveArgs, remark_bare};

/// What their help says in the end.
pub const PER_ITEM: &str = "\
    The degree holds per sensitive item: a group of p records with p different sensitive\n\
    items tells that everyone in it has a sensitive item, and not which.";

/// Data, release, sensitive items and degree.
#[derive(Debug, clap::Args)]
pub struct SeparatingArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    sensitive: SensitiveArgs,
    /// The privacy degree: each sensitive item belongs to at most 1/p of a group's records
    #[arg(short, default_value = "10")]
    p: P,
}

impl SeparatingArgs {
    /// Reads, groups with `method`, writes and answers.
    pub fn run(
        &self,
        context: &Context,
        method: impl FnOnce(&Dataset, P, Vec<String>) -> Result<Release>,
    ) -> anyhow::Result<Exit> {
        super::run(&self.data, &self.target, context, |data| {
            let labels = self.sensitive.labels(data, self.p, context)?;
            remark_bare(data, &labels, context)?;
            Ok(method(data, self.p, labels)?)
        })
    }
}
