//! How a release answers: bounds and expectation by the kind of its body, and
//! no more claimed than its supports allow.

use rayon::prelude::*;

use super::affinity::Affinity;
use super::{Answer, classes, groups};
use crate::data::{ItemId, K, Vocabulary};
use crate::reconstruct::TermOccurrences;
use crate::release::{Body, Disassociated, LeavesOut, Model, Release, Supports};
use crate::worlds::{
    Assumptions, BodyWorlds, Factors, Knowledge, LocatedWorlds, Room, item_bounds,
};
use crate::{Error, Progress, Result};

/// Bounds and expectation, before the release's kind of support is considered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Estimate {
    pub(super) lower: u64,
    pub(super) expected: f64,
    pub(super) upper: u64,
}

/// A release that somebody else owns, prepared for many questions.
#[derive(Debug)]
pub(crate) struct Prepared<'a> {
    release: &'a Release,
    body: BodyIndex<'a>,
    /// What is seen of the pairs that are asked for, if that shall count.
    affinity: Option<Affinity>,
}

#[derive(Debug)]
enum BodyIndex<'a> {
    Clusters(BodyWorlds<'a>),
    Classes(classes::Index<'a>),
    Groups(groups::Index<'a>),
    Leaves(LocatedWorlds<'a>),
}

/// What may be claimed of a support that has these bounds in the published body. Some
/// of its items may be `unpublished`, and it may be in records of sensitive items only
/// (`bare`).
fn claimed(
    release: &Release,
    (lower, upper): (u64, u64),
    unpublished: bool,
    bare: bool,
) -> (u64, Option<u64>) {
    let manifest = &release.manifest;
    let rare = u64::from(manifest.guarantee.model.k().unwrap_or(1).saturating_sub(1));
    match (manifest.guarantee.supports, release.leaves_out()) {
        (Supports::Exact, LeavesOut::RareItems) if unpublished => (0, Some(upper.max(rare))),
        // Records of sensitive items only may have held them all.
        (Supports::Exact, LeavesOut::BareRecords) if bare => (lower, None),
        (Supports::Exact, _) => (lower, Some(upper)),
        // Records that keep nothing are not published: there may be more.
        (Supports::LowerBound, _)
            if matches!(manifest.guarantee.model, Model::KmAnonymity { .. }) =>
        {
            (lower, None)
        }
        (Supports::LowerBound, _) => {
            let most = if unpublished { manifest.records.max(rare) } else { manifest.records };
            (lower, Some(most.max(upper)))
        }
        (Supports::Noisy, _) => (0, None),
    }
}

impl<'a> Prepared<'a> {
    /// See [`Index::prepare`](super::Index::prepare).
    pub(crate) fn new(
        release: &'a Release,
        terms: TermOccurrences,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let k = release.manifest.guarantee.model.k();
        let body = match &release.body {
            Body::Disassociated(body) => {
                BodyIndex::Clusters(clusters(body, (terms, Factors::WORLDS), k, None, progress)?)
            }
            Body::Generalized(body) => BodyIndex::Classes(classes::Index::new(body)),
            Body::Grouped(body) => BodyIndex::Groups(groups::Index::new(body)),
            Body::Located(body) => {
                BodyIndex::Leaves(LocatedWorlds::new(body, &|room, _| terms.mean(k, room)))
            }
        };
        Ok(Self { release, body, affinity: None })
    }

    /// The same for questions about some labels only.
    pub(crate) fn about<S: AsRef<str>>(
        release: &'a Release,
        (terms, factors): (TermOccurrences, Factors),
        itemsets: &[Vec<S>],
        progress: &dyn Progress,
    ) -> Result<Self> {
        // What was measured speaks of terms that occur once where nothing else is known.
        let factors = if terms == TermOccurrences::Once { factors } else { Factors::WORLDS };
        let vocabulary = release.body.vocabulary();
        let ids: Vec<Vec<ItemId>> =
            itemsets.iter().filter_map(|labels| itemset(vocabulary, labels)).collect();
        let mut prepared = match &release.body {
            Body::Disassociated(body) => {
                let mut wanted = vec![false; body.vocabulary.len()];
                ids.iter().flatten().for_each(|&id| wanted[id as usize] = true);
                let k = release.manifest.guarantee.model.k();
                let worlds = clusters(body, (terms, factors), k, Some(&wanted), progress)?;
                let body = BodyIndex::Clusters(worlds);
                Self { release, body, affinity: None }
            }
            _ => Self::new(release, terms, progress)?,
        };
        let two = |ids: Vec<ItemId>| <[ItemId; 2]>::try_from(ids).ok().map(|[a, b]| (a, b));
        let pairs: Vec<_> = ids.into_iter().filter_map(two).collect();
        if factors != Factors::WORLDS && !pairs.is_empty() {
            prepared.affinity = Affinity::new(&release.body, pairs, factors, progress)?;
        }
        Ok(prepared)
    }

    /// Answers for a set of labels; repeated ones count once.
    ///
    /// # Errors
    /// If there is no label.
    pub(crate) fn ask<S: AsRef<str>>(&self, labels: &[S]) -> Result<Answer> {
        let mut labels: Vec<&str> = labels.iter().map(AsRef::as_ref).collect();
        labels.sort_unstable();
        labels.dedup();
        if labels.is_empty() {
            return Err(Error::Parameter {
                name: "itemset",
                found: "no item".into(),
                expected: "at least one item, several separated by commas",
            });
        }
        let estimate = self.estimate(&labels);
        Ok(self.qualify(labels, estimate))
    }

    fn estimate(&self, labels: &[&str]) -> Estimate {
        let itemset = match &self.body {
            BodyIndex::Classes(index) => return index.ask(labels),
            BodyIndex::Groups(index) => return index.ask(labels),
            BodyIndex::Clusters(..) | BodyIndex::Leaves(_) => {
                itemset(self.release.body.vocabulary(), labels)
            }
        };
        let Some(itemset) = itemset else { return Estimate::default() };
        let answer = match &self.body {
            BodyIndex::Clusters(worlds) => worlds.answer(&itemset),
            BodyIndex::Leaves(worlds) => worlds.answer(&itemset),
            _ => return Estimate::default(),
        };
        let (lower, expected, upper) = (answer.lower, answer.expected, answer.upper);
        let estimate = Estimate { lower, expected, upper };
        self.affinity.as_ref().map_or(estimate, |affinity| affinity.applied(&itemset, estimate))
    }

    /// The most records that can have all of `labels` (distinct, ascending) in
    /// a data set that fits the published body, suppression and noise aside.
    pub(crate) fn most(&self, labels: &[&str]) -> u64 {
        match &self.body {
            BodyIndex::Clusters(worlds) => itemset(self.release.body.vocabulary(), labels)
                .map_or(0, |itemset| worlds.upper_bound(&itemset)),
            _ => self.estimate(labels).upper,
        }
    }

    /// Answers for many sets of labels, in their order.
    ///
    /// # Errors
    /// If one of them is empty.
    pub(crate) fn ask_all<S: AsRef<str> + Sync>(
        &self,
        itemsets: &[Vec<S>],
        progress: &dyn Progress,
    ) -> Result<Vec<Answer>> {
        // Whoever asks ten thousand questions asks some of them twice.
        let mut order: Vec<usize> = (0..itemsets.len()).collect();
        let labels = |i: usize| itemsets[i].iter().map(AsRef::as_ref);
        order.par_sort_unstable_by(|&a, &b| labels(a).cmp(labels(b)).then(a.cmp(&b)));
        let same: Vec<&[usize]> = order.chunk_by(|&a, &b| labels(a).eq(labels(b))).collect();
        let answer = |same: &&[usize]| {
            progress.step(same.len() as u64)?;
            self.ask(&itemsets[same[0]])
        };
        let distinct: Vec<Answer> = same.par_iter().map(answer).collect::<Result<_>>()?;
        let mut answers: Vec<Option<Answer>> = vec![None; itemsets.len()];
        for (same, answer) in same.iter().zip(distinct) {
            same[1..].iter().for_each(|&i| answers[i] = Some(answer.clone()));
            answers[same[0]] = Some(answer);
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// Claims no more than the release's supports allow.
    fn qualify(&self, labels: Vec<&str>, estimate: Estimate) -> Answer {
        let unknown: Vec<&str> =
            labels.iter().copied().filter(|label| !self.knows(label)).collect();
        let vocabulary = self.release.body.vocabulary();
        let unpublished = labels.iter().any(|label| vocabulary.id(label).is_none());
        let bare = self.may_be_bare(&labels);
        let bounds = (estimate.lower, estimate.upper);
        let (lower, upper) = claimed(self.release, bounds, unpublished, bare);
        Answer {
            itemset: labels.into_iter().map(str::to_owned).collect(),
            lower,
            expected: estimate.expected,
            upper,
            unknown: unknown.into_iter().map(str::to_owned).collect(),
        }
    }

    /// Least and greatest support of every label, in their order; no greatest where
    /// nothing is known. Not narrower than [`ask`](Self::ask), and for clusters found
    /// in one pass.
    ///
    /// # Errors
    /// If `progress` says stop.
    pub(crate) fn item_bounds<'l>(
        release: &'a Release,
        labels: impl Iterator<Item = &'l str>,
        progress: &dyn Progress,
    ) -> Result<Vec<(u64, Option<u64>)>> {
        let Body::Disassociated(body) = &release.body else {
            let index = Self::new(release, TermOccurrences::default(), progress)?;
            let bounds = labels.map(|label| {
                progress.step(0)?;
                index.ask(&[label]).map(|answer| (answer.lower, answer.upper))
            });
            return bounds.collect();
        };
        let bounds = item_bounds(body, progress)?;
        let bound = |label: &str| {
            let id = body.vocabulary.id(label);
            let bounds = id.map_or((0, 0), |id| bounds[id as usize]);
            claimed(release, bounds, id.is_none(), false)
        };
        Ok(labels.map(bound).collect())
    }

    /// Whether a record of sensitive items only can have all of `labels`.
    fn may_be_bare(&self, labels: &[&str]) -> bool {
        match &self.body {
            BodyIndex::Groups(index) => !labels.iter().any(|label| index.is_ordinary(label)),
            _ => false,
        }
    }

    /// Whether the release says anything about an item: by its name, or by one
    /// that its hierarchy puts above it.
    fn knows(&self, label: &str) -> bool {
        let body = &self.release.body;
        let below = match body {
            Body::Generalized(body) => {
                body.hierarchy.as_ref().is_some_and(|h| h.node(label).is_some())
            }
            _ => false,
        };
        below || body.vocabulary().id(label).is_some()
    }
}

/// The items of these labels, ascending; none if one is unknown.
fn itemset<S: AsRef<str>>(vocabulary: &Vocabulary, labels: &[S]) -> Option<Vec<ItemId>> {
    let ids = labels.iter().map(|label| vocabulary.id(label.as_ref()));
    let mut ids = ids.collect::<Option<Vec<ItemId>>>()?;
    ids.sort_unstable();
    ids.dedup();
    Some(ids)
}

/// Bounds over whatever the format allows, and expectations with as many
/// occurrences of terms as a reconstruction gives them.
fn clusters<'a>(
    body: &'a Disassociated,
    (terms, prior): (TermOccurrences, Factors),
    k: Option<u32>,
    wanted: Option<&[bool]>,
    progress: &dyn Progress,
) -> Result<BodyWorlds<'a>> {
    let likely = move |room: Room| match terms {
        TermOccurrences::Any => Knowledge::Format,
        _ => {
            let (size, uncovered) = (room.size as usize, room.uncovered as usize);
            let cap = terms.cap(k, size, uncovered, room.terms as usize) as u32;
            K::new(cap.saturating_add(1)).map_or(Knowledge::Format, Knowledge::Algorithm)
        }
    };
    let assumptions = Assumptions { possible: Knowledge::Format, likely: Box::new(likely), prior };
    BodyWorlds::about(body, assumptions, wanted, progress)
}
