//! What the generalizing methods share: records as weighted rows of leaves,
//! classes of nodes as the body of a release, and for those that publish
//! ancestors the way from data and hierarchy to a release.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::limits;
use super::recipe::{Details, Recipe};
use crate::data::hierarchy::NodeId;
use crate::data::{Dataset, Hierarchy, ItemId, K, Vocabulary};
use crate::progress::{Progress, Pulse, sort_unstable_by};
use crate::release::{Bag, Body, Generalized, Release};
use crate::{Error, Result};

/// A release and what it cost.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// What is published.
    pub release: Release,
    /// The normalized certainty penalty over the original item instances
    /// (partition-2009, section 3.2).
    pub ncp: f64,
}

impl From<Outcome> for super::Outcome {
    fn from(outcome: Outcome) -> Self {
        Self::new(outcome.release, Details::Generalized { ncp: outcome.ncp })
    }
}

/// What to do with items that are no leaf of the hierarchy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "bool", into = "bool")]
pub enum Unknown {
    /// An error that lists the first ones.
    #[default]
    Refuse,
    /// They become leaves directly below the root: published as they are
    /// where that is safe, and as `*` otherwise.
    ToRoot,
}

/// In a manifest: `unknown_to_root`.
impl From<bool> for Unknown {
    fn from(to_root: bool) -> Self {
        if to_root { Self::ToRoot } else { Self::Refuse }
    }
}

impl From<Unknown> for bool {
    fn from(unknown: Unknown) -> bool {
        unknown == Unknown::ToRoot
    }
}

/// How a method that publishes ancestors treats its hierarchy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recoding {
    /// What to do with items outside of the hierarchy.
    pub(super) unknown: Unknown,
    /// Publish the hierarchy without the names of leaves that no class shows.
    pub(super) hide_leaves: bool,
}

/// Data over a hierarchy: what a method that publishes ancestors starts from.
pub(super) struct Bound<'a> {
    data: &'a Dataset,
    recoding: Recoding,
    /// A leaf for every item.
    pub(super) hierarchy: Hierarchy,
    pub(super) rows: Rows,
    /// How many leaves the hierarchy had as it was given, and, where some may
    /// have been added, all of it.
    given_leaves: u32,
    given: Option<Hierarchy>,
}

impl<'a> Bound<'a> {
    /// Fails with fewer than k records, or on items outside of the hierarchy.
    pub(super) fn new(
        data: &'a Dataset,
        hierarchy: &Hierarchy,
        k: K,
        recoding: Recoding,
        progress: &dyn Progress,
    ) -> Result<Self> {
        check_size(data, k)?;
        let hierarchy = hierarchy.clone();
        let given_leaves = hierarchy.leaf_count(0);
        let given = (recoding.unknown == Unknown::ToRoot).then(|| hierarchy.clone());
        let (hierarchy, leaf_of) = bind(hierarchy, data.vocabulary(), recoding.unknown)?;
        let rows = Rows::new(data, &leaf_of, progress)?;
        Ok(Self { data, recoding, hierarchy, rows, given_leaves, given })
    }

    /// The classes as a release. `loss` is NCP times |I| times the number of
    /// instances.
    pub(super) fn publish<R: Recipe>(
        self,
        parameters: &R::Parameters,
        classes: &[(Vec<NodeId>, u32)],
        loss: u64,
        progress: &dyn Progress,
    ) -> Result<Outcome> {
        let instances = self.data.occurrences().len().max(1) as f64;
        let ncp = loss as f64 / f64::from(self.hierarchy.leaf_count(0)) / instances;
        let mut body = body(&self.hierarchy, classes, progress)?;
        let is_given = |label: &str| self.given.as_ref().is_none_or(|h| h.node(label).is_some());
        let hide_leaves = self.recoding.hide_leaves;
        body.hierarchy = Some(published_hierarchy(
            self.hierarchy,
            self.given_leaves,
            &body.vocabulary,
            is_given,
            hide_leaves,
        ));
        let items = body.vocabulary.len() as u64;
        let manifest = R::manifest(parameters, self.data.len() as u64, items);
        Ok(Outcome { release: Release { manifest, body: Body::Generalized(body) }, ncp })
    }
}

/// The hierarchy with a leaf for every item, and the leaf of every item.
fn bind(
    hierarchy: Hierarchy,
    vocabulary: &Vocabulary,
    unknown: Unknown,
) -> Result<(Hierarchy, Vec<NodeId>)> {
    let bound = hierarchy.bind(vocabulary, unknown == Unknown::ToRoot)?;
    if !bound.contains(&0) {
        return Ok((hierarchy, bound));
    }
    let missing: Vec<&str> = (0..vocabulary.len() as ItemId)
        .filter(|&item| bound[item as usize] == 0)
        .map(|item| vocabulary.label(item))
        .collect();
    let extended = hierarchy.with_leaves_below_root(&missing)?;
    let bound = extended.bind(vocabulary, false)?;
    Ok((extended, bound))
}

/// The hierarchy as it is published: leaves that [`bind`] added and that are
/// not published themselves lose their names, with `hide` all such leaves do.
fn published_hierarchy(
    bound: Hierarchy,
    original_leaves: u32,
    published: &Vocabulary,
    is_original: impl Fn(&str) -> bool,
    hide: bool,
) -> Hierarchy {
    if !hide && bound.leaf_count(0) == original_leaves {
        return bound;
    }
    bound.with_leaves_hidden(|label| published.id(label).is_some() || (!hide && is_original(label)))
}

/// What such a method does, for people.
pub(super) const GENERALIZED: &str = "Items were replaced by more general ones of a hierarchy until \
    enough people look the same. Nothing was invented and nobody was left out.";

/// At least k records, or nothing can be hidden.
pub(super) fn check_size(data: &Dataset, k: K) -> Result<()> {
    if (data.len() as u64) < u64::from(k.get()) {
        return Err(Error::Infeasible {
            what: format!("{} records cannot hide each other with k = {k}", data.len()),
            hint: "choose a smaller k or add records".into(),
        });
    }
    Ok(())
}

/// Distinct records as ascending nodes, in ascending order, with how often
/// each occurs: the order of the input is gone.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    offsets: Vec<usize>,
    nodes: Vec<NodeId>,
    pub(super) weights: Vec<u32>,
}

impl Rows {
    /// The records of `data` with every item replaced by its node.
    pub(super) fn new(data: &Dataset, node_of: &[NodeId], progress: &dyn Progress) -> Result<Self> {
        limits::check(data)?;
        let weights = vec![1; data.len()];
        let records: Vec<&[ItemId]> = data.records().collect();
        Self::collect(&records, &weights, |item| node_of[item as usize], progress)
    }

    /// The same rows with every node replaced; equal ones are added up.
    pub(super) fn map(
        &self,
        node_of: impl Fn(NodeId) -> NodeId,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let rows: Vec<&[NodeId]> = (0..self.len()).map(|r| self.row(r)).collect();
        Self::collect(&rows, &self.weights, node_of, progress)
    }

    fn collect(
        rows: &[&[u32]],
        weights: &[u32],
        node_of: impl Fn(u32) -> NodeId,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let (mut offsets, mut nodes) = (vec![0], Vec::new());
        let mut pulse = Pulse::new(progress);
        for row in rows {
            let start = nodes.len();
            nodes.extend(row.iter().map(|&x| node_of(x)));
            nodes[start..].sort_unstable();
            let mut kept = start;
            for i in start..nodes.len() {
                if i == start || nodes[i] != nodes[kept - 1] {
                    nodes[kept] = nodes[i];
                    kept += 1;
                }
            }
            nodes.truncate(kept);
            offsets.push(kept);
            pulse.work(row.len())?;
        }
        let row = |r: u32| &nodes[offsets[r as usize]..offsets[r as usize + 1]];
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        sort_unstable_by(&mut order, |&a, &b| row(a).cmp(row(b)), progress)?;
        let mut distinct = Self { offsets: vec![0], nodes: Vec::new(), weights: Vec::new() };
        for same in order.chunk_by(|&a, &b| row(a) == row(b)) {
            distinct.nodes.extend_from_slice(row(same[0]));
            distinct.offsets.push(distinct.nodes.len());
            distinct.weights.push(same.iter().map(|&r| weights[r as usize]).sum());
            pulse.work(row(same[0]).len() + same.len())?;
        }
        Ok(distinct)
    }

    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn row(&self, r: usize) -> &[NodeId] {
        &self.nodes[self.offsets[r]..self.offsets[r + 1]]
    }
}

/// How many leaves an instance published as each node may be: 0 for a node
/// with one leaf. NCP(n) of partition-2009, section 3.2, times |I|.
pub(super) fn penalties(hierarchy: &Hierarchy) -> Vec<u32> {
    (0..hierarchy.len() as NodeId)
        .map(|node| match hierarchy.leaf_count(node) {
            1 => 0,
            leaves => leaves,
        })
        .collect()
}

/// Classes of nodes as a body: labels in the order of the text, classes in
/// canonical order, equal ones added up. The hierarchy is set by the caller.
pub(super) fn body(
    hierarchy: &Hierarchy,
    classes: &[(Vec<NodeId>, u32)],
    progress: &dyn Progress,
) -> Result<Generalized> {
    let mut nodes: Vec<NodeId> = classes.iter().flat_map(|c| c.0.iter().copied()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.sort_unstable_by(|&a, &b| hierarchy.label(a).cmp(hierarchy.label(b)));
    let vocabulary = Vocabulary::from_sorted(nodes.iter().map(|&n| hierarchy.label(n)));
    let mut items: Vec<ItemId> = vec![0; hierarchy.len()];
    for (item, &node) in nodes.iter().enumerate() {
        items[node as usize] = item as ItemId;
    }
    let labelled: Vec<(Vec<ItemId>, u32)> = classes
        .par_iter()
        .map(|(nodes, count)| {
            let mut set: Vec<ItemId> = nodes.iter().map(|&n| items[n as usize]).collect();
            set.sort_unstable();
            (set, *count)
        })
        .collect();
    progress.step(0)?;
    let counted = labelled.iter().map(|(set, count)| (&set[..], *count));
    let classes = Bag::try_from_counted(counted, progress)?;
    Ok(Generalized { vocabulary, classes, hierarchy: None })
}
