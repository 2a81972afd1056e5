//! Plans of parts: who comes into which, counted by many and the same for all.

use arrow_array::{BooleanArray, Int32Array, UInt32Array, UInt64Array};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use setveil::data::{ItemId, K};
use setveil::methods::disassociation::parts::{self, PartSize};

use crate::columns::{Column, Table, column};
use crate::errors;
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
pub struct Ranks(pub parts::Ranks);

#[pymethods]
impl Ranks {
    /// Of items with these counts, for parts of at most about `max` records. Rare neighbours share one.
    #[staticmethod]
    fn most_frequent_first(counts: Vec<u64>, max: u64) -> Self {
        Self(parts::Ranks::of_records(&counts, PartSize::weight(max)))
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
