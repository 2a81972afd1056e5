//! `setveil profile`.

use setveil::methods::dls::{PROBLEMATIC_K, Problematic};
use setveil::profile::{Options, Profile, Sampling};
use setveil::report::number;
use setveil::workflow;

use crate::context::{Context, Exit};
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
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let input = self.data.read(context)?;
        let sampling = Sampling { samples: self.samples, seed: self.seed };
        let options = Options::default().sampling(sampling);
        let answer =
            workflow::profile(&input.dataset, &options, context)?.left_out(Some(input.left_out()));
        context.answer(&answer, || {
            describe(&answer.profile) + &describe_problematic(&answer.problematic)
        })?;
        Ok(Exit::Done)
    }
}

/// The profile as a table; also for the demo.
pub fn describe(profile: &Profile) -> String {
    let size = [
        ("records", number(profile.records)),
        ("items", number(profile.items)),
        ("occurrences", number(profile.occurrences)),
        ("longest record", number(profile.max_length)),
        ("mean length", format!("{:.2}", profile.mean_length)),
    ];
    let mut text = table(["", ""], size.map(|(name, value)| vec![name.to_owned(), value]), &[0]);
    text += "\nWho knows a few items of a person ...\n";
    let rows = profile.reidentification.iter().filter(|r| r.records > 0).map(|row| {
        let sampled = match row.samples {
            None => String::new(),
            Some(n) => format!("(+- {}, {} draws)", percent(row.probability_error), number(n)),
        };
        vec![row.known.to_string(), percent(row.probability), percent(row.unique), sampled]
    });
    let head = ["items known", "... guesses the person", "... is certain", ""];
    text + &table(head, rows, &[3])
}

/// The table of dls-2022, Fig. 5.
fn describe_problematic(found: &[Problematic]) -> String {
    let head = ["items".to_owned()].into_iter().chain(PROBLEMATIC_K.map(|k| format!("k = {k}")));
    let rows = found.chunks(PROBLEMATIC_K.len()).map(|row| {
        let shares = row.iter().map(|cell| percent(cell.share));
        [row[0].size.to_string()].into_iter().chain(shares).collect()
    });
    "\nAmong similar records, itemsets that give fewer than k records away\n".to_owned()
        + &table(head, rows, &[])
}

/// A share as a percentage.
fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}
