//! Located releases: how many candidates the worlds leave, and how well further
//! items can be guessed.
//!
//! The worlds are those of [`LocatedWorlds`]: listed items without a total are
//! taken to be in one further record of their leaf. What an attacker who knows
//! the method learns beyond that, above all that a pair which is kept nowhere is
//! rare, is not modelled here.

use super::posterior::examine_with;
use super::report::{OTHER_KNOWLEDGE, Report};
use super::targets::People;
use super::{Background, Options};
use crate::data::{Dataset, ItemId};
use crate::reconstruct::{self, reconstruct};
use crate::release::{Located, Release};
use crate::worlds::LocatedWorlds;
use crate::{Progress, Result};

/// What the figures leave out.
const RARE: &str = "not modelled: a combination that is kept nowhere is rare, or was given up for \
    others; who knows the method can tell that it is not frequent";

/// Attacks a located release.
pub(super) fn attack(
    release: &Release,
    body: &Located,
    original: Option<&Dataset>,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Report> {
    let model = &release.manifest.guarantee.model;
    let known = options.known.or(model.m()).unwrap_or(2);
    let worlds = LocatedWorlds::new(body, &|room, _| room.min(1) as f64);
    let drawn;
    let people = match original {
        Some(data) => People::of(data, &body.vocabulary),
        None => {
            let drawing = reconstruct::Options { seed: options.seed, ..Default::default() };
            drawn = reconstruct(release, drawing, 0)?;
            People::of(&drawn, &body.vocabulary)
        }
    };
    let background = Background::new(&people, body.vocabulary.len(), known, options);
    let mut report = Report::new(release, options, original.is_some());
    let evaluate = |set: &[ItemId]| {
        let posterior = worlds.posterior(set);
        (posterior.candidates, worlds.answer(set).upper, posterior.best(), None)
    };
    examine_with(
        &mut report,
        &body.vocabulary,
        (&people, &people, &background),
        model.k(),
        known,
        options,
        progress,
        &evaluate,
    )?;
    report.note("covers speak of the refusals of VERPART: not looked for with this method");
    report.note(RARE);
    report.note(OTHER_KNOWLEDGE);
    Ok(report)
}
