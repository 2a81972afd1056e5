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

use super::shelves::DiskShelves;
use super::spool::{Spool, Spooled};
use crate::budget::Budget;
use crate::data::{Assembly, Block, Dropped, LongTable, Respelling};
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

/// Reads the file `path` to `shelves`, with about so much memory, whatever the
/// size of the file.
///
/// # Errors
/// As [`read_dataset`], if the disk is full, and if the distinct items do not fit.
pub fn spool_dataset(
    path: &Path,
    options: &ReadOptions,
    shelves: &DiskShelves,
    memory: Budget,
    progress: &dyn Progress,
) -> Result<Spooled> {
    let format = Format::of(path, options)?;
    let source = Source::open(path, options, progress)?;
    spool(source, format, options, shelves, memory, progress)
}

/// As [`spool_dataset`], for a stream: see [`read_dataset_from`].
///
/// # Errors
/// As [`spool_dataset`].
pub fn spool_dataset_from<'a>(
    stream: impl Read + Send + 'a,
    name: &Path,
    options: &ReadOptions,
    shelves: &DiskShelves,
    memory: Budget,
    progress: &'a dyn Progress,
) -> Result<Spooled> {
    let format = Format::of(name, options)?;
    let source = Source::stream(name, Box::new(stream), options, progress)?;
    spool(source, format, options, shelves, memory, progress)
}

fn spool(
    source: Source,
    format: Format,
    options: &ReadOptions,
    shelves: &DiskShelves,
    memory: Budget,
    progress: &dyn Progress,
) -> Result<Spooled> {
    let gather = Gather::Disk(Spool::new(shelves, memory, options.respells(), progress)?);
    let mut job = Job::new(source.name(), options, memory, gather);
    fill(source, format, &mut job, progress)?;
    job.finish_spooled(format)
}

fn read(
    source: Source,
    format: Format,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Input> {
    let gather = Gather::Memory(Assembly::default());
    let mut job = Job::new(source.name(), options, progress.budget(), gather);
    fill(source, format, &mut job, progress)?;
    job.finish(format, progress)
}

/// Reads all of `source`.
fn fill(mut source: Source, format: Format, job: &mut Job, progress: &dyn Progress) -> Result<()> {
    let options = job.options;
    format.check(options)?;
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
            lines::read(source, &spmf, 0, job)?;
            spmf.rename(job, progress)?;
        }
        Format::BasketCsv => {
            let delimiter = options.delimiter.or(said).unwrap_or_else(|| job.separator(&source));
            job.lines(source, &basket_csv::BasketCsv { delimiter }, before)?;
            job.preview.delimiter = Some(char::from(delimiter));
        }
        Format::LongCsv => long_csv::read(source, said, before, job, progress)?,
        Format::Aol => aol::read(source, job, progress)?,
        Format::Jsonl | Format::Json if json::is_array_of_records(source.head()) => {
            json::read(source, job)?;
        }
        Format::Jsonl | Format::Json => {
            job.lines(source, &jsonl::Jsonl { item: options.item.as_deref() }, 0)?;
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(source, job)?,
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            let bad = Bad::new(
                "this is a Parquet file",
                "this program was built without the feature `parquet`",
            );
            return Err(job.error(None, bad));
        }
    }
    spelling::apply(job, progress)
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
    gather: Gather<'a>,
    skipped: u64,
    assumed: Vec<Assumption>,
    preview: Preview,
}

/// Where records go.
enum Gather<'a> {
    Memory(Assembly),
    Disk(Spool<'a>),
}

impl<'a> Job<'a> {
    fn new(name: &Path, options: &'a ReadOptions, budget: Budget, gather: Gather<'a>) -> Self {
        Self {
            name: name.to_owned(),
            options,
            budget,
            gather,
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
    fn add(&mut self, mut block: Block) -> Result<()> {
        match &mut self.gather {
            Gather::Memory(assembly) => {
                assembly.add(block)?;
                self.budget.check(READING, assembly.bytes())
            }
            Gather::Disk(spool) => {
                if spool.tidies() {
                    block.tidy();
                }
                spool.add(block)
            }
        }
    }

    /// Appends the rows of persons of which no more will come.
    fn add_rows(&mut self, table: LongTable, progress: &dyn Progress) -> Result<()> {
        match &mut self.gather {
            Gather::Memory(_) => self.add(table.into_block(progress)?),
            Gather::Disk(spool) => spool.end_rows(table),
        }
    }

    /// Takes records and rows out of memory, if they go to a disk and are enough.
    fn relieve(&mut self, block: &mut Block, table: &mut LongTable) -> Result<()> {
        let Gather::Disk(spool) = &mut self.gather else { return Ok(()) };
        let portion = spool.portion();
        if table.bytes() > portion {
            spool.add_rows(std::mem::take(table))?;
        }
        if block.bytes() > portion { self.add(std::mem::take(block)) } else { Ok(()) }
    }

    /// Whether records go to a disk, one portion after the other.
    fn to_disk(&self) -> bool {
        matches!(self.gather, Gather::Disk(_))
    }

    /// Whether they are tidy before they go there.
    fn tidies(&self) -> bool {
        matches!(&self.gather, Gather::Disk(spool) if spool.tidies())
    }

    /// Other labels for items.
    fn relabel(&mut self, change: &Respelling, progress: &dyn Progress) -> Result<()> {
        match &mut self.gather {
            Gather::Memory(assembly) => {
                assembly.relabel(change, progress)?;
                self.budget.check(READING, assembly.bytes())
            }
            Gather::Disk(spool) => spool.relabel(change),
        }
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

    /// There is nothing to publish.
    fn nothing(&self, dropped: Dropped, format: Format) -> Error {
        let mut found = "there is no record".to_owned();
        if self.skipped > 0 {
            found += &format!(" ({} lines were skipped)", self.skipped);
        } else if dropped.empty_records > 0 {
            found += &format!(" with an item ({} are empty)", dropped.empty_records);
        }
        let hint = Hint::from("expected ").then(format.layout());
        Error::input(&self.name, None, found, hint)
    }

    fn finish_spooled(mut self, format: Format) -> Result<Spooled> {
        let memory = Gather::Memory(Assembly::default());
        let Gather::Disk(spool) = std::mem::replace(&mut self.gather, memory) else {
            unreachable!("a job that was begun on a disk")
        };
        let mut spooled = spool.finish()?;
        if spooled.records == 0 {
            return Err(self.nothing(spooled.dropped, format));
        }
        spooled.skipped_lines = self.skipped;
        spooled.format = format;
        (spooled.assumed, spooled.preview) = (self.assumed, self.preview);
        Ok(spooled)
    }

    fn finish(mut self, format: Format, progress: &dyn Progress) -> Result<Input> {
        let memory = Gather::Memory(Assembly::default());
        let Gather::Memory(assembly) = std::mem::replace(&mut self.gather, memory) else {
            unreachable!("a job that was begun in memory")
        };
        let (dataset, dropped) = assembly.finish(progress)?;
        if dataset.is_empty() {
            return Err(self.nothing(dropped, format));
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
