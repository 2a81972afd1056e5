//! Parquet: a column of lists, or a long table with `--id` and `--item`.
//!
//! Without `--item` the file's only column of lists is read. Items are texts
//! or whole numbers; the Arrow schema that some writers embed is not looked
//! at, so texts have one type however they were encoded.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use super::long::LongTable;
use super::source::Source;
use super::{Bad, Job};
use crate::Result;
use crate::data::Block;

const DAMAGED: &str = "the file is damaged or no Parquet file: get it again, or see --format";

/// Reads all rows of `source`.
pub(super) fn read(source: Source, job: &mut Job) -> Result<()> {
    let bytes = source.into_bytes()?;
    // The decoder trusts lengths inside the file and panics where they lie.
    match catch_unwind(AssertUnwindSafe(|| read_bytes(bytes, job))) {
        Ok(Ok((block, skipped))) => {
            job.assembly.add(block);
            job.skipped += skipped;
            Ok(())
        }
        Ok(Err((row, bad))) => Err(job.error(
            None,
            match row {
                Some(row) => Bad::new(format!("row {row}: {}", bad.found), bad.hint),
                None => bad,
            },
        )),
        Err(_) => Err(job.error(None, Bad::new("the Parquet data contradicts itself", DAMAGED))),
    }
}

/// The row, where there is one, and what is wrong.
type Failure = (Option<u64>, Bad);

fn read_bytes(bytes: Bytes, job: &Job) -> Result<(Block, u64), Failure> {
    let damaged = |e: &dyn std::fmt::Display| (None, Bad::new(e.to_string(), DAMAGED));
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, options)
        .map_err(|e| damaged(&e))?;
    let schema = builder.schema().clone();
    let layout = Layout::find(&schema, job).map_err(|bad| (None, bad))?;
    let mask = ProjectionMask::roots(builder.parquet_schema(), layout.columns());
    let batches = builder.with_projection(mask).build().map_err(|e| damaged(&e))?;
    let (mut table, mut block) = (LongTable::default(), Block::default());
    let (mut rows, mut skipped) = (0, 0);
    for batch in batches {
        let batch = batch.map_err(|e| damaged(&e))?;
        for row in 0..batch.num_rows() {
            rows += 1;
            let read = match layout {
                Layout::Long(..) => long_row(&batch, &layout, row, &mut table),
                Layout::List(_) => list_row(batch.column(0), row, &mut block),
            };
            match read {
                Ok(()) => {}
                Err(_) if job.options.skip_bad_lines => {
                    block.abandon_record();
                    skipped += 1;
                }
                Err(bad) => return Err((Some(rows), bad)),
            }
        }
    }
    let block = match layout {
        Layout::Long(..) => table.into_block(),
        Layout::List(_) => block,
    };
    Ok((block, skipped))
}

/// Which columns of the file are read.
enum Layout {
    /// Whose row it is, and the item.
    Long(usize, usize),
    List(usize),
}

impl Layout {
    fn find(schema: &Schema, job: &Job) -> Result<Self, Bad> {
        let column = |name: &str| {
            schema.index_of(name).map_err(|_| {
                let found = format!("there is no column `{name}`");
                Bad::new(found, format!("the columns are {}", columns(schema)))
            })
        };
        match (&job.options.id, &job.options.item) {
            (Some(id), Some(item)) => {
                let (id, item) = (column(id)?, column(item)?);
                check_text(schema, id)?;
                check_text(schema, item)?;
                Ok(Self::Long(id, item))
            }
            (Some(_), None) => Err(Bad::new(
                "--id without --item",
                "name both columns of a long table, or only --item for a column of lists",
            )),
            (None, Some(item)) => {
                let list = column(item)?;
                check_list(schema, list)?;
                Ok(Self::List(list))
            }
            (None, None) => {
                let is_list = |&c: &usize| matches!(schema.field(c).data_type(), DataType::List(_));
                let lists: Vec<usize> = (0..schema.fields().len()).filter(is_list).collect();
                let [list] = lists[..] else {
                    return Err(Bad::new(
                        format!("{} columns hold lists", lists.len()),
                        format!("name the column with --item; there are {}", columns(schema)),
                    ));
                };
                check_list(schema, list)?;
                Ok(Self::List(list))
            }
        }
    }

    fn columns(&self) -> Vec<usize> {
        match *self {
            Self::Long(id, item) => vec![id, item],
            Self::List(list) => vec![list],
        }
    }
}

fn columns(schema: &Schema) -> String {
    let name = |f: &std::sync::Arc<arrow_schema::Field>| format!("`{}`", f.name());
    schema.fields().iter().take(20).map(name).collect::<Vec<_>>().join(", ")
}

fn is_text(kind: &DataType) -> bool {
    kind.is_integer() || matches!(kind, DataType::Utf8 | DataType::Binary)
}

fn check_text(schema: &Schema, column: usize) -> Result<(), Bad> {
    let field = schema.field(column);
    if is_text(field.data_type()) {
        return Ok(());
    }
    Err(Bad::new(
        format!("column `{}` has the type {}", field.name(), field.data_type()),
        "expected texts or whole numbers; for a column of lists give --item without --id",
    ))
}

fn check_list(schema: &Schema, column: usize) -> Result<(), Bad> {
    let field = schema.field(column);
    match field.data_type() {
        DataType::List(element) if is_text(element.data_type()) => Ok(()),
        other => Err(Bad::new(
            format!("column `{}` has the type {other}", field.name()),
            "expected lists of texts or whole numbers; for a long table give --id and --item",
        )),
    }
}

fn long_row(
    batch: &RecordBatch,
    layout: &Layout,
    row: usize,
    table: &mut LongTable,
) -> Result<(), Bad> {
    // The projection keeps the file's order of the columns.
    let (id, item) = match layout {
        Layout::Long(id, item) if id == item => (0, 0),
        Layout::Long(id, item) if id < item => (0, 1),
        _ => (1, 0),
    };
    with_text(batch.column(id), row, |id| {
        if id.trim().is_empty() {
            return Err(Bad::new("the id is empty", "say whose row it is, or --skip-bad-lines"));
        }
        with_text(batch.column(item), row, |item| {
            table.push(id.trim(), item);
            Ok(())
        })
    })
}

fn list_row(column: &dyn Array, row: usize, block: &mut Block) -> Result<(), Bad> {
    let lists = column.as_list::<i32>();
    // A missing list is a record without items.
    if lists.is_valid(row) {
        let list = lists.value(row);
        for i in 0..list.len() {
            with_text(&list, i, |item| {
                block.push_trimmed(item);
                Ok(())
            })?;
        }
    }
    block.end_record();
    Ok(())
}

/// Calls `then` with the text of a cell.
fn with_text(
    array: &dyn Array,
    row: usize,
    then: impl FnOnce(&str) -> Result<(), Bad>,
) -> Result<(), Bad> {
    if array.is_null(row) {
        return Err(Bad::new("an empty cell (null)", "fill it in, or add --skip-bad-lines"));
    }
    macro_rules! number {
        ($kind:ty) => {
            then(&array.as_primitive::<$kind>().value(row).to_string())
        };
    }
    match array.data_type() {
        DataType::Utf8 => then(array.as_string::<i32>().value(row)),
        DataType::Binary => {
            let bytes = array.as_binary::<i32>().value(row);
            let text = std::str::from_utf8(bytes).map_err(|e| super::lines::invalid_utf8(bytes, e));
            then(text?)
        }
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        other => Err(Bad::new(format!("type {other}"), "expected texts or whole numbers")),
    }
}
