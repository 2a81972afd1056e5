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
//!   least their sum less (items - 1) s and at most the smallest of them. If
//!   records of sensitive items only were left out, nothing bounds the support
//!   of sensitive items from above.
//! - **Leaves**: bounds over the possible worlds of the format, with what is
//!   kept, counted, listed and summed up.
//! - Where instances were suppressed (`Supports::LowerBound`) nothing
//!   published bounds a support from above but the number of records; with
//!   noise (`Supports::Noisy`) there are no bounds at all.

mod affinity;
mod classes;
mod groups;
mod prepared;

use std::fmt;
use std::sync::Arc;

use self_cell::self_cell;
use serde::Serialize;

pub(crate) use prepared::Prepared;

pub use crate::worlds::{Factors, Prior};

use crate::reconstruct::TermOccurrences;
use crate::release::Release;
use crate::{Error, Progress, Result};

/// What is known about the support of an itemset.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// The items that were asked for, ascending.
    pub itemset: Vec<String>,
    /// The original has at least this many records with all of them.
    pub lower: u64,
    /// How many are to be expected.
    pub expected: f64,
    /// The original has at most this many; none where nothing is known.
    pub upper: Option<u64>,
    /// Those of the items that the release does not have, where there are some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// A release, prepared for many questions.
pub struct Index(Owned);

self_cell!(
    struct Owned {
        owner: Arc<Release>,
        #[not_covariant]
        dependent: Prepared,
    }
);

impl Index {
    /// Prepares `release`.
    ///
    /// # Complexity
    /// Linear in the release. A question then looks only at the clusters,
    /// classes or groups in which all of its items can be.
    pub fn new(release: impl Into<Arc<Release>>, terms: TermOccurrences) -> Self {
        Self::prepare(release, terms, &()).expect("nobody says stop")
    }

    /// [`new`](Self::new) for a caller that may say stop.
    ///
    /// # Errors
    /// If `progress` says stop.
    pub fn prepare(
        release: impl Into<Arc<Release>>,
        terms: TermOccurrences,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let prepared =
            Owned::try_new(release.into(), |release| Prepared::new(release, terms, progress));
        prepared.map(Self)
    }

    /// The release that answers.
    pub fn release(&self) -> &Arc<Release> {
        self.0.borrow_owner()
    }

    /// Answers for a set of labels; repeated ones count once.
    ///
    /// # Errors
    /// If there is no label.
    pub fn ask<S: AsRef<str>>(&self, labels: &[S]) -> Result<Answer> {
        self.0.with_dependent(|_, prepared| prepared.ask(labels))
    }

    /// Answers for many sets of labels, in their order.
    ///
    /// # Errors
    /// If one of them is empty, or `progress` says stop.
    pub fn ask_all<S: AsRef<str> + Sync>(
        &self,
        itemsets: &[Vec<S>],
        progress: &dyn Progress,
    ) -> Result<Vec<Answer>> {
        self.0.with_dependent(|_, prepared| prepared.ask_all(itemsets, progress))
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.with_dependent(|_, prepared| f.debug_tuple("Index").field(prepared).finish())
    }
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
