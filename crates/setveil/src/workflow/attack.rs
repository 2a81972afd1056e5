//! What an attacker still learns from a release.

use serde::Serialize;

use super::{limits, replay};
use crate::attack::{self, Kernel, Options, Report};
use crate::data::{ItemId, Keep, L};
use crate::release::{Body, Grouped, Model, Promises};
use crate::risk::{self, Level};
use crate::{Dataset, Method, Progress, Release, Result, measure};

/// The three promises side by side.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Attacked {
    /// Algorithm and posterior.
    #[serde(flatten)]
    pub report: Report,
    /// Format.
    pub format: FormatGuarantee,
    /// What is promised against whom, where that is more than the format says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promises: Option<Promises>,
    /// With the original: what an attacker who is played out achieves, for 1, 2,
    /// ... known items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<Vec<Level>>,
}

/// The format guarantee, beside what the attack says about the other two.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FormatGuarantee {
    /// Whether there is no violation.
    pub holds: bool,
    /// How many there are.
    pub violation_count: u64,
    /// What no release can show.
    pub note: Option<&'static str>,
}

/// Attacks a release, as somebody who knows the program. With the `original`,
/// its records are attacked, and it is counted which guesses are right.
///
/// # Errors
/// If the options are out of their range, or `progress` says stop.
pub fn attack(
    release: &Release,
    original: Option<&Dataset>,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Attacked> {
    match original {
        // Then records are drawn, as many as there are.
        None => limits::records(release, progress)?,
        Some(original) => measure::check_original(release, original, progress)?,
    }
    let mut kernel = kernel(release, &options.keep)?;
    let mut members = None;
    if let Some(original) = original
        && let Some(made) = replay::program(release, original, &options.keep, progress)?
    {
        kernel = kernel.with_program(made.program);
        members = made.members;
    }
    let report = attack::attack(release, original, options, &kernel, progress)?;
    drop(kernel);
    let verdict = super::verify(release, progress)?;
    let format = FormatGuarantee {
        holds: verdict.holds,
        violation_count: verdict.violation_count,
        note: verdict.note,
    };
    let risk = match original {
        Some(original) => Some(played(release, original, members, options, progress)?),
        None => None,
    };
    Ok(Attacked { report, format, promises: verdict.promises, risk })
}

/// Up to two known items more than are asked for, or than the promise speaks of.
fn played(
    release: &Release,
    original: &Dataset,
    members: Option<Vec<Vec<u32>>>,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Vec<Level>> {
    let known = options.known.map_or(super::risk::known(release), |known| known + 2);
    let keep = options.keep.clone();
    let options = risk::Options::default().known(known).seed(options.seed);
    let options = options.keep(keep);
    super::risk::played_by(release, original, members, &options, progress)
}

/// What the method of a release does with one cluster. Nothing is known of a
/// method that the manifest does not name, or whose input need not be a
/// possible data set of the release.
pub(super) fn kernel(release: &Release, keep: &Keep) -> Result<Kernel<'static>> {
    let Ok(method) = Method::of(&release.manifest) else { return Ok(Kernel::unknown()) };
    let method = method.with_keep(keep.clone())?;
    let vocabulary = release.body.vocabulary();
    let mut kernel = match method.cluster_algorithm(vocabulary) {
        Some(algorithm) => {
            let kernel = Kernel::new(algorithm.publish);
            if algorithm.refusals { kernel.with_refusals() } else { kernel }
        }
        None => Kernel::unknown(),
    };
    if let Body::Grouped(body) = &release.body {
        return Ok(regroup(method, body));
    }
    if let Model::FormatKmAnonymity { l: Some(l), .. } = release.manifest.guarantee.model {
        let items = method.sensitive().iter().filter_map(|label| vocabulary.id(label));
        kernel = kernel.with_sensitive(items.collect::<Vec<ItemId>>(), L::new(l)?);
    }
    Ok(kernel)
}

/// What the method makes of all records of a grouped release. Secret
/// randomness is drawn anew in every run: that is all an attacker can do.
fn regroup(method: Method, body: &Grouped) -> Kernel<'static> {
    // A data set with the labels of the release, so that numbers mean the same.
    let all = 0..body.vocabulary.len() as ItemId;
    let labels = Dataset::from_records([all.map(|item| body.vocabulary.label(item))]);
    Kernel::grouped(move |records| {
        let data = labels.with_records(records.iter().map(Vec::as_slice));
        Ok(match method.run(&data, &())?.release.body {
            Body::Grouped(body) => body.groups,
            _ => Vec::new(),
        })
    })
}
