//! A whole release: clusters added up, and posteriors.
//!
//! The posterior of item y for somebody of whom the items S are known is the
//! sum of E[S + y] over the clusters, divided by the sum of E[S]: every record
//! of every world is as likely to be the person's as any other that has S.

use std::sync::OnceLock;

use rand::RngExt;
use rustc_hash::FxHashMap;

use super::cluster::{Assumptions, ClusterWorlds, Leaf, lets_in};
use super::parts::{Asked, Parts, contains};
use super::places::Places;
use super::{Answer, Knowledge, Room};
use crate::data::ItemId;
use crate::release::Disassociated;
use crate::{Progress, Result, Stage};

/// The worlds of a disassociated body that somebody else owns.
#[derive(Debug)]
pub(crate) struct BodyWorlds<'a> {
    clusters: Vec<ClusterWorlds<'a>>,
    places: Places,
    /// Answers for single items that have been asked for: frequent items are
    /// in most leaves, and everybody asks about them.
    singles: Vec<OnceLock<Answer>>,
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

impl<'a> BodyWorlds<'a> {
    /// Prepares all clusters, for bounds and expectations over the same worlds.
    pub(crate) fn new(
        body: &'a Disassociated,
        knowledge: Knowledge,
        progress: &dyn Progress,
    ) -> Result<Self> {
        Self::expecting(body, knowledge, &|_| knowledge, progress)
    }

    /// See [`ReleaseWorlds::expecting`](super::ReleaseWorlds::expecting).
    pub(crate) fn expecting(
        body: &'a Disassociated,
        possible: Knowledge,
        likely: &(dyn Fn(Room) -> Knowledge + Sync),
        progress: &dyn Progress,
    ) -> Result<Self> {
        use rayon::prelude::*;
        progress.stage(Stage::Worlds, Some(body.clusters.len() as u64));
        let assumptions = Assumptions { possible, likely };
        let prepare = |cluster| {
            progress.step(1)?;
            ClusterWorlds::new(cluster, &assumptions, progress)
        };
        let clusters: Vec<ClusterWorlds> =
            body.clusters.par_iter().map(prepare).collect::<Result<_>>()?;
        let places = Places::new(&clusters, body.vocabulary.len(), progress)?;
        let singles = vec![OnceLock::new(); body.vocabulary.len()];
        Ok(Self { clusters, places, singles })
    }

    /// Bounds and expectation over all clusters (ascending, distinct items).
    pub(crate) fn answer(&self, itemset: &[ItemId]) -> Answer {
        if itemset.is_empty() {
            let all: u64 = self.clusters.iter().map(ClusterWorlds::size).sum();
            return Answer { lower: all, expected: all as f64, upper: all, exact: true };
        }
        if let [item] = itemset
            && let Some(known) = self.singles.get(*item as usize)
        {
            return *known.get_or_init(|| self.add_up(itemset));
        }
        self.add_up(itemset)
    }

    fn add_up(&self, itemset: &[ItemId]) -> Answer {
        let found = self.places.with(itemset);
        let answers = found.clusters().map(|(c, sites)| self.clusters[c].answer(sites, itemset));
        answers.fold(Answer::NONE, Answer::plus)
    }

    /// The upper bound of [`answer`](Self::answer) alone.
    pub(crate) fn upper_bound(&self, itemset: &[ItemId]) -> u64 {
        self.upper_bounds(itemset).iter().map(|(_, upper)| upper).sum()
    }

    /// The clusters in which every item of a non-empty itemset has a source in
    /// one leaf, each with the upper bound there.
    pub(crate) fn upper_bounds(&self, itemset: &[ItemId]) -> Vec<(usize, u64)> {
        let found = self.places.with(itemset);
        let bound = |(c, sites)| -> (usize, u64) {
            (c, ClusterWorlds::upper_bound(&self.clusters[c], sites, itemset))
        };
        found.clusters().map(bound).collect()
    }

    /// Draws a record as it could be: a random leaf, for each chunk a random
    /// place, each term of the term chunk by its share. Chunks are drawn
    /// independently, so this is a record of a random world only up to the
    /// rule that no other record is empty; an empty one is drawn again, and
    /// given up after a while.
    pub(crate) fn draw(&self, rng: &mut impl RngExt) -> Vec<ItemId> {
        let sizes = self.clusters.iter().map(ClusterWorlds::size);
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

    /// Whether a record could be one of the cluster's: every part of it stands
    /// in a chunk, and every item has a source in one and the same leaf.
    pub(crate) fn fits(&self, cluster: usize, record: &[ItemId]) -> bool {
        let leaves = self.places.with_in(cluster, record);
        let cluster = &self.clusters[cluster];
        leaves.into_iter().any(|(l, sources)| {
            let leaf = &cluster.leaves[l];
            let parts = cluster.parts(leaf, record, &sources, &mut Asked::default());
            parts.is_some_and(|parts| {
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
    pub(crate) fn posterior(&self, known: &[ItemId]) -> Posterior {
        let mut sum = Sum { exact: true, ..Sum::default() };
        let found = self.places.with(known);
        for (c, sites) in found.clusters() {
            let cluster = &self.clusters[c];
            let (mut spread, mut asked) = (Spread::new(cluster), Asked::default());
            for (l, sources) in sites.iter() {
                let leaf = &cluster.leaves[l];
                if let Some(parts) = cluster.parts(leaf, known, sources, &mut asked) {
                    sum.candidates += parts.expected(leaf);
                    sum.exact &= !leaf.shares;
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
    for (chunk, blocked) in cluster.inflows(leaf) {
        let chunk = &cluster.chunks[chunk];
        let mut place: f64 = rng.random();
        for ((items, count), open) in chunk.bag.iter().zip(&chunk.open) {
            place -= if lets_in(blocked, items) { f64::from(count) / *open as f64 } else { 0.0 };
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
        for part in parts.shared.iter().filter(|p| leaf.blocked(p.chunk).is_empty()) {
            spread.exceptions[part.chunk] += another * per_record;
            spread.add_known(part.chunk, &part.items, same / part.mean * per_record);
        }
        for partly in &leaf.partly {
            let (items, weight) = match parts.shared.iter().find(|p| p.chunk == partly.chunk) {
                Some(part) => (&part.items[..], same / part.mean * per_record),
                None => (&[][..], another * per_record),
            };
            let chunk = &cluster.chunks[partly.chunk];
            chunk.each_with(items, |u, sub_record, count| {
                if lets_in(&partly.blocked, sub_record) {
                    let weight = weight * f64::from(count) / chunk.open[u] as f64;
                    sub_record.iter().for_each(|&y| self.add(y, weight));
                }
            });
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
            chunk.each_with(&items, |u, sub_record, count| {
                let weight = weight * f64::from(count) / chunk.open[u] as f64;
                sub_record.iter().for_each(|&y| self.add(y, weight));
            });
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
