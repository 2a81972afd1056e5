//! Columns of Arrow tables from and to Python, for the steps of data in parts.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use setveil::data::ItemId;
use setveil::{Error, Result};

use crate::{capsule, errors};

/// One column, in the pieces that it came in.
pub struct Column {
    pieces: Vec<ArrayRef>,
    /// The first row of each piece, and the number of all rows.
    starts: Vec<usize>,
}

fn unfit(found: &DataType, expected: &'static str) -> Error {
    Error::Table { row: None, found: format!("a column of type {found}"), hint: expected.into() }
}

impl Column {
    /// A column of one piece.
    pub fn of(array: impl Array + 'static) -> Self {
        Self::new(vec![Arc::new(array)])
    }

    fn new(pieces: Vec<ArrayRef>) -> Self {
        let mut starts = vec![0];
        for piece in &pieces {
            starts.push(starts[starts.len() - 1] + piece.len());
        }
        Self { pieces, starts }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        *self.starts.last().expect("there is one more than pieces")
    }

    /// The piece with a row, and where the row is in it.
    fn place(&self, row: usize) -> (&dyn Array, usize) {
        let piece = self.starts.partition_point(|&start| start <= row) - 1;
        (self.pieces[piece].as_ref(), row - self.starts[piece])
    }

    /// The bytes of a row.
    pub fn bytes(&self, row: usize) -> Result<&[u8]> {
        let (array, at) = self.place(row);
        match array.data_type() {
            DataType::Binary => Ok(array.as_binary::<i32>().value(at)),
            DataType::LargeBinary => Ok(array.as_binary::<i64>().value(at)),
            other => Err(unfit(other, "expected bytes")),
        }
    }

    /// The number of a row.
    pub fn number(&self, row: usize) -> Result<u64> {
        let (array, at) = self.place(row);
        number(array, at)
    }

    /// The list of numbers of a row.
    pub fn items(&self, row: usize) -> Result<Vec<ItemId>> {
        let (array, at) = self.place(row);
        let list = match array.data_type() {
            DataType::List(_) => array.as_list::<i32>().value(at),
            DataType::LargeList(_) => array.as_list::<i64>().value(at),
            other => return Err(unfit(other, "expected lists of numbers of items")),
        };
        let item = |i| {
            ItemId::try_from(number(&list, i)?)
                .map_err(|_| unfit(list.data_type(), "expected numbers of items"))
        };
        (0..list.len()).map(item).collect()
    }
}

fn number(array: &dyn Array, at: usize) -> Result<u64> {
    let below_zero = |_| unfit(array.data_type(), "expected no number below 0");
    match array.data_type() {
        DataType::Int32 => {
            array.as_primitive::<Int32Type>().value(at).try_into().map_err(below_zero)
        }
        DataType::Int64 => {
            array.as_primitive::<Int64Type>().value(at).try_into().map_err(below_zero)
        }
        DataType::UInt32 => Ok(array.as_primitive::<UInt32Type>().value(at).into()),
        DataType::UInt64 => Ok(array.as_primitive::<UInt64Type>().value(at)),
        other => Err(unfit(other, "expected whole numbers")),
    }
}

/// Column number `at` of anything with Arrow's PyCapsule interface.
pub fn column(table: &Bound<'_, PyAny>, at: usize) -> PyResult<Column> {
    let mut pieces = Vec::new();
    for batch in capsule::read(table)? {
        let batch = batch.map_err(|e| errors::data(&e.to_string()))?;
        match batch.columns().get(at) {
            Some(column) => pieces.push(column.clone()),
            None => return Err(errors::data(&format!("the table has no column {at}"))),
        }
    }
    Ok(Column::new(pieces))
}

/// A table for Python.
#[pyclass(frozen, module = "setveil._setveil")]
pub struct Table {
    schema: SchemaRef,
    batch: RecordBatch,
}

impl Table {
    /// Columns of one piece each, of the same length.
    pub fn new(columns: Vec<(&'static str, Column)>) -> PyResult<Self> {
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (name, mut column) in columns {
            let array = column.pieces.remove(0);
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema.clone(), arrays);
        Ok(Self { schema, batch: batch.map_err(|e| errors::data(&e.to_string()))? })
    }
}

#[pymethods]
impl Table {
    /// The rows, for any library that knows Arrow.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.schema.clone());
        capsule::write(py, Box::new(batches))
    }
}
