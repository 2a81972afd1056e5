//! The simple clusters that REFINE begins with, which become the leaves of
//! joint clusters.
//!
//! Every round looks at the terms of all of them, so these stand in few large
//! arrays. Threads work on different clusters, and no leaf is in two: what they
//! change is atomic only because the arrays are shared.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use crate::data::{Dataset, ItemId, touch};
use crate::methods::disassociation::index::LeafId;
use crate::methods::disassociation::{ChunkedCluster, Clusters};
use crate::release::SimpleCluster;

/// A term of a (virtual) term chunk.
pub(super) struct Term {
    pub(super) item: ItemId,
    /// How many records of the term chunks have it; 0 if it may not be shared
    /// or was given to a shared chunk.
    support: AtomicU32,
}

impl Term {
    pub(super) fn new(item: ItemId, support: u32) -> Self {
        Self { item, support: support.into() }
    }

    pub(super) fn support(&self) -> u32 {
        self.support.load(Ordering::Relaxed)
    }
}

/// So many lists of terms are fetched from memory at the same time.
pub(super) const AHEAD: usize = 8;

/// Fetches some lists of terms from memory.
pub(super) fn touch_terms<'t>(lists: impl Iterator<Item = &'t [Term]>) {
    const LINE: usize = 64 / size_of::<Term>();
    touch(lists.flat_map(|terms| terms.iter().step_by(LINE)).map(|term| &term.item));
}

/// Leaves that follow each other. A leaf's term chunk is in `terms`, and not
/// in its cluster until it is finished, but for terms that nobody can share.
#[derive(Default)]
pub(in crate::methods::disassociation) struct Block {
    clusters: Vec<SimpleCluster>,
    /// Leaf `i` has the terms `terms[ends[i - 1]..ends[i]]`, which ascend.
    ends: Vec<usize>,
    terms: Vec<Term>,
    /// How many terms each term chunk still has that can fill any record:
    /// sensitive ones cannot.
    left: Vec<AtomicU32>,
}

impl Extend<ChunkedCluster> for Block {
    fn extend<C: IntoIterator<Item = ChunkedCluster>>(&mut self, clusters: C) {
        for ChunkedCluster { mut cluster, supports } in clusters {
            let terms = std::mem::take(&mut cluster.term_chunk);
            // A term without support would count as given away, and be lost: a
            // plugged-in partitioning that does so stops here.
            assert!(terms.len() == supports.len() && !supports.contains(&0));
            self.left.push((terms.len() as u32).into());
            self.terms.extend(terms.iter().zip(supports).map(|(&item, s)| Term::new(item, s)));
            self.ends.push(self.terms.len());
            self.clusters.push(cluster);
        }
    }
}

impl Block {
    /// Adds a leaf on its way. The term chunk of `cluster` has what cannot be
    /// shared, `terms` what can, ascending.
    pub(super) fn push(&mut self, cluster: SimpleCluster, terms: impl IntoIterator<Item = Term>) {
        let start = self.terms.len();
        self.terms.extend(terms);
        let left = self.terms.len() - start + cluster.term_chunk.len();
        self.left.push((left as u32).into());
        self.ends.push(self.terms.len());
        self.clusters.push(cluster);
    }

    fn terms(&self, i: usize) -> &[Term] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.terms[start..self.ends[i]]
    }

    fn finish(mut self, sensitive: &[bool]) -> Vec<SimpleCluster> {
        let mut clusters = std::mem::take(&mut self.clusters);
        for (i, cluster) in clusters.iter_mut().enumerate() {
            let left = self.left[i].load(Ordering::Relaxed) as usize;
            let fixed = cluster.term_chunk.len();
            cluster.term_chunk.reserve_exact(left.saturating_sub(fixed));
            let stays = |t: &&Term| t.support() > 0 || sensitive[t.item as usize];
            cluster.term_chunk.extend(self.terms(i).iter().filter(stays).map(|t| t.item));
            if fixed > 0 {
                cluster.term_chunk.sort_unstable();
            }
            let kept = cluster.term_chunk.iter().filter(|&&t| !sensitive[t as usize]).count();
            assert_eq!(kept, left, "what is not given away stays");
        }
        clusters
    }
}

/// All leaves, by number.
pub(in crate::methods::disassociation) struct Leaves<'a> {
    blocks: Vec<Block>,
    /// How many leaves a block has.
    block: usize,
    clusters: &'a Clusters,
    data: &'a Dataset,
}

impl<'a> Leaves<'a> {
    /// Takes blocks of equal size, but for the last one, which stand for the
    /// `clusters` in order. Sensitive terms will not be shared.
    pub(in crate::methods::disassociation) fn new(
        mut blocks: Vec<Block>,
        clusters: &'a Clusters,
        data: &'a Dataset,
        sensitive: &[bool],
    ) -> Self {
        if sensitive.contains(&true) {
            for block in &mut blocks {
                for (i, left) in block.left.iter().enumerate() {
                    let hidden = |t: &&Term| sensitive[t.item as usize];
                    let hidden = block.terms(i).iter().filter(hidden);
                    left.fetch_sub(hidden.count() as u32, Ordering::Relaxed);
                }
                for term in block.terms.iter_mut().filter(|t| sensitive[t.item as usize]) {
                    term.support = 0.into();
                }
            }
        }
        let block = blocks.first().map_or(1, |block| block.clusters.len());
        debug_assert_eq!(blocks.iter().map(|b| b.clusters.len()).sum::<usize>(), clusters.len());
        Self { blocks, block, clusters, data }
    }

    fn find(&self, leaf: LeafId) -> (&Block, usize) {
        (&self.blocks[leaf.index() / self.block], leaf.index() % self.block)
    }

    pub(super) fn len(&self) -> usize {
        self.clusters.len()
    }

    /// The number of records.
    pub(super) fn size(&self, leaf: LeafId) -> u32 {
        self.cluster(leaf).size
    }

    /// What each record of a leaf holds, or at least what it holds of the term chunk.
    pub(super) fn records(&self, leaf: LeafId) -> Vec<&'a [ItemId]> {
        self.clusters.rows(leaf.index(), self.data)
    }

    /// How many items there are.
    pub(super) fn item_count(&self) -> usize {
        self.data.item_count()
    }

    /// The size and the record chunks; the term chunk is not filled yet.
    pub(super) fn cluster(&self, leaf: LeafId) -> &SimpleCluster {
        let (block, i) = self.find(leaf);
        &block.clusters[i]
    }

    /// The terms that the term chunk had in the beginning, ascending.
    pub(super) fn terms(&self, leaf: LeafId) -> &[Term] {
        let (block, i) = self.find(leaf);
        block.terms(i)
    }

    /// How many terms the term chunk has left, sensitive ones not counted.
    pub(super) fn left(&self, leaf: LeafId) -> u32 {
        let (block, i) = self.find(leaf);
        block.left[i].load(Ordering::Relaxed)
    }

    /// The leaf gives its term of this number to a shared chunk.
    pub(super) fn give(&self, leaf: LeafId, term: u32) {
        let (block, i) = self.find(leaf);
        block.terms(i)[term as usize].support.store(0, Ordering::Relaxed);
        block.left[i].fetch_sub(1, Ordering::Relaxed);
    }

    /// The clusters with the terms that they have kept.
    pub(super) fn finish(self, sensitive: &[bool]) -> Finished {
        let finish = |block: Block| block.finish(sensitive).into();
        Finished { blocks: self.blocks.into_par_iter().map(finish).collect(), block: self.block }
    }
}

/// Leaves that nobody changes any more.
pub(super) struct Finished {
    blocks: Vec<Mutex<Vec<SimpleCluster>>>,
    block: usize,
}

impl Finished {
    /// Hands the leaf out; only one can have it.
    pub(super) fn take(&self, leaf: LeafId) -> SimpleCluster {
        let block = &self.blocks[leaf.index() / self.block];
        let mut clusters = block.lock().expect("nobody panicked");
        std::mem::take(&mut clusters[leaf.index() % self.block])
    }
}
