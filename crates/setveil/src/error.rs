//! Everything that can go wrong, with both sides: what was found and what was
//! expected.
//!
//! A broken guarantee is not an error but a verdict with a witness: see
//! [`verify`](crate::verify).

mod bad;
mod hint;
mod plain;

use std::path::PathBuf;

pub(crate) use bad::Bad;
pub use hint::{Hint, HintPart, Setting};
pub use plain::plain;

/// Why something could not be done. Nothing has been published when one of
/// these is returned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is out of its range.
    #[error("{name} = {}: expected {expected}", plain(found))]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// What was given.
        found: String,
        /// What would have been accepted.
        expected: &'static str,
    },
    /// The parameters are valid, but this data cannot satisfy them.
    #[error("{}; {}", plain(what), plain(hint))]
    Infeasible {
        /// What cannot be satisfied, with the numbers.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// A file could not be opened, read or written.
    #[error("{}: {source}", plain(path.display()))]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A file was read, but it does not hold what it should.
    #[error("{}{}: {}; {hint}", plain(path.display()), line.map(|l| format!(":{l}")).unwrap_or_default(), plain(found))]
    Input {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1, where there is one.
        line: Option<u64>,
        /// What was found.
        found: String,
        /// What was expected, or what to do.
        hint: Hint,
    },
    /// A setting means nothing here, or another one is missing.
    #[error("{setting} = {}: expected {expected}", plain(found))]
    Setting {
        /// The setting.
        setting: Setting,
        /// What it was set to.
        found: String,
        /// What would have been accepted.
        expected: Hint,
    },
    /// A table in memory does not hold what it should.
    #[error("{}{}; {hint}", row.map(|r| format!("row {r}: ")).unwrap_or_default(), plain(found))]
    Table {
        /// The row, counted from 1, where there is one.
        row: Option<u64>,
        /// What was found.
        found: String,
        /// What was expected, or what to do.
        hint: Hint,
    },
    /// The caller said stop. Nothing was written.
    #[error("stopped before it was done; nothing was written")]
    Cancelled,
    /// Whether a guarantee holds could not be found out with a bounded amount of counting.
    #[error(
        "the guarantee cannot be decided within {limit} steps of counting; \
         such a release was not made by this program with an m that it accepts"
    )]
    Undecided {
        /// How many steps were allowed.
        limit: u64,
    },
    /// The data is larger than what can be counted or held.
    #[error("{what}: {found}, at most {limit}; {hint}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large it is.
        found: u64,
        /// How large it may be.
        limit: u64,
        /// What to do about it.
        hint: &'static str,
    },
    /// A label is not in the data or the hierarchy.
    #[error("{}; {}", plain(what), plain(hint))]
    Unknown {
        /// The labels, and where they are missing.
        what: String,
        /// What to do about it.
        hint: String,
    },
}

impl Error {
    /// Wraps an I/O error with the file it belongs to.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), source }
    }

    /// An [`Error::Input`].
    pub fn input(
        path: impl Into<PathBuf>,
        line: Option<u64>,
        found: impl Into<String>,
        hint: impl Into<Hint>,
    ) -> Self {
        Self::Input { path: path.into(), line, found: found.into(), hint: hint.into() }
    }
}
