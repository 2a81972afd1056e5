//! `setveil anonymize diffpart`.

use std::path::PathBuf;

use setveil::data::Epsilon;
use setveil::methods::diffpart::{FANOUT, Parameters};
use setveil::{Dataset, Method, io};

use super::MethodArgs;
use crate::context::Context;

/// Publish noisy counts of sets of items, with differential privacy
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    setveil anonymize diffpart baskets.dat --hierarchy catalogue.csv --epsilon 1 -o release\n\n\
    The hierarchy must be public: all items that could occur, from a catalogue or a standard, and\n\
    not made from the data; a flat list, `item;*` on every line, will do. It is published. Every release of the same people spends its\n\
    epsilon anew: two with 1 are one with 2. Small sets drown in the noise, see docs/diffpart.md.")]
pub struct Args {
    /// The privacy budget: smaller is safer and noisier; 1 is usual
    #[arg(long)]
    epsilon: Epsilon,
    #[command(flatten)]
    universe: UniverseArgs,
    /// Leave items that are missing from the hierarchy out of the records instead of failing
    #[arg(long)]
    drop_unknown: bool,
    /// How many children of a node are told apart at once, 2 to 16; wider nodes are split
    #[arg(long, value_name = "N", default_value_t = FANOUT)]
    fanout: usize,
}

/// Which items could occur.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct UniverseArgs {
    /// The public hierarchy of all items that could occur: one a line, `item;parent;...;*`
    #[arg(long, value_name = "FILE")]
    hierarchy: Option<PathBuf>,
    /// Take the items from the data, and so publish without protection which ones occur
    #[arg(long)]
    universe_from_data: bool,
}

impl MethodArgs for Args {
    fn method(&self, data: &Dataset, context: &Context) -> anyhow::Result<Method> {
        let parameters =
            Parameters::spending(self.epsilon).fanout(self.fanout)?.drop_unknown(self.drop_unknown);
        let Some(path) = &self.universe.hierarchy else {
            context.remark(
                "the names of all items in the data are published as they are: differential \
                 privacy covers their counts and combinations, and not that they occur",
            );
            return Ok(Method::Diffpart(parameters.universe_from_data(data)?));
        };
        Ok(Method::Diffpart(parameters.hierarchy(io::read_hierarchy(path)?)))
    }
}
