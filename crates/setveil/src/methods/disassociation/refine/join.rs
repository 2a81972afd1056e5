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

use std::cmp::Reverse;
use std::ops::Range;

use super::leaves::{AHEAD, Leaves, Term, touch_terms};
use super::node::{Joint, Node};
use crate::Result;
use crate::data::{ItemId, K, M};
use crate::methods::disassociation::index::LeafId;
use crate::methods::disassociation::{Chunker, VerticalPartitioning, lemma2};
use crate::progress::{Progress, Pulse};

/// What every join needs.
pub(super) struct Joiner<'a, V> {
    pub(super) leaves: &'a Leaves<'a>,
    pub(super) vertical: &'a V,
    pub(super) k: K,
    pub(super) m: M,
    pub(super) progress: &'a dyn Progress,
}

/// Arrays that are used again from join to join.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) candidates: Vec<Candidate>,
    pub(super) givers: Vec<Giver>,
    pub(super) gifts: Vec<Gift>,
    /// A number for every item; 0 between uses.
    pub(super) table: Vec<u32>,
    /// The records of the shared chunks.
    pub(super) chunker: Chunker,
}

/// A term that both sides have often enough.
pub(super) struct Candidate {
    pub(super) item: ItemId,
    pub(super) support: u32,
    /// Whether some leaf cannot do without it.
    pub(super) stays: bool,
    /// Its number in the chunker, plus one; 0 if it may not share a chunk.
    pub(super) in_chunker: u32,
}

/// A leaf in whose term chunk candidates stand.
pub(super) struct Giver {
    pub(super) leaf: LeafId,
    /// Which of the gifts are its own.
    pub(super) gifts: Range<usize>,
}

/// A candidate that a leaf can give.
#[derive(Clone, Copy)]
pub(super) struct Gift {
    /// Its place among the candidates.
    pub(super) candidate: u32,
    /// Its place among the terms of the leaf.
    term: u32,
}

impl<V: VerticalPartitioning> Joiner<'_, V> {
    /// Joins `b` to `a` if they have terms to share and Equation 1 says that
    /// it helps; `b` is empty afterwards. Says whether it did.
    pub(super) fn join(
        &self,
        a: &mut Node,
        b: &mut Node,
        scratch: &mut Scratch,
        pulse: &mut Pulse,
    ) -> Result<bool> {
        if a.has_refused(b) {
            return Ok(false);
        }
        pulse.work(a.terms(self.leaves).len() + b.terms(self.leaves).len())?;
        self.find_candidates(a, b, scratch);
        if scratch.candidates.is_empty() {
            return Ok(false);
        }
        self.find_gifts(a, b, scratch, pulse)?;
        self.keep_lemma_2(scratch);
        if !self.equation_1(a.size + b.size, scratch) {
            return Ok(false);
        }
        let used = union(&a.used(self.leaves), &b.used(self.leaves));
        let shared_chunks = self.shared_chunks(&used, scratch, pulse)?;
        for giver in &scratch.givers {
            for gift in given(giver, scratch) {
                self.leaves.give(giver.leaf, gift.term);
            }
        }
        let shared = scratch.candidates.iter().filter(|c| !c.stays).map(|c| c.item);
        let shared: Vec<ItemId> = shared.collect();
        let terms = rest(a.terms(self.leaves), b.terms(self.leaves), &shared);
        let joint = Joint::new(terms, union(&used, &shared), shared_chunks);
        a.absorb(std::mem::take(b), joint);
        Ok(true)
    }

    /// The terms that both sides have and at least k records together. A term
    /// that may not be shared has no support on any side.
    fn find_candidates(&self, a: &Node, b: &Node, scratch: &mut Scratch) {
        let Scratch { candidates, table: supports, .. } = scratch;
        candidates.clear();
        supports.resize(self.leaves.item_count(), 0);
        let (mut few, mut many) = (a.terms(self.leaves), b.terms(self.leaves));
        if few.len() > many.len() {
            (few, many) = (many, few);
        }
        // A table: merging would wait for every comparison.
        few.iter().for_each(|term| supports[term.item as usize] = term.support());
        for term in many {
            let (s, t) = (supports[term.item as usize], term.support());
            if s + t >= self.k.get() && s > 0 && t > 0 {
                let (item, support) = (term.item, s + t);
                candidates.push(Candidate { item, support, stays: false, in_chunker: 0 });
            }
        }
        few.iter().for_each(|term| supports[term.item as usize] = 0);
    }

    /// Which leaves have the candidates in their term chunks.
    fn find_gifts(
        &self,
        a: &Node,
        b: &Node,
        scratch: &mut Scratch,
        pulse: &mut Pulse,
    ) -> Result<()> {
        let Scratch { candidates, givers, gifts, table, .. } = scratch;
        givers.clear();
        gifts.clear();
        for (candidate, number) in candidates.iter().zip(1..) {
            table[candidate.item as usize] = number;
        }
        for some in a.leaves().chunks(AHEAD).chain(b.leaves().chunks(AHEAD)) {
            touch_terms(some.iter().map(|&leaf| self.leaves.terms(leaf)));
            for &leaf in some {
                let start = gifts.len();
                for (term, i) in self.leaves.terms(leaf).iter().zip(0..) {
                    let number = table[term.item as usize];
                    if number > 0 && term.support() > 0 {
                        gifts.push(Gift { candidate: number - 1, term: i });
                    }
                }
                if gifts.len() > start {
                    givers.push(Giver { leaf, gifts: start..gifts.len() });
                }
                pulse.work(self.leaves.terms(leaf).len())?;
            }
        }
        candidates.iter().for_each(|candidate| table[candidate.item as usize] = 0);
        givers.sort_unstable_by_key(|giver| giver.leaf);
        Ok(())
    }

    /// Lemma 2: a leaf that may not lose all of its terms keeps the rarest,
    /// and so do the others then.
    fn keep_lemma_2(&self, scratch: &mut Scratch) {
        for g in 0..scratch.givers.len() {
            let giver = &scratch.givers[g];
            let all = given(giver, scratch).count() == self.leaves.left(giver.leaf) as usize;
            if all && !self.may_empty(giver.leaf) {
                let rarest = given(giver, scratch).map(|gift| gift.candidate).min_by_key(|&c| {
                    let candidate = &scratch.candidates[c as usize];
                    (candidate.support, Reverse(candidate.item))
                });
                let rarest = rarest.expect("a term chunk that would lose all has some");
                scratch.candidates[rarest as usize].stays = true;
            }
        }
    }

    /// Lemma 2: whether the term chunk of a leaf may become empty.
    fn may_empty(&self, leaf: LeafId) -> bool {
        let cluster = self.leaves.cluster(leaf);
        lemma2::holds_without_term_chunk(cluster.size, &cluster.record_chunks, self.k, self.m)
    }

    /// Equation 1: there are shared terms, and they tell more about the joint
    /// cluster of `size` records than the term chunks told about the leaves.
    fn equation_1(&self, size: u32, scratch: &Scratch) -> bool {
        let (mut mentions, mut records) = (0u64, 0u64);
        for giver in &scratch.givers {
            let given = given(giver, scratch).count() as u64;
            if given > 0 {
                mentions += given;
                records += u64::from(self.leaves.size(giver.leaf));
            }
        }
        let shared = scratch.candidates.iter().filter(|c| !c.stays);
        let supports: u64 = shared.map(|c| u64::from(c.support)).sum();
        // Products of two numbers below 2^64 that count records and terms.
        supports > 0
            && u128::from(supports) * u128::from(records) >= u128::from(mentions) * u128::from(size)
    }
}

/// What a leaf gives away.
fn given<'s>(giver: &Giver, scratch: &'s Scratch) -> impl Iterator<Item = &'s Gift> {
    let gifts = &scratch.gifts[giver.gifts.clone()];
    gifts.iter().filter(|gift| !scratch.candidates[gift.candidate as usize].stays)
}

/// The terms that two nodes can share with others later on: those of both,
/// without the `shared` ones.
fn rest(x: &[Term], y: &[Term], shared: &[ItemId]) -> Vec<Term> {
    let mut terms = Vec::with_capacity(x.len() + y.len());
    let (mut i, mut j, mut s) = (0, 0, 0);
    while i < x.len() || j < y.len() {
        let p = x.get(i).map_or(ItemId::MAX, |t| t.item);
        let q = y.get(j).map_or(ItemId::MAX, |t| t.item);
        let item = p.min(q);
        let of_x = if p == item { x[i].support() } else { 0 };
        let of_y = if q == item { y[j].support() } else { 0 };
        let is_shared = shared.get(s) == Some(&item);
        if !is_shared && of_x + of_y > 0 {
            terms.push(Term::new(item, of_x + of_y));
        }
        s += usize::from(is_shared);
        i += usize::from(p == item);
        j += usize::from(q == item);
    }
    terms
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
