//! Results as a flat table for other tools: CSV, JSON, JSON Lines or Parquet,
//! by the name of the file.

use std::io::{BufWriter, Write};
use std::path::Path;

use super::new_file::NewFile;
use crate::{Error, Result};

/// One column of a [`Table`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Column {
    /// Sets of items.
    Itemsets(Vec<Vec<String>>),
    /// Whole numbers; none where nothing is known.
    Whole(Vec<Option<u64>>),
    /// Other numbers; none where nothing is known.
    Real(Vec<Option<f64>>),
}

/// Columns of the same length, each with its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<(&'static str, Column)>,
}

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableFormat {
    /// A header and one line a row; itemsets as they are asked for: separated by
    /// commas, in quotes where an item has one.
    Csv,
    /// One array of objects.
    Json,
    /// One object a line.
    JsonLines,
    /// Itemsets are lists of text.
    Parquet,
}

impl TableFormat {
    /// The format that the extension of `path` stands for.
    ///
    /// # Errors
    /// If it stands for none.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("json") => Ok(Self::Json),
            Some("jsonl" | "ndjson") => Ok(Self::JsonLines),
            Some("parquet") => Ok(Self::Parquet),
            _ => Err(Error::input(
                path,
                None,
                "the name does not say how to write a table",
                "let it end in .csv, .json, .jsonl or .parquet",
            )),
        }
    }
}

impl Table {
    /// The same table with one more column.
    #[must_use]
    pub fn column(mut self, name: &'static str, column: Column) -> Self {
        debug_assert!(self.columns.is_empty() || self.rows() == column.len());
        self.columns.push((name, column));
        self
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Self::Itemsets(values) => values.len(),
            Self::Whole(values) => values.len(),
            Self::Real(values) => values.len(),
        }
    }

    fn text(&self, row: usize) -> String {
        match self {
            Self::Itemsets(values) => itemset_text(&values[row]),
            Self::Whole(values) => values[row].map_or_else(String::new, |v| v.to_string()),
            Self::Real(values) => values[row].map_or_else(String::new, |v| v.to_string()),
        }
    }

    fn json(&self, row: usize) -> serde_json::Value {
        match self {
            Self::Itemsets(values) => serde_json::json!(values[row]),
            Self::Whole(values) => serde_json::json!(values[row]),
            Self::Real(values) => serde_json::json!(values[row]),
        }
    }
}

/// An itemset as text that reads back as the same itemset.
pub fn itemset_text<S: AsRef<str>>(items: &[S]) -> String {
    let quoted = |item: &str| {
        let plain =
            !item.is_empty() && item.trim() == item && !item.contains([',', '"', '\n', '\r']);
        if plain { item.to_owned() } else { format!("\"{}\"", item.replace('"', "\"\"")) }
    };
    items.iter().map(|item| quoted(item.as_ref())).collect::<Vec<_>>().join(",")
}

/// Writes `table` to `path` in the format of its name.
///
/// # Errors
/// As [`TableFormat::of`]; [`Error::Exists`] if there is such a file, unless
/// `replace` is given.
pub fn write_table(table: &Table, path: &Path, replace: bool) -> Result<()> {
    let format = TableFormat::of(path)?;
    let fail = |e: std::io::Error| Error::io(path, e);
    let mut out = BufWriter::new(NewFile::create(path, replace)?);
    match format {
        TableFormat::Csv => csv(table, &mut out).map_err(fail)?,
        TableFormat::Json => json(table, &mut out, "[\n", ",\n", "\n]\n").map_err(fail)?,
        TableFormat::JsonLines => json(table, &mut out, "", "\n", "\n").map_err(fail)?,
        TableFormat::Parquet => parquet(table, &mut out, path)?,
    }
    out.into_inner().map_err(|e| fail(e.into_error()))?.finish()
}

fn csv(table: &Table, out: &mut impl Write) -> std::io::Result<()> {
    let mut writer = ::csv::Writer::from_writer(out);
    writer.write_record(table.columns.iter().map(|(name, _)| *name))?;
    for row in 0..table.rows() {
        writer.write_record(table.columns.iter().map(|(_, column)| column.text(row)))?;
    }
    writer.flush()
}

fn json(
    table: &Table,
    out: &mut impl Write,
    open: &str,
    between: &str,
    close: &str,
) -> std::io::Result<()> {
    out.write_all(open.as_bytes())?;
    for row in 0..table.rows() {
        let cells =
            table.columns.iter().map(|(name, column)| ((*name).to_owned(), column.json(row)));
        let object: serde_json::Map<String, serde_json::Value> = cells.collect();
        serde_json::to_writer(&mut *out, &object)?;
        let end = if row + 1 < table.rows() { between } else { close };
        out.write_all(end.as_bytes())?;
    }
    if table.rows() == 0 { out.write_all(close.trim_start().as_bytes()) } else { Ok(()) }
}

#[cfg(feature = "parquet")]
fn parquet(table: &Table, out: &mut (impl Write + Send), path: &Path) -> Result<()> {
    use std::sync::Arc;

    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt64Array};
    use parquet::arrow::ArrowWriter;

    let fail = |e: String| Error::input(path, None, e, "this is a mistake of the program");
    let array = |column: &Column| -> ArrayRef {
        match column {
            Column::Itemsets(values) => {
                let mut lists = ListBuilder::new(StringBuilder::new());
                for items in values {
                    items.iter().for_each(|item| lists.values().append_value(item));
                    lists.append(true);
                }
                Arc::new(lists.finish())
            }
            Column::Whole(values) => Arc::new(UInt64Array::from(values.clone())),
            Column::Real(values) => Arc::new(Float64Array::from(values.clone())),
        }
    };
    let columns = table.columns.iter().map(|(name, column)| (*name, array(column), true));
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns).map_err(|e| fail(e.to_string()))?;
    let mut writer =
        ArrowWriter::try_new(out, batch.schema(), None).map_err(|e| fail(e.to_string()))?;
    writer.write(&batch).map_err(|e| fail(e.to_string()))?;
    writer.close().map_err(|e| fail(e.to_string()))?;
    Ok(())
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &Table, _: &mut impl Write, path: &Path) -> Result<()> {
    Err(Error::input(path, None, "Parquet is not built in", "choose another format"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn itemsets_read_back_as_they_were() {
        for items in [&["a", "b"][..], &["new york, hotels", "flu"], &["a \"b\"", " c"]] {
            let mut reader = ::csv::ReaderBuilder::new()
                .has_headers(false)
                .from_reader(std::io::Cursor::new(itemset_text(items)));
            let row = reader.records().next().unwrap().unwrap();
            assert_eq!(row.iter().collect::<Vec<_>>(), items);
        }
    }

    #[test]
    fn a_table_says_the_same_in_every_text_format() {
        let dir = tempfile::tempdir().unwrap();
        let itemsets = vec![vec!["a".to_owned(), "b,c".to_owned()], vec!["d".to_owned()]];
        let table = Table::default()
            .column("itemset", Column::Itemsets(itemsets))
            .column("upper", Column::Whole(vec![Some(3), None]))
            .column("expected", Column::Real(vec![Some(1.5), Some(0.0)]));
        let read = |name: &str| {
            let path = dir.path().join(name);
            write_table(&table, &path, false).unwrap();
            assert!(write_table(&table, &path, false).is_err(), "it takes nobody's place");
            String::from_utf8(std::fs::read(path).unwrap()).unwrap()
        };
        let csv = "itemset,upper,expected\n\"a,\"\"b,c\"\"\",3,1.5\nd,,0\n";
        assert_eq!(read("t.csv"), csv);
        let lines = read("t.jsonl");
        let objects: Vec<serde_json::Value> =
            lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(objects[0]["itemset"], serde_json::json!(["a", "b,c"]));
        assert!(objects[1]["upper"].is_null());
        let all: Vec<serde_json::Value> = serde_json::from_str(&read("t.json")).unwrap();
        assert_eq!(all, objects);
        let empty = Table::default().column("upper", Column::Whole(vec![]));
        write_table(&empty, &dir.path().join("e.json"), false).unwrap();
        let text = std::fs::read_to_string(dir.path().join("e.json")).unwrap();
        assert_eq!(serde_json::from_str::<Vec<u8>>(&text).unwrap(), Vec::<u8>::new());
        assert!(write_table(&table, &dir.path().join("t.xls"), false).is_err());
    }
}
