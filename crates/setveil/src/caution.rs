//! What to know about a release before it is handed out, although its promise
//! holds: it is empty, the promise is a weak one, or everybody in a cluster has
//! the same telling item.
//!
//! Everything is found in the release alone, so whoever receives it sees the
//! same. Nothing here is a violation: `verify` decides about those.

mod everybody;

pub use everybody::SeenClusters;

use serde::Serialize;

use crate::data::Vocabulary;
use crate::release::{Body, Manifest, Model, Release, Supports};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Somebody has thought about it: it is said, and changes no verdict.
    Remark,
    /// Think about it before publishing.
    Amber,
    /// Do not publish this.
    Red,
}

/// Something to know about a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Caution {
    /// How bad it is.
    pub severity: Severity,
    /// One word for programs: `empty`, `combinations`, `rows`, `budget`,
    /// `homogeneous` or `risk`.
    pub kind: &'static str,
    /// What it is, in plain words.
    pub what: String,
}

/// What to know about `release`. `sensitive` are the labels that its maker
/// named as sensitive: then only those are looked for in clusters.
pub fn cautions(release: &Release, sensitive: &[String]) -> Vec<Caution> {
    let found = [
        empty(release),
        combinations(&release.manifest),
        rows(release),
        budget(release),
        everybody::homogeneous(release, sensitive),
    ];
    found.into_iter().flatten().collect()
}

fn empty(release: &Release) -> Option<Caution> {
    let records = match &release.body {
        Body::Generalized(body) => body.classes.total(),
        _ => release.manifest.records,
    };
    if records > 0 && !release.body.vocabulary().is_empty() {
        return None;
    }
    let hint = match release.manifest.guarantee.supports {
        Supports::Noisy => ": no count was large enough for its noise; spend a larger epsilon",
        _ => "",
    };
    let what = format!("the release is empty, it publishes no record{hint}");
    Some(Caution { severity: Severity::Red, kind: "empty", what })
}

/// What to know about a release of clusters without sensitive terms that was
/// written block by block.
pub fn cluster_cautions(
    manifest: &Manifest,
    vocabulary: &Vocabulary,
    seen: &SeenClusters,
) -> Vec<Caution> {
    let found = [combinations(manifest), seen.homogeneous(manifest, vocabulary)];
    found.into_iter().flatten().collect()
}

fn combinations(manifest: &Manifest) -> Option<Caution> {
    let (Model::KmAnonymity { m: 1, .. } | Model::FormatKmAnonymity { m: 1, .. }) =
        manifest.guarantee.model
    else {
        return None;
    };
    let what = "nothing is promised about combinations: two items together can single out a \
                person, and the whole record is then read"
        .to_owned();
    Some(Caution { severity: Severity::Amber, kind: "combinations", what })
}

fn rows(release: &Release) -> Option<Caution> {
    let Body::Grouped(_) = &release.body else { return None };
    let what = "ordinary items are published as they are: who knows a few of them finds the \
                person's row and reads the others; only who has which sensitive item is hidden"
        .to_owned();
    Some(Caution { severity: Severity::Amber, kind: "rows", what })
}

/// From this budget on, differential privacy promises next to nothing.
const LARGE_BUDGET: f64 = 10.0;

fn budget(release: &Release) -> Option<Caution> {
    let epsilon = release.manifest.guarantee.model.epsilon().filter(|&e| e > LARGE_BUDGET)?;
    let what = format!(
        "epsilon = {epsilon} promises next to nothing: a single record may make a release \
         e^{epsilon} times as likely; 1 is usual, and more than {LARGE_BUDGET} is not"
    );
    Some(Caution { severity: Severity::Amber, kind: "budget", what })
}
