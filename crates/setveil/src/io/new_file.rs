//! Files that appear under their name only when they are complete, and take
//! nobody's place unless that was asked for.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::{Disk, Files};
use super::temporary::{Temporary, parent, registry};
use crate::{Error, Result};

/// Checks before any work that a file can be written to `path`: that it is no
/// directory, and nothing that would be lost unless `replace` is given.
pub fn check_file(path: &Path, replace: bool) -> Result<()> {
    if path.is_dir() {
        return Err(Error::input(path, None, "this is a directory", "name a file"));
    }
    if path.exists() && !replace { Err(exists(path)) } else { Ok(()) }
}

fn exists(path: &Path) -> Error {
    Error::Exists { path: path.to_owned(), found: "the file exists".into(), replaceable: true }
}

/// Writes a whole file. One of that name is replaced if `replace` is given,
/// and an [`Error::Exists`] otherwise, even if it appears at the last moment.
pub fn write_file(path: &Path, bytes: &[u8], replace: bool) -> Result<()> {
    let mut file = NewFile::create(path, replace)?;
    file.write_all(bytes).map_err(|e| Error::io(path, e))?;
    file.finish()
}

/// A file that stands under another name, beside its own, until it is finished;
/// if it never is, it goes.
pub struct NewFile {
    path: PathBuf,
    replace: bool,
    file: File,
    /// None for a pipe or a device, which is written as it is, and once the
    /// file has its name.
    partial: Option<Temporary>,
    files: Arc<dyn Files>,
}

impl NewFile {
    /// Begins a file that will be called `path`.
    ///
    /// # Errors
    /// If nothing can be written beside it.
    pub fn create(path: &Path, replace: bool) -> Result<Self> {
        Self::create_with(path, replace, Arc::new(Disk))
    }

    fn create_with(path: &Path, replace: bool, files: Arc<dyn Files>) -> Result<Self> {
        if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            let file = File::create(path).map_err(|e| Error::io(path, e))?;
            return Ok(Self { path: path.to_owned(), replace, file, partial: None, files });
        }
        let (partial, file) = Temporary::file(path, &*files)?;
        Ok(Self { path: path.to_owned(), replace, file, partial: Some(partial), files })
    }

    /// Gives the file, which is complete, its name.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is one already and it may not be replaced.
    pub fn finish(mut self) -> Result<()> {
        let Some(partial) = &mut self.partial else { return Ok(()) };
        let fail = |e| Error::io(&self.path, e);
        self.files.sync(&self.file).map_err(fail)?;
        // Until it has its name, nobody removes it.
        let mut registry = registry();
        let renamed = if self.replace {
            self.files.rename(partial.path(), &self.path)
        } else {
            self.files.rename_new(partial.path(), &self.path)
        };
        match renamed {
            Ok(()) => partial.forget(&mut registry),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(exists(&self.path)),
            Err(e) => return Err(fail(e)),
        }
        drop(registry);
        self.partial = None;
        self.files.sync_dir(parent(&self.path)).map_err(fail)
    }
}

impl std::fmt::Debug for NewFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewFile").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.files.write(&mut self.file, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // Nothing more can be done if this fails, and the first error is the one to report.
            let _ = self.files.remove_file(partial.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::faults::{Call, Faulty, listing};
    use super::*;

    #[test]
    fn a_file_appears_when_it_is_complete_and_an_unfinished_one_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        let names = || fs::read_dir(dir.path()).unwrap().count();
        let mut unfinished = NewFile::create(&path, false).unwrap();
        unfinished.write_all(b"half").unwrap();
        assert!(!path.exists() && names() == 1);
        drop(unfinished);
        assert_eq!(names(), 0);
        write_file(&path, b"whole", false).unwrap();
        assert!(matches!(write_file(&path, b"no", false), Err(Error::Exists { .. })));
        write_file(&path, b"again", true).unwrap();
        assert_eq!((fs::read(&path).unwrap(), names()), (b"again".to_vec(), 1));
        assert!(check_file(&path, false).is_err() && check_file(&path, true).is_ok());
        assert!(check_file(dir.path(), true).is_err());
    }

    #[test]
    fn what_appears_between_the_check_and_the_rename_stays() {
        for rename in [true, false] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("thesis.tex");
            let thesis = path.clone();
            let files = Faulty::hook(Call::RenameNew, move || fs::write(&thesis, "years").unwrap());
            let files = if rename { files } else { files.without_renameat2() };
            let mut file = NewFile::create_with(&path, false, Arc::new(files)).unwrap();
            file.write_all(b"new").unwrap();
            assert!(matches!(file.finish(), Err(Error::Exists { .. })));
            assert_eq!(listing(dir.path()), [("thesis.tex".to_owned(), b"years".to_vec())]);
        }
    }

    #[test]
    fn every_fault_leaves_the_old_file_or_the_new_one_and_nothing_else() {
        for replace in [false, true] {
            let mut faults = 0;
            for at in 0.. {
                let dir = tempfile::tempdir().unwrap();
                let path = dir.path().join("f");
                if replace {
                    fs::write(&path, "old").unwrap();
                }
                let files = Arc::new(Faulty::fail(at));
                let done = NewFile::create_with(&path, replace, files.clone()).and_then(|mut f| {
                    f.write_all(b"new").map_err(|e| Error::io(&path, e))?;
                    f.finish()
                });
                if files.calls() <= at {
                    assert!(done.is_ok());
                    break;
                }
                faults += 1;
                assert!(done.is_err(), "fault {at} was swallowed");
                let left = listing(dir.path());
                let old = if replace { vec![("f".to_owned(), b"old".to_vec())] } else { vec![] };
                let new = vec![("f".to_owned(), b"new".to_vec())];
                assert!(left == old || left == new, "fault {at}: {left:?}");
            }
            assert_eq!(faults, 5, "create, write, sync, rename, sync of the directory");
        }
    }
}
