//! One page about a release.

use serde::Serialize;

use crate::measure::{self, Options};
use crate::report::{self, Measured, Risk, UNKNOWN_METHOD};
use crate::verify::Verdict;
use crate::{Dataset, Method, Progress, Release, Result};

/// The page, and what it says first.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Reported {
    /// The page, as HTML.
    #[serde(skip)]
    pub page: String,
    /// Its size.
    pub bytes: usize,
    /// Whether the guarantee holds.
    pub holds: bool,
}

/// Makes the page for a release with its `verdict`. With the `original`, it
/// holds risk before and after, and every measure of
/// [`evaluate`](super::evaluate()).
///
/// # Errors
/// As [`evaluate`](super::evaluate()).
pub fn report(
    release: &Release,
    verdict: &Verdict,
    original: Option<&Dataset>,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Reported> {
    let measured = match original {
        Some(original) => Some(measured(release, original, options, progress)?),
        None => None,
    };
    let in_words = Method::of(&release.manifest).map_or(UNKNOWN_METHOD, |m| m.in_words());
    let page = report::report(release, verdict, measured.as_ref(), in_words);
    Ok(Reported { bytes: page.len(), page, holds: verdict.holds })
}

/// Everything that needs the original.
fn measured(
    release: &Release,
    original: &Dataset,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Measured> {
    let evaluation = super::evaluate(release, original, options, progress)?;
    let profile = crate::profile::profile(original, &Default::default(), progress)?;
    let known = profile.reidentification.len() as u32;
    let after = measure::candidates(release, original, known, options.seed, progress)?;
    let risk = profile.reidentification.iter().zip(after).map(|(before, after)| Risk {
        known: before.known,
        before: before.probability,
        unique: before.unique,
        after,
    });
    Ok(Measured {
        size: (profile.records, profile.items, profile.occurrences),
        evaluation,
        risk: risk.collect(),
    })
}
