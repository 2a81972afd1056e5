//! What was released of a data set, and how wrong its answers are.

use setveil::data::{K, M};
use setveil::methods::disassociation::{self, Parameters};
use setveil::query::{Factors, Prior};
use setveil::release::Release;
use setveil::workflow::{self, QueryOptions};
use setveil::worlds::spread;

use super::{Args, Judged, Summary};
use crate::data;
use crate::pairs::Pairs;

/// Relative, root mean square and calibration error of random pairs, then the relative errors of the most
/// frequent pairs and of random ones that are not rare.
pub(super) type Errors = [f64; 5];

/// The errors of random pairs, which are drawn without a look at their supports.
pub(super) const OF_RANDOM: std::ops::Range<usize> = 0..3;
pub(super) const ALL: std::ops::Range<usize> = 0..5;

pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) spread: f64,
    release: Release,
    asked: Vec<Vec<String>>,
    supports: Vec<u64>,
    known: Pairs,
}

impl Case {
    pub(super) fn new(name: &'static str, args: &Args) -> anyhow::Result<Self> {
        let original = data::load(name)?;
        let parameters = Parameters::new(K::new(args.k)?, M::new(args.m)?);
        let release = disassociation::anonymize(&original, &parameters, &())?;
        let pairs = args.pairs(&original).into_iter();
        let (asked, supports) = pairs.map(|pair| (pair.labels, pair.support)).unzip();
        let (known, spread) = (Pairs::of(&original, args.seed), spread(&release.body));
        Ok(Self { name, spread, release, asked, supports, known })
    }

    /// What the program assumes of the release.
    pub(super) fn in_use(&self) -> Factors {
        Prior::Measured.factors(&self.release.body)
    }

    /// How wrong answers are with `factors`; the last two only if `all` are wanted.
    pub(super) fn judge(&self, factors: Factors, all: bool) -> anyhow::Result<Errors> {
        let options = QueryOptions::default().factors(Some(factors));
        let answers = workflow::query(&self.release, &self.asked, &options, &())?;
        let found: Vec<Judged> =
            answers.iter().zip(&self.supports).map(|(a, &s)| Judged::new(a, s)).collect();
        let Summary { relative, rmse, calibration, .. } = Summary::of(&found);
        let [frequent, not_rare] =
            if all { self.known.errors(&self.release, &options)? } else { [f64::NAN; 2] };
        Ok([relative, rmse, calibration, frequent, not_rare])
    }
}
