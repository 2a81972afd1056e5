//! The measures: what a release is still good for, compared with the
//! original. One file a measure; the definitions are in `docs/measures.md`.

mod associations;
mod comparison;
mod in_files;
pub mod kl;
pub mod ncp;
mod original;
mod pairs;
mod relative_error;
mod tlost;
mod top_k_deviation;

use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use associations::{Associations, Question, associations};
pub use comparison::{Comparison, chunks};
pub use in_files::{InChunks, pairs_of};
pub use original::check_original;
pub use pairs::{pairs_kept, pairs_limit};
pub use relative_error::{re, re_a, re_pairs};
pub use tlost::tlost;
pub use top_k_deviation::{tkd, tkd_ml2};

use crate::data::{Dataset, Hierarchy, Keep};
use crate::error::{Hint, Setting};
use crate::reconstruct::TermOccurrences;
use crate::release::{Body, Model, Release};
use crate::{Error, Progress, Result, Stage};

/// Every measure; none where it does not apply to the method.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
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
    /// Over how many pairs `re` and `re_a` are means.
    pub re_pairs: Option<u64>,
    /// How many of these pairs occur in the original.
    pub re_pairs_occurring: Option<u64>,
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

/// Every measure by its key: which way is better, and what it says.
pub const MEANINGS: &[(&str, &str, &str)] = &[
    ("tkd", "low", "share of the most frequent itemsets that are lost, by reconstruction"),
    ("tkd_a", "low", "the same, counting inside chunks only"),
    ("tkd_ml2", "low", "the same over generalised itemsets of the hierarchy"),
    ("re", "low", "relative error of pair supports (0 to 2), by reconstruction"),
    ("re_a", "low", "the same, counting inside chunks only"),
    ("tlost", "low", "share of frequent terms that stand in no chunk"),
    ("ncp", "low", "how coarse the generalised items are (0 to 1)"),
    ("kl", "low", "divergence of group-by counts of sensitive items"),
    ("anr", "high", "share of frequent pairs that clusters keep associated"),
    ("are", "low", "relative error of associations inside clusters"),
    ("pairs_kept", "high", "share of pair occurrences seen together in one chunk"),
    ("pairs_limit", "", "the most that pairs_kept can be for this k"),
];

/// What the measures depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Options {
    /// How many itemsets `tkd`, `tkd_a` and `tkd_ml2` look at.
    pub top: usize,
    /// The ranks of the terms for `re` and `re_a`; the most frequent has rank 0.
    pub re_range: Range<usize>,
    /// Over how many reconstructions supports are averaged.
    pub reconstructions: NonZeroU32,
    /// Chooses everything that is drawn at random.
    pub seed: u64,
    /// How often reconstructions put a term of a term chunk into its cluster.
    pub terms: TermOccurrences,
    /// For `tkd_ml2`, and for `ncp` in the place of the release's own.
    #[serde(skip)]
    pub hierarchy: Option<Arc<Hierarchy>>,
    /// The sets of items that the release was made to keep together, which no
    /// manifest has: without them clusters cannot be found again.
    #[serde(skip)]
    pub keep: Keep,
    /// The queries of `kl`.
    pub kl: kl::Queries,
}

setters!(Options {
    /// How many itemsets `tkd`, `tkd_a` and `tkd_ml2` look at.
    top: usize,
    /// The ranks of the terms for `re` and `re_a`.
    re_range: Range<usize>,
    /// Over how many reconstructions supports are averaged.
    reconstructions: NonZeroU32,
    /// Chooses everything that is drawn at random.
    seed: u64,
    /// How often reconstructions put a term of a term chunk into its cluster.
    terms: TermOccurrences,
    /// For `tkd_ml2`, and for `ncp` in the place of the release's own.
    hierarchy: Option<Arc<Hierarchy>>,
    /// The sets of items that the release was made to keep together.
    keep: Keep,
    /// The queries of `kl`.
    kl: kl::Queries,
});

/// What only the method of a release can tell, so that whoever may see the
/// methods has to say it ([`workflow::evaluate`](crate::workflow::evaluate())
/// does). Measures that need what is not known are left out.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Facts {
    /// For `anr` and `are`: the records of each simple cluster in order
    /// ([`Method::members`](crate::Method::members)).
    pub members: Option<Vec<Vec<u32>>>,
    /// For `kl`: the labels of the sensitive items.
    pub sensitive: Vec<String>,
    /// Whether the names of leaves were left out of the published hierarchy.
    pub hides_leaves: bool,
}

setters!(Facts {
    /// The records of each simple cluster in order.
    members: Option<Vec<Vec<u32>>>,
    /// The labels of the sensitive items.
    sensitive: Vec<String>,
    /// Whether the names of leaves were left out of the published hierarchy.
    hides_leaves: bool,
});

impl Default for Options {
    fn default() -> Self {
        Self {
            top: 1000,
            re_range: 200..220,
            reconstructions: NonZeroU32::MIN,
            seed: 0,
            terms: TermOccurrences::default(),
            hierarchy: None,
            keep: Keep::default(),
            kl: kl::Queries::default(),
        }
    }
}

/// Computes every measure that applies.
///
/// # Errors
/// If no data set fits the release, or it holds items that `original` does not.
pub fn evaluate(
    release: &Release,
    original: &Dataset,
    options: &Options,
    facts: &Facts,
    progress: &dyn Progress,
) -> Result<Evaluation> {
    // What can be wrong is said before the work that takes long.
    let penalty = penalty(release, original, options.hierarchy.as_deref(), facts)?;
    let comparison = Comparison::new(release, original, options, progress)?;
    progress.stage(Stage::Measuring, None);
    let mut evaluation = Evaluation { ncp: penalty, ..Evaluation::default() };
    (evaluation.tkd, evaluation.tkd_a) = tkd(&comparison, progress)?;
    evaluation.tkd_ml2 = tkd_ml2(&comparison, progress)?;
    evaluation.re = re(&comparison);
    evaluation.re_a = re_a(&comparison);
    let (pairs, occurring) = re_pairs(&comparison);
    (evaluation.re_pairs, evaluation.re_pairs_occurring) = (Some(pairs), Some(occurring));
    evaluation.tlost = tlost(&comparison);
    evaluation.pairs_kept = pairs_kept(&comparison);
    evaluation.pairs_limit = pairs_limit(&comparison, progress)?;
    if let Body::Grouped(body) = &release.body {
        evaluation.kl = kl::kl_divergence(&facts.sensitive, body, original, &options.kl, progress)?;
    }
    if let Some(members) = &facts.members {
        let measured = associations(release, original, members, &Question::default(), progress)?;
        (evaluation.anr, evaluation.are) = (measured.map(|a| a.anr), measured.map(|a| a.are));
    }
    Ok(evaluation)
}

/// NCP of a generalised release; none where noise was added.
fn penalty(
    release: &Release,
    original: &Dataset,
    hierarchy: Option<&Hierarchy>,
    facts: &Facts,
) -> Result<Option<f64>> {
    match (&release.body, &release.manifest.guarantee.model) {
        (_, Model::DifferentialPrivacy { .. }) => Ok(None),
        (Body::Generalized(body), _) => {
            let hidden = |own: &Hierarchy| {
                original.vocabulary().labels().any(|label| own.node(label).is_none())
            };
            if hierarchy.is_none()
                && facts.hides_leaves
                && body.hierarchy.as_ref().is_some_and(hidden)
            {
                return Err(Error::Unknown {
                    what: "the release hides the names of leaves".into(),
                    hint: Hint::of(
                        "name the file of the hierarchy that it was made with: {}",
                        &[Setting::Hierarchy],
                    ),
                });
            }
            ncp::ncp(body, original, hierarchy).map(Some)
        }
        _ => Ok(None),
    }
}
