//! The text of a published file: read within the budget, compared with its
//! entry, cut into lines, parsed on all threads.

use std::io::Read;
use std::path::Path;

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::super::json::LineReader;
use super::files::FileFault;
use super::hex;
use super::store::ReleaseSource;
use crate::data::{ItemId, Vocabulary};
use crate::release::FileEntry;
use crate::{Error, Progress, Result};

/// Bytes that are read at once.
pub(super) const STEP: usize = 1 << 20;
/// Bytes of lines between two questions whether to go on.
const ASK: usize = 1 << 16;

/// Reads a whole file, which must fit into the budget.
pub(super) fn read_whole(
    source: &dyn ReleaseSource,
    name: &str,
    progress: &dyn Progress,
) -> Result<Vec<u8>> {
    let (mut file, size) = source.open(name)?;
    let budget = progress.budget();
    budget.check("bytes of a file of the release", size)?;
    let mut bytes = Vec::new();
    if usize::try_from(size).is_err() || bytes.try_reserve_exact(size as usize).is_err() {
        budget.check("bytes of a file of the release", None)?;
    }
    loop {
        let read = fill(&mut *file, &mut bytes, STEP, |e| Error::io(source.path(name), e))?;
        progress.step(read as u64)?;
        // The file can grow while it is read.
        budget.check("bytes of a file of the release", bytes.len() as u64)?;
        if read < STEP {
            return Ok(bytes);
        }
    }
}

/// Appends up to `step` bytes; fewer at the end of the file.
pub(super) fn fill(
    file: &mut dyn Read,
    bytes: &mut Vec<u8>,
    step: usize,
    fail: impl Fn(std::io::Error) -> Error,
) -> Result<usize> {
    file.take(step as u64).read_to_end(bytes).map_err(fail)
}

/// What the bytes of a file are, found out as they come.
#[derive(Default)]
pub(super) struct Observed {
    hash: Sha256,
    pub(super) bytes: u64,
    pub(super) lines: u64,
    last: Option<u8>,
    /// The first line with a carriage return, and whether a line feed follows.
    carriage_return: Option<(u64, bool)>,
}

impl Observed {
    /// The next bytes of the file.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        if self.carriage_return.is_none()
            && let Some(at) = memchr::memchr(b'\r', bytes)
        {
            let before = memchr::memchr_iter(b'\n', &bytes[..at]).count() as u64;
            let feed = bytes.get(at + 1) == Some(&b'\n');
            self.carriage_return = Some((self.lines + before + 1, feed));
        }
        self.bytes += bytes.len() as u64;
        self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.last = bytes.last().copied().or(self.last);
    }

    /// Compares with the manifest's entry. The ends of the lines are looked at
    /// where a carriage return cannot be part of a label.
    pub(super) fn compare(self, entry: &FileEntry, lines: bool, faults: &mut Vec<FileFault>) {
        let mut fault = |what: String| faults.push(FileFault::new(&entry.name, what));
        let differs =
            |what: &str, expected: &dyn std::fmt::Display, found: &dyn std::fmt::Display| {
                format!("{what}: the manifest says {expected}, the file has {found}")
            };
        if entry.bytes != self.bytes {
            fault(differs("bytes", &entry.bytes, &self.bytes));
        }
        if entry.lines != self.lines {
            fault(differs("lines", &entry.lines, &self.lines));
        }
        let hash = hex(&self.hash.finalize());
        if entry.sha256 != hash {
            fault(differs("sha256", &entry.sha256, &hash));
        }
        if lines && let Some((line, feed)) = self.carriage_return {
            let found = if feed { "a carriage return and a line feed (CR LF)" } else { CR };
            fault(format!("line ends: line {line} has {found}; {LF}"));
        }
        if self.last.is_some_and(|last| last != b'\n') {
            fault(format!("line ends: the last line has no line feed; {LF}"));
        }
    }
}

const CR: &str = "a carriage return (CR)";
const LF: &str = "lines of a release end in a single line feed (LF)";

/// The bytes as text; `first_line` is the number of their first line.
pub(super) fn as_text<'a>(path: &Path, bytes: &'a [u8], first_line: u64) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|e| {
        let line = memchr::memchr_iter(b'\n', &bytes[..e.valid_up_to()]).count() as u64;
        let hint = "a release is UTF-8 text";
        Error::input(path, Some(first_line + line), "invalid UTF-8", hint)
    })
}

/// Where a text comes from, for messages.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    pub(super) path: &'a Path,
    pub(super) first_line: u64,
}

/// Parses the lines in parallel, each piece with ids of its own.
pub(super) fn parse_lines<T: Send>(
    origin: Origin,
    text: &str,
    progress: &dyn Progress,
    empty: impl Fn() -> T + Sync,
    parse: impl Fn(&mut LineReader, &str, &mut T) -> Result<(), String> + Sync,
) -> Result<Vec<(T, LineReader)>> {
    split_lines(text, rayon::current_num_threads() * 4)
        .into_par_iter()
        .map(|piece| {
            let (mut reader, mut content) = (LineReader::default(), empty());
            let mut asked = 0;
            for line in piece.split_terminator('\n') {
                parse(&mut reader, line, &mut content)
                    .map_err(|what| line_error(origin, text, line, what))?;
                asked += line.len();
                if asked >= ASK {
                    progress.step(0)?;
                    asked = 0;
                }
            }
            Ok((content, reader))
        })
        .collect()
}

fn line_error(origin: Origin, text: &str, line: &str, what: String) -> Error {
    let offset = line.as_ptr() as usize - text.as_ptr() as usize;
    let before = memchr::memchr_iter(b'\n', &text.as_bytes()[..offset]).count() as u64;
    let number = Some(origin.first_line + before);
    if line.contains('\r') {
        return Error::input(origin.path, number, CR, LF);
    }
    let hint = "expected one JSON object as described in docs/release-format.md";
    Error::input(origin.path, number, what, hint)
}

/// Cuts `text` into about `pieces` parts at line ends.
fn split_lines(text: &str, pieces: usize) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    let step = text.len() / pieces.max(1) + 1;
    while rest.len() > step {
        let Some(end) = memchr::memchr(b'\n', &rest.as_bytes()[step..]) else { break };
        let (part, tail) = rest.split_at(step + end + 1);
        parts.push(part);
        rest = tail;
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

/// Merges the labels of all pieces: the vocabulary, and per piece its content
/// and its ids' numbers there.
#[allow(clippy::type_complexity)]
pub(super) fn merge<T: Send>(
    mut read: Vec<(T, LineReader)>,
) -> (Vocabulary, Vec<(T, Vec<ItemId>)>) {
    let vocabulary = Vocabulary::new(read.iter().flat_map(|(_, r)| r.labels.labels()));
    let merged = read
        .par_drain(..)
        .map(|(content, reader)| {
            let id = |label| vocabulary.id(label).expect("every label was merged");
            (content, reader.labels.labels().map(id).collect())
        })
        .collect();
    (vocabulary, merged)
}
