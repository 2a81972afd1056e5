//! How good expected supports are: error and calibration for random pairs, with
//! each prior. The measured prior was chosen with all of these data sets in view: pairs are
//! new, data sets are not. `--held-out` chooses factors anew for each data set on the
//! others ([`held_out`]).

mod case;
mod held_out;

use std::path::Path;

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use setveil::Dataset;
use setveil::data::{ItemId, K, M};
use setveil::methods::disassociation::{self, Parameters};
use setveil::query::Prior;
use setveil::workflow::{self, QueryOptions};

use crate::data;

const DATA: &[&str] =
    &["groceries", "fruithut", "t10i4d100k", "bms-webview-1", "bms-webview-2", "mdcr-icd9"];
/// Items in fewer records than this are in no pair.
const LEAST: u32 = 20;

/// Error and calibration of expected supports of random pairs (docs/analyst.md)
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many pairs
    #[arg(long, default_value_t = 20_000)]
    pairs: usize,
    #[arg(short, default_value_t = 5)]
    k: u32,
    #[arg(short, default_value_t = 2)]
    m: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Choose factors on the other data sets, for each
    #[arg(long)]
    held_out: bool,
}

/// A pair with its support in the original.
struct Pair {
    labels: Vec<String>,
    support: u64,
}

impl Args {
    pub fn run(&self, output: &Path) -> anyhow::Result<()> {
        if self.held_out {
            return held_out::run(self, output);
        }
        let mut errors = csv::Writer::from_path(output.join("estimates.csv"))?;
        errors.write_record([
            "data",
            "prior",
            "relative_error",
            "rmse",
            "calibration_error",
            "outside",
        ])?;
        let mut table = csv::Writer::from_path(output.join("reliability.csv"))?;
        table.write_record(["data", "prior", "from", "to", "pairs", "probability", "occur"])?;
        for &name in DATA {
            let original = data::load(name)?;
            let pairs = self.pairs(&original);
            let parameters = Parameters::new(K::new(self.k)?, M::new(self.m)?);
            let release = disassociation::anonymize(&original, &parameters, &())?;
            let asked: Vec<Vec<String>> = pairs.iter().map(|pair| pair.labels.clone()).collect();
            for (prior, title) in [(Prior::Worlds, "worlds"), (Prior::Measured, "measured")] {
                let options = QueryOptions::default().prior(prior);
                let answers = workflow::query(&release, &asked, &options, &())?;
                let supports = pairs.iter().map(|pair| pair.support);
                let found: Vec<Judged> =
                    answers.iter().zip(supports).map(|(a, s)| Judged::new(a, s)).collect();
                let summary = Summary::of(&found);
                errors.write_record(summary.row(name, title))?;
                for bin in &summary.bins {
                    table.write_record(bin.row(name, title))?;
                }
            }
        }
        errors.flush()?;
        Ok(table.flush()?)
    }

    /// Random pairs of items that are not too rare.
    fn pairs(&self, original: &Dataset) -> Vec<Pair> {
        let supports = original.supports();
        let items: Vec<ItemId> =
            (0..supports.len() as ItemId).filter(|&i| supports[i as usize] >= LEAST).collect();
        let mut records: Vec<Vec<u32>> = vec![Vec::new(); supports.len()];
        for (r, record) in original.records().enumerate() {
            record.iter().for_each(|&item| records[item as usize].push(r as u32));
        }
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let draw = |_| {
            let pair = sample(&mut rng, items.len(), 2);
            let [a, b] = [items[pair.index(0)], items[pair.index(1)]];
            let (short, long) = (&records[a as usize], &records[b as usize]);
            let support = short.iter().filter(|r| long.binary_search(r).is_ok()).count() as u64;
            let labels = [a, b].map(|item| original.vocabulary().label(item).to_owned()).to_vec();
            Pair { labels, support }
        };
        (0..self.pairs).map(draw).collect()
    }
}

/// An answer beside the truth.
struct Judged {
    expected: f64,
    support: f64,
    outside: bool,
    /// How likely it is that the pair occurs; none where that is certain.
    probability: Option<f64>,
}

impl Judged {
    fn new(answer: &setveil::query::Answer, support: u64) -> Self {
        let above = answer.upper.is_some_and(|upper| support > upper);
        Self {
            expected: answer.expected,
            support: support as f64,
            outside: support < answer.lower || above,
            probability: (answer.lower == 0).then(|| 1.0 - (-answer.expected).exp()),
        }
    }
}

/// Pairs that are given about the same probability.
struct Bin {
    from: f64,
    pairs: usize,
    probability: f64,
    occur: f64,
}

impl Bin {
    fn row(&self, name: &str, prior: &str) -> [String; 7] {
        let number = |x: f64| format!("{x:.3}");
        let [from, to] = [self.from, self.from + 0.1].map(number);
        let [probability, occur] = [self.probability, self.occur].map(number);
        [name.into(), prior.into(), from, to, self.pairs.to_string(), probability, occur]
    }
}

struct Summary {
    relative: f64,
    rmse: f64,
    calibration: f64,
    outside: usize,
    bins: Vec<Bin>,
}

impl Summary {
    fn of(found: &[Judged]) -> Self {
        let n = found.len().max(1) as f64;
        let relative = |j: &Judged| match j.expected + j.support {
            0.0 => 0.0,
            sum => 2.0 * (j.expected - j.support).abs() / sum,
        };
        let square = |j: &Judged| (j.expected - j.support).powi(2);
        let bins: Vec<Bin> = (0..10).filter_map(|i| bin(found, f64::from(i) / 10.0)).collect();
        let open: usize = bins.iter().map(|bin| bin.pairs).sum();
        let off = bins.iter().map(|b| b.pairs as f64 * (b.probability - b.occur).abs());
        Self {
            relative: found.iter().map(relative).sum::<f64>() / n,
            rmse: (found.iter().map(square).sum::<f64>() / n).sqrt(),
            calibration: off.sum::<f64>() / open.max(1) as f64,
            outside: found.iter().filter(|j| j.outside).count(),
            bins,
        }
    }

    fn row(&self, name: &str, prior: &str) -> [String; 6] {
        let [relative, rmse, calibration] =
            [self.relative, self.rmse, self.calibration].map(|x| format!("{x:.3}"));
        let outside = self.outside.to_string();
        [name.into(), prior.into(), relative, rmse, calibration, outside]
    }
}

fn bin(found: &[Judged], from: f64) -> Option<Bin> {
    let inside = |p: f64| p >= from && (p < from + 0.1 || from >= 0.9);
    let here: Vec<(f64, bool)> = found
        .iter()
        .filter_map(|j| j.probability.filter(|&p| inside(p)).map(|p| (p, j.support > 0.0)))
        .collect();
    let n = here.len() as f64;
    let probability = here.iter().map(|h| h.0).sum::<f64>() / n;
    let occur = here.iter().filter(|h| h.1).count() as f64 / n;
    (!here.is_empty()).then_some(Bin { from, pairs: here.len(), probability, occur })
}
