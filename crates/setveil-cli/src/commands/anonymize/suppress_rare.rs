//! `setveil anonymize suppress-rare`.

use setveil::data::K;
use setveil::methods::suppress_rare::Parameters;
use setveil::{Dataset, Method};

use super::MethodArgs;
use crate::context::Context;

/// Drop every item that fewer than k records have; a baseline, combinations stay exposed
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    setveil anonymize suppress-rare baskets.dat -k 10 -o release\n\n\
    Only single items are protected: two frequent items together may still single out a person.\n\
    Records that become empty are not published; the answer says how many.")]
pub struct Args {
    /// In how many records an item must occur
    #[arg(short, default_value = "5")]
    k: K,
}

impl MethodArgs for Args {
    fn method(&self, _: &Dataset, _: &Context) -> anyhow::Result<Method> {
        Ok(Method::SuppressRare(Parameters::new(self.k)))
    }
}
