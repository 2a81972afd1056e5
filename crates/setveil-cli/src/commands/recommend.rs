//! `setveil recommend`.

use clap::builder::PossibleValuesParser;
use setveil::Method;
use setveil::data::{K, M};
use setveil::workflow::recommend::{Choice, Options, Recommended, Tried, recommend};

use super::compare::LimitArgs;
use super::evaluate::MeasureArgs;
use crate::context::{Context, Exit};
use crate::inputs::DataArgs;
use crate::risk::{percent, share};
use crate::table::table;

/// Search for the setting that keeps a given risk and loses least
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  setveil recommend baskets.dat --max-risk 0.1 --known 3\n  \
    setveil recommend baskets.dat --max-risk 0.05 --methods disassociation --max-tkd 0.3\n\n\
    The risk is how often somebody who knows so many items of a person finds the person's place in\n\
    the release, with one standard error (docs/measures.md); 0.1 if none is given. It is measured on\n\
    this data for one kind of attacker: no proof. The exit code is 1 if no setting does what was\n\
    asked for. How to choose: docs/choosing.md")]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    limits: LimitArgs,
    /// How many items of a person the attacker knows
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u32).range(1..=8))]
    known: u32,
    /// The methods that may be taken
    #[arg(long, value_delimiter = ',', value_parser = PossibleValuesParser::new(Method::NAMES), default_value = "disassociation,local-suppression")]
    methods: Vec<String>,
    /// The values of k that are tried [default: 2 to 200]
    #[arg(short, value_delimiter = ',')]
    k: Vec<K>,
    /// The values of m that are tried
    #[arg(short, value_delimiter = ',', default_value = "2,3")]
    m: Vec<M>,
    /// The largest cluster sizes that are tried
    #[arg(long, value_delimiter = ',', default_value = "50,100,200")]
    max_cluster_size: Vec<usize>,
    #[command(flatten)]
    measure: MeasureArgs,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let data = self.data.read_to_measure(context)?.dataset;
        let options = self.options()?;
        let mut watch = |tried: &Tried| context.remark(&describe_try(tried));
        let mut answer = recommend(&data, &options, &mut watch, context)?;
        // The command is for this very file.
        let place = self.data.data.display().to_string();
        for choice in &mut answer.choices {
            choice.command = choice.command.replacen(" DATA ", &format!(" {} ", quoted(&place)), 1);
        }
        context.answer(&answer, || describe(&answer))?;
        Ok(if answer.choices.is_empty() { Exit::Violated } else { Exit::Done })
    }

    fn options(&self) -> anyhow::Result<Options> {
        let mut options = Options::default()
            .known(self.known)
            .methods(self.methods.clone())
            .m(self.m.clone())
            .max_cluster_size(self.max_cluster_size.clone())
            .measure(self.measure.options()?);
        if let Some(limits) = self.limits.limits() {
            options.max_risk = limits.max_risk.unwrap_or(options.max_risk);
            options.limits = limits.max_risk(None);
        }
        if !self.k.is_empty() {
            let mut k = self.k.clone();
            k.sort_unstable();
            options.k = k;
        }
        Ok(options)
    }
}

fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    if text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

fn describe_try(tried: &Tried) -> String {
    let risk = share(tried.risk);
    let enough = if tried.enough { "small enough" } else { "too high" };
    match tried.risk {
        Some(_) => format!("{}: risk {risk}, {enough}", tried.setting),
        None => format!("{}: not possible with this data", tried.setting),
    }
}

fn describe(answer: &Recommended) -> String {
    let items = if answer.known == 1 { "1 item" } else { &format!("{} items", answer.known) };
    let mut text = format!(
        "Somebody who knows {items} of a person finds the person in the raw data in {} of the \
         cases.\nAsked for: at most {} in the release.\n\n",
        share(answer.raw),
        percent(answer.max_risk)
    );
    let Some(best) = answer.choices.first() else {
        let least = answer.tried.iter().filter_map(|tried| Some((tried.risk?, &tried.setting)));
        text += "No setting does what was asked for.";
        if let Some((risk, setting)) = least.min_by(|a, b| a.0.total_cmp(&b.0)) {
            text += &format!(" The least risk was {} with {setting}.", percent(risk));
        }
        return text
            + "\nTry larger values with -k, a larger --max-cluster-size, another method, or \
                       publish less.\n";
    };
    text += &format!(
        "Take {}. Its risk is {}; it loses fewest of the frequent combinations ({}).\n\n",
        best.row.cell.name(),
        share(best.row.risk.as_ref().and_then(|level| level.linking)),
        share(best.row.utility.tkd)
    );
    let head = ["setting", "found", "tkd", "re", "tlost", "pairs_kept", "seconds"];
    text += &table(head, answer.choices.iter().map(row), &[0]);
    text += "\n  found       how often the person's place in the release is found\n  \
             tkd         share of the most frequent itemsets that are lost\n  \
             re          relative error of pair supports (0 to 2)\n  \
             tlost       share of frequent terms that stand in no chunk\n  \
             pairs_kept  share of pair occurrences seen together in one chunk\n";
    text + &format!("\n  {}\n", best.command)
}

fn row(choice: &Choice) -> Vec<String> {
    let row = &choice.row;
    let short = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.3}"));
    vec![
        row.cell.name(),
        share(row.risk.as_ref().and_then(|level| level.linking)),
        short(row.utility.tkd),
        short(row.utility.re),
        short(row.utility.tlost),
        short(row.utility.pairs_kept),
        format!("{:.2}", row.seconds),
    ]
}
