//! The release directory: written under a hidden name beside its place, and
//! renamed when it is complete and on the disk.
//!
//! Invariants:
//! - Nothing is replaced but an empty directory and, if the caller says so, a
//!   release: a directory with a manifest and no file beside those it lists.
//!   It is looked at again after it left its place, and goes back if it is
//!   something else.
//! - Where the system can exchange two names (Linux, macOS) there is a release
//!   in place at every moment of a replacement. Elsewhere there is a moment
//!   without one, and the old one lies beside it.
//! - An error means that nothing changed, unless it is [`Error::Stands`].

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::disk::{Disk, Files, kind, open_regular};
use super::super::temporary::{Registry, Temporary, parent, registry};
use super::read::read_manifest;
use super::store::{ReleaseSink, ReleaseSource};
use super::{MANIFEST, check_target};
use crate::{Error, Result};

/// Bytes that are collected before they are written.
const BUFFER: usize = 1 << 16;
/// How often a target that changes under our hands is looked at again.
const TRIES: usize = 16;

/// A directory that a release is written to.
pub struct DirectorySink {
    target: PathBuf,
    replace: bool,
    files: Arc<dyn Files>,
    /// None once it is published.
    partial: Option<Temporary>,
    /// The files that were begun.
    names: Vec<String>,
    file: Option<File>,
    buffer: Vec<u8>,
}

impl DirectorySink {
    /// A sink for `target`, which must not exist, be empty, or be an earlier
    /// release that `replace` allows to replace.
    pub fn new(target: &Path, replace: bool) -> Result<Self> {
        Self::with_files(target, replace, Arc::new(Disk))
    }

    pub(in crate::io) fn with_files(
        target: &Path,
        replace: bool,
        files: Arc<dyn Files>,
    ) -> Result<Self> {
        check_target(target, replace)?;
        let parent = parent(target);
        fs::create_dir_all(parent).map_err(|e| Error::io(parent, e))?;
        let partial = Temporary::directory(target, &*files)?;
        Ok(Self {
            target: target.to_owned(),
            replace,
            files,
            partial: Some(partial),
            names: Vec::new(),
            file: None,
            buffer: Vec::with_capacity(BUFFER),
        })
    }

    fn partial(&self) -> &Path {
        self.partial.as_ref().expect("nothing is written after publishing").path()
    }

    /// Where the file that was begun last will lie, for messages.
    fn current(&self) -> PathBuf {
        self.names.last().map_or_else(|| self.target.clone(), |name| self.target.join(name))
    }

    fn flush(&mut self) -> Result<()> {
        let Some(file) = self.file.as_mut().filter(|_| !self.buffer.is_empty()) else {
            return Ok(());
        };
        let written = self.files.write(file, &self.buffer);
        self.buffer.clear();
        written.map_err(|e| Error::io(self.current(), e))
    }

    /// Completes the file that was begun last.
    fn close(&mut self) -> Result<()> {
        self.flush()?;
        match self.file.take() {
            Some(file) => self.files.sync(&file).map_err(|e| Error::io(self.current(), e)),
            None => Ok(()),
        }
    }

    /// Gives the directory its name.
    fn place(&mut self, registry: &mut Registry) -> Result<()> {
        for _ in 0..TRIES {
            match self.files.rename_new(self.partial(), &self.target) {
                Ok(()) => return self.placed(registry),
                Err(e) if taken(e.kind()) => {}
                Err(e) => return Err(Error::io(&self.target, e)),
            }
            match Occupant::at(&self.target)? {
                // It is gone again.
                None => {}
                // Only an empty directory gives way to this.
                Some(Occupant::Empty) => match self.files.rename(self.partial(), &self.target) {
                    Ok(()) => return self.placed(registry),
                    Err(e) if taken(e.kind()) || e.kind() == ErrorKind::NotFound => {}
                    Err(e) => return Err(Error::io(&self.target, e)),
                },
                Some(Occupant::Release(_)) if self.replace => {
                    if let Some(done) = self.exchange(registry) {
                        return done;
                    }
                }
                Some(other) => return Err(other.refusal(&self.target)),
            }
        }
        Err(Error::io(&self.target, ErrorKind::ResourceBusy.into()))
    }

    /// The directory has its name: what remains is to wait for the disk.
    fn placed(&mut self, registry: &mut Registry) -> Result<()> {
        self.forget(registry);
        self.partial = None;
        self.sync_parent().map_err(|e| self.stands(e))
    }

    fn forget(&mut self, registry: &mut Registry) {
        self.partial.as_mut().expect("it is not published yet").forget(registry);
    }

    fn sync_parent(&self) -> Result<()> {
        let parent = parent(&self.target);
        self.files.sync_dir(parent).map_err(|e| Error::io(parent, e))
    }

    fn stands(&self, source: Error) -> Error {
        Error::Stands { release: self.target.clone(), source: Box::new(source) }
    }

    /// Lets the directory and the release in its place change places, and
    /// removes the old one. None if it went meanwhile.
    fn exchange(&mut self, registry: &mut Registry) -> Option<Result<()>> {
        let partial = self.partial().to_owned();
        match self.files.exchange(&partial, &self.target) {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::NotFound => return None,
            Err(e) if e.kind() == ErrorKind::Unsupported => return self.step_aside(registry),
            Err(e) => return Some(Err(Error::io(&self.target, e))),
        }
        // From here on the old one lies under our name: it must not be taken for ours.
        self.forget(registry);
        let old = match Occupant::at(&partial) {
            Ok(Some(Occupant::Release(names))) => Ok(names),
            Ok(Some(Occupant::Empty)) => Ok(Vec::new()),
            Ok(Some(other)) => Err(other.refusal(&self.target)),
            Ok(None) => Ok(Vec::new()),
            Err(e) => Err(e),
        };
        let old = old.and_then(|names| self.sync_parent().map(|()| names));
        Some(match old {
            Ok(names) => {
                self.partial = None;
                self.remove(&partial, &names).map_err(|e| self.stands(e))
            }
            Err(reason) => Err(self.put_back(&partial, reason)),
        })
    }

    /// Undoes an exchange; the reason for it, unless that fails too.
    fn put_back(&mut self, partial: &Path, reason: Error) -> Error {
        match self.files.exchange(partial, &self.target) {
            Ok(()) => reason,
            Err(e) => {
                // What lies there is not ours to remove.
                self.partial = None;
                let found = format!(
                    "what stood here was moved to {} and could not be put back ({e})",
                    partial.display()
                );
                let hint = "move it where it belongs by hand";
                self.stands(Error::input(&self.target, None, found, hint))
            }
        }
    }

    /// The replacement for systems that cannot exchange names: the old release
    /// moves aside first.
    fn step_aside(&mut self, registry: &mut Registry) -> Option<Result<()>> {
        let aside = self.partial.as_ref().expect("it is not published yet").aside();
        match self.files.rename_new(&self.target, &aside) {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::NotFound => return None,
            Err(e) => return Some(Err(Error::io(&self.target, e))),
        }
        let placed = match Occupant::at(&aside) {
            Ok(Some(Occupant::Release(names))) => Ok(names),
            Ok(Some(Occupant::Empty) | None) => Ok(Vec::new()),
            Ok(Some(other)) => Err(other.refusal(&self.target)),
            Err(e) => Err(e),
        }
        .and_then(|names| {
            let renamed = self.files.rename_new(self.partial(), &self.target);
            renamed.map(|()| names).map_err(|e| Error::io(&self.target, e))
        });
        Some(match placed {
            Ok(names) => self
                .placed(registry)
                .and_then(|()| self.remove(&aside, &names).map_err(|e| self.stands(e))),
            Err(reason) => match self.files.rename_new(&aside, &self.target) {
                Ok(()) => Err(reason),
                Err(e) => {
                    let found = format!("{reason}; the earlier release lies here ({e})");
                    Err(Error::input(&aside, None, found, "move it back by hand"))
                }
            },
        })
    }

    /// Removes a directory that holds `names` and nothing else; something
    /// that has come into it meanwhile stays, and so does the directory.
    fn remove(&self, dir: &Path, names: &[String]) -> Result<()> {
        let fail = |e| {
            let found = format!("it could not be removed ({e})");
            Error::input(dir, None, found, "remove it by hand")
        };
        for name in names {
            self.files.remove_file(&dir.join(name)).map_err(fail)?;
        }
        self.files.remove_dir(dir).map_err(fail)
    }
}

impl ReleaseSink for DirectorySink {
    fn create(&mut self, name: &str) -> Result<()> {
        self.close()?;
        let made = self.files.create_new(&self.partial().join(name));
        self.file = Some(made.map_err(|e| Error::io(self.target.join(name), e))?);
        self.names.push(name.to_owned());
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if self.buffer.len() + bytes.len() < BUFFER {
            self.buffer.extend_from_slice(bytes);
            return Ok(());
        }
        // What is large enough is not copied first.
        self.flush()?;
        match &mut self.file {
            Some(file) if bytes.len() >= BUFFER => {
                let written = self.files.write(file, bytes);
                written.map_err(|e| Error::io(self.current(), e))
            }
            _ => {
                self.buffer.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn publish(&mut self) -> Result<()> {
        self.close()?;
        self.files.sync_dir(self.partial()).map_err(|e| Error::io(&self.target, e))?;
        // A program that is told to end waits until the names are as they should be.
        self.place(&mut registry())
    }
}

impl Drop for DirectorySink {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // Nothing more can be done if this fails, and the first error is the one to report.
            for name in &self.names {
                let _ = self.files.remove_file(&partial.path().join(name));
            }
            let _ = self.files.remove_dir(partial.path());
        }
    }
}

/// The errors of a rename whose target exists.
fn taken(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory
    )
}

/// What stands where a release should go.
pub(super) enum Occupant {
    /// A directory with nothing in it.
    Empty,
    /// A release and nothing else; its files.
    Release(Vec<String>),
    /// What is never replaced, in words.
    Foreign(String),
}

impl Occupant {
    /// Looks at `path`; none if there is nothing.
    pub(super) fn at(path: &Path) -> Result<Option<Self>> {
        let fail = |e| Error::io(path, e);
        match fs::symlink_metadata(path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(fail(e)),
            Ok(meta) if !meta.is_dir() => {
                return Ok(Some(Self::Foreign(format!("this is {}", kind(&meta)))));
            }
            Ok(_) => {}
        }
        let source = DirectorySource::new(path);
        let names = match source.names() {
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                return Ok(None);
            }
            names => names?,
        };
        if names.is_empty() {
            return Ok(Some(Self::Empty));
        }
        let Ok(manifest) = read_manifest(&source, &()) else {
            return Ok(Some(Self::Foreign("the directory exists and is not a release".into())));
        };
        let listed: HashSet<&str> = manifest.files.iter().map(|f| f.name.as_str()).collect();
        let ours = |name: &&String| {
            let file = fs::symlink_metadata(path.join(name)).is_ok_and(|meta| !meta.is_dir());
            file && (*name == MANIFEST || listed.contains(name.as_str()))
        };
        Ok(Some(match names.iter().find(|name| !ours(name)) {
            None => Self::Release(names),
            Some(other) => Self::Foreign(format!(
                "the release there holds `{}` as well, which its manifest does not list",
                other.escape_debug()
            )),
        }))
    }

    /// Why this stays where it is.
    pub(super) fn refusal(self, path: &Path) -> Error {
        let (found, replaceable) = match self {
            Self::Empty => ("the directory exists".into(), true),
            Self::Release(_) => ("the release exists".into(), true),
            Self::Foreign(found) => (found, false),
        };
        Error::Exists { path: path.to_owned(), found, replaceable }
    }
}

/// A directory that a release is read from. Regular files only: a pipe would
/// keep the reader waiting, and a link leads out of the release.
#[derive(Clone, Debug)]
pub struct DirectorySource {
    dir: PathBuf,
}

impl DirectorySource {
    /// The release in `dir`.
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }
}

impl ReleaseSource for DirectorySource {
    fn names(&self) -> Result<Vec<String>> {
        let fail = |e| Error::io(&self.dir, e);
        let entries = fs::read_dir(&self.dir).map_err(fail)?;
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        entries.map(|entry| entry.map(name).map_err(fail)).collect()
    }

    fn open(&self, name: &str) -> Result<(Box<dyn Read + Send + '_>, u64)> {
        let path = self.dir.join(name);
        let fail = |e| Error::io(&path, e);
        let file = open_regular(&path).map_err(fail)?;
        let bytes = file.metadata().map_err(fail)?.len();
        Ok((Box::new(file), bytes))
    }

    fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.dir.clone() } else { self.dir.join(name) }
    }
}
