//! `setveil anonymize cahd`.

use setveil::data::Alpha;
use setveil::methods::cahd::{Parameters, anonymize};

use super::separating::{PER_ITEM, SeparatingArgs};
use crate::context::{Context, Exit};

/// Keep every item, hide who of a group of similar records has a sensitive one
#[derive(Debug, clap::Args)]
#[command(after_help = format!("Example:\n  \
    setveil anonymize cahd baskets.dat --sensitive sensitive.txt -p 10 -o release\n\n{PER_ITEM}"))]
pub struct Args {
    #[command(flatten)]
    common: SeparatingArgs,
    /// Look for similar records among alpha * p on either side
    #[arg(long, default_value = "3")]
    alpha: Alpha,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        self.common.run(context, |data, p, labels| {
            let parameters = Parameters { alpha: self.alpha, ..Parameters::new(p, labels) };
            anonymize(data, &parameters, context)
        })
    }
}
