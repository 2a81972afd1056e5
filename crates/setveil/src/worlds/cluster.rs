//! The worlds of a published cluster, simple or joint of any depth.
//!
//! Every item has one source in a given leaf: a record chunk, else the term
//! chunk, else the lowest joint cluster above with the item in a shared chunk.
//! This file builds that structure and answers; [`parts`](super::parts) splits
//! itemsets by it.

use rustc_hash::FxHashMap;

use super::parts::Parts;
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
/// Building is linear in the sub-records and in leaves times the shared chunks
/// above them; an answer is linear in the sub-records of the itemset's chunks.
#[derive(Clone, Debug)]
pub struct ClusterWorlds<'a> {
    pub(super) leaves: Vec<Leaf<'a>>,
    /// In postorder: the root is last.
    pub(super) nodes: Vec<Node>,
    pub(super) chunks: Vec<Chunk<'a>>,
    /// For each item the shared chunks that have it, ascending.
    pub(super) shared_with: FxHashMap<ItemId, Vec<usize>>,
}

/// A record or shared chunk.
#[derive(Clone, Debug)]
pub(super) struct Chunk<'a> {
    pub(super) bag: &'a Bag,
    /// Ascending.
    pub(super) domain: Vec<ItemId>,
    /// For a shared chunk: how many records each distinct sub-record may go to.
    pub(super) open: Vec<u64>,
    /// For each item of the domain: its support and, for a shared chunk, the
    /// mean number per record that is open to it.
    pub(super) supports: Vec<(u64, f64)>,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) size: u64,
    /// The range of leaves below.
    pub(super) leaves: std::ops::Range<usize>,
    /// Indices of nodes; empty for a leaf.
    pub(super) children: Vec<usize>,
    /// Indices of shared chunks; empty for a leaf.
    pub(super) shared: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Leaf<'a> {
    /// Its own chunks, with sums that also count what shared chunks bring.
    pub(super) model: ClusterModel,
    /// Its own record chunks.
    pub(super) own: Vec<usize>,
    pub(super) term_chunk: &'a [ItemId],
    /// From the lowest joint cluster upwards, so chunks ascend.
    pub(super) shared: Vec<Inflow>,
    /// No more sub-records than this can come from shared chunks.
    pub(super) most_shared: u64,
    /// The joint clusters above, from the lowest upwards.
    pub(super) path: Vec<usize>,
    /// Shared chunks above that bring nothing or not everything.
    pub(super) exceptions: Vec<usize>,
    /// Indices of the inflows that bring something, but not everything.
    pub(super) partly: Vec<usize>,
}

/// The parts of an itemset that a leaf draws from shared chunks: chunk, items.
type Drawn<'a> = Vec<(usize, &'a [ItemId])>;

/// A shared chunk that can bring something to a leaf.
#[derive(Clone, Debug)]
pub(super) struct Inflow {
    pub(super) chunk: usize,
    pub(super) node: usize,
    /// Items of the chunk that have another source in this leaf: sub-records
    /// with one of them may not come.
    pub(super) blocked: Vec<ItemId>,
}

impl Inflow {
    pub(super) fn lets_in(&self, sub_record: &[ItemId]) -> bool {
        self.blocked.is_empty() || !sub_record.iter().any(|i| self.blocked.contains(i))
    }
}

impl<'a> ClusterWorlds<'a> {
    /// Prepares a cluster.
    pub fn new(cluster: &'a Cluster, knowledge: Knowledge) -> Self {
        let mut worlds = Self {
            leaves: Vec::new(),
            nodes: Vec::new(),
            chunks: Vec::new(),
            shared_with: FxHashMap::default(),
        };
        worlds.add(cluster, knowledge);
        if worlds.is_joint() {
            worlds.add_inflows();
            worlds.count_inflows(knowledge);
        }
        worlds
    }

    /// The models of the leaves. A simple cluster has one leaf.
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
        let children: Vec<usize> =
            cluster.children().iter().map(|child| self.add(child, knowledge)).collect();
        let chunks: Vec<usize> = cluster.chunks().iter().map(|bag| self.add_chunk(bag)).collect();
        let mut shared = Vec::new();
        match cluster {
            Cluster::Simple(simple) => self.leaves.push(Leaf {
                model: ClusterModel::of(simple, knowledge),
                own: chunks,
                term_chunk: &simple.term_chunk,
                shared: Vec::new(),
                most_shared: 0,
                path: Vec::new(),
                exceptions: Vec::new(),
                partly: Vec::new(),
            }),
            Cluster::Joint(_) => {
                shared = chunks;
                for &c in &shared {
                    for &item in &self.chunks[c].domain {
                        self.shared_with.entry(item).or_default().push(c);
                    }
                }
            }
        }
        let leaves = first..self.leaves.len();
        let size = leaves.clone().map(|l| self.leaves[l].model.size).sum();
        self.nodes.push(Node { size, leaves, children, shared });
        self.nodes.len() - 1
    }

    fn add_chunk(&mut self, bag: &'a Bag) -> usize {
        let domain = bag.domain();
        let mut supports = vec![(0, 0.0); domain.len()];
        for (items, count) in bag.iter() {
            for item in items {
                supports[domain.binary_search(item).expect("the domain has it")].0 +=
                    u64::from(count);
            }
        }
        self.chunks.push(Chunk { bag, domain, open: Vec::new(), supports });
        self.chunks.len() - 1
    }

    /// Finds out where the sub-records of shared chunks may go, from the
    /// lowest joint clusters upwards.
    fn add_inflows(&mut self) {
        // Items that a leaf takes from no cluster further up, ascending.
        let mut taken: Vec<Vec<ItemId>> = self.leaves.iter().map(|l| self.own_items(l)).collect();
        for (n, node) in self.nodes.iter().enumerate() {
            for &c in &node.shared {
                let chunk = &mut self.chunks[c];
                let inflows: Vec<(usize, Inflow)> = node
                    .leaves
                    .clone()
                    .map(|l| {
                        let also = |i: &&ItemId| taken[l].binary_search(i).is_ok();
                        let blocked = chunk.domain.iter().filter(also).copied().collect();
                        (l, Inflow { chunk: c, node: n, blocked })
                    })
                    .collect();
                let sizes = inflows.iter().map(|(l, inflow)| (self.leaves[*l].model.size, inflow));
                chunk.find_open(&sizes.collect::<Vec<_>>());
                for (l, inflow) in inflows {
                    let most = chunk.bag.iter().filter(|(items, _)| inflow.lets_in(items));
                    let most: u64 = most.map(|(_, count)| u64::from(count)).sum();
                    let leaf = &mut self.leaves[l];
                    if !inflow.blocked.is_empty() {
                        leaf.exceptions.push(c);
                    }
                    if most > 0 {
                        leaf.most_shared += most.min(leaf.model.size);
                        if !inflow.blocked.is_empty() {
                            leaf.partly.push(leaf.shared.len());
                        }
                        leaf.shared.push(inflow);
                    }
                }
            }
            let domain: Vec<ItemId> =
                node.shared.iter().flat_map(|&c| &self.chunks[c].domain).copied().collect();
            for l in node.leaves.clone().filter(|_| !domain.is_empty()) {
                self.leaves[l].path.push(n);
                taken[l].extend_from_slice(&domain);
                taken[l].sort_unstable();
                taken[l].dedup();
            }
        }
    }

    /// Gives every leaf sums that count what comes from shared chunks on average.
    fn count_inflows(&mut self, knowledge: Knowledge) {
        for leaf in self.leaves.iter_mut().filter(|leaf| !leaf.shared.is_empty()) {
            let ClusterModel { size, term_chunk_len, .. } = leaf.model;
            let mut totals = leaf.model.totals.clone();
            for inflow in &leaf.shared {
                let mean = self.chunks[inflow.chunk].mean(inflow, &[], size);
                totals.push((mean.round() as u64).min(size));
            }
            if term_chunk_len == 0 {
                // What the leaf cannot do without, it gets.
                totals.push(size.saturating_sub(totals.iter().sum()));
            }
            let model =
                ClusterModel::from_totals(size, &totals, term_chunk_len as usize, knowledge);
            // The bounds keep looking at the leaf's own chunks alone.
            leaf.model = leaf.model.clone().with_sums_of(model);
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
        let (mut expected, mut exact) = (0.0, true);
        let mut uppers = vec![0; self.leaves.len()];
        for (l, (leaf, parts)) in self.leaves.iter().zip(&parts).enumerate() {
            let Some(parts) = parts else { continue };
            expected += parts.expected(leaf);
            uppers[l] = parts.upper(leaf);
            // A part that is the whole itemset has its published count.
            let whole = parts.sources() == 1 && parts.terms == 0;
            exact &= whole || leaf.shared.is_empty();
        }
        let upper = self.upper(root, &parts, &uppers);
        let lower = self.lower(itemset).min(upper);
        let expected = expected.clamp(lower as f64, upper as f64);
        Answer { lower, expected, upper, exact: exact || lower == upper }
    }

    /// The upper bound of [`answer`](Self::answer) alone.
    pub fn upper_bound(&self, itemset: &[ItemId]) -> u64 {
        let parts: Vec<Option<Parts>> =
            self.leaves.iter().map(|leaf| self.parts(leaf, itemset)).collect();
        let of_leaf = |(leaf, parts): (&Leaf, &Option<Parts>)| {
            parts.as_ref().map_or(0, |parts| parts.upper(leaf))
        };
        let uppers: Vec<u64> = self.leaves.iter().zip(&parts).map(of_leaf).collect();
        self.upper(self.nodes.len() - 1, &parts, &uppers)
    }

    /// The greatest support below `node` over the leaves that `uppers` gives
    /// anything to: leaves that draw the same part from a shared chunk
    /// together get no more than it has.
    fn upper(&self, node: usize, parts: &[Option<Parts>], uppers: &[u64]) -> u64 {
        let Node { leaves, children, .. } = &self.nodes[node];
        if children.is_empty() {
            return uppers[leaves.start];
        }
        // What a leaf draws from this cluster's chunks.
        let drawn = |l: usize| -> Drawn {
            let shared = parts[l].iter().flat_map(|p| &p.shared);
            shared.filter(|s| s.node == node).map(|s| (s.chunk, &s.items[..])).collect()
        };
        let mut groups: Vec<(Drawn, Vec<u64>)> = Vec::new();
        for l in leaves.clone().filter(|&l| uppers[l] > 0) {
            let drawn = drawn(l);
            let group = match groups.iter_mut().find(|(d, _)| *d == drawn) {
                Some((_, restricted)) => restricted,
                None => {
                    groups.push((drawn, vec![0; uppers.len()]));
                    &mut groups.last_mut().expect("just pushed").1
                }
            };
            group[l] = uppers[l];
        }
        let of_group = |(drawn, restricted): &(Drawn, Vec<u64>)| {
            let sum = children.iter().map(|&c| self.upper(c, parts, restricted)).sum::<u64>();
            let cap = drawn.iter().map(|(c, items)| self.chunks[*c].bag.support(items)).min();
            sum.min(cap.unwrap_or(u64::MAX))
        };
        groups.iter().map(of_group).sum()
    }

    /// The least support: what stands together in chunks, and what must
    /// overlap because there are not enough records to stay apart.
    fn lower(&self, itemset: &[ItemId]) -> u64 {
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
            return match self.parts(leaf, subset) {
                Some(parts) if parts.shared.is_empty() => {
                    bounds::lower(&leaf.model, &parts.counts(), parts.terms, leaf.most_shared)
                }
                _ => 0,
            };
        }
        let below: u64 = node.children.iter().map(|&c| least[c][s]).sum();
        let shared = node.shared.iter().filter(|&&c| subset.iter().all(|&i| self.chunks[c].has(i)));
        below + shared.map(|&c| self.chunks[c].bag.support(subset)).sum::<u64>()
    }
}
