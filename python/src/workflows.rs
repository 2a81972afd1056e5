//! Workflows that begin with data.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value};
use setveil::data::Keep;
use setveil::error::Setting;
use setveil::inspect::{self, Finding, Findings, Kind, Severity};
use setveil::io::DirectorySource;
use setveil::workflow::compare::{Options as CompareOptions, Store, csv, figure};
use setveil::workflow::files::{Original, Target};
use setveil::workflow::recommend::Options as RecommendOptions;
use setveil::workflow::{self, Anonymized, files};
use setveil::{Method, profile as raw};

use crate::dataset::Dataset;
use crate::errors::{self, keyword};
use crate::hierarchy::Hierarchy;
use crate::layout::{FileLayout, parse};
use crate::release::{KeptSets, Release, Verified, json, keep};
use crate::run::Manner;

/// The names of all methods.
#[pyfunction]
pub fn methods() -> Vec<&'static str> {
    Method::NAMES.to_vec()
}

/// Every measure: its key, which way is better, and what it says.
#[pyfunction]
pub fn measures() -> Vec<(&'static str, &'static str, &'static str)> {
    setveil::measure::MEANINGS.to_vec()
}

/// Size, shape and risk of raw data.
#[pyfunction]
pub fn profile(py: Python<'_>, data: &Dataset, options: &str, manner: &Manner) -> PyResult<String> {
    let options: raw::Options = parse(options)?;
    let profiled = manner.run(py, |progress| {
        let profiled = workflow::profile(data.data(), &options, progress)?;
        let findings = inspect::check(&data.input);
        Ok(profiled.left_out(Some(data.input.left_out())).findings(Some(findings)))
    })?;
    json(&profiled)
}

/// What a caller of a method gives beside the data.
struct Wanted<'a> {
    method: &'a str,
    parameters: Map<String, Value>,
    hierarchy: Option<&'a Hierarchy>,
    universe_from_data: bool,
    keep: Keep,
}

impl Wanted<'_> {
    fn method(self, data: &setveil::Dataset) -> setveil::Result<Method> {
        let mut method = Method::named(self.method, self.parameters)?.with_keep(self.keep)?;
        if let Some(hierarchy) = self.hierarchy {
            method = method.with_hierarchy(hierarchy.tree.clone());
        }
        match method {
            Method::Diffpart(parameters) if self.universe_from_data => {
                Ok(Method::Diffpart(parameters.universe_from_data(data)?))
            }
            method => Ok(method),
        }
    }
}

/// The answer of a method, and what to look at.
#[derive(Serialize)]
struct Answer {
    #[serde(flatten)]
    made: Anonymized,
    remarks: Vec<String>,
}

/// Makes a release in memory. Data that looks like identifiers is refused
/// unless it is meant as it is.
#[pyfunction]
#[pyo3(signature = (data, method, parameters, hierarchy, universe_from_data, kept, as_baskets,
                    manner))]
#[allow(clippy::too_many_arguments, reason = "they come from keyword arguments")]
pub fn anonymize(
    py: Python<'_>,
    data: &Dataset,
    method: &str,
    parameters: &str,
    hierarchy: Option<&Hierarchy>,
    universe_from_data: bool,
    kept: KeptSets,
    as_baskets: bool,
    manner: &Manner,
) -> PyResult<(Release, String)> {
    let (parameters, keep) = (parse(parameters)?, keep(py, kept)?);
    let wanted = Wanted { method, parameters, hierarchy, universe_from_data, keep };
    let method = wanted.method(data.data()).map_err(|e| errors::raise(py, &e))?;
    let findings = manner.run(py, |_| Ok(inspect::check(&data.input)))?;
    if findings.refused() && !as_baskets {
        return Err(errors::exception(py, "IdentifierError", &refusal(&findings)));
    }
    let work =
        |progress: &dyn setveil::Progress| workflow::anonymize(data.data(), &method, progress);
    let (release, mut made) = manner.run(py, work)?;
    made.left_out = Some(data.input.left_out());
    let remarks = findings.of(Severity::Remark).map(remark).collect();
    Ok((Release::new(release), json(&Answer { made, remarks })?))
}

/// Makes a release of a file in a directory, as the command line does.
#[pyfunction]
#[pyo3(signature = (source, layout, method, parameters, hierarchy, universe_from_data, kept,
                    output, force, receipt, again, file_size, as_baskets, manner))]
#[allow(clippy::too_many_arguments, reason = "they come from keyword arguments")]
pub fn anonymize_file(
    py: Python<'_>,
    source: PathBuf,
    layout: &str,
    method: &str,
    parameters: &str,
    hierarchy: Option<&Hierarchy>,
    universe_from_data: bool,
    kept: KeptSets,
    output: PathBuf,
    force: bool,
    receipt: Option<PathBuf>,
    again: bool,
    file_size: Option<u64>,
    as_baskets: bool,
    manner: &Manner,
) -> PyResult<String> {
    let layout: FileLayout = parse(layout)?;
    let (parameters, keep) = (parse(parameters)?, keep(py, kept)?);
    let wanted = Wanted { method, parameters, hierarchy, universe_from_data, keep };
    errors::there(py, &source)?;
    let target = Target::new(output).force(force).receipt(receipt).as_baskets(true);
    let target = target.again(again).file_size(file_size);
    enum Made {
        Refused(Findings),
        Done(Box<Answer>),
    }
    let made = manner.run(py, |progress| {
        target.check()?;
        let options = layout.options()?;
        let data = Original { path: &source, options: &options };
        let input = setveil::io::read_dataset(data.path, data.options, progress)?;
        let findings = inspect::check(&input);
        if findings.refused() && !as_baskets {
            return Ok(Made::Refused(findings));
        }
        let method = wanted.method(&input.dataset)?;
        let remarks = input.assumed.iter().map(ToString::to_string);
        let remarks = remarks.chain(input.left_out().describe());
        let remarks = remarks.chain(findings.of(Severity::Remark).map(remark)).collect();
        let made = files::publish(input, &source, &method, &target, progress)?;
        Ok(Made::Done(Box::new(Answer { made, remarks })))
    })?;
    match made {
        Made::Refused(findings) => {
            Err(errors::exception(py, "IdentifierError", &refusal(&findings)))
        }
        Made::Done(answer) => json(&answer),
    }
}

/// Decides the guarantee of a release directory, its files included.
#[pyfunction]
pub fn verify(py: Python<'_>, path: PathBuf, manner: &Manner) -> PyResult<String> {
    errors::there(py, &path)?;
    json(&manner.run(py, |progress| {
        let verdict = workflow::verify_from(&DirectorySource::new(&path), progress)?;
        Verified::new(verdict, || files::read(&path, progress).map(Arc::new))
    })?)
}

/// Finished settings, kept in a Python mapping of texts to bytes.
struct Kept<'a>(Option<&'a Py<PyAny>>);

impl Store for Kept<'_> {
    fn load(&mut self, name: &str) -> Option<Vec<u8>> {
        let kept = self.0?;
        Python::attach(|py| kept.bind(py).get_item(name).ok()?.extract().ok())
    }

    fn save(&mut self, name: &str, finished: &[u8]) -> setveil::Result<()> {
        let Some(kept) = self.0 else { return Ok(()) };
        let saved = Python::attach(|py| kept.bind(py).set_item(name, finished));
        saved.map_err(|e| setveil::Error::io("store", std::io::Error::other(e.to_string())))
    }
}

/// Methods and parameters side by side: JSON, CSV and a picture.
#[pyfunction]
#[pyo3(signature = (data, options, hierarchy, store, manner))]
pub fn compare(
    py: Python<'_>,
    data: &Dataset,
    options: &str,
    hierarchy: Option<&Hierarchy>,
    store: Option<Py<PyAny>>,
    manner: &Manner,
) -> PyResult<(String, String, String)> {
    let mut options: CompareOptions = parse(options)?;
    options.measure = options.measure.hierarchy(hierarchy.map(|h| h.tree.clone()));
    let compared = manner.run(py, |progress| {
        workflow::compare(data.data(), &options, &mut Kept(store.as_ref()), progress)
    })?;
    Ok((json(&compared)?, csv(&compared.rows), figure(&compared.rows, compared.known)))
}

/// Why `anonymize` refuses the data, if it does: figures about it mean little.
#[pyfunction]
pub fn misread(py: Python<'_>, data: &Dataset, manner: &Manner) -> PyResult<Option<String>> {
    let findings = manner.run(py, |_| Ok(inspect::check(&data.input)))?;
    let seen: Vec<String> = findings.of(Severity::Refuse).map(Finding::describe).collect();
    Ok(findings.refused().then(|| {
        format!(
            "this does not look like one set of items a record, and no method takes it: {}; the \
             figures are about the data as it was read",
            seen.join("; ")
        )
    }))
}

/// Searches for the setting that keeps a given risk and loses least.
#[pyfunction]
#[pyo3(signature = (data, options, hierarchy, manner))]
pub fn recommend(
    py: Python<'_>,
    data: &Dataset,
    options: &str,
    hierarchy: Option<&Hierarchy>,
    manner: &Manner,
) -> PyResult<String> {
    let mut options: RecommendOptions = parse(options)?;
    options.measure = options.measure.hierarchy(hierarchy.map(|h| h.tree.clone()));
    json(&manner.run(py, |progress| {
        workflow::recommend::recommend(data.data(), &options, &mut |_| {}, progress)
    })?)
}

/// Why nothing is published, and what is probably meant.
fn refusal(findings: &Findings) -> String {
    let mut text = "this does not look like one set of items a record; nothing was made".to_owned();
    for finding in findings.of(Severity::Refuse) {
        text += &format!("\n  - {}", finding.describe());
    }
    if let Some(suggestion) = &findings.suggestion {
        let settings = [
            (Setting::Id, suggestion.id.clone()),
            (Setting::Item, suggestion.item.clone()),
            (Setting::Items, suggestion.items.clone()),
            (Setting::Split, suggestion.split.map(String::from)),
        ];
        let named = settings.into_iter().filter_map(|(setting, value)| {
            let keyword = keyword(setting);
            value.map(|value| format!("{}{value:?}", keyword.trim_matches('`')))
        });
        let named: Vec<String> = named.collect();
        if !named.is_empty() {
            text += &format!("\n  probably meant: {}", named.join(", "));
        }
    }
    text + &format!("\n  to publish it as it was read, give {}", "`as_baskets=True`")
}

/// One finding, with what helps.
fn remark(finding: &Finding) -> String {
    let text = finding.describe();
    let help = match finding.kind {
        Kind::CaseVariants => Setting::FoldCase,
        Kind::AccentVariants | Kind::BlankVariants => Setting::Normalize,
        _ => return text,
    };
    format!("{text} ({} of `setveil.read` makes them one)", keyword(help))
}
