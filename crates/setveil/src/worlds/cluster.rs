//! The worlds of a published cluster, simple or joint of any depth.
//!
//! Every item has one source in a given leaf: a record chunk, else the term
//! chunk, else the lowest joint cluster above with the item in a shared chunk.
//! That turns an itemset into parts, leaf by leaf.

use super::{Answer, ClusterModel, Knowledge, bounds};
use crate::data::ItemId;
use crate::release::{Bag, Cluster};

/// Up to this many items, lower bounds try every way to split the itemset.
const SPLIT_LIMIT: usize = 6;

/// What can be said about any itemset in one published cluster.
///
/// # Guarantee
/// `lower` and `upper` of an [`Answer`] hold in every world, at any depth.
/// `expected` is exact, as [`Answer::exact`] says, for a simple cluster and for
/// an itemset that stands inside one record or shared chunk wherever it can be.
///
/// # Deviations
/// With shared chunks, counting worlds exactly means counting the ways to
/// distribute sub-records over leaves such that no record stays empty, which
/// has no closed form. The approximation sends each sub-record of a shared
/// chunk to the leaves where it may go in proportion to their sizes,
/// independently of all others, and then counts each leaf exactly as if these
/// mean numbers of sub-records (rounded) were its own chunk. Neglected are: that
/// sub-records of one chunk need different records, that leaves compete for
/// them, and that a leaf with few sub-records of its own needs more of them.
/// The result is kept inside the bounds.
///
/// # Complexity
/// Building is linear in the sub-records times the leaves that they may go to;
/// an answer is linear in the chunks' sub-records over the itemset's leaves.
#[derive(Clone, Debug)]
pub struct ClusterWorlds<'a> {
    leaves: Vec<Leaf<'a>>,
    /// In postorder: the root is last.
    nodes: Vec<Node>,
    chunks: Vec<Chunk<'a>>,
}

/// A record or shared chunk.
#[derive(Clone, Debug)]
struct Chunk<'a> {
    bag: &'a Bag,
    domain: Vec<ItemId>,
}

#[derive(Clone, Debug)]
struct Node {
    size: u64,
    /// The range of leaves below.
    leaves: std::ops::Range<usize>,
    /// Indices of nodes; empty for a leaf.
    children: Vec<usize>,
    /// Indices of shared chunks; empty for a leaf.
    shared: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Leaf<'a> {
    /// Its own chunks and what shared chunks bring on average.
    model: ClusterModel,
    /// Its own record chunks.
    own: Vec<usize>,
    term_chunk: &'a [ItemId],
    /// From the lowest joint cluster upwards.
    shared: Vec<Inflow>,
    /// No more sub-records than this can come from shared chunks.
    most_shared: u64,
}

/// What a shared chunk can bring to a leaf.
#[derive(Clone, Debug)]
struct Inflow {
    chunk: usize,
    node: usize,
    /// For each distinct sub-record the probability that it goes to this
    /// leaf; 0 where it may not.
    share: Vec<f64>,
}

/// One part of an itemset in a leaf: the items that one source has.
#[derive(Clone, Debug)]
struct Parts {
    /// Supports in own record chunks.
    counts: Vec<u64>,
    /// Terms of the term chunk.
    terms: usize,
    /// For shared chunks: node, chunk, the items, how many sub-records may come,
    /// and how many do on average.
    shared: Vec<SharedPart>,
}

#[derive(Clone, Debug)]
struct SharedPart {
    node: usize,
    chunk: usize,
    items: Vec<ItemId>,
    most: u64,
    mean: f64,
}

impl<'a> ClusterWorlds<'a> {
    /// Prepares a cluster.
    pub fn new(cluster: &'a Cluster, knowledge: Knowledge) -> Self {
        let mut worlds = Self { leaves: Vec::new(), nodes: Vec::new(), chunks: Vec::new() };
        worlds.add(cluster, knowledge);
        worlds.add_inflows();
        for leaf in &mut worlds.leaves {
            let mut totals = leaf.model.totals.clone();
            for inflow in &leaf.shared {
                let bag = worlds.chunks[inflow.chunk].bag;
                let mean: f64 =
                    bag.iter().zip(&inflow.share).map(|((_, c), p)| f64::from(c) * p).sum();
                totals.push((mean.round() as u64).min(leaf.model.size));
            }
            if !leaf.shared.is_empty() {
                let ClusterModel { size, term_chunk_len, .. } = leaf.model;
                if term_chunk_len == 0 {
                    // What the leaf cannot do without, it gets.
                    totals.push(size.saturating_sub(totals.iter().sum()));
                }
                let terms = term_chunk_len as usize;
                let model = ClusterModel::from_totals(size, &totals, terms, knowledge);
                // The bounds keep looking at the leaf's own chunks alone.
                leaf.model = leaf.model.clone().with_sums_of(model);
            }
        }
        worlds
    }

    /// The models of the leaves with the sources of their items. A simple
    /// cluster has one leaf.
    pub fn leaf_models(&self) -> impl ExactSizeIterator<Item = &ClusterModel> {
        self.leaves.iter().map(|leaf| &leaf.model)
    }

    /// Whether the cluster has shared chunks, so that expectations across
    /// chunks are approximations.
    pub fn is_joint(&self) -> bool {
        self.nodes.len() > 1
    }

    fn add(&mut self, cluster: &'a Cluster, knowledge: Knowledge) -> usize {
        let first = self.leaves.len();
        let mut children = Vec::new();
        for child in cluster.children() {
            children.push(self.add(child, knowledge));
        }
        let chunks: Vec<usize> = cluster
            .chunks()
            .iter()
            .map(|bag| {
                self.chunks.push(Chunk { bag, domain: bag.domain() });
                self.chunks.len() - 1
            })
            .collect();
        let mut shared = Vec::new();
        match cluster {
            Cluster::Simple(simple) => self.leaves.push(Leaf {
                model: ClusterModel::of(simple, knowledge),
                own: chunks,
                term_chunk: &simple.term_chunk,
                shared: Vec::new(),
                most_shared: 0,
            }),
            Cluster::Joint(_) => shared = chunks,
        }
        let leaves = first..self.leaves.len();
        let size = leaves.clone().map(|l| self.leaves[l].model.size).sum();
        self.nodes.push(Node { size, leaves, children, shared });
        self.nodes.len() - 1
    }

    /// Finds out where the sub-records of shared chunks may go, from the
    /// lowest joint clusters upwards.
    fn add_inflows(&mut self) {
        // Items that a leaf takes from no cluster further up, ascending.
        let mut taken: Vec<Vec<ItemId>> = self.leaves.iter().map(|l| self.own_items(l)).collect();
        for (n, node) in self.nodes.iter().enumerate() {
            for &c in &node.shared {
                let bag = self.chunks[c].bag;
                let mut shares: Vec<Vec<f64>> =
                    node.leaves.clone().map(|_| vec![0.0; bag.len()]).collect();
                for (u, (items, _)) in bag.iter().enumerate() {
                    let open: Vec<usize> = node
                        .leaves
                        .clone()
                        .filter(|&l| items.iter().all(|i| taken[l].binary_search(i).is_err()))
                        .collect();
                    let size: u64 = open.iter().map(|&l| self.leaves[l].model.size).sum();
                    for l in open {
                        let share = self.leaves[l].model.size as f64 / size as f64;
                        shares[l - node.leaves.start][u] = share;
                    }
                }
                for (l, share) in node.leaves.clone().zip(shares) {
                    let most = bag.iter().zip(&share).filter(|(_, p)| **p > 0.0);
                    let most: u64 = most.map(|((_, count), _)| u64::from(count)).sum();
                    if most > 0 {
                        let leaf = &mut self.leaves[l];
                        leaf.most_shared += most.min(leaf.model.size);
                        leaf.shared.push(Inflow { chunk: c, node: n, share });
                    }
                }
            }
            let domain: Vec<ItemId> =
                node.shared.iter().flat_map(|&c| &self.chunks[c].domain).copied().collect();
            for l in node.leaves.clone().filter(|_| !domain.is_empty()) {
                taken[l].extend_from_slice(&domain);
                taken[l].sort_unstable();
                taken[l].dedup();
            }
        }
    }

    fn own_items(&self, leaf: &Leaf) -> Vec<ItemId> {
        let own = leaf.own.iter().flat_map(|&c| &self.chunks[c].domain);
        let mut items: Vec<ItemId> = own.chain(leaf.term_chunk).copied().collect();
        items.sort_unstable();
        items.dedup();
        items
    }

    /// Bounds and expectation for an itemset (ascending, distinct items).
    pub fn answer(&self, itemset: &[ItemId]) -> Answer {
        let root = self.nodes.len() - 1;
        if itemset.is_empty() {
            let size = self.nodes[root].size;
            return Answer { lower: size, expected: size as f64, upper: size, exact: true };
        }
        let parts: Vec<Option<Parts>> =
            self.leaves.iter().map(|leaf| self.parts(leaf, itemset)).collect();
        if parts.iter().all(Option::is_none) {
            return Answer::NONE;
        }
        let mut sources = 0;
        let (mut expected, mut exact) = (0.0, true);
        let mut uppers = vec![0; self.leaves.len()];
        for (l, (leaf, parts)) in self.leaves.iter().zip(&parts).enumerate() {
            let Some(parts) = parts else { continue };
            let q = parts.counts.len() + parts.shared.len();
            let product: f64 = parts.counts.iter().map(|&c| c as f64).product::<f64>()
                * parts.shared.iter().map(|s| s.mean).product::<f64>();
            expected += product * leaf.model.ratio(q, parts.terms);
            uppers[l] = bounds::upper(
                &leaf.model,
                &parts.counts,
                parts.terms,
                parts.shared.len(),
                leaf.most_shared,
            );
            for shared in &parts.shared {
                uppers[l] = uppers[l].min(shared.most);
            }
            sources += 1;
            // A part that is the whole itemset has its published count.
            exact &= (q == 1 && parts.terms == 0) || leaf.shared.is_empty();
        }
        let upper = self.upper(root, &parts, &uppers);
        let lower = if sources == 0 { 0 } else { self.lower(itemset).min(upper) };
        let expected = expected.clamp(lower as f64, upper as f64);
        Answer { lower, expected, upper, exact: exact || lower == upper }
    }

    /// Splits the itemset by its sources in a leaf; none if an item has no
    /// source or no sub-record with a part may be there.
    fn parts(&self, leaf: &Leaf, itemset: &[ItemId]) -> Option<Parts> {
        let mut parts = Parts { counts: Vec::new(), terms: 0, shared: Vec::new() };
        let mut own: Vec<(usize, Vec<ItemId>)> = Vec::new();
        let mut shared: Vec<(usize, Vec<ItemId>)> = Vec::new();
        for &item in itemset {
            if let Some(&c) = leaf.own.iter().find(|&&c| self.has(c, item)) {
                push(&mut own, c, item);
            } else if leaf.term_chunk.binary_search(&item).is_ok() {
                parts.terms += 1;
            } else {
                let inflow = leaf.shared.iter().position(|i| self.has(i.chunk, item))?;
                push(&mut shared, inflow, item);
            }
        }
        for (c, items) in own {
            let count = self.chunks[c].bag.support(&items);
            if count == 0 {
                return None;
            }
            parts.counts.push(count);
        }
        for (i, items) in shared {
            let Inflow { chunk, node, share } = &leaf.shared[i];
            let (mut most, mut mean) = (0, 0.0);
            for ((sub_record, count), share) in self.chunks[*chunk].bag.iter().zip(share) {
                if *share > 0.0 && items.iter().all(|i| sub_record.binary_search(i).is_ok()) {
                    most += u64::from(count);
                    mean += f64::from(count) * share;
                }
            }
            if most == 0 {
                return None;
            }
            let (node, chunk) = (*node, *chunk);
            parts.shared.push(SharedPart { node, chunk, items, most, mean });
        }
        Some(parts)
    }

    fn has(&self, chunk: usize, item: ItemId) -> bool {
        self.chunks[chunk].domain.binary_search(&item).is_ok()
    }

    /// The greatest support below `node` over the leaves that `uppers` gives
    /// anything to: leaves that draw the same part from a shared chunk
    /// together get no more than it has.
    fn upper(&self, node: usize, parts: &[Option<Parts>], uppers: &[u64]) -> u64 {
        let Node { leaves, children, .. } = &self.nodes[node];
        if children.is_empty() {
            return uppers[leaves.start];
        }
        let drawn = |l: usize| -> Vec<&SharedPart> {
            let parts = parts[l].as_ref();
            parts.map_or(Vec::new(), |p| p.shared.iter().filter(|s| s.node == node).collect())
        };
        let key = |l: usize| -> Vec<(usize, &[ItemId])> {
            drawn(l).iter().map(|s| (s.chunk, &s.items[..])).collect()
        };
        let mut done: Vec<usize> = Vec::new();
        let mut total = 0;
        for first in leaves.clone().filter(|&l| uppers[l] > 0) {
            let group = key(first);
            if done.iter().any(|&d| key(d) == group) {
                continue;
            }
            done.push(first);
            let mut restricted = vec![0; uppers.len()];
            for l in leaves.clone().filter(|&l| uppers[l] > 0 && key(l) == group) {
                restricted[l] = uppers[l];
            }
            let sum = children.iter().map(|&c| self.upper(c, parts, &restricted)).sum::<u64>();
            let cap = group.iter().map(|(c, items)| self.chunks[*c].bag.support(items)).min();
            total += sum.min(cap.unwrap_or(u64::MAX));
        }
        total
    }

    /// The least support: what stands together in chunks, and what must
    /// overlap because there are not enough records to stay apart.
    fn lower(&self, itemset: &[ItemId]) -> u64 {
        let n = itemset.len();
        let full = if n <= SPLIT_LIMIT { (1usize << n) - 1 } else { n };
        // Subsets in an order in which parts come before the whole. For long
        // itemsets: the single items, then everything.
        let subsets: Vec<Vec<ItemId>> = if n <= SPLIT_LIMIT {
            let subset =
                |mask: usize| (0..n).filter(move |i| mask >> i & 1 == 1).map(|i| itemset[i]);
            (1..=full).map(|mask| subset(mask).collect()).collect()
        } else {
            itemset.iter().map(|&i| vec![i]).chain([itemset.to_vec()]).collect()
        };
        let mut least: Vec<Vec<u64>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let mut here: Vec<u64> = Vec::with_capacity(subsets.len());
            for (s, subset) in subsets.iter().enumerate() {
                let whole = self.whole(node, subset, &least, s);
                let split = if n <= SPLIT_LIMIT {
                    let mask = s + 1;
                    let halves = (1..mask).filter(|half| half & mask == *half);
                    halves.map(|half| here[half - 1] + here[(mask ^ half) - 1]).max()
                } else {
                    (s == n).then(|| {
                        let sum: u64 = here.iter().sum();
                        // As if joined one after the other.
                        sum.saturating_sub((n as u64 - 2) * node.size)
                    })
                };
                here.push(whole.max(split.unwrap_or(0).saturating_sub(node.size)));
            }
            least.push(here);
        }
        *least.last().and_then(|here| here.last()).expect("there is a root and an itemset")
    }

    /// The least support of subset `s` by its own sources, without splitting.
    fn whole(&self, node: &Node, subset: &[ItemId], least: &[Vec<u64>], s: usize) -> u64 {
        if node.children.is_empty() {
            let leaf = &self.leaves[node.leaves.start];
            return match self.parts(leaf, subset) {
                Some(parts) if parts.shared.is_empty() => {
                    bounds::lower(&leaf.model, &parts.counts, parts.terms, leaf.most_shared)
                }
                _ => 0,
            };
        }
        let below: u64 = node.children.iter().map(|&c| least[c][s]).sum();
        let shared = node.shared.iter().filter(|&&c| subset.iter().all(|&i| self.has(c, i)));
        below + shared.map(|&c| self.chunks[c].bag.support(subset)).sum::<u64>()
    }
}

/// Adds an item to the part of `source`.
fn push(parts: &mut Vec<(usize, Vec<ItemId>)>, source: usize, item: ItemId) {
    match parts.iter_mut().find(|(s, _)| *s == source) {
        Some((_, items)) => items.push(item),
        None => parts.push((source, vec![item])),
    }
}
