//! Looks at what was read before something is published: is it what the
//! custodian thinks it is?
//!
//! A table read as baskets publishes its ids as items, and no guarantee of a
//! method speaks against that: an item is an item. Here the data is asked
//! whether it looks like sets of items at all: a header, a position that
//! identifies, a separator inside items, items that look like addresses,
//! dates or sentences. A [`Finding`] that means "this would publish
//! identifiers" is a refusal; one that a custodian should know of is a remark.
//!
//! What it does not do: prove anything. Data without findings may still
//! identify people, and the caller may say that the data is meant as it is.

mod columns;
mod describe;
mod items;
mod named;
mod names;
mod shape;
mod suggestion;
mod variants;

use std::path::Path;

use serde::Serialize;

use crate::data::ItemId;
use crate::error::{Hint, Setting};
use crate::io::{Format, Input, Preview, Spooled};
use crate::{Error, Progress, Result};
pub use suggestion::Suggestion;

/// What follows from a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing should be published before somebody has looked.
    Refuse,
    /// Worth knowing.
    Remark,
}

/// What was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// The first line names columns.
    Header,
    /// One position of the lines has a value of its own in nearly every line.
    UniquePosition {
        /// The position, counted from 1.
        position: usize,
    },
    /// One position of a table says whose row it is, several times a person.
    IdPosition {
        /// The position, counted from 1.
        position: usize,
    },
    /// Columns that say who somebody is are read as items; examples are their names.
    IdentifyingColumns,
    /// Columns with a value of its own in nearly every row are read as items;
    /// examples are their names.
    UniqueColumns,
    /// Columns that describe a person are read as items; examples are their names.
    PersonalColumns,
    /// A column that may say who somebody is was not read, and the records are
    /// something else than people: visits, orders. Examples are the columns.
    Visits,
    /// Items that say that nothing is there, such as `NULL`.
    Missing,
    /// The cells say yes or no: what they are about stands in the header.
    YesNo,
    /// One separator stands in nearly every item.
    Delimiter {
        /// The separator.
        delimiter: char,
    },
    /// Nearly every record has an item of its own that looks like an id.
    Ids,
    /// E-mail addresses.
    Emails,
    /// Phone numbers.
    Phones,
    /// Bank accounts (IBAN).
    Ibans,
    /// Dates.
    Dates,
    /// Sentences.
    FreeText,
    /// Bytes that are no text, or text of another encoding.
    ControlCharacters,
    /// Items such as `age=43` that describe a person.
    QuasiIdentifiers,
    /// Items that occur in one record only.
    Singles,
    /// Items that differ in upper and lower case only.
    CaseVariants,
    /// Items that differ in how accents are written only.
    AccentVariants,
    /// Items that differ in blanks or in characters that show nothing only.
    BlankVariants,
}

/// Something that was seen, how often, and a few of its items.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What follows from it.
    pub severity: Severity,
    /// What was seen.
    #[serde(flatten)]
    pub kind: Kind,
    /// How often (what is counted follows from the kind).
    pub count: u64,
    /// Out of how many.
    pub of: u64,
    /// A few of the items, cut short.
    pub examples: Vec<String>,
}

/// A line, and what was made of it.
#[derive(Clone, Debug, Serialize)]
pub struct Understood {
    /// The line as it stands in the data.
    pub line: String,
    /// Its items.
    pub items: Vec<String>,
}

/// Everything that was seen.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Findings {
    /// What was seen, refusals first.
    pub findings: Vec<Finding>,
    /// The first lines as they were understood.
    pub first_lines: Vec<Understood>,
    /// How the data is probably meant.
    pub suggestion: Option<Suggestion>,
}

/// Looks at data that was read.
///
/// # Complexity
/// One pass over the items for their supports, one over the labels, and a
/// look at the first lines.
pub fn check(input: &Input) -> Findings {
    let data = &input.dataset;
    let supports = data.supports().into_iter().map(u64::from).collect();
    let labels = items::Labels::new(data.vocabulary(), supports, data.len() as u64);
    let mut count = |is: &dyn Fn(&[ItemId]) -> bool| -> Result<u64> {
        Ok(data.records().filter(|record| is(record)).count() as u64)
    };
    let found = look(&labels, input.format, &input.preview, &mut count);
    found.expect("counting records in memory cannot fail")
}

/// The same for data on disk.
///
/// # Errors
/// If it cannot be read, or `progress` says stop.
pub fn check_spooled(data: &mut Spooled, progress: &dyn Progress) -> Result<Findings> {
    // What is counted may need a pass over the records, and that the data for itself.
    let (vocabulary, preview) =
        (std::mem::take(&mut data.vocabulary), std::mem::take(&mut data.preview));
    let labels = items::Labels::new(&vocabulary, data.counts.clone(), data.records);
    let format = data.format;
    let mut count = |is: &dyn Fn(&[ItemId]) -> bool| {
        let mut found = 0;
        data.each_record(progress, &mut |record| {
            found += u64::from(is(record));
            Ok(())
        })?;
        Ok(found)
    };
    let findings = look(&labels, format, &preview, &mut count);
    (data.vocabulary, data.preview) = (vocabulary, preview);
    findings
}

fn look(
    data: &items::Labels,
    format: Format,
    preview: &Preview,
    count: &mut items::Count,
) -> Result<Findings> {
    let table = columns::Table::new(&preview.rows, data);
    let mut findings: Vec<Finding> = table.iter().flat_map(|t| t.findings()).collect();
    findings.extend(named::findings(&preview.item_columns, data));
    let found_id = !findings.is_empty();
    findings.extend(named::visits(preview));
    findings.extend(named::yes_or_no(preview, data, table.as_ref().and_then(|t| t.width)));
    findings.extend(items::findings(data, found_id, count)?);
    findings.extend(variants::findings(data));
    findings.sort_by_key(|f| f.severity == Severity::Remark);
    let refused = findings.iter().any(|f| f.severity == Severity::Refuse);
    let suggestion =
        suggestion::of(&findings, table.as_ref(), data, format, preview).filter(|_| refused);
    let understood = |(line, row): (&String, &Vec<String>)| Understood {
        line: line.clone(),
        items: row.iter().filter(|item| !item.is_empty()).cloned().collect(),
    };
    let lines = preview.lines.iter().zip(&preview.rows);
    Ok(Findings { findings, first_lines: lines.map(understood).collect(), suggestion })
}

impl Findings {
    /// Whether nothing should be published.
    pub fn refused(&self) -> bool {
        self.of(Severity::Refuse).next().is_some()
    }

    /// Fails if nothing of `path` should be published.
    ///
    /// # Errors
    /// With everything that speaks against it.
    pub fn refuse(&self, path: &Path) -> Result<()> {
        if !self.refused() {
            return Ok(());
        }
        let seen: Vec<String> = self.of(Severity::Refuse).map(Finding::describe).collect();
        let hint = "read it by its columns ({}, {}), or say that it is meant as it is ({})";
        let hint = Hint::of(hint, &[Setting::Id, Setting::Item, Setting::AsBaskets]);
        let found = format!("this does not look like sets of items: {}", seen.join("; "));
        Err(Error::input(path, None, found, hint))
    }

    /// The findings of one severity.
    pub fn of(&self, severity: Severity) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |f| f.severity == severity)
    }
}

/// An example, cut to a readable length.
fn short(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
