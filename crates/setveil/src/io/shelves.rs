//! Shelves on disk: byte strings, for data that does not fit into memory.
//!
//! What lies there is raw data, in a file that has no name ([`room`](super::room)).
//! What is put on a shelf waits in memory until there is enough of it to be
//! written at once; the more shelves there are, the less is enough.
//!
//! Every page has a checksum of what it holds, of its shelf and of its place there: a flipped bit, or
//! a write that got lost, is an error, and never a wrong item in a release.

use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rustc_hash::FxHasher;

use super::disk::{Disk, Files};
use super::room::{Extent, PAGE, Room};
use crate::data::{Shelf, Shelves, damaged};
use crate::error::Setting;
use crate::{Error, Result};

/// What a shelf takes in memory at least.
pub(crate) const SHELF: u64 = 2 * PAGE as u64;
/// What is written at once, at least and at most.
const WRITTEN: std::ops::RangeInclusive<usize> = PAGE..=(1 << 18);
/// What a page holds; the checksum comes behind it.
const HELD: usize = PAGE - size_of::<u64>();
/// What is read at once.
const READ: usize = 32 * HELD;

/// Shelves that share a file.
#[derive(Clone)]
pub struct DiskShelves {
    shared: Arc<Shared>,
}

/// What all shelves have; it goes with the last of them.
struct Shared {
    room: Room,
    /// Bytes that all shelves together keep in memory.
    buffers: usize,
    /// Shelves that are there.
    live: AtomicUsize,
    /// How many there ever were.
    made: AtomicU64,
}

impl DiskShelves {
    /// On the disk of `target`, or on that of `directory`.
    /// All shelves together keep about `buffers` bytes in memory.
    ///
    /// # Errors
    /// If nothing can be made there, or there is no such directory: raw data goes where somebody
    /// wants it (an encrypted disk, say), or nowhere.
    pub fn new(target: &Path, directory: Option<&Path>, buffers: usize) -> Result<Self> {
        if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
            return Err(Error::Setting {
                setting: Setting::Temporary,
                found: directory.display().to_string(),
                expected: "a directory that exists".into(),
            });
        }
        Self::with_files(target, directory, buffers, Arc::new(Disk))
    }

    fn with_files(
        target: &Path,
        directory: Option<&Path>,
        buffers: usize,
        files: Arc<dyn Files>,
    ) -> Result<Self> {
        let room = Room::new(&Self::place(target, directory), files)?;
        let (live, made) = (AtomicUsize::new(0), AtomicU64::new(0));
        Ok(Self { shared: Arc::new(Shared { room, buffers, live, made }) })
    }

    /// Beside what the file lies, for messages about one that was left.
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
        self.shared.live.fetch_add(1, Ordering::Relaxed);
        let number = self.shared.made.fetch_add(1, Ordering::Relaxed);
        let (shared, written, buffer) = (self.shared.clone(), Vec::new(), Vec::new());
        Ok(DiskShelf { shared, number, pages: 0, written, buffer })
    }
}

impl Shared {
    /// How much of a shelf waits in memory.
    fn enough(&self) -> usize {
        let live = self.live.load(Ordering::Relaxed).max(1);
        (self.buffers / live).clamp(*WRITTEN.start(), *WRITTEN.end())
    }
}

/// Byte strings on disk.
pub struct DiskShelf {
    shared: Arc<Shared>,
    /// No other shelf has it.
    number: u64,
    /// How many pages were written.
    pages: u64,
    written: Vec<Extent>,
    /// What is not written yet.
    buffer: Vec<u8>,
}

impl DiskShelf {
    /// Writes all but what does not fill a page.
    fn write(&mut self) -> Result<()> {
        let whole = self.buffer.len() / HELD * HELD;
        let mut sealed = Vec::with_capacity(whole.div_ceil(HELD).min(READ / HELD) * PAGE);
        for some in self.buffer[..whole].chunks(READ) {
            sealed.clear();
            for held in some.chunks(HELD) {
                sealed.extend_from_slice(held);
                sealed.extend_from_slice(&checksum(self.number, self.pages, held).to_ne_bytes());
                self.pages += 1;
            }
            self.shared.room.write(&sealed, &mut self.written)?;
        }
        self.buffer.drain(..whole);
        self.buffer.shrink_to(self.shared.enough());
        Ok(())
    }

    /// Reads from the beginning.
    pub(super) fn strings(&mut self) -> Result<Strings<'_>> {
        if !self.written.is_empty() {
            self.write()?;
            self.buffer.shrink_to_fit();
        }
        let (room, extents, number) = (&self.shared.room, &self.written[..], self.number);
        let (window, at, rest) = (Vec::new(), 0, &self.buffer[..]);
        Ok(Strings { room, number, page: 0, extents, skip: 0, rest, window, at })
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
        if self.buffer.len() < self.shared.enough() { Ok(()) } else { self.write() }
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
        self.shared.live.fetch_sub(1, Ordering::Relaxed);
        self.shared.room.give_back(&self.written);
    }
}

/// The strings of a shelf one after the other.
pub(super) struct Strings<'a> {
    room: &'a Room,
    /// That of the shelf.
    number: u64,
    /// The next page.
    page: u64,
    /// What is still to be read from the disk.
    extents: &'a [Extent],
    /// How much of the first of them was read.
    skip: usize,
    /// What comes behind it.
    rest: &'a [u8],
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
                        return Err(damaged());
                    }
                }
                None if self.fill(1)? => {}
                None if self.at == self.window.len() => return Ok(None),
                None => return Err(damaged()),
            }
        };
        self.at = end;
        Ok(Some(&self.window[start..end]))
    }

    /// Reads at least so much more, unless there is no more.
    fn fill(&mut self, least: usize) -> Result<bool> {
        self.window.drain(..self.at);
        self.at = 0;
        // A length in a broken file is not believed: only what is there is read.
        let (before, mut missing) = (self.window.len(), least.max(READ));
        while missing > 0 {
            let start = self.window.len();
            match self.extents.split_first() {
                Some((&extent, others)) => {
                    let left = (extent.bytes() - self.skip) / PAGE;
                    let pages = missing.div_ceil(HELD).min(READ / HELD).min(left);
                    self.window.resize(start + pages * PAGE, 0);
                    self.room.read(extent, self.skip, &mut self.window[start..])?;
                    self.open_pages(start)?;
                    self.skip += pages * PAGE;
                    if self.skip == extent.bytes() {
                        (self.extents, self.skip) = (others, 0);
                    }
                }
                None => self.window.extend_from_slice(std::mem::take(&mut self.rest)),
            }
            match self.window.len() - start {
                0 => break,
                read => missing = missing.saturating_sub(read),
            }
        }
        Ok(self.window.len() - before >= least)
    }

    /// Compares the checksums of the pages that were read to `start`, and takes them out.
    fn open_pages(&mut self, start: usize) -> Result<()> {
        let mut end = start;
        for page in (start..self.window.len()).step_by(PAGE) {
            let (held, sum) = self.window[page..page + PAGE].split_at(HELD);
            if checksum(self.number, self.page, held).to_ne_bytes() != sum {
                return Err(damaged());
            }
            self.page += 1;
            self.window.copy_within(page..page + HELD, end);
            end += HELD;
        }
        self.window.truncate(end);
        Ok(())
    }
}

/// Of what a page of a shelf holds. Only this process compares it.
fn checksum(shelf: u64, page: u64, held: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(shelf);
    hasher.write_u64(page);
    hasher.write(held);
    hasher.finish()
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
    fn what_is_put_there_is_found_again_and_nothing_has_a_name() {
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
        assert_eq!(listing(dir.path()), [], "what lies there has no name");
        let mut long = shelves.shelf().unwrap();
        long.put(&vec![7; 1 << 20]).unwrap();
        assert_eq!(all(&mut long).unwrap(), [vec![7; 1 << 20]]);
        for (at, shelf) in some.iter_mut().enumerate() {
            let expected: Vec<Vec<u8>> = (at..3000).step_by(40).map(string).collect();
            assert_eq!(all(shelf).unwrap(), expected);
            assert_eq!(all(shelf).unwrap(), expected, "and again");
        }
        drop((some, long, shelves));
        assert_eq!(listing(dir.path()), []);
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
                (0..400).try_for_each(|n| shelf.put(&string(n)))?;
                assert_eq!(all(&mut shelf)?.len(), 400);
                Ok(())
            };
            let done = run();
            if files.calls() <= at {
                assert!(done.is_ok() && at > 8, "{at} calls");
                return;
            }
            let last = files.calls() - 1;
            assert!(done.is_err(), "call {at} of {last}");
            assert!(listing(dir.path()).is_empty(), "call {at}: {done:?}");
        }
    }

    #[test]
    fn a_flipped_bit_and_a_lost_write_are_errors_and_no_other_strings() {
        let mut found = 0;
        for at in 0..60 {
            for flip in [true, false] {
                let dir = tempfile::tempdir().unwrap();
                let files = Arc::new(if flip { Faulty::flip(at) } else { Faulty::lose(at) });
                let target = dir.path().join("release");
                let mut shelves = DiskShelves::with_files(&target, None, 1, files).unwrap();
                // The second one gets the pages of the first, and what was lost is what lay there.
                let mut run = || -> Result<()> {
                    for _ in 0..2 {
                        let mut shelf = shelves.shelf()?;
                        (0..500).try_for_each(|n| shelf.put(&string(n)))?;
                        assert_eq!(all(&mut shelf)?, (0..500).map(string).collect::<Vec<_>>());
                    }
                    Ok(())
                };
                found += usize::from(run().is_err());
            }
        }
        // Of the calls, those that write.
        assert!(found > 60, "{found}");
    }
}
