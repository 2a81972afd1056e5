//! Data sets written for other tools: FIMI, JSON Lines, CSV, Parquet.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::new_file::NewFile;
use crate::data::{Dataset, Vocabulary};
use crate::{Error, Result};

/// How a data set is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// One record a line, items separated by a blank.
    Fimi,
    /// One array of strings a line.
    JsonLines,
    /// One record a line, items separated by commas.
    BasketCsv,
    /// A table with the columns `record`, from 1, and `item`.
    LongCsv,
    /// A column `items` of lists of text.
    Parquet,
}

impl ExportFormat {
    /// FIMI, unless a label is empty or has a blank inside.
    pub fn for_labels(vocabulary: &Vocabulary) -> Self {
        if vocabulary.labels().all(fits_fimi) { Self::Fimi } else { Self::JsonLines }
    }

    /// Fails if a label cannot be written so that it is read as it was.
    fn check(self, vocabulary: &Vocabulary) -> Result<()> {
        match vocabulary.labels().find(|label| self == Self::Fimi && !fits_fimi(label)) {
            None => Ok(()),
            Some(label) => Err(Error::Unknown {
                what: format!("the item {label:?} is empty or has a blank in it"),
                hint: "FIMI separates items by blanks: write JSON Lines (jsonl)".into(),
            }),
        }
    }

    /// The extension that readers know it by.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Fimi => "dat",
            Self::JsonLines => "jsonl",
            Self::BasketCsv | Self::LongCsv => "csv",
            Self::Parquet => "parquet",
        }
    }
}

fn fits_fimi(label: &str) -> bool {
    !label.is_empty() && !label.contains(char::is_whitespace)
}

/// Writes one file a data set, `NAME-1`, `NAME-2` ... with the format's
/// extension, into `dir`, which must be absent or empty, or hold nothing but
/// such files and `replace` be given.
///
/// # Errors
/// If FIMI is asked for and a label cannot be written in it.
pub fn write_datasets(
    sets: &[Dataset],
    dir: &Path,
    name: &str,
    format: ExportFormat,
    replace: bool,
) -> Result<Vec<PathBuf>> {
    sets.iter().try_for_each(|set| format.check(set.vocabulary()))?;
    let earlier = earlier(dir, name, replace)?;
    let digits = sets.len().to_string().len();
    let written: Vec<PathBuf> = sets
        .par_iter()
        .enumerate()
        .map(|(i, set)| {
            let number = i + 1;
            let path = dir.join(format!("{name}-{number:0digits$}.{}", format.extension()));
            write_dataset(set, &path, format, replace)?;
            Ok(path)
        })
        .collect::<Result<_>>()?;
    // What the new ones have not replaced goes when all of them are there.
    for path in earlier.iter().filter(|path| !written.contains(path)) {
        fs::remove_file(path).map_err(|e| Error::io(path, e))?;
    }
    Ok(written)
}

/// The files of an earlier run in `dir`; an error if there is anything else.
fn earlier(dir: &Path, name: &str, replace: bool) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(dir).map_err(|e| Error::io(dir, e))?;
    let mut earlier = Vec::new();
    for entry in fs::read_dir(dir).map_err(|e| Error::io(dir, e))? {
        let path = entry.map_err(|e| Error::io(dir, e))?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let ours = file.strip_prefix(&format!("{name}-")).is_some_and(|rest| {
            let (digits, extension) = rest.split_once('.').unwrap_or(("", ""));
            let known = ["dat", "jsonl", "csv", "parquet"].contains(&extension);
            known && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
        });
        if !ours {
            let found = format!("it holds `{file}`");
            return Err(Error::input(dir, None, found, "choose an empty or new directory"));
        }
        if !replace {
            let found = "the directory is not empty".into();
            return Err(Error::Exists { path: dir.to_owned(), found, replaceable: true });
        }
        earlier.push(path);
    }
    Ok(earlier)
}

/// Writes `data` to one file, which appears under its name when complete.
///
/// # Errors
/// [`Error::Exists`] if there is one already, unless `replace` is given; if FIMI
/// is asked for and a label cannot be written in it.
pub fn write_dataset(
    data: &Dataset,
    path: &Path,
    format: ExportFormat,
    replace: bool,
) -> Result<()> {
    format.check(data.vocabulary())?;
    let fail = |e| Error::io(path, e);
    let mut out = BufWriter::new(NewFile::create(path, replace)?);
    match format {
        ExportFormat::Fimi => lines(data, &mut out, str::to_owned, ["", " ", "\n"]),
        ExportFormat::JsonLines => {
            let quoted = |label: &str| serde_json::Value::from(label).to_string();
            lines(data, &mut out, quoted, ["[", ",", "]\n"])
        }
        ExportFormat::BasketCsv => lines(data, &mut out, csv_field, ["", ",", "\n"]),
        ExportFormat::LongCsv => long_csv(data, &mut out),
        ExportFormat::Parquet => return parquet(data, out, path),
    }
    .map_err(fail)?;
    out.into_inner().map_err(|e| fail(e.into_error()))?.finish()
}

/// A field that a CSV reader takes for this label.
fn csv_field(label: &str) -> String {
    super::itemset_text(&[label])
}

/// One record a line.
fn lines(
    data: &Dataset,
    out: &mut impl Write,
    spell: impl Fn(&str) -> String,
    [open, between, close]: [&str; 3],
) -> std::io::Result<()> {
    let labels: Vec<String> = data.vocabulary().labels().map(spell).collect();
    for record in data.records() {
        out.write_all(open.as_bytes())?;
        for (i, &item) in record.iter().enumerate() {
            if i > 0 {
                out.write_all(between.as_bytes())?;
            }
            out.write_all(labels[item as usize].as_bytes())?;
        }
        out.write_all(close.as_bytes())?;
    }
    Ok(())
}

/// One line for every record and item.
fn long_csv(data: &Dataset, out: &mut impl Write) -> std::io::Result<()> {
    let labels: Vec<String> = data.vocabulary().labels().map(csv_field).collect();
    out.write_all(b"record,item\n")?;
    for (r, record) in data.records().enumerate() {
        for &item in record {
            writeln!(out, "{},{}", r + 1, labels[item as usize])?;
        }
    }
    Ok(())
}

#[cfg(feature = "parquet")]
fn parquet(data: &Dataset, out: BufWriter<NewFile>, path: &Path) -> Result<()> {
    use std::sync::Arc;

    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::{ArrayRef, RecordBatch};
    use parquet::arrow::ArrowWriter;

    /// Records that are held in memory twice.
    const BATCH: usize = 1 << 14;
    let fail = |e: String| Error::input(path, None, e, "see whether the disk is full");
    let batch = |records: &[usize]| {
        let mut lists = ListBuilder::new(StringBuilder::new());
        for &r in records {
            let labels = data.record(r).iter().map(|&item| data.vocabulary().label(item));
            labels.for_each(|label| lists.values().append_value(label));
            lists.append(true);
        }
        let column: ArrayRef = Arc::new(lists.finish());
        RecordBatch::try_from_iter([("items", column)]).map_err(|e| fail(e.to_string()))
    };
    let schema = batch(&[])?.schema();
    let mut writer = ArrowWriter::try_new(out, schema, None).map_err(|e| fail(e.to_string()))?;
    let all: Vec<usize> = (0..data.len()).collect();
    for records in all.chunks(BATCH) {
        writer.write(&batch(records)?).map_err(|e| fail(e.to_string()))?;
    }
    let out = writer.into_inner().map_err(|e| fail(e.to_string()))?;
    out.into_inner().map_err(|e| Error::io(path, e.into_error()))?.finish()
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &Dataset, _: BufWriter<NewFile>, path: &Path) -> Result<()> {
    Err(Error::input(path, None, "Parquet is not built in", "choose another format"))
}
