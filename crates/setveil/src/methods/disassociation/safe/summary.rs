//! What a safe release promises and what it does not, side by side.

use serde::Serialize;

use super::Rule;

/// What happened on the way to a release, and what that promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Simple clusters.
    pub clusters: u64,
    /// Those with more records than asked for: counts could not split them.
    pub oversized: u64,
    /// Those whose chunks follow from supports alone: nothing is lost there.
    pub by_supports: u64,
    /// Those in which links decided, with a witness for every set.
    pub by_links: u64,
    /// Those in which links were not used, as some set had no witness.
    pub without_witness: u64,
    /// Those that kept one chunk, as there were too few sub-records.
    pub one_chunk: u64,
    /// Pairs of terms in different record chunks of one cluster.
    pub pairs: u64,
    /// Terms of fewer than k records that were left out.
    pub dropped_items: u64,
    /// Records that were left out as they had no other terms.
    pub dropped_records: u64,
    #[serde(skip)]
    rule: Rule,
}

impl Summary {
    pub(super) fn new(rule: Rule) -> Self {
        Self {
            clusters: 0,
            oversized: 0,
            by_supports: 0,
            by_links: 0,
            without_witness: 0,
            one_chunk: 0,
            pairs: 0,
            dropped_items: 0,
            dropped_records: 0,
            rule,
        }
    }

    /// The promises, each with what it is about.
    pub fn in_words(&self) -> Vec<(&'static str, String)> {
        let Rule { k, m, eta } = self.rule;
        vec![
            (
                "format guarantee",
                format!("k = {k}, m = {m}: decided from the release by `setveil verify`"),
            ),
            (
                "algorithm guarantee",
                format!(
                    "record-chunk terms, per cluster: no set of up to {m} terms excluded (every \
                     one of {} pairs across chunks has an input with it in {k} records); lost \
                     worlds <= {eta} per cluster for a uniform prior, and not for other priors; \
                     how chunks were made is checked from the release, how clusters were made \
                     cannot be",
                    self.pairs
                ),
            ),
            (
                "term chunks",
                format!(
                    "NOT covered: a term there is in fewer than {k} records of its cluster, but \
                     for {} clusters that kept one chunk",
                    self.one_chunk
                ),
            ),
            (
                "shared terms",
                "NOT covered: a shared term together with a term of a record chunk".to_owned(),
            ),
            (
                "posterior",
                format!(
                    "P(y|x) differs from the format's by at most {eta} for a uniform prior; the \
                     format's own can be 1"
                ),
            ),
        ]
    }
}
