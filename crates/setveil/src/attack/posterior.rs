//! The probability that an attacker ends up with: for every target, how
//! likely each further item is over all possible worlds.
//!
//! Exact for simple clusters; with shared chunks, `worlds/answers.rs` says
//! what the approximation neglects. The
//! guess is the most probable further item: a release can promise k candidates
//! and still tell with certainty what they have in common.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::report::{LISTED, Level, PosteriorRisk, Report, WorstTarget};
use super::targets::{People, Target, Targets};
use super::{Background, Options};
use crate::data::{ItemId, K, Vocabulary};
use crate::worlds::{BodyWorlds, Posterior};
use crate::{Progress, Result, Stage};

/// From this probability on, an item counts as known.
const CERTAIN: f64 = 0.95;

/// The release's worlds, for both kinds of knowledge.
pub(super) struct Worlds<'a> {
    pub(super) format: BodyWorlds<'a>,
    /// What who knows the algorithm guesses.
    pub(super) guesses: Guesses,
    pub(super) vocabulary: &'a Vocabulary,
}

/// For sets of known items the most probable further item.
pub(super) type Guesses = FxHashMap<Vec<ItemId>, Option<(ItemId, f64)>>;

/// So many attackers beyond the promise are tried: with one and two more items.
const BEYOND: u32 = 2;

/// The best guesses of who knows the algorithm, for all targets of [`examine`].
pub(super) fn guesses(
    algorithm: &BodyWorlds,
    (people, background): (&People, &Background),
    known: u32,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Guesses> {
    let levels = 0..=BEYOND;
    let targets = levels.flat_map(|i| targets(people, background, known, i, options).targets);
    let mut sets: Vec<Vec<ItemId>> = targets.map(|target| target.known).collect();
    sets.sort_unstable();
    sets.dedup();
    progress.stage(Stage::Posteriors, Some(sets.len() as u64));
    sets.into_par_iter()
        .map(|set| {
            progress.step(1)?;
            let best = algorithm.posterior(&set).best();
            Ok((set, best))
        })
        .collect()
}

/// The targets of the attacker who knows `beyond` more items: fewer beyond the promise.
fn targets(
    people: &People,
    background: &Background,
    known: u32,
    beyond: u32,
    options: &Options,
) -> Targets {
    let limit = if beyond == 0 { options.targets } else { options.targets.div_ceil(4) };
    people.targets(background, (known + beyond) as usize, limit, options)
}

/// What was found out about one set of known items.
pub(super) struct Finding {
    pub(super) known: Vec<ItemId>,
    /// The targets of whom this is known.
    pub(super) records: Vec<(Option<usize>, f64)>,
    pub(super) candidates: f64,
    pub(super) upper: u64,
    pub(super) best: Option<(ItemId, f64)>,
    pub(super) best_algorithm: Option<(ItemId, f64)>,
}

/// Examines attackers that know `known`, one more and two more items.
pub(super) fn examine(
    report: &mut Report,
    worlds: &Worlds,
    (people, truth, background): (&People, &People, &Background),
    k: K,
    known: u32,
    options: &Options,
    progress: &dyn Progress,
) -> Result<()> {
    let evaluate = |set: &[ItemId]| {
        let format: Posterior = worlds.format.posterior(set);
        let algorithm = worlds.guesses.get(set).copied().flatten();
        (format.candidates, worlds.format.upper_bound(set), format.best(), algorithm)
    };
    let k = Some(k.get());
    let who = (people, truth, background);
    examine_with(report, worlds.vocabulary, who, k, known, options, progress, &evaluate)
}

/// Candidates, their greatest number, the best guess, the best guess of an
/// attacker who knows the algorithm.
pub(super) type Evaluation = (f64, u64, Option<(ItemId, f64)>, Option<(ItemId, f64)>);

/// [`examine`] for any way to evaluate a set of known items: `people` have the
/// items that can be known, `truth` all of them, in the same order.
#[allow(clippy::too_many_arguments)]
pub(super) fn examine_with(
    report: &mut Report,
    vocabulary: &Vocabulary,
    (people, truth, background): (&People, &People, &Background),
    k: Option<u32>,
    known: u32,
    options: &Options,
    progress: &dyn Progress,
    evaluate: &(dyn Fn(&[ItemId]) -> Evaluation + Sync),
) -> Result<()> {
    for beyond in 0..=BEYOND {
        let targets = targets(people, background, known, beyond, options);
        progress.stage(Stage::Posteriors, Some(targets.targets.len() as u64));
        let findings = find(targets.targets, progress, evaluate)?;
        report.levels.push(Level {
            known: known + beyond,
            population: targets.population,
            sampled: targets.sampled,
            ..level(&findings, truth, report.original, targets.sampled, k)
        });
        if beyond == 0 {
            report.worst_targets = worst(&findings, truth, vocabulary, report.original);
        }
    }
    report.set_headline();
    Ok(())
}

fn find(
    mut targets: Vec<Target>,
    progress: &dyn Progress,
    evaluate: &(dyn Fn(&[ItemId]) -> Evaluation + Sync),
) -> Result<Vec<Finding>> {
    targets.sort_by(|a, b| (&a.known, a.record).cmp(&(&b.known, b.record)));
    let runs: Vec<&[Target]> = targets.chunk_by(|a, b| a.known == b.known).collect();
    runs.par_iter()
        .map(|run| {
            progress.step(run.len() as u64)?;
            let (candidates, upper, best, best_algorithm) = evaluate(&run[0].known);
            Ok(Finding {
                known: run[0].known.clone(),
                records: run.iter().map(|t| (t.record, t.weight)).collect(),
                candidates,
                upper,
                best,
                best_algorithm,
            })
        })
        // Nobody in the release can be the target: nothing is learned.
        .filter(|finding| finding.as_ref().is_ok_and(|f| f.upper > 0) || finding.is_err())
        .collect()
}

fn level(
    findings: &[Finding],
    truth: &People,
    original: bool,
    sampled: bool,
    k: Option<u32>,
) -> Level {
    let weight = |f: &Finding| f.records.iter().map(|(_, w)| w).sum::<f64>();
    let total: f64 = findings.iter().map(weight).sum();
    let mean = |value: &dyn Fn(&Finding) -> f64| {
        (total > 0.0).then(|| findings.iter().map(|f| weight(f) * value(f)).sum::<f64>() / total)
    };
    let share = |holds: &dyn Fn(&Finding) -> bool| mean(&|f| f64::from(u8::from(holds(f))));
    let k = k.map(f64::from);
    let smallest = findings.iter().map(|f| f.candidates).reduce(f64::min);
    let risk = |best: fn(&Finding) -> Option<(ItemId, f64)>| {
        risk_of(findings, truth, original, sampled, best)
    };
    Level {
        known: 0,
        targets: findings.iter().map(|f| f.records.len() as u64).sum(),
        population: 0.0,
        sampled,
        below_k: k.and_then(|k| share(&|f| (f.upper as f64) < k)),
        expected_below_k: k.and_then(|k| share(&|f| f.candidates < k)),
        min_candidates: smallest,
        posterior: risk(|f| f.best),
        posterior_algorithm: findings
            .iter()
            .any(|f| f.best_algorithm.is_some())
            .then(|| risk(|f| f.best_algorithm)),
    }
}

fn risk_of(
    findings: &[Finding],
    truth: &People,
    original: bool,
    sampled: bool,
    best: fn(&Finding) -> Option<(ItemId, f64)>,
) -> PosteriorRisk {
    let probability = |f: &Finding| best(f).map_or(0.0, |(_, p)| p);
    let (mut total, mut sum, mut squares, mut certain, mut right, mut n) =
        (0.0, 0.0, 0.0, 0.0, 0.0, 0u64);
    for finding in findings {
        let p = probability(finding);
        for &(record, weight) in &finding.records {
            total += weight;
            sum += weight * p;
            squares += weight * p * p;
            certain += if p >= CERTAIN { weight } else { 0.0 };
            n += 1;
            let hit = best(finding)
                .zip(record)
                .is_some_and(|((item, _), r)| truth.record(r).binary_search(&item).is_ok());
            right += if hit { weight } else { 0.0 };
        }
    }
    if total == 0.0 {
        return PosteriorRisk::default();
    }
    let mean = sum / total;
    let variance = (squares / total - mean * mean).max(0.0);
    PosteriorRisk {
        max: findings.iter().map(probability).reduce(f64::max),
        mean: Some(mean),
        error: Some(if sampled { (variance / n as f64).sqrt() } else { 0.0 }),
        guess_right: original.then_some(right / total),
        certain: Some(certain / total),
    }
}

fn worst(
    findings: &[Finding],
    truth: &People,
    vocabulary: &Vocabulary,
    original: bool,
) -> Vec<WorstTarget> {
    let mut order: Vec<&Finding> = findings.iter().filter(|f| f.best.is_some()).collect();
    // The surest first; among equals those with the fewest candidates.
    order.sort_by(|a, b| {
        let p = |f: &Finding| f.best.map_or(0.0, |(_, p)| p);
        p(b).total_cmp(&p(a))
            .then(a.candidates.total_cmp(&b.candidates))
            .then_with(|| a.known.cmp(&b.known))
    });
    let target = |f: &&Finding| {
        let (item, posterior) = f.best?;
        let record = f.records.iter().find_map(|(record, _)| *record).filter(|_| original);
        Some(WorstTarget {
            known: vocabulary.texts(&f.known),
            item: vocabulary.label(item).to_owned(),
            posterior,
            candidates: f.candidates,
            upper: f.upper,
            right: record.map(|r| truth.record(r).binary_search(&item).is_ok()),
        })
    };
    order.iter().take(LISTED).filter_map(target).collect()
}
