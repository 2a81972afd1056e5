//! Figures 7 and 9: real data sets. The paper draws Figures 7b to 7d for POS
//! only; here they are drawn for every data set.

use std::num::NonZeroU32;
use std::path::Path;

use setveil::Dataset;
use setveil::measure::{Comparison, Options, re, re_a};

use super::{Disassociation2012, losses, release, seconds};
use crate::figure::Figure;

const KS: [u32; 7] = [4, 5, 6, 8, 10, 15, 20];
const RANKS: [usize; 5] = [0, 100, 200, 300, 400];
const RECONSTRUCTIONS: [u32; 4] = [1, 2, 5, 10];

impl Disassociation2012 {
    /// Figures 7a to 7d.
    pub(super) fn losses_of_real_data(
        &self,
        all: &[(&str, Dataset)],
        folder: &Path,
    ) -> anyhow::Result<()> {
        let title = "Fig. 7a: information loss, k = 5, m = 2";
        let mut overview = Figure::new("disassociation-2012-fig7a", title, "data set", "loss");
        for (name, data) in all {
            let figure = |part: &str, title: &str, y: &str| {
                let title = format!("Fig. {part}: {title}, {name}, m = 2");
                Figure::new(
                    &format!("disassociation-2012-fig{part}-{}", file(name)),
                    &title,
                    "k",
                    y,
                )
            };
            let mut frequent = figure("7b", "frequent itemsets and terms", "loss");
            let mut error = figure("7c", "relative error", "re");
            for k in KS {
                let found = self.measure(&release(data, k)?, data)?;
                for (line, value) in losses(&found) {
                    if k == 5 {
                        overview.bar(line, name, value);
                    }
                    let figure = if line.starts_with("re") { &mut error } else { &mut frequent };
                    figure.point(line, k.into(), value);
                }
            }
            frequent.write(folder)?;
            error.write(folder)?;
            self.by_rank(name, data)?.write(folder)?;
        }
        overview.write(folder)
    }

    /// Figure 7d: re by the rank of the terms and the number of reconstructions.
    fn by_rank(&self, name: &str, data: &Dataset) -> anyhow::Result<Figure> {
        let release = release(data, 5)?;
        let mut figure = Figure::new(
            &format!("disassociation-2012-fig7d-{}", file(name)),
            &format!("Fig. 7d: averages over reconstructions, {name}, k = 5, m = 2"),
            "rank of the first of 20 terms",
            "re",
        );
        for reconstructions in RECONSTRUCTIONS {
            let draws = NonZeroU32::new(reconstructions).expect("none is 0");
            let options = Options::default().seed(self.seed).reconstructions(draws);
            let ranks = RANKS.map(|rank| options.clone().re_range(rank..rank + 20));
            // Drawing takes longest, and all ranks are measured on the same draws.
            let mut comparison = Comparison::new(&release, data, &ranks[0], &())?;
            for options in &ranks {
                comparison.options = options;
                let rank = options.re_range.start as f64;
                if let (1, Some(re_a)) = (reconstructions, re_a(&comparison)) {
                    figure.point("re-a", rank, re_a);
                }
                if let Some(re) = re(&comparison) {
                    figure.point(&format!("re-r{reconstructions}"), rank, re);
                }
            }
        }
        Ok(figure)
    }
}

/// Figure 9.
pub(super) fn time_by_k(all: &[(&str, Dataset)]) -> anyhow::Result<Figure> {
    let title = "Fig. 9: time to anonymize, m = 2";
    let mut figure = Figure::new("disassociation-2012-fig9", title, "k", "seconds");
    for (name, data) in all {
        for k in KS {
            figure.point(name, k.into(), seconds(data, k)?);
        }
    }
    Ok(figure)
}

fn file(name: &str) -> String {
    name.replace(' ', "-").to_lowercase()
}
