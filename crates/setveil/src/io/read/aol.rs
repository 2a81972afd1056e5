//! A query log with AOL's columns: `AnonID`, `Query`, `QueryTime`, `ItemRank`,
//! `ClickURL`, separated by tabs, under a header (partition-2009, section 6).
//!
//! A record is a user's queries in small letters, each once; or, with
//! WordNet, the nouns of the queries. Time, rank and address are not read.
//! AOL writes `-` for a query that was taken out: it is a blank item. The
//! header may come again, as it does where files were joined.

use std::io::{BufRead, BufReader, Read};

use super::lines::invalid_utf8;
use super::source::Source;
use super::stopping::{endless, read_error};
use super::{Bad, Job};
use crate::data::{Block, LongTable, Nouns};
use crate::error::{Hint, Setting};
use crate::{Progress, Result, io};

/// Reads all rows of `source`.
pub(super) fn read(source: Source, job: &mut Job, progress: &dyn Progress) -> Result<()> {
    let nouns = job.options.wordnet.as_deref().map(io::read_wordnet).transpose()?;
    let mut reader = BufReader::with_capacity(1 << 18, source.into_reader());
    let (mut table, mut line) = (LongTable::default(), Vec::new());
    let mut columns = None;
    for number in 1u64.. {
        line.clear();
        let longest = job.budget.line();
        let read = reader.by_ref().take(longest).read_until(b'\n', &mut line);
        match read.map_err(|e| read_error(&job.name, e))? as u64 {
            0 => break,
            read if read == longest => return Err(endless(read + 1, longest)),
            _ if job.to_disk() => job.relieve(&mut Block::default(), &mut table)?,
            _ => job.check_rows(number, || table.bytes())?,
        }
        let end = line.len() - line.iter().rev().take_while(|b| matches!(b, b'\n' | b'\r')).count();
        let bytes = line[..end].strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line[..end]);
        let text = std::str::from_utf8(bytes).map_err(|e| invalid_utf8(bytes, e));
        let row = text.and_then(|text| match columns {
            None => {
                columns = Some(header(text)?);
                Ok(None)
            }
            Some(columns) => fields(text, columns),
        });
        match row {
            Ok(None) => {}
            Ok(Some((user, query))) => push(&mut table, nouns.as_ref(), user, query),
            Err(_) if job.options.skip_bad_lines && columns.is_some() => job.skipped += 1,
            Err(bad) => return Err(job.error(Some(number), bad)),
        }
    }
    job.add_rows(table, progress)
}

fn push(table: &mut LongTable, nouns: Option<&Nouns>, user: &str, query: &str) {
    let query = query.trim().to_lowercase();
    match nouns {
        _ if query == "-" => table.push(user, ""),
        None => table.push(user, &query),
        Some(nouns) => {
            let mut none = true;
            nouns.nouns_of(&query, |noun| {
                none = false;
                table.push(user, noun);
            });
            if none {
                table.push(user, "");
            }
        }
    }
}

/// Where user and query stand.
fn header(text: &str) -> Result<(usize, usize), Bad> {
    let column = |name: &str| {
        text.split('\t').position(|field| field.trim().eq_ignore_ascii_case(name)).ok_or_else(
            || {
                let hint = "expected the header AnonID, Query, QueryTime, ItemRank, ClickURL, \
                        separated by tabs";
                Bad::new(format!("the first line has no column `{name}`"), hint)
            },
        )
    };
    Ok((column("AnonID")?, column("Query")?))
}

/// User and query; none for a blank line or the header again.
fn fields(text: &str, (user, query): (usize, usize)) -> Result<Option<(&str, &str)>, Bad> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let field = |column: usize| text.split('\t').nth(column);
    match (field(user).map(str::trim), field(query)) {
        (Some(user), Some(_)) if user.eq_ignore_ascii_case("AnonID") => Ok(None),
        (Some(user), Some(query)) if !user.is_empty() => Ok(Some((user, query))),
        _ => {
            let hint = "separate the fields by tabs, or add {}";
            let hint = Hint::of(hint, &[Setting::SkipBadLines]);
            Err(Bad::new("the row has no user or no query", hint))
        }
    }
}
