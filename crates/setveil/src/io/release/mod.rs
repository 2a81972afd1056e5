//! Releases written and read: to and from a directory or memory, at once or
//! cluster by cluster.
//!
//! A crash never leaves something that looks like a release, and nothing that
//! is not a release is ever replaced (`directory.rs`). What is read is compared
//! with its checksums. Details: `docs/release-format.md`.

#[cfg(feature = "arrow")]
mod arrow;
mod blocks;
mod bytes;
mod clusters;
mod directory;
mod explained;
mod files;
mod read;
mod store;
mod text;
#[cfg(test)]
mod torture;
mod write;

use std::path::Path;

#[cfg(feature = "arrow")]
pub use arrow::ReleaseBatches;
pub use blocks::{ClusterBlock, ClusterBlocks};
pub use bytes::{read_explained, read_listed, read_manifest_bytes};
pub use clusters::{ClusterWriter, write_release_in_files};
pub use directory::{DirectorySink, DirectorySource};
pub use files::FileFault;
pub use read::{OpenedRelease, open_release_from, read_release_from};
pub use store::{MemoryRelease, ReleaseSink, ReleaseSource};
pub use write::{end_release, write_release_to};

use crate::Result;
use crate::release::{Manifest, Release};
use directory::Occupant;

const MANIFEST: &str = "manifest.json";
const HIERARCHY: &str = "hierarchy.csv";
const TOTALS: &str = "totals.jsonl";
/// How deep joint clusters may be nested. What reads JSON gives up at 128
/// levels of any kind, and a cluster takes two: nobody's stack is at the mercy
/// of a file.
pub(in crate::io) const MAX_DEPTH: usize = 50;

/// Checks before any work that `dir` can become a release: it does not exist
/// or is empty, or it is an earlier release and `replace` is given.
pub fn check_target(dir: &Path, replace: bool) -> Result<()> {
    match Occupant::at(dir)? {
        None | Some(Occupant::Empty) => Ok(()),
        Some(Occupant::Release(_)) if replace => Ok(()),
        Some(other) => Err(other.refusal(dir)),
    }
}

/// [`write_release_to`] the directory `dir`.
pub fn write_release(release: &Release, dir: &Path, replace: bool) -> Result<Manifest> {
    write_release_to(release, DirectorySink::new(dir, replace)?, &())
}

/// [`read_release_from`] the directory `dir`.
pub fn read_release(dir: &Path) -> Result<Release> {
    read_release_from(&DirectorySource::new(dir), &())
}

/// [`open_release_from`] the directory `dir`.
pub fn open_release(dir: &Path) -> Result<OpenedRelease> {
    open_release_from(&DirectorySource::new(dir), &())
}

/// Bytes in hexadecimal.
pub(in crate::io) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
