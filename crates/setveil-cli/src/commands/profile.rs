//! `setveil profile`.

use setveil::profile::profile;

use crate::context::{Context, Exit};
use crate::inputs::DataArgs;

/// Show size and shape of the data, and how identifying it is
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  setveil profile baskets.dat")]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let input = self.data.read(context)?;
        let profile = profile(&input.dataset, context);
        context.answer(&profile, || format!("{profile:#?}\n"))?;
        Ok(Exit::Done)
    }
}
