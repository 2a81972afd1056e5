//! Whether a release keeps its promise, its files included.

use std::collections::BTreeMap;

use crate::io::OpenedRelease;
use crate::verify::{self, Files, Verdict, Violation};
use crate::{Progress, Release, Result};

/// Checks a release against its own manifest.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when `progress` says stop, and
/// [`Error::Undecided`](crate::Error::Undecided) when counting would take too long.
pub fn verify(release: &Release, progress: &dyn Progress) -> Result<Verdict> {
    verify::verify(release, progress)
}

/// The same for a release that was read: whatever is wrong with its files is
/// a violation too, and comes first.
///
/// # Errors
/// As [`verify()`](crate::verify::verify).
pub fn check(opened: &OpenedRelease, progress: &dyn Progress) -> Result<Verdict> {
    let faults = opened.faults.iter().map(|fault| Violation {
        r#where: format!("{}: {}", fault.file, fault.what),
        itemset: Vec::new(),
        support: 0,
        required: 0,
        rule: "file",
    });
    Ok(verify(&opened.release, progress)?.with_violations(faults.collect()))
}

/// Where the files of a release, by their names, are not the only bytes that
/// may stand there.
pub fn spelling(release: &Release, files: &BTreeMap<String, Vec<u8>>) -> Vec<Violation> {
    let bytes = |name: &str| files.get(name).map(Vec::as_slice);
    let body: Vec<(&str, &[u8])> = release
        .manifest
        .files
        .iter()
        .filter(|file| file.name.ends_with(".jsonl"))
        .map(|file| (&*file.name, bytes(&file.name).unwrap_or_default()))
        .collect();
    let manifest = bytes("manifest.json").unwrap_or_default();
    let files = Files { manifest, body: &body, hierarchy: bytes("hierarchy.csv") };
    verify::text(release, &files)
}
