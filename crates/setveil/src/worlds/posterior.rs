//! What is learned about somebody of whom some items are known.
//!
//! The posterior of item y for somebody of whom the items S are known is the
//! sum of E[S + y] over the clusters, divided by the sum of E[S]: every record
//! of every world is as likely to be the person's as any other that has S.

use super::ClusterModel;
use super::chunk::{contains, lets_in};
use super::cluster::ClusterWorlds;
use super::parts::{Asked, Items, Parts};
use super::simple::Split;
use crate::data::ItemId;
use crate::release::SimpleCluster;

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

/// Expected supports of known + y so far.
pub(super) struct Sum {
    candidates: f64,
    /// By item: most questions touch a good part of all items. What stands at those that are known means nothing.
    with: Vec<f64>,
    /// Whether a shared chunk was involved.
    approximate: bool,
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
    known: Vec<(usize, Items, f64)>,
}

impl Spread {
    fn new(cluster: &ClusterWorlds) -> Self {
        let (nodes, chunks) = (cluster.nodes.len(), cluster.chunks.len());
        Self { nodes: vec![0.0; nodes], exceptions: vec![0.0; chunks], known: Vec::new() }
    }

    fn add_known(&mut self, chunk: usize, items: &[ItemId], weight: f64) {
        match self.known.iter_mut().find(|(c, i, _)| *c == chunk && i[..] == *items) {
            Some((_, _, sum)) => *sum += weight,
            None => self.known.push((chunk, Items::from_slice(items), weight)),
        }
    }
}

impl Sum {
    pub(super) fn new(items: usize) -> Self {
        Self { candidates: 0.0, with: vec![0.0; items], approximate: false }
    }

    /// Adds a simple cluster: E[known + y] for every y.
    pub(super) fn add_simple(&mut self, leaf: &SimpleCluster, model: &ClusterModel, split: &Split) {
        let (q, w) = (split.parts.len(), split.terms);
        let product: f64 = split.parts.iter().map(|part| part.2 as f64).product();
        let same = product * model.ratio(q, w);
        self.candidates += same;
        let another =
            if q < leaf.record_chunks.len() { product * model.ratio(q + 1, w) } else { 0.0 };
        for (c, bag) in leaf.record_chunks.iter().enumerate() {
            match split.parts.iter().find(|part| part.0 as usize == c) {
                // y beside what is known: the sub-records that have both.
                Some((_, items, support)) => {
                    let weight = same / *support as f64;
                    for (sub_record, count) in bag.iter().filter(|s| contains(s.0, items)) {
                        sub_record.iter().for_each(|&y| self.add(y, weight * f64::from(count)));
                    }
                }
                None => {
                    for (sub_record, count) in bag.iter() {
                        sub_record.iter().for_each(|&y| self.add(y, another * f64::from(count)));
                    }
                }
            }
        }
        if leaf.term_chunk.len() > w {
            let term = product * model.ratio(q, w + 1);
            leaf.term_chunk.iter().for_each(|&y| self.add(y, term));
        }
    }

    /// Adds a joint cluster.
    pub(super) fn add_joint(&mut self, cluster: &ClusterWorlds, known: &[ItemId]) {
        let sites = cluster.sites(known);
        if sites.is_empty() {
            return;
        }
        let (mut spread, mut asked) = (Spread::new(cluster), Asked::default());
        for (l, sources) in sites.iter() {
            let leaf = &cluster.leaves[l];
            if let Some(parts) = cluster.parts(leaf, known, sources, &mut asked) {
                self.candidates += parts.expected(leaf);
                self.approximate |= leaf.shares;
                self.extend(cluster, l, &parts, &mut spread);
            }
        }
        self.finish(cluster, spread);
    }

    fn add(&mut self, item: ItemId, expected: f64) {
        self.with[item as usize] += expected;
    }

    /// Adds E[known + y] of one leaf for every y.
    fn extend(&mut self, cluster: &ClusterWorlds, l: usize, parts: &Parts, spread: &mut Spread) {
        let leaf = &cluster.leaves[l];
        let (q, w, product) = (parts.sources(), parts.terms, parts.product());
        let same = product * leaf.model.ratio(q, w);
        let another = product * leaf.model.ratio(q + 1, w);
        for c in leaf.own.clone() {
            let chunk = &cluster.chunks[c];
            match parts.own.iter().find(|p| p.chunk == c) {
                // y beside what is known: the sub-records that have both.
                Some(part) => {
                    let weight = same / part.count as f64;
                    chunk.each_with(&part.items, |_, items, count| {
                        items.iter().for_each(|&y| self.add(y, weight * f64::from(count)));
                    });
                }
                None => chunk.each_item(|y, support| self.add(y, another * support as f64)),
            }
        }
        let term = product * leaf.model.ratio(q, w + 1);
        leaf.term_chunk.iter().for_each(|&y| self.add(y, term));
        let per_record = leaf.model.size() as f64;
        leaf.path.iter().for_each(|&node| spread.nodes[node] += another * per_record);
        for part in parts.shared.iter().filter(|p| p.exception.is_none()) {
            spread.exceptions[part.chunk] += another * per_record;
            spread.add_known(part.chunk, &part.items, same / part.mean * per_record);
        }
        self.extend_partly(cluster, l, parts, (another * per_record, same * per_record), spread);
    }

    /// The same for what comes from shared chunks that do not bring everything:
    /// `another` is the weight of a chunk, `same` that of a known part.
    fn extend_partly(
        &mut self,
        cluster: &ClusterWorlds,
        l: usize,
        parts: &Parts,
        (another, same): (f64, f64),
        spread: &mut Spread,
    ) {
        let known = |c: usize| parts.shared.iter().find(|p| p.chunk == c && p.exception.is_some());
        if let Some(partly) = cluster.partly() {
            let chunks = partly.chunks(l);
            chunks.iter().for_each(|&c| spread.exceptions[c as usize] += another);
            if parts.shared.iter().all(|part| part.exception.is_none()) {
                partly.coming(l).for_each(|(y, mean)| self.add(y, another * mean));
                return;
            }
            for (at, &c) in chunks.iter().enumerate() {
                if known(c as usize).is_none() {
                    partly.coming_from(l, at).for_each(|(y, mean)| self.add(y, another * mean));
                }
            }
        }
        for &e in &cluster.leaves[l].exceptions {
            let exception = &cluster.exceptions[e as usize];
            let c = exception.chunk as usize;
            let (items, weight) = match known(c) {
                Some(part) => (&part.items[..], same / part.mean),
                None if cluster.partly().is_some() => continue,
                None => {
                    spread.exceptions[c] += another;
                    (&[][..], another)
                }
            };
            let (chunk, blocked) = (&cluster.chunks[c], cluster.blocked(exception));
            chunk.each_with(items, |u, sub_record, count| {
                if exception.open && lets_in(blocked, sub_record) {
                    let weight = weight * f64::from(count) / chunk.open(u);
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
                let means = chunk.inflow.as_ref().map_or(&[][..], |inflow| &inflow.means);
                if weight > 1e-9 * all {
                    for (&y, &mean) in chunk.domain().iter().zip(means) {
                        self.add(y, weight * mean);
                    }
                }
            }
        }
        for (chunk, items, weight) in spread.known {
            let chunk = &cluster.chunks[chunk];
            chunk.each_with(&items, |u, sub_record, count| {
                let weight = weight * f64::from(count) / chunk.open(u);
                sub_record.iter().for_each(|&y| self.add(y, weight));
            });
        }
    }

    pub(super) fn into_posterior(self, known: &[ItemId]) -> Posterior {
        let candidates = self.candidates;
        if candidates <= 0.0 {
            return Posterior { exact: true, ..Posterior::default() };
        }
        let all = self.with.into_iter().enumerate().map(|(y, expected)| (y as ItemId, expected));
        let items = all
            .filter(|(y, expected)| *expected > 0.0 && known.binary_search(y).is_err())
            .map(|(y, expected)| (y, (expected / candidates).min(1.0)))
            .collect();
        Posterior { candidates, items, exact: !self.approximate }
    }
}
