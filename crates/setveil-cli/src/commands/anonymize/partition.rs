//! `setveil anonymize partition`.

use setveil::data::K;
use setveil::methods::partition::{Parameters, run};

use super::generalizing::{GeneralizingArgs, LOSS_AND_NAMES};
use crate::context::{Context, Exit};

/// Generalise items until every record equals at least k - 1 others
#[derive(Debug, clap::Args)]
#[command(after_help = format!("Example:\n  \
    setveil hierarchy balanced baskets.dat --fanout 5 -o hierarchy.csv\n  \
    setveil anonymize partition baskets.dat --hierarchy hierarchy.csv -k 10 -o release\n\n\
    {LOSS_AND_NAMES}"))]
pub struct Args {
    #[command(flatten)]
    common: GeneralizingArgs,
    /// How many records must be alike
    #[arg(short, default_value = "5")]
    k: K,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        self.common.run(context, |data, hierarchy, recoding| {
            run(data, hierarchy, &Parameters { k: self.k, recoding }, context)
        })
    }
}
