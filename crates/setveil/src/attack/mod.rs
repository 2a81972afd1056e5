//! What an attacker still learns from a release (cover-problem-2016, and
//! beyond it).
//!
//! Three promises hide behind "k^m-anonymous", and this module keeps them
//! apart. [`verify`](crate::verify) decides the **format** guarantee. Here are
//! the other two: the **algorithm** guarantee, which an attacker who knows the
//! method can break although the format guarantee holds ([`cover`],
//! [`algorithm`]), and the **posterior** risk, the probability that the
//! attacker ends up with ([`posterior`]).
//!
//! An attack never proves safety: a cover that is not found, a sample without
//! a breach and a small posterior under one attacker's model all leave other
//! attackers. [`Report::notes`] says so with every result.
//!
//! The module sees releases, and original data only where the caller gives
//! it; it sees no method. The algorithm arrives as a [`Kernel`].

mod adversary;
pub mod algorithm;
pub mod cover;
mod generalized;
mod grouped;
mod kernel;
pub mod limits;
mod located;
pub mod posterior;
mod regroup;
mod replay;
mod report;
mod targets;
mod vulnerable;
mod worlds;

pub use adversary::{Adversary, Background};
pub use kernel::Kernel;
pub use replay::{Alike, Leaf, Program};
pub use report::{
    AlgorithmRisk, Association, Classes, GroupReplay, Level, PosteriorRisk, Report,
    Stage as ReplayStage, TermSupports, WorstTarget,
};

use serde::{Deserialize, Serialize};

use crate::data::{Dataset, K, Keep};
use crate::release::{Body, Disassociated, Release, Supports};
use crate::worlds::{BodyWorlds, Knowledge};
use crate::{Error, Progress, Result, Stage};

/// Who attacks, and how much work the attack may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Options {
    /// The attacker of cover-problem-2016, section 4.
    pub adversary: Adversary,
    /// The share of the records that a moderate attacker knows something about.
    pub share: f64,
    /// For everything that is drawn.
    pub seed: u64,
    /// How many items of the target are known; by default the release's m, or
    /// 2 where it has none. One and two more are tried as well.
    pub known: Option<u32>,
    /// At most so many targets are examined per number of known items. If there
    /// are no more than that, all are, and nothing is drawn.
    pub targets: usize,
    /// Worlds that are enumerated or drawn per cluster for the algorithm-aware
    /// attacker; 0 leaves it out.
    pub worlds: usize,
    /// Clusters that the algorithm-aware attacker looks at.
    pub clusters: usize,
    /// With the original, so often the whole program is replayed at most, and less
    /// often (but twice) where that would be more than forty million items; 0 leaves it out.
    pub replays: usize,
    /// The sets of items that the release was made to keep together, which no
    /// manifest has: without them the method cannot be repeated.
    #[serde(skip)]
    pub keep: Keep,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            adversary: Adversary::Strong,
            share: 0.1,
            seed: 0,
            known: None,
            targets: 400,
            worlds: 200,
            clusters: 50,
            replays: 8,
            keep: Keep::default(),
        }
    }
}

setters!(Options {
    /// The attacker of cover-problem-2016, section 4.
    adversary: Adversary,
    /// The share of the records that a moderate attacker knows something about.
    share: f64,
    /// For everything that is drawn.
    seed: u64,
    /// How many items of the target are known.
    known: Option<u32>,
    /// At most so many targets are examined per number of known items.
    targets: usize,
    /// Worlds per cluster for the algorithm-aware attacker.
    worlds: usize,
    /// Clusters that the algorithm-aware attacker looks at.
    clusters: usize,
    /// How often the whole program is replayed at most, with the original.
    replays: usize,
    /// The sets of items that the release was made to keep together.
    keep: Keep,
});

/// Attacks a release.
///
/// With the `original`, targets are its records and the report counts what
/// really happens to them. Without it, targets are drawn from the release's
/// possible worlds: this is what anybody can compute. The `kernel` lets the
/// algorithm-aware attacker try which worlds the method would have published
/// like this.
///
/// # Complexity
/// Covers: linear in the release. Posteriors: per target, linear in the leaves
/// that can hold the known items and in what these publish.
pub fn attack(
    release: &Release,
    original: Option<&Dataset>,
    options: &Options,
    kernel: &Kernel,
    progress: &dyn Progress,
) -> Result<Report> {
    if !(options.share > 0.0 && options.share < 1.0) {
        return Err(Error::Parameter {
            name: "share",
            found: options.share.to_string(),
            expected: "a number between 0 and 1: a moderate attacker knows some of the records, \
                       not all",
        });
    }
    match &release.body {
        Body::Disassociated(body) => {
            disassociated(release, body, original, options, kernel, progress)
        }
        Body::Generalized(body) => {
            generalized::attack(release, body, original, options, kernel, progress)
        }
        Body::Grouped(body) => grouped::attack(release, body, original, options, kernel, progress),
        Body::Located(body) => located::attack(release, body, original, options, progress),
    }
}

fn disassociated(
    release: &Release,
    body: &Disassociated,
    original: Option<&Dataset>,
    options: &Options,
    kernel: &Kernel,
    progress: &dyn Progress,
) -> Result<Report> {
    let model = &release.manifest.guarantee.model;
    let k = K::new(model.k().unwrap_or(2))?;
    let known = options.known.or(model.m()).unwrap_or(2);
    let algorithm = BodyWorlds::new(body, Knowledge::Algorithm(k), progress)?;
    let people = targets::People::new(original, body, &algorithm, options);
    let background = Background::new(&people, body.vocabulary.len(), known, options);

    let mut report = Report::new(release, options, original.is_some());
    let m = model.m().unwrap_or(2);
    let mut known_covers = Vec::new();
    // A cover speaks of refusals.
    if kernel.refuses() {
        progress.stage(Stage::Covers, Some(body.clusters.len() as u64));
        let (covers, large) = cover::find_counted(body, k, m, progress)?;
        report.printed_total = Some(cover::printed_total(body, &background));
        known_covers = cover::known(&covers, &background);
        report.breached_pairs = Some(known_covers.len() as u64);
        report.breached_pairs_release =
            Some(cover::below_k_everywhere(&known_covers, &covers, body, &algorithm, k, progress)?);
        report.note(cover::NO_COVER_IS_NOT_SAFETY);
        if large {
            report.note(cover::LARGE);
        }
    } else {
        report.note("covers speak of the refusals of VERPART: not looked for with this method");
    }
    let who = (&people, &people, &background);
    let guesses = posterior::guesses(&algorithm, (&people, &background), known, options, progress)?;
    // One kind of worlds after the other: each takes as much memory as the release.
    drop(algorithm);
    let format = BodyWorlds::new(body, Knowledge::Format, progress)?;
    if kernel.refuses() && original.is_some() {
        progress.stage(Stage::Covers, Some(people.len() as u64));
        let who = (&people, &background);
        let count = vulnerable::vulnerable_records(&known_covers, body, who, &format, progress)?;
        report.vulnerable_records = Some(count);
    }
    let worlds = posterior::Worlds { format, guesses, vocabulary: &body.vocabulary };
    posterior::examine(&mut report, &worlds, who, k, known, options, progress)?;
    drop(worlds);
    replayed(&mut report, release, body, (k, m), options, kernel, progress)?;
    Ok(report)
}

/// What replaying the method tells, and what is to be said beside it.
fn replayed(
    report: &mut Report,
    release: &Release,
    body: &Disassociated,
    (k, m): (K, u32),
    options: &Options,
    kernel: &Kernel,
    progress: &dyn Progress,
) -> Result<()> {
    report.items_below_k = Some(algorithm::items_below_k(body, kernel.sensitive()));
    if !kernel.sensitive().is_empty() {
        report.note(kernel::SENSITIVE_TERMS);
    }
    if release.manifest.guarantee.supports == Supports::LowerBound {
        report.note(kernel::SUPPRESSED);
    }
    if kernel.is_known() && options.worlds > 0 {
        progress.stage(Stage::Replaying, Some(options.clusters as u64));
        let risk = algorithm::examine(body, k, m, options, kernel, progress)?;
        report.algorithm = Some(risk);
    }
    match kernel.program() {
        Some(program) if options.replays > 0 && !program.leaves.is_empty() => {
            progress.stage(Stage::Replaying, Some(options.clusters as u64));
            let stages = replay::clusters(program, k.get(), options, progress)?;
            report.algorithm.get_or_insert_default().stages = stages;
        }
        _ => report.note(report::NOT_REPLAYED),
    }
    report.note(report::OTHER_KNOWLEDGE);
    Ok(())
}
