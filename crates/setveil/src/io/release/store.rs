//! Where a release goes to and comes from: a directory, or memory.

use std::collections::BTreeMap;
use std::io::{Cursor, ErrorKind, Read};
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::hex;
use crate::release::FileEntry;
use crate::{Error, Result};

/// Takes the files of a release one after the other, and publishes them
/// together. Dropped before that, it leaves nothing.
pub trait ReleaseSink: Send {
    /// Begins a file; the one before it is complete.
    fn create(&mut self, name: &str) -> Result<()>;
    /// Appends to the file that was begun last.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;
    /// Everything is there: from now on it is a release.
    fn publish(&mut self) -> Result<()>;
}

/// Gives the files of a release.
pub trait ReleaseSource: Sync {
    /// The names of all files, in any order.
    fn names(&self) -> Result<Vec<String>>;
    /// A file, with the number of its bytes as far as it is known.
    fn open(&self, name: &str) -> Result<(Box<dyn Read + Send + '_>, u64)>;
    /// The file's path for messages; that of the whole if `name` is empty.
    fn path(&self, name: &str) -> PathBuf;
}

/// A release in memory: names and bytes.
///
/// ```
/// use setveil::io::{MemoryRelease, read_release_from, write_release_to};
/// use setveil::{Dataset, data::{K, M}, methods::disassociation};
///
/// let data = Dataset::from_records([["flu", "itunes"], ["flu", "itunes"], ["flu", "itunes"]]);
/// let parameters = disassociation::Parameters::new(K::new(2)?, M::new(2)?);
/// let release = disassociation::anonymize(&data, &parameters, &())?;
/// let mut memory = MemoryRelease::default();
/// write_release_to(&release, &mut memory, &())?;
/// assert_eq!(read_release_from(&memory, &())?.body, release.body);
/// # Ok::<(), setveil::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryRelease {
    /// The files that were published, or that are to be read.
    pub files: BTreeMap<String, Vec<u8>>,
    unpublished: Vec<(String, Vec<u8>)>,
}

impl MemoryRelease {
    /// A release of these files.
    pub fn new(files: BTreeMap<String, Vec<u8>>) -> Self {
        Self { files, unpublished: Vec::new() }
    }
}

impl ReleaseSink for &mut MemoryRelease {
    fn create(&mut self, name: &str) -> Result<()> {
        self.unpublished.push((name.to_owned(), Vec::new()));
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let (_, file) = self.unpublished.last_mut().expect("a file is begun before it is written");
        file.extend_from_slice(bytes);
        Ok(())
    }

    fn publish(&mut self) -> Result<()> {
        self.files = std::mem::take(&mut self.unpublished).into_iter().collect();
        Ok(())
    }
}

impl ReleaseSource for MemoryRelease {
    fn names(&self) -> Result<Vec<String>> {
        Ok(self.files.keys().cloned().collect())
    }

    fn open(&self, name: &str) -> Result<(Box<dyn Read + Send + '_>, u64)> {
        let Some(bytes) = self.files.get(name) else {
            let missing = std::io::Error::new(ErrorKind::NotFound, "no such file in the release");
            return Err(Error::io(self.path(name), missing));
        };
        Ok((Box::new(Cursor::new(bytes)), bytes.len() as u64))
    }

    fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { "(memory)".into() } else { name.into() }
    }
}

/// A file of a sink, hashed and counted while it is written.
pub(super) struct Checked {
    name: String,
    hash: Sha256,
    pub(super) bytes: u64,
    lines: u64,
}

impl Checked {
    pub(super) fn create(sink: &mut dyn ReleaseSink, name: &str) -> Result<Self> {
        sink.create(name)?;
        Ok(Self { name: name.to_owned(), hash: Sha256::new(), bytes: 0, lines: 0 })
    }

    pub(super) fn write(&mut self, sink: &mut dyn ReleaseSink, bytes: &[u8]) -> Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        sink.write(bytes)
    }

    pub(super) fn finish(self) -> FileEntry {
        FileEntry {
            name: self.name,
            bytes: self.bytes,
            lines: self.lines,
            sha256: hex(&self.hash.finalize()),
        }
    }
}
