//! Readers of data sets: one file a format.
//!
//! To add a format: a file beside the others with a function that fills an
//! [`Assembly`](crate::data), a variant of [`Format`], a line in
//! [`Format::ALL`], and its arm in [`read_dataset`]. The command line and the
//! messages follow from these.
//!
//! The same rules hold for all formats. Items are text; white space around an
//! item is not part of it, and an item of nothing else is left out and
//! counted. An item that stands twice in a record is dropped and counted, and
//! so is a record without items. `.gz` and `.zst` are recognised by their
//! first bytes, whatever the name says.

mod aol;
mod basket_csv;
mod fimi;
mod format;
mod jsonl;
mod lines;
mod long;
mod long_csv;
#[cfg(feature = "parquet")]
mod parquet;
mod source;
mod spmf;

use std::io::Read;
use std::path::{Path, PathBuf};

pub use format::Format;

use serde::Serialize;

use crate::data::{Assembly, Dataset, Dropped};
use crate::{Error, Progress, Result};
use source::Source;

/// How to read.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The layout; without it the extension decides.
    pub format: Option<Format>,
    /// The column that says whose row it is, in a long table.
    pub id: Option<String>,
    /// The column or field with the item or the list of items.
    pub item: Option<String>,
    /// What separates the fields of a CSV file; without it, see `docs/formats.md`.
    pub delimiter: Option<u8>,
    /// The directory of WordNet's database files: the nouns of a query log
    /// are its items then, instead of the queries.
    pub wordnet: Option<PathBuf>,
    /// Skip lines that cannot be read instead of failing.
    pub skip_bad_lines: bool,
}

/// A data set and what was left out of it.
#[derive(Debug)]
pub struct Input {
    /// The data.
    pub dataset: Dataset,
    /// Duplicates, blank items and empty records.
    pub dropped: Dropped,
    /// Lines (rows, in a Parquet file) that were skipped because they could not be read.
    pub skipped_lines: u64,
    /// The layout it was read as.
    pub format: Format,
}

/// What was left out, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Items that stood in their record already.
    pub duplicates: u64,
    /// Items that are nothing but white space.
    pub blank_items: u64,
    /// Records without an item.
    pub empty_records: u64,
    /// Lines or rows that could not be read.
    pub skipped_lines: u64,
}

impl Input {
    /// What was left out.
    pub fn left_out(&self) -> LeftOut {
        LeftOut {
            duplicates: self.dropped.duplicates,
            blank_items: self.dropped.blank_items,
            empty_records: self.dropped.empty_records,
            skipped_lines: self.skipped_lines,
        }
    }
}

impl LeftOut {
    /// One line in plain words, if anything was left out.
    pub fn describe(&self) -> Option<String> {
        let parts: Vec<String> = [
            (self.skipped_lines, "lines that cannot be read"),
            (self.empty_records, "empty records"),
            (self.blank_items, "blank items"),
            (self.duplicates, "items that stood twice in a record"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
        if parts.is_empty() { None } else { Some(format!("left out: {}", parts.join(", "))) }
    }
}

/// Reads a data set; `-` is standard input.
///
/// The result depends on the content alone: not on the number of threads,
/// and on the order of the records only in that they keep it.
pub fn read_dataset(path: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Input> {
    let format = Format::of(path, options)?;
    read(Source::open(path, progress)?, format, options)
}

/// All bytes of a file, decompressed.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let source = Source::open(path, &())?;
    let mut bytes = Vec::new();
    source.into_reader().read_to_end(&mut bytes).map_err(|e| source::read_error(path, e))?;
    Ok(bytes)
}

/// Reads a data set from memory as if it were the content of `name`; for
/// data that is embedded in a program.
pub fn parse_dataset(name: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Input> {
    let format = Format::of(name, options)?;
    read(Source::memory(name, bytes)?, format, options)
}

fn read(source: Source, format: Format, options: &ReadOptions) -> Result<Input> {
    format.check(options)?;
    let mut job = Job::new(source.name(), options);
    match format {
        Format::Fimi => lines::read(source, &fimi::Fimi, &mut job)?,
        Format::Spmf => {
            let spmf = spmf::Spmf::default();
            lines::read(source, &spmf, &mut job)?;
            spmf.rename(&mut job);
        }
        Format::BasketCsv => {
            let tab = format::extension(&job.name) == "tsv";
            let delimiter = options.delimiter.unwrap_or(if tab { b'\t' } else { b',' });
            lines::read(source, &basket_csv::BasketCsv { delimiter }, &mut job)?;
        }
        Format::LongCsv => long_csv::read(source, &mut job)?,
        Format::Aol => aol::read(source, &mut job)?,
        Format::Jsonl => {
            let item = options.item.as_deref();
            lines::read(source, &jsonl::Jsonl { item }, &mut job)?;
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(source, &mut job)?,
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            let bad = Bad::new(
                "this is a Parquet file",
                "this program was built without the feature `parquet`",
            );
            return Err(job.error(None, bad));
        }
    }
    job.finish(format)
}

/// A reading under way: what it fills and what it was asked.
struct Job<'a> {
    name: PathBuf,
    options: &'a ReadOptions,
    assembly: Assembly,
    skipped: u64,
}

/// Why a line or row cannot be read, and what to do about it.
#[derive(Debug)]
struct Bad {
    found: String,
    hint: String,
}

impl Bad {
    fn new(found: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { found: found.into(), hint: hint.into() }
    }
}

impl<'a> Job<'a> {
    fn new(name: &Path, options: &'a ReadOptions) -> Self {
        let name = name.to_owned();
        Self { name, options, assembly: Assembly::default(), skipped: 0 }
    }

    /// An error about `line`, counted from 1.
    fn error(&self, line: Option<u64>, bad: Bad) -> Error {
        Error::input(&self.name, line, bad.found, bad.hint)
    }

    fn finish(self, format: Format) -> Result<Input> {
        let (dataset, dropped) = self.assembly.finish();
        if dataset.is_empty() {
            let mut found = "there is no record".to_owned();
            if self.skipped > 0 {
                found += &format!(" ({} lines were skipped)", self.skipped);
            } else if dropped.empty_records > 0 {
                found += &format!(" with an item ({} are empty)", dropped.empty_records);
            }
            let hint = format!("expected {}", format.layout());
            return Err(Error::input(self.name, None, found, hint));
        }
        Ok(Input { dataset, dropped, skipped_lines: self.skipped, format })
    }
}
