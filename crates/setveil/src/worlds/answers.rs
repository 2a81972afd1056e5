//! Bounds and expectations for an itemset in one joint cluster; the least support is
//! in [`least`](super::least).
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

use super::cluster::{ClusterWorlds, Leaf};
use super::parts::{Asked, Parts};
use super::{Answer, bounds};
use crate::data::ItemId;

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
        match *itemset {
            [a, b] => self.answer_pair([a, b]),
            _ => self.answer_any(itemset),
        }
    }

    fn answer_any(&self, itemset: &[ItemId]) -> Answer {
        let found = self.find(itemset);
        if found.is_empty() {
            return Answer::NONE;
        }
        let (mut expected, mut exact) = (0.0, true);
        for Found { leaf, parts, .. } in &found {
            let leaf = &self.leaves[*leaf];
            expected += self.expected(leaf, parts);
            // A part that is the whole itemset has its published count.
            let whole = parts.sources() == 1 && parts.terms == 0;
            exact &= whole || !leaf.shares;
        }
        let upper = self.upper(self.nodes.len() - 1, &found.iter().collect::<Vec<_>>());
        let own = found.iter().filter(|f| f.parts.shared.is_empty()).map(|f| {
            let leaf = &self.leaves[f.leaf];
            bounds::lower(&leaf.model, &f.parts.counts(), f.parts.terms, leaf.most_shared)
        });
        let lower = self.lower(itemset, own.sum()).min(upper);
        let expected = expected.clamp(lower as f64, upper as f64);
        Answer { lower, expected, upper, exact: exact || lower == upper }
    }

    fn expected(&self, leaf: &Leaf, parts: &Parts) -> f64 {
        let own = parts.own.iter().map(|part| part.count as f64);
        let most = own.chain(parts.shared.iter().map(|part| part.mean));
        let most = most.fold(leaf.model.size() as f64, f64::min);
        let product = parts.product();
        let mean = |chunks, terms| {
            let product = if chunks == 0 { 1.0 } else { product };
            product * leaf.model.ratio(chunks, terms)
        };
        self.prior.expected(parts.sources(), parts.terms, most, mean)
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
}

#[cfg(test)]
mod tests {
    use rand::seq::index::sample;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::cluster::{Assumptions, ClusterWorlds};
    use super::super::{Factors, Knowledge};
    use crate::data::{ItemId, K};
    use crate::release::{Bag, Cluster, JointCluster, SimpleCluster};

    fn bag(rng: &mut ChaCha8Rng, items: &[ItemId], most: u32) -> Bag {
        let count = rng.random_range(1..=most);
        let sub_records: Vec<Vec<ItemId>> = (0..count)
            .map(|_| {
                let some = rng.random_range(1..=items.len());
                let mut chosen: Vec<ItemId> =
                    sample(rng, items.len(), some).iter().map(|i| items[i]).collect();
                chosen.sort_unstable();
                chosen
            })
            .collect();
        Bag::from_itemsets(sub_records.iter().map(Vec::as_slice))
    }

    /// Items are dealt out so that every leaf has each from one chunk of its own at most.
    fn leaf(rng: &mut ChaCha8Rng) -> Cluster {
        let size = rng.random_range(2..=6);
        let mut places: [Vec<ItemId>; 4] = Default::default();
        (0..10).for_each(|item| places[rng.random_range(0..4)].push(item));
        let [a, b, terms, _] = places;
        let chunks = [a, b].into_iter().filter(|items| !items.is_empty());
        let record_chunks = chunks.map(|items| bag(rng, &items, size)).collect();
        Cluster::Simple(SimpleCluster { size, record_chunks, term_chunk: terms })
    }

    fn joint(rng: &mut ChaCha8Rng, depth: u32) -> Cluster {
        let children: Vec<Cluster> =
            (0..rng.random_range(2..=4))
                .map(|_| {
                    if depth > 0 && rng.random_bool(0.6) {
                        joint(rng, depth - 1)
                    } else {
                        leaf(rng)
                    }
                })
                .collect();
        let size = children.iter().map(Cluster::size).sum();
        let mut items: Vec<ItemId> = sample(rng, 10, 5).iter().map(|i| i as ItemId).collect();
        items.sort_unstable();
        let (first, second) = items.split_at(rng.random_range(1..5));
        let shared_chunks = [first, second].map(|items| bag(rng, items, size / 2)).into();
        Cluster::Joint(JointCluster { size, shared_chunks, children })
    }

    #[test]
    fn pairs_get_the_answer_of_any_itemset() {
        let mut rng = ChaCha8Rng::seed_from_u64(17);
        let mut apart = 0;
        for depth in (0..4).cycle().take(200) {
            let cluster = joint(&mut rng, depth);
            let knowledge = match rng.random_bool(0.5) {
                true => Knowledge::Format,
                false => Knowledge::Algorithm(K::new(3).unwrap()),
            };
            let likely = Box::new(move |_| knowledge);
            let prior = if rng.random_bool(0.5) { Factors::WORLDS } else { Factors::measured(1.0) };
            let assumptions = Assumptions { possible: knowledge, likely, prior };
            let worlds = ClusterWorlds::new(&cluster, &assumptions, &Default::default());
            for (a, b) in (0..10).flat_map(|a| (a + 1..10).map(move |b| (a, b))) {
                let (pair, any) = (worlds.answer_pair([a, b]), worlds.answer_any(&[a, b]));
                let bounds = |answer: &super::Answer| (answer.lower, answer.upper, answer.exact);
                assert_eq!(bounds(&pair), bounds(&any), "{a} {b} {cluster:?}");
                let off = (pair.expected - any.expected).abs();
                assert!(off <= 1e-9 * any.expected.max(1.0), "{a} {b} {cluster:?}");
                apart += u32::from(any.lower < any.upper);
            }
        }
        assert!(apart > 1000, "only {apart} pairs are open");
    }
}
