//! `setveil anonymize cahd`.

use setveil::data::{Alpha, P};
use setveil::methods::cahd::{Parameters, anonymize};

use crate::context::{Context, Exit};
use crate::inputs::{DataArgs, TargetArgs};
use crate::sensitive::{SensitiveArgs, remark_bare};

/// Keep every item, hide who of a group of similar records has a sensitive one
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  setveil anonymize cahd baskets.dat --sensitive sensitive.txt -p 10 -o release\n\n\
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
    /// Look for similar records among alpha * p on either side
    #[arg(long, default_value = "3")]
    alpha: Alpha,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        super::run(&self.data, &self.target, context, |data| {
            let labels = self.sensitive.labels(data, self.p, context)?;
            remark_bare(data, &labels, context)?;
            let mut parameters = Parameters::new(self.p, labels);
            parameters.alpha = self.alpha;
            Ok(anonymize(data, &parameters, context)?)
        })
    }
}
