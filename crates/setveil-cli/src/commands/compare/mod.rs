//! `setveil compare`: methods and parameters side by side.

mod cells;
mod methods;
mod plot;
mod table;

use std::path::PathBuf;

use anyhow::Context as _;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use setveil::data::{Epsilon, K, M, P};
use setveil::methods::cahd;
use setveil::{Dataset, io};

use super::evaluate::MeasureArgs;
use crate::context::{Context, Exit};
use crate::inputs::DataArgs;
use cells::{Basis, Cell, Row};
use methods::Grid;

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
    #[arg(long, value_delimiter = ',', value_parser = methods::names(), default_value = "disassociation")]
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

#[derive(Serialize)]
struct Answer<'a> {
    rows: &'a [Row],
    recommendation: Option<String>,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let data = self.data.read(context)?.dataset;
        let options = self.measure.options()?;
        let sensitive = self.sensitive(&data, options.seed, context)?;
        let basis = Basis { data: &data, options: &options, sensitive: &sensitive };
        let fingerprint = cells::fingerprint(&basis);
        let store = self.output.join("cells");
        std::fs::create_dir_all(&store).with_context(|| store.display().to_string())?;
        let mut rows = Vec::new();
        for cell in self.cells() {
            rows.push(cells::row(&cell, &basis, &store, &fingerprint, context)?);
        }
        table::mark_frontier(&mut rows);
        let write =
            |name: &str, text: &str| io::write_file(&self.output.join(name), text.as_bytes(), true);
        write("compare.csv", &table::csv(&rows))?;
        write("compare.svg", &plot::scatter(&rows))?;
        let recommendation = self.recommend.map(|limit| table::recommend(&rows, limit));
        let answer = Answer { rows: &rows, recommendation };
        write("compare.json", &serde_json::to_string_pretty(&answer)?)?;
        context.answer(&answer, || {
            let mut text = table::text(&rows);
            if let Some(recommendation) = &answer.recommendation {
                text += &format!("\n{recommendation}\n");
            }
            text
        })?;
        Ok(Exit::Done)
    }

    /// Every combination, once.
    fn cells(&self) -> Vec<Cell> {
        let grid = Grid {
            k: &self.k,
            m: &self.m,
            max_cluster_size: &self.max_cluster_size,
            p: &self.p,
            epsilon: &self.epsilon,
        };
        let mut cells: Vec<Cell> = Vec::new();
        for cell in self.methods.iter().flat_map(|method| grid.cells(method)) {
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
        cells
    }

    /// The sensitive items, the same for every setting; none if no method asks.
    fn sensitive(
        &self,
        data: &Dataset,
        seed: u64,
        context: &Context,
    ) -> anyhow::Result<Vec<String>> {
        let Some(&strictest) = self.p.iter().max() else { return Ok(Vec::new()) };
        if !self.methods.iter().any(|method| methods::needs_sensitive(method)) {
            return Ok(Vec::new());
        }
        if let Some(path) = &self.sensitive {
            return Ok(io::read_items(path)?);
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let labels = cahd::draw(data, self.random_sensitive, strictest, &mut rng)?;
        context.remark(&format!("sensitive items: {}", labels.join(", ")));
        Ok(labels)
    }
}
