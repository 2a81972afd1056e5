//! `setveil anonymize METHOD`: one file a method, and one for what several share.

mod apriori;
mod cahd;
mod diffpart;
mod disassociation;
mod dls;
mod generalizing;
mod local_suppression;
mod partition;
mod perm_mondrian;
mod separating;
mod suppress_rare;

use std::path::Path;

use clap::Subcommand;
use serde_json::{Value, json};
use setveil::workflow::{Anonymized, files};
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
    LocalSuppression(Run<local_suppression::Args>),
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
            Command::LocalSuppression(command) => command.run(context),
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

impl<A: MethodArgs> Run<A> {
    /// The way of every method: check the target, read, anonymize, write, answer.
    fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let start = std::time::Instant::now();
        let target = self.target.target();
        target.check()?;
        crate::leftovers::remark(&target.output, context);
        let input = self.data.read_to_publish(&target, context)?;
        // Whoever read it has looked at it.
        let target = target.as_baskets(true);
        let method = self.method.method(&input.dataset, context)?;
        let mut answer = files::publish(input, &self.data.data, &method, &target, context)?;
        answer.seconds = start.elapsed().as_secs_f64();
        context.answer(&answer, || describe(&answer, &target.output))?;
        Ok(Exit::Done)
    }
}

fn describe(answer: &Anonymized, output: &Path) -> String {
    let mut text = format!(
        "{}: {} records, {} items, {:.2} s\n",
        output.display(),
        answer.records,
        answer.items,
        answer.seconds
    );
    if let Value::Object(details) = json!(answer.details) {
        for (name, value) in &details {
            text += &format!("{name}: {value}\n");
        }
    }
    if answer.earlier_releases > 0 {
        text += &format!(
            "{} earlier releases of the same data: no promise covers them and this one together\n",
            answer.earlier_releases
        );
    }
    if let Some(promises) = &answer.promises {
        text += &crate::context::side_by_side(promises);
    }
    text
}
