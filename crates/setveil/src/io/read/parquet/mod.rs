//! Parquet: a column of lists, a long table, or a wide one.
//!
//! The Arrow schema that some writers embed is not looked at, so texts have
//! one type however they were encoded; the rest is [`data`](crate::data)'s.
//!
//! The decoder believes what a file says about itself. So [`footer`], [`pages`] and [`deltas`] look at all of it before.

mod deltas;
mod footer;
mod pages;
mod schema;
mod walk;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;

use self::walk::Stop;
use self::watch::{Costs, Watched};
use super::preview::PreviewColumn;
use super::quiet::quietly;
use super::source::{Content, Source};
use super::stopping::{endless, read_error};
use super::{Bad, Job, READING};
use crate::data::{ArrowOptions, Filler, Layout, Nulls};
use crate::error::{Hint, Setting};
use crate::{Error, Progress, Result};

/// Reads all rows of `source`.
pub(super) fn read(source: Source, job: &mut Job) -> Result<()> {
    let (content, _, progress) = source.into_parts();
    let read = match content {
        Content::File(file) => {
            let length = file.len();
            let bytes = Raw { file: file.into_file().into(), length, held: 0 };
            guarded(job, |job| read_rows(bytes, job, progress))
        }
        Content::Memory(bytes) => {
            let bytes = Raw::held(Bytes::copy_from_slice(bytes));
            guarded(job, |job| read_rows(bytes, job, progress))
        }
        Content::Stream(stream) => {
            let bytes = Raw::held(whole(stream, job)?);
            guarded(job, |job| read_rows(bytes, job, progress))
        }
    };
    let (filler, names) = read?;
    let named = |name| PreviewColumn { name, values: Vec::new() };
    job.preview.item_columns = names.into_iter().map(named).collect();
    let (block, table, skipped) = filler.into_parts();
    job.skipped += skipped;
    match table {
        Some(table) => job.add_rows(table, progress),
        None => job.add(block),
    }
}

/// Runs the decoder, which trusts lengths inside the file and panics where they lie.
fn guarded<T>(job: &mut Job, decode: impl FnOnce(&mut Job) -> Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(|| quietly(|| decode(job)))) {
        Ok(Err(Error::Table { row, found, hint })) => {
            let row = row.map(|row| format!("row {row}: ")).unwrap_or_default();
            Err(Error::input(&job.name, None, row + &found, hint))
        }
        Ok(other) => other,
        Err(_) => Err(damaged(job, "the Parquet data contradicts itself".into())),
    }
}

fn damaged(job: &Job, found: String) -> Error {
    let hint = "the file is damaged or no Parquet file: get it again, or see {}";
    job.error(None, Bad::new(found, Hint::of(hint, &[Setting::Format])))
}

/// All bytes of a stream: Parquet begins at its end.
fn whole(stream: impl std::io::Read, job: &Job) -> Result<Bytes> {
    let mut bytes = Vec::new();
    let most = job.budget.part(2).bytes();
    let read = std::io::Read::read_to_end(&mut stream.take(most.saturating_add(1)), &mut bytes);
    read.map_err(|e| read_error(&job.name, e))?;
    if bytes.len() as u64 > most {
        Err(endless(bytes.len() as u64, most))
    } else {
        Ok(bytes.into())
    }
}

/// Bytes that the decoder reads at any place.
struct Raw<R> {
    file: Arc<R>,
    /// How long the file is, if reading it is the progress.
    length: u64,
    /// How much of it is in memory.
    held: u64,
}

impl Raw<Bytes> {
    fn held(bytes: Bytes) -> Self {
        Self { length: 0, held: bytes.len() as u64, file: bytes.into() }
    }
}

fn read_rows<R: ChunkReader + 'static>(
    raw: Raw<R>,
    job: &mut Job,
    progress: &dyn Progress,
) -> Result<(Filler, Vec<String>)> {
    check_footer(&raw, job, progress)?;
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let known = ArrowReaderMetadata::load(&*raw.file, options);
    let known = known.map_err(|e| damaged(job, e.to_string()))?;
    let options = ArrowOptions {
        id: job.options.id.clone(),
        item: job.options.item.clone(),
        items: job.columns(known.schema().fields().iter().map(|f| f.name().as_str()))?,
        nulls: Nulls::Refuse,
        skip_bad_rows: job.options.skip_bad_lines,
    };
    let layout = Layout::find(known.schema(), &options).map_err(|bad| job.error(None, bad))?;
    let columns = layout.columns();
    let name = |&column: &usize| known.schema().field(column).name().clone();
    let names = layout.items().iter().map(name).collect();
    let leaves = leaves(known.metadata(), &columns);
    check_compression(known.metadata(), &leaves).map_err(|bad| job.error(None, bad))?;
    let (rows, costs) = check_pages(&raw, known.metadata(), &leaves, job, progress)?;
    let total = known.metadata().file_metadata().num_rows().max(1) as u64;
    let mask = ProjectionMask::roots(known.parquet_schema(), columns);
    let watched = Watched { file: raw.file, costs: costs.clone() };
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(watched, known);
    let batches = builder.with_projection(mask).with_batch_size(rows).build();
    let batches = batches.map_err(|e| damaged(job, e.to_string()))?;
    let mut filler = Filler::new(layout.projected(), options);
    for batch in batches {
        costs.too_much().map_or(Ok(()), |bytes| job.budget.check(READING, bytes))?;
        let batch = batch.map_err(|e| damaged(job, e.to_string()))?;
        costs.handed_out();
        filler.add(&batch, progress)?;
        let (block, table) = filler.filled();
        job.relieve(block, table)?;
        job.budget.check(READING, filler.bytes())?;
        progress
            .step((raw.length as u128 * batch.num_rows() as u128 / u128::from(total)) as u64)?;
    }
    Ok((filler, names))
}

/// Whether the footer is one, and the decoder has memory for it; what is no Parquet file at all the decoder says.
fn check_footer<R: ChunkReader>(raw: &Raw<R>, job: &Job, progress: &dyn Progress) -> Result<()> {
    const END: u64 = 8;
    let from_end = |from: u64, length: u64| {
        let start = raw.file.len().checked_sub(from)?;
        raw.file.get_bytes(start, usize::try_from(length).ok()?).ok()
    };
    let end = from_end(END, END).and_then(|bytes| <[u8; 8]>::try_from(&bytes[..]).ok());
    let Some(length) = end.and_then(footer::length).filter(|length| length + END <= raw.file.len())
    else {
        return Ok(());
    };
    job.budget.check(READING, raw.held.checked_add(length))?;
    let Some(bytes) = from_end(length + END, length) else { return Ok(()) };
    let memory = footer::memory(&bytes, progress)
        .map_err(|stop| stopped(job, stop, || "the footer".into()))?;
    job.budget.check(READING, raw.held.checked_add(memory))
}

/// Whether the pages of `leaves` are there, and the decoder has memory for them. How many rows
/// it may hand out at once, and what the pages cost.
fn check_pages<R: ChunkReader + 'static>(
    raw: &Raw<R>,
    metadata: &ParquetMetaData,
    leaves: &[bool],
    job: &Job,
    progress: &dyn Progress,
) -> Result<(usize, Arc<Costs>)> {
    const ROWS: u64 = 1024;
    let name = |leaf: usize| {
        let column = metadata.file_metadata().schema_descr().get_column_root(leaf);
        format!("column `{}`", column.name())
    };
    let places = pages::places(metadata, |leaf| leaves[leaf], raw.file.len()).map_err(|leaf| {
        let found = format!("{} lies outside of the file, or where another one lies", name(leaf));
        damaged(job, found)
    })?;
    let fault = |(leaf, stop)| stopped(job, stop, || format!("a page of {}", name(leaf)));
    let needs = pages::needs(&*raw.file, metadata, &places, raw.held == 0, progress);
    let needs = needs.map_err(fault)?;
    let rows = job.budget.part(4).bytes() / needs.row.max(1);
    let rows = rows.clamp(1, ROWS);
    let memory = needs.row.saturating_mul(rows).saturating_add(raw.held);
    job.budget.check(READING, memory.saturating_add(needs.pages))?;
    deltas::check(&raw.file, metadata, &needs.deltas, progress).map_err(fault)?;
    let kept = needs.dictionaries.saturating_add(raw.held);
    Ok((rows as usize, needs.costs.limited(job.budget.bytes(), kept)))
}

/// Why the walk over `what` ended.
fn stopped(job: &Job, stop: Stop, what: impl FnOnce() -> String) -> Error {
    match stop {
        Stop::Wrong => {
            damaged(job, format!("{} is damaged, or promises more than is there", what()))
        }
        Stop::Unread(e) => damaged(job, e.to_string()),
        Stop::Failed(error) => error,
    }
}

/// Of which leaves of the schema the columns consist.
fn leaves(metadata: &ParquetMetaData, columns: &[usize]) -> Vec<bool> {
    let schema = metadata.file_metadata().schema_descr();
    let mut read = vec![false; schema.root_schema().get_fields().len()];
    columns.iter().for_each(|&column| read[column] = true);
    (0..schema.num_columns()).map(|leaf| read[schema.get_column_root_idx(leaf)]).collect()
}

/// Names the compression of a column that cannot be read.
fn check_compression(metadata: &ParquetMetaData, leaves: &[bool]) -> Result<(), Bad> {
    let schema = metadata.file_metadata().schema_descr();
    let groups = metadata.row_groups().iter();
    for (leaf, chunk) in groups.flat_map(|group| group.columns().iter().enumerate()) {
        if !leaves[leaf] {
            continue;
        }
        let name = match chunk.compression() {
            Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_) => continue,
            Compression::ZSTD(_) => continue,
            Compression::LZO => "LZO",
            Compression::BROTLI(_) => "Brotli",
            Compression::LZ4 => "LZ4",
            Compression::LZ4_RAW => "LZ4 (raw)",
        };
        let column = schema.get_column_root(leaf).name();
        return Err(Bad::new(
            format!("column `{column}` is compressed with {name}"),
            "write the file with Snappy, gzip, zstd or no compression",
        ));
    }
    Ok(())
}
