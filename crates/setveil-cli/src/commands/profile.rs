//! `setveil profile`.

use std::fmt::Write;
use std::path::Path;

use setveil::inspect;
use setveil::methods::dls::{PROBLEMATIC_K, Problematic};
use setveil::profile::{Options, Profile, Sampling};
use setveil::report::number;
use setveil::workflow::{self, Profiled, Suggestion};

use crate::context::{Context, Exit};
use crate::findings;
use crate::inputs::DataArgs;
use crate::table::table;

/// Show size and shape of the data, and how identifying it is
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    setveil profile baskets.dat\n  \
    setveil profile log.tsv.gz --id user --item query --json")]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// How many guesses of an attacker are tried where all are too many
    #[arg(long, value_name = "N", default_value_t = Sampling::default().samples,
          value_parser = clap::value_parser!(u64).range(1..))]
    samples: u64,
    /// The random seed of these guesses
    #[arg(long, default_value_t = Sampling::default().seed)]
    seed: u64,
    /// Also show how many itemsets of similar records are rare (dls-2022, Fig. 5)
    #[arg(long)]
    verbose: bool,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let input = self.data.read(context)?;
        let sampling = Sampling { samples: self.samples, seed: self.seed };
        let options = Options::default().sampling(sampling);
        let answer = workflow::profile(&input.dataset, &options, context)?
            .left_out(Some(input.left_out()))
            .findings(Some(inspect::check(&input)));
        context.answer(&answer, || {
            let mut text = describe(&answer.profile);
            if self.verbose {
                text += &describe_problematic(&answer.problematic);
            }
            if let Some(found) = &answer.findings {
                text += &findings::describe(found, context.words());
            }
            text + &describe_suggestion(&answer, &self.data.data)
        })?;
        Ok(Exit::Done)
    }
}

/// The profile as a table; also for the demo.
pub fn describe(profile: &Profile) -> String {
    let mut text = String::new();
    for (name, value) in [
        ("records", number(profile.records)),
        ("items", number(profile.items)),
        ("occurrences", number(profile.occurrences)),
        ("longest record", number(profile.max_length)),
        ("mean length", format!("{:.2}", profile.mean_length)),
    ] {
        let _ = writeln!(text, "{name:<15}{value:>12}");
    }
    text += "\nWho knows a few items of a person ...\n";
    let sampled = profile.reidentification.iter().any(|row| row.samples.is_some());
    let rows = profile.reidentification.iter().filter(|r| r.records > 0).map(|row| {
        let mut cells = vec![row.known.to_string(), percent(row.probability), percent(row.unique)];
        cells.extend(
            row.samples
                .map(|n| format!("(+- {}, {} draws)", percent(row.probability_error), number(n))),
        );
        cells.resize(if sampled { 4 } else { 3 }, String::new());
        cells
    });
    let head = ["items known", "... guesses the person", "... is certain", ""];
    text + &table(head.into_iter().take(if sampled { 4 } else { 3 }), rows, &[3])
}

/// What to begin with, why, and the commands.
fn describe_suggestion(answer: &Profiled, data: &Path) -> String {
    let Some(Suggestion { method, k, m, reason, .. }) = &answer.suggestion else {
        return "\nThere are too few records to hide anybody among them.\n".to_owned();
    };
    let data = data.display();
    format!(
        "\nTo begin with: k = {k}, m = {m}: {reason}.\n  \
         setveil anonymize {method} {data} -k {k} -m {m} -o release\n\
         To choose by measured risk:\n  \
         setveil recommend {data} --max-risk 0.1 --known {}\n",
        m + 1
    )
}

/// The table of dls-2022, Fig. 5.
fn describe_problematic(problematic: &[Problematic]) -> String {
    let mut text = "\nOf all sets of so many items that occur among 50 similar records, how many \
                    occur in fewer than k\nof them: this is what a method has to hide (dls-2022, \
                    Fig. 5)\n"
        .to_owned();
    let head = PROBLEMATIC_K.iter().map(|k| format!("k = {k}"));
    let head = std::iter::once("items".to_owned()).chain(head);
    let rows = problematic.chunks(PROBLEMATIC_K.len()).map(|row| {
        let mut cells = vec![row[0].size.to_string()];
        cells.extend(row.iter().map(|cell| percent(cell.share)));
        cells
    });
    text += &table(head, rows, &[]);
    text
}

/// A share as a percentage.
fn percent(share: f64) -> String {
    // What rounding leaves below nothing is nothing.
    format!("{:.2} %", (100.0 * share).max(0.0))
}
