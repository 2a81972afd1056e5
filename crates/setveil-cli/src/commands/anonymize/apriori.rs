//! `setveil anonymize apriori`.

use setveil::data::{K, M};
use setveil::methods::apriori::Parameters;
use setveil::{Dataset, Method};

use super::MethodArgs;
use super::generalizing::LOSS_AND_NAMES;
use crate::context::Context;
use crate::inputs::HierarchyArgs;

/// Generalise items everywhere alike until every m of them occur k times
#[derive(Debug, clap::Args)]
#[command(after_help = format!("Example:\n  \
    setveil anonymize apriori baskets.dat --hierarchy hierarchy.csv -k 10 -m 2 -o release\n\n\
    {LOSS_AND_NAMES}"))]
pub struct Args {
    #[command(flatten)]
    hierarchy: HierarchyArgs,
    /// How many candidates must remain for whatever an attacker knows
    #[arg(short, default_value = "5")]
    k: K,
    /// How many items of a person an attacker may know
    #[arg(short, default_value = "2")]
    m: M,
}

impl MethodArgs for Args {
    fn method(&self, _: &Dataset, _: &Context) -> anyhow::Result<Method> {
        let parameters = Parameters::new(self.k, self.m, self.hierarchy.read()?)
            .unknown(self.hierarchy.unknown())
            .hide_leaves(self.hierarchy.hide_leaves);
        Ok(Method::Apriori(parameters))
    }
}
