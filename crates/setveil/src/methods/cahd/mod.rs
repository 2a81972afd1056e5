//! CAHD: correlation-aware grouping over a band matrix (cahd-2008).
//!
//! The non-sensitive items of every record are published as they are; the
//! sensitive ones are taken out and counted per group. [`rcm`] brings similar
//! records together, and each sensitive record is grouped with the most
//! similar ones nearby.
//!
//! It does not hide that a record is sensitive at all, who is in the data, or
//! any non-sensitive item: see `docs/cahd.md`.

pub mod band;
mod grouping;
mod histogram;
mod rcm;
mod remaining;

use serde::{Deserialize, Serialize};

pub use super::sensitive::{Rows, Split, check_feasible, draw, resolve};
pub use rcm::rcm;

use super::recipe::{Knob, Needs, Outcome, Recipe};
use super::sensitive::{IN_WORDS, ascending, guarantee, publish};
use crate::data::{Alpha, Dataset, P};
use crate::release::Guarantee;
use crate::{Progress, Release, Result, Stage};

/// The parameters of [`anonymize`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Parameters {
    /// The privacy degree.
    pub p: P,
    /// How far to look for similar records: alpha * p on either side.
    #[serde(default = "default_alpha")]
    pub alpha: Alpha,
    /// The labels of the sensitive items.
    #[serde(serialize_with = "ascending")]
    pub sensitive: Vec<String>,
}

impl Parameters {
    /// Degree `p` for these sensitive items, with the paper's alpha of 3.
    pub fn new<S: Into<String>>(p: P, sensitive: impl IntoIterator<Item = S>) -> Self {
        Self {
            p,
            alpha: default_alpha(),
            sensitive: sensitive.into_iter().map(Into::into).collect(),
        }
    }

    /// How far to look for similar records.
    pub fn alpha(self, alpha: Alpha) -> Self {
        Self { alpha, ..self }
    }
}

/// The paper's.
fn default_alpha() -> Alpha {
    Alpha::new(3).expect("3 is in the range")
}

/// The method by its name.
pub(super) struct Method;

impl Recipe for Method {
    type Parameters = Parameters;
    const NAME: &'static str = "cahd";
    const IN_WORDS: &'static str = IN_WORDS;
    const KNOBS: &'static [Knob] = &[Knob::P];

    fn guarantee(parameters: &Parameters) -> Guarantee {
        guarantee(parameters.p)
    }

    fn run(parameters: &Parameters, data: &Dataset, progress: &dyn Progress) -> Result<Outcome> {
        Ok(anonymize(data, parameters, progress)?.into())
    }

    fn sensitive(parameters: &Parameters) -> &[String] {
        &parameters.sensitive
    }

    fn needs(parameters: &mut Parameters) -> Needs<'_> {
        Needs { sensitive: Some(&mut parameters.sensitive), ..Needs::default() }
    }
}

/// Publishes `data` in groups of degree p.
///
/// # Guarantee
/// In every group each sensitive item belongs to at most 1/p of the records,
/// so a person whose non-sensitive items are known is linked to a given
/// sensitive item with probability at most 1/p. The degree holds **per
/// sensitive item**: of p records with p different sensitive items everyone is
/// certain to have one of them. A release exists whenever each sensitive item
/// is in at most 1/p of all records; otherwise the error says which is not.
///
/// # Complexity
/// O(nnz + n log n) for the band matrix and O(alpha * p) records looked at per
/// sensitive record. Memory O(nnz).
///
/// # Deviations
/// Five points of Fig. 8 and two of Fig. 4 are done otherwise: see [`rcm`] and,
/// with reasons, `docs/cahd.md`.
///
/// ```
/// use setveil::{Dataset, data::P, methods::cahd, verify};
/// let data = Dataset::from_records([
///     vec!["wine", "meat", "viagra"], vec!["wine", "meat"], vec!["wine", "meat", "cream"],
///     vec!["meat", "strawberries"], vec!["cream", "strawberries", "pregnancy test"],
/// ]);
/// let parameters = cahd::Parameters::new(P::new(2)?, ["viagra", "pregnancy test"]);
/// let release = cahd::anonymize(&data, &parameters, &())?;
/// assert!(verify::verify(&release, &())?.holds);
/// # Ok::<(), setveil::Error>(())
/// ```
pub fn anonymize(
    data: &Dataset,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Release> {
    let sensitive = resolve(data, &parameters.sensitive)?;
    check_feasible(data, &sensitive, parameters.p)?;
    progress.stage(Stage::Ordering, None);
    let split = Split::new(data, &sensitive, progress)?;
    let order = band_order(&split, data.item_count(), progress)?;
    let (p, alpha) = (parameters.p.get() as usize, parameters.alpha.get());
    let groups = grouping::group(&split, &order, p, alpha as usize, data.item_count(), progress)?;
    publish::<Method>(parameters, data, &split, &groups, progress)
}

/// The rows of `split` in the order of the band matrix. Rows with the same
/// non-sensitive items are one vertex and stay together.
///
/// # Errors
/// If `progress` says stop.
pub fn band_order(split: &Split, columns: usize, progress: &dyn Progress) -> Result<Vec<u32>> {
    let (distinct, starts) = split.distinct();
    let weights: Vec<u32> = starts.windows(2).map(|w| w[1] - w[0]).collect();
    let vertices = rcm(&distinct, &weights, columns, progress)?;
    Ok(vertices.iter().flat_map(|&v| starts[v as usize]..starts[v as usize + 1]).collect())
}
