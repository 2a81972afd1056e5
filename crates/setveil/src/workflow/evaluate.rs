//! What a release is still good for, compared with the original.

use super::limits;
use crate::data::Keep;
use crate::measure::{self, Evaluation, Facts, Options, Question};
use crate::{Dataset, Method, Progress, Release, Result};

/// Computes every measure that applies to the method.
///
/// # Errors
/// If `original` cannot be the one that the release was made from, no data set
/// fits the release, or `progress` says stop.
pub fn evaluate(
    release: &Release,
    original: &Dataset,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Evaluation> {
    limits::records(release, progress)?;
    measure::check_original(release, original, progress)?;
    measured(release, original, options, progress)
}

/// The same for an original that was checked.
pub(super) fn measured(
    release: &Release,
    original: &Dataset,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Evaluation> {
    let mut facts = facts(release, original, &options.keep, progress)?;
    // First what needs the records of each cluster: they are not kept beside reconstructions.
    let associated = match facts.members.take() {
        Some(members) => {
            measure::associations(release, original, &members, &Question::default(), progress)?
        }
        None => None,
    };
    let mut evaluation = measure::evaluate(release, original, options, &facts, progress)?;
    (evaluation.anr, evaluation.are) = (associated.map(|a| a.anr), associated.map(|a| a.are));
    Ok(evaluation)
}

/// What the release's method can tell.
fn facts(
    release: &Release,
    original: &Dataset,
    keep: &Keep,
    progress: &dyn Progress,
) -> Result<Facts> {
    let Ok(method) = Method::of(&release.manifest) else { return Ok(Facts::default()) };
    let method = method.with_keep(keep.clone())?;
    Ok(Facts::default()
        .members(method.members(release, original, progress)?)
        .sensitive(method.sensitive().to_vec())
        .hides_leaves(method.hides_leaves()))
}
