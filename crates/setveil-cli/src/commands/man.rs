//! `setveil man`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::CommandFactory;
use clap_mangen::Man;
use serde::Serialize;

use crate::cli::Cli;
use crate::context::{Context, Exit};

/// Print the manual page, or write one for every command
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    setveil man | man -l -\n  \
    setveil man -o ~/.local/share/man/man1")]
pub struct Args {
    /// Write a page for every command to this directory
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// A file name and its content.
#[derive(Serialize)]
struct Page {
    name: String,
    page: String,
}

#[derive(Serialize)]
struct Answer {
    pages: Vec<Page>,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let mut command = Cli::command();
        command.build();
        let mut pages = Vec::new();
        collect(&command, "setveil", &mut pages)?;
        if let Some(dir) = &self.output {
            std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
            for page in &pages {
                let path = dir.join(&page.name);
                std::fs::write(&path, &page.page).with_context(|| path.display().to_string())?;
            }
        }
        let answer = Answer { pages };
        context.answer(&answer, || match &self.output {
            None => answer.pages[0].page.clone(),
            Some(dir) => format!("{}: {} pages\n", dir.display(), answer.pages.len()),
        })?;
        Ok(Exit::Done)
    }
}

fn collect(command: &clap::Command, name: &str, pages: &mut Vec<Page>) -> anyhow::Result<()> {
    let mut page = Vec::new();
    Man::new(command.clone().name(name.to_owned())).render(&mut page)?;
    pages.push(Page { name: format!("{name}.1"), page: String::from_utf8(page)? });
    for sub in command.get_subcommands().filter(|s| s.get_name() != "help") {
        collect(sub, &format!("{name}-{}", sub.get_name()), pages)?;
    }
    Ok(())
}
