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
pub use plain::{plain, steers};

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
    #[error("{}; {hint}", plain(what))]
    Infeasible {
        /// What cannot be satisfied, with the numbers.
        what: String,
        /// What to do about it.
        hint: Hint,
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
    /// Something stands where the result should go.
    #[error("{}: {}; {}", plain(path.display()), plain(found), exists_hint(*replaceable))]
    Exists {
        /// Where the result should go.
        path: PathBuf,
        /// What stands there.
        found: String,
        /// Whether it may be replaced by a caller who says so.
        replaceable: bool,
    },
    /// Something failed after the release was complete under its name.
    #[error("{source}; the release {} is complete and stands", plain(release.display()))]
    Stands {
        /// The release.
        release: PathBuf,
        /// What failed.
        source: Box<Error>,
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
    /// The work would take more memory than the caller allows.
    #[error("{what}: {needed} bytes of memory, at most {limit}; {}", MORE_MEMORY)]
    Memory {
        /// What needs it.
        what: &'static str,
        /// How many bytes it needs, or what was found before it was given up.
        needed: u64,
        /// How many there may be.
        limit: u64,
    },
    /// A label is not in the data or the hierarchy.
    #[error("{}; {hint}", plain(what))]
    Unknown {
        /// The labels, and where they are missing.
        what: String,
        /// What to do about it.
        hint: Hint,
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

/// What to do where memory is short, for a caller that has no better words.
const MORE_MEMORY: &str = "allow more, use a larger machine, or take the data in parts";

fn exists_hint(replaceable: bool) -> &'static str {
    if replaceable {
        "choose another name, or say that it may be replaced"
    } else {
        "choose another name; what is no release is never replaced"
    }
}
