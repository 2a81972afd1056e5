//! The definitions of the command line. Help, completions and manual pages
//! are made from these, so nothing is described twice.

use clap::{Args, Parser, Subcommand};

use crate::commands;
use crate::context::{Context, Exit};

/// Publish set-valued data without exposing anyone in it
#[derive(Debug, Parser)]
#[command(name = "setveil", version, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 done, or the guarantee holds; 1 the guarantee does not hold; \
                        2 bad usage or bad data.\nStart with: setveil demo"
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Global {
    /// Print one JSON object with stable keys instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Use this many threads [default: all cores]; the result is the same for any number
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// No progress bar and no remarks, only results and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// One variant a command, each in its own file.
#[derive(Debug, Subcommand)]
pub enum Command {
    Profile(commands::profile::Args),
    Anonymize(commands::anonymize::Args),
    Verify(commands::verify::Args),
    Evaluate(commands::evaluate::Args),
}

impl Command {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::Profile(args) => args.run(context),
            Self::Anonymize(args) => args.run(context),
            Self::Verify(args) => args.run(context),
            Self::Evaluate(args) => args.run(context),
        }
    }
}
