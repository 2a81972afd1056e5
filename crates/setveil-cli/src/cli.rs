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
                        2 bad usage or bad data; \
                        130 stopped by Ctrl-C.\nStart with: setveil demo"
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
    /// Refuse what needs more memory than this, as 800M or 8G [default: three quarters of the machine's]
    #[arg(long, global = true, value_name = "SIZE", value_parser = crate::memory::parse)]
    pub max_memory: Option<setveil::budget::Budget>,
    /// No progress bar and no remarks, only results and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// One variant a command, each in its own file.
#[derive(Debug, Subcommand)]
pub enum Command {
    Demo(commands::demo::Args),
    Profile(commands::profile::Args),
    Anonymize(commands::anonymize::Args),
    Verify(commands::verify::Args),
    Attack(commands::attack::Args),
    Evaluate(commands::evaluate::Args),
    Reconstruct(commands::reconstruct::Args),
    Query(commands::query::Args),
    Items(commands::items::Args),
    Itemsets(commands::itemsets::Args),
    Export(commands::export::Args),
    Compare(commands::compare::Args),
    Recommend(commands::recommend::Args),
    Report(commands::report::Args),
    Serve(commands::serve::Args),
    Generate(commands::generate::Args),
    Completions(commands::completions::Args),
    Man(commands::man::Args),
    Band(commands::band::Args),
    Hierarchy(commands::hierarchy::Args),
}

impl Command {
    /// Whether time counts more than memory.
    pub fn is_fast(&self) -> bool {
        matches!(self, Self::Anonymize(args) if args.is_fast())
    }

    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::Demo(args) => args.run(context),
            Self::Profile(args) => args.run(context),
            Self::Anonymize(args) => args.run(context),
            Self::Verify(args) => args.run(context),
            Self::Attack(args) => args.run(context),
            Self::Evaluate(args) => args.run(context),
            Self::Reconstruct(args) => args.run(context),
            Self::Query(args) => args.run(context),
            Self::Items(args) => args.run(context),
            Self::Itemsets(args) => args.run(context),
            Self::Export(args) => args.run(context),
            Self::Compare(args) => args.run(context),
            Self::Recommend(args) => args.run(context),
            Self::Report(args) => args.run(context),
            Self::Serve(args) => args.run(context),
            Self::Generate(args) => args.run(context),
            Self::Completions(args) => args.run(context),
            Self::Man(args) => args.run(context),
            Self::Band(args) => args.run(context),
            Self::Hierarchy(args) => args.run(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// Calls `check` with every command and its full name.
    fn walk(command: &clap::Command, name: &str, check: &mut impl FnMut(&clap::Command, &str)) {
        check(command, name);
        for sub in command.get_subcommands().filter(|s| s.get_name() != "help") {
            walk(sub, &format!("{name} {}", sub.get_name()), check);
        }
    }

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_and_flag_is_described_and_every_command_has_an_example() {
        let mut missing = Vec::new();
        walk(&Cli::command(), "setveil", &mut |command, name| {
            if command.get_about().is_none() {
                missing.push(format!("{name}: what it does"));
            }
            for arg in command.get_arguments().filter(|a| !a.is_hide_set()) {
                if arg.get_help().is_none_or(|h| h.to_string().trim().is_empty()) {
                    missing.push(format!("{name}: {}", arg.get_id()));
                }
            }
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let example = after.lines().any(|l| l.trim_start().starts_with(name));
            if name != "setveil" && !example {
                missing.push(format!("{name}: an example that starts with `{name}`"));
            }
        });
        assert!(missing.is_empty(), "help is missing:\n{}", missing.join("\n"));
    }
}
