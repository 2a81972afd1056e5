//! Clusters: the possible worlds of each cluster that can have the itemset.

use rayon::prelude::*;

use super::{Estimate, intersection};
use crate::data::{ItemId, K};
use crate::reconstruct::TermOccurrences;
use crate::release::{Bag, Cluster, Disassociated};
use crate::worlds::{ClusterWorlds, Knowledge};

/// Clusters that one task answers for.
const PIECE: usize = 256;

#[derive(Debug)]
pub(super) struct Index<'a> {
    body: &'a Disassociated,
    /// For the bounds: whatever the format allows.
    worlds: Vec<ClusterWorlds<'a>>,
    /// For the expectation, where terms occur less often than the format allows.
    likely: Option<Vec<ClusterWorlds<'a>>>,
    /// Per item, the clusters that have it.
    postings: Vec<Vec<u32>>,
}

impl<'a> Index<'a> {
    pub(super) fn new(body: &'a Disassociated, terms: TermOccurrences, k: Option<u32>) -> Self {
        let worlds = |knowledge: &(dyn Fn(&Cluster) -> Knowledge + Sync)| -> Vec<_> {
            let clusters = body.clusters.par_iter();
            clusters.map(|cluster| ClusterWorlds::new(cluster, knowledge(cluster))).collect()
        };
        let likely = (terms != TermOccurrences::Any)
            .then(|| worlds(&|cluster| knowledge(cluster, terms, k)));
        let mut postings = vec![Vec::new(); body.vocabulary.len()];
        for (c, cluster) in body.clusters.iter().enumerate() {
            for item in items(cluster) {
                postings[item as usize].push(c as u32);
            }
        }
        Self { body, worlds: worlds(&|_| Knowledge::Format), likely, postings }
    }

    pub(super) fn ask(&self, labels: &[&str]) -> Estimate {
        let ids = labels.iter().map(|label| self.body.vocabulary.id(label));
        let Some(itemset) = ids.collect::<Option<Vec<ItemId>>>() else {
            return Estimate::default();
        };
        let lists: Vec<&[u32]> =
            itemset.iter().map(|&item| &self.postings[item as usize][..]).collect();
        let clusters = intersection(&lists);
        // Pieces in order, so that the sum does not depend on the threads.
        let pieces: Vec<Estimate> =
            clusters.par_chunks(PIECE).map(|piece| self.add_up(piece, &itemset)).collect();
        pieces.into_iter().fold(Estimate::default(), plus)
    }

    fn add_up(&self, clusters: &[u32], itemset: &[ItemId]) -> Estimate {
        clusters.iter().fold(Estimate::default(), |sum, &c| {
            let bounds = self.worlds[c as usize].answer(itemset);
            let expected = match &self.likely {
                Some(likely) if bounds.lower < bounds.upper => {
                    likely[c as usize].answer(itemset).expected
                }
                _ => bounds.expected,
            };
            plus(sum, Estimate { lower: bounds.lower, expected, upper: bounds.upper })
        })
    }
}

fn plus(a: Estimate, b: Estimate) -> Estimate {
    Estimate {
        lower: a.lower + b.lower,
        expected: a.expected + b.expected,
        upper: a.upper + b.upper,
    }
}

/// The occurrences that a reconstruction gives to the cluster's terms, as
/// knowledge about them: below some k.
fn knowledge(cluster: &Cluster, terms: TermOccurrences, k: Option<u32>) -> Knowledge {
    let caps = cluster.leaves().into_iter().map(|leaf| {
        let own: u64 = leaf.record_chunks.iter().map(Bag::total).sum();
        let uncovered = u64::from(leaf.size).saturating_sub(own) as usize;
        // In a joint cluster shared sub-records fill records too.
        let uncovered = if matches!(cluster, Cluster::Joint(_)) { 0 } else { uncovered };
        terms.cap(k, leaf.size as usize, uncovered, leaf.term_chunk.len())
    });
    let cap = caps.max().unwrap_or(1) as u32;
    K::new(cap.saturating_add(1)).map_or(Knowledge::Format, Knowledge::Algorithm)
}

/// The distinct items of a cluster.
fn items(cluster: &Cluster) -> Vec<ItemId> {
    let (mut items, mut stack) = (Vec::new(), vec![cluster]);
    while let Some(cluster) = stack.pop() {
        items.extend(cluster.chunks().iter().flat_map(|chunk| chunk.items()));
        if let Cluster::Simple(leaf) = cluster {
            items.extend_from_slice(&leaf.term_chunk);
        }
        stack.extend(cluster.children());
    }
    items.sort_unstable();
    items.dedup();
    items
}
