//! The files of a release as they are, for who compares bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{HIERARCHY, MANIFEST};
use crate::release::Manifest;
use crate::{Error, Result};

/// The manifest and the listed files that a release can have, by name. What
/// else is listed is a fault that [`open_release`](super::open_release) reports.
///
/// # Errors
/// If a file cannot be read.
pub fn read_listed(dir: &Path, manifest: &Manifest) -> Result<BTreeMap<String, Vec<u8>>> {
    let listed = manifest.files.iter().map(|file| file.name.as_str());
    let known = |name: &&str| {
        !name.contains(['/', '\\']) && (name.ends_with(".jsonl") || *name == HIERARCHY)
    };
    [MANIFEST]
        .into_iter()
        .chain(listed.filter(known))
        .map(|name| {
            let path = dir.join(name);
            let bytes = fs::read(&path).map_err(|e| Error::io(path, e))?;
            Ok((name.to_owned(), bytes))
        })
        .collect()
}
