//! A file that several threads read at different places.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};

use super::stopping::Shortened;

/// A file of known length.
pub(super) struct Positioned {
    file: File,
    len: u64,
}

impl Positioned {
    /// Takes `file`, or hands it back where the system cannot read at places.
    pub(super) fn new(file: File, len: u64) -> std::result::Result<Self, File> {
        if cfg!(unix) { Ok(Self { file, len }) } else { Err(file) }
    }

    /// The length that the file had when it was opened; what is appended later is not read.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Reads some bytes at `at`: none only at the end or into an empty `buf`.
    pub(super) fn read_at(&self, buf: &mut [u8], at: u64) -> Result<usize> {
        let left = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
        let length = buf.len().min(left);
        if length == 0 {
            return Ok(0);
        }
        loop {
            match read_at(&self.file, &mut buf[..length], at) {
                Ok(0) => return Err(Error::other(Shortened)),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }

    /// The bytes from `at` on, one after the other.
    pub(super) fn reader(&self, at: u64) -> impl Read + use<'_> {
        Reader { file: self, at }
    }

    /// As [`Positioned::reader`], with the file.
    pub(super) fn into_reader(self, at: u64) -> impl Read + Send {
        Reader { file: self, at }
    }

    /// The file.
    #[cfg(feature = "parquet")]
    pub(super) fn into_file(self) -> File {
        self.file
    }
}

impl AsRef<Self> for Positioned {
    fn as_ref(&self) -> &Self {
        self
    }
}

#[cfg(unix)]
fn read_at(file: &File, buf: &mut [u8], at: u64) -> Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buf, at)
}

#[cfg(not(unix))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> Result<usize> {
    Err(ErrorKind::Unsupported.into())
}

struct Reader<F> {
    file: F,
    at: u64,
}

impl<F: AsRef<Positioned>> Read for Reader<F> {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize> {
        let read = self.file.as_ref().read_at(buf, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
