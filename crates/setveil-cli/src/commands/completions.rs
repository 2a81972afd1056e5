//! `setveil completions`.

use clap::CommandFactory;
use clap_complete::Shell;
use serde::Serialize;

use crate::cli::Cli;
use crate::context::{Context, Exit};

/// Print the script that teaches a shell to complete setveil's arguments
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    setveil completions bash > ~/.local/share/bash-completion/completions/setveil\n  \
    setveil completions fish > ~/.config/fish/completions/setveil.fish")]
pub struct Args {
    /// The shell
    shell: Shell,
}

#[derive(Serialize)]
struct Answer {
    shell: String,
    script: String,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "setveil", &mut script);
        let script = String::from_utf8(script)?;
        let answer = Answer { shell: self.shell.to_string(), script };
        context.answer(&answer, || answer.script.clone())?;
        Ok(Exit::Done)
    }
}
