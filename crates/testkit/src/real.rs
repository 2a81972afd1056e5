//! The public data sets, where they are present.
//!
//! A test that lacks its data cannot fail, so nobody must take it for one that
//! passed: it is written to `target/skipped-tests`, which `make test` prints at
//! its end, and where `CI` is `true` it fails.

use std::io::Write;
use std::path::PathBuf;

/// The path of a file in `SETVEIL_DATA` (by default `../shared/data` beside
/// the project), or none where it is absent: the test that asked should return.
///
/// # Panics
/// If the file is absent and the environment says `CI=true`.
pub fn data_file(name: &str) -> Option<PathBuf> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let folder =
        std::env::var_os("SETVEIL_DATA").map_or_else(|| root.join("../shared/data"), PathBuf::from);
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    lacking(&format!("{} is absent (SETVEIL_DATA names the folder)", path.display()));
    None
}

/// Says loudly that the present test lacks something and cannot fail: it should return.
///
/// # Panics
/// If the environment says `CI=true`.
#[allow(clippy::print_stderr)]
pub fn lacking(what: &str) {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let test = std::env::var("NEXTEST_TEST_NAME")
        .unwrap_or_else(|_| std::thread::current().name().unwrap_or("a test").to_owned());
    let skipped = format!("{test}: {what}");
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{skipped}");
    eprintln!("skipped: {skipped}");
    let list = root.join("target/skipped-tests");
    let open = std::fs::OpenOptions::new().create(true).append(true).open(list);
    // One short line in one call: lines of tests that run at once do not mix.
    if let Err(error) = open.and_then(|mut file| file.write_all(format!("{skipped}\n").as_bytes()))
    {
        eprintln!("target/skipped-tests: {error}");
    }
}
