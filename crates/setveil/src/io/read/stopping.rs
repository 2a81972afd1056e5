//! Streams that say why they end early: the caller said stop, compressed data
//! is broken, a file became shorter, a row does not end.

use std::io::{Error as IoError, ErrorKind, Read, Result as IoResult};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::compression::Compression;
use crate::{Error, Progress};

/// The caller said stop.
#[derive(Debug, thiserror::Error)]
#[error("stopped")]
struct Stopped;

/// Another program made the file shorter.
#[derive(Debug, thiserror::Error)]
#[error("the file became shorter while it was read")]
pub(super) struct Shortened;

/// The compressed data is damaged.
#[derive(Debug, thiserror::Error)]
#[error("broken {kind} data ({reason})")]
struct BrokenData {
    kind: &'static str,
    reason: String,
}

/// The text is not in its encoding.
#[derive(Debug, thiserror::Error)]
#[error("this is no valid {0}")]
pub(super) struct BadEncoding(pub(super) &'static str);

/// A row or record goes on and on.
#[derive(Debug, thiserror::Error)]
#[error("a row of more than {0} bytes")]
struct Endless(u64);

/// The error that a reading of `name` ends with.
pub(super) fn read_error(name: &Path, error: IoError) -> Error {
    let Some(inner) = error.get_ref() else { return Error::io(name, error) };
    let input = |hint: &str| Error::input(name, None, inner.to_string(), hint);
    if inner.is::<Stopped>() {
        return Error::Cancelled;
    }
    if let Some(Endless(limit)) = inner.downcast_ref() {
        return endless(limit + 1, *limit);
    }
    if inner.is::<Shortened>() {
        return input("let whoever writes it finish, then read again");
    }
    if inner.is::<BrokenData>() {
        return input("the file is damaged or incomplete: get it again");
    }
    if inner.is::<BadEncoding>() {
        return input("say how the text is encoded, or convert it to UTF-8");
    }
    Error::io(name, error)
}

/// A line, row or record that does not end.
pub(super) fn endless(found: u64, limit: u64) -> Error {
    let hint = "see whether line ends are missing or a quote is not closed, or allow more memory";
    Error::TooLarge { what: "bytes of one line or record", found, limit, hint }
}

/// Reads up to `count` bytes; fewer only at the end.
pub(super) fn fill(stream: &mut impl Read, count: usize) -> IoResult<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.by_ref().take(count as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A stream that asks before every read whether to go on, and counts bytes if it is told to.
pub(super) struct Watched<'a, R> {
    stream: R,
    progress: &'a dyn Progress,
    counts: bool,
}

impl<'a, R> Watched<'a, R> {
    pub(super) fn new(stream: R, progress: &'a dyn Progress, counts: bool) -> Self {
        Self { stream, progress, counts }
    }
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> IoResult<usize> {
        let read = self.stream.read(buf)?;
        let steps = if self.counts { read as u64 } else { 0 };
        match self.progress.step(steps) {
            Ok(()) => Ok(read),
            Err(_) => Err(IoError::other(Stopped)),
        }
    }
}

/// Says of an error of the decompressor which compression it is about.
pub(super) struct Broken<'a> {
    pub(super) kind: Option<Compression>,
    pub(super) stream: Box<dyn Read + Send + 'a>,
}

impl Read for Broken<'_> {
    fn read(&mut self, buf: &mut [u8]) -> IoResult<usize> {
        self.stream.read(buf).map_err(|e| match self.kind {
            _ if e.kind() == ErrorKind::Interrupted => e,
            _ if e.get_ref().is_some_and(|e| e.is::<Stopped>() || e.is::<Shortened>()) => e,
            None => e,
            Some(kind) => IoError::other(BrokenData { kind: kind.name(), reason: e.to_string() }),
        })
    }
}

/// A stream that fails when more than so many bytes come between two records.
pub(super) struct Metered<R> {
    stream: R,
    since: Meter,
    limit: u64,
}

/// Where the reader of records says that one has ended.
#[derive(Clone, Default)]
pub(super) struct Meter(Arc<AtomicU64>);

impl Meter {
    pub(super) fn record_ended(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl<R> Metered<R> {
    pub(super) fn new(stream: R, limit: u64) -> (Self, Meter) {
        let since = Meter::default();
        (Self { stream, since: since.clone(), limit }, since)
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buf: &mut [u8]) -> IoResult<usize> {
        let read = self.stream.read(buf)?;
        let since = self.since.0.fetch_add(read as u64, Ordering::Relaxed) + read as u64;
        if since > self.limit.saturating_add(buf.len() as u64) {
            return Err(IoError::other(Endless(self.limit)));
        }
        Ok(read)
    }
}
