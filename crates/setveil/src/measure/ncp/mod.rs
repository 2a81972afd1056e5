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

use rustc_hash::FxHashMap;

use crate::data::hierarchy::NodeId;
use crate::data::{Dataset, Hierarchy, ItemId};
use crate::error::{Hint, Setting};
use crate::release::{Bag, Generalized};
use crate::{Error, Result};

/// The penalty of `body`, between 0 and 1. `hierarchy` is used in the place of
/// the release's own, for a release that hides the names of its leaves.
///
/// # Errors
/// If no assignment of the records of `original` to the classes exists: the
/// release was not made from this data.
///
/// # Complexity
/// Global recoding: linear. Local recoding: the number of classes that each
/// distinct record fits, plus a search per record that finds no room.
pub fn ncp(body: &Generalized, original: &Dataset, hierarchy: Option<&Hierarchy>) -> Result<f64> {
    let instances = original.occurrences().len().max(1) as f64;
    let Some(own) = &body.hierarchy else {
        return Ok(suppressed(body, original) as f64 / instances);
    };
    let tree = hierarchy.unwrap_or(own);
    let (loss, _) = generalized(body, original, tree)?;
    Ok(loss as f64 / f64::from(tree.leaf_count(0)) / instances)
}

/// The class of every record of `original`, none for a record that became
/// empty. After local recoding the release does not say: one assignment that
/// agrees with everything published.
///
/// # Errors
/// As [`ncp`].
pub fn classes_of(
    body: &Generalized,
    original: &Dataset,
    hierarchy: Option<&Hierarchy>,
) -> Result<Vec<Option<u32>>> {
    if let Some(own) = &body.hierarchy {
        return Ok(generalized(body, original, hierarchy.unwrap_or(own))?.1);
    }
    let published: Vec<Option<ItemId>> =
        original.vocabulary().labels().map(|label| body.vocabulary.id(label)).collect();
    let mut kept: Vec<Vec<ItemId>> = original
        .records()
        .map(|record| record.iter().filter_map(|&item| published[item as usize]).collect())
        .collect();
    let classes = class_numbers(body, kept.iter().map(Vec::as_slice))?;
    kept.retain(|record| !record.is_empty());
    if Bag::from_itemsets(kept.iter().map(Vec::as_slice)) != body.classes {
        return Err(unfit("its records are not the classes"));
    }
    Ok(classes)
}

/// The numbers of the classes with these items; none where there is no item.
fn class_numbers<'a>(
    body: &Generalized,
    records: impl Iterator<Item = &'a [ItemId]>,
) -> Result<Vec<Option<u32>>> {
    let numbers: FxHashMap<&[ItemId], u32> =
        body.classes.iter().zip(0..).map(|((items, _), number)| (items, number)).collect();
    let number = |record: &[ItemId]| match numbers.get(record) {
        _ if record.is_empty() => Ok(None),
        Some(&number) => Ok(Some(number)),
        None => Err(unfit("a record's items are no class")),
    };
    records.map(number).collect()
}

/// The loss in leaves, and the class of every record.
fn generalized(
    body: &Generalized,
    original: &Dataset,
    tree: &Hierarchy,
) -> Result<(u64, Vec<Option<u32>>)> {
    let bound = tree.bind(original.vocabulary(), true)?;
    let labels: Vec<NodeId> =
        body.vocabulary.labels().map(|l| node(tree, l)).collect::<Result<_>>()?;
    let mut sorted = labels.clone();
    sorted.sort_unstable();
    if sorted.windows(2).any(|w| tree.covers(w[0], w[1])) {
        assignment::assign(tree, &body.classes, &labels, original, &bound)
    } else {
        global(tree, body, &labels, original, &bound)
    }
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
) -> Result<(u64, Vec<Option<u32>>)> {
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
    let records = || ends.windows(2).map(|w| &items[w[0]..w[1]]);
    if Bag::from_itemsets(records()) != body.classes {
        return Err(unfit("its records are not the classes"));
    }
    Ok((loss, class_numbers(body, records())?))
}

fn unfit(what: &str) -> Error {
    Error::Infeasible {
        what: format!("the release does not fit the original: {what}"),
        hint: Hint::of(
            "name the data the release was made from; if the release hides the names of leaves, \
             name the full hierarchy with {}",
            &[Setting::Hierarchy],
        ),
    }
}
