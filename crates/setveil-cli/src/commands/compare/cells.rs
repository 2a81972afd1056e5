//! One setting: run, verified, measured, and stored when it is finished.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use setveil::Dataset;
use setveil::measure::{Options, candidates, evaluate};
use setveil::verify::verify;

use super::{methods, write};
use crate::context::Context;

/// A method with its parameters; none where the method has no such parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    pub method: String,
    pub k: u32,
    pub m: Option<u32>,
    pub max_cluster_size: Option<usize>,
}

impl Cell {
    /// Its name in the store and in the plot.
    pub fn name(&self) -> String {
        let mut name = format!("{}-k{}", self.method, self.k);
        if let Some(m) = self.m {
            name += &format!("-m{m}");
        }
        if let Some(size) = self.max_cluster_size {
            name += &format!("-s{size}");
        }
        name
    }
}

/// A finished cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    #[serde(flatten)]
    pub cell: Cell,
    /// Whether the release's guarantee holds; none if the method refused.
    pub holds: Option<bool>,
    /// Probability of finding a person by m known items (2 where there is no m).
    pub risk: Option<f64>,
    pub tkd: Option<f64>,
    pub re: Option<f64>,
    pub tlost: Option<f64>,
    pub pairs_kept: Option<f64>,
    pub ncp: Option<f64>,
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
pub fn fingerprint(data: &Dataset, options: &Options) -> String {
    let mut hasher = DefaultHasher::new();
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
    data: &Dataset,
    options: &Options,
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
    let row = make(cell, data, options, context)?;
    let stored = Stored { fingerprint: fingerprint.to_owned(), row };
    write(&path, &serde_json::to_string_pretty(&stored)?)?;
    Ok(stored.row)
}

fn make(cell: &Cell, data: &Dataset, options: &Options, context: &Context) -> anyhow::Result<Row> {
    let mut row = Row {
        cell: cell.clone(),
        holds: None,
        risk: None,
        tkd: None,
        re: None,
        tlost: None,
        pairs_kept: None,
        ncp: None,
        seconds: 0.0,
        error: None,
        frontier: false,
    };
    let start = Instant::now();
    let release = match methods::run(data, cell, context) {
        Ok(release) => release,
        Err(error) => {
            row.error = Some(error.to_string());
            return Ok(row);
        }
    };
    row.seconds = start.elapsed().as_secs_f64();
    row.holds = Some(verify(&release).holds);
    let known = cell.m.unwrap_or(2);
    row.risk = candidates(&release, data, known, options.seed).last().copied();
    let found = evaluate(&release, data, options, context)?;
    (row.tkd, row.re, row.tlost) = (found.tkd, found.re, found.tlost);
    (row.pairs_kept, row.ncp) = (found.pairs_kept, found.ncp);
    Ok(row)
}
