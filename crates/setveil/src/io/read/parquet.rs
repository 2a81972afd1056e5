//! Parquet: a column of lists, a long table, or a wide one.
//!
//! The Arrow schema that some writers embed is not looked at, so texts have
//! one type however they were encoded; the rest is [`data`](crate::data)'s.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;

use super::parquet_footer;
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
            guarded(job, |job| read_rows(file.into_file(), length, job, progress))
        }
        Content::Memory(bytes) => {
            let bytes = Bytes::copy_from_slice(bytes);
            guarded(job, |job| read_rows(bytes, 0, job, progress))
        }
        Content::Stream(stream) => {
            let bytes = whole(stream, job)?;
            guarded(job, |job| read_rows(bytes, 0, job, progress))
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

fn read_rows(
    file: impl ChunkReader + 'static,
    length: u64,
    job: &mut Job,
    progress: &dyn Progress,
) -> Result<(Filler, Vec<String>)> {
    if !footer_is_plausible(&file) {
        return Err(damaged(job, "the footer is damaged, or promises more than is there".into()));
    }
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)
        .map_err(|e| damaged(job, e.to_string()))?;
    let options = ArrowOptions {
        id: job.options.id.clone(),
        item: job.options.item.clone(),
        items: job.columns(builder.schema().fields().iter().map(|f| f.name().as_str()))?,
        nulls: Nulls::Refuse,
        skip_bad_rows: job.options.skip_bad_lines,
    };
    let layout = Layout::find(builder.schema(), &options).map_err(|bad| job.error(None, bad))?;
    let columns = layout.columns();
    let name = |&column: &usize| builder.schema().field(column).name().clone();
    let names = layout.items().iter().map(name).collect();
    check_compression(builder.metadata(), &columns).map_err(|bad| job.error(None, bad))?;
    let total = builder.metadata().file_metadata().num_rows().max(1) as u64;
    let mask = ProjectionMask::roots(builder.parquet_schema(), columns);
    let batches = builder.with_projection(mask).build();
    let batches = batches.map_err(|e| damaged(job, e.to_string()))?;
    let mut filler = Filler::new(layout.projected(), options);
    for batch in batches {
        let batch = batch.map_err(|e| damaged(job, e.to_string()))?;
        filler.add(&batch, progress)?;
        let (block, table) = filler.filled();
        job.relieve(block, table)?;
        job.budget.check(READING, filler.bytes())?;
        progress.step((length as u128 * batch.num_rows() as u128 / u128::from(total)) as u64)?;
    }
    Ok((filler, names))
}

/// Whether the footer promises no more than is there; what is no footer at all the decoder says.
fn footer_is_plausible(file: &impl ChunkReader) -> bool {
    const END: u64 = 8;
    let from_end = |from: u64, length: u64| {
        let start = file.len().checked_sub(from)?;
        file.get_bytes(start, usize::try_from(length).ok()?).ok()
    };
    let end = from_end(END, END).and_then(|bytes| <[u8; 8]>::try_from(&bytes[..]).ok());
    let length = end.and_then(parquet_footer::length);
    let footer = length.and_then(|length| from_end(length.checked_add(END)?, length));
    footer.is_none_or(|footer| parquet_footer::is_plausible(&footer))
}

/// Names the compression of a column that cannot be read.
fn check_compression(metadata: &ParquetMetaData, columns: &[usize]) -> Result<(), Bad> {
    let schema = metadata.file_metadata().schema_descr();
    for column in metadata.row_groups().iter().flat_map(|group| group.columns()).enumerate() {
        let (leaf, chunk) = (column.0 % schema.num_columns().max(1), column.1);
        if !columns.contains(&schema.get_column_root_idx(leaf)) {
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
