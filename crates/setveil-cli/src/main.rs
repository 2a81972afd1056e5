//! The command line tool `setveil`.

mod cli;
mod commands;
mod context;
mod findings;
mod inputs;
mod leftovers;
mod memory;
mod output;
mod sensitive;
mod signals;
mod stdin;
mod wording;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let listening = signals::listen().map_err(anyhow::Error::from);
    let context = match listening.and_then(|()| context::Context::new(&cli.global)) {
        Ok(context) => context,
        Err(error) => return context::fail(&error),
    };
    match cli.command.run(&context) {
        Ok(exit) => exit.into(),
        Err(error) => {
            context.clear();
            context::fail(&error)
        }
    }
}
