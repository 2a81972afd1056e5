//! Files that appear under their name only when they are complete.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Checks before any work that a file can be written to `path`: that it is no
/// directory, and nothing that would be lost unless `force` is given.
pub fn check_file(path: &Path, force: bool) -> Result<()> {
    let refuse = |found: &str, hint: &str| Err(Error::input(path, None, found, hint));
    if path.is_dir() {
        return refuse("this is a directory", "name a file");
    }
    if path.exists() && !force {
        return refuse("the file exists", "choose another name or replace it with --force");
    }
    Ok(())
}

/// Writes a whole file. An earlier one of that name is replaced; see
/// [`check_file`].
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let (new, mut file) = NewFile::create(path)?;
    file.write_all(bytes).map_err(|e| Error::io(path, e))?;
    new.finish()
}

/// A file that stands under another name, beside its own, until it is finished;
/// if it never is, it goes.
pub(super) struct NewFile {
    path: PathBuf,
    partial: Option<PathBuf>,
}

impl NewFile {
    /// The file is to be written by the caller. A pipe or a device is written
    /// as it is.
    pub(super) fn create(path: &Path) -> Result<(Self, File)> {
        if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            let file = File::create(path).map_err(|e| Error::io(path, e))?;
            return Ok((Self { path: path.to_owned(), partial: None }, file));
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(format!(".{}.partial", std::process::id()));
        let partial = PathBuf::from(partial);
        let file = File::create_new(&partial).map_err(|e| Error::io(path, e))?;
        Ok((Self { path: path.to_owned(), partial: Some(partial) }, file))
    }

    /// Gives the file, which is complete and flushed, its name.
    pub(super) fn finish(mut self) -> Result<()> {
        match self.partial.take() {
            Some(partial) => fs::rename(partial, &self.path).map_err(|e| Error::io(&self.path, e)),
            None => Ok(()),
        }
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // Nothing more can be done if this fails, and the first error is the one to report.
            let _ = fs::remove_file(partial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_when_it_is_complete_and_an_unfinished_one_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        let names = || fs::read_dir(dir.path()).unwrap().count();
        let (unfinished, mut file) = NewFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert!(!path.exists() && names() == 1);
        drop(unfinished);
        assert_eq!(names(), 0);
        write_file(&path, b"whole").unwrap();
        write_file(&path, b"again").unwrap();
        assert_eq!((fs::read(&path).unwrap(), names()), (b"again".to_vec(), 1));
        assert!(check_file(&path, false).is_err() && check_file(&path, true).is_ok());
        assert!(check_file(dir.path(), true).is_err());
    }
}
