//! `setveil anonymize partition`.

use setveil::data::K;
use setveil::methods::partition::Parameters;
use setveil::{Dataset, Method};

use super::MethodArgs;
use super::generalizing::LOSS_AND_NAMES;
use crate::context::Context;
use crate::inputs::HierarchyArgs;

/// Generalise items until every record equals at least k - 1 others
#[derive(Debug, clap::Args)]
#[command(after_help = format!("Example:\n  \
    setveil hierarchy balanced baskets.dat --fanout 5 -o hierarchy.csv\n  \
    setveil anonymize partition baskets.dat --hierarchy hierarchy.csv -k 10 -o release\n\n\
    {LOSS_AND_NAMES}"))]
pub struct Args {
    #[command(flatten)]
    hierarchy: HierarchyArgs,
    /// How many records must be alike
    #[arg(short, default_value = "5")]
    k: K,
}

impl MethodArgs for Args {
    fn method(&self, _: &Dataset, _: &Context) -> anyhow::Result<Method> {
        let parameters = Parameters::new(self.k, self.hierarchy.read()?)
            .unknown(self.hierarchy.unknown())
            .hide_leaves(self.hierarchy.hide_leaves);
        Ok(Method::Partition(parameters))
    }
}
