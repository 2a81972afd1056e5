//! Apriori anonymization (AA): k^m-anonymity by global recoding, the baseline
//! of partition-2009, sections 2 and 5.
//!
//! One cut through the hierarchy recodes every record in the same way. For
//! i = 1..m the itemsets of size i that the recoded records contain are
//! walked in preorder; one that fewer than k records contain is generalised
//! in the cheapest way that gives it k, and whole subtrees follow.
//!
//! The walk counts and never stores the itemsets, so memory does not grow
//! with m. This module does not read hierarchies and does not check its own
//! output; tests and `verify` do.

mod cut;
mod repair;
mod walk;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::generalization::{Bound, GENERALIZED, Recoding, Rows};
pub use super::generalization::{Outcome, Unknown};
use super::recipe::{Knob, Needs, Recipe, given};
use crate::data::{Dataset, Hierarchy, K, M};
use crate::release::{Guarantee, Model, Release, Supports};
use crate::{Progress, Result};
use cut::Cut;
use repair::Repair;
use walk::Walk;

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Parameters {
    /// How many records must contain a set of published items that occurs.
    pub k: K,
    /// The size of the sets.
    pub m: M,
    /// What to do with items outside of the hierarchy.
    #[serde(rename = "unknown_to_root", default)]
    pub unknown: Unknown,
    /// Publish the hierarchy without the names of leaves that no class shows.
    #[serde(default)]
    pub hide_leaves: bool,
    /// The hierarchy; none in parameters that were read from a manifest. It is
    /// published as a file of its own.
    #[serde(skip)]
    pub hierarchy: Option<Arc<Hierarchy>>,
}

impl Parameters {
    /// An item outside of the hierarchy is an error, and all of it is published.
    pub fn new(k: K, m: M, hierarchy: impl Into<Arc<Hierarchy>>) -> Self {
        let hierarchy = Some(hierarchy.into());
        Self { k, m, unknown: Unknown::Refuse, hide_leaves: false, hierarchy }
    }

    /// What to do with items outside of the hierarchy.
    pub fn unknown(self, unknown: Unknown) -> Self {
        Self { unknown, ..self }
    }

    /// Whether the names of leaves that no class shows stay out of the
    /// published hierarchy.
    pub fn hide_leaves(self, hide_leaves: bool) -> Self {
        Self { hide_leaves, ..self }
    }

    /// The hierarchy, for parameters that were read.
    pub fn hierarchy(self, hierarchy: impl Into<Arc<Hierarchy>>) -> Self {
        Self { hierarchy: Some(hierarchy.into()), ..self }
    }

    fn recoding(&self) -> Recoding {
        Recoding { unknown: self.unknown, hide_leaves: self.hide_leaves }
    }
}

/// The method by its name.
pub(super) struct Method;

impl Recipe for Method {
    type Parameters = Parameters;
    const NAME: &'static str = "apriori";
    const IN_WORDS: &'static str = GENERALIZED;
    const KNOBS: &'static [Knob] = &[Knob::K, Knob::M];

    fn guarantee(parameters: &Parameters) -> Guarantee {
        let model = Model::KmAnonymity { k: parameters.k.get(), m: parameters.m.get() };
        Guarantee { model, supports: Supports::Exact }
    }

    fn run(
        parameters: &Parameters,
        data: &Dataset,
        progress: &dyn Progress,
    ) -> Result<super::Outcome> {
        Ok(run(data, parameters, progress)?.into())
    }

    fn hides_leaves(parameters: &Parameters) -> bool {
        parameters.hide_leaves
    }

    fn needs(parameters: &mut Parameters) -> Needs<'_> {
        Needs { hierarchy: Some(&mut parameters.hierarchy), ..Needs::default() }
    }
}

/// Recodes `data` so that whoever knows up to m items of a person finds at
/// least k records that may be theirs.
///
/// # Guarantee
/// k^m-anonymity: every set of 1 to m published labels that some record
/// contains is contained in at least k records. Published supports of labels
/// are exact: a record shows a node if and only if it has an item below it.
///
/// # Complexity
/// Time grows with the number of occurrences of itemsets of size up to m in
/// the recoded records; a branch of the walk ends where all remaining
/// distinct records occur k times. Memory: the records, and for every node
/// the list of records below it.
///
/// # Deviations
/// - The count tree of the original is not built. Ancestors' supports are
///   counted on demand from the lists of records, and itemsets of recoded
///   nodes are met in the next walk, which repeats until nothing is left.
/// - The cheapest generalization is found by best-first search over the
///   ancestors; after 20,000 tries the search becomes greedy.
///
/// ```
/// use setveil::data::{Hierarchy, K, M};
/// use setveil::methods::apriori;
/// use setveil::{Dataset, verify};
///
/// let tree = Hierarchy::from_paths(&[
///     vec!["beer", "alcohol", "*"], vec!["wine", "alcohol", "*"], vec!["diapers", "*"],
/// ]).unwrap();
/// let data = Dataset::from_records([
///     vec!["beer", "diapers"], vec!["wine", "diapers"], vec!["beer"], vec!["beer"],
/// ]);
/// let parameters = apriori::Parameters::new(K::new(2)?, M::new(2)?, tree);
/// let release = apriori::anonymize(&data, &parameters, &())?;
/// assert!(verify::verify(&release, &())?.holds);
/// # Ok::<(), setveil::Error>(())
/// ```
pub fn anonymize(
    data: &Dataset,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Release> {
    Ok(run(data, parameters, progress)?.release)
}

/// Like [`anonymize`], with the information loss.
pub fn run(data: &Dataset, parameters: &Parameters, progress: &dyn Progress) -> Result<Outcome> {
    let Parameters { k, m, .. } = *parameters;
    let bound =
        Bound::new(data, given(&parameters.hierarchy)?, k, parameters.recoding(), progress)?;
    let cut = recode(&bound.hierarchy, &bound.rows, k, m, progress)?;
    let recoded = bound.rows.map(|leaf| cut.node(leaf), progress)?;
    let classes: Vec<_> =
        (0..recoded.len()).map(|r| (recoded.row(r).to_vec(), recoded.weights[r])).collect();
    let loss = cut.loss();
    bound.publish::<Method>(parameters, &classes, loss, progress)
}

/// The cut: rounds of growing itemsets, each repeated until no itemset of its
/// size is rare. Generalizing never makes a smaller itemset rare again.
fn recode(hierarchy: &Hierarchy, rows: &Rows, k: K, m: M, progress: &dyn Progress) -> Result<Cut> {
    let k = u64::from(k.get());
    let mut cut = Cut::new(hierarchy, rows);
    let mut repair = Repair::new(hierarchy, rows, k, progress)?;
    for size in 1..=m.get() as usize {
        loop {
            let recoded = rows.map(|leaf| cut.node(leaf), progress)?;
            if (0..recoded.len()).all(|r| recoded.row(r).len() < size) {
                break;
            }
            let walk = Walk::new(hierarchy, &recoded, size, k, progress)?;
            if !walk.run(&mut cut, &mut repair, progress)? {
                break;
            }
        }
    }
    Ok(cut)
}
