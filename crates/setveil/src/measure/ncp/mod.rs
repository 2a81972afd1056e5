//! Normalized certainty penalty (partition-2009, section 3.2): how much the
//! published nodes leave open, averaged over the original item instances.
//!
//! An instance published as a node over u of |I| leaves costs u / |I|, and
//! nothing if u = 1. Without a hierarchy an instance is published or not, and
//! one that is not costs 1, as if it were generalised to the root.
//!
//! Global recoding gives every item one label, and the count is exact. After
//! local recoding an item may stand under several labels, and which class a
//! record went to is not published: see `assignment.rs`.

mod assignment;

use crate::data::hierarchy::NodeId;
use crate::data::{Dataset, Hierarchy, ItemId};
use crate::release::{Bag, Generalized};
use crate::{Error, Progress, Result};

/// The penalty of `body`, between 0 and 1. `hierarchy` is used in the place of
/// the release's own, for a release that hides the names of its leaves.
///
/// # Errors
/// If no assignment of the records of `original` to the classes exists: the
/// release was not made from this data. Or if `progress` says stop.
///
/// # Complexity
/// Global recoding: linear. Local recoding: the number of classes that each
/// distinct record fits, plus a search per record that finds no room.
pub fn ncp(
    body: &Generalized,
    original: &Dataset,
    hierarchy: Option<&Hierarchy>,
    progress: &dyn Progress,
) -> Result<f64> {
    let instances = original.occurrences().len().max(1) as f64;
    let Some(own) = &body.hierarchy else {
        return Ok(suppressed(body, original) as f64 / instances);
    };
    let tree = hierarchy.unwrap_or(own);
    let bound = tree.bind(original.vocabulary(), true)?;
    let labels: Vec<NodeId> =
        body.vocabulary.labels().map(|l| node(tree, l)).collect::<Result<_>>()?;
    let mut sorted = labels.clone();
    sorted.sort_unstable();
    let leaves = f64::from(tree.leaf_count(0));
    let loss = if sorted.windows(2).any(|w| tree.covers(w[0], w[1])) {
        assignment::loss(tree, &body.classes, &labels, (original, &bound), progress)?
    } else {
        global(tree, body, &labels, original, &bound)?
    };
    Ok(loss as f64 / leaves / instances)
}

/// Instances of items that are not published.
fn suppressed(body: &Generalized, original: &Dataset) -> u64 {
    let lost = |label: &str| body.vocabulary.id(label).is_none();
    let supports = original.supports();
    let items = original.vocabulary().labels().zip(supports);
    items.filter(|(label, _)| lost(label)).map(|(_, support)| u64::from(support)).sum()
}

fn node(tree: &Hierarchy, label: &str) -> Result<NodeId> {
    tree.node(label).ok_or_else(|| Error::Unknown {
        what: format!("the release shows `{label}`, which is not in the hierarchy"),
        hint: "use the hierarchy that the release was made with".into(),
    })
}

/// The leaves that an instance published as `node` may be, 0 if there is one.
fn penalty(tree: &Hierarchy, node: NodeId) -> u64 {
    match tree.leaf_count(node) {
        1 => 0,
        leaves => u64::from(leaves),
    }
}

/// No label is above another, so every item has one, and the classes must be
/// the recoded records.
fn global(
    tree: &Hierarchy,
    body: &Generalized,
    labels: &[NodeId],
    original: &Dataset,
    bound: &[NodeId],
) -> Result<u64> {
    let mut by_node: Vec<(NodeId, ItemId)> = labels.iter().copied().zip(0..).collect();
    by_node.sort_unstable();
    let mut label_of = Vec::with_capacity(bound.len());
    let mut loss = 0;
    for (item, support) in original.supports().into_iter().enumerate() {
        let at = by_node.partition_point(|l| l.0 <= bound[item]);
        match by_node[..at].last() {
            Some(&(node, label)) if tree.covers(node, bound[item]) => {
                loss += penalty(tree, node) * u64::from(support);
                label_of.push(label);
            }
            _ => {
                let label = original.vocabulary().label(item as ItemId);
                return Err(unfit(&format!("no label stands for item `{label}`")));
            }
        }
    }
    let (mut items, mut ends) = (Vec::new(), vec![0]);
    for record in original.records() {
        let start = items.len();
        items.extend(record.iter().map(|&item| label_of[item as usize]));
        items[start..].sort_unstable();
        let mut kept = start;
        for i in start..items.len() {
            if i == start || items[i] != items[kept - 1] {
                items[kept] = items[i];
                kept += 1;
            }
        }
        items.truncate(kept);
        ends.push(kept);
    }
    if Bag::from_itemsets(ends.windows(2).map(|w| &items[w[0]..w[1]])) != body.classes {
        return Err(unfit("its records are not the classes"));
    }
    Ok(loss)
}

fn unfit(what: &str) -> Error {
    Error::Infeasible {
        what: format!("the release does not fit the original: {what}"),
        hint: "name the data the release was made from; if the release hides the names of \
               leaves, name the full hierarchy with --hierarchy"
            .into(),
    }
}
