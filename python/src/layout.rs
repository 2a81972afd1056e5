//! How files and tables are read, from keyword arguments.

use std::path::PathBuf;

use arrow_schema::Schema;
use pyo3::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use setveil::Error;
use setveil::data::{ArrowOptions, Nulls};
use setveil::error::Setting;
use setveil::io::{ExportFormat, Format, ReadOptions};

use crate::errors;

/// The library's type of a JSON text.
pub fn parse<T: DeserializeOwned>(json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|e| errors::options(&e))
}

/// The layout of a file.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub struct FileLayout {
    format: Option<String>,
    person: Option<String>,
    item: Option<String>,
    items: Option<Vec<String>>,
    split: Option<String>,
    delimiter: Option<String>,
    nouns: Option<PathBuf>,
    encoding: Option<String>,
    fold_case: bool,
    normalize: bool,
    skip_bad_lines: bool,
}

impl FileLayout {
    pub fn options(self) -> setveil::Result<ReadOptions> {
        let format = self.format.as_deref().map(format).transpose()?;
        let encoding = self.encoding.as_deref().map(|name| {
            name.parse().map_err(|_| Error::Setting {
                setting: Setting::Encoding,
                found: name.to_owned(),
                expected: "the name of an encoding, such as windows-1252".into(),
            })
        });
        Ok(ReadOptions::default()
            .format(format)
            .id(self.person)
            .item(self.item)
            .items(self.items.map(|columns| columns.join(",")))
            .split(self.split)
            .delimiter(self.delimiter.as_deref().map(delimiter).transpose()?)
            .wordnet(self.nouns)
            .encoding(encoding.transpose()?)
            .fold_case(self.fold_case)
            .normalize(self.normalize)
            .skip_bad_lines(self.skip_bad_lines))
    }
}

fn format(name: &str) -> setveil::Result<Format> {
    let names = || Format::ALL.iter().map(|f| f.name()).collect::<Vec<_>>().join(", ");
    let found = Format::ALL.iter().find(|f| f.name() == name).copied();
    found.ok_or_else(|| Error::Setting {
        setting: Setting::Format,
        found: name.to_owned(),
        expected: format!("one of {}", names()).into(),
    })
}

fn delimiter(text: &str) -> setveil::Result<u8> {
    match text.as_bytes() {
        [one] if one.is_ascii() && !matches!(one, b'"' | b'\n' | b'\r') => Ok(*one),
        _ => Err(Error::Setting {
            setting: Setting::Delimiter,
            found: format!("{text:?}"),
            expected: "one ASCII character that is no quote".into(),
        }),
    }
}

/// The format in which a data set is written.
pub fn export_format(name: &str) -> setveil::Result<ExportFormat> {
    Ok(match name {
        "fimi" => ExportFormat::Fimi,
        "jsonl" => ExportFormat::JsonLines,
        "csv" => ExportFormat::BasketCsv,
        "long-csv" => ExportFormat::LongCsv,
        "parquet" => ExportFormat::Parquet,
        other => {
            return Err(Error::Setting {
                setting: Setting::Format,
                found: other.to_owned(),
                expected: "one of fimi, jsonl, csv, long-csv, parquet".into(),
            });
        }
    })
}

/// The layout of a table in memory.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub struct TableLayout {
    person: Option<String>,
    item: Option<String>,
    items: Option<Vec<String>>,
    drop_nulls: bool,
    skip_bad_lines: bool,
}

impl TableLayout {
    /// The names of the columns with items, as far as they were not found by their type.
    pub fn item_columns(&self, schema: &Schema) -> Vec<String> {
        match (&self.item, &self.items, &self.person) {
            (Some(item), ..) => vec![item.clone()],
            (None, Some(items), _) => items.clone(),
            (None, None, Some(person)) => {
                let names = schema.fields().iter().map(|field| field.name());
                names.filter(|name| *name != person).cloned().collect()
            }
            (None, None, None) => Vec::new(),
        }
    }

    pub fn options(self) -> ArrowOptions {
        ArrowOptions::default()
            .id(self.person)
            .item(self.item)
            .items(self.items)
            .nulls(if self.drop_nulls { Nulls::LeaveOut } else { Nulls::Refuse })
            .skip_bad_rows(self.skip_bad_lines)
    }
}
