//! Room on a disk for raw data: one file that has no name.
//!
//! Whatever happens to the process, what it wrote there must not be found
//! later. So the file is made for its owner alone, and loses its name before
//! anything is written: it goes with the process, however that ends. A process
//! that is killed between the two calls leaves an empty file, which
//! [`stale_partials`](super::stale_partials) finds. Where the system needs a
//! name for a file that is open, it is listed like all that is temporary.
//!
//! One file for all: there may be more shelves than a process may have open
//! files. Its pages are used again, so it is as long as the most that was there
//! at any time.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::disk::Files;
use super::temporary::{Temporary, parent};
use crate::error::{Hint, Setting};
use crate::{Error, Result};

/// The size of a page in bytes. Only whole pages are written.
pub(super) const PAGE: usize = 1 << 12;

/// A file without a name.
pub(super) struct Room {
    files: Arc<dyn Files>,
    file: File,
    /// Where it lies, for messages.
    folder: PathBuf,
    /// The name, on systems where it must have one.
    named: Option<Temporary>,
    pages: Mutex<Pages>,
    /// They go last, if nothing lies there.
    _made: Folders,
}

/// Directories that were made, the innermost last. Those that are empty go with it: a run
/// that is refused leaves none.
struct Folders(Vec<PathBuf>);

impl Folders {
    fn make(folder: &Path) -> io::Result<Self> {
        let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let missing: Vec<&Path> = folder.ancestors().take_while(missing).collect();
        let mut made = Self(Vec::new());
        for folder in missing.into_iter().rev() {
            // Somebody else may have made it meanwhile.
            if fs::create_dir(folder).is_ok() {
                made.0.push(folder.to_owned());
            }
        }
        fs::create_dir_all(folder)?;
        Ok(made)
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        // One that is not empty stays.
        let _ = self.0.iter().rev().try_for_each(fs::remove_dir);
    }
}

/// Pages that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    start: u32,
    pages: u32,
}

impl Extent {
    /// How many bytes.
    pub(super) fn bytes(self) -> usize {
        self.pages as usize * PAGE
    }
}

impl Room {
    /// A file beside where `place` would be.
    pub(super) fn new(place: &Path, files: Arc<dyn Files>) -> Result<Self> {
        let folder = parent(place).to_owned();
        let made = Folders::make(&folder).map_err(|e| Error::io(&folder, e))?;
        let (name, file) = Temporary::private_file(place, &*files)?;
        let named = if cfg!(unix) {
            remove(&name, &*files)?;
            nameless(&file, &folder)?;
            None
        } else {
            Some(name)
        };
        Ok(Self { files, file, folder, named, pages: Mutex::default(), _made: made })
    }

    /// Writes whole pages, and appends where they are.
    pub(super) fn write(&self, mut bytes: &[u8], to: &mut Vec<Extent>) -> Result<()> {
        debug_assert_eq!(bytes.len() % PAGE, 0, "whole pages");
        while !bytes.is_empty() {
            let extent = self
                .pages()
                .take(bytes.len() / PAGE)
                .ok_or_else(|| self.failed(ErrorKind::FileTooLarge.into()))?;
            let (these, others) = bytes.split_at(extent.bytes());
            add(to, extent);
            let written = self.files.write_at(&self.file, these, offset(extent));
            written.map_err(|e| self.failed(e))?;
            bytes = others;
        }
        Ok(())
    }

    /// Reads from the beginning of an extent.
    pub(super) fn read(&self, from: Extent, skip: usize, bytes: &mut [u8]) -> Result<()> {
        let at = offset(from) + skip as u64;
        self.files.read_at(&self.file, bytes, at).map_err(|e| Error::io(&self.folder, e))
    }

    /// What lies there is not needed any more.
    pub(super) fn give_back(&self, extents: &[Extent]) {
        let mut pages = self.pages();
        extents.iter().for_each(|&extent| pages.give_back(extent));
    }

    fn pages(&self) -> std::sync::MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, e: io::Error) -> Error {
        let full = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge];
        if !full.contains(&e.kind()) {
            return Error::io(&self.folder, e);
        }
        let found = format!("there is no room for data that does not fit into memory ({e})");
        let hint = Hint::of("choose another place with {}", &[Setting::Temporary]);
        Error::input(&self.folder, None, found, hint)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if let Some(name) = &self.named {
            // Nothing more can be done if this fails, and the first error is the one to report.
            let _ = self.files.remove_file(name.path());
        }
    }
}

/// Takes the name away. Somebody who ends the program may have done so before.
fn remove(name: &Temporary, files: &dyn Files) -> Result<()> {
    match files.remove_file(name.path()) {
        Err(e) if e.kind() != ErrorKind::NotFound => {
            // It is empty, and the error is told; once more may help.
            let _ = files.remove_file(name.path());
            Err(Error::io(name.path(), e))
        }
        _ => Ok(()),
    }
}

/// Somebody who may write to the folder could have given the file another name before it lost its own.
/// NFS gives one of its own to a file that is open: then others can open it, too.
#[cfg(unix)]
fn nameless(file: &File, folder: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    if file.metadata().map_err(|e| Error::io(folder, e))?.nlink() == 0 {
        return Ok(());
    }
    let found = "the file for raw data still has another name after its own was removed: somebody gave \
                 it one, and it would stay, or this is a network file system that does so (as NFS)";
    let hint = Hint::of(
        "choose a place on a local disk that is yours alone with {}",
        &[Setting::Temporary],
    );
    Err(Error::input(folder, None, found, hint))
}

#[cfg(not(unix))]
fn nameless(_file: &File, _folder: &Path) -> Result<()> {
    Ok(())
}

fn offset(extent: Extent) -> u64 {
    u64::from(extent.start) * PAGE as u64
}

/// Appends an extent, or makes the last one longer.
fn add(extents: &mut Vec<Extent>, extent: Extent) {
    match extents.last_mut() {
        Some(last) if last.start + last.pages == extent.start => last.pages += extent.pages,
        _ => extents.push(extent),
    }
}

/// Which pages are free.
#[derive(Default)]
struct Pages {
    /// Start and number; no two of them touch.
    free: BTreeMap<u32, u32>,
    /// How many the file has.
    all: u32,
}

impl Pages {
    /// So many pages, or fewer where they do not follow each other; none if the
    /// file would have more than can be numbered.
    fn take(&mut self, pages: usize) -> Option<Extent> {
        let wanted = u32::try_from(pages).unwrap_or(u32::MAX);
        if let Some((start, free)) = self.free.pop_first() {
            let pages = free.min(wanted);
            if free > pages {
                self.free.insert(start + pages, free - pages);
            }
            return Some(Extent { start, pages });
        }
        let start = self.all;
        self.all = start.checked_add(wanted)?;
        Some(Extent { start, pages: wanted })
    }

    fn give_back(&mut self, Extent { mut start, mut pages }: Extent) {
        if let Some((&before, &free)) = self.free.range(..start).next_back()
            && before + free == start
        {
            (start, pages) = (before, free + pages);
        }
        if let Some(free) = self.free.remove(&(start + pages)) {
            pages += free;
        }
        self.free.insert(start, pages);
    }
}

#[cfg(test)]
mod tests {
    use super::super::disk::Disk;
    use super::super::faults::{Call, Faulty, listing};
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_file_is_its_owners_alone_and_has_no_name_before_anything_is_written() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = dir.path().join("elsewhere");
        let named = elsewhere.clone();
        let seen = move || {
            let entries: Vec<_> = fs::read_dir(&named).unwrap().flatten().collect();
            assert_eq!(entries.len(), 1);
            let meta = entries[0].metadata().unwrap();
            assert_eq!((meta.mode() & 0o777, meta.len()), (0o600, 0));
        };
        let files = Arc::new(Faulty::hook(Call::RemoveFile, seen));
        let room = Room::new(&elsewhere.join("release"), files.clone()).unwrap();
        assert_eq!(files.seen(), [Call::CreatePrivate, Call::RemoveFile]);
        room.write(&[1; PAGE], &mut Vec::new()).unwrap();
        let meta = room.file.metadata().unwrap();
        assert_eq!((meta.nlink(), meta.permissions().mode() & 0o777), (0, 0o600));
        assert_eq!(listing(&elsewhere), []);
        drop(room);
        assert_eq!(listing(dir.path()), [], "nor has a directory that was made for it");
    }

    #[test]
    fn a_directory_that_was_there_or_is_used_stays() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("old")).unwrap();
        let room = |place: &str| Room::new(&dir.path().join(place), Arc::new(Disk)).unwrap();
        drop((room("old/release"), room("new/deep/release")));
        assert_eq!(listing(dir.path()), [("old/".to_owned(), Vec::new())]);
        let used = room("new/deep/release");
        fs::write(dir.path().join("new/release"), "something").unwrap();
        drop(used);
        assert!(dir.path().join("new/release").exists() && !dir.path().join("new/deep").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_got_another_name_holds_no_raw_data() {
        for link in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let folder = dir.path().to_owned();
            let keep = move || {
                let name = fs::read_dir(&folder).unwrap().flatten().next().unwrap().path();
                let kept = folder.join("kept");
                if link { fs::hard_link(name, kept) } else { fs::rename(name, kept) }.unwrap();
            };
            let files = Arc::new(Faulty::hook(Call::RemoveFile, keep));
            let error = Room::new(&dir.path().join("release"), files).err().unwrap().to_string();
            assert!(error.contains("another name") && error.contains("temporary"), "{error}");
            assert_eq!(fs::read(dir.path().join("kept")).unwrap(), b"");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_cannot_be_taken_away_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let files = Arc::new(Faulty::fail(1));
        assert!(Room::new(&dir.path().join("release"), files).is_err());
        assert_eq!(listing(dir.path()), []);
    }

    #[test]
    fn pages_are_used_again() {
        let dir = tempfile::tempdir().unwrap();
        let room = Room::new(&dir.path().join("release"), Arc::new(Disk)).unwrap();
        let (mut one, mut two, mut three) = (Vec::new(), Vec::new(), Vec::new());
        for n in 0..10 {
            room.write(&[n; 2 * PAGE], &mut one).unwrap();
            room.write(&[100 + n; PAGE], &mut two).unwrap();
        }
        assert_eq!(room.pages().all, 30);
        room.give_back(&one);
        room.write(&[200; 20 * PAGE], &mut three).unwrap();
        assert_eq!(room.pages().all, 30, "the file is no longer than before");
        assert!(room.pages().free.is_empty());
        let mut bytes = [0; PAGE];
        for (n, &extent) in two.iter().enumerate() {
            room.read(extent, 0, &mut bytes).unwrap();
            assert_eq!(bytes, [100 + n as u8; PAGE]);
        }
        room.give_back(&three);
        room.give_back(&two);
        assert_eq!(room.pages().free, BTreeMap::from([(0, 30)]), "what is free grows together");
    }

    #[test]
    fn a_full_disk_says_where_and_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let room = Room::new(&dir.path().join("release"), Arc::new(Disk)).unwrap();
        let error = room.failed(ErrorKind::StorageFull.into()).to_string();
        assert!(error.starts_with(&*dir.path().to_string_lossy()), "{error}");
        assert!(error.contains("no room") && error.contains("temporary"), "{error}");
    }
}
