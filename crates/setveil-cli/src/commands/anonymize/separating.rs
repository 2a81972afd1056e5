//! What the methods that separate sensitive items have in common.

use setveil::Dataset;
use setveil::data::P;

use crate::context::Context;
use crate::sensitive::{SensitiveArgs, SensitiveOnlyArg};

/// What their help says in the end.
pub const PER_ITEM: &str = "\
    The degree holds per sensitive item: a group of p records with p different sensitive\n\
    items tells that everyone in it has a sensitive item, and not which.";

/// Sensitive items and degree.
#[derive(Debug, clap::Args)]
pub struct SeparatingArgs {
    #[command(flatten)]
    sensitive: SensitiveArgs,
    /// The privacy degree: each sensitive item belongs to at most 1/p of a group's records
    #[arg(short, default_value = "10")]
    pub p: P,
    /// Records with sensitive items only, which no group can hide
    #[arg(long, value_enum, default_value = "refuse")]
    pub sensitive_only: SensitiveOnlyArg,
}

impl SeparatingArgs {
    /// The labels of the sensitive items.
    pub fn labels(&self, data: &Dataset, context: &Context) -> anyhow::Result<Vec<String>> {
        self.sensitive.labels(data, self.p, context)
    }
}
