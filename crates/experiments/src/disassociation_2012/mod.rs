//! disassociation-2012, section 7: information loss on real and made-up data,
//! time, and the comparison with Apriori and DiffPart.
//!
//! BMS-WebView-1 and -2 are WV1 and WV2 of the paper. POS is not public any
//! more; Quest data of its shape stands in for it and is called so. Unless
//! said otherwise k = 5 and m = 2, as in the paper.

mod comparison;
mod real;
mod synthetic;

use std::path::Path;
use std::time::Instant;

use clap::Args;
use setveil::data::{K, M};
use setveil::measure::{Evaluation, Options};
use setveil::methods::disassociation::{Parameters, anonymize};
use setveil::workflow::evaluate;
use setveil::{Dataset, Release};

use crate::data;
use real::time_by_k;

/// Figures 7 to 11 of disassociation-2012: information loss, time, and other methods
#[derive(Debug, Args)]
pub struct Disassociation2012 {
    /// Only these figures, by number
    #[arg(long, value_delimiter = ',', default_values_t = [7, 8, 9, 10, 11])]
    figures: Vec<u8>,
    /// How many records the made-up data of Figures 8 and 10 has where something else varies
    #[arg(long, default_value_t = 1_000_000)]
    records: u64,
    /// Where the random draws of reconstructions and of DiffPart's noise begin
    #[arg(long, default_value_t = 2012)]
    seed: u64,
}

/// How often something is timed; the shortest counts, being the least disturbed.
const TIMED: usize = 3;

impl Disassociation2012 {
    /// Draws the figures into `folder`.
    pub fn run(&self, folder: &Path) -> anyhow::Result<()> {
        let wants = |figure: u8| self.figures.contains(&figure);
        if wants(7) || wants(9) || wants(11) {
            let data = data_sets()?;
            if wants(7) {
                self.losses_of_real_data(&data, folder)?;
            }
            if wants(9) {
                time_by_k(&data)?.write(folder)?;
            }
            if wants(11) {
                self.other_methods(&data, folder)?;
            }
        }
        if wants(8) || wants(10) {
            self.synthetic(folder)?;
        }
        Ok(())
    }

    fn measure(&self, release: &Release, data: &Dataset) -> anyhow::Result<Evaluation> {
        let options = Options::default().seed(self.seed);
        Ok(evaluate(release, data, &options, &())?)
    }
}

/// The paper's data sets, by its names.
fn data_sets() -> anyhow::Result<[(&'static str, Dataset); 3]> {
    Ok([
        ("WV1", data::load("bms-webview-1")?),
        ("WV2", data::load("bms-webview-2")?),
        ("POS stand-in", data::pos_stand_in()?),
    ])
}

fn release(data: &Dataset, k: u32) -> anyhow::Result<Release> {
    Ok(anonymize(data, &Parameters::new(K::new(k)?, M::new(2)?), &())?)
}

/// The shortest of a few runs.
fn seconds(data: &Dataset, k: u32) -> anyhow::Result<f64> {
    let mut shortest = f64::MAX;
    for _ in 0..TIMED {
        let start = Instant::now();
        release(data, k)?;
        shortest = shortest.min(start.elapsed().as_secs_f64());
    }
    Ok(shortest)
}

/// The measures of Figures 7 and 8 under the paper's names.
fn losses(found: &Evaluation) -> impl Iterator<Item = (&'static str, f64)> {
    let all = [
        ("tKd-a", found.tkd_a),
        ("tKd", found.tkd),
        ("tlost", found.tlost),
        ("re-a", found.re_a),
        ("re", found.re),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?)))
}
