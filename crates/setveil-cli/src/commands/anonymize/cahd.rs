//! `setveil anonymize cahd`.

use setveil::data::Alpha;
use setveil::methods::cahd::Parameters;
use setveil::{Dataset, Method};

use super::MethodArgs;
use super::separating::{PER_ITEM, SeparatingArgs};
use crate::context::Context;

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

impl MethodArgs for Args {
    fn method(&self, data: &Dataset, context: &Context) -> anyhow::Result<Method> {
        let labels = self.common.labels(data, context)?;
        Ok(Method::Cahd(Parameters::new(self.common.p, labels).alpha(self.alpha)))
    }
}
