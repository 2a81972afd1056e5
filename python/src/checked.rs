//! A release in several files, asked file by file on many machines.
//!
//! A file of clusters is a release by itself for whoever counts (`alone`), and
//! a part of one for whoever verifies.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use setveil::io::MemoryRelease;
use setveil::measure::InChunks;
use setveil::workflow::{self, CheckedFile};

use crate::errors;
use crate::release::{Release, json};
use crate::run::Manner;

/// Names and bytes of files.
pub fn files_of(files: &Bound<'_, PyDict>) -> PyResult<MemoryRelease> {
    let mut all = BTreeMap::new();
    for (name, bytes) in files {
        all.insert(name.extract::<String>()?, bytes.cast::<PyBytes>()?.as_bytes().to_vec());
    }
    Ok(MemoryRelease::new(all))
}

/// Checks one file of clusters: `files` has it and the manifest. What was found and the labels, for `verify_files`.
#[pyfunction]
pub fn verify_file<'py>(
    files: &Bound<'py, PyDict>,
    name: &str,
    manner: &Manner,
) -> PyResult<(Bound<'py, PyBytes>, Vec<String>)> {
    let (py, memory) = (files.py(), files_of(files)?);
    let (bytes, labels) = manner.run(py, |progress| {
        let mut checked = workflow::verify_file(&memory, name, progress)?;
        let labels = checked.take_labels();
        Ok((checked.to_bytes()?, labels))
    })?;
    Ok((PyBytes::new(py, &bytes), labels.into_iter().map(String::from).collect()))
}

/// The verdict about a release whose files of clusters were checked one by one.
/// `files` has all names, and the bytes of the manifest and of what explains it; `labels` are those of all files.
#[pyfunction]
pub fn verify_files(
    files: &Bound<'_, PyDict>,
    checked: BTreeMap<String, Vec<u8>>,
    labels: Vec<String>,
    manner: &Manner,
) -> PyResult<String> {
    let memory = files_of(files)?;
    json(&manner.run(files.py(), |progress| {
        let found = |manifest: &_, name: &str| match checked.get(name) {
            Some(bytes) => CheckedFile::from_bytes(manifest, bytes),
            None => Err(setveil::Error::Infeasible {
                what: format!("nobody has checked {name}"),
                hint: "the manifest lists it: is it there?".into(),
            }),
        };
        workflow::verify_files(
            &memory,
            labels.into_iter().map(String::into_boxed_str),
            found,
            progress,
        )
    })?)
}

/// What stands in the chunks of a release: how many pairs, and which items.
#[pyfunction]
pub fn in_chunks(release: &Release) -> PyResult<(u64, Vec<String>)> {
    let found = InChunks::of(&release.release);
    let found = found.ok_or_else(|| errors::data("the release has no chunks"))?;
    Ok((found.pairs, found.items.into_iter().collect()))
}

/// `tlost` and `pairs_kept` of what stands in chunks, as JSON, for an original
/// with these supports and so many pairs in its records.
#[pyfunction]
pub fn evaluate_chunks(
    pairs: u64,
    items: Vec<String>,
    supports: BTreeMap<String, u64>,
    original_pairs: u64,
    k: u32,
) -> PyResult<String> {
    let chunks = InChunks { pairs, items: items.into_iter().collect() };
    let supports = supports.iter().map(|(label, &support)| (label.as_str(), support));
    json(&chunks.evaluation(supports, original_pairs, k))
}
