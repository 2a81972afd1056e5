//! From data to a release.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;

use super::keep::{self, KeptSet};
use crate::caution::Caution;
use crate::io::LeftOut;
use crate::methods::Details;
use crate::release::{Manifest, Promises, Release};
use crate::{Dataset, Method, Progress, Result};

/// What was made, beside the release itself.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Anonymized {
    /// Where it was written to; none for a release in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<PathBuf>,
    /// The method's name.
    pub method: String,
    /// How many records are published.
    pub records: u64,
    /// How many items are published.
    pub items: u64,
    /// The parameters as they stand in the manifest.
    pub parameters: BTreeMap<String, Value>,
    /// How long it took.
    pub seconds: f64,
    /// What was left out when the data was read; none for data that was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// In how many parts data that lay on a disk was anonymized. Not published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<u64>,
    /// Earlier releases of the same data that receipts tell of: no promise covers
    /// them and this one together.
    #[serde(skip_serializing_if = "is_none")]
    pub earlier_releases: u64,
    /// What is promised against whom, where that is more than the format says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promises: Option<Promises>,
    /// What became of the sets of items that should stay together. Not published.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptSet>,
    /// What was lost, as far as the method counts it.
    #[serde(flatten)]
    pub details: Details,
    /// What to know before the release is handed out.
    pub cautions: Vec<Caution>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Anonymized {
    pub(super) fn new(
        release: &Release,
        manifest: &Manifest,
        details: Details,
        start: Instant,
    ) -> Self {
        Self::with_cautions(manifest, details, super::cautions(release), start)
    }

    pub(super) fn with_cautions(
        manifest: &Manifest,
        details: Details,
        cautions: Vec<Caution>,
        start: Instant,
    ) -> Self {
        Self {
            release: None,
            method: manifest.method.clone(),
            records: manifest.records,
            items: manifest.items,
            parameters: manifest.parameters.clone(),
            seconds: start.elapsed().as_secs_f64(),
            left_out: None,
            parts: None,
            earlier_releases: 0,
            promises: manifest.promises(),
            kept: Vec::new(),
            details,
            cautions,
        }
    }
}

/// Makes a release of `data` in memory. Nothing is checked: see
/// [`verify`](super::verify()).
///
/// # Errors
/// As [`Method::run`].
pub fn anonymize(
    data: &Dataset,
    method: &Method,
    progress: &dyn Progress,
) -> Result<(Release, Anonymized)> {
    let start = Instant::now();
    let outcome = method.run(data, progress)?;
    let release = Arc::new(outcome.release);
    let kept = keep::kept(&method.keep(), data, &release, progress)?;
    let mut answer = Anonymized::new(&release, &release.manifest, outcome.details, start);
    answer.kept = kept;
    Ok((Arc::unwrap_or_clone(release), answer))
}
