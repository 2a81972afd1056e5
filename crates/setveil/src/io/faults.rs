//! A file system for tests: each call can be made to fail, and something can
//! be made to happen just before a call.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::disk::{Disk, Files};

/// The calls, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    CreateDir,
    CreateNew,
    CreatePrivate,
    Write,
    WriteAt,
    ReadAt,
    Sync,
    SyncDir,
    RenameNew,
    Exchange,
    Rename,
    RemoveFile,
    RemoveDir,
}

/// The disk, with accidents.
#[derive(Default)]
pub(super) struct Faulty {
    /// The number of the call that fails.
    fail: Option<usize>,
    /// All calls after it fail too.
    for_good: bool,
    calls: AtomicUsize,
    #[allow(clippy::type_complexity)]
    hook: Mutex<Option<(Call, Box<dyn FnOnce() + Send>)>>,
    /// The system has neither a rename that never replaces nor an exchange.
    old_system: bool,
    /// A write that goes wrong without a word: which call, and whether a bit is flipped or nothing written.
    damage: Option<(usize, bool)>,
    seen: Mutex<Vec<Call>>,
}

impl Faulty {
    /// Call number `at` fails.
    pub(super) fn fail(at: usize) -> Self {
        Self { fail: Some(at), ..Self::default() }
    }

    /// The disk is gone from call number `at` on.
    pub(super) fn fail_from(at: usize) -> Self {
        Self { fail: Some(at), for_good: true, ..Self::default() }
    }

    /// `what` happens before the first `call`.
    pub(super) fn hook(call: Call, what: impl FnOnce() + Send + 'static) -> Self {
        Self { hook: Mutex::new(Some((call, Box::new(what)))), ..Self::default() }
    }

    /// Call number `at`, if it writes at some place, writes one bit wrong and says nothing.
    pub(super) fn flip(at: usize) -> Self {
        Self { damage: Some((at, true)), ..Self::default() }
    }

    /// Call number `at`, if it writes at some place, does not and says nothing.
    pub(super) fn lose(at: usize) -> Self {
        Self { damage: Some((at, false)), ..Self::default() }
    }

    pub(super) fn without_renameat2(mut self) -> Self {
        self.old_system = true;
        self
    }

    /// How many calls there were.
    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// The calls in their order.
    pub(super) fn seen(&self) -> Vec<Call> {
        self.seen.lock().unwrap().clone()
    }

    fn call(&self, call: Call) -> io::Result<()> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        self.seen.lock().unwrap().push(call);
        let mut hook = self.hook.lock().unwrap();
        if hook.as_ref().is_some_and(|(when, _)| *when == call) {
            hook.take().unwrap().1();
        }
        if self.fail.is_some_and(|at| number == at || self.for_good && number > at) {
            return Err(io::Error::other(format!("injected: {call:?}")));
        }
        Ok(())
    }
}

impl Files for Faulty {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.call(Call::CreateDir)?;
        Disk.create_dir(path)
    }

    fn create_new(&self, path: &Path) -> io::Result<File> {
        self.call(Call::CreateNew)?;
        Disk.create_new(path)
    }

    fn create_private(&self, path: &Path) -> io::Result<File> {
        self.call(Call::CreatePrivate)?;
        Disk.create_private(path)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        // A full disk takes a part.
        self.call(Call::Write).inspect_err(|_| {
            let _ = Disk.write(file, &bytes[..bytes.len() / 2]);
        })?;
        Disk.write(file, bytes)
    }

    fn write_at(&self, file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
        self.call(Call::WriteAt).inspect_err(|_| {
            let _ = Disk.write_at(file, &bytes[..bytes.len() / 2], at);
        })?;
        let number = self.calls() - 1;
        match self.damage {
            Some((damaged, true)) if damaged == number => {
                let mut bytes = bytes.to_vec();
                let place = number * 7919 % bytes.len();
                bytes[place] ^= 1 << (number % 8);
                Disk.write_at(file, &bytes, at)
            }
            Some((damaged, false)) if damaged == number => Ok(()),
            _ => Disk.write_at(file, bytes, at),
        }
    }

    fn read_at(&self, file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.call(Call::ReadAt)?;
        Disk.read_at(file, bytes, at)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.call(Call::Sync)?;
        Disk.sync(file)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.call(Call::SyncDir)?;
        Disk.sync_dir(path)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(Call::RenameNew)?;
        if self.old_system {
            super::disk::rename_new_by_links(from, to)
        } else {
            Disk.rename_new(from, to)
        }
    }

    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        self.call(Call::Exchange)?;
        if self.old_system {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Disk.exchange(a, b)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(Call::Rename)?;
        Disk.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.call(Call::RemoveFile)?;
        Disk.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.call(Call::RemoveDir)?;
        Disk.remove_dir(path)
    }
}

/// The files below `dir` with their content, ascending.
pub(super) fn listing(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().unwrap().is_dir() {
            let below = listing(&entry.path());
            if below.is_empty() {
                all.push((format!("{name}/"), Vec::new()));
            }
            all.extend(below.into_iter().map(|(n, bytes)| (format!("{name}/{n}"), bytes)));
        } else {
            all.push((name, fs::read(entry.path()).unwrap()));
        }
    }
    all.sort_unstable();
    all
}
