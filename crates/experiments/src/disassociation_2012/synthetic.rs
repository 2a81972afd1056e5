//! Figures 8 and 10: made-up data (Quest) of growing size, domain and record
//! length. 5,000 items and a mean length of 10 unless they vary, as in the
//! paper.

use std::path::Path;

use setveil::generate::QuestParameters;

use super::{Disassociation2012, losses, release, seconds};
use crate::data::quest;
use crate::figure::Figure;

/// Enough for most items to stand in a pattern; items outside of all patterns
/// never occur.
const PATTERNS: u32 = 10_000;

const SHARES: [f64; 4] = [0.1, 0.25, 0.5, 1.0];
const ITEMS: [u32; 4] = [2_500, 5_000, 7_500, 10_000];
const LENGTHS: [u32; 5] = [4, 7, 10, 13, 16];

/// The parts of Figures 8 and 10 that vary the same thing.
struct Sweep<'a> {
    part: &'a str,
    time: Option<&'a str>,
    x: &'a str,
    points: Vec<(f64, QuestParameters)>,
}

impl Disassociation2012 {
    pub(super) fn synthetic(&self, folder: &Path) -> anyhow::Result<()> {
        let usual = QuestParameters::default()
            .records(self.records)
            .items(5_000)
            .mean_length(10.0)
            .patterns(PATTERNS);
        let size = |share: f64| {
            let records = (self.records as f64 * share) as u64;
            (records as f64 / 1000.0, usual.clone().records(records))
        };
        let domain = |items| (f64::from(items), usual.clone().items(items));
        let length = |mean: u32| (f64::from(mean), usual.clone().mean_length(mean.into()));
        let sweeps = [
            Sweep {
                part: "8ab",
                time: Some("10a"),
                x: "thousand records",
                points: SHARES.map(size).into(),
            },
            Sweep { part: "8c", time: Some("10b"), x: "items", points: ITEMS.map(domain).into() },
            Sweep { part: "8d", time: None, x: "mean length", points: LENGTHS.map(length).into() },
        ];
        sweeps.iter().try_for_each(|sweep| self.sweep(sweep, folder))
    }

    fn sweep(&self, sweep: &Sweep, folder: &Path) -> anyhow::Result<()> {
        let figure = |part: &str, what: &str, y: &str| {
            let title = format!("Fig. {part}: {what}, Quest, k = 5, m = 2");
            Figure::new(&format!("disassociation-2012-fig{part}"), &title, sweep.x, y)
        };
        let mut loss = figure(sweep.part, "information loss", "loss");
        let mut time = sweep.time.map(|part| figure(part, "time to anonymize", "seconds"));
        time = time.filter(|_| self.figures.contains(&10));
        for (x, parameters) in &sweep.points {
            let data = quest(parameters)?;
            if let Some(time) = &mut time {
                time.point("disassociation", *x, seconds(&data, 5)?);
            }
            if self.figures.contains(&8) {
                for (line, value) in losses(&self.measure(&release(&data, 5)?, &data)?) {
                    loss.point(line, *x, value);
                }
            }
        }
        if self.figures.contains(&8) {
            loss.write(folder)?;
        }
        time.iter().try_for_each(|time| time.write(folder))
    }
}
