//! `setveil anonymize partition`.

use serde_json::json;
use setveil::data::K;
use setveil::methods::partition::{Parameters, run};

use super::Details;
use crate::context::{Context, Exit};
use crate::inputs::{DataArgs, HierarchyArgs, TargetArgs};

/// Generalise items until every record equals at least k - 1 others
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    setveil hierarchy balanced baskets.dat --fanout 5 -o hierarchy.csv\n  \
    setveil anonymize partition baskets.dat --hierarchy hierarchy.csv -k 10 -o release\n\n\
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
    /// How many records must be alike
    #[arg(short, default_value = "5")]
    k: K,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let parameters = Parameters::new(self.k)
            .unknown(self.hierarchy.unknown())
            .hide_leaves(self.hierarchy.hide_leaves);
        super::run_with_details(&self.data, &self.target, context, |data| {
            let outcome = run(data, self.hierarchy.read()?, &parameters, context)?;
            Ok((outcome.release, Details::from_iter([("ncp".to_owned(), json!(outcome.ncp))])))
        })
    }
}
