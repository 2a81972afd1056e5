//! cover-problem-2016, section 6: breaches against the maximum cluster size
//! for the three attackers, k = 3, m = 2.
//!
//! The paper's data sets that are at hand are both click-streams; REFINE is
//! off, since the paper leaves shared chunks out. The paper's total rises with
//! the cluster size; one more figure shows in which reading of its Algorithm 1
//! it does.

use std::path::Path;

use setveil::attack::cover::{Reading, total_as_read};
use setveil::attack::{Adversary, Background, Options};
use setveil::data::{K, M};
use setveil::methods::disassociation::{Parameters, anonymize};
use setveil::release::Body;
use setveil::workflow::attack;

use crate::data::load;
use crate::figure::Figure;

/// Attacks BMS-WebView-1 and -2 for growing clusters.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The largest clusters to try
    #[arg(long, value_delimiter = ',', default_values_t = [10, 20, 30, 40, 50, 75, 100])]
    sizes: Vec<usize>,
    /// The share of the records that the moderate attacker knows
    #[arg(long, default_value_t = 0.1)]
    share: f64,
    /// Let clusters share chunks
    #[arg(long)]
    refine: bool,
}

impl Args {
    /// Writes three figures (one an attacker) for each of two counts.
    pub fn run(&self, output: &Path) -> anyhow::Result<()> {
        let attackers = [
            (Adversary::Strong, "strong"),
            (Adversary::Moderate, "moderate"),
            (Adversary::Weak, "weak"),
        ];
        let size = "maximum cluster size";
        let mut figures: Vec<[Figure; 3]> = attackers
            .iter()
            .map(|(_, name)| {
                let figure = |what: &str, y: &str| {
                    let title = format!("cover-problem-2016, Fig. 4: {name} attacker, {y}");
                    Figure::new(&format!("cover-{name}-{what}"), &title, size, y)
                };
                [
                    figure("printed", "total as printed"),
                    figure("pairs", "breached pairs"),
                    figure("records", "vulnerable records"),
                ]
            })
            .collect();
        let title = "cover-problem-2016, Algorithm 1 in other readings, strong attacker";
        let mut readings = Figure::new("cover-strong-readings", title, size, "total");
        for data in ["bms-webview-1", "bms-webview-2"] {
            let dataset = load(data)?;
            for &max in &self.sizes {
                let mut parameters = Parameters::new(K::new(3)?, M::new(2)?);
                parameters.max_cluster_size = max;
                parameters.refine = self.refine;
                let release = anonymize(&dataset, &parameters, &())?;
                if let Body::Disassociated(body) = &release.body {
                    for (name, reading) in all_readings() {
                        let total = total_as_read(body, &Background::Everything, reading);
                        readings.point(&format!("{data}: {name}"), max as f64, total as f64);
                    }
                    let line = format!("{data}: clusters");
                    readings.point(&line, max as f64, body.clusters.len() as f64);
                }
                for ((adversary, _), figures) in attackers.iter().zip(&mut figures) {
                    // Posteriors and the algorithm-aware attacker are not in the paper.
                    let options = Options::default()
                        .adversary(*adversary)
                        .share(self.share)
                        .targets(1)
                        .worlds(0);
                    let report = attack(&release, Some(&dataset), &options, &())?.report;
                    let counts =
                        [report.printed_total, report.breached_pairs, report.vulnerable_records];
                    for (figure, count) in figures.iter_mut().zip(counts) {
                        figure.point(data, max as f64, count.unwrap_or(0) as f64);
                    }
                }
            }
        }
        readings.write(output)?;
        figures.iter().flatten().try_for_each(|figure| figure.write(output))
    }
}

/// Every combination of the points in which Algorithm 1 is at odds with its text.
fn all_readings() -> Vec<(&'static str, Reading)> {
    let reading = |max_per_cluster, every_item, all_chunks| Reading {
        max_per_cluster,
        every_item,
        all_chunks,
    };
    vec![
        ("as printed", reading(false, false, false)),
        ("max per cluster", reading(true, false, false)),
        ("every item", reading(false, true, false)),
        ("max per cluster and every item", reading(true, true, false)),
        ("all chunks", reading(true, false, true)),
        ("all chunks and every item", reading(true, true, true)),
    ]
}
