//! `setveil anonymize suppress-rare`.

use serde_json::json;
use setveil::data::K;
use setveil::methods::suppress_rare::run;

use super::Details;
use crate::context::{Context, Exit};
use crate::inputs::{DataArgs, TargetArgs};

/// Drop every item that fewer than k records have; a baseline, combinations stay exposed
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    setveil anonymize suppress-rare baskets.dat -k 10 -o release\n\n\
    Only single items are protected: two frequent items together may still single out a person.\n\
    Records that become empty are not published; the answer says how many.")]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    target: TargetArgs,
    /// In how many records an item must occur
    #[arg(short, default_value = "5")]
    k: K,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        super::run_with_details(&self.data, &self.target, context, |data| {
            let outcome = run(data, self.k, context)?;
            let details = Details::from_iter(
                [
                    ("items_dropped", outcome.items_dropped),
                    ("occurrences_dropped", outcome.occurrences_dropped),
                    ("records_dropped", outcome.records_dropped),
                ]
                .map(|(name, value)| (name.to_owned(), json!(value))),
            );
            Ok((outcome.release, details))
        })
    }
}
