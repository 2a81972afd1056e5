//! Shelves on disk: byte strings in files of a temporary directory, for data
//! that does not fit into memory.
//!
//! What lies there is raw data. So the directory is private to its owner, is
//! listed like everything that is temporary, and goes with the last shelf, on
//! errors and on signals too. Only a process that is killed leaves it behind.
//!
//! No file is open between two calls: there may be more shelves than a process
//! may have open files. What is put on a shelf waits in memory until there is
//! enough of it to be written at once; the more shelves there are, the less is enough.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::disk::{Disk, Files};
use super::temporary::{Temporary, parent};
use crate::data::{Shelf, Shelves};
use crate::{Error, Result};

/// What is written at once, at least and at most.
const WRITTEN: std::ops::RangeInclusive<usize> = (1 << 12)..=(1 << 18);
/// What is read at once.
const READ: usize = 1 << 17;

/// A directory of shelves.
#[derive(Clone)]
pub struct DiskShelves {
    room: Arc<Room>,
}

/// The directory; it goes with the last shelf.
struct Room {
    files: Arc<dyn Files>,
    directory: Temporary,
    /// Bytes that all shelves together keep in memory.
    buffers: usize,
    /// The number of the next file.
    next: AtomicU64,
    /// Shelves that are there.
    live: AtomicUsize,
}

impl DiskShelves {
    /// A directory beside `target`, or with a name like its in `directory`.
    /// All shelves together keep about `buffers` bytes in memory.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(target: &Path, directory: Option<&Path>, buffers: usize) -> Result<Self> {
        Self::with_files(target, directory, buffers, Arc::new(Disk))
    }

    fn with_files(
        target: &Path,
        directory: Option<&Path>,
        buffers: usize,
        files: Arc<dyn Files>,
    ) -> Result<Self> {
        let place = Self::place(target, directory);
        let parent = parent(&place);
        fs::create_dir_all(parent).map_err(|e| Error::io(parent, e))?;
        let directory = Temporary::private_directory(&place, &*files)?;
        let (next, live) = (AtomicU64::new(0), AtomicUsize::new(0));
        Ok(Self { room: Arc::new(Room { files, directory, buffers, next, live }) })
    }

    /// Beside what the directory lies, for messages about one that was left.
    pub fn place(target: &Path, directory: Option<&Path>) -> PathBuf {
        match (directory, target.file_name()) {
            (Some(directory), Some(name)) => directory.join(name),
            _ => target.to_owned(),
        }
    }
}

impl Shelves for DiskShelves {
    type Shelf = DiskShelf;

    fn shelf(&mut self) -> Result<DiskShelf> {
        let number = self.room.next.fetch_add(1, Ordering::Relaxed);
        self.room.live.fetch_add(1, Ordering::Relaxed);
        let path = self.room.directory.path().join(number.to_string());
        Ok(DiskShelf { room: self.room.clone(), path, begun: false, buffer: Vec::new(), bytes: 0 })
    }
}

impl Room {
    /// How much of a shelf waits in memory.
    fn enough(&self) -> usize {
        let live = self.live.load(Ordering::Relaxed).max(1);
        (self.buffers / live).clamp(*WRITTEN.start(), *WRITTEN.end())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // Every shelf has removed its file. Nothing more can be done if this
        // fails, and the first error is the one to report.
        let _ = self.files.remove_dir(self.directory.path());
    }
}

/// Byte strings in a file.
pub struct DiskShelf {
    room: Arc<Room>,
    path: PathBuf,
    /// Whether there is a file.
    begun: bool,
    /// What is not written yet.
    buffer: Vec<u8>,
    bytes: u64,
}

impl DiskShelf {
    /// How many bytes were put there.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn write(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let files = &self.room.files;
        let file = if self.begun { files.append(&self.path) } else { files.create_new(&self.path) };
        let written = file.and_then(|mut file| {
            self.begun = true;
            files.write(&mut file, &self.buffer)
        });
        self.buffer.clear();
        self.buffer.shrink_to(self.room.enough());
        written.map_err(|e| Error::io(&self.path, e))
    }

    /// Reads from the beginning.
    pub(super) fn strings(&mut self) -> Result<Strings<'_>> {
        let file = match self.begun {
            false => None,
            true => {
                self.write()?;
                let file = File::open(&self.path).map_err(|e| Error::io(&self.path, e))?;
                self.buffer = Vec::new();
                Some(file)
            }
        };
        let window = if file.is_some() { Vec::new() } else { self.buffer.clone() };
        Ok(Strings { path: &self.path, file, window, at: 0 })
    }
}

impl Shelf for DiskShelf {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let mut length = bytes.len();
        while length >= 0x80 {
            self.buffer.push(length as u8 | 0x80);
            length >>= 7;
        }
        self.buffer.push(length as u8);
        self.buffer.extend_from_slice(bytes);
        self.bytes += bytes.len() as u64;
        if self.buffer.len() < self.room.enough() { Ok(()) } else { self.write() }
    }

    fn each(&mut self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut strings = self.strings()?;
        while let Some(bytes) = strings.next()? {
            visit(bytes)?;
        }
        Ok(())
    }
}

impl Drop for DiskShelf {
    fn drop(&mut self) {
        self.room.live.fetch_sub(1, Ordering::Relaxed);
        if self.begun {
            // What cannot be removed now is removed, or remarked on, with the directory.
            let _ = self.room.files.remove_file(&self.path);
        }
    }
}

/// The strings of a shelf one after the other.
pub(super) struct Strings<'a> {
    path: &'a Path,
    /// None when all of it is in the window.
    file: Option<File>,
    window: Vec<u8>,
    at: usize,
}

impl Strings<'_> {
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>> {
        let (start, end) = loop {
            match span(&self.window[self.at..]) {
                Some((skip, length)) if self.window.len() - self.at - skip >= length => {
                    break (self.at + skip, self.at + skip + length);
                }
                Some((skip, length)) => {
                    let missing = skip + length - (self.window.len() - self.at);
                    if !self.fill(missing)? {
                        return Err(self.cut());
                    }
                }
                None if self.fill(1)? => {}
                None if self.at == self.window.len() => return Ok(None),
                None => return Err(self.cut()),
            }
        };
        self.at = end;
        Ok(Some(&self.window[start..end]))
    }

    /// Reads at least so much more, unless the file ends.
    fn fill(&mut self, least: usize) -> Result<bool> {
        let Some(file) = &mut self.file else { return Ok(false) };
        self.window.drain(..self.at);
        self.at = 0;
        let before = self.window.len();
        // A length in a broken file is not believed: only what is there is read.
        let mut some = file.take(least.max(READ) as u64);
        some.read_to_end(&mut self.window).map_err(|e| Error::io(self.path, e))?;
        Ok(self.window.len() - before >= least)
    }

    fn cut(&self) -> Error {
        Error::input(
            self.path,
            None,
            "this temporary file was cut off",
            "somebody else has changed it: run the command again",
        )
    }
}

/// Where a string begins and how long it is; none if its length is not there.
fn span(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut length = 0;
    for (at, &byte) in bytes.iter().enumerate().take(9) {
        length |= usize::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return Some((at + 1, length));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::faults::{Faulty, listing};
    use super::*;

    fn all(shelf: &mut DiskShelf) -> Result<Vec<Vec<u8>>> {
        let mut found = Vec::new();
        shelf.each(&mut |bytes| {
            found.push(bytes.to_vec());
            Ok(())
        })?;
        Ok(found)
    }

    fn string(n: usize) -> Vec<u8> {
        vec![n as u8; n * 37 % 400]
    }

    #[test]
    fn what_is_put_there_is_found_again_and_goes_with_the_shelves() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("release");
        let mut shelves = DiskShelves::new(&target, None, 1 << 16).unwrap();
        let mut some: Vec<DiskShelf> = (0..40).map(|_| shelves.shelf().unwrap()).collect();
        for n in 0..3000 {
            some[n % 40].put(&string(n)).unwrap();
            if n == 1000 {
                assert_eq!(all(&mut some[0]).unwrap().len(), 26, "it may be read in between");
            }
        }
        let mut long = shelves.shelf().unwrap();
        long.put(&vec![7; 1 << 20]).unwrap();
        assert_eq!(all(&mut long).unwrap(), [vec![7; 1 << 20]]);
        for (at, shelf) in some.iter_mut().enumerate() {
            let expected: Vec<Vec<u8>> = (at..3000).step_by(40).map(string).collect();
            assert_eq!(all(shelf).unwrap(), expected);
            assert_eq!(all(shelf).unwrap(), expected, "and again");
        }
        assert!(!listing(dir.path()).is_empty());
        drop((some, long));
        assert!(listing(dir.path()).iter().all(|(_, bytes)| bytes.is_empty()));
        drop(shelves);
        assert_eq!(listing(dir.path()), []);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_look_into_the_directory() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = dir.path().join("elsewhere");
        let target = dir.path().join("release");
        let shelves = DiskShelves::new(&target, Some(&elsewhere), 1 << 16).unwrap();
        let mode = shelves.room.directory.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert!(shelves.room.directory.path().starts_with(&elsewhere));
    }

    #[test]
    fn a_fault_at_any_call_is_told_and_leaves_nothing() {
        for at in 0.. {
            let dir = tempfile::tempdir().unwrap();
            let files = Arc::new(Faulty::fail(at));
            let run = || -> Result<()> {
                let target = dir.path().join("release");
                let mut shelves = DiskShelves::with_files(&target, None, 1, files.clone())?;
                let mut shelf = shelves.shelf()?;
                (0..100).try_for_each(|n| shelf.put(&string(n)))?;
                assert_eq!(all(&mut shelf)?.len(), 100);
                Ok(())
            };
            let done = run();
            if files.calls() <= at {
                assert!(done.is_ok() && at > 8, "{at} calls");
                return;
            }
            let last = files.calls() - 1;
            // The last two calls remove the file and the directory, and are not told.
            assert!(done.is_err() || at + 2 > last, "call {at} of {last}");
            assert!(done.is_ok() || listing(dir.path()).is_empty(), "call {at}: {done:?}");
        }
    }
}
