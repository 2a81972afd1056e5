//! `setveil anonymize perm-mondrian`.

use setveil::methods::perm_mondrian::Parameters;
use setveil::{Dataset, Method};

use super::MethodArgs;
use super::separating::{PER_ITEM, SeparatingArgs};
use crate::context::Context;

/// As cahd, with groups from top-down splits: the baseline to compare it with
#[derive(Debug, clap::Args)]
#[command(after_help = format!("Example:\n  \
    setveil anonymize perm-mondrian baskets.dat --sensitive sensitive.txt -p 10 -o release\n\n\
    Splits depend on who holds what, so whoever replays them can rule holders out; cahd does not\n\
    have that weakness.\n\n{PER_ITEM}"))]
pub struct Args {
    #[command(flatten)]
    common: SeparatingArgs,
}

impl MethodArgs for Args {
    fn method(&self, data: &Dataset, context: &Context) -> anyhow::Result<Method> {
        let labels = self.common.labels(data, context)?;
        let parameters = Parameters::new(self.common.p, labels);
        Ok(Method::PermMondrian(parameters.sensitive_only(self.common.sensitive_only.into())))
    }
}
