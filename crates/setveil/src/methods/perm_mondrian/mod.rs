//! PermMondrian: Mondrian's top-down partitioning with exact non-sensitive
//! items and counted sensitive ones, the competitor of CAHD in cahd-2008,
//! section V.
//!
//! It gives the same kind of release and the same degree as
//! [`cahd`](super::cahd). It does not promise that knowing the method is of no
//! use.

mod partition;

use serde::{Deserialize, Serialize};

use super::recipe::{Details, Knob, Needs, Outcome, Recipe};
use super::sensitive::{
    IN_WORDS, SensitiveOnly, Split, ascending, check_feasible, guarantee, publish, resolve,
    settle_sensitive_only,
};
use crate::data::{Dataset, P};
use crate::release::Guarantee;
use crate::{Progress, Release, Result};

/// The parameters of [`anonymize`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Parameters {
    /// The privacy degree.
    pub p: P,
    /// The labels of the sensitive items.
    #[serde(serialize_with = "ascending")]
    pub sensitive: Vec<String>,
    /// What happens to records with sensitive items only.
    #[serde(default, skip_serializing_if = "SensitiveOnly::is_default")]
    pub sensitive_only: SensitiveOnly,
}

impl Parameters {
    /// Degree `p` for these sensitive items.
    pub fn new<S: Into<String>>(p: P, sensitive: impl IntoIterator<Item = S>) -> Self {
        let sensitive = sensitive.into_iter().map(Into::into).collect();
        Self { p, sensitive, sensitive_only: SensitiveOnly::default() }
    }

    /// What happens to records with sensitive items only.
    pub fn sensitive_only(self, sensitive_only: SensitiveOnly) -> Self {
        Self { sensitive_only, ..self }
    }
}

/// The method by its name.
pub(super) struct Method;

impl Recipe for Method {
    type Parameters = Parameters;
    const NAME: &'static str = "perm-mondrian";
    const IN_WORDS: &'static str = IN_WORDS;
    const KNOBS: &'static [Knob] = &[Knob::P];

    fn guarantee(parameters: &Parameters) -> Guarantee {
        guarantee(parameters.p)
    }

    fn run(parameters: &Parameters, data: &Dataset, progress: &dyn Progress) -> Result<Outcome> {
        let release = anonymize(data, parameters, progress)?;
        let details = Details::sensitive_only(data.len(), &release);
        Ok(Outcome::new(release, details))
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
/// In every group each sensitive item belongs to at most 1/p of the records.
/// The degree holds **per sensitive item**: of p records with p different
/// sensitive items everyone is certain to have one of them. That is what the
/// format says: a split is allowed or not by who holds what, so whoever
/// replays the method can rule holders out, which
/// [`cahd::anonymize`](super::cahd::anonymize) does not allow.
///
/// # Complexity
/// O(nnz) per level of the splits; a path of splits is never longer than the
/// number of items. Memory O(nnz + items * sensitive items).
///
/// # Deviations
/// cahd-2008 names the heuristic but does not print it. Here a part is split
/// by one non-sensitive item into the records with and without it; allowed
/// are splits that leave both sides at least p records and degree p; of those
/// the one that divides the occurrences of the sensitive items most evenly is
/// taken, then the one that divides the records most evenly, then the item
/// first by text. A part without sensitive records is not split: its items
/// are published exactly either way.
///
/// ```
/// use setveil::{Dataset, data::P, methods::perm_mondrian, verify};
/// let data = Dataset::from_records([
///     vec!["a", "x"], vec!["a"], vec!["a", "b"], vec!["b", "y"], vec!["b", "c"], vec!["c"],
/// ]);
/// let parameters = perm_mondrian::Parameters::new(P::new(2)?, ["x", "y"]);
/// let release = perm_mondrian::anonymize(&data, &parameters, &())?;
/// assert!(verify::verify(&release, &())?.holds);
/// # Ok::<(), setveil::Error>(())
/// ```
pub fn anonymize(
    data: &Dataset,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Release> {
    let named = resolve(data, &parameters.sensitive)?;
    let (data, sensitive) = settle_sensitive_only(data, named, parameters.sensitive_only)?;
    check_feasible(&data, &sensitive, parameters.p)?;
    let split = Split::new(&data, &sensitive, progress)?;
    let p = u64::from(parameters.p.get());
    let groups = partition::partition(&split, p, data.item_count(), progress)?;
    let published =
        Parameters { sensitive: data.vocabulary().texts(&sensitive), ..parameters.clone() };
    publish::<Method>(&published, &data, &split, &groups, progress)
}
