//! Bounds and expectations for an itemset in one published cluster.
//!
//! Bounds hold in every world, at any depth. An expectation is exact for a
//! simple cluster and for an itemset that stands inside one record or shared
//! chunk wherever it can be. In a joint cluster it is an approximation:
//! counting its worlds means counting the ways to distribute sub-records over
//! leaves such that no record stays empty, which has no closed form. Each
//! sub-record of a shared chunk is sent to the leaves where it may go in
//! proportion to their sizes, independently of all others, and each leaf is
//! then counted exactly as if these mean numbers of sub-records (rounded) were
//! its own chunk. Neglected are: that sub-records of one chunk need different
//! records, that leaves compete for them, and that a leaf with few sub-records
//! of its own needs more of them. The result is kept inside the bounds.

use super::cluster::{ClusterWorlds, Node};
use super::parts::{Asked, Parts};
use super::{Answer, bounds};
use crate::data::ItemId;

/// Up to this many items, lower bounds try every way to split the itemset.
const SPLIT_LIMIT: usize = 6;

/// In joint clusters of up to this many clusters, lower bounds also look for
/// items that must overlap because the whole has too few records.
const OVERLAP_LIMIT: usize = 32;

/// A leaf that can have the itemset.
pub(super) struct Found {
    pub(super) leaf: usize,
    pub(super) parts: Parts,
    upper: u64,
}

impl ClusterWorlds<'_> {
    /// The leaves that can have the itemset, ascending.
    fn find(&self, itemset: &[ItemId]) -> Vec<Found> {
        let sites = self.sites(itemset);
        let mut asked = Asked::default();
        let found = sites.iter().filter_map(|(l, sources)| {
            let leaf = &self.leaves[l];
            let parts = self.parts(leaf, itemset, sources, &mut asked)?;
            let upper = parts.upper(leaf);
            Some(Found { leaf: l, parts, upper })
        });
        found.collect()
    }

    /// Bounds and expectation for a non-empty itemset.
    pub(super) fn answer(&self, itemset: &[ItemId]) -> Answer {
        let found = self.find(itemset);
        if found.is_empty() {
            return Answer::NONE;
        }
        if !self.is_joint() {
            let Found { leaf, parts, .. } = &found[0];
            let answer = self.leaves[*leaf].model.answer(&parts.counts(), parts.terms);
            let expected = answer.expected.clamp(answer.lower as f64, answer.upper as f64);
            return Answer { expected, ..answer };
        }
        let (mut expected, mut exact) = (0.0, true);
        for Found { leaf, parts, .. } in &found {
            let leaf = &self.leaves[*leaf];
            expected += parts.expected(leaf);
            // A part that is the whole itemset has its published count.
            let whole = parts.sources() == 1 && parts.terms == 0;
            exact &= whole || !leaf.shares;
        }
        let upper = self.upper(self.nodes.len() - 1, &found.iter().collect::<Vec<_>>());
        let lower = self.lower(itemset, &found).min(upper);
        let expected = expected.clamp(lower as f64, upper as f64);
        Answer { lower, expected, upper, exact: exact || lower == upper }
    }

    /// The upper bound of [`answer`](Self::answer) alone.
    pub(super) fn upper_bound(&self, itemset: &[ItemId]) -> u64 {
        let found = self.find(itemset);
        self.upper(self.nodes.len() - 1, &found.iter().collect::<Vec<_>>())
    }

    /// The greatest support below `node` over the leaves that were found:
    /// leaves that draw the same parts from its shared chunks together get no
    /// more than these have.
    fn upper(&self, node: usize, found: &[&Found]) -> u64 {
        if found.len() <= 1 || self.nodes[node].children.is_empty() {
            return found.iter().map(|f| f.upper).sum();
        }
        let alike = |a: &Found, b: &Found| self.drawn(node, a).eq(self.drawn(node, b));
        if found[1..].iter().all(|f| alike(found[0], f)) {
            return self.upper_of_group(node, found);
        }
        let mut groups: Vec<Vec<&Found>> = Vec::new();
        for &f in found {
            match groups.iter_mut().find(|group| alike(group[0], f)) {
                Some(group) => group.push(f),
                None => groups.push(vec![f]),
            }
        }
        groups.iter().map(|group| self.upper_of_group(node, group)).sum()
    }

    /// What a leaf draws from the shared chunks of `node`: chunks and items.
    fn drawn<'s>(
        &'s self,
        node: usize,
        found: &'s Found,
    ) -> impl Iterator<Item = (usize, &'s [ItemId])> {
        let here = found.parts.shared.iter().filter(move |s| self.chunks[s.chunk].node() == node);
        here.map(|s| (s.chunk, &s.items[..]))
    }

    /// The greatest support of leaves that draw the same from `node`.
    fn upper_of_group(&self, node: usize, group: &[&Found]) -> u64 {
        let (mut sum, mut rest) = (0, group);
        for &child in &self.nodes[node].children {
            let end = self.nodes[child].leaves.end;
            let (below, after) = rest.split_at(rest.partition_point(|f| f.leaf < end));
            sum += self.upper(child, below);
            rest = after;
        }
        let drawn = self.drawn(node, group[0]);
        drawn.map(|(chunk, items)| self.chunks[chunk].support(items)).fold(sum, u64::min)
    }

    /// The least support: what stands together in chunks, and what must
    /// overlap because there are not enough records to stay apart.
    fn lower(&self, itemset: &[ItemId], found: &[Found]) -> u64 {
        if self.nodes.len() > OVERLAP_LIMIT {
            return self.lower_without_overlap(itemset, found);
        }
        let n = itemset.len();
        let every_split = n <= SPLIT_LIMIT;
        // Subsets in an order in which parts come before the whole. For long
        // itemsets: the single items, then everything.
        let subsets: Vec<Vec<ItemId>> = if every_split {
            let subset =
                |mask: usize| (0..n).filter(move |i| mask >> i & 1 == 1).map(|i| itemset[i]);
            (1..1 << n).map(|mask| subset(mask).collect()).collect()
        } else {
            itemset.iter().map(|&i| vec![i]).chain([itemset.to_vec()]).collect()
        };
        let mut least: Vec<Vec<u64>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let mut here: Vec<u64> = Vec::with_capacity(subsets.len());
            for (s, subset) in subsets.iter().enumerate() {
                let whole = self.whole(node, subset, &least, s);
                let overlap = if every_split {
                    let mask = s + 1;
                    let halves = (1..mask).filter(|half| half & mask == *half);
                    let sums = halves.map(|half| here[half - 1] + here[(mask ^ half) - 1]);
                    sums.max().unwrap_or(0).saturating_sub(node.size)
                } else if s == n {
                    here.iter().sum::<u64>().saturating_sub((n as u64 - 1) * node.size)
                } else {
                    0
                };
                here.push(whole.max(overlap));
            }
            least.push(here);
        }
        *least.last().and_then(|here| here.last()).expect("there is a root and an itemset")
    }

    /// The least support of subset `s` by its own sources, without splitting.
    fn whole(&self, node: &Node, subset: &[ItemId], least: &[Vec<u64>], s: usize) -> u64 {
        if node.children.is_empty() {
            let leaf = &self.leaves[node.leaves.start];
            let sources = self.sources(node.leaves.start, subset);
            let split =
                |sources: Vec<u32>| self.parts(leaf, subset, &sources, &mut Asked::default());
            return match sources.and_then(split) {
                Some(parts) if parts.shared.is_empty() => {
                    bounds::lower(&leaf.model, &parts.counts(), parts.terms, leaf.most_shared)
                }
                _ => 0,
            };
        }
        let below: u64 = node.children.iter().map(|&c| least[c][s]).sum();
        below + self.shared_wholly(node, subset)
    }

    fn shared_wholly(&self, node: &Node, itemset: &[ItemId]) -> u64 {
        let has_all = |c: &&usize| itemset.iter().all(|&i| self.chunks[**c].has(i));
        node.shared.iter().filter(has_all).map(|&c| self.chunks[c].support(itemset)).sum()
    }

    /// What the leaves and the shared chunks have for certain, added up.
    fn lower_without_overlap(&self, itemset: &[ItemId], found: &[Found]) -> u64 {
        let own = found.iter().filter(|f| f.parts.shared.is_empty()).map(|f| {
            let leaf = &self.leaves[f.leaf];
            bounds::lower(&leaf.model, &f.parts.counts(), f.parts.terms, leaf.most_shared)
        });
        let mut chunks: Vec<usize> = found
            .iter()
            .flat_map(|f| f.parts.shared.iter().filter(|s| s.items.len() == itemset.len()))
            .map(|s| s.chunk)
            .collect();
        chunks.sort_unstable();
        chunks.dedup();
        own.sum::<u64>() + chunks.iter().map(|&c| self.chunks[c].support(itemset)).sum::<u64>()
    }
}
