//! `tkd`, `tkd_a` and `tkd_ml2`: how many of the most frequent itemsets are
//! lost (disassociation-2012, equation 2).

use std::collections::BTreeSet;

use super::Comparison;
use crate::Result;
use crate::data::hierarchy::NodeId;
use crate::data::{Hierarchy, ItemId, Vocabulary};
use crate::mine::{Compatible, Transactions, top_k};
use crate::progress::{Progress, Pulse};
use crate::release::Body;

/// The deviations on original labels: `(tkd, tkd_a)`. The original is mined
/// once for both. `tkd_a` is none for a release without chunks.
///
/// # Errors
/// If `progress` says stop.
pub fn tkd(comparison: &Comparison, progress: &dyn Progress) -> Result<(Option<f64>, Option<f64>)> {
    let any = |_, _| true;
    let frequent = itemsets(&comparison.originals, comparison.options.top, &any, progress)?;
    let lost = |published: &Transactions| {
        let found = itemsets(published, comparison.options.top, &any, progress)?;
        Ok(deviation(&frequent, &found))
    };
    let inside = match &comparison.chunks {
        Some(chunks) => lost(chunks)?,
        None => None,
    };
    Ok((lost(&comparison.reconstructed)?, inside))
}

/// `tkd_ml2`: the same over generalised itemsets, mined at all levels of the
/// hierarchy at once: a record also contains the ancestors of its items. An
/// itemset never holds a node together with its ancestor (that says nothing
/// new), nor the root. Classes are mined as they are published, so what was
/// generalised above a node is lost for it. Items outside the hierarchy stand
/// for themselves. None without a hierarchy.
///
/// # Errors
/// If `progress` says stop.
pub fn tkd_ml2(comparison: &Comparison, progress: &dyn Progress) -> Result<Option<f64>> {
    let own = match &comparison.release.body {
        Body::Generalized(body) => body.hierarchy.as_ref(),
        _ => None,
    };
    let Some(hierarchy) = comparison.options.hierarchy.as_deref().or(own) else {
        return Ok(None);
    };
    let levels = Levels::new(hierarchy, &comparison.vocabulary);
    let published = match &comparison.release.body {
        Body::Generalized(body) => {
            let vocabulary = &body.vocabulary;
            let classes = body.classes.iter().map(|(items, count)| (items, count.into()));
            levels.extend(vocabulary, classes, progress)?
        }
        _ => levels.extend(&comparison.vocabulary, comparison.reconstructed.iter(), progress)?,
    };
    let original = levels.extend(&comparison.vocabulary, comparison.originals.iter(), progress)?;
    let unrelated = |a, b| levels.unrelated(a, b);
    let top = comparison.options.top;
    let frequent = itemsets(&original, top, &unrelated, progress)?;
    Ok(deviation(&frequent, &itemsets(&published, top, &unrelated, progress)?))
}

fn itemsets(
    data: &Transactions,
    top: usize,
    compatible: Compatible,
    progress: &dyn Progress,
) -> Result<BTreeSet<Vec<ItemId>>> {
    Ok(top_k(data, top, compatible, progress)?.into_iter().map(|f| f.items).collect())
}

/// 1 - |FI and FI'| / |FI|.
fn deviation(frequent: &BTreeSet<Vec<ItemId>>, published: &BTreeSet<Vec<ItemId>>) -> Option<f64> {
    let kept = frequent.intersection(published).count();
    (!frequent.is_empty()).then(|| 1.0 - kept as f64 / frequent.len() as f64)
}

/// Items and nodes in one numbering by text.
struct Levels<'a> {
    hierarchy: &'a Hierarchy,
    labels: Vocabulary,
    /// The node of each label, where there is one.
    nodes: Vec<Option<NodeId>>,
}

impl<'a> Levels<'a> {
    fn new(hierarchy: &'a Hierarchy, items: &Vocabulary) -> Self {
        let nodes = (0..hierarchy.len() as NodeId).map(|n| hierarchy.label(n));
        let labels = Vocabulary::new(nodes.chain(items.labels()));
        let nodes = labels.labels().map(|label| hierarchy.node(label)).collect();
        Self { hierarchy, labels, nodes }
    }

    fn id(&self, label: &str) -> ItemId {
        self.labels.id(label).expect("all labels are in it")
    }

    /// Transactions with the ancestors of their items, without the root.
    fn extend<'t>(
        &self,
        vocabulary: &Vocabulary,
        transactions: impl Iterator<Item = (&'t [ItemId], u64)>,
        progress: &dyn Progress,
    ) -> Result<Transactions> {
        let upward: Vec<Vec<ItemId>> = vocabulary.labels().map(|l| self.upward(l)).collect();
        let mut builder = Transactions::builder(self.labels.len());
        let mut extended = Vec::new();
        let mut pulse = Pulse::new(progress);
        for (items, weight) in transactions {
            pulse.work(items.len())?;
            extended.clear();
            extended.extend(items.iter().flat_map(|&i| &upward[i as usize]).copied());
            extended.sort_unstable();
            extended.dedup();
            builder.push(&extended, weight);
        }
        builder.build(progress)
    }

    fn upward(&self, label: &str) -> Vec<ItemId> {
        let Some(mut node) = self.hierarchy.node(label) else { return vec![self.id(label)] };
        let mut path = Vec::new();
        while node != 0 {
            path.push(self.id(self.hierarchy.label(node)));
            node = self.hierarchy.parent(node);
        }
        path
    }

    fn unrelated(&self, a: ItemId, b: ItemId) -> bool {
        match (self.nodes[a as usize], self.nodes[b as usize]) {
            (Some(a), Some(b)) => !self.hierarchy.covers(a, b) && !self.hierarchy.covers(b, a),
            _ => true,
        }
    }
}
