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
mod compression;
mod encoding;
mod fimi;
mod format;
mod json;
mod jsonl;
mod lines;
mod long_csv;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod positioned;
mod preview;
#[cfg(feature = "parquet")]
mod quiet;
mod source;
mod spelling;
mod spmf;
mod stopping;
mod window;

use std::io::Read;
use std::path::{Path, PathBuf};

pub use encoding::Encoding;
pub use format::Format;
pub use options::{Assumption, Input, LeftOut, ReadOptions};
pub use preview::{Preview, PreviewColumn};

use crate::budget::Budget;
use crate::data::{Assembly, Block};
use crate::error::{Bad, Hint};
use crate::{Error, Progress, Result};
use source::Source;

/// Reads the file `path`.
///
/// The result depends on the content alone: not on the number of threads,
/// and on the order of the records only in that they keep it.
pub fn read_dataset(path: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Input> {
    let format = Format::of(path, options)?;
    read(Source::open(path, options, progress)?, format, options, progress)
}

/// Reads a stream as if it were the content of a file called `name`: for
/// standard input, the network, an archive. `name` stands in messages, and
/// tells the format if the options do not.
pub fn read_dataset_from<'a>(
    stream: impl Read + Send + 'a,
    name: &Path,
    options: &ReadOptions,
    progress: &'a dyn Progress,
) -> Result<Input> {
    let format = Format::of(name, options)?;
    let source = Source::stream(name, Box::new(stream), options, progress)?;
    read(source, format, options, progress)
}

/// All bytes of a file, decompressed.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let source = Source::open(path, &ReadOptions::default(), &())?;
    let most = Budget::of_the_machine().part(4);
    let mut bytes = Vec::new();
    let mut some = source.into_reader().take(most.bytes().saturating_add(1));
    some.read_to_end(&mut bytes).map_err(|e| stopping::read_error(path, e))?;
    most.check("reading the file", bytes.len() as u64)?;
    Ok(bytes)
}

/// Reads a data set from memory as if it were the content of `name`; for
/// data that is embedded in a program.
pub fn parse_dataset(name: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Input> {
    let format = Format::of(name, options)?;
    read(Source::memory(name, bytes, options)?, format, options, &())
}

fn read(
    mut source: Source,
    format: Format,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Input> {
    format.check(options)?;
    let mut job = Job::new(source.name(), options, progress.budget());
    // Excel says in a first line what separates fields.
    let mut said = None;
    if matches!(format, Format::BasketCsv | Format::LongCsv)
        && let Some((separator, length)) = separator_line(source.head())
    {
        source.skip(length);
        source.assumed.push(Assumption::Separator(char::from(separator)));
        said = Some(separator);
    }
    job.assumed = std::mem::take(&mut source.assumed);
    let before = u64::from(said.is_some());
    job.preview = Preview::of(source.head(), None::<&fimi::Fimi>);
    match format {
        Format::Fimi => job.lines(source, &fimi::Fimi, 0)?,
        Format::Spmf => {
            let spmf = spmf::Spmf::default();
            lines::read(source, &spmf, 0, &mut job)?;
            spmf.rename(&mut job, progress)?;
        }
        Format::BasketCsv => {
            let delimiter = options.delimiter.or(said).unwrap_or_else(|| job.separator(&source));
            job.lines(source, &basket_csv::BasketCsv { delimiter }, before)?;
            job.preview.delimiter = Some(char::from(delimiter));
        }
        Format::LongCsv => long_csv::read(source, said, before, &mut job, progress)?,
        Format::Aol => aol::read(source, &mut job, progress)?,
        Format::Jsonl | Format::Json if json::is_array_of_records(source.head()) => {
            json::read(source, &mut job)?;
        }
        Format::Jsonl | Format::Json => {
            job.lines(source, &jsonl::Jsonl { item: options.item.as_deref() }, 0)?;
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
    job.finish(format, progress)
}

/// The separator that a first line `sep=;` tells, and the length of the line.
fn separator_line(head: &[u8]) -> Option<(u8, usize)> {
    let line = head.split_inclusive(|&b| b == b'\n').next()?;
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let text = text.strip_prefix(b"\"").and_then(|t| t.strip_suffix(b"\"")).unwrap_or(text);
    let (name, rest) = text.split_at_checked(4)?;
    match rest {
        [c] if name.eq_ignore_ascii_case(b"sep=") && c.is_ascii() && *c != b'"' => {
            Some((*c, line.len()))
        }
        _ => None,
    }
}

/// What memory is needed for.
const READING: &str = "reading the data";

/// A reading under way: what it fills and what it was asked.
struct Job<'a> {
    name: PathBuf,
    options: &'a ReadOptions,
    budget: Budget,
    assembly: Assembly,
    skipped: u64,
    assumed: Vec<Assumption>,
    preview: Preview,
}

impl<'a> Job<'a> {
    fn new(name: &Path, options: &'a ReadOptions, budget: Budget) -> Self {
        Self {
            name: name.to_owned(),
            options,
            budget,
            assembly: Assembly::default(),
            skipped: 0,
            assumed: Vec::new(),
            preview: Preview::default(),
        }
    }

    /// Reads a format of one record a line and keeps its beginning.
    fn lines(&mut self, source: Source, format: &impl lines::Lines, before: u64) -> Result<()> {
        self.preview = Preview::of(source.head(), Some(format));
        lines::read(source, format, before, self)
    }

    /// What separates the items of basket CSV where nobody said it.
    fn separator(&mut self, source: &Source) -> u8 {
        if format::extension(&self.name) == "tsv" {
            return b'\t';
        }
        let other = basket_csv::sniff(source.head());
        self.assumed.extend(other.map(|c| Assumption::Guessed(char::from(c))));
        other.unwrap_or(b',')
    }

    /// Appends records, if there is memory for them.
    fn add(&mut self, block: Block) -> Result<()> {
        self.assembly.add(block)?;
        self.budget.check(READING, self.assembly.bytes())
    }

    /// Looks now and then whether there is memory for the rows so far.
    fn check_rows(&self, row: u64, bytes: impl FnOnce() -> u64) -> Result<()> {
        if row.is_multiple_of(1 << 14) { self.budget.check(READING, bytes()) } else { Ok(()) }
    }

    /// The columns of a wide table that were asked for.
    #[cfg(feature = "parquet")]
    fn columns<'n>(&self, all: impl Iterator<Item = &'n str>) -> Result<Option<Vec<String>>> {
        let all: Vec<String> = all.map(str::to_owned).collect();
        let names = self.options.items.as_deref().map(|l| long_csv::column_names(l, &all));
        names.transpose().map_err(|bad| self.error(None, bad))
    }

    /// An error about `line`, counted from 1.
    fn error(&self, line: Option<u64>, bad: Bad) -> Error {
        Error::input(&self.name, line, bad.found, bad.hint)
    }

    fn finish(mut self, format: Format, progress: &dyn Progress) -> Result<Input> {
        spelling::apply(&mut self.assembly, self.options, progress)?;
        self.budget.check(READING, self.assembly.bytes())?;
        let (dataset, dropped) = self.assembly.finish(progress)?;
        if dataset.is_empty() {
            let mut found = "there is no record".to_owned();
            if self.skipped > 0 {
                found += &format!(" ({} lines were skipped)", self.skipped);
            } else if dropped.empty_records > 0 {
                found += &format!(" with an item ({} are empty)", dropped.empty_records);
            }
            let hint = Hint::from("expected ").then(format.layout());
            return Err(Error::input(self.name, None, found, hint));
        }
        Ok(Input {
            dataset,
            dropped,
            skipped_lines: self.skipped,
            format,
            assumed: self.assumed,
            preview: self.preview,
        })
    }
}
