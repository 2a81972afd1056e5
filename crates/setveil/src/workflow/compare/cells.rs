//! One setting: run, verified, measured, and stored when it is finished.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::{Store, grid};
use crate::measure::{Options, candidates};
use crate::workflow;
use crate::{Dataset, Error, Progress, Result};

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
pub(super) struct Basis<'a> {
    pub(super) data: &'a Dataset,
    pub(super) options: &'a Options,
    /// The sensitive items, for methods that separate them.
    pub(super) sensitive: &'a [String],
}

/// A finished cell.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Row {
    /// The setting.
    #[serde(flatten)]
    pub cell: Cell,
    /// Whether the release's guarantee holds; none if the method refused.
    pub holds: Option<bool>,
    /// What `holds` does not say, where the release cannot show its guarantee.
    pub note: Option<String>,
    /// Probability of finding a person by m known items (2 where there is no
    /// m); none where noise leaves no candidates to count.
    pub risk: Option<f64>,
    /// See [`Evaluation`](crate::measure::Evaluation) for this and the others.
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
    /// Time to anonymize.
    pub seconds: f64,
    /// Why the method refused.
    pub error: Option<String>,
    /// No other setting has less risk and less loss.
    #[serde(default)]
    pub frontier: bool,
}

/// What a stored row depends on besides its cell. Stays with the custodian.
pub(super) fn fingerprint(basis: &Basis) -> String {
    let Basis { data, options, sensitive } = basis;
    let mut hasher = DefaultHasher::new();
    sensitive.hash(&mut hasher);
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

fn make(cell: Cell, basis: &Basis, progress: &dyn Progress) -> Result<Row> {
    let Basis { data, options, .. } = *basis;
    let known = cell.m.unwrap_or(2);
    let start = Instant::now();
    let made = grid::method(basis, &cell).and_then(|method| method.run(data, progress));
    let mut row = Row { cell, ..Row::default() };
    let release = match made {
        Ok(outcome) => outcome.release,
        Err(Error::Cancelled) => return Err(Error::Cancelled),
        Err(error) => {
            row.error = Some(error.to_string());
            return Ok(row);
        }
    };
    row.seconds = start.elapsed().as_secs_f64();
    let verdict = workflow::verify(&release, progress)?;
    (row.holds, row.note) = (Some(verdict.holds), verdict.note.map(str::to_owned));
    row.risk = candidates(&release, data, known, options.seed, progress)?.last().copied();
    let found = workflow::evaluate(&release, data, options, progress)?;
    (row.tkd, row.re, row.tlost) = (found.tkd, found.re, found.tlost);
    (row.pairs_kept, row.ncp, row.kl) = (found.pairs_kept, found.ncp, found.kl);
    Ok(row)
}
