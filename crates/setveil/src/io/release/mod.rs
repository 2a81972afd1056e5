//! The release directory: written under a temporary name and renamed when it
//! is complete, read back with its checksums compared.
//!
//! A crash never leaves something that looks like a release, and nothing that
//! is not a release is ever replaced. Details: `docs/release-format.md`.

mod bytes;
mod partial;
mod read;
mod write;

use std::fs;
use std::path::Path;

pub use bytes::read_listed;
pub use read::{FileFault, OpenedRelease, open_release, read_release};
pub use write::write_release;

use crate::release::{FORMAT, Manifest, VERSION, VERSION_LOCATED};
use crate::{Error, Result};

const MANIFEST: &str = "manifest.json";
const HIERARCHY: &str = "hierarchy.csv";
const TOTALS: &str = "totals.jsonl";
/// How deep joint clusters may be nested. What reads JSON gives up at 128
/// levels of any kind, and a cluster takes two: nobody's stack is at the mercy
/// of a file.
pub(in crate::io) const MAX_DEPTH: usize = 50;

/// Checks before any work that `dir` can become a release: it does not exist,
/// or it is an earlier release (or empty) and `force` is given.
pub fn check_target(dir: &Path, force: bool) -> Result<()> {
    let occupied = |found: &str, hint: &str| Err(Error::input(dir, None, found, hint));
    match fs::symlink_metadata(dir) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(Error::io(dir, e)),
        Ok(meta) if !meta.is_dir() => {
            occupied("this is a file", "a release is a directory: choose another name")
        }
        Ok(_) => {
            let empty = fs::read_dir(dir).map_err(|e| Error::io(dir, e))?.next().is_none();
            if empty {
                Ok(())
            } else if read_manifest(dir).is_err() {
                occupied(
                    "the directory exists and is not a release",
                    "choose another name; what is no release is never replaced",
                )
            } else if force {
                Ok(())
            } else {
                occupied("the release exists", "choose another name or replace it with --force")
            }
        }
    }
}

fn read_manifest(dir: &Path) -> Result<Manifest> {
    let path = dir.join(MANIFEST);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && dir.exists() => {
            return Err(Error::input(
                dir,
                None,
                "there is no manifest.json here",
                "name the directory that `setveil anonymize` wrote",
            ));
        }
        Err(_) if !dir.exists() => {
            let source = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(Error::io(dir, source));
        }
        Err(e) => return Err(Error::io(path, e)),
    };
    let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|e| {
        let hint = "expected the manifest of a Setveil release, see docs/release-format.md";
        Error::input(&path, Some(e.line() as u64), e.to_string(), hint)
    })?;
    if manifest.format != FORMAT || ![VERSION, VERSION_LOCATED].contains(&manifest.version) {
        return Err(Error::input(
            &path,
            None,
            format!("format {:?}, version {}", manifest.format, manifest.version),
            format!("this program reads {FORMAT:?}, versions {VERSION} and {VERSION_LOCATED}"),
        ));
    }
    Ok(manifest)
}

/// Bytes in hexadecimal.
pub(in crate::io) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
