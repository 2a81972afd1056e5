//! The tables of `docs/local-suppression.md`: what local suppression is good
//! for beside disassociation and DLS, at the same k and m. Every release is
//! verified before it is measured.

use std::io::Write;
use std::path::Path;

use anyhow::ensure;
use setveil::data::{K, M};
use setveil::measure::{self, Comparison, Options};
use setveil::methods::local_suppression::{self, LeafSize};
use setveil::methods::{disassociation, dls};
use setveil::verify::verify;
use setveil::{Dataset, Release};

use crate::data::load;

/// Measure local suppression beside disassociation and DLS (docs/local-suppression.md)
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The data sets
    #[arg(long, value_delimiter = ',', default_values_t = DATA.map(String::from))]
    data: Vec<String>,
    /// How many candidates must remain
    #[arg(short, value_delimiter = ',', default_values_t = [5, 10, 20])]
    k: Vec<u32>,
    /// How many items an attacker may know
    #[arg(short, value_delimiter = ',', default_values_t = [2, 3])]
    m: Vec<u32>,
    /// The most records of a leaf; `all` is one leaf
    #[arg(long, value_delimiter = ',', default_values_t = ["100", "200", "all"].map(String::from))]
    leaves: Vec<String>,
    /// Local suppression only
    #[arg(long)]
    alone: bool,
}

const DATA: [&str; 7] =
    ["groceries", "bms-webview-1", "bms-webview-2", "mdcr-icd9", "t10i4d100k", "fruithut", "msnbc"];
/// Ranks of the terms whose pairs `re` looks at.
const RANKS: [usize; 3] = [0, 50, 200];
const HEAD: &str =
    "data,method,k,m,pairs_kept,pairs_limit,tlost,tkd,tkd_a,re 0-20,re 50-70,re 200-220";

impl Args {
    pub fn run(&self, output: &Path) -> anyhow::Result<()> {
        let mut table = std::fs::File::create(output.join("local-suppression.csv"))?;
        writeln!(table, "{HEAD}")?;
        for name in &self.data {
            let data = load(name)?;
            for (&m, &k) in self.m.iter().flat_map(|m| self.k.iter().map(move |k| (m, k))) {
                for (method, release) in self.releases(&data, K::new(k)?, M::new(m)?)? {
                    let measures = measured(&data, &release)?;
                    writeln!(table, "{name},{method},{k},{m},{measures}")?;
                    table.flush()?;
                }
            }
        }
        Ok(())
    }

    fn releases(&self, data: &Dataset, k: K, m: M) -> anyhow::Result<Vec<(String, Release)>> {
        let mut releases = Vec::new();
        if !self.alone {
            let plain = disassociation::Parameters::new(k, m);
            let release = disassociation::anonymize(data, &plain, &())?;
            releases.push(("disassociation".to_owned(), release));
            let release = dls::anonymize(data, &dls::Parameters::new(k, m), &())?;
            releases.push(("dls".to_owned(), release));
        }
        for size in &self.leaves {
            let mut parameters = local_suppression::Parameters::new(k, m);
            parameters.max_cluster_size = size.parse::<LeafSize>()?;
            let release = local_suppression::anonymize(data, &parameters, &())?;
            releases.push((format!("local-suppression {size}"), release));
        }
        Ok(releases)
    }
}

fn measured(data: &Dataset, release: &Release) -> anyhow::Result<String> {
    let verdict = verify(release, &())?;
    ensure!(verdict.holds, "a release of {} does not hold", release.manifest.method);
    let ranks = RANKS.map(|rank| Options::default().re_range(rank..rank + 20));
    let mut comparison = Comparison::new(release, data, &ranks[0], &())?;
    let (tkd, tkd_a) = measure::tkd(&comparison, &())?;
    let (kept, limit) = (measure::pairs_kept(&comparison), measure::pairs_limit(&comparison, &())?);
    let mut cells = vec![kept, limit, measure::tlost(&comparison), tkd, tkd_a];
    for options in &ranks {
        comparison.options = options;
        // Too few terms for these ranks: nothing to measure.
        cells.push(measure::re(&comparison));
    }
    let text = cells.into_iter().map(|value| value.map_or(String::new(), |v| format!("{v:.3}")));
    Ok(text.collect::<Vec<_>>().join(","))
}
