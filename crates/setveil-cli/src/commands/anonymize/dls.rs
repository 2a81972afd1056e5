//! `setveil anonymize dls`.

use setveil::data::{K, M};
use setveil::methods::disassociation::Parameters;
use setveil::methods::dls::anonymize;

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
    /// How many candidates must remain for whatever an attacker knows
    #[arg(short, default_value = "5")]
    k: K,
    /// How many items of a person an attacker may know
    #[arg(short, default_value = "2")]
    m: M,
    /// The most records of a cluster, at least 2k [default: 50, or 2k if that is more]
    #[arg(long, value_name = "N")]
    max_cluster_size: Option<usize>,
    /// Do not let clusters share chunks
    #[arg(long)]
    no_refine: bool,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let mut parameters = Parameters::new(self.k, self.m);
        parameters.max_cluster_size = self.max_cluster_size;
        parameters.refine = !self.no_refine;
        super::run(&self.data, &self.target, context, |data| {
            Ok(anonymize(data, &parameters, context)?)
        })
    }
}
