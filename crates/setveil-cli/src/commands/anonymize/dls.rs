//! `setveil anonymize dls`.

use setveil::{Dataset, Method};

use super::MethodArgs;
use super::disassociation::DisassociationArgs;
use crate::context::Context;

/// As disassociation, but drop single occurrences to keep items together
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    setveil anonymize dls baskets.dat -k 10 -m 2 --max-cluster-size 200 -o release\n\n\
    Counts in the release are lower bounds: the original has at least as many.")]
pub struct Args {
    #[command(flatten)]
    method: DisassociationArgs,
}

impl MethodArgs for Args {
    fn method(&self, _: &Dataset, _: &Context) -> anyhow::Result<Method> {
        Ok(Method::Dls(self.method.parameters()?))
    }
}
