//! The measures: what a release is still good for, compared with the
//! original. One file a measure; the definitions are in `docs/measures.md`.

mod associations;
pub mod kl;
pub mod ncp;

use serde::Serialize;

pub use associations::{Associations, Question, associations};

use crate::data::{Dataset, Hierarchy};
use crate::release::{Body, Model, Release};
use crate::{Progress, Result};

/// Every measure; none where it does not apply to the method.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// Top-K deviation on a reconstruction (disassociation-2012, equation 2).
    pub tkd: Option<f64>,
    /// Top-K deviation inside chunks only.
    pub tkd_a: Option<f64>,
    /// Top-K deviation over generalised itemsets.
    pub tkd_ml2: Option<f64>,
    /// Relative error of pair supports on a reconstruction (disassociation-2012, equation 3).
    pub re: Option<f64>,
    /// Relative error of pair supports inside chunks only.
    pub re_a: Option<f64>,
    /// Share of frequent terms that stand in no chunk.
    pub tlost: Option<f64>,
    /// Normalized certainty penalty (partition-2009, section 3.2).
    pub ncp: Option<f64>,
    /// KL-divergence of group-by queries (cahd-2008, section II-B).
    pub kl: Option<f64>,
    /// Average item-pair number ratio per cluster (dls-2022, equation 2).
    pub anr: Option<f64>,
    /// Average relative error of the most frequent pairs per cluster (dls-2022, equation 3).
    pub are: Option<f64>,
    /// Share of pair occurrences that stand inside one chunk.
    pub pairs_kept: Option<f64>,
    /// Share of pair occurrences that any release may keep.
    pub pairs_limit: Option<f64>,
}

/// What the measures need to know.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The queries of `kl`.
    pub kl: kl::Queries,
    /// For `anr` and `are`: the records of each simple cluster in order, which
    /// only [`methods::members`](crate::methods::members) can tell.
    pub members: Option<Vec<Vec<u32>>>,
    /// For measures of generalisation, in the place of the release's own.
    pub hierarchy: Option<Hierarchy>,
}

/// Computes every measure that applies.
pub fn evaluate(
    release: &Release,
    original: &Dataset,
    options: &Options,
    _progress: &dyn Progress,
) -> Result<Evaluation> {
    let mut evaluation = Evaluation::default();
    if let Body::Grouped(body) = &release.body {
        evaluation.kl = kl::kl_divergence(&release.manifest, body, original, &options.kl)?;
    }
    if let Some(members) = &options.members {
        let measured = associations(release, original, members, &Question::default());
        (evaluation.anr, evaluation.are) = (measured.map(|a| a.anr), measured.map(|a| a.are));
    }
    evaluation.ncp = penalty(release, original, options.hierarchy.as_ref())?;
    Ok(evaluation)
}

/// NCP of a generalised release; none where noise was added.
fn penalty(
    release: &Release,
    original: &Dataset,
    hierarchy: Option<&Hierarchy>,
) -> Result<Option<f64>> {
    match (&release.body, &release.manifest.guarantee.model) {
        (_, Model::DifferentialPrivacy { .. }) => Ok(None),
        (Body::Generalized(body), _) => ncp::ncp(body, original, hierarchy).map(Some),
        _ => Ok(None),
    }
}
