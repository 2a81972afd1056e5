//! How the data is probably meant.

use serde::Serialize;

use super::columns::{Identifies, Table};
use super::items::Labels;
use super::{Finding, Kind, named, names};
use crate::io::{Format, Preview};

/// Settings of the reading with which the data is probably read as it is
/// meant; front ends write them in their own way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// A header that the data lacks: put this line above it first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The layout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<&'static str>,
    /// The column that says whose row it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The column with the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// The columns with items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<String>,
    /// What separates fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// What separates items in one cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<char>,
    /// How the text is encoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<&'static str>,
}

/// What the findings together suggest.
pub(super) fn of(
    findings: &[Finding],
    table: Option<&Table>,
    data: &Labels,
    format: Format,
    preview: &Preview,
) -> Option<Suggestion> {
    let mut suggestion = Suggestion::default();
    for finding in findings {
        match finding.kind {
            Kind::IdentifyingColumns | Kind::UniqueColumns => {
                let columns = &preview.item_columns;
                let names: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
                let others = list(&named::harmless(columns, data), &names, false);
                suggestion.items = Some(others).filter(|list| !list.is_empty());
            }
            Kind::Delimiter { delimiter } => separated(&mut suggestion, delimiter, format, data),
            Kind::ControlCharacters => suggestion.encoding = Some("utf-16le"),
            _ => {}
        }
    }
    if let Some(table) = table.filter(|t| t.header.is_some() || t.id.is_some()) {
        columns(&mut suggestion, table, format, preview);
    }
    Some(suggestion).filter(|s| *s != Suggestion::default())
}

fn separated(suggestion: &mut Suggestion, delimiter: char, format: Format, data: &Labels) {
    let one_item = data.occurrences * 2 < data.records * 3;
    match format {
        Format::BasketCsv if one_item => suggestion.delimiter = Some(delimiter),
        Format::Fimi => {
            suggestion.format = Some(Format::BasketCsv.name());
            suggestion.delimiter = Some(delimiter).filter(|&d| d != ',');
        }
        _ => suggestion.split = Some(delimiter),
    }
}

/// The columns of a table that was read as baskets.
fn columns(suggestion: &mut Suggestion, table: &Table, format: Format, preview: &Preview) {
    let Some(width) = table.width else {
        // An id before a set of its own length: nothing reads that but a program.
        return;
    };
    if format == Format::Fimi {
        suggestion.format = Some(Format::LongCsv.name());
        suggestion.delimiter = Some(' ');
    }
    let made_up = || {
        let id = table.id.map_or(0, |(at, _)| at);
        let name = |at: usize| match at {
            at if at == id => "id".to_owned(),
            _ if width == 2 => "item".to_owned(),
            at => format!("item{}", at + 1),
        };
        (0..width).map(name).collect::<Vec<_>>()
    };
    let header: Vec<String> = table.header.map_or_else(made_up, <[String]>::to_vec);
    if table.header.is_none() {
        suggestion.header = Some(header.join(separator(format, preview)));
    }
    let named = header.iter().position(|name| names::is_id(name));
    let id = table.id.map(|(at, _)| at).or(named);
    suggestion.id = id.map(|at| header[at].clone());
    let others: Vec<usize> = (0..width).filter(|&at| Some(at) != id).collect();
    let unique = matches!(table.id, Some((_, Identifies::Uniquely(_))));
    let items: Vec<usize> =
        others.iter().copied().filter(|&at| names::is_item(&header[at])).collect();
    let wanted: Vec<usize> =
        others.iter().copied().filter(|&at| !names::is_personal(&header[at])).collect();
    match (&others[..], &items[..]) {
        (&[only], _) if id.is_some() => suggestion.item = Some(header[only].clone()),
        // Several rows a person, and one column that is called as items are.
        (_, &[only]) if id.is_some() && !unique => suggestion.item = Some(header[only].clone()),
        _ if id.is_some() && wanted.len() == others.len() && items.len() < 2 => {}
        _ => {
            let chosen = if items.len() > 1 { &items } else { &wanted };
            suggestion.items = Some(list(chosen, &header, true)).filter(|l| !l.is_empty());
        }
    }
}

/// What stands between two names of a header.
fn separator(format: Format, preview: &Preview) -> &'static str {
    let tab = preview.lines.first().is_some_and(|line| line.contains('\t'));
    match format {
        Format::Fimi => " ",
        _ if tab => "\t",
        _ => ",",
    }
}

/// Columns by name, those that follow each other as a range; few of them one by
/// one where another may stand between them in the table.
fn list(columns: &[usize], header: &[String], in_table: bool) -> String {
    let mut parts: Vec<String> = Vec::new();
    for run in columns.chunk_by(|a, b| a + 1 == *b) {
        match run {
            [first, .., last] if run.len() > 2 && (in_table || run.len() > 12) => {
                parts.push(format!("{}..{}", header[*first], header[*last]));
            }
            few => parts.extend(few.iter().map(|&at| header[at].clone())),
        }
    }
    parts.join(",")
}
