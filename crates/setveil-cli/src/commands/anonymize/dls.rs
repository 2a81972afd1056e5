//! `setveil anonymize dls`.

use setveil::methods::dls::anonymize;

use super::disassociation::DisassociationArgs;
use crate::context::{Context, Exit};
use crate::inputs::{DataArgs, TargetArgs};

/// As disassociation, but drop single occurrences to keep items together
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    setveil anonymize dls baskets.dat -k 10 -m 2 --max-cluster-size 200 -o release\n\n\
    Counts in the release are lower bounds: the original has at least as many.")]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    method: DisassociationArgs,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let parameters = self.method.parameters()?;
        super::run(&self.data, &self.target, context, |data| {
            Ok(anonymize(data, &parameters, context)?)
        })
    }
}
