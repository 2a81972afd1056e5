//! What it costs to anonymize in parts, for many numbers of parts: the tables
//! of `docs/disassociation.md`. Every release is verified before it is measured.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::ensure;
use setveil::data::{K, M};
use setveil::measure::{self, Comparison, Options};
use setveil::methods::disassociation::parts::{
    Counted, InMemory, Numbered, PartSize, anonymize_numbered,
};
use setveil::methods::disassociation::{Parameters, publish};
use setveil::release::{Cluster, Disassociated};
use setveil::verify::verify;
use setveil::{Dataset, Release};

use crate::data::load;

/// Measure disassociation in parts (docs/disassociation.md)
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The data sets
    #[arg(long, value_delimiter = ',', default_values_t = DATA.map(String::from))]
    data: Vec<String>,
    /// How many records of the data a part has at most, by number of parts that would be full
    #[arg(long, value_delimiter = ',', default_values_t = 6..=30)]
    full: Vec<u64>,
    /// How many candidates must remain
    #[arg(short, default_value_t = 5)]
    k: u32,
    /// How many items an attacker may know
    #[arg(short, default_value_t = 2)]
    m: u32,
}

const DATA: [&str; 4] = ["bms-webview-2", "bms-webview-1", "mdcr-icd9", "t10i4d100k"];

impl Args {
    pub fn run(&self, output: &Path) -> anyhow::Result<()> {
        let mut table = std::fs::File::create(output.join("parts.csv"))?;
        writeln!(table, "data,part_size,parts,tlost,pairs_kept,seconds")?;
        let parameters = Parameters::new(K::new(self.k)?, M::new(self.m)?);
        for name in &self.data {
            let data = load(name)?;
            for full in [1].iter().chain(&self.full) {
                let size = (data.len() as u64).div_ceil(*full);
                let start = Instant::now();
                let (parts, release) = in_parts(&data, &parameters, size)?;
                let seconds = start.elapsed().as_secs_f64();
                let (tlost, kept) = measured(&data, &release)?;
                writeln!(table, "{name},{size},{parts},{tlost:.4},{kept:.4},{seconds:.1}")?;
                table.flush()?;
            }
        }
        Ok(())
    }
}

/// The release in parts of at most about `size` records, and how many there were.
fn in_parts(
    data: &Dataset,
    parameters: &Parameters,
    size: u64,
) -> anyhow::Result<(usize, Release)> {
    let counts = data.supports().into_iter().map(u64::from).collect();
    let record = |items| {
        let mut bytes = Vec::new();
        Counted::<()>::record(items, &mut bytes);
        bytes
    };
    let counted = Counted { records: data.records().map(record).collect(), counts };
    let numbered = Numbered { counted, numbers: None };
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let mut take = |key: &[u8]| {
        keys.push(key.to_vec());
        Ok(())
    };
    let size = PartSize::records(size, parameters.max_cluster_size)?.into();
    let parts = anonymize_numbered(numbered, parameters, size, &mut InMemory, &mut take, &())?;
    keys.sort_unstable();
    let clusters = keys.iter().map(|key| Cluster::from_key(key)).collect::<Result<_, _>>()?;
    let body = Disassociated { vocabulary: data.vocabulary().clone(), clusters };
    Ok((parts, publish(parameters, body)))
}

fn measured(data: &Dataset, release: &Release) -> anyhow::Result<(f64, f64)> {
    ensure!(verify(release, &())?.holds, "a release in parts does not hold");
    let options = Options::default();
    let comparison = Comparison::new(release, data, &options, &())?;
    let (tlost, kept) = (measure::tlost(&comparison), measure::pairs_kept(&comparison));
    Ok((tlost.unwrap_or_default(), kept.unwrap_or_default()))
}
