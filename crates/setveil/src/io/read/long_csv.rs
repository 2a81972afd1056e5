//! Long CSV or TSV: a header, then one row an item. `--id` names the column
//! that says whose row it is, `--item` the one with the item.
//!
//! The separator is `--delimiter`, a tab in a `.tsv` file, or else the first
//! of comma, tab, semicolon and bar with which the header has both columns.

use std::io::{BufRead, BufReader, Cursor, Read};

use csv::ByteRecord;

use super::format::extension;
use super::lines::invalid_utf8;
use super::long::LongTable;
use super::source::{Source, read_error};
use super::{Bad, Job};
use crate::{Error, Result};

const SNIFFED: [u8; 4] = [b',', b'\t', b';', b'|'];
/// The longest header that is looked at.
const HEADER: u64 = 1 << 20;

/// The longest row: with a quote that is never closed, the rest of the file becomes one.
const LONGEST: usize = 1 << 20;

/// Reads all rows of `source`.
pub(super) fn read(source: Source, job: &mut Job) -> Result<()> {
    let (Some(id), Some(item)) = (&job.options.id, &job.options.item) else {
        return Err(Error::Parameter {
            name: "--format",
            found: "long-csv".into(),
            expected: "both --id and --item with the names of the columns",
        });
    };
    let mut reader = BufReader::with_capacity(1 << 18, source.into_reader());
    let mut head = Vec::new();
    let fail = |e| read_error(&job.name, e);
    reader.by_ref().take(HEADER).read_until(b'\n', &mut head).map_err(fail)?;
    if head.starts_with(b"\xef\xbb\xbf") {
        head.drain(..3);
    }
    let delimiter = job.options.delimiter.unwrap_or_else(|| {
        let tsv = extension(&job.name) == "tsv";
        if tsv { b'\t' } else { sniff(&head, id, item) }
    });
    let mut csv = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .has_headers(false)
        .from_reader(Cursor::new(head).chain(reader));
    let mut row = ByteRecord::new();
    let mut next = |row: &mut ByteRecord| {
        csv.read_byte_record(row).map_err(|e| match e.into_kind() {
            csv::ErrorKind::Io(e) => read_error(&job.name, e),
            other => Error::input(&job.name, None, format!("{other:?}"), "expected CSV"),
        })
    };
    if !next(&mut row)? {
        return Ok(());
    }
    let columns = Columns::find(&row, id, item).map_err(|bad| job.error(Some(1), bad))?;
    let (mut table, mut skipped) = (LongTable::default(), 0);
    while next(&mut row)? {
        if row.as_slice().len() > LONGEST {
            let bad = Bad::new(
                "a row of more than a megabyte begins here",
                "a quote may have been opened and not closed: write a quote inside quotes twice",
            );
            return Err(job.error(row.position().map(csv::Position::line), bad));
        }
        match columns.of(&row) {
            Ok((person, item)) => table.push(person, item),
            Err(_) if job.options.skip_bad_lines => skipped += 1,
            Err(bad) => return Err(job.error(row.position().map(csv::Position::line), bad)),
        }
    }
    job.skipped += skipped;
    job.assembly.add(table.into_block());
    Ok(())
}

/// Where the two columns stand.
struct Columns<'a> {
    id: (usize, &'a str),
    item: (usize, &'a str),
}

impl<'a> Columns<'a> {
    fn find(header: &ByteRecord, id: &'a str, item: &'a str) -> Result<Self, Bad> {
        let find = |name: &'a str| {
            let mut found = (0..header.len()).filter(|&c| field(header, c) == name.trim());
            match (found.next(), found.next()) {
                (Some(column), None) => Ok((column, name)),
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
        Ok(Self { id: find(id)?, item: find(item)? })
    }

    /// Whose row it is, and the item.
    fn of<'r>(&self, row: &'r ByteRecord) -> Result<(&'r str, &'r str), Bad> {
        let get = |(column, name): (usize, &str)| {
            let bytes = row.get(column).ok_or_else(|| {
                Bad::new(
                    format!("the row has {} fields, `{name}` is number {}", row.len(), column + 1),
                    "fill the row up, or add --skip-bad-lines",
                )
            })?;
            std::str::from_utf8(bytes).map_err(|e| invalid_utf8(bytes, e))
        };
        let (id, item) = (get(self.id)?.trim(), get(self.item)?);
        if id.is_empty() {
            let found = format!("`{}` is empty", self.id.1);
            return Err(Bad::new(found, "say whose row it is, or add --skip-bad-lines"));
        }
        Ok((id, item))
    }
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

fn sniff(head: &[u8], id: &str, item: &str) -> u8 {
    let fits = |&delimiter: &u8| {
        let mut csv =
            csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(head);
        let mut header = ByteRecord::new();
        csv.read_byte_record(&mut header).is_ok_and(|r| r)
            && Columns::find(&header, id, item).is_ok()
    };
    SNIFFED.into_iter().find(fits).unwrap_or(SNIFFED[0])
}
