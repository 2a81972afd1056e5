//! `setveil anonymize METHOD`: one file a method.

mod disassociation;

use clap::Subcommand;
use serde::Serialize;
use setveil::io;
use setveil::{Dataset, Release};

use crate::context::{Context, Exit};
use crate::inputs::{DataArgs, TargetArgs};

/// Make a release that can be published
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    method: Method,
}

#[derive(Debug, Subcommand)]
enum Method {
    Disassociation(disassociation::Args),
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        match &self.method {
            Method::Disassociation(args) => args.run(context),
        }
    }
}

/// What every method answers.
#[derive(Serialize)]
struct Answer<'a> {
    release: &'a std::path::Path,
    method: &'a str,
    records: u64,
    items: u64,
    seconds: f64,
}

/// The way of every method: check the target, read, anonymize, write, answer.
fn run(
    data: &DataArgs,
    target: &TargetArgs,
    context: &Context,
    anonymize: impl FnOnce(&Dataset) -> anyhow::Result<Release>,
) -> anyhow::Result<Exit> {
    let start = std::time::Instant::now();
    io::check_target(&target.output, target.force)?;
    let input = data.read(context)?;
    let release = anonymize(&input.dataset)?;
    let manifest = io::write_release(&release, &target.output, target.force)?;
    let answer = Answer {
        release: &target.output,
        method: &manifest.method,
        records: manifest.records,
        items: manifest.items,
        seconds: start.elapsed().as_secs_f64(),
    };
    context.answer(&answer, || {
        format!(
            "{}: {} records, {} items, {:.2} s\n",
            target.output.display(),
            answer.records,
            answer.items,
            answer.seconds
        )
    })?;
    Ok(Exit::Done)
}
