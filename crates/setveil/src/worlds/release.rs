//! A whole release: clusters added up, and posteriors.
//!
//! The posterior of item y for somebody of whom the items S are known is the
//! sum of E[S + y] over the clusters, divided by the sum of E[S]: every record
//! of every world is as likely to be the person's as any other that has S.

use rand::RngExt;
use rustc_hash::FxHashMap;

use super::cluster::{ClusterWorlds, Leaf};
use super::parts::{Parts, contains};
use super::{Answer, Knowledge};
use crate::data::ItemId;
use crate::release::Disassociated;

/// The worlds of a disassociated release.
///
/// ```
/// use setveil::release::{Bag, Cluster, Disassociated, SimpleCluster};
/// use setveil::worlds::{Knowledge, ReleaseWorlds};
/// use setveil::data::Vocabulary;
///
/// let body = Disassociated {
///     vocabulary: Vocabulary::new(["flu", "itunes", "viagra"]),
///     clusters: vec![Cluster::Simple(SimpleCluster {
///         size: 4,
///         record_chunks: vec![Bag::from_counted([(&[0, 1][..], 3), (&[1], 1)])],
///         term_chunk: vec![2],
///     })],
/// };
/// let worlds = ReleaseWorlds::new(&body, Knowledge::Format);
/// let posterior = worlds.posterior(&[1]);
/// assert_eq!(posterior.of(0), 0.75); // three of the four with itunes have flu
/// assert!((posterior.of(2) - 8.0 / 15.0).abs() < 1e-9);
/// ```
#[derive(Clone, Debug)]
pub struct ReleaseWorlds<'a> {
    clusters: Vec<ClusterWorlds<'a>>,
    /// For each item the clusters and leaves that can have it, ascending.
    places: Vec<Vec<(u32, u32)>>,
}

/// What is known about a person's further items.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Posterior {
    /// The expected number of records that have what is known.
    pub candidates: f64,
    /// Every further item that can be there with its probability, by item.
    pub items: Vec<(ItemId, f64)>,
    /// Whether no shared chunk, and so no approximation, was involved.
    pub exact: bool,
}

impl Posterior {
    /// The probability of one item.
    pub fn of(&self, item: ItemId) -> f64 {
        let position = self.items.binary_search_by_key(&item, |(i, _)| *i);
        position.map_or(0.0, |p| self.items[p].1)
    }

    /// The most probable further item; ties go to the first text.
    pub fn best(&self) -> Option<(ItemId, f64)> {
        self.items.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a })
    }
}

impl<'a> ReleaseWorlds<'a> {
    /// Prepares all clusters.
    pub fn new(body: &'a Disassociated, knowledge: Knowledge) -> Self {
        use rayon::prelude::*;
        let clusters: Vec<ClusterWorlds> =
            body.clusters.par_iter().map(|c| ClusterWorlds::new(c, knowledge)).collect();
        let mut places = vec![Vec::new(); body.vocabulary.len()];
        for (c, cluster) in clusters.iter().enumerate() {
            for (l, leaf) in cluster.leaves.iter().enumerate() {
                let shared = leaf.shared.iter().map(|i| i.chunk);
                let chunks = leaf.own.iter().copied().chain(shared);
                let domains = chunks.flat_map(|c| &cluster.chunks[c].domain);
                for &item in domains.chain(leaf.term_chunk) {
                    let places: &mut Vec<_> = &mut places[item as usize];
                    if places.last() != Some(&(c as u32, l as u32)) {
                        places.push((c as u32, l as u32));
                    }
                }
            }
        }
        Self { clusters, places }
    }

    /// The clusters, in the release's order.
    pub fn clusters(&self) -> &[ClusterWorlds<'a>] {
        &self.clusters
    }

    /// The clusters in which every item of `itemset` has a source in one leaf.
    pub fn clusters_with(&self, itemset: &[ItemId]) -> Vec<usize> {
        let mut clusters: Vec<usize> =
            self.leaves_with(itemset).into_iter().map(|(c, _)| c as usize).collect();
        clusters.dedup();
        clusters
    }

    /// Bounds and expectation over all clusters (ascending, distinct items).
    pub fn answer(&self, itemset: &[ItemId]) -> Answer {
        if itemset.is_empty() {
            return self.clusters.iter().fold(Answer::NONE, |sum, c| sum.plus(c.answer(&[])));
        }
        let clusters = self.clusters_with(itemset);
        clusters.iter().fold(Answer::NONE, |sum, &c| sum.plus(self.clusters[c].answer(itemset)))
    }

    /// The upper bound of [`answer`](Self::answer) alone.
    pub fn upper_bound(&self, itemset: &[ItemId]) -> u64 {
        let clusters = self.clusters_with(itemset).into_iter();
        clusters.map(|c| self.clusters[c].upper_bound(itemset)).sum()
    }

    /// Draws a record as it could be: a random leaf, for each chunk a random
    /// place, each term of the term chunk by its share. Chunks are drawn
    /// independently, so this is a record of a random world only up to the
    /// rule that no other record is empty; an empty one is drawn again, and
    /// given up after a while.
    pub fn draw(&self, rng: &mut impl RngExt) -> Vec<ItemId> {
        let sizes = self.clusters.iter().map(|c| c.leaf_models().map(|m| m.size()).sum::<u64>());
        let total: u64 = sizes.clone().sum();
        if total == 0 {
            return Vec::new();
        }
        let mut place = rng.random_range(0..total);
        let cluster = sizes
            .zip(&self.clusters)
            .find(|(size, _)| {
                let here = place < *size;
                place = if here { place } else { place - size };
                here
            })
            .expect("the place is below the total")
            .1;
        let leaf = cluster
            .leaves
            .iter()
            .find(|leaf| {
                let here = place < leaf.model.size();
                place = if here { place } else { place - leaf.model.size() };
                here
            })
            .expect("the place is below the cluster's size");
        for _ in 0..100 {
            let record = draw_in(cluster, leaf, rng);
            if !record.is_empty() {
                return record;
            }
        }
        Vec::new()
    }

    fn leaves_with(&self, itemset: &[ItemId]) -> Vec<(u32, u32)> {
        let place = |item: ItemId| self.places.get(item as usize).map_or(&[][..], Vec::as_slice);
        let Some(&rarest) = itemset.iter().min_by_key(|&&i| place(i).len()) else {
            return Vec::new();
        };
        let others = itemset.iter().filter(|&&i| i != rarest);
        let others: Vec<&[(u32, u32)]> = others.map(|&i| place(i)).collect();
        let everywhere = |leaf: &&(u32, u32)| others.iter().all(|o| o.binary_search(leaf).is_ok());
        place(rarest).iter().filter(everywhere).copied().collect()
    }

    /// Whether a record could be one of the cluster's: every part of it stands
    /// in a chunk, and every item has a source in one and the same leaf.
    pub fn fits(&self, cluster: usize, record: &[ItemId]) -> bool {
        let place = |item: ItemId| self.places.get(item as usize).map_or(&[][..], Vec::as_slice);
        let Some(&rarest) = record.iter().min_by_key(|&&i| place(i).len()) else { return false };
        let places = place(rarest);
        let start = places.partition_point(|p| (p.0 as usize) < cluster);
        let here = places[start..].iter().take_while(|p| p.0 as usize == cluster);
        let mut here = here.filter(|p| record.iter().all(|&i| place(i).binary_search(p).is_ok()));
        let cluster = &self.clusters[cluster];
        here.any(|&(_, l)| {
            cluster.parts(&cluster.leaves[l as usize], record).is_some_and(|parts| {
                let own = parts.own.iter().map(|p| (p.chunk, &p.items));
                let shared = parts.shared.iter().map(|p| (p.chunk, &p.items));
                own.chain(shared).all(|(chunk, items)| {
                    cluster.chunks[chunk].bag.iter().any(|(sub_record, _)| sub_record == items)
                })
            })
        })
    }

    /// The probability of every further item of somebody who has `known`
    /// (ascending, distinct items).
    pub fn posterior(&self, known: &[ItemId]) -> Posterior {
        let mut sum = Sum { exact: true, ..Sum::default() };
        for run in self.leaves_with(known).chunk_by(|a, b| a.0 == b.0) {
            let cluster = &self.clusters[run[0].0 as usize];
            let mut spread = Spread::new(cluster);
            for &(_, l) in run {
                let leaf = &cluster.leaves[l as usize];
                if let Some(parts) = cluster.parts(leaf, known) {
                    sum.candidates += parts.expected(leaf);
                    sum.exact &= leaf.shared.is_empty();
                    sum.extend(cluster, leaf, &parts, known, &mut spread);
                }
            }
            sum.finish(cluster, spread);
        }
        sum.into_posterior(known)
    }
}

fn draw_in(cluster: &ClusterWorlds, leaf: &Leaf, rng: &mut impl RngExt) -> Vec<ItemId> {
    let size = leaf.model.size() as f64;
    let mut record = Vec::new();
    for &c in &leaf.own {
        let mut place = rng.random_range(0..leaf.model.size());
        for (items, count) in cluster.chunks[c].bag.iter() {
            if place < u64::from(count) {
                record.extend_from_slice(items);
                break;
            }
            place -= u64::from(count);
        }
    }
    for inflow in &leaf.shared {
        let chunk = &cluster.chunks[inflow.chunk];
        let mut place: f64 = rng.random();
        for ((items, count), open) in chunk.bag.iter().zip(&chunk.open) {
            place -= if inflow.lets_in(items) { f64::from(count) / *open as f64 } else { 0.0 };
            if place < 0.0 {
                record.extend_from_slice(items);
                break;
            }
        }
    }
    let share = (leaf.model.ratio(0, 1) / size).clamp(0.0, 1.0);
    record.extend(leaf.term_chunk.iter().filter(|_| rng.random_bool(share)));
    record.sort_unstable();
    record.dedup();
    record
}

/// Expected supports of known + y so far.
#[derive(Default)]
struct Sum {
    candidates: f64,
    with: FxHashMap<ItemId, f64>,
    exact: bool,
}

/// Weights of whole shared chunks, which are the same for many leaves and
/// therefore multiplied out once per cluster: what to multiply the mean per
/// record by.
struct Spread {
    /// For all shared chunks of a joint cluster, by node.
    nodes: Vec<f64>,
    /// What to take off again for chunks that are exceptions, by chunk.
    exceptions: Vec<f64>,
    /// For chunks of which some items are known.
    known: Vec<(usize, Vec<ItemId>, f64)>,
}

impl Spread {
    fn new(cluster: &ClusterWorlds) -> Self {
        let (nodes, chunks) = (cluster.nodes.len(), cluster.chunks.len());
        Self { nodes: vec![0.0; nodes], exceptions: vec![0.0; chunks], known: Vec::new() }
    }

    fn add_known(&mut self, chunk: usize, items: &[ItemId], weight: f64) {
        match self.known.iter_mut().find(|(c, i, _)| *c == chunk && i == items) {
            Some((_, _, sum)) => *sum += weight,
            None => self.known.push((chunk, items.to_vec(), weight)),
        }
    }
}

impl Sum {
    fn add(&mut self, item: ItemId, expected: f64) {
        *self.with.entry(item).or_default() += expected;
    }

    /// Adds E[known + y] of one leaf for every y.
    fn extend(
        &mut self,
        cluster: &ClusterWorlds,
        leaf: &Leaf,
        parts: &Parts,
        known: &[ItemId],
        spread: &mut Spread,
    ) {
        let (q, w, product) = (parts.sources(), parts.terms, parts.product());
        let same = product * leaf.model.ratio(q, w);
        let another = product * leaf.model.ratio(q + 1, w);
        for &c in &leaf.own {
            let chunk = &cluster.chunks[c];
            match parts.own.iter().find(|p| p.chunk == c) {
                // y beside what is known: the sub-records that have both.
                Some(part) => {
                    let weight = same / part.count as f64;
                    for (items, count) in chunk.bag.iter().filter(|s| contains(s.0, &part.items)) {
                        items.iter().for_each(|&y| self.add(y, weight * f64::from(count)));
                    }
                }
                None => {
                    for (&y, &(support, _)) in chunk.domain.iter().zip(&chunk.supports) {
                        self.add(y, another * support as f64);
                    }
                }
            }
        }
        let term = product * leaf.model.ratio(q, w + 1);
        for &y in leaf.term_chunk.iter().filter(|y| known.binary_search(y).is_err()) {
            self.add(y, term);
        }
        let per_record = leaf.model.size() as f64;
        leaf.path.iter().for_each(|&node| spread.nodes[node] += another * per_record);
        for &chunk in &leaf.exceptions {
            spread.exceptions[chunk] += another * per_record;
        }
        for part in parts.shared.iter().filter(|p| leaf.shared[p.inflow].blocked.is_empty()) {
            spread.exceptions[part.chunk] += another * per_record;
            spread.add_known(part.chunk, &part.items, same / part.mean * per_record);
        }
        for &i in &leaf.partly {
            let inflow = &leaf.shared[i];
            let (items, weight) = match parts.shared.iter().find(|p| p.inflow == i) {
                Some(part) => (&part.items[..], same / part.mean * per_record),
                None => (&[][..], another * per_record),
            };
            let chunk = &cluster.chunks[inflow.chunk];
            let coming = chunk.bag.iter().zip(&chunk.open).filter(|((sub_record, _), _)| {
                contains(sub_record, items) && inflow.lets_in(sub_record)
            });
            for ((sub_record, count), open) in coming {
                let weight = weight * f64::from(count) / *open as f64;
                sub_record.iter().for_each(|&y| self.add(y, weight));
            }
        }
    }

    /// Multiplies out what was collected per shared chunk.
    fn finish(&mut self, cluster: &ClusterWorlds, spread: Spread) {
        for (node, all) in cluster.nodes.iter().zip(spread.nodes).filter(|(_, all)| *all > 0.0) {
            for &c in &node.shared {
                let (chunk, weight) = (&cluster.chunks[c], all - spread.exceptions[c]);
                // Nothing but rounding is left where every leaf is an exception.
                if weight > 1e-9 * all {
                    for (&y, &(_, mean)) in chunk.domain.iter().zip(&chunk.supports) {
                        self.add(y, weight * mean);
                    }
                }
            }
        }
        for (chunk, items, weight) in spread.known {
            let chunk = &cluster.chunks[chunk];
            for ((sub_record, count), open) in chunk.bag.iter().zip(&chunk.open) {
                if contains(sub_record, &items) {
                    let weight = weight * f64::from(count) / *open as f64;
                    sub_record.iter().for_each(|&y| self.add(y, weight));
                }
            }
        }
    }

    fn into_posterior(self, known: &[ItemId]) -> Posterior {
        let candidates = self.candidates;
        if candidates <= 0.0 {
            return Posterior { exact: true, ..Posterior::default() };
        }
        let mut items: Vec<(ItemId, f64)> = self
            .with
            .into_iter()
            .filter(|(y, _)| known.binary_search(y).is_err())
            .map(|(y, expected)| (y, (expected / candidates).min(1.0)))
            .collect();
        items.sort_unstable_by_key(|(y, _)| *y);
        Posterior { candidates, items, exact: self.exact }
    }
}
