//! What is being written and has no name of its own yet.
//!
//! A [`Temporary`] lies beside its target under a hidden name,
//! `.NAME.RANDOM.partial`, and goes when it is dropped. All of them are listed
//! in one place, so that a program that is told to end at once can remove
//! them ([`remove_temporary`]). One that a killed run left behind is found by
//! [`stale_partials`].

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::disk::Files;
use crate::{Error, Result};

const SUFFIX: &str = ".partial";
/// What an earlier release is called while its successor takes its place, on
/// systems that cannot exchange names.
const REPLACED: &str = ".replaced";
/// Bytes of the target's name that are kept: the whole name must fit.
const NAME: usize = 100;
/// Hexadecimal digits of what makes a name one of its own.
const RANDOM: usize = 8;
/// Names that are tried before giving up.
const TRIES: usize = 100;

/// The paths that [`remove_temporary`] removes.
static REGISTRY: Mutex<Registry> = Mutex::new(Registry { paths: BTreeSet::new(), closed: false });

pub(super) struct Registry {
    paths: BTreeSet<PathBuf>,
    /// The program is about to end: nothing new is begun.
    closed: bool,
}

/// The list of temporary paths. Whoever holds it can give them their names
/// without [`remove_temporary`] coming in between.
pub(super) fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every temporary file and directory of this process, and lets no new
/// one be made: for a program that ends at once. Waits for a rename that is
/// under way, so a release is either complete or gone.
pub fn remove_temporary() {
    let mut registry = registry();
    registry.closed = true;
    for path in std::mem::take(&mut registry.paths) {
        // A thread that still writes can make a file meanwhile; the second round gets it.
        for _ in 0..3 {
            let removed = match fs::symlink_metadata(&path) {
                Ok(meta) if meta.is_dir() => fs::remove_dir_all(&path),
                Ok(_) => fs::remove_file(&path),
                Err(_) => break,
            };
            if removed.is_ok() {
                break;
            }
        }
    }
}

/// A hidden path beside a target that goes when this is dropped, unless it
/// has become the target.
pub(super) struct Temporary {
    path: PathBuf,
    /// Whether the registry has it.
    listed: bool,
    /// Says to others that somebody is still at work.
    _lock: Option<File>,
}

impl Temporary {
    /// Makes a directory beside `target`.
    pub(super) fn directory(target: &Path, files: &dyn Files) -> Result<Self> {
        let (path, ()) = create(target, |path| files.create_dir(path))?;
        let lock = File::open(&path).ok();
        lock.as_ref().and_then(try_lock);
        Ok(Self { path, listed: true, _lock: lock })
    }

    /// Makes a file beside `target`.
    pub(super) fn file(target: &Path, files: &dyn Files) -> Result<(Self, File)> {
        Ok(Self::of_file(create(target, |path| files.create_new(path))?))
    }

    /// Makes a file beside `target` that nobody else may open.
    pub(super) fn private_file(target: &Path, files: &dyn Files) -> Result<(Self, File)> {
        Ok(Self::of_file(create(target, |path| files.create_private(path))?))
    }

    fn of_file((path, file): (PathBuf, File)) -> (Self, File) {
        let lock = file.try_clone().ok();
        lock.as_ref().and_then(try_lock);
        (Self { path, listed: true, _lock: lock }, file)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What lies at the path is no longer temporary, or not ours any more.
    pub(super) fn forget(&mut self, registry: &mut Registry) {
        registry.paths.remove(&self.path);
        self.listed = false;
    }

    /// Where that which stands in the place of the target can move aside.
    pub(super) fn aside(&self) -> PathBuf {
        self.path.with_extension(&REPLACED[1..])
    }
}

impl Drop for Temporary {
    /// Only the list: what lies there is removed by whoever made it, who knows
    /// what it is.
    fn drop(&mut self) {
        // Whoever has forgotten it may hold the registry still.
        if self.listed {
            registry().paths.remove(&self.path);
        }
    }
}

/// Makes something with a free name.
fn create<T>(
    target: &Path,
    mut make: impl FnMut(&Path) -> std::io::Result<T>,
) -> Result<(PathBuf, T)> {
    let parent = parent(target);
    let stem = stem(target).ok_or_else(|| {
        Error::input(target, None, "this is no name for a file", "name the result")
    })?;
    for _ in 0..TRIES {
        let mut name = stem.clone();
        name.push(format!(
            "{:0RANDOM$x}{SUFFIX}",
            RandomState::new().build_hasher().finish() as u32
        ));
        let path = parent.join(name);
        let mut registry = registry();
        if registry.closed {
            return Err(Error::Cancelled);
        }
        match make(&path) {
            Ok(made) => {
                registry.paths.insert(path.clone());
                return Ok((path, made));
            }
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => return Err(Error::io(path, e)),
        }
    }
    Err(Error::io(parent, ErrorKind::AlreadyExists.into()))
}

/// The directory that `target` lies in.
pub(super) fn parent(target: &Path) -> &Path {
    target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// How the names of the temporary things of `target` begin.
fn stem(target: &Path) -> Option<OsString> {
    let name = target.file_name()?.to_string_lossy();
    let end = (0..=NAME.min(name.len())).rev().find(|&i| name.is_char_boundary(i))?;
    Some(format!(".{}.", &name[..end]).into())
}

/// Something that an earlier run, which was killed, left beside its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StalePartial {
    /// Where it lies.
    pub path: PathBuf,
    /// How long ago it was changed last.
    pub age: Duration,
    /// Whether it is a directory.
    pub directory: bool,
}

/// What killed runs left beside `target`; nothing that somebody still writes,
/// as far as the file system can tell. For a remark: nothing is removed.
pub fn stale_partials(target: &Path, now: SystemTime) -> Vec<StalePartial> {
    let Some(stem) = stem(target) else { return Vec::new() };
    let stem = stem.to_string_lossy().into_owned();
    // A target in a directory that does not exist or cannot be read has nothing beside it.
    let Ok(entries) = fs::read_dir(parent(target)) else { return Vec::new() };
    let mut stale: Vec<StalePartial> = entries
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let Some(rest) = name.strip_prefix(&stem) else { return false };
            let random = rest.strip_suffix(SUFFIX).or_else(|| rest.strip_suffix(REPLACED));
            // Names that others chose are not ours, and are not repeated in a remark with a command.
            random.is_some_and(|r| r.len() == RANDOM && r.bytes().all(|b| b.is_ascii_hexdigit()))
        })
        .filter_map(|entry| {
            let meta = entry.metadata().ok()?;
            let (path, directory) = (entry.path(), meta.is_dir());
            if !(directory || meta.is_file()) || in_use(&path) {
                return None;
            }
            let age = meta.modified().ok().and_then(|then| now.duration_since(then).ok());
            Some(StalePartial { path, age: age.unwrap_or_default(), directory })
        })
        .collect();
    stale.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    stale
}

/// Whether a running process holds the lock of what lies at `path`.
fn in_use(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| try_lock(&file) == Some(false))
}

/// Locks without waiting; none where that is not possible at all.
#[cfg(unix)]
fn try_lock(file: &File) -> Option<bool> {
    use rustix::fs::{FlockOperation, flock};
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Some(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Some(false),
        Err(_) => None,
    }
}

#[cfg(not(unix))]
fn try_lock(_file: &File) -> Option<bool> {
    None
}
