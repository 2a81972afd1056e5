//! The files of a release as they are, for who compares bytes.

use std::collections::BTreeMap;

use super::explained::{README, SCHEMA};
use super::store::ReleaseSource;
use super::text::read_whole;
use super::{HIERARCHY, MANIFEST};
use crate::release::Manifest;
use crate::{Progress, Result};

/// `manifest.json` as it is.
///
/// # Errors
/// If it cannot be read.
pub fn read_manifest_bytes(source: &dyn ReleaseSource, progress: &dyn Progress) -> Result<Vec<u8>> {
    read_whole(source, MANIFEST, progress)
}

/// The manifest and the listed files that a release can have, by name. What
/// else is listed is a fault that [`open_release_from`](super::open_release_from)
/// reports.
///
/// # Errors
/// If a file cannot be read or does not fit into the budget, or `progress` says stop.
pub fn read_listed(
    source: &dyn ReleaseSource,
    manifest: &Manifest,
    progress: &dyn Progress,
) -> Result<BTreeMap<String, Vec<u8>>> {
    let known = |name: &str| {
        let explains = [HIERARCHY, README, SCHEMA].contains(&name);
        !name.contains(['/', '\\']) && (name.ends_with(".jsonl") || explains)
    };
    let mut files = read_some(source, manifest, &known, progress)?;
    files.insert(MANIFEST.to_owned(), read_whole(source, MANIFEST, progress)?);
    Ok(files)
}

/// The page and the schema of a release, as far as they are listed, by name.
///
/// # Errors
/// As [`read_listed`].
pub fn read_explained(
    source: &dyn ReleaseSource,
    manifest: &Manifest,
    progress: &dyn Progress,
) -> Result<BTreeMap<String, Vec<u8>>> {
    read_some(source, manifest, &|name| [README, SCHEMA].contains(&name), progress)
}

fn read_some(
    source: &dyn ReleaseSource,
    manifest: &Manifest,
    wanted: &dyn Fn(&str) -> bool,
    progress: &dyn Progress,
) -> Result<BTreeMap<String, Vec<u8>>> {
    let listed = manifest.files.iter().map(|file| &file.name).filter(|name| wanted(name));
    listed.map(|name| Ok((name.clone(), read_whole(source, name, progress)?))).collect()
}
