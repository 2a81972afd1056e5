//! disassociation-2012, section 7, on the real data sets that are here:
//! BMS-WebView-1 and -2 (WV1 and WV2 of the paper). POS is not available, so
//! what the paper shows for POS in Figures 7b to 7d is shown for these two.

use std::num::NonZeroU32;
use std::path::Path;
use std::time::Instant;

use clap::Args;
use setveil::Dataset;
use setveil::data::{K, M};
use setveil::measure::{Evaluation, Options, evaluate};
use setveil::methods::disassociation::{Parameters, anonymize};

use crate::data;
use crate::figure::Figure;

/// Figures 7 and 9 of disassociation-2012: information loss and time
#[derive(Debug, Args)]
pub struct Disassociation2012 {
    /// Where the random draws of reconstructions begin
    #[arg(long, default_value = "2012")]
    seed: u64,
}

const KS: [u32; 7] = [4, 5, 6, 8, 10, 15, 20];
const RANKS: [usize; 5] = [0, 100, 200, 300, 400];
const RECONSTRUCTIONS: [u32; 4] = [1, 2, 5, 10];

impl Disassociation2012 {
    /// Draws all figures into `folder`.
    pub fn run(&self, folder: &Path) -> anyhow::Result<()> {
        let mut overview = Figure::new(
            "disassociation-2012-fig-7a",
            "Information loss, k = 5, m = 2",
            "data set (1: WV1, 2: WV2)",
            "loss",
        );
        for (number, name) in [(1, "bms-webview-1"), (2, "bms-webview-2")] {
            let data = data::load(name)?;
            for figure in self.by_k(name, &data, f64::from(number), &mut overview)? {
                figure.write(folder)?;
            }
            self.by_rank(name, &data)?.write(folder)?;
        }
        overview.write(folder)
    }

    /// Figures 7a (at k = 5), 7b, 7c and 9.
    fn by_k(
        &self,
        name: &str,
        data: &Dataset,
        number: f64,
        overview: &mut Figure,
    ) -> anyhow::Result<[Figure; 3]> {
        let figure = |part: &str, title: &str, y: &str| {
            Figure::new(
                &format!("disassociation-2012-fig-{part}-{name}"),
                &format!("{title}, {name}, m = 2"),
                "k",
                y,
            )
        };
        let mut frequent = figure("7b", "Frequent itemsets and terms", "loss");
        let mut error = figure("7c", "Relative error", "re");
        let mut time = figure("9", "Time to anonymize", "seconds");
        for k in KS {
            let parameters = Parameters::new(K::new(k)?, M::new(2)?);
            let start = Instant::now();
            let release = anonymize(data, &parameters, &())?;
            time.point("disassociation", k.into(), start.elapsed().as_secs_f64());
            let options = Options { seed: self.seed, ..Options::default() };
            let found = evaluate(&release, data, &options, &())?;
            for (line, value) in losses(&found) {
                let Some(value) = value else { continue };
                if k == 5 {
                    overview.point(line, number, value);
                }
                let target = if line.starts_with("re") { &mut error } else { &mut frequent };
                target.point(line, k.into(), value);
            }
        }
        Ok([frequent, error, time])
    }

    /// Figure 7d: re by the rank of the terms and the number of reconstructions.
    fn by_rank(&self, name: &str, data: &Dataset) -> anyhow::Result<Figure> {
        let release = anonymize(data, &Parameters::new(K::new(5)?, M::new(2)?), &())?;
        let mut figure = Figure::new(
            &format!("disassociation-2012-fig-7d-{name}"),
            &format!("Averages over reconstructions, {name}, k = 5, m = 2"),
            "rank of the first of 20 terms",
            "re",
        );
        for reconstructions in RECONSTRUCTIONS {
            for rank in RANKS {
                let options = Options {
                    seed: self.seed,
                    re_range: rank..rank + 20,
                    reconstructions: NonZeroU32::new(reconstructions).expect("none is 0"),
                    ..Options::default()
                };
                let found = evaluate(&release, data, &options, &())?;
                if let Some(re) = found.re {
                    figure.point(&format!("re-r{reconstructions}"), rank as f64, re);
                }
                if let (1, Some(re_a)) = (reconstructions, found.re_a) {
                    figure.point("re-a", rank as f64, re_a);
                }
            }
        }
        Ok(figure)
    }
}

fn losses(found: &Evaluation) -> [(&'static str, Option<f64>); 5] {
    [
        ("tkd-a", found.tkd_a),
        ("tkd", found.tkd),
        ("tlost", found.tlost),
        ("re-a", found.re_a),
        ("re", found.re),
    ]
}
