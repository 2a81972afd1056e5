//! Data in parts, step by step, for whoever runs the steps on many machines.
//!
//! Every step takes and gives Arrow tables; plans go from machine to machine
//! as bytes. Items are numbers: their place in the ascending list of labels.
//! What the steps do, and in which order, says `disassociation::parts`.

use arrow_array::builder::{LargeBinaryBuilder, ListBuilder, UInt32Builder};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use setveil::data::{ItemId, Vocabulary};
use setveil::io::{ClusterWriter, MemoryRelease, end_release};
use setveil::methods::disassociation::parts::{self, Records};
use setveil::methods::disassociation::{Parameters, publish};
use setveil::release::{Cluster, Disassociated, FileEntry};

use crate::columns::{Column, Table, column};
use crate::errors;
use crate::layout::parse;
use crate::plan::Ranks;
use crate::release::{dict_of, json};
use crate::run::Manner;

fn clusters_of(table: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<u8>>> {
    let column = column(table, 0)?;
    let bytes = (0..column.len()).map(|row| column.bytes(row).map(<[u8]>::to_vec));
    bytes.collect::<setveil::Result<_>>().map_err(|e| errors::raise(table.py(), &e))
}

fn table_of(name: &'static str, clusters: &[Vec<u8>]) -> PyResult<Table> {
    let mut builder = LargeBinaryBuilder::new();
    clusters.iter().for_each(|cluster| builder.append_value(cluster));
    Table::new(vec![(name, Column::of(builder.finish()))])
}

/// Refuses parameters for which data cannot come in parts.
#[pyfunction]
pub fn check_parts(py: Python<'_>, parameters: &str) -> PyResult<()> {
    let parameters: Parameters = parse(parameters)?;
    parts::check(&parameters).map_err(|e| errors::raise(py, &e))
}

/// How many rounds of joins there are, and how many times fewer parts each has.
#[pyfunction]
pub fn join_rounds() -> Vec<u64> {
    parts::JOIN_ROUNDS.to_vec()
}

/// The three steps for the records of one part, and `equal` ones with their
/// number: open clusters.
#[pyfunction]
pub fn split_part(
    table: &Bound<'_, PyAny>,
    equal: Vec<(Vec<ItemId>, u64)>,
    parameters: &str,
    manner: &Manner,
) -> PyResult<Table> {
    let (lists, parameters) = (column(table, 0)?, parse::<Parameters>(parameters)?);
    let clusters = manner.run(table.py(), |progress| {
        let mut records = Records::default();
        for row in 0..lists.len() {
            records.push(&lists.items(row)?, 1);
        }
        equal.iter().for_each(|(items, count)| records.push(items, *count));
        parts::split(records, &parameters, progress)
    })?;
    table_of("cluster", &clusters)
}

/// Lets open clusters share terms that have a rank: open clusters.
#[pyfunction]
pub fn join_part(
    table: &Bound<'_, PyAny>,
    ranks: &Ranks,
    parameters: &str,
    manner: &Manner,
) -> PyResult<Table> {
    let (clusters, parameters) = (clusters_of(table)?, parse::<Parameters>(parameters)?);
    let joined = manner
        .run(table.py(), |progress| parts::join(clusters, &ranks.0, &parameters, progress))?;
    table_of("cluster", &joined)
}

/// The terms that each open cluster has not shared, each with its number of records.
#[pyfunction]
pub fn open_terms(table: &Bound<'_, PyAny>) -> PyResult<Table> {
    let column = column(table, 0)?;
    let (mut items, mut records) =
        (ListBuilder::new(UInt32Builder::new()), ListBuilder::new(UInt32Builder::new()));
    for row in 0..column.len() {
        let terms = column.bytes(row).and_then(parts::terms);
        for (item, count) in terms.map_err(|e| errors::raise(table.py(), &e))? {
            items.values().append_value(item);
            records.values().append_value(count);
        }
        items.append(true);
        records.append(true);
    }
    Table::new(vec![
        ("items", Column::of(items.finish())),
        ("records", Column::of(records.finish())),
    ])
}

/// What is published of each open cluster, as a key that sorts canonically.
#[pyfunction]
pub fn close_clusters(table: &Bound<'_, PyAny>, items: u32) -> PyResult<Table> {
    let column = column(table, 0)?;
    let ids: Vec<ItemId> = (0..items).collect();
    let key = |row| Ok(parts::close(column.bytes(row)?)?.key(&ids));
    let keys: setveil::Result<Vec<Vec<u8>>> = (0..column.len()).map(key).collect();
    table_of("key", &keys.map_err(|e| errors::raise(table.py(), &e))?)
}

/// One file of a release in several, of sorted keys: its bytes, and its entry
/// in the manifest as JSON.
#[pyfunction]
pub fn cluster_file<'py>(
    table: &Bound<'py, PyAny>,
    labels: Vec<String>,
    number: u64,
    parameters: &str,
    manner: &Manner,
) -> PyResult<(Bound<'py, PyBytes>, String)> {
    let (keys, parameters) = (column(table, 0)?, parse::<Parameters>(parameters)?);
    let (bytes, mut entry) = manner.run(table.py(), |progress| {
        let clusters = (0..keys.len()).map(|row| Cluster::from_key(keys.bytes(row)?));
        let clusters = clusters.collect::<setveil::Result<_>>()?;
        let body = Disassociated { vocabulary: Vocabulary::new(labels), clusters };
        let mut memory = MemoryRelease::default();
        let mut writer = ClusterWriter::several_files(&mut memory, u64::MAX, progress);
        writer.add(&body)?;
        let empty = publish(&parameters, Disassociated::default());
        let manifest = writer.finish(&empty.manifest)?;
        let of_clusters = |entry: &FileEntry| entry.name.starts_with("clusters-");
        let entry = manifest.files.into_iter().find(of_clusters).expect("it was written");
        let bytes = memory.files.remove(&entry.name).expect("it was written");
        Ok((bytes, entry))
    })?;
    entry.name = format!("clusters-{number:05}.jsonl");
    Ok((PyBytes::new(table.py(), &bytes), json(&entry)?))
}

/// The other files of a release in several, the manifest among them: it is
/// written last.
#[pyfunction]
pub fn end_of_parts<'py>(
    py: Python<'py>,
    parameters: &str,
    records: u64,
    items: u64,
    entries: Vec<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let parameters: Parameters = parse(parameters)?;
    let mut manifest = publish(&parameters, Disassociated::default()).manifest;
    (manifest.records, manifest.items) = (records, items);
    manifest.files = entries.iter().map(|entry| parse(entry)).collect::<PyResult<_>>()?;
    let mut memory = MemoryRelease::default();
    end_release(manifest, &mut memory, &()).map_err(|e| errors::raise(py, &e))?;
    dict_of(py, memory)
}
