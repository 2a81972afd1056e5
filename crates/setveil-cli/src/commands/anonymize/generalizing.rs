//! What the methods that publish ancestors have in common.

use serde_json::json;
use setveil::methods::generalization::{Outcome, Recoding};
use setveil::{Dataset, Hierarchy, Result};

use super::Details;
use crate::context::{Context, Exit};
use crate::inputs::{DataArgs, HierarchyArgs, TargetArgs};

/// What their help says in the end.
pub const LOSS_AND_NAMES: &str = "\
    The answer includes the information loss `ncp` (0 nothing lost, 1 everything).\n\
    The hierarchy is published with the release: a hierarchy made from the data names every\n\
    item in it. See --hide-leaves.";

/// Data, release and hierarchy.
#[derive(Debug, clap::Args)]
pub struct GeneralizingArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    hierarchy: HierarchyArgs,
}

impl GeneralizingArgs {
    /// Reads, recodes with `method`, writes, and answers with the loss.
    pub fn run(
        &self,
        context: &Context,
        method: impl FnOnce(&Dataset, Hierarchy, Recoding) -> Result<Outcome>,
    ) -> anyhow::Result<Exit> {
        super::run_with_details(&self.data, &self.target, context, |data| {
            let outcome = method(data, self.hierarchy.read()?, self.hierarchy.recoding())?;
            Ok((outcome.release, Details::from_iter([("ncp".to_owned(), json!(outcome.ncp))])))
        })
    }
}
