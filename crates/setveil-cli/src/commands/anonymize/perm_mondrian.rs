//! `setveil anonymize perm-mondrian`.

use setveil::methods::perm_mondrian::{Parameters, anonymize};

use super::separating::{PER_ITEM, SeparatingArgs};
use crate::context::{Context, Exit};

/// As cahd, with groups from top-down splits: the baseline to compare it with
#[derive(Debug, clap::Args)]
#[command(after_help = format!("Example:\n  \
    setveil anonymize perm-mondrian baskets.dat --sensitive sensitive.txt -p 10 -o release\n\n\
    {PER_ITEM}"))]
pub struct Args {
    #[command(flatten)]
    common: SeparatingArgs,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        self.common
            .run(context, |data, p, labels| anonymize(data, &Parameters::new(p, labels), context))
    }
}
