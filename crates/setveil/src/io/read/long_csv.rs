//! Tables as CSV or TSV, under a header. Long: one row an item, with a column
//! that says whose row it is and one with the item. Wide: items in several
//! columns, or in all but the id.
//!
//! The separator is the one that was asked for, that of a line `sep=;` above
//! the header, a tab in a `.tsv` file, or else the first of comma, tab,
//! semicolon and bar with which the header has all columns.

use std::io::{BufRead, BufReader, Cursor, Read};

use csv::ByteRecord;

use super::format::extension;
use super::lines::invalid_utf8;
use super::preview::{Preview, PreviewColumn};
use super::source::Source;
use super::stopping::{Meter, Metered, read_error};
use super::{Bad, Job};
use crate::data::{Block, LongTable};
use crate::error::{Hint, Setting};
use crate::{Error, Progress, Result};

const SNIFFED: [u8; 4] = [b',', b'\t', b';', b'|'];
/// The longest header that is looked at.
const HEADER: u64 = 1 << 20;
/// The longest row: with a quote that is never closed, the rest of the file becomes one.
const LONGEST: usize = 1 << 20;

/// Reads all rows of `source`; `lines` came before it.
pub(super) fn read(
    source: Source,
    separator: Option<u8>,
    lines: u64,
    job: &mut Job,
    progress: &dyn Progress,
) -> Result<()> {
    check_columns(job)?;
    let mut reader = BufReader::with_capacity(1 << 18, source.into_reader());
    let mut head = Vec::new();
    let fail = |e| read_error(&job.name, e);
    reader.by_ref().take(HEADER).read_until(b'\n', &mut head).map_err(fail)?;
    let delimiter = job.options.delimiter.or(separator).unwrap_or_else(|| {
        let tsv = extension(&job.name) == "tsv";
        if tsv { b'\t' } else { sniff(&head, job) }
    });
    let mut table = Table::new(Cursor::new(head).chain(reader), delimiter, lines);
    if table.next(job)?.is_none() {
        return Ok(());
    }
    job.preview.delimiter = Some(char::from(delimiter));
    let name = |field: &[u8]| String::from_utf8_lossy(field).trim().to_owned();
    job.preview.columns = table.row.iter().map(name).collect();
    let columns = Columns::find(&table.row, job).map_err(|b| job.error(Some(1 + lines), b))?;
    job.preview.unread = columns.unread(&table.row);
    job.preview.id = columns.id.as_ref().map(|id| id.name.clone());
    let mut rows = Rows::new(columns);
    let (mut skipped, mut count) = (0, 0);
    while let Some(line) = table.next(job)? {
        count += 1;
        job.relieve(&mut rows.block, &mut rows.table)?;
        job.check_rows(count, || rows.table.bytes() + rows.block.bytes())?;
        match rows.add(&table.row) {
            Ok(()) if Preview::wants(count - 1) => rows.keep(&table.row),
            Ok(()) => {}
            Err(_) if job.options.skip_bad_lines => skipped += 1,
            Err(bad) => return Err(job.error(Some(line), bad)),
        }
    }
    job.skipped += skipped;
    job.preview.item_columns = std::mem::take(&mut rows.kept);
    let long = rows.columns.id.is_some();
    if long { job.add_rows(rows.table, progress) } else { job.add(rows.block) }
}

/// Refuses a table of which no column is named, or an item without whose it is.
fn check_columns(job: &Job) -> Result<()> {
    if job.options.id.is_some() || job.options.items.is_some() {
        return Ok(());
    }
    Err(Error::Setting {
        setting: Setting::Format,
        found: "long-csv".into(),
        expected: Hint::of(
            "{} and {} with the names of the columns, or {} with several",
            &[Setting::Id, Setting::Item, Setting::Items],
        ),
    })
}

/// The rows of the text, one at a time.
struct Table<R: Read> {
    csv: csv::Reader<Metered<R>>,
    meter: Meter,
    row: ByteRecord,
    /// Lines that came before.
    before: u64,
}

impl<R: Read> Table<R> {
    fn new(text: R, delimiter: u8, before: u64) -> Self {
        let (metered, meter) = Metered::new(text, 16 * LONGEST as u64);
        let csv = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .flexible(true)
            .has_headers(false)
            .from_reader(metered);
        Self { csv, meter, row: ByteRecord::new(), before }
    }

    /// Reads the next row; the line that it begins in.
    fn next(&mut self, job: &Job) -> Result<Option<u64>> {
        let line = self.csv.position().line() + self.before;
        let more = self.csv.read_byte_record(&mut self.row).map_err(|e| match e.into_kind() {
            csv::ErrorKind::Io(e) => match read_error(&job.name, e) {
                Error::TooLarge { .. } => too_long(line, job),
                other => other,
            },
            other => Error::input(&job.name, None, format!("{other:?}"), "expected CSV"),
        })?;
        self.meter.record_ended();
        // Blank lines before the row are not part of it.
        let line = self.row.position().map_or(line, |p| p.line() + self.before);
        if self.row.as_slice().len() > LONGEST {
            return Err(too_long(line, job));
        }
        Ok(more.then_some(line))
    }
}

fn too_long(line: u64, job: &Job) -> Error {
    let bad = Bad::new(
        "a row of more than a megabyte begins here",
        "a quote may have been opened and not closed: write a quote inside quotes twice",
    );
    job.error(Some(line), bad)
}

/// What is made of the rows.
struct Rows {
    columns: Columns,
    /// The rows of persons, or rows that are records themselves.
    table: LongTable,
    block: Block,
    /// The first cells of the columns with items.
    kept: Vec<PreviewColumn>,
}

impl Rows {
    fn new(columns: Columns) -> Self {
        let named = |column: &Column| PreviewColumn { name: column.name.clone(), values: vec![] };
        let kept = columns.items.iter().map(named).collect();
        Self { columns, table: LongTable::default(), block: Block::default(), kept }
    }

    /// Keeps the cells of a row, for whoever looks at them before publishing.
    fn keep(&mut self, row: &ByteRecord) {
        for (column, kept) in self.columns.items.iter().zip(&mut self.kept) {
            let cell = column.of(row).unwrap_or_default().trim();
            kept.values.extend((!cell.is_empty()).then(|| cell.to_owned()));
        }
    }

    fn add(&mut self, row: &ByteRecord) -> Result<(), Bad> {
        let Rows { columns, table, block, .. } = self;
        // All cells are looked at first: a bad row must leave nothing behind.
        for column in columns.id.iter().chain(&columns.items) {
            column.of(row)?;
        }
        let items = columns.items.iter().filter_map(|column| column.of(row).ok());
        let Some(id) = &columns.id else {
            items.for_each(|item| block.push_trimmed(item));
            block.end_record();
            return Ok(());
        };
        let person = id.of(row)?.trim();
        if person.is_empty() {
            let hint = Hint::of("say whose row it is, or add {}", &[Setting::SkipBadLines]);
            return Err(Bad::new(format!("`{}` is empty", id.name), hint));
        }
        let person = table.persons.intern(person);
        items.for_each(|item| table.push_item(person, item));
        Ok(())
    }
}

/// Where the columns stand.
struct Columns {
    id: Option<Column>,
    items: Vec<Column>,
}

struct Column {
    at: usize,
    name: String,
}

impl Column {
    fn of<'r>(&self, row: &'r ByteRecord) -> Result<&'r str, Bad> {
        let bytes = row.get(self.at).ok_or_else(|| {
            let (fields, number) = (row.len(), self.at + 1);
            let found = format!("the row has {fields} fields, `{}` is number {number}", self.name);
            let hint = Hint::of("fill the row up, or add {}", &[Setting::SkipBadLines]);
            Bad::new(found, hint)
        })?;
        std::str::from_utf8(bytes).map_err(|e| invalid_utf8(bytes, e))
    }
}

impl Columns {
    fn find(header: &ByteRecord, job: &Job) -> Result<Self, Bad> {
        let all: Vec<String> = (0..header.len()).map(|c| field(header, c)).collect();
        let find = |name: &str| {
            let mut found = (0..header.len()).filter(|&c| all[c] == name.trim());
            match (found.next(), found.next()) {
                (Some(at), None) => Ok(Column { at, name: name.to_owned() }),
                (Some(_), Some(_)) => Err(Bad::new(
                    format!("two columns are named `{name}`"),
                    "give every column a name of its own",
                )),
                (None, _) => Err(Bad::new(
                    format!("there is no column `{name}`"),
                    format!("the columns are {}", names(header)),
                )),
            }
        };
        let id = job.options.id.as_deref().map(find).transpose()?;
        let items = match (&job.options.item, &job.options.items) {
            (Some(item), _) => vec![find(item)?],
            (None, Some(items)) => {
                let names = column_names(items, &all)?;
                names.iter().map(|name| find(name)).collect::<Result<_, _>>()?
            }
            (None, None) => {
                let others = (0..header.len()).filter(|&c| id.as_ref().is_none_or(|i| i.at != c));
                others.map(|at| Column { at, name: all[at].clone() }).collect()
            }
        };
        Ok(Self { id, items })
    }
}

impl Columns {
    /// The names of the columns that nobody asked for.
    fn unread(&self, header: &ByteRecord) -> Vec<String> {
        let read = |at: usize| self.id.iter().chain(&self.items).any(|column| column.at == at);
        (0..header.len()).filter(|&at| !read(at)).map(|at| field(header, at)).collect()
    }
}

/// The columns that a list such as `age,dx1..dx21` names; a range goes from
/// one column to another in the order of the table.
pub(super) fn column_names(list: &str, all: &[String]) -> Result<Vec<String>, Bad> {
    let at = |name: &str| {
        all.iter().position(|n| n == name.trim()).ok_or_else(|| {
            let found = format!("there is no column `{}`", name.trim());
            let some: Vec<String> = all.iter().take(20).map(|n| format!("`{n}`")).collect();
            Bad::new(found, format!("the columns are {}", some.join(", ")))
        })
    };
    let mut names = Vec::new();
    for part in list.split(',') {
        // A column may have dots in its name.
        match part.split_once("..").filter(|_| !all.iter().any(|n| n == part.trim())) {
            None => names.push(all[at(part)?].clone()),
            Some((first, last)) => {
                let (first, last) = (at(first)?, at(last)?);
                if last < first {
                    let found = format!("`{part}` runs backwards");
                    return Err(Bad::new(found, "name the column further left first"));
                }
                names.extend_from_slice(&all[first..=last]);
            }
        }
    }
    Ok(names)
}

/// A field of the header as text.
fn field(header: &ByteRecord, column: usize) -> String {
    String::from_utf8_lossy(&header[column]).trim().to_owned()
}

fn names(header: &ByteRecord) -> String {
    let mut names: Vec<String> =
        (0..header.len().min(20)).map(|c| format!("`{}`", field(header, c))).collect();
    if header.len() > names.len() {
        names.push("...".into());
    }
    names.join(", ")
}

fn sniff(head: &[u8], job: &Job) -> u8 {
    let fits = |&delimiter: &u8| {
        let mut csv =
            csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(head);
        let mut header = ByteRecord::new();
        csv.read_byte_record(&mut header).is_ok_and(|r| r)
            // A wide table needs a second column.
            && Columns::find(&header, job).is_ok_and(|c| !c.items.is_empty())
    };
    SNIFFED.into_iter().find(fits).unwrap_or(SNIFFED[0])
}
