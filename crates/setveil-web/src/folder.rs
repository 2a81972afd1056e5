//! The files that the page may see: those below one folder, after links are
//! resolved.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use setveil::io::{Format, ReadOptions};

/// The folder.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    root: PathBuf,
}

/// What can be done with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A folder to look into.
    Folder,
    /// A release.
    Release,
    /// Data of this format, by its name.
    Data(&'static str),
    /// Something else, which may be data too.
    Other,
}

/// Something in the folder.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Its name.
    pub(crate) name: String,
    /// Its path from the folder on.
    pub(crate) path: String,
    pub(crate) kind: Kind,
    pub(crate) bytes: u64,
}

/// What a folder holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    /// Folders first, then by name.
    pub(crate) entries: Vec<Entry>,
    /// How many there are beyond those listed.
    pub(crate) more: usize,
}

/// So many entries are listed.
const LISTED: usize = 500;

impl Folder {
    /// The folder at `root`.
    pub(crate) fn new(root: &Path) -> io::Result<Self> {
        let root = fs::canonicalize(root)?;
        if !root.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "this is not a folder"));
        }
        Ok(Self { root })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The real place of something that exists; none if it is outside, or is not there.
    pub(crate) fn existing(&self, path: &str) -> Option<PathBuf> {
        let real = fs::canonicalize(self.inside(path)?).ok()?;
        real.starts_with(&self.root).then_some(real)
    }

    /// The place of something to be written: its folder must exist inside, and it
    /// must be no link that leads outside.
    pub(crate) fn new_place(&self, path: &str) -> Option<PathBuf> {
        let plain = self.inside(path)?;
        let name = plain.file_name()?.to_owned();
        if name.to_str()?.starts_with('.') || plain == self.root {
            return None;
        }
        let parent = fs::canonicalize(plain.parent()?).ok()?;
        let place = parent.join(name);
        // A link is not followed: what it leads to is replaced by nobody.
        let link = fs::symlink_metadata(&place).is_ok_and(|found| found.is_symlink());
        (parent.starts_with(&self.root) && !link).then_some(place)
    }

    /// The path from the folder on, for people and forms.
    pub(crate) fn shown(&self, real: &Path) -> String {
        let inside = real.strip_prefix(&self.root).unwrap_or(real);
        inside.to_string_lossy().into_owned()
    }

    /// A path without anything that climbs or starts anew.
    fn inside(&self, path: &str) -> Option<PathBuf> {
        let plain = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
        let path = Path::new(path);
        let clean = path.components().all(plain) && !path.to_string_lossy().contains('\0');
        clean.then(|| self.root.join(path))
    }

    /// What stands in the folder `path`, hidden things and links that lead outside left out.
    pub(crate) fn list(&self, path: &str) -> Option<Listing> {
        let folder = self.existing(path).filter(|folder| folder.is_dir())?;
        let mut entries: Vec<Entry> =
            fs::read_dir(&folder).ok()?.flatten().filter_map(|e| self.entry(path, &e)).collect();
        entries.sort_by(|a, b| {
            (a.kind != Kind::Folder, &a.name).cmp(&(b.kind != Kind::Folder, &b.name))
        });
        let more = entries.len().saturating_sub(LISTED);
        entries.truncate(LISTED);
        Some(Listing { entries, more })
    }

    fn entry(&self, folder: &str, found: &fs::DirEntry) -> Option<Entry> {
        let name = found.file_name().to_str()?.to_owned();
        if name.starts_with('.') {
            return None;
        }
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let real = self.existing(&path)?;
        let about = fs::metadata(&real).ok()?;
        let kind = match about.is_dir() {
            true if real.join("manifest.json").is_file() => Kind::Release,
            true => Kind::Folder,
            false if !about.is_file() => return None,
            false => match Format::of(Path::new(&name), &ReadOptions::default()) {
                Ok(format) => Kind::Data(format.name()),
                Err(_) => Kind::Other,
            },
        };
        Some(Entry { name, path, kind, bytes: about.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_is_reached() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("root"), dir.path().join("outside"));
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(root.join("sub/a.csv"), "a\n").unwrap();
        fs::write(outside.join("secret.csv"), "s\n").unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&outside, root.join("way-out")).unwrap();
            std::os::unix::fs::symlink(outside.join("secret.csv"), root.join("link.csv")).unwrap();
            std::os::unix::fs::symlink(root.join("sub"), root.join("inner")).unwrap();
        }
        let folder = Folder::new(&root).unwrap();
        assert!(folder.existing("sub/a.csv").is_some());
        for path in [
            "../outside/secret.csv",
            "sub/../../outside/secret.csv",
            "way-out/secret.csv",
            "link.csv",
            "/etc/passwd",
            "sub/\0",
            "absent.csv",
        ] {
            assert_eq!(folder.existing(path), None, "{path}");
        }
        for path in
            ["../new", "way-out/new", "link.csv", "/tmp/new", ".hidden", "", "no/such", "sub/.x"]
        {
            assert_eq!(folder.new_place(path), None, "{path}");
        }
        assert!(folder.new_place("sub/new").is_some() && folder.new_place("inner/new").is_some());
        let names: Vec<String> =
            folder.list("").unwrap().entries.into_iter().map(|e| e.name).collect();
        assert_eq!(names, ["inner", "sub"]);
        assert!(folder.list("..").is_none() && folder.list("way-out").is_none());
    }
}
