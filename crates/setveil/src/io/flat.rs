//! A release as flat tables, for whoever does not want to take JSON apart.
//!
//! The rows are those of [`ReleaseBatches`]: sub-records and term chunks of
//! clusters, classes, records and sensitive items of groups, sub-records and
//! counts of leaves. As Parquet they are one file, `rows.parquet`, with lists of items. CSV has
//! no lists: `rows.csv` has everything but the items, and `items.csv` one line
//! for every row and item. A path is written as numbers with `/` between them.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

use super::ReleaseBatches;
use super::new_file::NewFile;
use crate::progress::{Progress, Stage};
use crate::release::Body;
use crate::{Error, Result};

/// How the tables of a release are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlatFormat {
    /// `rows.csv` and `items.csv`.
    #[default]
    Csv,
    /// `rows.parquet`.
    Parquet,
}

impl FlatFormat {
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Csv => &["rows.csv", "items.csv"],
            Self::Parquet => &["rows.parquet"],
        }
    }
}

/// Rows that are held in memory at once.
const BATCH: usize = 1 << 14;

/// Writes the tables of `body` into `dir`, which must be absent or hold nothing
/// but such tables and `replace` be given. The files that were written, and
/// how many rows.
///
/// # Errors
/// If something is in the way or cannot be written, or `progress` says stop.
pub fn write_tables(
    body: &Body,
    dir: &Path,
    format: FlatFormat,
    replace: bool,
    progress: &dyn Progress,
) -> Result<(Vec<PathBuf>, u64)> {
    make_room(dir, replace)?;
    progress.stage(Stage::Writing, None);
    let batches = ReleaseBatches::new(body, BATCH)?;
    let paths: Vec<PathBuf> = format.names().iter().map(|name| dir.join(name)).collect();
    let rows = match format {
        FlatFormat::Csv => csv(batches, &paths[0], &paths[1], replace, progress)?,
        FlatFormat::Parquet => parquet(batches, &paths[0], replace, progress)?,
    };
    Ok((paths, rows))
}

fn make_room(dir: &Path, replace: bool) -> Result<()> {
    fs::create_dir_all(dir).map_err(|e| Error::io(dir, e))?;
    for entry in fs::read_dir(dir).map_err(|e| Error::io(dir, e))? {
        let path = entry.map_err(|e| Error::io(dir, e))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ours = [FlatFormat::Csv, FlatFormat::Parquet];
        if !ours.iter().any(|format| format.names().contains(&&*name)) {
            let found = format!("it holds `{name}`");
            return Err(Error::input(dir, None, found, "choose an empty or new directory"));
        }
        if !replace {
            let found = "the directory is not empty".into();
            return Err(Error::Exists { path: dir.to_owned(), found, replaceable: true });
        }
        fs::remove_file(&path).map_err(|e| Error::io(&path, e))?;
    }
    Ok(())
}

fn csv(
    batches: ReleaseBatches,
    rows: &Path,
    items: &Path,
    replace: bool,
    progress: &dyn Progress,
) -> Result<u64> {
    let fail = |e: ::csv::Error| Error::io(rows, e.into());
    let mut row_table = ::csv::Writer::from_writer(BufWriter::new(NewFile::create(rows, replace)?));
    let mut item_table =
        ::csv::Writer::from_writer(BufWriter::new(NewFile::create(items, replace)?));
    let schema = batches.schema();
    let columns: Vec<&str> =
        schema.fields().iter().map(|f| f.name().as_str()).filter(|n| *n != "items").collect();
    row_table.write_record(std::iter::once("row").chain(columns.iter().copied())).map_err(fail)?;
    item_table.write_record(["row", "item"]).map_err(fail)?;
    let mut written = 0_u64;
    for batch in batches {
        let batch = batch?;
        for r in 0..batch.num_rows() {
            let number = (written + r as u64).to_string();
            row_table.write_field(&number).map_err(fail)?;
            for column in &columns {
                row_table.write_field(cell(&batch, column, r)).map_err(fail)?;
            }
            row_table.write_record(None::<&[u8]>).map_err(fail)?;
            for item in items_of(&batch, r) {
                item_table.write_record([&*number, &*item]).map_err(fail)?;
            }
        }
        written += batch.num_rows() as u64;
        progress.step(batch.num_rows() as u64)?;
    }
    finish(row_table, rows)?;
    finish(item_table, items)?;
    Ok(written)
}

fn finish(writer: ::csv::Writer<BufWriter<NewFile>>, path: &Path) -> Result<()> {
    let inner = writer.into_inner().map_err(|e| Error::io(path, e.into_error()))?;
    let mut inner = inner;
    inner.flush().map_err(|e| Error::io(path, e))?;
    inner.into_inner().map_err(|e| Error::io(path, e.into_error()))?.finish()
}

/// One cell as text; nothing for null.
fn cell(batch: &RecordBatch, column: &str, row: usize) -> String {
    let Some(array) = batch.column_by_name(column).filter(|a| a.is_valid(row)) else {
        return String::new();
    };
    match array.data_type() {
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).to_string(),
        DataType::Dictionary(_, _) => {
            let kinds = array.as_dictionary::<Int8Type>();
            let names = kinds.values().as_string::<i32>();
            names.value(kinds.keys().value(row) as usize).to_owned()
        }
        _ => {
            let path = array.as_list::<i32>().value(row);
            let numbers = path.as_primitive::<UInt32Type>().values().iter();
            numbers.map(u32::to_string).collect::<Vec<_>>().join("/")
        }
    }
}

fn items_of(batch: &RecordBatch, row: usize) -> Vec<String> {
    let Some(lists) = batch.column_by_name("items") else { return Vec::new() };
    let items = lists.as_list::<i32>().value(row);
    let items = items.as_dictionary::<Int32Type>();
    let labels = items.values().as_string::<i32>();
    items.keys().values().iter().map(|&key| labels.value(key as usize).to_owned()).collect()
}

#[cfg(feature = "parquet")]
fn parquet(
    batches: ReleaseBatches,
    path: &Path,
    replace: bool,
    progress: &dyn Progress,
) -> Result<u64> {
    use parquet::arrow::ArrowWriter;

    let fail = |e: ::parquet::errors::ParquetError| {
        Error::input(path, None, e.to_string(), "see whether the disk is full")
    };
    let out = BufWriter::new(NewFile::create(path, replace)?);
    let mut writer = ArrowWriter::try_new(out, batches.schema(), None).map_err(fail)?;
    let mut written = 0;
    for batch in batches {
        let batch = batch?;
        writer.write(&batch).map_err(fail)?;
        written += batch.num_rows() as u64;
        progress.step(batch.num_rows() as u64)?;
    }
    let out = writer.into_inner().map_err(fail)?;
    out.into_inner().map_err(|e| Error::io(path, e.into_error()))?.finish()?;
    Ok(written)
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: ReleaseBatches, path: &Path, _: bool, _: &dyn Progress) -> Result<u64> {
    Err(Error::input(path, None, "Parquet is not built in", "choose CSV"))
}
