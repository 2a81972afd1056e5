//! Data in parts, step by step, for whoever runs the steps on many machines.
//!
//! Every step takes and gives Arrow tables; plans go from machine to machine
//! as bytes. Items are numbers: their place in the ascending list of labels.
//! What the steps do, and in which order, says `disassociation::parts`.

use arrow_array::builder::{LargeBinaryBuilder, ListBuilder, UInt32Builder};
use arrow_array::{BooleanArray, Int32Array, UInt32Array, UInt64Array};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use setveil::data::{ItemId, K, Vocabulary};
use setveil::io::{ClusterWriter, MemoryRelease};
use setveil::methods::disassociation::parts::{self, PartSize, Records};
use setveil::methods::disassociation::{Parameters, publish};
use setveil::release::{Cluster, Disassociated, FileEntry};

use crate::columns::{Column, Table, column};
use crate::errors;
use crate::layout::parse;
use crate::release::json;
use crate::run::Manner;

/// Rows between two questions whether to go on.
const STRIDE: usize = 1 << 12;

fn bytes<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = serde_json::to_vec(value).map_err(|e| errors::options(&e))?;
    Ok(PyBytes::new(py, &bytes))
}

fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> PyResult<T> {
    serde_json::from_slice(bytes).map_err(|e| errors::options(&e))
}

/// The ranks of items, the most frequent first.
#[pyclass(frozen, module = "setveil._setveil")]
pub struct Ranks(parts::Ranks);

#[pymethods]
impl Ranks {
    /// Of items with these counts.
    #[staticmethod]
    fn most_frequent_first(counts: Vec<u64>) -> Self {
        Self(parts::Ranks::new(&counts))
    }

    /// Of terms that so many clusters with so many records have not shared.
    #[staticmethod]
    fn rare_first(py: Python<'_>, clusters: Vec<u64>, records: Vec<u64>, k: u32) -> PyResult<Self> {
        let k = K::new(k).map_err(|e| errors::raise(py, &e))?;
        Ok(Self(parts::Ranks::rare_first(&clusters, &records, k)))
    }

    /// Whether each list has an item with a rank.
    fn ranked(&self, table: &Bound<'_, PyAny>) -> PyResult<Table> {
        let lists = column(table, 0)?;
        let any = |row| Ok(lists.items(row)?.iter().any(|&item| self.0.has(item)));
        let found: setveil::Result<Vec<bool>> = (0..lists.len()).map(any).collect();
        let found = found.map_err(|e| errors::raise(table.py(), &e))?;
        Table::new(vec![("ranked", Column::of(BooleanArray::from(found)))])
    }

    /// For another machine.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes(py, &self.0)
    }

    /// From another machine.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        from_bytes(bytes).map(Self)
    }
}

/// A plan of parts on the way.
#[pyclass(module = "setveil._setveil")]
pub struct Planner(parts::Planner);

#[pymethods]
impl Planner {
    /// Parts of records: at most about `max`, for clusters of at most `cluster`.
    #[staticmethod]
    fn of_records(py: Python<'_>, max: u64, cluster: usize) -> PyResult<Self> {
        let size = PartSize::records(max, cluster).map_err(|e| errors::raise(py, &e))?;
        Ok(Self(parts::Planner::new(size, true)))
    }

    /// Parts of a round of joins, of clusters with so many bytes together that
    /// came from `parts` parts: `fewer` times fewer.
    #[staticmethod]
    fn of_clusters(bytes: u64, parts: usize, fewer: u64) -> Self {
        Self(parts::Planner::new(parts::join_size(bytes, parts, fewer), false))
    }

    /// Whether there is something to count.
    fn counts(&self) -> bool {
        self.0.counts()
    }

    /// Counts lists of items, each with its weight (1 if there is no second
    /// column): a table of beginnings and weights.
    fn count(&self, table: &Bound<'_, PyAny>, ranks: &Ranks, manner: &Manner) -> PyResult<Table> {
        let lists = column(table, 0)?;
        let weights = column(table, 1).ok();
        let counted = manner.run(table.py(), |progress| {
            let (mut own, mut counter) = (Vec::new(), self.0.counter());
            for row in 0..lists.len() {
                if row % STRIDE == 0 {
                    progress.step(0)?;
                }
                ranks.0.of(&lists.items(row)?, &mut own);
                let weight = weights.as_ref().map_or(Ok(1), |weights| weights.number(row))?;
                if !own.is_empty() || weights.is_none() {
                    self.0.count(&own, weight, &mut counter);
                }
            }
            let mut counts: Vec<_> = counter.counts().collect();
            counts.sort_unstable();
            Ok(counts)
        })?;
        let code = |pick: fn(&((u32, u32), u64)) -> u32| {
            UInt32Array::from_iter_values(counted.iter().map(pick))
        };
        let weights = UInt64Array::from_iter_values(counted.iter().map(|count| count.1));
        Table::new(vec![
            ("split", Column::of(code(|count| count.0.0))),
            ("code", Column::of(code(|count| count.0.1))),
            ("weight", Column::of(weights)),
        ])
    }

    /// Takes all counts of one pass: split, code and weight.
    fn take(&mut self, table: &Bound<'_, PyAny>) -> PyResult<()> {
        let [split, code, weight] = [column(table, 0)?, column(table, 1)?, column(table, 2)?];
        let mut counter = self.0.counter();
        let raise = |e| errors::raise(table.py(), &e);
        for row in 0..split.len() {
            let number = |column: &Column| column.number(row).map_err(raise);
            let beginning = (number(&split)? as u32, number(&code)? as u32);
            counter.add(beginning, number(&weight)?);
        }
        self.0.take(counter);
        Ok(())
    }

    /// The plan, when there is nothing more to count.
    fn finish(&self) -> Plan {
        Plan(self.0.clone().finish())
    }

    /// For another machine.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes(py, &self.0)
    }

    /// From another machine.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        from_bytes(bytes).map(Self)
    }
}

/// Which records, or clusters, come into which part.
#[pyclass(frozen, module = "setveil._setveil")]
pub struct Plan(parts::Plan);

#[pymethods]
impl Plan {
    /// How much every part has.
    fn sizes(&self) -> Vec<u64> {
        self.0.sizes().to_vec()
    }

    /// Equal records that are divided among parts: items, how many, which part.
    fn equal(&self, ranks: &Ranks) -> Vec<(Vec<ItemId>, u64, u32)> {
        let equal = self.0.equal().iter();
        equal.map(|e| (ranks.0.items(&e.ranks), e.count, e.part)).collect()
    }

    /// The part of each list of items; null for one of many equal records, and
    /// with `only_ranked` for a list without any item that has a rank.
    fn part(
        &self,
        table: &Bound<'_, PyAny>,
        ranks: &Ranks,
        only_ranked: bool,
        manner: &Manner,
    ) -> PyResult<Table> {
        let lists = column(table, 0)?;
        let found: Vec<Option<i32>> = manner.run(table.py(), |progress| {
            let mut own = Vec::new();
            let mut part = |row| {
                if row % STRIDE == 0 {
                    progress.step(0)?;
                }
                ranks.0.of(&lists.items(row)?, &mut own);
                let nowhere = only_ranked && own.is_empty();
                Ok(if nowhere { None } else { self.0.part(&own).map(|part| part as i32) })
            };
            (0..lists.len()).map(&mut part).collect()
        })?;
        Table::new(vec![("part", Column::of(Int32Array::from(found)))])
    }

    /// For another machine.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes(py, &self.0)
    }

    /// From another machine.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        from_bytes(bytes).map(Self)
    }
}

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
        let [entry] = <[FileEntry; 1]>::try_from(manifest.files).expect("there is no limit");
        let bytes = memory.files.remove(&entry.name).expect("it was written");
        Ok((bytes, entry))
    })?;
    entry.name = format!("clusters-{number:05}.jsonl");
    Ok((PyBytes::new(table.py(), &bytes), json(&entry)?))
}

/// The bytes of the manifest of a release in several files.
#[pyfunction]
pub fn parts_manifest<'py>(
    py: Python<'py>,
    parameters: &str,
    records: u64,
    items: u64,
    entries: Vec<String>,
) -> PyResult<Bound<'py, PyBytes>> {
    let parameters: Parameters = parse(parameters)?;
    let mut manifest = publish(&parameters, Disassociated::default()).manifest;
    (manifest.records, manifest.items) = (records, items);
    manifest.files = entries.iter().map(|entry| parse(entry)).collect::<PyResult<_>>()?;
    let mut text = serde_json::to_vec_pretty(&manifest).map_err(|e| errors::options(&e))?;
    text.push(b'\n');
    Ok(PyBytes::new(py, &text))
}
