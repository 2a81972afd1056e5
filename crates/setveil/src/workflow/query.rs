//! In how many records items stand together, from the release alone.

use serde::{Deserialize, Serialize};

use crate::query::{Answer, Factors, Prepared, Prior};
use crate::reconstruct::TermOccurrences;
use crate::{Progress, Release, Result, Stage};

/// What answers depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct QueryOptions {
    /// For expected supports: how often a term of a term chunk occurs in its cluster.
    pub terms: TermOccurrences,
    /// For expected supports, with terms that occur once: how likely the data sets are that
    /// fit the release.
    pub prior: Prior,
    /// In the place of what the prior assumes.
    pub factors: Option<Factors>,
}

setters!(QueryOptions {
    /// For expected supports: how often a term of a term chunk occurs in its cluster.
    terms: TermOccurrences,
    /// For expected supports: how likely the data sets are that fit the release.
    prior: Prior,
    /// In the place of what the prior assumes.
    factors: Option<Factors>,
});

/// Answers for every set of labels, in their order.
///
/// # Errors
/// If one of them is empty, or `progress` says stop.
pub fn query<S: AsRef<str> + Sync>(
    release: &Release,
    itemsets: &[Vec<S>],
    options: &QueryOptions,
    progress: &dyn Progress,
) -> Result<Vec<Answer>> {
    let factors = options.factors.unwrap_or_else(|| options.prior.factors(&release.body));
    let index = Prepared::about(release, (options.terms, factors), itemsets, progress)?;
    progress.stage(Stage::Querying, Some(itemsets.len() as u64));
    index.ask_all(itemsets, progress)
}
