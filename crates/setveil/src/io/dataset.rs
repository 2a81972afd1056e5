//! Readers of data sets.

use std::path::Path;

use crate::data::{Dataset, DatasetBuilder, Dropped};
use crate::{Error, Progress, Result};

/// How the data is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One record a line, items separated by blanks.
    Fimi,
}

/// What to do while reading.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The layout; without it the extension decides.
    pub format: Option<Format>,
    /// Skip lines that cannot be read instead of failing.
    pub skip_bad_lines: bool,
}

/// A data set and what was left out of it.
#[derive(Debug)]
pub struct Input {
    /// The data.
    pub dataset: Dataset,
    /// Duplicates and empty records.
    pub dropped: Dropped,
    /// Lines that were skipped because they could not be read.
    pub skipped_lines: u64,
}

/// Reads a data set.
pub fn read_dataset(
    path: &Path,
    _options: &ReadOptions,
    _progress: &dyn Progress,
) -> Result<Input> {
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let text = if bytes.starts_with(&[0x1f, 0x8b]) {
        std::io::read_to_string(flate2::read::MultiGzDecoder::new(&bytes[..]))
            .map_err(|e| Error::io(path, e))?
    } else {
        String::from_utf8(bytes)
            .map_err(|e| Error::input(path, None, e.to_string(), "expected UTF-8"))?
    };
    let mut builder = DatasetBuilder::default();
    for line in text.lines() {
        line.split_ascii_whitespace().for_each(|item| builder.push(item));
        builder.end_record();
    }
    let (dataset, dropped) = builder.finish();
    Ok(Input { dataset, dropped, skipped_lines: 0 })
}
