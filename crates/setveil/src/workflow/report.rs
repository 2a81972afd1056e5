//! One page about a release.

use serde::Serialize;

use super::limits;
use crate::attack;
use crate::measure::{self, Options};
use crate::report::{self, About, Colour, Measured, Subject, UNKNOWN_METHOD};
use crate::verify::Verdict;
use crate::{Dataset, Method, Progress, Release, Result, risk};

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
    /// The colour of the verdict.
    pub colour: Colour,
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
    about: &About,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Reported> {
    limits::records(release, progress)?;
    let measured = match original {
        Some(original) => Some(measured(release, original, options, progress)?),
        None => None,
    };
    let attack = attack::Options::default().seed(options.seed);
    let attack =
        attack::attack(release, original, &attack, &super::attack::kernel(release)?, progress)?;
    let method = Method::of(&release.manifest).ok();
    let command = method.as_ref().map(|m| super::command(m, "DATA", "RELEASE"));
    let cautions = super::cautions(release);
    let subject = Subject {
        release,
        verdict,
        cautions: &cautions,
        attack: &attack,
        measured: measured.as_ref(),
        in_words: method.as_ref().map_or(UNKNOWN_METHOD, |m| m.in_words()),
        sensitive: method.as_ref().map_or(&[], |m| m.sensitive()),
        command: command.as_deref(),
    };
    let page = report::report(&subject, about);
    let colour = Colour::of(verdict, &cautions);
    Ok(Reported { bytes: page.len(), page, holds: verdict.holds, colour })
}

/// Everything that needs the original.
fn measured(
    release: &Release,
    original: &Dataset,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Measured> {
    measure::check_original(release, original, progress)?;
    let evaluation = super::measured(release, original, options, progress)?;
    let played = risk::Options::default().known(super::risk::known(release)).seed(options.seed);
    let risk = super::risk::played(release, original, &played, progress)?;
    let size = (original.len(), original.item_count(), original.occurrences().len());
    let size = (size.0 as u64, size.1 as u64, size.2 as u64);
    Ok(Measured { size, evaluation, risk })
}
