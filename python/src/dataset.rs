//! Data in and out.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyInt, PyString};
use setveil::data::{Dataset as Data, DatasetBuilder, Dropped, Vocabulary};
use setveil::io::{self, Input, PreviewColumn};

use crate::layout::{FileLayout, TableLayout, export_format, parse};
use crate::run::Manner;
use crate::{capsule, errors, tables};

/// How many rows of Python objects are kept for the look at identifiers.
const PREVIEW: usize = 1000;
/// Rows of Python objects between two looks at signals.
const STRIDE: usize = 1 << 12;

/// Records over a vocabulary, and what was left out when they were read.
#[pyclass(frozen, module = "setveil._setveil")]
pub struct Dataset {
    pub input: Arc<Input>,
}

impl Dataset {
    /// Data of which nothing was left out.
    pub fn of(dataset: Data) -> Self {
        Self { input: Arc::new(Input::in_memory(dataset)) }
    }

    /// With the first rows and the names of the columns with items, for the look at identifiers.
    fn new(
        dataset: Data,
        dropped: Dropped,
        skipped: u64,
        rows: Vec<Vec<String>>,
        columns: Vec<String>,
    ) -> Self {
        let mut input = Input::in_memory(dataset);
        (input.dropped, input.skipped_lines, input.preview.rows) = (dropped, skipped, rows);
        let named = |name| PreviewColumn { name, ..PreviewColumn::default() };
        input.preview.item_columns = columns.into_iter().map(named).collect();
        Self { input: Arc::new(input) }
    }

    pub fn data(&self) -> &Data {
        &self.input.dataset
    }
}

#[pymethods]
impl Dataset {
    /// Reads anything with Arrow's PyCapsule interface.
    #[staticmethod]
    fn from_arrow(table: &Bound<'_, PyAny>, layout: &str, manner: &Manner) -> PyResult<Self> {
        let layout = parse::<TableLayout>(layout)?;
        let batches = capsule::read(table)?;
        let (names, options) = (layout.item_columns(&batches.schema()), layout.options());
        let read = manner
            .run(table.py(), move |progress| Data::from_arrow(batches, &options, progress))?;
        Ok(Self::new(read.dataset, read.dropped, read.skipped_rows, Vec::new(), names))
    }

    /// Reads Python objects: an iterable of iterables of texts or whole numbers.
    #[staticmethod]
    fn from_records(records: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut builder = DatasetBuilder::default();
        let (mut blank_items, mut preview) = (0, Vec::new());
        for (row, record) in records.try_iter()?.enumerate() {
            if row % STRIDE == 0 {
                records.py().check_signals()?;
            }
            let mut shown = Vec::new();
            let keep = row < PREVIEW;
            each_item(&record?, row, |item| {
                match item {
                    "" => blank_items += 1,
                    item => builder.push(item),
                }
                if keep {
                    shown.push(item.to_owned());
                }
            })?;
            builder.end_record();
            if keep {
                preview.push(shown);
            }
        }
        let finished = records.py().detach(|| builder.finish());
        let (dataset, mut dropped) = finished.map_err(|e| errors::raise(records.py(), &e))?;
        dropped.blank_items += blank_items;
        Ok(Self::new(dataset, dropped, 0, preview, Vec::new()))
    }

    /// Reads a sparse matrix: where rows start, the columns of their ones, and
    /// the names of the columns. Both arrays are bytes of 64-bit numbers.
    #[staticmethod]
    fn from_csr(
        py: Python<'_>,
        starts: &[u8],
        columns: &[u8],
        names: Vec<String>,
        manner: &Manner,
    ) -> PyResult<Self> {
        let (starts, columns) = (numbers(starts), numbers(columns));
        let bad = |found: String| setveil::Error::Table {
            row: None,
            found,
            hint: "expected a matrix in CSR form and a name for every column".into(),
        };
        let (dataset, dropped) = manner.run(py, move |progress| {
            let mut builder = DatasetBuilder::default();
            for (row, ends) in starts.windows(2).enumerate() {
                if row % STRIDE == 0 {
                    progress.step(0)?;
                }
                let ones = columns.get(ends[0]..ends[1]);
                let ones = ones.ok_or_else(|| bad(format!("row {} has no place", row + 1)))?;
                for &column in ones {
                    let name = names.get(column);
                    let name = name.ok_or_else(|| bad(format!("column {column} has no name")))?;
                    builder.push(name.trim());
                }
                builder.end_record();
            }
            builder.finish()
        })?;
        Ok(Self::new(dataset, dropped, 0, Vec::new(), Vec::new()))
    }

    /// Reads a file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, layout: &str, manner: &Manner) -> PyResult<Self> {
        let layout: FileLayout = parse(layout)?;
        errors::there(py, &path)?;
        let read =
            manner.run(py, |progress| io::read_dataset(&path, &layout.options()?, progress))?;
        Ok(Self { input: Arc::new(read) })
    }

    /// What a pickle holds: the names, where records start, and their items.
    fn parts<'py>(
        &self,
        py: Python<'py>,
    ) -> (Vec<String>, Bound<'py, PyBytes>, Bound<'py, PyBytes>) {
        let data = self.data();
        let names = data.vocabulary().labels().map(str::to_owned).collect();
        let mut starts = vec![0_u64];
        for record in data.records() {
            starts.push(starts[starts.len() - 1] + record.len() as u64);
        }
        let starts: Vec<u8> = starts.iter().flat_map(|s| s.to_le_bytes()).collect();
        let items: Vec<u8> = data.occurrences().iter().flat_map(|i| i.to_le_bytes()).collect();
        (names, PyBytes::new(py, &starts), PyBytes::new(py, &items))
    }

    /// The data set of a pickle; everything that it relies on is checked.
    #[staticmethod]
    fn from_parts(
        py: Python<'_>,
        names: Vec<String>,
        starts: &[u8],
        items: &[u8],
        preview: (Vec<Vec<String>>, Vec<String>),
        left_out: [u64; 4],
    ) -> PyResult<Self> {
        let starts = numbers(starts);
        let items = items.as_chunks().0.iter().map(|four| u32::from_le_bytes(*four)).collect();
        let dataset = Data::from_csr(Vocabulary::new(names), starts, items);
        let dataset = dataset.map_err(|e| errors::raise(py, &e))?;
        let [duplicates, blank_items, empty_records, skipped] = left_out;
        let dropped = Dropped { duplicates, empty_records, blank_items };
        Ok(Self::new(dataset, dropped, skipped, preview.0, preview.1))
    }

    /// The first rows by position, and the names of the columns with items, for
    /// the look at identifiers.
    fn preview(&self) -> (Vec<Vec<String>>, Vec<String>) {
        let preview = &self.input.preview;
        let names = preview.item_columns.iter().map(|column| column.name.clone()).collect();
        (preview.rows.clone(), names)
    }

    /// Duplicates, blank items, empty records and skipped rows.
    fn left_out(&self) -> [u64; 4] {
        let left = self.input.left_out();
        [left.duplicates, left.blank_items, left.empty_records, left.skipped_lines]
    }

    /// Records, items and occurrences.
    fn size(&self) -> (usize, usize, usize) {
        (self.data().len(), self.data().item_count(), self.data().occurrences().len())
    }

    /// The longest record, and how many pairs of items all records have.
    fn lengths(&self) -> (usize, u64) {
        let lengths = self.data().records().map(<[_]>::len);
        let longest = lengths.clone().max().unwrap_or(0);
        (longest, lengths.map(setveil::measure::pairs_of).sum())
    }

    /// The labels of a record.
    fn record(&self, number: usize) -> PyResult<Vec<String>> {
        if number >= self.data().len() {
            return Err(pyo3::exceptions::PyIndexError::new_err("there is no such record"));
        }
        Ok(self.data().vocabulary().texts(self.data().record(number)))
    }

    /// The labels in ascending order, and in how many records each stands.
    fn supports(&self) -> (Vec<String>, Vec<u32>) {
        let labels = self.data().vocabulary().labels().map(str::to_owned).collect();
        (labels, self.data().supports())
    }

    /// What was assumed and left out when it was read, a line each.
    fn remarks(&self) -> Vec<String> {
        let assumed = self.input.assumed.iter().map(ToString::to_string);
        assumed.chain(self.input.left_out().describe()).collect()
    }

    /// Writes one file in a format by its name.
    fn write(&self, py: Python<'_>, path: PathBuf, format: &str, force: bool) -> PyResult<()> {
        let format = export_format(format).map_err(|e| errors::raise(py, &e))?;
        py.detach(|| {
            io::check_file(&path, force)?;
            io::write_dataset(self.data(), &path, format, force)
        })
        .map_err(|e| errors::raise(py, &e))
    }

    /// The records as a stream of Arrow record batches.
    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let records = tables::Records::new(self.input.clone());
        capsule::write(py, Box::new(records))
    }
}

/// Calls `take` with every item of a record, white space around it aside.
fn each_item(record: &Bound<'_, PyAny>, row: usize, mut take: impl FnMut(&str)) -> PyResult<()> {
    let bad = |found: &str, expected: &str| {
        Err(errors::data(&format!("row {}: found {found}; expected {expected}", row + 1)))
    };
    if record.is_instance_of::<PyString>() {
        return bad("a text", "a list or set of items; one text is not a record");
    }
    if record.is_none() {
        return Ok(());
    }
    let Ok(items) = record.try_iter() else {
        return bad(&format!("{}", record.get_type()), "a list or set of items");
    };
    for item in items {
        let item = item?;
        if let Ok(text) = item.cast::<PyString>() {
            take(text.to_cow()?.trim());
        } else if item.is_instance_of::<PyInt>() {
            take(item.str()?.to_cow()?.trim());
        } else {
            return bad(&format!("an item of {}", item.get_type()), "texts or whole numbers");
        }
    }
    Ok(())
}

fn numbers(bytes: &[u8]) -> Vec<usize> {
    bytes.as_chunks().0.iter().map(|eight| u64::from_le_bytes(*eight) as usize).collect()
}
