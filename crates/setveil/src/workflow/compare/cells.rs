//! One setting: run, verified, measured, and stored when it is finished.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::{Store, grid};
use crate::caution::Caution;
use crate::measure::{Evaluation, Options};
use crate::risk::{self, Level};
use crate::workflow;
use crate::{Dataset, Error, Progress, Release, Result};

/// A method with its parameters; none where the method has no such parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The method's name.
    pub method: String,
    /// How many candidates must remain.
    pub k: Option<u32>,
    /// How many items an attacker may know.
    pub m: Option<u32>,
    /// The largest cluster.
    pub max_cluster_size: Option<usize>,
    /// The privacy degree.
    pub p: Option<u32>,
    /// The privacy budget.
    pub epsilon: Option<f64>,
}

impl Cell {
    /// Its name in the store and in the plot.
    pub fn name(&self) -> String {
        let text = |value: Option<u32>| value.map(|v| v.to_string());
        let parts = [
            ("k", text(self.k)),
            ("m", text(self.m)),
            ("s", self.max_cluster_size.map(|s| s.to_string())),
            ("p", text(self.p)),
            ("e", self.epsilon.map(|e| e.to_string())),
        ];
        let mut name = self.method.clone();
        for (letter, value) in parts {
            if let Some(value) = value {
                name += &format!("-{letter}{value}");
            }
        }
        name
    }
}

/// What all cells start from.
#[derive(Clone, Copy)]
pub(in super::super) struct Basis<'a> {
    pub(in super::super) data: &'a Dataset,
    pub(in super::super) options: &'a Options,
    /// How many items the attacker knows, up to how many are tried, and how
    /// often everything is repeated.
    pub(in super::super) known: u32,
    pub(in super::super) curve: u32,
    pub(in super::super) repeats: u32,
    /// The sensitive items, for methods that separate them.
    pub(in super::super) sensitive: &'a [String],
}

/// A finished cell: means over the seeds, and how far the seeds differ.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Row {
    /// The setting.
    #[serde(flatten)]
    pub cell: Cell,
    /// Whether the release's guarantee holds; none if the method refused.
    pub holds: Option<bool>,
    /// What `holds` does not say, where the release cannot show its guarantee.
    pub note: Option<String>,
    /// Why the setting is not recommended although its guarantee holds.
    pub weak: Option<String>,
    /// The seeds of people, data sets and reconstructions.
    pub seeds: Vec<u64>,
    /// What an attacker achieves who knows as many items as all rows are compared at.
    pub risk: Option<Level>,
    /// The same for 1, 2, ... known items.
    pub curve: Vec<Level>,
    /// What is left.
    #[serde(flatten)]
    pub utility: Utility,
    /// The standard deviation over the seeds.
    pub spread: Spread,
    /// Time to anonymize.
    pub seconds: f64,
    /// Why the method refused.
    pub error: Option<String>,
    /// No other setting has less risk and less loss.
    #[serde(default)]
    pub frontier: bool,
}

/// The measures that are compared; see [`Evaluation`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Utility {
    /// Lost itemsets.
    pub tkd: Option<f64>,
    /// Relative error.
    pub re: Option<f64>,
    /// Lost terms.
    pub tlost: Option<f64>,
    /// Pairs kept.
    pub pairs_kept: Option<f64>,
    /// Certainty penalty.
    pub ncp: Option<f64>,
    /// KL-divergence.
    pub kl: Option<f64>,
}

/// How far the seeds differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Of the risk.
    pub linking: Option<f64>,
    /// Of the measures.
    #[serde(flatten)]
    pub utility: Utility,
}

impl Utility {
    fn of(found: &Evaluation) -> Self {
        let Evaluation { tkd, re, tlost, pairs_kept, ncp, kl, .. } = *found;
        Self { tkd, re, tlost, pairs_kept, ncp, kl }
    }

    /// The measures by name, in the order of the table.
    pub fn named(&self) -> [(&'static str, Option<f64>); 6] {
        [
            ("tkd", self.tkd),
            ("re", self.re),
            ("tlost", self.tlost),
            ("pairs_kept", self.pairs_kept),
            ("ncp", self.ncp),
            ("kl", self.kl),
        ]
    }

    /// `each` of the values of one measure after the other.
    fn each(all: &[Self], each: impl Fn(&[f64]) -> Option<f64>) -> Self {
        let of = |value: fn(&Self) -> Option<f64>| {
            each(&all.iter().filter_map(value).collect::<Vec<f64>>())
        };
        Self {
            tkd: of(|u| u.tkd),
            re: of(|u| u.re),
            tlost: of(|u| u.tlost),
            pairs_kept: of(|u| u.pairs_kept),
            ncp: of(|u| u.ncp),
            kl: of(|u| u.kl),
        }
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The standard deviation; none of a single value.
fn deviation(values: &[f64]) -> Option<f64> {
    let centre = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// What a stored row depends on besides its cell. Stays with the custodian.
pub(super) fn fingerprint(basis: &Basis) -> String {
    let Basis { data, options, sensitive, known, curve, repeats } = basis;
    let mut hasher = DefaultHasher::new();
    (sensitive, known, curve, repeats).hash(&mut hasher);
    data.occurrences().hash(&mut hasher);
    data.records().map(<[_]>::len).for_each(|len| len.hash(&mut hasher));
    data.vocabulary().labels().for_each(|label| label.hash(&mut hasher));
    format!("{options:?}").hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[derive(Serialize, Deserialize)]
struct Stored {
    fingerprint: String,
    row: Row,
}

/// The row of a cell: from the store, or made and stored.
pub(super) fn row(
    cell: Cell,
    basis: &Basis,
    fingerprint: &str,
    store: &mut dyn Store,
    progress: &dyn Progress,
) -> Result<Row> {
    let name = cell.name();
    // What cannot be read, or belongs to other data, is made again.
    let stored = store.load(&name).and_then(|b| serde_json::from_slice::<Stored>(&b).ok());
    if let Some(stored) = stored.filter(|s| s.fingerprint == fingerprint && s.row.cell == cell) {
        return Ok(stored.row);
    }
    store.begin(&name);
    let row = make(cell, basis, progress)?;
    let stored = Stored { fingerprint: fingerprint.to_owned(), row };
    let bytes = serde_json::to_vec_pretty(&stored).expect("a row is numbers and texts");
    store.save(&name, &bytes)?;
    Ok(stored.row)
}

pub(in super::super) fn make(cell: Cell, basis: &Basis, progress: &dyn Progress) -> Result<Row> {
    let mut row = Row { cell, ..Row::default() };
    let (mut curves, mut measured) = (Vec::new(), Vec::new());
    for repeat in 0..basis.repeats.max(1) {
        let start = Instant::now();
        // Methods that draw at random draw again.
        let made =
            grid::method(basis, &row.cell).and_then(|method| method.run(basis.data, progress));
        let release = match made {
            Ok(outcome) => outcome.release,
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => {
                row.error = Some(error.to_string());
                return Ok(row);
            }
        };
        row.seconds += start.elapsed().as_secs_f64() / f64::from(basis.repeats.max(1));
        if repeat == 0 {
            judge(&mut row, &release, progress)?;
        }
        let seed = basis.options.seed + u64::from(repeat);
        let played = risk::Options::default().known(basis.curve).seed(seed);
        let options = basis.options.clone().seed(seed);
        row.seeds.push(seed);
        curves.push(workflow::played(&release, basis.data, &played, progress)?);
        measured.push(Utility::of(&workflow::measured(&release, basis.data, &options, progress)?));
    }
    let at = |known: usize| {
        curves.iter().filter_map(|curve| curve.get(known)).cloned().collect::<Vec<Level>>()
    };
    row.curve = (0..basis.curve as usize).filter_map(|i| Level::mean(&at(i))).collect();
    let compared = at(basis.known as usize - 1);
    row.risk = Level::mean(&compared);
    row.utility = Utility::each(&measured, mean);
    let linking: Vec<f64> = compared.iter().filter_map(|level| level.linking).collect();
    row.spread =
        Spread { linking: deviation(&linking), utility: Utility::each(&measured, deviation) };
    Ok(row)
}

/// Whether the promise holds, and what is weak about it.
fn judge(row: &mut Row, release: &Release, progress: &dyn Progress) -> Result<()> {
    let verdict = workflow::verify(release, progress)?;
    (row.holds, row.note) = (Some(verdict.holds), verdict.note.map(str::to_owned));
    // Every release of some methods has groups whose records share an item: a
    // comparison is not the place to say so again.
    // What everybody shares is a question for people, and rows have a risk that is measured.
    let weak = |caution: &Caution| !["homogeneous", "rows"].contains(&caution.kind);
    let weak = workflow::cautions(release).into_iter().find(weak);
    row.weak = weak.map(|caution| caution.what);
    Ok(())
}
