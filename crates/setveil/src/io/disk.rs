//! The file system as writers see it: every call that changes something on
//! disk, or reads raw data back, goes through [`Files`], so that tests can let each one fail.
//!
//! Invariant: nothing here replaces or removes what it was not told to.
//! Renaming to a name that is taken fails, whether or not the system can say
//! so in one call.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// What writers ask of the file system.
pub(super) trait Files: Send + Sync {
    /// Makes a directory that does not exist.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Makes a file that does not exist.
    fn create_new(&self, path: &Path) -> io::Result<File>;
    /// Makes a file that does not exist and that nobody else may open, to write and to read.
    fn create_private(&self, path: &Path) -> io::Result<File>;
    /// Writes all of `bytes` at `at`.
    fn write_at(&self, file: &File, bytes: &[u8], at: u64) -> io::Result<()>;
    /// Reads as many bytes as there is place for.
    fn read_at(&self, file: &File, bytes: &mut [u8], at: u64) -> io::Result<()>;
    /// Appends all of `bytes`.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()>;
    /// Waits until the file's content is on the disk.
    fn sync(&self, file: &File) -> io::Result<()>;
    /// Waits until the directory's names are on the disk.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Renames unless `to` exists. An empty directory may give way to a
    /// directory where the system has nothing better.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Lets two names change places at once; [`io::ErrorKind::Unsupported`]
    /// where the system cannot.
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()>;
    /// Renames. A file takes the place of a file, a directory that of an
    /// empty one.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
}

/// The operating system's files.
pub(super) struct Disk;

impl Files for Disk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn create_new(&self, path: &Path) -> io::Result<File> {
        File::create_new(path)
    }

    fn create_private(&self, path: &Path) -> io::Result<File> {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)
    }

    fn write_at(&self, file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
        write_at(file, bytes, at)
    }

    fn read_at(&self, file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
        read_at(file, bytes, at)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    #[cfg(unix)]
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        match File::open(path)?.sync_all() {
            // Some file systems cannot, and have nothing to wait for.
            Err(e) if cannot(&e) => Ok(()),
            done => done,
        }
    }

    #[cfg(not(unix))]
    fn sync_dir(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        match rename_no_replace(from, to) {
            Err(e) if cannot(&e) => rename_new_by_links(from, to),
            done => done,
        }
    }

    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        match rename_exchange(a, b) {
            Err(e) if cannot(&e) => Err(io::ErrorKind::Unsupported.into()),
            done => done,
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    use std::io::{Seek, SeekFrom};
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

/// Whether the system or the file system does not know the call.
fn cannot(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}

/// The safe way where there is no single call for it: a link to a file is
/// never made over something, and a directory is never renamed over something
/// but an empty directory.
pub(super) fn rename_new_by_links(from: &Path, to: &Path) -> io::Result<()> {
    if fs::symlink_metadata(from)?.is_dir() {
        return fs::rename(from, to);
    }
    fs::hard_link(from, to)?;
    fs::remove_file(from)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_no_replace(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_exchange(a: &Path, b: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_no_replace(_from: &Path, _to: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_exchange(_a: &Path, _b: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Opens `path` for reading if it is a regular file: a pipe would wait for
/// ever, and a link may lead anywhere.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    let meta = fs::symlink_metadata(path)?;
    if !meta.is_file() {
        return Err(not_regular(kind(&meta)));
    }
    let file = open_without_waiting(path)?;
    // What was a file a moment ago may be something else by now.
    let meta = file.metadata()?;
    if meta.is_file() { Ok(file) } else { Err(not_regular(kind(&meta))) }
}

fn not_regular(kind: &str) -> io::Error {
    let text = format!("this is {kind}; a release holds regular files only");
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// What a thing that is no regular file is.
pub(super) fn kind(meta: &fs::Metadata) -> &'static str {
    let kind = meta.file_type();
    if kind.is_dir() {
        "a directory"
    } else if kind.is_symlink() {
        "a link"
    } else if kind.is_file() {
        "a file"
    } else {
        "a pipe or a device"
    }
}

#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    fs::OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}
