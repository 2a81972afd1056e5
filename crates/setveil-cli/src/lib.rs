//! The command line tool `setveil`, as a library: the program and the Python
//! package run the same code.

mod allocator;
mod cli;
mod commands;
mod context;
mod findings;
mod inputs;
mod leftovers;
mod memory;
mod output;
mod risk;
mod sensitive;
mod signals;
mod stdin;
mod table;
mod wording;

use std::ffi::OsString;

use clap::{CommandFactory, Parser};
use serde_json::{Value, json};

/// Runs the command line `words`, of which the first is the program's name, and
/// gives the exit code. It listens to signals and sets up threads for the whole
/// process: nothing else should run in it.
pub fn run(words: Vec<OsString>) -> u8 {
    let cli = match cli::Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(answer) => {
            // Help and version too; who does not read it misses nothing.
            let _ = answer.print();
            return answer.exit_code() as u8;
        }
    };
    match cli.command.is_fast() {
        true => allocator::keep_much(),
        false => allocator::keep_little(),
    }
    let listening = signals::listen().map_err(anyhow::Error::from);
    let context = match listening.and_then(|()| context::Context::new(&cli.global, words)) {
        Ok(context) => context,
        Err(error) => return context::fail(&error),
    };
    match cli.command.run(&context) {
        Ok(exit) => exit.code(),
        Err(error) => {
            context.clear();
            context::fail(&error)
        }
    }
}

/// Every command with its flags and their defaults, for whoever wants to offer
/// the same.
pub fn definition() -> Value {
    let mut command = cli::Cli::command();
    command.build();
    describe(&command)
}

fn describe(command: &clap::Command) -> Value {
    let flags = command.get_arguments().map(|arg| {
        let defaults = arg.get_default_values().iter().map(|value| value.to_string_lossy());
        json!({
            "name": arg.get_id().as_str(),
            "required": arg.is_required_set(),
            "default": defaults.collect::<Vec<_>>(),
        })
    });
    let commands = command.get_subcommands().filter(|sub| sub.get_name() != "help");
    json!({
        "name": command.get_name(),
        "flags": flags.collect::<Vec<_>>(),
        "commands": commands.map(describe).collect::<Vec<_>>(),
    })
}
