//! `setveil anonymize apriori`.

use serde_json::json;
use setveil::data::{K, M};
use setveil::methods::apriori::{Parameters, run};

use super::Details;
use crate::context::{Context, Exit};
use crate::inputs::{DataArgs, HierarchyArgs, TargetArgs};

/// Generalise items everywhere alike until every m of them occur k times
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    setveil anonymize apriori baskets.dat --hierarchy hierarchy.csv -k 10 -m 2 -o release\n\n\
    The answer includes the information loss `ncp` (0 nothing lost, 1 everything).\n\
    The hierarchy is published with the release: a hierarchy made from the data names every \n\
    item in it. See --hide-leaves.")]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    hierarchy: HierarchyArgs,
    /// How many candidates must remain for whatever an attacker knows
    #[arg(short, default_value = "5")]
    k: K,
    /// How many items of a person an attacker may know
    #[arg(short, default_value = "2")]
    m: M,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let parameters = Parameters::new(self.k, self.m)
            .unknown(self.hierarchy.unknown())
            .hide_leaves(self.hierarchy.hide_leaves);
        super::run_with_details(&self.data, &self.target, context, |data| {
            let outcome = run(data, self.hierarchy.read()?, &parameters, context)?;
            Ok((outcome.release, Details::from_iter([("ncp".to_owned(), json!(outcome.ncp))])))
        })
    }
}
