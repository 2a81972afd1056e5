//! What a caller says about the data, and what it is told.

use std::path::PathBuf;

use serde::Serialize;

use super::{Encoding, Format, Preview};
use crate::data::{Dataset, Dropped};
use crate::error::plain;

/// How to read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The layout; without it the extension decides.
    pub format: Option<Format>,
    /// The column that says whose row it is, in a long table.
    pub id: Option<String>,
    /// The column or field with the item or the list of items.
    pub item: Option<String>,
    /// The columns of a wide table that hold items, such as `age,dx1..dx21`.
    pub items: Option<String>,
    /// What separates several items in one cell.
    pub split: Option<String>,
    /// What separates the fields of a CSV file; without it, see `docs/formats.md`.
    pub delimiter: Option<u8>,
    /// The directory of WordNet's database files: the nouns of a query log
    /// are its items then, instead of the queries.
    pub wordnet: Option<PathBuf>,
    /// How text is written as bytes; without it UTF-8, or UTF-16 with its mark.
    pub encoding: Option<Encoding>,
    /// Make all letters of items small.
    pub fold_case: bool,
    /// Write accents of items composed (NFC), and blanks inside as one space.
    pub normalize: bool,
    /// Skip lines that cannot be read instead of failing.
    pub skip_bad_lines: bool,
}

setters!(ReadOptions {
    /// The layout; without it the extension decides.
    format: Option<Format>,
    /// The column that says whose row it is, in a long table.
    id: Option<String>,
    /// The column or field with the item or the list of items.
    item: Option<String>,
    /// The columns of a wide table that hold items, such as `age,dx1..dx21`.
    items: Option<String>,
    /// What separates several items in one cell.
    split: Option<String>,
    /// What separates the fields of a CSV file; without it, see `docs/formats.md`.
    delimiter: Option<u8>,
    /// The directory of WordNet's database files: the nouns of a query log
    /// are its items then, instead of the queries.
    wordnet: Option<PathBuf>,
    /// How text is written as bytes; without it UTF-8, or UTF-16 with its mark.
    encoding: Option<Encoding>,
    /// Make all letters of items small.
    fold_case: bool,
    /// Write accents of items composed (NFC), and blanks inside as one space.
    normalize: bool,
    /// Skip lines that cannot be read instead of failing.
    skip_bad_lines: bool,
});

impl ReadOptions {
    /// Whether columns of a table are named.
    pub(super) fn names_columns(&self) -> bool {
        self.id.is_some() || self.item.is_some() || self.items.is_some()
    }

    /// Whether items get other labels when all is read: some become several, or nothing.
    pub(super) fn respells(&self) -> bool {
        self.split.is_some() || self.normalize || self.fold_case
    }
}

/// Something that the data does not say and the reading took for granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Assumption {
    /// The text is in this encoding, because it begins with its mark.
    Encoding(Encoding),
    /// This separates fields, because the first line says so (`sep=;`).
    Separator(char),
    /// This separates fields, because every line has it and none a comma.
    Guessed(char),
}

impl std::fmt::Display for Assumption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Encoding(encoding) => {
                write!(f, "read as {}: the text begins with its mark", encoding.name())
            }
            Self::Separator(c) => {
                write!(f, "fields are separated by `{}`: the first line says so", plain(c))
            }
            Self::Guessed(c) => write!(
                f,
                "fields are separated by `{}`: every line has one, and none a comma",
                plain(c)
            ),
        }
    }
}

/// A data set and what was left out of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Input {
    /// The data.
    pub dataset: Dataset,
    /// Duplicates, blank items and empty records.
    pub dropped: Dropped,
    /// Lines (rows, in a Parquet file) that were skipped because they could not be read.
    pub skipped_lines: u64,
    /// The layout it was read as.
    pub format: Format,
    /// What was taken for granted.
    pub assumed: Vec<Assumption>,
    /// The first lines as they were understood.
    pub preview: Preview,
}

/// What was left out, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
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
    /// Data that was in no file. A table in memory is read as one in a Parquet file is.
    pub fn in_memory(dataset: Dataset) -> Self {
        Self {
            dataset,
            dropped: Dropped::default(),
            skipped_lines: 0,
            format: Format::Parquet,
            assumed: Vec::new(),
            preview: Preview::default(),
        }
    }

    /// What was left out.
    pub fn left_out(&self) -> LeftOut {
        LeftOut::new(self.dropped, self.skipped_lines)
    }
}

impl LeftOut {
    pub(in crate::io) fn new(dropped: Dropped, skipped_lines: u64) -> Self {
        let Dropped { duplicates, blank_items, empty_records } = dropped;
        Self { duplicates, blank_items, empty_records, skipped_lines }
    }

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
