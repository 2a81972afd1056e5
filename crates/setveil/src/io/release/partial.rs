//! What is being written and not published yet.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::hex;
use crate::release::FileEntry;
use crate::{Error, Result};

/// A directory beside the target that disappears unless it is published.
pub(super) struct Partial {
    pub(super) path: PathBuf,
    published: bool,
}

impl Partial {
    pub(super) fn create(target: &Path) -> Result<Self> {
        let name = target.file_name().ok_or_else(|| {
            Error::input(target, None, "this is no name for a directory", "name the release")
        })?;
        let parent = match target.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        fs::create_dir_all(parent).map_err(|e| Error::io(parent, e))?;
        for attempt in 0.. {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{attempt}.partial", std::process::id()));
            let path = parent.join(hidden);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path, published: false }),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists && attempt < 100 => {}
                Err(e) => return Err(Error::io(path, e)),
            }
        }
        unreachable!("the loop ends by returning")
    }

    /// Renames the directory to `target`; an earlier release moves aside
    /// first and is removed after.
    pub(super) fn publish(mut self, target: &Path) -> Result<()> {
        let aside = self.path.with_extension("replaced");
        let replaced = match fs::rename(target, &aside) {
            Ok(()) => true,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => false,
            Err(e) => return Err(Error::io(target, e)),
        };
        if let Err(e) = fs::rename(&self.path, target) {
            if replaced {
                // The earlier release goes back to its place.
                fs::rename(&aside, target).map_err(|e| Error::io(target, e))?;
            }
            return Err(Error::io(target, e));
        }
        self.published = true;
        if replaced {
            fs::remove_dir_all(&aside).map_err(|e| Error::io(aside, e))?;
        }
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.published {
            // Nothing more can be done if this fails, and the first error is the one to report.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// A file that is hashed and counted while it is written.
pub(super) struct Checked {
    path: PathBuf,
    name: &'static str,
    file: BufWriter<File>,
    hash: Sha256,
    bytes: u64,
    lines: u64,
}

impl Checked {
    pub(super) fn create(dir: &Path, name: &'static str) -> Result<Self> {
        let path = dir.join(name);
        let file = BufWriter::new(File::create(&path).map_err(|e| Error::io(&path, e))?);
        Ok(Self { path, name, file, hash: Sha256::new(), bytes: 0, lines: 0 })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.file.write_all(bytes).map_err(|e| Error::io(&self.path, e))
    }

    pub(super) fn finish(mut self) -> Result<FileEntry> {
        self.file.flush().map_err(|e| Error::io(&self.path, e))?;
        Ok(FileEntry {
            name: self.name.to_owned(),
            bytes: self.bytes,
            lines: self.lines,
            sha256: hex(&self.hash.finalize()),
        })
    }
}
