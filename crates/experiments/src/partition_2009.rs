//! partition-2009, Figures 3 to 7: time and information loss of Partition and
//! Apriori (AA) on three data sets, and against m, k, |D| and the fan-out.
//!
//! BMS-POS is not public any more: Quest data of its shape stands in for it.
//! As in the paper, every point is the mean over fan-outs 4, 5 and 6, k is 10
//! and m is 4 unless they vary. Where the paper sets m to the longest record,
//! m is 16, the most that the library takes.

use std::path::Path;
use std::time::Instant;

use setveil::Dataset;
use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::data::{K, M};
use setveil::methods::partition::Outcome;
use setveil::methods::{apriori, partition};

use crate::data::{load, pos_stand_in};
use crate::figure::Figure;

const FANOUTS: [usize; 3] = [4, 5, 6];

/// What is drawn.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only these figures, by number
    #[arg(long, value_delimiter = ',', default_values_t = [3, 4, 5, 6, 7])]
    figures: Vec<u8>,
}

/// One point of both methods: seconds and NCP in percent.
#[derive(Default)]
struct Point {
    partition: [f64; 2],
    apriori: [f64; 2],
}

impl Point {
    fn lines(&self) -> [(&'static str, [f64; 2]); 2] {
        [("Partition", self.partition), ("AA", self.apriori)]
    }
}

impl Args {
    /// Runs the methods and writes the figures into `folder`.
    pub fn run(&self, folder: &Path) -> anyhow::Result<()> {
        let wants = |figure: u8| self.figures.contains(&figure);
        if wants(3) {
            data_sets(folder)?;
        }
        let data = load("bms-webview-2")?;
        if wants(4) {
            let values = [1, 2, 3, 4, 5, 6, 8, 12, 16].map(|m| (f64::from(m), m));
            draw(folder, "4", "m", &values, |&m| measure(&data, &FANOUTS, 10, m))?;
        }
        if wants(5) {
            let values = [5, 10, 25, 50, 75, 100].map(|k| (f64::from(k), k));
            draw(folder, "5", "k", &values, |&k| measure(&data, &FANOUTS, k, 4))?;
        }
        if wants(6) {
            let values = [1, 3, 5, 10, 20, 40, 77].map(|n| (f64::from(n), n as usize * 1000));
            draw(folder, "6", "thousand records", &values, |&n| {
                measure(&first(&data, n), &FANOUTS, 10, 4)
            })?;
        }
        if wants(7) {
            let values = [3, 4, 5, 6, 7, 8, 9, 10].map(|f| (f as f64, f));
            draw(folder, "7", "fan-out", &values, |&f| measure(&data, &[f], 10, 4))?;
        }
        Ok(())
    }
}

/// Figure 3: the three data sets, AA with the largest m.
fn data_sets(folder: &Path) -> anyhow::Result<()> {
    let [mut time, mut loss] = figures("3", "data set");
    let all = [
        ("WebView-1", load("bms-webview-1")?),
        ("WebView-2", load("bms-webview-2")?),
        ("POS stand-in", pos_stand_in()?),
    ];
    for (name, data) in &all {
        for (line, [seconds, ncp]) in measure(data, &FANOUTS, 10, 16)?.lines() {
            time.bar(line, name, seconds);
            loss.bar(line, name, ncp);
        }
    }
    time.write(folder)?;
    loss.write(folder)
}

fn figures(number: &str, x: &str) -> [Figure; 2] {
    let figure = |part: &str, what: &str, y: &str| {
        let title = format!("Fig. {number}{part}: {what} against {x}");
        Figure::new(&format!("partition-2009-fig{number}{part}"), &title, x, y)
    };
    [figure("a", "time", "seconds"), figure("b", "information loss", "NCP in %")]
}

fn draw<T>(
    folder: &Path,
    number: &str,
    x: &str,
    values: &[(f64, T)],
    point: impl Fn(&T) -> anyhow::Result<Point>,
) -> anyhow::Result<()> {
    let [mut time, mut loss] = figures(number, x);
    for (at, value) in values {
        for (line, [seconds, ncp]) in point(value)?.lines() {
            time.point(line, *at, seconds);
            loss.point(line, *at, ncp);
        }
    }
    time.write(folder)?;
    loss.write(folder)
}

/// Both methods, averaged over the fan-outs.
fn measure(data: &Dataset, fanouts: &[usize], k: u32, m: u32) -> anyhow::Result<Point> {
    let (k, m) = (K::new(k)?, M::new(m)?);
    let mut point = Point::default();
    let share = 1.0 / fanouts.len() as f64;
    let add = |sum: &mut [f64; 2], start: Instant, outcome: Outcome| {
        sum[0] += start.elapsed().as_secs_f64() * share;
        sum[1] += outcome.ncp * 100.0 * share;
    };
    for &fanout in fanouts {
        let tree = balanced(data.vocabulary(), fanout, LeafOrder::Natural)?;
        let start = Instant::now();
        let parameters = partition::Parameters::new(k, tree.clone());
        add(&mut point.partition, start, partition::run(data, &parameters, &())?);
        let start = Instant::now();
        let parameters = apriori::Parameters::new(k, m, tree);
        add(&mut point.apriori, start, apriori::run(data, &parameters, &())?);
    }
    Ok(point)
}

/// The first records; the hierarchy keeps all items.
fn first(data: &Dataset, records: usize) -> Dataset {
    data.with_records(data.records().take(records))
}
