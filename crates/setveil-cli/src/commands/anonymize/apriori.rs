//! `setveil anonymize apriori`.

use setveil::data::{K, M};
use setveil::methods::apriori::{Parameters, run};

use super::generalizing::{GeneralizingArgs, LOSS_AND_NAMES};
use crate::context::{Context, Exit};

/// Generalise items everywhere alike until every m of them occur k times
#[derive(Debug, clap::Args)]
#[command(after_help = format!("Example:\n  \
    setveil anonymize apriori baskets.dat --hierarchy hierarchy.csv -k 10 -m 2 -o release\n\n\
    {LOSS_AND_NAMES}"))]
pub struct Args {
    #[command(flatten)]
    common: GeneralizingArgs,
    /// How many candidates must remain for whatever an attacker knows
    #[arg(short, default_value = "5")]
    k: K,
    /// How many items of a person an attacker may know
    #[arg(short, default_value = "2")]
    m: M,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        self.common.run(context, |data, hierarchy, recoding| {
            let parameters = Parameters { recoding, ..Parameters::new(self.k, self.m) };
            run(data, hierarchy, &parameters, context)
        })
    }
}
