//! Partition: k-anonymity by top-down local generalization (partition-2009,
//! section 4).
//!
//! All records start as `{*}`. A partition expands one node of its cut at a
//! time, the one that gives back most information; records that then show
//! the same children stay together. An item may be published as itself in one
//! class and as an ancestor in another.
//!
//! Invariants: every partition holds at least k records; all its records
//! generalise to the same set of nodes, no one above another. This module
//! does not read hierarchies and does not check its own output.

mod split;

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::generalization::{Bound, GENERALIZED, Recoding, Rows, penalties};
pub use super::generalization::{Outcome, Unknown};
use super::recipe::{Knob, Needs, Recipe, given};
use crate::Result;
use crate::data::hierarchy::NodeId;
use crate::data::{Dataset, Hierarchy, K};
use crate::progress::{Progress, Pulse, Stage};
use crate::release::{Guarantee, Model, Release, Supports};
use split::{Partition, Splitter, Step};

/// A partition with more instances than this is worth a task of its own.
const TASK: usize = 1 << 12;

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Parameters {
    /// Every class holds at least so many records.
    pub k: K,
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
    pub fn new(k: K, hierarchy: impl Into<Arc<Hierarchy>>) -> Self {
        let hierarchy = Some(hierarchy.into());
        Self { k, unknown: Unknown::Refuse, hide_leaves: false, hierarchy }
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
    const NAME: &'static str = "partition";
    const IN_WORDS: &'static str = GENERALIZED;
    const KNOBS: &'static [Knob] = &[Knob::K];

    fn guarantee(parameters: &Parameters) -> Guarantee {
        let model = Model::KAnonymity { k: parameters.k.get() };
        Guarantee { model, supports: Supports::LowerBound }
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

/// Generalises `data` so that every published record equals at least k - 1
/// others.
///
/// # Guarantee
/// k-anonymity: every class of the release holds at least k records.
///
/// # Complexity
/// A split costs time in the partition's item instances that can still be
/// expanded, whatever the fan-out: only child sets that occur are looked at.
/// An instance takes part in as many splits as nodes are expanded in its
/// partition, so the whole is close to linear in the data. Memory: twice the
/// instances.
///
/// # Deviations
/// - A node whose expansion leaves no bucket with k records, and the expanded
///   node in the leftover partition, are never tried again below (no subset
///   of the records can do better); the paper does not say so and its
///   leftover partition would be split in the same way for ever. A node that
///   was only rolled back is tried again in sub-partitions, where it may work.
/// - The leftover is filled only from what buckets hold beyond k, and if that
///   is not enough the split is rolled back. Among equal information gains
///   the first record by its items goes.
/// - Equal records are handled as one with a weight, and ties between nodes
///   go to the first in preorder, so neither row order nor the number of
///   threads changes the release.
///
/// ```
/// use setveil::data::{Hierarchy, K};
/// use setveil::methods::partition;
/// use setveil::{Dataset, verify};
///
/// let tree = Hierarchy::from_paths(&[
///     vec!["beer", "alcohol", "*"], vec!["wine", "alcohol", "*"], vec!["diapers", "*"],
/// ]).unwrap();
/// let data = Dataset::from_records([
///     vec!["beer", "diapers"], vec!["wine", "diapers"], vec!["beer"], vec!["beer"],
/// ]);
/// let release = partition::anonymize(&data, &partition::Parameters::new(K::new(2)?, tree), &())?;
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
    let k = parameters.k;
    let hierarchy = given(&parameters.hierarchy)?;
    progress.stage(Stage::Generalizing, Some(data.len() as u64));
    let bound = Bound::new(data, hierarchy, k, parameters.recoding(), progress)?;
    let (classes, loss) = partition(&bound.hierarchy, &bound.rows, k, progress)?;
    bound.publish::<Method>(parameters, &classes, loss, progress)
}

type Classes = Vec<(Vec<NodeId>, u32)>;

/// Algorithm 1: the classes, and their loss in leaves (NCP times |I| times
/// the number of instances).
fn partition(
    hierarchy: &Hierarchy,
    rows: &Rows,
    k: K,
    progress: &dyn Progress,
) -> Result<(Classes, u64)> {
    let penalties = penalties(hierarchy);
    let k = u64::from(k.get());
    let splitter = Splitter { tree: hierarchy, k, penalties: &penalties, progress };
    let whole = splitter.whole(rows)?;
    let found = Mutex::new(Ok((Classes::new(), 0)));
    rayon::scope(|scope| {
        let task = Task { splitter: &splitter, found: &found, progress };
        task.follow(scope, whole);
    });
    found.into_inner().expect("no task panics while holding it")
}

#[derive(Clone, Copy)]
struct Task<'a> {
    splitter: &'a Splitter<'a>,
    found: &'a Mutex<Result<(Classes, u64)>>,
    progress: &'a dyn Progress,
}

impl<'a> Task<'a> {
    /// Splits `start` to the end, unless it is stopped; large parts become
    /// tasks. The order of the classes does not matter: they are sorted when
    /// they become a body.
    fn follow<'s>(self, scope: &rayon::Scope<'s>, start: Partition)
    where
        'a: 's,
    {
        let own = self.classes(scope, start);
        let mut found = self.found.lock().expect("no task panics while holding it");
        match (own, &mut *found) {
            (Ok((mut classes, lost)), Ok(all)) => {
                all.0.append(&mut classes);
                all.1 += lost;
            }
            (Err(error), Ok(_)) => *found = Err(error),
            (_, Err(_)) => {}
        }
    }

    /// The classes that small parts of `start` fall into, and their loss.
    fn classes<'s>(self, scope: &rayon::Scope<'s>, start: Partition) -> Result<(Classes, u64)>
    where
        'a: 's,
    {
        let (mut classes, mut lost) = (Classes::new(), 0);
        let mut pulse = Pulse::new(self.progress);
        let mut stack = vec![start];
        while let Some(partition) = stack.pop() {
            pulse.work(partition.instances())?;
            match self.splitter.step(partition)? {
                Step::Class { nodes, count, loss } => {
                    classes.push((nodes, count as u32));
                    lost += loss;
                    pulse.done(count as usize)?;
                }
                Step::Split { parts, loss } => {
                    lost += loss;
                    for part in parts {
                        if part.instances() > TASK {
                            scope.spawn(move |scope| self.follow(scope, part));
                        } else {
                            stack.push(part);
                        }
                    }
                }
            }
        }
        pulse.flush()?;
        Ok((classes, lost))
    }
}
