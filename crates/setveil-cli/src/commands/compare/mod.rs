//! `setveil compare`: methods and parameters side by side.

mod table;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::builder::PossibleValuesParser;
use setveil::data::{Epsilon, K, M, P};
use setveil::workflow::compare::{Options, Store, compare, csv, scatter};
use setveil::{Method, io};

use super::evaluate::MeasureArgs;
use crate::context::{Context, Exit};
use crate::inputs::DataArgs;

/// Compare methods and parameters: risk, utility and time in one table
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  setveil compare baskets.dat -k 3,5,10 -m 1,2 -o comparison --recommend 0.1\n  \
    setveil compare baskets.dat --methods disassociation,cahd,diffpart -p 5,10 --epsilon 0.5,1 \\\n    \
    --sensitive sensitive.txt -o comparison\n\n\
    Every finished setting is stored in the output directory: interrupted, the same command goes \
    on where it stopped. The directory is private: it holds measurements of the original.\n\
    The risk is that of finding a person's record. cahd and perm-mondrian do not hide that, and\n\
    diffpart has no such number: they are neither ranked nor recommended."
)]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// The directory for the table (CSV, JSON), the plot (SVG) and the finished settings
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
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
    /// Name the setting that keeps most itemsets among those with at most this risk
    #[arg(long, value_name = "RISK", value_parser = risk)]
    recommend: Option<f64>,
    #[command(flatten)]
    measure: MeasureArgs,
}

fn risk(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|r| (0.0..=1.0).contains(r));
    value.ok_or_else(|| "expected a probability from 0 to 1".into())
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let data = self.data.read(context)?.dataset;
        let options = self.options()?;
        let cells = self.output.join("cells");
        std::fs::create_dir_all(&cells).with_context(|| cells.display().to_string())?;
        let compared = compare(&data, &options, &mut Directory { cells, context }, context)?;
        if !compared.drawn.is_empty() {
            context.remark(&format!("sensitive items: {}", compared.drawn.join(", ")));
        }
        let rows = &compared.rows;
        let write =
            |name: &str, text: &str| io::write_file(&self.output.join(name), text.as_bytes(), true);
        write("compare.csv", &csv(rows))?;
        write("compare.svg", &scatter(rows))?;
        write("compare.json", &serde_json::to_string_pretty(&compared)?)?;
        context.answer(&compared, || {
            let mut text = table::text(rows);
            if let Some(recommendation) = &compared.recommendation {
                text += &format!("\n{recommendation}\n");
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
            .recommend(self.recommend)
            .measure(self.measure.options()?))
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
