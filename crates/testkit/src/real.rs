//! The public data sets, where they are present.

use std::path::PathBuf;

/// The path of a file in `SETVEIL_DATA` (by default `../shared/data` beside
/// the project), or none, with a message, where it is absent: the test that
/// asked should return.
#[allow(clippy::print_stderr)]
pub fn data_file(name: &str) -> Option<PathBuf> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let folder = std::env::var_os("SETVEIL_DATA")
        .map_or_else(|| PathBuf::from(root).join("../shared/data"), PathBuf::from);
    let path = folder.join(name);
    if path.exists() {
        Some(path)
    } else {
        eprintln!("skipped: {} is absent (SETVEIL_DATA names the folder)", path.display());
        None
    }
}
