//! CAHD: correlation-aware grouping over a band matrix (cahd-2008), with
//! groups that do not tell who.
//!
//! The non-sensitive items of every record are published as they are; the
//! sensitive ones are taken out and counted per group. [`rcm`] brings similar
//! records together. The paper then forms groups around sensitive records,
//! which anybody can replay (`as_printed`); [`blind`] divides the records so
//! that the release says no more than the counts of its groups.
//!
//! It does not hide that a record is sensitive at all, who is in the data, or
//! any non-sensitive item: see `docs/cahd.md`.

mod as_printed;
pub mod band;
pub mod blind;
mod parameters;
mod rcm;

use rand::rngs::SysRng;
use rand::{CryptoRng, SeedableRng};
use rand_chacha::ChaCha20Rng;

pub use super::sensitive::{
    Rows, SensitiveOnly, Split, check_feasible, count_sensitive_only, draw, resolve,
    settle_sensitive_only,
};
pub use blind::{Secret, Streams};
pub use parameters::{Grouping, Parameters};
pub use rcm::rcm;

use super::recipe::{Details, Knob, Needs, Outcome, Recipe};
use super::sensitive::{IN_WORDS, guarantee, publish};
use crate::data::Dataset;
use crate::release::Guarantee;
use crate::{Error, Progress, Release, Result, Stage};

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

    /// With shuffles that nobody can draw again.
    fn run(parameters: &Parameters, data: &Dataset, progress: &dyn Progress) -> Result<Outcome> {
        let release = anonymize(data, parameters, &mut generator()?, progress)?;
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

/// A cryptographically secure generator with a key from the system: whoever
/// can guess the key can replay the shuffles.
fn generator() -> Result<ChaCha20Rng> {
    ChaCha20Rng::try_from_rng(&mut SysRng).map_err(|e| Error::Infeasible {
        what: format!("the system gives no random numbers: {e}"),
        hint: "groups that do not tell who need them".into(),
    })
}

/// Publishes `data` in groups of degree p, with randomness from `rng`.
/// [`Method::run`](super::Method::run) takes one that the system seeds.
///
/// # Guarantee
/// In every group each sensitive item belongs to at most 1/p of the records.
/// With [`Grouping::Blind`] also for an attacker who knows this program and
/// its parameters: whoever of a group holds what, the release is equally
/// likely, so it says nothing beyond the counts of the groups. That is a
/// promise about the release and not about the data, where a sensitive item
/// may go with others; it needs an `rng` that nobody can predict, it holds
/// for one release of the same data, and it cannot be checked from the release.
///
/// The degree holds **per sensitive item**: of p records with p different
/// sensitive items everyone is certain to have one of them. Records with
/// sensitive items only are refused or left out. A release exists whenever
/// each sensitive item is in at most 1/p of all records; otherwise the error
/// says which is not.
///
/// With [`Grouping::AsPrinted`] `rng` is not used, and whoever replays the
/// method finds holders.
///
/// # Complexity
/// O(nnz + n log n) for the band matrix. Blind: O(nnz) per level of the
/// recursion, in which the largest count or the part gets smaller; as printed:
/// O(alpha * p) records looked at per sensitive record. Memory O(nnz).
///
/// # Deviations
/// The blind grouping is not the paper's. As printed, five points of Fig. 8
/// and two of Fig. 4 are done otherwise: see [`rcm`] and, with reasons,
/// `docs/cahd.md`.
///
/// ```
/// use rand::{SeedableRng, rngs::SysRng};
/// use rand_chacha::ChaCha20Rng;
/// use setveil::{Dataset, data::P, methods::cahd, verify};
/// let data = Dataset::from_records([
///     vec!["wine", "meat", "viagra"], vec!["wine", "meat"], vec!["wine", "meat", "cream"],
///     vec!["meat", "strawberries"], vec!["cream", "strawberries", "pregnancy test"],
/// ]);
/// let parameters = cahd::Parameters::new(P::new(2)?, ["viagra", "pregnancy test"]);
/// let mut rng = ChaCha20Rng::try_from_rng(&mut SysRng).expect("a source of randomness");
/// let release = cahd::anonymize(&data, &parameters, &mut rng, &())?;
/// assert!(verify::verify(&release, &())?.holds);
/// # Ok::<(), setveil::Error>(())
/// ```
pub fn anonymize<R: CryptoRng>(
    data: &Dataset,
    parameters: &Parameters,
    rng: &mut R,
    progress: &dyn Progress,
) -> Result<Release> {
    anonymize_with(data, parameters, &Streams::new(rng), progress)
}

/// [`anonymize`] with any source of shuffles: to go through all of them, or to
/// show what a known one gives away.
pub fn anonymize_with(
    data: &Dataset,
    parameters: &Parameters,
    secret: &dyn Secret,
    progress: &dyn Progress,
) -> Result<Release> {
    let named = resolve(data, &parameters.sensitive)?;
    let (data, sensitive) = settle_sensitive_only(data, named, parameters.sensitive_only)?;
    check_feasible(&data, &sensitive, parameters.p)?;
    progress.stage(Stage::Ordering, None);
    let split = Split::new(&data, &sensitive, progress)?;
    let order = band_order(&split, data.item_count(), progress)?;
    let (p, columns) = (parameters.p.get() as usize, data.item_count());
    let groups = match parameters.grouping {
        Grouping::Blind => blind::group(&split, order, p, columns, secret, progress)?,
        Grouping::AsPrinted { alpha } => {
            as_printed::group(&split, &order, p, alpha.get() as usize, columns, progress)?
        }
    };
    let published =
        Parameters { sensitive: data.vocabulary().texts(&sensitive), ..parameters.clone() };
    publish::<Method>(&published, &data, &split, &groups, progress)
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
