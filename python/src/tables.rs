//! Data sets and releases as Arrow record batches that own what they read.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, ListArray, RecordBatch, RecordBatchReader, StringArray,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use self_cell::self_cell;
use setveil::io::{Input, ReleaseBatches};

use crate::capsule::COLUMN;

/// Rows of a batch.
const ROWS: usize = 1 << 16;

type Item = Result<RecordBatch, ArrowError>;

/// The records of a data set as one column of lists.
pub struct Records {
    input: Arc<Input>,
    schema: SchemaRef,
    labels: ArrayRef,
    next: usize,
}

impl Records {
    pub fn new(input: Arc<Input>) -> Self {
        let labels: ArrayRef =
            Arc::new(StringArray::from_iter_values(input.dataset.vocabulary().labels()));
        let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let lists = DataType::List(Arc::new(Field::new("item", kind, false)));
        let schema = Arc::new(Schema::new(vec![Field::new(COLUMN, lists, false)]));
        Self { input, schema, labels, next: 0 }
    }

    fn batch(&self, records: Range<usize>) -> Item {
        let data = &self.input.dataset;
        let (mut ends, mut keys) = (vec![0_i32], Vec::new());
        for record in records.map(|r| data.record(r)) {
            keys.extend(record.iter().map(|&item| item as i32));
            ends.push(
                i32::try_from(keys.len()).map_err(|e| ArrowError::ExternalError(Box::new(e)))?,
            );
        }
        let keys = Int32Array::from(keys);
        let items = DictionaryArray::<Int32Type>::try_new(keys, self.labels.clone())?;
        let DataType::List(field) = self.schema.field(0).data_type() else {
            unreachable!("the schema is made above")
        };
        let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
        let lists = ListArray::try_new(field.clone(), offsets, Arc::new(items), None)?;
        RecordBatch::try_new(self.schema.clone(), vec![Arc::new(lists)])
    }
}

impl Iterator for Records {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        let end = self.input.dataset.len().min(self.next + ROWS);
        let records = std::mem::replace(&mut self.next, end)..end;
        (!records.is_empty()).then(|| self.batch(records))
    }
}

impl RecordBatchReader for Records {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

self_cell! {
    struct Cell {
        owner: Arc<setveil::Release>,
        #[not_covariant]
        dependent: ReleaseBatches,
    }
}

/// The rows of a release.
pub struct Rows {
    cell: Cell,
    schema: SchemaRef,
}

impl Rows {
    pub fn new(release: Arc<setveil::Release>) -> setveil::Result<Self> {
        let cell = Cell::try_new(release, |release| ReleaseBatches::new(&release.body, ROWS))?;
        let schema = cell.with_dependent(|_, batches| batches.schema());
        Ok(Self { cell, schema })
    }
}

impl Iterator for Rows {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        let batch = self.cell.with_dependent_mut(|_, batches| batches.next())?;
        Some(batch.map_err(|e| ArrowError::ExternalError(Box::new(e))))
    }
}

impl RecordBatchReader for Rows {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
