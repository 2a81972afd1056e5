//! One join of REFINE: which terms two clusters may share, and how
//! (disassociation-2012, sections 4 and 5).
//!
//! # Deviations
//! Property 1 of the paper is not enough: even a k-anonymous shared chunk can
//! give a person away if one of its terms also stands in a chunk below. Here
//! such a term is alone in its shared chunk. The paper also says that sharing
//! needs no new bound; but a term chunk that sharing empties no longer fills
//! records, so Lemma 2 is tested again on every leaf, and a term stays behind
//! where it is needed. Equation 1 counts only terms that are really shared.

use super::Clusters;
use super::chunking::TermMatrix;
use super::lemma2;
use crate::data::{Dataset, ItemId, K, M};
use crate::release::{Bag, Cluster, JointCluster, SimpleCluster};

/// A simple or joint cluster on its way.
pub(super) struct Node {
    size: u32,
    pub(super) depth: u32,
    /// How many rounds have passed without a partner.
    pub(super) idle: u32,
    leaves: Vec<Leaf>,
    /// The virtual term chunk with joint supports, as far as it can be shared; ascending.
    pub(super) terms: Vec<(ItemId, u32)>,
    /// The terms of all record and shared chunks (the paper's T^r); ascending.
    used: Vec<ItemId>,
    tree: Tree,
}

struct Leaf {
    number: u32,
    cluster: SimpleCluster,
    /// Whether the term chunk may become empty (Lemma 2).
    may_empty: bool,
}

enum Tree {
    Leaf(u32),
    Joint { shared_chunks: Vec<Bag>, children: Vec<Tree> },
}

/// What a join will do.
pub(super) struct Plan {
    /// The shared terms, ascending.
    terms: Vec<ItemId>,
    shared_chunks: Vec<Bag>,
}

/// What every join needs.
pub(super) struct Joiner<'a> {
    pub(super) clusters: &'a Clusters,
    pub(super) data: &'a Dataset,
    pub(super) k: K,
    pub(super) m: M,
}

const NOT_SHARED: u32 = u32::MAX;

impl Joiner<'_> {
    /// A node for one leaf. `counts` is clean before and after.
    pub(super) fn leaf(
        &self,
        number: u32,
        cluster: SimpleCluster,
        sharable: &(dyn Fn(ItemId) -> bool + Sync),
        counts: &mut Vec<u32>,
    ) -> Node {
        counts.resize(self.data.item_count(), 0);
        for &r in self.clusters.get(number as usize) {
            for &item in self.data.record(r as usize) {
                counts[item as usize] += 1;
            }
        }
        let shared = cluster.term_chunk.iter().copied().filter(|&t| sharable(t));
        let mut terms: Vec<(ItemId, u32)> = shared.map(|t| (t, counts[t as usize])).collect();
        terms.shrink_to_fit();
        for &r in self.clusters.get(number as usize) {
            for &item in self.data.record(r as usize) {
                counts[item as usize] = 0;
            }
        }
        let mut used: Vec<ItemId> = cluster.record_chunks.iter().flat_map(Bag::domain).collect();
        used.sort_unstable();
        let may_empty =
            lemma2::holds_without_term_chunk(cluster.size, &cluster.record_chunks, self.k, self.m);
        Node {
            size: cluster.size,
            depth: 0,
            idle: 0,
            terms,
            used,
            tree: Tree::Leaf(number),
            leaves: vec![Leaf { number, cluster, may_empty }],
        }
    }

    /// Decides whether `a` and `b` should be joined, and on which terms.
    /// `index` maps items to shared terms; it is clean before and after.
    pub(super) fn plan(&self, a: &Node, b: &Node, index: &mut Vec<u32>) -> Option<Plan> {
        let mut candidates = common(&a.terms, &b.terms);
        candidates.retain(|&(_, support)| support >= self.k.get());
        if candidates.is_empty() {
            return None;
        }
        index.resize(self.data.item_count(), NOT_SHARED);
        for (i, &(t, _)) in candidates.iter().enumerate() {
            index[t as usize] = i as u32;
        }
        let leaves = || a.leaves.iter().chain(&b.leaves);
        for leaf in leaves() {
            keep_one_if_needed(leaf, &candidates, index);
        }
        let kept = candidates.iter().filter(|(t, _)| index[*t as usize] != NOT_SHARED);
        let shared: Vec<(ItemId, u32)> = kept.copied().collect();
        for (i, &(t, _)) in shared.iter().enumerate() {
            index[t as usize] = i as u32;
        }
        let plan = (!shared.is_empty() && equation_1(&shared, leaves(), a.size + b.size, index))
            .then(|| Plan {
                shared_chunks: self.shared_chunks(&shared, a, b, index),
                terms: shared.iter().map(|s| s.0).collect(),
            });
        for &(t, _) in &candidates {
            index[t as usize] = NOT_SHARED;
        }
        plan
    }

    /// Builds the shared chunks: each leaf is projected on the shared terms
    /// that stand in its own term chunk.
    fn shared_chunks(
        &self,
        shared: &[(ItemId, u32)],
        a: &Node,
        b: &Node,
        index: &mut [u32],
    ) -> Vec<Bag> {
        // Corrected Property 1: what stands in a chunk below is alone in its chunk.
        let below = |t: &ItemId| a.used.binary_search(t).is_ok() || b.used.binary_search(t).is_ok();
        let mut chunks = Vec::new();
        for (t, support) in shared.iter().filter(|(t, _)| below(t)) {
            chunks.push(Bag::from_counted([(&[*t][..], *support)]));
            index[*t as usize] = NOT_SHARED;
        }
        let others: Vec<(ItemId, u32)> =
            shared.iter().copied().filter(|(t, _)| !below(t)).collect();
        for (i, &(t, _)) in others.iter().enumerate() {
            index[t as usize] = i as u32;
        }
        let (mut occurrences, mut records) = (Vec::new(), 0);
        for leaf in a.leaves.iter().chain(&b.leaves) {
            let own = leaf.cluster.term_chunk.iter();
            let any = own.clone().any(|&t| index[t as usize] != NOT_SHARED);
            if !any {
                continue;
            }
            for &r in self.clusters.get(leaf.number as usize) {
                let before = occurrences.len();
                for &item in self.data.record(r as usize) {
                    let i = index[item as usize];
                    if i != NOT_SHARED {
                        occurrences.push((records, i));
                    }
                }
                // Records without any shared term need no row.
                records += u32::from(occurrences.len() > before);
            }
        }
        chunks.extend(
            TermMatrix::new(&others, records as usize, &occurrences).chunks(self.k, self.m),
        );
        chunks
    }
}

/// The terms that both sides have, with the sum of their supports.
fn common(a: &[(ItemId, u32)], b: &[(ItemId, u32)]) -> Vec<(ItemId, u32)> {
    let (mut i, mut j, mut common) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        match a[i].0.cmp(&b[j].0) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                common.push((a[i].0, a[i].1 + b[j].1));
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    common
}

/// Lemma 2: a leaf whose term chunk may not become empty keeps its rarest
/// candidate, which is then not shared by anyone.
fn keep_one_if_needed(leaf: &Leaf, candidates: &[(ItemId, u32)], index: &mut [u32]) {
    let terms = &leaf.cluster.term_chunk;
    if !leaf.may_empty && terms.iter().all(|&t| index[t as usize] != NOT_SHARED) {
        let rarest = terms
            .iter()
            .map(|&t| (candidates[index[t as usize] as usize].1, std::cmp::Reverse(t)))
            .min();
        if let Some((_, std::cmp::Reverse(t))) = rarest {
            index[t as usize] = NOT_SHARED;
        }
    }
}

/// Equation 1: the shared terms tell more about the joint cluster than the
/// term chunks told about the leaves.
fn equation_1<'a>(
    shared: &[(ItemId, u32)],
    leaves: impl Iterator<Item = &'a Leaf>,
    size: u32,
    index: &[u32],
) -> bool {
    let (mut mentions, mut records) = (0u64, 0u64);
    for leaf in leaves {
        let terms = leaf.cluster.term_chunk.iter();
        let u = terms.filter(|&&t| index[t as usize] != NOT_SHARED).count() as u64;
        if u > 0 {
            mentions += u;
            records += u64::from(leaf.cluster.size);
        }
    }
    let supports: u64 = shared.iter().map(|s| u64::from(s.1)).sum();
    // Products of two numbers below 2^64 that count records and terms.
    u128::from(supports) * u128::from(records) >= u128::from(mentions) * u128::from(size)
}

impl Node {
    /// The number of the first leaf, which no other node has.
    pub(super) fn first_leaf(&self) -> u32 {
        self.leaves[0].number
    }

    /// Drops what only further joins would need.
    pub(super) fn retire(mut self) -> Self {
        (self.terms, self.used) = (Vec::new(), Vec::new());
        self
    }

    /// Carries out a plan that was made for these two nodes.
    pub(super) fn join(mut self, mut other: Self, plan: Plan) -> Self {
        let shared = |t: &ItemId| plan.terms.binary_search(t).is_ok();
        for leaf in self.leaves.iter_mut().chain(&mut other.leaves) {
            leaf.cluster.term_chunk.retain(|t| !shared(t));
        }
        self.leaves.append(&mut other.leaves);
        let terms = union(&self.terms, &other.terms, |x| x.0, |x, y| (x.0, x.1 + y.1));
        let used = union(&self.used, &other.used, |&t| t, |&t, _| t);
        Self {
            size: self.size + other.size,
            depth: self.depth.max(other.depth) + 1,
            idle: 0,
            leaves: self.leaves,
            terms: terms.into_iter().filter(|(t, _)| !shared(t)).collect(),
            used: union(&used, &plan.terms, |&t| t, |&t, _| t),
            tree: Tree::Joint {
                shared_chunks: plan.shared_chunks,
                children: vec![self.tree, other.tree],
            },
        }
    }

    /// The published form.
    pub(super) fn into_cluster(self) -> Cluster {
        let mut leaves = self.leaves;
        leaves.sort_unstable_by_key(|leaf| leaf.number);
        build(self.tree, &mut leaves)
    }
}

fn build(tree: Tree, leaves: &mut [Leaf]) -> Cluster {
    match tree {
        Tree::Leaf(number) => {
            let place = leaves.binary_search_by_key(&number, |leaf| leaf.number);
            let leaf = &mut leaves[place.expect("a node holds the leaves of its tree")];
            Cluster::Simple(std::mem::take(&mut leaf.cluster))
        }
        Tree::Joint { shared_chunks, children } => {
            let children: Vec<Cluster> =
                children.into_iter().map(|child| build(child, leaves)).collect();
            let size = children.iter().map(Cluster::size).sum();
            Cluster::Joint(JointCluster { size, shared_chunks, children })
        }
    }
}

/// Merges two ascending lists; equal keys become one entry.
fn union<T: Copy>(
    a: &[T],
    b: &[T],
    key: impl Fn(&T) -> ItemId,
    both: impl Fn(&T, &T) -> T,
) -> Vec<T> {
    let (mut i, mut j) = (0, 0);
    let mut merged = Vec::with_capacity(a.len() + b.len());
    while i < a.len() && j < b.len() {
        match key(&a[i]).cmp(&key(&b[j])) {
            std::cmp::Ordering::Less => merged.push(a[i]),
            std::cmp::Ordering::Greater => merged.push(b[j]),
            std::cmp::Ordering::Equal => merged.push(both(&a[i], &b[j])),
        }
        let (x, y) = (key(&a[i]), key(&b[j]));
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    merged.extend_from_slice(&a[i..]);
    merged.extend_from_slice(&b[j..]);
    merged
}
