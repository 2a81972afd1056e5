//! `setveil profile`.

use std::fmt::Write;

use setveil::inspect;
use setveil::methods::dls::{PROBLEMATIC_K, Problematic};
use setveil::profile::{Options, Profile, Sampling};
use setveil::report::number;
use setveil::workflow;

use crate::context::{Context, Exit};
use crate::findings;
use crate::inputs::DataArgs;

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
            describe(&answer.profile)
                + &describe_problematic(&answer.problematic)
                + &answer
                    .findings
                    .as_ref()
                    .map(|found| findings::describe(found, context.words()))
                    .unwrap_or_default()
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
    text += "  items known   ... guesses the person   ... is certain\n";
    for row in profile.reidentification.iter().filter(|r| r.records > 0) {
        let sampled = match row.samples {
            None => String::new(),
            Some(n) => format!("   (+- {}, {} draws)", percent(row.probability_error), number(n)),
        };
        let (guess, certain) = (percent(row.probability), percent(row.unique));
        let _ = writeln!(text, "  {:>11}   {guess:>22}   {certain:>14}{sampled}", row.known);
    }
    text
}

/// The table of dls-2022, Fig. 5.
fn describe_problematic(table: &[Problematic]) -> String {
    let mut text =
        "\nAmong similar records, itemsets that give fewer than k records away\n".to_owned();
    text += "  items";
    for k in PROBLEMATIC_K {
        let _ = write!(text, "{:>9}", format!("k = {k}"));
    }
    for row in table.chunks(PROBLEMATIC_K.len()) {
        let _ = write!(text, "\n  {:>5}", row[0].size);
        for cell in row {
            let _ = write!(text, "{:>9}", percent(cell.share));
        }
    }
    text + "\n"
}

/// A share as a percentage.
fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}
