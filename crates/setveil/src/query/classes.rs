//! Classes: a leaf is certain where it is published, possible where a node
//! covers it.

use rustc_hash::FxHashMap;

use super::prepared::Estimate;
use crate::data::ItemId;
use crate::release::Generalized;

#[derive(Debug)]
pub(super) struct Index<'a> {
    body: &'a Generalized,
    /// Per published label, the classes that have it.
    postings: Vec<Vec<u32>>,
}

impl<'a> Index<'a> {
    pub(super) fn new(body: &'a Generalized) -> Self {
        let mut postings = vec![Vec::new(); body.vocabulary.len()];
        for (class, (items, _)) in body.classes.iter().enumerate() {
            items.iter().for_each(|&item| postings[item as usize].push(class as u32));
        }
        Self { body, postings }
    }

    pub(super) fn ask(&self, labels: &[&str]) -> Estimate {
        let covers: Vec<Vec<(ItemId, u32)>> = labels.iter().map(|l| self.covers(l)).collect();
        // Per class: how many labels are covered so far, by which nodes, and
        // with which probability all of them are there.
        let mut classes: FxHashMap<u32, Match> = FxHashMap::default();
        for (asked, covers) in covers.iter().enumerate() {
            // From the most to the least precise: the first that covers counts.
            for &(node, leaves) in covers {
                for &class in &self.postings[node as usize] {
                    let found = if asked == 0 {
                        classes.entry(class).or_insert_with(Match::new)
                    } else {
                        match classes.get_mut(&class) {
                            Some(found) => found,
                            None => continue,
                        }
                    };
                    if found.covered == asked {
                        found.add(node, leaves);
                    }
                }
            }
        }
        let mut matches: Vec<(u32, Match)> =
            classes.into_iter().filter(|(_, m)| m.covered == labels.len()).collect();
        matches.sort_unstable_by_key(|(class, _)| *class);
        let mut sum = Estimate::default();
        for (class, found) in matches {
            let count = u64::from(self.body.classes.get(class as usize).1);
            sum.lower += if found.certain { count } else { 0 };
            sum.expected += found.probability * count as f64;
            sum.upper += count;
        }
        sum
    }

    /// The published labels that can stand for `label`, the nearest first,
    /// each with the number of leaves it can stand for.
    fn covers(&self, label: &str) -> Vec<(ItemId, u32)> {
        let vocabulary = &self.body.vocabulary;
        let Some(hierarchy) = &self.body.hierarchy else {
            return vocabulary.id(label).map(|id| (id, 1)).into_iter().collect();
        };
        let mut covers = Vec::new();
        // What the hierarchy does not know can only have gone to its root.
        let mut node = hierarchy.node(label).unwrap_or(0);
        loop {
            if let Some(id) = vocabulary.id(hierarchy.label(node)) {
                covers.push((id, hierarchy.leaf_count(node)));
            }
            if node == 0 {
                return covers;
            }
            node = hierarchy.parent(node);
        }
    }
}

/// How a class can have the labels.
#[derive(Debug)]
struct Match {
    covered: usize,
    nodes: Vec<ItemId>,
    probability: f64,
    certain: bool,
}

impl Match {
    fn new() -> Self {
        Self { covered: 0, nodes: Vec::new(), probability: 1.0, certain: true }
    }

    fn add(&mut self, node: ItemId, leaves: u32) {
        self.covered += 1;
        self.certain &= leaves == 1;
        if self.nodes.contains(&node) {
            // One leaf a node: two under the same are not expected together.
            self.probability = 0.0;
        }
        self.probability /= f64::from(leaves);
        self.nodes.push(node);
    }
}
