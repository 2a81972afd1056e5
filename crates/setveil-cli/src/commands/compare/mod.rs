//! `setveil compare`: methods and parameters side by side.

mod table;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::builder::PossibleValuesParser;
use setveil::data::{Epsilon, K, M, P};
use setveil::workflow::compare::{Limits, Options, Store, compare, csv, curve_csv, figure};
use setveil::{Method, io};

use super::evaluate::MeasureArgs;
use crate::context::{Context, Exit};
use crate::inputs::DataArgs;

/// Compare methods and parameters: risk, utility and time in one table
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  setveil compare baskets.dat -k 3,5,10 -m 1,2 --max-risk 0.1 -o comparison\n  \
    setveil compare baskets.dat --methods disassociation,cahd,diffpart -p 5,10 --epsilon 0.5,1 \\\n    \
    --sensitive sensitive.txt -o comparison\n\n\
    Every finished setting is stored in the output directory: interrupted, the same command goes \
    on where it stopped. The directory is private: it holds measurements of the original.\n\
    Without -o nothing is written and nothing can be taken up again.\n\
    All settings are compared with the same number of known items. Only settings whose promise holds\n\
    are recommended, never an empty release and never a baseline; diffpart has no such risk and is\n\
    not ranked."
)]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// The directory for the table (CSV, JSON), the plot (SVG) and the finished settings
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// The methods; those that generalise get a balanced hierarchy of fan-out 5
    #[arg(long, value_delimiter = ',', value_parser = PossibleValuesParser::new(Method::NAMES), default_value = "disassociation")]
    methods: Vec<String>,
    /// Values of k
    #[arg(short, value_delimiter = ',', default_value = "2,5,10")]
    k: Vec<K>,
    /// Values of m
    #[arg(short, value_delimiter = ',', default_value = "2")]
    m: Vec<M>,
    /// Largest cluster sizes
    #[arg(long, value_delimiter = ',', default_value = "50")]
    max_cluster_size: Vec<usize>,
    /// Privacy degrees of the methods that separate sensitive items
    #[arg(short, value_delimiter = ',', default_value = "10")]
    p: Vec<P>,
    /// Privacy budgets of diffpart
    #[arg(long, value_delimiter = ',', default_value = "1")]
    epsilon: Vec<Epsilon>,
    /// The sensitive items for cahd and perm-mondrian, one a line
    #[arg(long, value_name = "FILE", conflicts_with = "random_sensitive")]
    sensitive: Option<PathBuf>,
    /// Without a list: draw N sensitive items (by --seed) among those rare enough for every p
    #[arg(long, value_name = "N", default_value = "10")]
    random_sensitive: usize,
    /// How many items of a person the attacker knows, the same for all settings
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u32).range(1..=8))]
    known: u32,
    /// Over how many seeds everything is repeated, to see the spread
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=100))]
    repeats: u32,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    measure: MeasureArgs,
}

/// What a setting has to satisfy to be recommended.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct LimitArgs {
    /// Recommend only settings with at most this risk, spread included
    #[arg(long, value_name = "RISK", value_parser = share)]
    max_risk: Option<f64>,
    /// Recommend only settings that lose at most this share of the frequent itemsets
    #[arg(long, value_name = "SHARE", value_parser = share)]
    max_tkd: Option<f64>,
    /// Recommend only settings with at most this relative error of pairs
    #[arg(long, value_name = "ERROR")]
    max_re: Option<f64>,
    /// Recommend only settings that lose at most this share of the frequent items
    #[arg(long, value_name = "SHARE", value_parser = share)]
    max_tlost: Option<f64>,
    /// Recommend only settings that keep at least this share of the pairs
    #[arg(long, value_name = "SHARE", value_parser = share)]
    min_pairs_kept: Option<f64>,
}

impl LimitArgs {
    /// The limits; none if nothing is asked for.
    pub fn limits(&self) -> Option<Limits> {
        let limits = Limits::default()
            .max_risk(self.max_risk)
            .max_tkd(self.max_tkd)
            .max_re(self.max_re)
            .max_tlost(self.max_tlost)
            .min_pairs_kept(self.min_pairs_kept);
        (limits != Limits::default()).then_some(limits)
    }
}

pub fn share(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|r| (0.0..=1.0).contains(r));
    value.ok_or_else(|| "expected a share from 0 to 1".into())
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let data = self.data.read_to_measure(context)?.dataset;
        let options = self.options()?;
        let compared = match &self.output {
            None => compare(&data, &options, &mut Remarks { context }, context)?,
            Some(output) => {
                let cells = output.join("cells");
                std::fs::create_dir_all(&cells).with_context(|| cells.display().to_string())?;
                compare(&data, &options, &mut Directory { cells, context }, context)?
            }
        };
        if !compared.drawn.is_empty() {
            context.remark(&format!("sensitive items: {}", compared.drawn.join(", ")));
        }
        let rows = &compared.rows;
        if let Some(output) = &self.output {
            let write =
                |name: &str, text: &str| io::write_file(&output.join(name), text.as_bytes(), true);
            write("compare.csv", &csv(rows))?;
            write("curve.csv", &curve_csv(rows))?;
            write("compare.svg", &figure(rows, compared.known))?;
            write("compare.json", &serde_json::to_string_pretty(&compared)?)?;
        }
        context.answer(&compared, || {
            let mut text = table::text(rows, compared.known);
            if let Some(recommendation) = &compared.recommendation {
                text += &format!("\n{}\n", recommendation.reason);
            }
            text
        })?;
        Ok(Exit::Done)
    }

    fn options(&self) -> anyhow::Result<Options> {
        let sensitive = self.sensitive.as_deref().map(io::read_items).transpose()?;
        Ok(Options::default()
            .methods(self.methods.clone())
            .k(self.k.clone())
            .m(self.m.clone())
            .max_cluster_size(self.max_cluster_size.clone())
            .p(self.p.clone())
            .epsilon(self.epsilon.clone())
            .sensitive(sensitive)
            .random_sensitive(self.random_sensitive)
            .known(self.known)
            .repeats(self.repeats)
            .limits(self.limits.limits())
            .measure(self.measure.options()?))
    }
}

/// Keeps nothing, and says what is worked on.
struct Remarks<'a> {
    context: &'a Context,
}

impl Store for Remarks<'_> {
    fn load(&mut self, _: &str) -> Option<Vec<u8>> {
        None
    }

    fn save(&mut self, _: &str, _: &[u8]) -> setveil::Result<()> {
        Ok(())
    }

    fn begin(&mut self, name: &str) {
        self.context.remark(name);
    }
}

/// Finished settings, one file each.
struct Directory<'a> {
    cells: PathBuf,
    context: &'a Context,
}

impl Store for Directory<'_> {
    fn load(&mut self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.cells.join(format!("{name}.json"))).ok()
    }

    fn save(&mut self, name: &str, finished: &[u8]) -> setveil::Result<()> {
        io::write_file(&self.cells.join(format!("{name}.json")), finished, true)
    }

    fn begin(&mut self, name: &str) {
        self.context.remark(name);
    }
}
