//! `setveil anonymize METHOD`: one file a method, and one for what several share.

mod apriori;
mod cahd;
mod diffpart;
mod disassociation;
mod dls;
mod generalizing;
mod partition;
mod perm_mondrian;
mod separating;
mod suppress_rare;

use clap::Subcommand;
use serde::Serialize;
use setveil::io::{self, LeftOut, Receipt};
use setveil::methods::Details;
use setveil::{Dataset, Method};

use crate::context::{Context, Exit};
use crate::inputs::{DataArgs, TargetArgs};

/// Make a release that can be published
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    setveil anonymize disassociation baskets.dat -k 5 -m 2 -o release\n  \
    setveil anonymize disassociation log.tsv.gz --id user --item query -o release \\\n    \
    --receipt private/receipt.json")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Disassociation(Run<disassociation::Args>),
    Cahd(Run<cahd::Args>),
    PermMondrian(Run<perm_mondrian::Args>),
    Dls(Run<dls::Args>),
    Partition(Run<partition::Args>),
    Apriori(Run<apriori::Args>),
    Diffpart(Run<diffpart::Args>),
    SuppressRare(Run<suppress_rare::Args>),
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        match &self.command {
            Command::Disassociation(command) => command.run(context),
            Command::Cahd(command) => command.run(context),
            Command::PermMondrian(command) => command.run(context),
            Command::Dls(command) => command.run(context),
            Command::Partition(command) => command.run(context),
            Command::Apriori(command) => command.run(context),
            Command::Diffpart(command) => command.run(context),
            Command::SuppressRare(command) => command.run(context),
        }
    }
}

// No comment for people here: help begins with what the method's own
// arguments say, and those come last.
#[derive(Debug, clap::Args)]
struct Run<A: clap::Args> {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    method: A,
}

/// The flags of a method.
trait MethodArgs: clap::Args {
    /// The method that they ask for. Some look at the data.
    fn method(&self, data: &Dataset, context: &Context) -> anyhow::Result<Method>;
}

/// What every method answers.
#[derive(Serialize)]
struct Answer<'a> {
    release: &'a std::path::Path,
    method: &'a str,
    records: u64,
    items: u64,
    parameters: &'a std::collections::BTreeMap<String, serde_json::Value>,
    seconds: f64,
    left_out: LeftOut,
    /// What only this method has to say.
    #[serde(flatten)]
    details: Details,
}

impl<A: MethodArgs> Run<A> {
    /// The way of every method: check the target, read, anonymize, write, answer.
    fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let Self { data, target, method } = self;
        let start = std::time::Instant::now();
        io::check_target(&target.output, target.force)?;
        crate::leftovers::remark(&target.output, context);
        if let Some(receipt) = &target.receipt {
            io::check_receipt(receipt, &target.output, target.force)?;
        }
        let input = data.read(context)?;
        let outcome = method.method(&input.dataset, context)?.run(&input.dataset, context)?;
        let (release, details) = (outcome.release, outcome.details);
        // Writing needs memory too, and the records no longer.
        let (format, left_out) = (input.format, input.left_out());
        drop(input);
        // What can fail about the receipt fails before anything is published.
        let receipt = match &target.receipt {
            None => None,
            Some(path) => {
                let now = std::time::SystemTime::now();
                let manifest = &release.manifest;
                let receipt =
                    Receipt::new(&data.data, format, left_out, &target.output, manifest, now)?;
                Some((receipt, path))
            }
        };
        let sink = io::DirectorySink::new(&target.output, target.force)?;
        let manifest = io::write_release_to(&release, sink, context)?;
        if let Some((receipt, path)) = receipt {
            receipt.write(path, target.force)?;
        }
        let answer = Answer {
            release: &target.output,
            method: &manifest.method,
            records: manifest.records,
            items: manifest.items,
            parameters: &manifest.parameters,
            seconds: start.elapsed().as_secs_f64(),
            left_out,
            details,
        };
        context.answer(&answer, || {
            let mut text = format!(
                "{}: {} records, {} items, {:.2} s\n",
                target.output.display(),
                answer.records,
                answer.items,
                answer.seconds
            );
            if let serde_json::Value::Object(details) = serde_json::json!(details) {
                for (name, value) in &details {
                    text += &format!("{name}: {value}\n");
                }
            }
            text
        })?;
        // The command ends here, and the system takes memory back at once: list by
        // list it takes a tenth as long as the work.
        std::mem::forget(release);
        Ok(Exit::Done)
    }
}
