//! A release, and what its maker and its recipient do with it.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};
use serde::Serialize;
use setveil::caution::Caution;
use setveil::data::Keep;
use setveil::io::{self, DirectorySink, FlatFormat, MemoryRelease};
use setveil::report::About;
use setveil::verify::Verdict;
use setveil::workflow::{self, ItemsetOptions, QueryOptions, ReconstructOptions, files};
use setveil::{Error, attack, measure};

use crate::checked::files_of;
use crate::dataset::Dataset;
use crate::hierarchy::Hierarchy;
use crate::layout::parse;
use crate::run::Manner;
use crate::{capsule, errors, tables};

/// A result as JSON.
pub fn json(result: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(result).map_err(|e| errors::options(&e))
}

/// Names and bytes of files.
pub fn dict_of(py: Python<'_>, memory: MemoryRelease) -> PyResult<Bound<'_, PyDict>> {
    let files = PyDict::new(py);
    for (name, bytes) in memory.files {
        files.set_item(name, PyBytes::new(py, &bytes))?;
    }
    Ok(files)
}

/// Sets of items that shall stay together, each with its weight.
pub type KeptSets = Vec<(Vec<String>, u32)>;

/// The library's list of them.
pub fn keep(py: Python<'_>, sets: KeptSets) -> PyResult<Keep> {
    Keep::new(sets).map_err(|e| errors::raise(py, &e))
}

/// A verdict, and what to know about a release although its promise holds.
#[derive(Serialize)]
pub struct Verified {
    #[serde(flatten)]
    verdict: Verdict,
    cautions: Vec<Caution>,
    /// Why nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    cautions_missing: Option<String>,
}

impl Verified {
    /// A release that broke its promise needs no further caution, and one that
    /// does not fit into memory is verified without it.
    pub fn new(
        verdict: Verdict,
        release: impl FnOnce() -> setveil::Result<Arc<setveil::Release>>,
    ) -> setveil::Result<Self> {
        let (cautions, cautions_missing) = match verdict.holds.then(release) {
            None => (Vec::new(), None),
            Some(Ok(release)) => (workflow::cautions(&release), None),
            Some(Err(Error::Cancelled)) => return Err(Error::Cancelled),
            Some(Err(error)) => (Vec::new(), Some(errors::say(&error))),
        };
        Ok(Self { verdict, cautions, cautions_missing })
    }
}

/// What is published.
#[pyclass(frozen, module = "setveil._setveil")]
pub struct Release {
    pub release: Arc<setveil::Release>,
}

impl Release {
    pub fn new(release: setveil::Release) -> Self {
        Self { release: Arc::new(release) }
    }
}

/// The measures' options, with what JSON does not hold.
fn measures(
    options: &str,
    hierarchy: Option<&Hierarchy>,
    keep: Keep,
) -> PyResult<measure::Options> {
    let options: measure::Options = parse(options)?;
    Ok(options.hierarchy(hierarchy.map(|h| h.tree.clone())).keep(keep))
}

#[pymethods]
impl Release {
    /// Reads a directory; one whose files differ from its manifest is refused.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, manner: &Manner) -> PyResult<Self> {
        errors::there(py, &path)?;
        manner.run(py, |progress| files::read(&path, progress)).map(Self::new)
    }

    /// A release from names and bytes of its files.
    #[staticmethod]
    fn from_files(files: &Bound<'_, PyDict>, manner: &Manner) -> PyResult<Self> {
        let memory = files_of(files)?;
        manner.run(files.py(), |progress| io::read_release_from(&memory, progress)).map(Self::new)
    }

    /// Names and bytes of the files.
    fn files<'py>(&self, py: Python<'py>, manner: &Manner) -> PyResult<Bound<'py, PyDict>> {
        let memory = manner.run(py, |progress| {
            let mut memory = MemoryRelease::default();
            io::write_release_to(&self.release, &mut memory, progress)?;
            Ok(memory)
        })?;
        dict_of(py, memory)
    }

    /// Writes the directory, and gives the manifest as JSON.
    #[pyo3(signature = (path, force, file_size, manner))]
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        force: bool,
        file_size: Option<u64>,
        manner: &Manner,
    ) -> PyResult<String> {
        json(&manner.run(py, |progress| {
            let sink = DirectorySink::new(&path, force)?;
            match file_size {
                None => io::write_release_to(&self.release, sink, progress),
                Some(bytes) => io::write_release_in_files(&self.release, sink, bytes, progress),
            }
        })?)
    }

    /// The manifest as JSON; it lists files only if the release was read.
    fn manifest(&self) -> PyResult<String> {
        json(&self.release.manifest)
    }

    /// The names of all items.
    fn labels(&self) -> Vec<String> {
        self.release.body.vocabulary().labels().map(str::to_owned).collect()
    }

    /// Decides the guarantee.
    fn verify(&self, py: Python<'_>, manner: &Manner) -> PyResult<String> {
        json(&manner.run(py, |progress| {
            let verdict = workflow::verify(&self.release, progress)?;
            Verified::new(verdict, || Ok(self.release.clone()))
        })?)
    }

    /// What an attacker learns.
    #[pyo3(signature = (original, options, kept, manner))]
    fn attack(
        &self,
        py: Python<'_>,
        original: Option<&Dataset>,
        options: &str,
        kept: KeptSets,
        manner: &Manner,
    ) -> PyResult<String> {
        let options = parse::<attack::Options>(options)?.keep(keep(py, kept)?);
        let original = original.map(Dataset::data);
        let work = |progress: &dyn setveil::Progress| {
            workflow::attack(&self.release, original, &options, progress)
        };
        json(&manner.run(py, work)?)
    }

    /// What it is still good for.
    #[pyo3(signature = (original, options, hierarchy, kept, manner))]
    fn evaluate(
        &self,
        py: Python<'_>,
        original: &Dataset,
        options: &str,
        hierarchy: Option<&Hierarchy>,
        kept: KeptSets,
        manner: &Manner,
    ) -> PyResult<String> {
        let options = measures(options, hierarchy, keep(py, kept)?)?;
        let original = original.data();
        let work = |progress: &dyn setveil::Progress| {
            workflow::evaluate(&self.release, original, &options, progress)
        };
        json(&manner.run(py, work)?)
    }

    /// In how many records items stand together.
    fn query(
        &self,
        py: Python<'_>,
        itemsets: Vec<Vec<String>>,
        options: &str,
        manner: &Manner,
    ) -> PyResult<String> {
        let options: QueryOptions = parse(options)?;
        let work = |progress: &dyn setveil::Progress| {
            workflow::query(&self.release, &itemsets, &options, progress)
        };
        json(&manner.run(py, work)?)
    }

    /// Every item with its bounds.
    fn items(&self, py: Python<'_>, options: &str, manner: &Manner) -> PyResult<String> {
        let options: QueryOptions = parse(options)?;
        json(&manner.run(py, |progress| workflow::items(&self.release, &options, progress))?)
    }

    /// The most frequent itemsets with bounds, and rules between them.
    fn itemsets(&self, py: Python<'_>, options: &str, manner: &Manner) -> PyResult<String> {
        let options: ItemsetOptions = parse(options)?;
        json(&manner.run(py, |progress| workflow::itemsets(&self.release, &options, progress))?)
    }

    /// Writes flat tables, CSV or Parquet.
    fn export(
        &self,
        py: Python<'_>,
        path: PathBuf,
        parquet: bool,
        force: bool,
        manner: &Manner,
    ) -> PyResult<String> {
        let format = if parquet { FlatFormat::Parquet } else { FlatFormat::Csv };
        let work = |progress: &dyn setveil::Progress| {
            files::export(&self.release, format, &path, force, progress)
        };
        json(&manner.run(py, work)?)
    }

    /// Draws possible data set number `number`, the same for any number of them.
    fn reconstruct(
        &self,
        py: Python<'_>,
        number: u32,
        options: &str,
        manner: &Manner,
    ) -> PyResult<Dataset> {
        let options: ReconstructOptions = parse(options)?;
        let drawn = manner.run(py, |progress| {
            workflow::reconstruct_one(&self.release, &options, number, progress)
        })?;
        Ok(Dataset::of(drawn))
    }

    /// The page about the release, and what it says first.
    #[pyo3(signature = (original, about, no_sensitive, options, hierarchy, kept, manner))]
    #[allow(clippy::too_many_arguments, reason = "they come from keyword arguments")]
    fn report(
        &self,
        py: Python<'_>,
        original: Option<&Dataset>,
        about: [Option<String>; 4],
        no_sensitive: bool,
        options: &str,
        hierarchy: Option<&Hierarchy>,
        kept: KeptSets,
        manner: &Manner,
    ) -> PyResult<(String, String)> {
        let options = measures(options, hierarchy, keep(py, kept)?)?;
        let original = original.map(Dataset::data);
        let [title, data_set, date, responsible] = about;
        let about = About::default().title(title).data_set(data_set);
        let about = about.date(date).responsible(responsible).no_sensitive(no_sensitive);
        let reported = manner.run(py, |progress| {
            let verdict = workflow::verify(&self.release, progress)?;
            workflow::report(&self.release, &verdict, original, &about, &options, progress)
        })?;
        Ok((json(&reported)?, reported.page))
    }

    /// The rows as a stream of Arrow record batches.
    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let rows = tables::Rows::new(self.release.clone());
        let rows = rows.map_err(|e| errors::raise(py, &e))?;
        capsule::write(py, Box::new(rows))
    }
}
