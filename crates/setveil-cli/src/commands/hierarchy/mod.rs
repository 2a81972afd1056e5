//! `setveil hierarchy`: make and check generalization hierarchies.

mod check;
mod made;
mod wordnet;

use clap::Subcommand;

use crate::context::{Context, Exit};

/// Make or check a generalization hierarchy
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    setveil hierarchy balanced baskets.dat --fanout 5 -o tree.csv\n  \
    setveil hierarchy check tree.csv baskets.dat")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Balanced(made::BalancedArgs),
    Alphabetical(made::AlphabeticalArgs),
    Wordnet(wordnet::Args),
    Check(check::Args),
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        match &self.command {
            Command::Balanced(args) => args.run(context),
            Command::Alphabetical(args) => args.run(context),
            Command::Wordnet(args) => args.run(context),
            Command::Check(args) => args.run(context),
        }
    }
}
