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

use std::ffi::OsString;
use std::path::Path;

use clap::Subcommand;
use serde_json::{Value, json};
use setveil::error::plain;
use setveil::workflow::files::{OnDisk, Target};
use setveil::workflow::{Anonymized, KeptSet, files};
use setveil::{Dataset, Method};

use super::verify::cautions;
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
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

impl Args {
    /// Whether it is disassociation in memory: so fast that fetching memory is much of it.
    pub fn is_fast(&self) -> bool {
        matches!(&self.command, Command::Disassociation(run) if run.method.is_in_memory())
    }

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
            Command::Other(words) => Err(no_method(words)),
        }
    }
}

/// The method was left out, or there is none of that name.
fn no_method(words: &[OsString]) -> anyhow::Error {
    let first = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let methods = Method::NAMES.join(", ");
    // Whoever names a file has forgotten the method.
    if Path::new(&first).exists() {
        let rest: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        return anyhow::anyhow!(
            "which method? {first} is data, and the method comes first: {methods}\n  \
             setveil anonymize disassociation {}",
            plain(rest.join(" "))
        );
    }
    anyhow::anyhow!("there is no method `{}`; the methods are {methods}", plain(first))
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

    /// Whether the data stays on disk, and how. Only methods that do not look at the data.
    fn on_disk(&self) -> anyhow::Result<Option<OnDisk>> {
        Ok(None)
    }
}

impl<A: MethodArgs> Run<A> {
    /// The way of every method: check the target, read, anonymize, write, answer.
    fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let start = std::time::Instant::now();
        let target = self.target.target();
        target.check()?;
        crate::leftovers::remark(&target.output, context);
        let mut answer = match self.method.on_disk()? {
            Some(on_disk) => self.on_disk(&target, &on_disk, context)?,
            None => {
                let input = self.data.read_to_publish(&target, context)?;
                let method = self.method.method(&input.dataset, context)?;
                // Whoever read it has looked at it.
                let target = target.clone().as_baskets(true);
                files::publish(input, &self.data.data, &method, &target, context)?
            }
        };
        answer.seconds = start.elapsed().as_secs_f64();
        context.answer(&answer, || {
            describe(&answer, &target.output) + &cautions(&answer.cautions, context)
        })?;
        Ok(Exit::Done)
    }

    /// The same with data that stays on disk.
    fn on_disk(
        &self,
        target: &Target,
        on_disk: &OnDisk,
        context: &Context,
    ) -> anyhow::Result<Anonymized> {
        let method = self.method.method(&Dataset::default(), context)?;
        on_disk.check(&method)?;
        if on_disk.temporary.is_some() {
            crate::leftovers::remark(&on_disk.place(target), context);
        }
        let data = self.data.spool_to_publish(target, on_disk, context)?;
        let target = target.clone().as_baskets(true);
        Ok(files::publish_spooled(data, &self.data.data, &method, &target, context)?)
    }
}

fn describe(answer: &Anonymized, output: &Path) -> String {
    let mut text = format!(
        "{}: {}, {}, {:.2} s\n",
        output.display(),
        counted(answer.records, "record"),
        counted(answer.items, "item"),
        answer.seconds
    );
    if let Value::Object(details) = json!(answer.details) {
        for (name, value) in &details {
            let value = match value.as_f64().filter(|_| value.is_f64()) {
                Some(share) => format!("{share:.4}"),
                None => value.to_string(),
            };
            text += &format!("{name}: {value}\n");
        }
    }
    if let Some(parts) = answer.parts.filter(|&parts| parts > 1) {
        text += &format!(
            "{parts} parts: with more memory the release would be another one; how often people are \
             found in it cannot be measured by `setveil attack`\n"
        );
    }
    for set in &answer.kept {
        text += &describe_kept(set);
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

/// What became of a set that should stay together.
fn describe_kept(set: &KeptSet) -> String {
    let told = match set.upper {
        Some(upper) if upper == set.lower => format!("exactly {upper}"),
        Some(upper) => format!("{} to {upper}", set.lower),
        None => format!("at least {}", set.lower),
    };
    format!(
        "keep {}: together in {}, told {told}; of {} told exactly {}, as a bound {}, not at all \
         {}; {} of {} shown\n",
        plain(set.items.join(", ")),
        counted(set.records, "record"),
        counted(set.pairs, "pair"),
        set.exact,
        set.bounded,
        set.not_at_all,
        set.occurrences_kept,
        counted(set.occurrences, "occurrence"),
    )
}

fn counted(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
