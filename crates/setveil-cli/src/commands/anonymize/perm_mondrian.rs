//! `setveil anonymize perm-mondrian`.

use setveil::data::P;
use setveil::methods::perm_mondrian::{Parameters, anonymize};

use crate::context::{Context, Exit};
use crate::inputs::{DataArgs, TargetArgs};
use crate::sensitive::{SensitiveArgs, remark_bare};

/// As cahd, with groups from top-down splits: the baseline to compare it with
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  setveil anonymize perm-mondrian baskets.dat --sensitive sensitive.txt -p 10 -o release\n\n\
        The degree holds per sensitive item: a group of p records with p different sensitive\n\
        items tells that everyone in it has a sensitive item, and not which."
)]
pub struct Args {
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

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        super::run(&self.data, &self.target, context, |data| {
            let labels = self.sensitive.labels(data, self.p, context)?;
            remark_bare(data, &labels, context)?;
            Ok(anonymize(data, &Parameters::new(self.p, labels), context)?)
        })
    }
}
