//! `setveil anonymize METHOD`: one file a method, and one for what several share.

mod apriori;
mod cahd;
pub mod diffpart;
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
use setveil::{Dataset, Release};

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
    method: Method,
}

#[derive(Debug, Subcommand)]
enum Method {
    Disassociation(disassociation::Args),
    Cahd(cahd::Args),
    PermMondrian(perm_mondrian::Args),
    Dls(dls::Args),
    Partition(partition::Args),
    Apriori(apriori::Args),
    Diffpart(diffpart::Args),
    SuppressRare(suppress_rare::Args),
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        match &self.method {
            Method::Disassociation(args) => args.run(context),
            Method::Cahd(args) => args.run(context),
            Method::PermMondrian(args) => args.run(context),
            Method::Dls(args) => args.run(context),
            Method::Partition(args) => args.run(context),
            Method::Apriori(args) => args.run(context),
            Method::Diffpart(args) => args.run(context),
            Method::SuppressRare(args) => args.run(context),
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
    parameters: &'a std::collections::BTreeMap<String, serde_json::Value>,
    seconds: f64,
    left_out: LeftOut,
    /// What only this method has to say.
    #[serde(flatten)]
    details: &'a Details,
}

/// Further keys of the answer with their values.
type Details = serde_json::Map<String, serde_json::Value>;

/// The way of every method: check the target, read, anonymize, write, answer.
fn run(
    data: &DataArgs,
    target: &TargetArgs,
    context: &Context,
    anonymize: impl FnOnce(&Dataset) -> anyhow::Result<Release>,
) -> anyhow::Result<Exit> {
    run_with_details(data, target, context, |data| Ok((anonymize(data)?, Details::new())))
}

/// Like [`run`], for a method that answers with more than the release.
fn run_with_details(
    data: &DataArgs,
    target: &TargetArgs,
    context: &Context,
    anonymize: impl FnOnce(&Dataset) -> anyhow::Result<(Release, Details)>,
) -> anyhow::Result<Exit> {
    let start = std::time::Instant::now();
    io::check_target(&target.output, target.force)?;
    if let Some(receipt) = &target.receipt {
        io::check_receipt(receipt, &target.output, target.force)?;
    }
    let input = data.read(context)?;
    let (release, details) = anonymize(&input.dataset)?;
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
    let manifest = io::write_release(&release, &target.output, target.force)?;
    if let Some((receipt, path)) = receipt {
        receipt.write(path)?;
    }
    let answer = Answer {
        release: &target.output,
        method: &manifest.method,
        records: manifest.records,
        items: manifest.items,
        parameters: &manifest.parameters,
        seconds: start.elapsed().as_secs_f64(),
        left_out,
        details: &details,
    };
    context.answer(&answer, || {
        let mut text = format!(
            "{}: {} records, {} items, {:.2} s\n",
            target.output.display(),
            answer.records,
            answer.items,
            answer.seconds
        );
        for (name, value) in &details {
            text += &format!("{name}: {value}\n");
        }
        text
    })?;
    // The command ends here, and the system takes memory back at once: list by
    // list it takes a tenth as long as the work.
    std::mem::forget(release);
    Ok(Exit::Done)
}
