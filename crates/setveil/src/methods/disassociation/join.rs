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

use std::borrow::Cow;
use std::cmp::Reverse;

use super::chunking::TermMatrix;
use super::masks::{self, Masked};
use super::node::{Joint, Leaf, Node, Occurrences, Place};
use super::{Clusters, lemma2};
use crate::data::{Dataset, ItemId, K, M};
use crate::release::Bag;

/// What every join needs.
pub(super) struct Joiner<'a> {
    pub(super) clusters: &'a Clusters,
    pub(super) data: &'a Dataset,
    pub(super) k: K,
    pub(super) m: M,
}

/// Arrays that are clean between joins.
#[derive(Default)]
pub(super) struct Scratch {
    /// Per item: its place among the terms of a leaf, plus one.
    place: Vec<u32>,
    /// Per leaf: how many of its terms would be shared; who is not at zero.
    given: Vec<u32>,
    touched: Vec<u32>,
    /// The terms of the shared chunks, by the records that have them.
    pairs: Vec<(Place, u32)>,
}

/// A term that both sides have often enough.
#[derive(Clone, Copy)]
struct Candidate {
    item: ItemId,
    support: u32,
    /// Its places among the terms of both sides.
    places: [usize; 2],
}

/// What a join changes.
struct Plan {
    /// The shared terms, ascending.
    shared: Vec<ItemId>,
    /// The leaves that give some of them away.
    givers: Vec<u32>,
    supports: Vec<u32>,
    joint: Joint,
}

impl Joiner<'_> {
    /// Joins `b` to `a` if they have terms to share and Equation 1 says that
    /// it helps; `b` is empty afterwards. Says whether it did.
    pub(super) fn join(&self, a: &mut Node, b: &mut Node, scratch: &mut Scratch) -> bool {
        if a.has_refused(b) {
            return false;
        }
        let candidates = self.candidates(a, b);
        if candidates.is_empty() {
            return false;
        }
        scratch.given.resize(self.clusters.len(), 0);
        let plan = self.plan(candidates, a, b, scratch);
        for leaf in scratch.touched.drain(..) {
            scratch.given[leaf as usize] = 0;
        }
        let Some(plan) = plan else { return false };
        for &giver in &plan.givers {
            let side = if a.leaf(giver).is_some() { &mut *a } else { &mut *b };
            let terms = &mut side.leaf_mut(giver).cluster.term_chunk;
            terms.retain(|t| plan.shared.binary_search(t).is_err());
        }
        a.absorb(std::mem::take(b), plan.supports, plan.joint);
        true
    }

    /// The terms that both sides have and at least k records together. A term
    /// that may not be shared has no support on any side.
    fn candidates(&self, a: &Node, b: &Node) -> Vec<Candidate> {
        let (x, y) = (a.terms(), b.terms());
        let (mut i, mut j, mut candidates) = (0, 0, Vec::new());
        while i < x.len() && j < y.len() {
            let (p, q) = (x[i], y[j]);
            if p == q {
                let (s, t) = (a.supports[i], b.supports[j]);
                if s > 0 && t > 0 && s + t >= self.k.get() {
                    candidates.push(Candidate { item: p, support: s + t, places: [i, j] });
                }
            }
            // Without a branch: which side comes next cannot be predicted.
            i += usize::from(p <= q);
            j += usize::from(q <= p);
        }
        candidates
    }

    fn plan(
        &self,
        mut candidates: Vec<Candidate>,
        a: &Node,
        b: &Node,
        scratch: &mut Scratch,
    ) -> Option<Plan> {
        let sides = [self.occurrences(a, scratch), self.occurrences(b, scratch)];
        for candidate in &candidates {
            Self::each_giver(candidate, &sides, |leaf| {
                if scratch.given[leaf as usize] == 0 {
                    scratch.touched.push(leaf);
                }
                scratch.given[leaf as usize] += 1;
            });
        }
        scratch.touched.sort_unstable();
        for &number in &scratch.touched {
            let leaf = a.leaf(number).or_else(|| b.leaf(number)).expect("a leaf of either side");
            let all = leaf.cluster.term_chunk.len() == scratch.given[number as usize] as usize;
            if all && !self.may_empty(leaf) {
                let kept = candidates.remove(rarest(&candidates, leaf));
                Self::each_giver(&kept, &sides, |l| scratch.given[l as usize] -= 1);
            }
        }
        if candidates.is_empty() || !self.equation_1(&candidates, a.size + b.size, scratch) {
            return None;
        }
        let shared: Vec<ItemId> = candidates.iter().map(|c| c.item).collect();
        let used = union(&a.used(), &b.used());
        let shared_chunks = self.shared_chunks(&candidates, &used, &sides, scratch);
        let used = union(&used, &shared);
        let given = |leaf: &&u32| scratch.given[**leaf as usize] > 0;
        let givers = scratch.touched.iter().filter(given).copied().collect();
        let (terms, supports, occurrences) = rest(a, b, &shared, &sides);
        let joint = Joint { terms, occurrences, used, shared_chunks, children: Vec::new() };
        Some(Plan { shared, givers, supports, joint })
    }

    /// Which records have the terms of a node; those of a leaf are looked up.
    fn occurrences<'n>(&self, node: &'n Node, scratch: &mut Scratch) -> Cow<'n, Occurrences> {
        if let Some(joint) = &node.joint {
            return Cow::Borrowed(&joint.occurrences);
        }
        scratch.place.resize(self.data.item_count(), 0);
        let mut occurrences = Occurrences::default();
        let (mut next, mut start) = (Vec::with_capacity(node.supports.len()), 0);
        for (i, (&t, &support)) in node.terms().iter().zip(&node.supports).enumerate() {
            next.push(start as usize);
            start += support;
            occurrences.ends.push(start);
            scratch.place[t as usize] = if support > 0 { i as u32 + 1 } else { 0 };
        }
        occurrences.places.resize(start as usize, Place::default());
        let leaf = node.first_leaf();
        for (record, row) in self.clusters.rows(leaf as usize, self.data).iter().zip(0..) {
            for &item in *record {
                let i = scratch.place[item as usize] as usize;
                if i > 0 {
                    occurrences.places[next[i - 1]] = Place { leaf, row };
                    next[i - 1] += 1;
                }
            }
        }
        for &t in node.terms() {
            scratch.place[t as usize] = 0;
        }
        Cow::Owned(occurrences)
    }

    /// Every leaf in whose term chunk the candidate stands, once.
    fn each_giver(candidate: &Candidate, sides: &[Cow<Occurrences>; 2], mut f: impl FnMut(u32)) {
        // The places of a term come leaf by leaf.
        for (side, i) in sides.iter().zip(candidate.places) {
            for own in side.get(i).chunk_by(|x, y| x.leaf == y.leaf) {
                f(own[0].leaf);
            }
        }
    }

    /// Lemma 2: whether the term chunk of a leaf may become empty.
    fn may_empty(&self, leaf: &Leaf) -> bool {
        let cluster = &leaf.cluster;
        lemma2::holds_without_term_chunk(cluster.size, &cluster.record_chunks, self.k, self.m)
    }

    /// Equation 1: the shared terms tell more about the joint cluster than the
    /// term chunks told about the leaves.
    fn equation_1(&self, shared: &[Candidate], size: u32, scratch: &Scratch) -> bool {
        let (mut mentions, mut records) = (0u64, 0u64);
        for &leaf in &scratch.touched {
            let given = scratch.given[leaf as usize];
            if given > 0 {
                mentions += u64::from(given);
                records += self.clusters.get(leaf as usize).len() as u64;
            }
        }
        let supports: u64 = shared.iter().map(|s| u64::from(s.support)).sum();
        // Products of two numbers below 2^64 that count records and terms.
        u128::from(supports) * u128::from(records) >= u128::from(mentions) * u128::from(size)
    }

    /// Builds the shared chunks: each leaf is projected on the shared terms
    /// that stand in its own term chunk.
    fn shared_chunks(
        &self,
        shared: &[Candidate],
        used: &[ItemId],
        sides: &[Cow<Occurrences>; 2],
        scratch: &mut Scratch,
    ) -> Vec<Bag> {
        // Corrected Property 1: what stands in a chunk below is alone in its chunk.
        let (below, others): (Vec<Candidate>, Vec<Candidate>) =
            shared.iter().partition(|c| used.binary_search(&c.item).is_ok());
        let alone = |c: &Candidate| Bag::from_counted([(&[c.item][..], c.support)]);
        let mut chunks: Vec<Bag> = below.iter().map(alone).collect();
        let pairs = &mut scratch.pairs;
        pairs.clear();
        for (i, other) in others.iter().enumerate() {
            for (side, place) in sides.iter().zip(other.places) {
                pairs.extend(side.get(place).iter().map(|&place| (place, i as u32)));
            }
        }
        pairs.sort_unstable();
        // Records without any shared term need no row.
        let rows = || pairs.chunk_by(|x, y| x.0 == y.0).zip(0u32..);
        let count = rows().count();
        if count <= masks::MOST_RECORDS {
            let mut masked: Vec<Masked> = others.iter().map(|c| (c.item, 0)).collect();
            for (row, r) in rows() {
                row.iter().for_each(|&(_, i)| masked[i as usize].1 |= 1 << r);
            }
            chunks.extend(masks::chunks(&mut masked, self.k, self.m));
        } else {
            let terms: Vec<(ItemId, u32)> = others.iter().map(|c| (c.item, c.support)).collect();
            let numbered = rows().flat_map(|(row, r)| row.iter().map(move |&(_, i)| (r, i)));
            let matrix = TermMatrix::new(&terms, count, &numbered.collect::<Vec<_>>());
            chunks.extend(matrix.chunks(self.k, self.m));
        }
        chunks
    }
}

/// The rarest candidate of those in the term chunk of a leaf, which all are.
fn rarest(candidates: &[Candidate], leaf: &Leaf) -> usize {
    let terms = &leaf.cluster.term_chunk;
    let own = candidates.iter().enumerate().filter(|(_, c)| terms.binary_search(&c.item).is_ok());
    let rarest = own.min_by_key(|(_, c)| (c.support, Reverse(c.item)));
    rarest.expect("a leaf that gives has a candidate").0
}

/// The terms that two nodes can share with others later on, with their
/// supports and records: those of both, without the `shared` ones.
fn rest(
    a: &Node,
    b: &Node,
    shared: &[ItemId],
    sides: &[Cow<Occurrences>; 2],
) -> (Vec<ItemId>, Vec<u32>, Occurrences) {
    let (x, y) = (a.terms(), b.terms());
    let (mut terms, mut supports) = (Vec::new(), Vec::new());
    let mut occurrences = Occurrences::default();
    let (mut i, mut j, mut s) = (0, 0, 0);
    while i < x.len() || j < y.len() {
        let p = x.get(i).copied().unwrap_or(ItemId::MAX);
        let q = y.get(j).copied().unwrap_or(ItemId::MAX);
        let term = p.min(q);
        let of_a = if p == term { a.supports[i] } else { 0 };
        let of_b = if q == term { b.supports[j] } else { 0 };
        let is_shared = shared.get(s) == Some(&term);
        if !is_shared && of_a + of_b > 0 {
            terms.push(term);
            supports.push(of_a + of_b);
            if of_a > 0 {
                occurrences.places.extend_from_slice(sides[0].get(i));
            }
            if of_b > 0 {
                occurrences.places.extend_from_slice(sides[1].get(j));
            }
            occurrences.ends.push(occurrences.places.len() as u32);
        }
        s += usize::from(is_shared);
        i += usize::from(p == term);
        j += usize::from(q == term);
    }
    (terms, supports, occurrences)
}

/// Merges two ascending lists.
fn union(a: &[ItemId], b: &[ItemId]) -> Vec<ItemId> {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    merged.extend_from_slice(a);
    merged.extend_from_slice(b);
    // The sort finds the two runs and merges them.
    merged.sort();
    merged.dedup();
    merged
}
