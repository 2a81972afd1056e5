//! One setting: run, verified, measured, and stored when it is finished.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use setveil::Dataset;
use setveil::io;
use setveil::measure::{Options, candidates, evaluate};
use setveil::verify::verify;

use super::methods;
use crate::context::Context;

/// A method with its parameters; none where the method has no such parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    pub method: String,
    pub k: Option<u32>,
    pub m: Option<u32>,
    pub max_cluster_size: Option<usize>,
    pub p: Option<u32>,
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
pub struct Basis<'a> {
    pub data: &'a Dataset,
    pub options: &'a Options,
    /// The sensitive items, for methods that separate them.
    pub sensitive: &'a [String],
}

/// A finished cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    #[serde(flatten)]
    pub cell: Cell,
    /// Whether the release's guarantee holds; none if the method refused.
    pub holds: Option<bool>,
    /// What `holds` does not say, where the release cannot show its guarantee.
    pub note: Option<String>,
    /// Probability of finding a person by m known items (2 where there is no
    /// m); none where noise leaves no candidates to count.
    pub risk: Option<f64>,
    pub tkd: Option<f64>,
    pub re: Option<f64>,
    pub tlost: Option<f64>,
    pub pairs_kept: Option<f64>,
    pub ncp: Option<f64>,
    pub kl: Option<f64>,
    /// Time to anonymize.
    pub seconds: f64,
    /// Why the method refused.
    pub error: Option<String>,
    /// No other setting has less risk and less loss.
    #[serde(default)]
    pub frontier: bool,
}

/// What a stored row depends on besides its cell. Stays in the custodian's
/// private directory.
pub fn fingerprint(basis: &Basis) -> String {
    let Basis { data, options, sensitive } = basis;
    let mut hasher = DefaultHasher::new();
    sensitive.hash(&mut hasher);
    data.occurrences().hash(&mut hasher);
    data.records().map(<[_]>::len).for_each(|len| len.hash(&mut hasher));
    data.vocabulary().labels().for_each(|label| label.hash(&mut hasher));
    format!("{:?}", options).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[derive(Serialize, Deserialize)]
struct Stored {
    fingerprint: String,
    row: Row,
}

/// The row of a cell: from the store, or made and stored.
pub fn row(
    cell: &Cell,
    basis: &Basis,
    store: &Path,
    fingerprint: &str,
    context: &Context,
) -> anyhow::Result<Row> {
    let path = store.join(format!("{}.json", cell.name()));
    // What cannot be read, or belongs to other data, is made again.
    let stored = std::fs::read(&path).ok().and_then(|b| serde_json::from_slice::<Stored>(&b).ok());
    if let Some(stored) = stored.filter(|s| s.fingerprint == fingerprint && s.row.cell == *cell) {
        return Ok(stored.row);
    }
    context.remark(&cell.name());
    let row = make(cell, basis, context)?;
    let stored = Stored { fingerprint: fingerprint.to_owned(), row };
    io::write_file(&path, &serde_json::to_vec_pretty(&stored)?, true)?;
    Ok(stored.row)
}

fn make(cell: &Cell, basis: &Basis, context: &Context) -> anyhow::Result<Row> {
    let Basis { data, options, .. } = *basis;
    let mut row = Row {
        cell: cell.clone(),
        holds: None,
        note: None,
        risk: None,
        tkd: None,
        re: None,
        tlost: None,
        pairs_kept: None,
        ncp: None,
        kl: None,
        seconds: 0.0,
        error: None,
        frontier: false,
    };
    let start = Instant::now();
    let release = match methods::run(basis, cell, context) {
        Ok(release) => release,
        Err(error) => {
            row.error = Some(error.to_string());
            return Ok(row);
        }
    };
    row.seconds = start.elapsed().as_secs_f64();
    let verdict = verify(&release);
    (row.holds, row.note) = (Some(verdict.holds), verdict.note.map(str::to_owned));
    let known = cell.m.unwrap_or(2);
    row.risk = candidates(&release, data, known, options.seed).last().copied();
    let found = evaluate(&release, data, options, context)?;
    (row.tkd, row.re, row.tlost) = (found.tkd, found.re, found.tlost);
    (row.pairs_kept, row.ncp, row.kl) = (found.pairs_kept, found.ncp, found.kl);
    Ok(row)
}
