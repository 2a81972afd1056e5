//! `setveil anonymize cahd`.

use setveil::data::Alpha;
use setveil::methods::cahd::{Grouping, Parameters};
use setveil::{Dataset, Method};

use super::MethodArgs;
use super::separating::{PER_ITEM, SeparatingArgs};
use crate::context::Context;

/// Keep every item, hide who of a group of similar records has a sensitive one
#[derive(Debug, clap::Args)]
#[command(after_help = format!("Example:\n  \
    setveil anonymize cahd baskets.dat --sensitive sensitive.txt -p 10 -o release\n\n\
    Groups are formed with secret random numbers from the system: the same data gives other groups\n\
    every time, and no option sets the seed. Whoever knows this program and its parameters learns no\n\
    more from the release than the counts of its groups. That holds for one release of the same data\n\
    and cannot be checked from the release: `verify` checks the degree.\n\n{PER_ITEM}"))]
pub struct Args {
    #[command(flatten)]
    common: SeparatingArgs,
    /// For comparison only: form groups around sensitive records, as printed in the paper. Whoever
    /// replays that finds many of the holders
    #[arg(long)]
    as_printed: bool,
    /// As printed: look for similar records among alpha * p on either side
    #[arg(long, default_value = "3", requires = "as_printed")]
    alpha: Alpha,
}

/// Said with every release of the printed grouping.
const TELLS_WHO: &str = "the printed grouping tells who: groups are formed around sensitive records \
    in an order that anybody can compute, and `setveil attack` finds holders by replaying it; do not \
    publish this release (docs/cahd.md)";

/// Said with every release of the blind grouping.
const SECRET: &str = "groups are formed with secret random numbers: the same command gives other \
    groups; two releases of the same data together say more than either promises";

impl MethodArgs for Args {
    fn method(&self, data: &Dataset, context: &Context) -> anyhow::Result<Method> {
        let labels = self.common.labels(data, context)?;
        context.remark(if self.as_printed { TELLS_WHO } else { SECRET });
        let grouping = match self.as_printed {
            true => Grouping::AsPrinted { alpha: self.alpha },
            false => Grouping::Blind,
        };
        let parameters = Parameters::new(self.common.p, labels).grouping(grouping);
        Ok(Method::Cahd(parameters.sensitive_only(self.common.sensitive_only.into())))
    }
}
