//! Data sets written for other tools: FIMI where labels allow it, JSON Lines
//! where they do not.

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
}

impl ExportFormat {
    /// FIMI, unless a label is empty or has a blank inside.
    pub fn for_labels(vocabulary: &Vocabulary) -> Self {
        if vocabulary.labels().all(fits_fimi) { Self::Fimi } else { Self::JsonLines }
    }

    /// The extension that readers know it by.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Fimi => "dat",
            Self::JsonLines => "jsonl",
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
    if format == ExportFormat::Fimi {
        for set in sets {
            if let Some(label) = set.vocabulary().labels().find(|l| !fits_fimi(l)) {
                return Err(Error::Unknown {
                    what: format!("the item {label:?} is empty or has a blank in it"),
                    hint: "FIMI separates items by blanks: write JSON Lines (jsonl)".into(),
                });
            }
        }
    }
    make_room(dir, name, replace)?;
    let digits = sets.len().to_string().len();
    sets.par_iter()
        .enumerate()
        .map(|(i, set)| {
            let number = i + 1;
            let path = dir.join(format!("{name}-{number:0digits$}.{}", format.extension()));
            write_dataset(set, &path, format, replace)?;
            Ok(path)
        })
        .collect()
}

fn make_room(dir: &Path, name: &str, replace: bool) -> Result<()> {
    fs::create_dir_all(dir).map_err(|e| Error::io(dir, e))?;
    for entry in fs::read_dir(dir).map_err(|e| Error::io(dir, e))? {
        let path = entry.map_err(|e| Error::io(dir, e))?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let ours = file.strip_prefix(&format!("{name}-")).is_some_and(|rest| {
            let digits = rest.trim_end_matches(".dat").trim_end_matches(".jsonl");
            rest.contains('.') && digits.bytes().all(|b| b.is_ascii_digit())
        });
        if !ours {
            return Err(Error::input(
                dir,
                None,
                format!("it holds `{file}`"),
                "choose an empty or new directory",
            ));
        }
        if !replace {
            let found = "the directory is not empty".into();
            return Err(Error::Exists { path: dir.to_owned(), found, replaceable: true });
        }
        fs::remove_file(&path).map_err(|e| Error::io(&path, e))?;
    }
    Ok(())
}

/// Writes `data` to one file, which appears under its name when complete.
///
/// # Errors
/// [`Error::Exists`] if there is one already, unless `replace` is given.
pub fn write_dataset(
    data: &Dataset,
    path: &Path,
    format: ExportFormat,
    replace: bool,
) -> Result<()> {
    let fail = |e| Error::io(path, e);
    let mut out = BufWriter::new(NewFile::create(path, replace)?);
    let labels: Vec<String> = data
        .vocabulary()
        .labels()
        .map(|label| match format {
            ExportFormat::Fimi => label.to_owned(),
            ExportFormat::JsonLines => {
                serde_json::to_string(label).expect("a string is always JSON")
            }
        })
        .collect();
    let (open, between, close) = match format {
        ExportFormat::Fimi => ("", " ", "\n"),
        ExportFormat::JsonLines => ("[", ",", "]\n"),
    };
    for record in data.records() {
        out.write_all(open.as_bytes()).map_err(fail)?;
        for (i, &item) in record.iter().enumerate() {
            if i > 0 {
                out.write_all(between.as_bytes()).map_err(fail)?;
            }
            out.write_all(labels[item as usize].as_bytes()).map_err(fail)?;
        }
        out.write_all(close.as_bytes()).map_err(fail)?;
    }
    out.into_inner().map_err(|e| fail(e.into_error()))?.finish()
}
