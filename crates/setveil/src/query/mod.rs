//! The recipient's questions: in how many records do these items stand
//! together? Answered from the release alone with a lower bound, an expected
//! support and an upper bound.
//!
//! The bounds hold for every data set that fits the release, so the original
//! support lies between them, always. What each kind of release allows:
//!
//! - **Clusters**: bounds over the possible worlds of the format. The expectation is the mean over the worlds
//!   that [`reconstruct`](crate::reconstruct) draws from with the same
//!   [`TermOccurrences`]; exact for simple clusters and for itemsets inside
//!   one chunk, an approximation for others in joint clusters. Both come from
//!   [`worlds`](crate::worlds), as an attacker's do.
//! - **Classes**: a node stands for at least one leaf under it, so a leaf is
//!   certain only where it was not generalised, and possible wherever a node
//!   covers it. The expectation takes one leaf a node, all equally likely.
//! - **Groups**: counts of several items in a group of s records overlap in at
//!   least their sum less (items - 1) s and at most the smallest of them.
//! - **Leaves**: bounds over the possible worlds of the format, with what is
//!   kept, counted, listed and summed up.
//! - Where instances were suppressed ([`Supports::LowerBound`]) nothing
//!   published bounds a support from above but the number of records; with
//!   noise ([`Supports::Noisy`]) there are no bounds at all.

mod classes;
mod groups;
mod located;

use rayon::prelude::*;
use serde::Serialize;

use crate::data::{ItemId, K, Vocabulary};
use crate::reconstruct::TermOccurrences;
use crate::release::{Absent, Body, Disassociated, Model, Release, Supports};
use crate::worlds::{Knowledge, ReleaseWorlds, Room};
use crate::{Error, Progress, Result};

/// What is known about the support of an itemset.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The items that were asked for, ascending.
    pub itemset: Vec<String>,
    /// The original has at least this many records with all of them.
    pub lower: u64,
    /// How many are to be expected.
    pub expected: f64,
    /// The original has at most this many; none where nothing is known.
    pub upper: Option<u64>,
}

/// Bounds and expectation, before the release's kind of support is considered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Estimate {
    lower: u64,
    expected: f64,
    upper: u64,
}

/// A release, prepared for many questions.
#[derive(Debug)]
pub struct Index<'a> {
    release: &'a Release,
    body: BodyIndex<'a>,
}

#[derive(Debug)]
enum BodyIndex<'a> {
    Clusters(&'a Vocabulary, ReleaseWorlds<'a>),
    Classes(classes::Index<'a>),
    Groups(groups::Index<'a>),
    Leaves(located::Index<'a>),
}

impl<'a> Index<'a> {
    /// Prepares `release`.
    ///
    /// # Complexity
    /// Linear in the release. A question then looks only at the clusters,
    /// classes or groups in which all of its items can be.
    pub fn new(release: &'a Release, terms: TermOccurrences) -> Self {
        let k = release.manifest.guarantee.model.k();
        let body = match &release.body {
            Body::Disassociated(body) => {
                BodyIndex::Clusters(&body.vocabulary, clusters(body, terms, k))
            }
            Body::Generalized(body) => BodyIndex::Classes(classes::Index::new(body)),
            Body::Grouped(body) => BodyIndex::Groups(groups::Index::new(body)),
            Body::Located(body) => BodyIndex::Leaves(located::Index::new(body, terms, k)),
        };
        Self { release, body }
    }

    /// Answers for a set of labels; repeated ones count once.
    ///
    /// # Errors
    /// If there is no label.
    pub fn ask<S: AsRef<str>>(&self, labels: &[S]) -> Result<Answer> {
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
        match &self.body {
            BodyIndex::Clusters(vocabulary, worlds) => {
                let ids = labels.iter().map(|label| vocabulary.id(label));
                let Some(mut itemset) = ids.collect::<Option<Vec<ItemId>>>() else {
                    return Estimate::default();
                };
                itemset.sort_unstable();
                let answer = worlds.answer(&itemset);
                Estimate { lower: answer.lower, expected: answer.expected, upper: answer.upper }
            }
            BodyIndex::Classes(index) => index.ask(labels),
            BodyIndex::Groups(index) => index.ask(labels),
            BodyIndex::Leaves(index) => index.ask(labels),
        }
    }

    /// The most records that can have all of `labels` (distinct, ascending) in
    /// a data set that fits the published body, suppression and noise aside.
    pub(crate) fn most(&self, labels: &[&str]) -> u64 {
        self.estimate(labels).upper
    }

    /// Answers for many sets of labels, in their order.
    ///
    /// # Errors
    /// If one of them is empty.
    pub fn ask_all<S: AsRef<str> + Sync>(
        &self,
        itemsets: &[Vec<S>],
        progress: &dyn Progress,
    ) -> Result<Vec<Answer>> {
        let answer = |labels: &Vec<S>| {
            let answer = self.ask(labels)?;
            progress.step(1)?;
            Ok(answer)
        };
        itemsets.par_iter().map(answer).collect()
    }

    /// Claims no more than the release's supports allow.
    fn qualify(&self, labels: Vec<&str>, estimate: Estimate) -> Answer {
        let manifest = &self.release.manifest;
        let unpublished =
            labels.iter().any(|label| self.release.body.vocabulary().id(label).is_none());
        let rare = u64::from(manifest.guarantee.model.k().unwrap_or(1).saturating_sub(1));
        let (lower, upper) = match manifest.guarantee.supports {
            Supports::Exact if unpublished && self.release.body.absent() == Absent::BelowK => {
                (0, Some(estimate.upper.max(rare)))
            }
            Supports::Exact => (estimate.lower, Some(estimate.upper)),
            // Records that keep nothing are not published: there may be more.
            Supports::LowerBound
                if matches!(manifest.guarantee.model, Model::KmAnonymity { .. }) =>
            {
                (estimate.lower, None)
            }
            Supports::LowerBound => {
                let most = if unpublished { manifest.records.max(rare) } else { manifest.records };
                (estimate.lower, Some(most.max(estimate.upper)))
            }
            Supports::Noisy => (0, None),
        };
        Answer {
            itemset: labels.into_iter().map(str::to_owned).collect(),
            lower,
            expected: estimate.expected,
            upper,
        }
    }
}

/// Bounds over whatever the format allows, and expectations with as many
/// occurrences of terms as a reconstruction gives them.
fn clusters(body: &Disassociated, terms: TermOccurrences, k: Option<u32>) -> ReleaseWorlds<'_> {
    let likely = |room: Room| match terms {
        TermOccurrences::Any => Knowledge::Format,
        _ => {
            let (size, uncovered) = (room.size as usize, room.uncovered as usize);
            let cap = terms.cap(k, size, uncovered, room.terms as usize) as u32;
            K::new(cap.saturating_add(1)).map_or(Knowledge::Format, Knowledge::Algorithm)
        }
    };
    ReleaseWorlds::expecting(body, Knowledge::Format, &likely)
}

/// The items of `a,b,"c, d"`: separated by commas, quoted as in CSV where they
/// contain one, without blanks around them.
pub fn parse_itemset(text: &str) -> Result<Vec<String>> {
    let bad = |found: String| Error::Parameter {
        name: "itemset",
        found,
        expected: "items separated by commas, in double quotes where they contain one",
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut row = csv::StringRecord::new();
    match reader.read_record(&mut row) {
        Ok(true) if row.iter().all(|item| !item.is_empty()) => {
            Ok(row.iter().map(str::to_owned).collect())
        }
        Ok(_) => Err(bad(format!("{text:?}"))),
        Err(e) => Err(bad(e.to_string())),
    }
}

/// The positions that are in every one of `lists`, which ascend.
fn intersection(lists: &[&[u32]]) -> Vec<u32> {
    let Some(&shortest) = lists.iter().min_by_key(|l| l.len()) else { return Vec::new() };
    let mut found = shortest.to_vec();
    for list in lists.iter().filter(|l| !std::ptr::eq(**l, shortest)) {
        let mut rest = *list;
        found.retain(|at| {
            // Galloping pays where one list is much longer than the other.
            let mut step = 1;
            while step < rest.len() && rest[step] < *at {
                step *= 2;
            }
            let end = (step + 1).min(rest.len());
            rest = &rest[step / 2 + rest[step / 2..end].partition_point(|x| x < at)..];
            rest.first() == Some(at)
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn itemsets_are_read_as_csv() {
        assert_eq!(parse_itemset("flu, itunes").unwrap(), ["flu", "itunes"]);
        assert_eq!(parse_itemset("\"new york, hotels\",flu").unwrap(), ["new york, hotels", "flu"]);
        assert_eq!(parse_itemset("audi a4").unwrap(), ["audi a4"]);
        for bad in ["", "a,,b", ",", "a,"] {
            assert!(parse_itemset(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn positions_in_all_lists() {
        let lists: [&[u32]; 3] = [&[1, 4, 5, 9, 12], &[0, 1, 2, 3, 4, 5, 6, 7, 9], &[4, 9, 100]];
        assert_eq!(intersection(&lists), [4, 9]);
        assert_eq!(intersection(&lists[..2]), [1, 4, 5, 9]);
        assert!(intersection(&[&[][..], lists[0]]).is_empty());
        assert!(intersection(&[]).is_empty());
    }
}
