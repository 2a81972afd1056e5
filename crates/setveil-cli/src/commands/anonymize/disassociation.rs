//! `setveil anonymize disassociation`.

use setveil::data::{K, M};
use setveil::methods::disassociation::{Parameters, anonymize};

use crate::context::{Context, Exit};
use crate::inputs::{DataArgs, TargetArgs};

/// Keep every item, hide which rare combinations occurred together
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  setveil anonymize disassociation baskets.dat -k 5 -m 2 -o release"
)]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    target: TargetArgs,
    /// How many candidates must remain for whatever an attacker knows
    #[arg(short, default_value = "5")]
    k: K,
    /// How many items of a person an attacker may know
    #[arg(short, default_value = "2")]
    m: M,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let parameters = Parameters::new(self.k, self.m);
        super::run(&self.data, &self.target, context, |data| {
            Ok(anonymize(data, &parameters, context)?)
        })
    }
}
