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

use std::sync::Mutex;

use serde_json::json;

pub use super::generalization::Outcome;
use super::generalization::{
    Rows, Unknown, bind, body, check_size, penalties, published_hierarchy,
};
use crate::data::hierarchy::NodeId;
use crate::data::{Dataset, Hierarchy, K};
use crate::release::{Body, Guarantee, Manifest, Model, Release, Supports};
use crate::{Progress, Result};
use split::{Partition, Splitter, Step};

/// A partition with more instances than this is worth a task of its own.
const TASK: usize = 1 << 12;

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    k: K,
    unknown: Unknown,
    hide_leaves: bool,
}

impl Parameters {
    /// Every class holds at least `k` records; an item outside the hierarchy is an error.
    pub fn new(k: K) -> Self {
        Self { k, unknown: Unknown::Refuse, hide_leaves: false }
    }

    /// What to do with items outside the hierarchy.
    pub fn unknown(self, unknown: Unknown) -> Self {
        Self { unknown, ..self }
    }

    /// Publish the hierarchy without the names of leaves that no class shows.
    pub fn hide_leaves(self, hide_leaves: bool) -> Self {
        Self { hide_leaves, ..self }
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
/// let release = partition::anonymize(&data, tree, &partition::Parameters::new(K::new(2)?), &())?;
/// assert!(verify::verify(&release).holds);
/// # Ok::<(), setveil::Error>(())
/// ```
pub fn anonymize(
    data: &Dataset,
    hierarchy: Hierarchy,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Release> {
    Ok(run(data, hierarchy, parameters, progress)?.release)
}

/// Like [`anonymize`], with the information loss.
pub fn run(
    data: &Dataset,
    hierarchy: Hierarchy,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Outcome> {
    check_size(data, parameters.k)?;
    let leaves = hierarchy.leaf_count(0);
    let original = (parameters.unknown == Unknown::ToRoot).then(|| hierarchy.clone());
    let (hierarchy, leaf_of) = bind(hierarchy, data.vocabulary(), parameters.unknown)?;
    let rows = Rows::new(data, &leaf_of);
    progress.stage("partition", Some(data.len() as u64));
    let (classes, loss) = partition(&hierarchy, &rows, parameters.k, progress);
    let ncp =
        loss as f64 / f64::from(hierarchy.leaf_count(0)) / data.occurrences().len().max(1) as f64;
    let mut body = body(&hierarchy, &classes);
    let is_original = |label: &str| original.as_ref().is_none_or(|h| h.node(label).is_some());
    body.hierarchy = Some(published_hierarchy(
        hierarchy,
        leaves,
        &body.vocabulary,
        is_original,
        parameters.hide_leaves,
    ));
    let manifest = Manifest::new(
        "partition",
        [
            ("k", json!(parameters.k.get())),
            ("unknown_to_root", json!(parameters.unknown == Unknown::ToRoot)),
            ("hide_leaves", json!(parameters.hide_leaves)),
        ],
        Guarantee {
            model: Model::KAnonymity { k: parameters.k.get() },
            supports: Supports::LowerBound,
        },
        data.len() as u64,
        body.vocabulary.len() as u64,
    );
    Ok(Outcome { release: Release { manifest, body: Body::Generalized(body) }, ncp })
}

type Classes = Vec<(Vec<NodeId>, u32)>;

/// Algorithm 1: the classes, and their loss in leaves (NCP times |I| times
/// the number of instances).
fn partition(hierarchy: &Hierarchy, rows: &Rows, k: K, progress: &dyn Progress) -> (Classes, u64) {
    let penalties = penalties(hierarchy);
    let splitter = Splitter { tree: hierarchy, k: u64::from(k.get()), penalties: &penalties };
    let found = Mutex::new((Classes::new(), 0u64));
    rayon::scope(|scope| {
        let task = Task { splitter: &splitter, found: &found, progress };
        task.follow(scope, splitter.whole(rows));
    });
    found.into_inner().expect("no task panics while holding it")
}

#[derive(Clone, Copy)]
struct Task<'a> {
    splitter: &'a Splitter<'a>,
    found: &'a Mutex<(Classes, u64)>,
    progress: &'a dyn Progress,
}

impl<'a> Task<'a> {
    /// Splits `start` to the end; large parts become tasks. The order of the
    /// classes does not matter: they are sorted when they become a body.
    fn follow<'s>(self, scope: &rayon::Scope<'s>, start: Partition)
    where
        'a: 's,
    {
        let (mut classes, mut lost, mut done) = (Classes::new(), 0, 0);
        let mut stack = vec![start];
        while let Some(partition) = stack.pop() {
            match self.splitter.step(partition) {
                Step::Class { nodes, count, loss } => {
                    classes.push((nodes, count as u32));
                    lost += loss;
                    done += count;
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
        self.progress.advance(done);
        let mut found = self.found.lock().expect("no task panics while holding it");
        found.0.append(&mut classes);
        found.1 += lost;
    }
}
