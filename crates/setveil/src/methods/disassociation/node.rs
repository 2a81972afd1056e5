//! A cluster on its way through REFINE, simple or joint.
//!
//! Most clusters find no partner, so a simple one costs little: it knows how
//! often its terms occur, and nothing else that only a join would ask for.

use std::borrow::Cow;

use super::verpart::Split;
use crate::data::ItemId;
use crate::release::{Bag, Cluster, JointCluster, SimpleCluster};

/// A simple or joint cluster on its way.
#[derive(Default)]
pub(super) struct Node {
    pub(super) size: u32,
    pub(super) depth: u32,
    /// How many rounds have passed without a partner.
    pub(super) idle: u32,
    /// First leaf and size of the last that was no partner.
    refused: Option<(u32, u32)>,
    /// How many records of the node's term chunks have each of
    /// [`Node::terms`]; 0 for a term that may not be shared.
    pub(super) supports: Vec<u32>,
    /// By ascending number.
    leaves: Vec<Leaf>,
    pub(super) joint: Option<Box<Joint>>,
}

pub(super) struct Leaf {
    number: u32,
    pub(super) cluster: SimpleCluster,
}

/// What a joint cluster has and a simple one does not.
pub(super) struct Joint {
    /// The virtual term chunk, as far as it can be shared; ascending.
    pub(super) terms: Vec<ItemId>,
    pub(super) occurrences: Occurrences,
    /// The terms of all record and shared chunks (the paper's T^r); ascending.
    pub(super) used: Vec<ItemId>,
    pub(super) shared_chunks: Vec<Bag>,
    pub(super) children: Vec<Tree>,
}

pub(super) enum Tree {
    Leaf(u32),
    Joint { shared_chunks: Vec<Bag>, children: Vec<Tree> },
}

/// Where a term occurs: in a record of a leaf.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The number of the leaf.
    pub(super) leaf: u32,
    /// Which of its records.
    pub(super) row: u32,
}

/// Where each of some terms occurs, leaf by leaf.
#[derive(Clone, Default)]
pub(super) struct Occurrences {
    /// Those of term `i` are `places[ends[i - 1]..ends[i]]`.
    pub(super) ends: Vec<u32>,
    pub(super) places: Vec<Place>,
}

impl Occurrences {
    pub(super) fn get(&self, i: usize) -> &[Place] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        &self.places[start..self.ends[i] as usize]
    }
}

impl Node {
    /// A node for one cluster. Sensitive terms are never shared.
    pub(super) fn new(number: u32, split: Split, sensitive: &[bool]) -> Self {
        let Split { cluster, mut supports } = split;
        for (support, &term) in supports.iter_mut().zip(&cluster.term_chunk) {
            if sensitive[term as usize] {
                *support = 0;
            }
        }
        let size = cluster.size;
        Self { size, supports, leaves: vec![Leaf { number, cluster }], ..Self::default() }
    }

    /// Whether another node has taken everything.
    pub(super) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// The virtual term chunk, ascending.
    pub(super) fn terms(&self) -> &[ItemId] {
        match &self.joint {
            Some(joint) => &joint.terms,
            None => self.leaves.first().map_or(&[], |leaf| &leaf.cluster.term_chunk),
        }
    }

    /// The terms that can be shared, ascending.
    pub(super) fn sharable(&self) -> impl Iterator<Item = ItemId> {
        self.terms().iter().zip(&self.supports).filter(|(_, s)| **s > 0).map(|(&t, _)| t)
    }

    /// Remembers that a join with `other`, as both are now, was refused.
    pub(super) fn refuse(&mut self, other: &Self) {
        self.idle += 1;
        self.refused = Some((other.first_leaf(), other.size));
    }

    /// Whether a join with `other`, as both are now, was refused before. What
    /// took another in has grown.
    pub(super) fn has_refused(&self, other: &Self) -> bool {
        self.refused == Some((other.first_leaf(), other.size))
    }

    /// The terms of all record and shared chunks, ascending.
    pub(super) fn used(&self) -> Cow<'_, [ItemId]> {
        match &self.joint {
            Some(joint) => Cow::Borrowed(&joint.used),
            None => {
                let chunks = self.leaves.iter().flat_map(|leaf| &leaf.cluster.record_chunks);
                let mut used: Vec<ItemId> = chunks.flat_map(Bag::domain).collect();
                used.sort_unstable();
                Cow::Owned(used)
            }
        }
    }

    /// The number of the first leaf, which no other node has.
    pub(super) fn first_leaf(&self) -> u32 {
        self.leaves[0].number
    }

    fn place(&self, number: u32) -> Option<usize> {
        self.leaves.binary_search_by_key(&number, |leaf| leaf.number).ok()
    }

    pub(super) fn leaf(&self, number: u32) -> Option<&Leaf> {
        self.place(number).map(|place| &self.leaves[place])
    }

    /// # Panics
    /// If the node has no such leaf.
    pub(super) fn leaf_mut(&mut self, number: u32) -> &mut Leaf {
        let place = self.place(number).expect("a leaf of this node");
        &mut self.leaves[place]
    }

    /// Becomes the joint cluster of itself and `other`: `joint` but for the
    /// children.
    pub(super) fn absorb(&mut self, mut other: Self, supports: Vec<u32>, mut joint: Joint) {
        joint.children = vec![self.take_tree(), other.take_tree()];
        self.size += other.size;
        self.depth = self.depth.max(other.depth) + 1;
        self.idle = 0;
        self.refused = None;
        self.supports = supports;
        self.leaves.append(&mut other.leaves);
        // The sort finds the two runs and merges them.
        self.leaves.sort_by_key(|leaf| leaf.number);
        self.joint = Some(Box::new(joint));
    }

    fn take_tree(&mut self) -> Tree {
        match self.joint.take() {
            None => Tree::Leaf(self.first_leaf()),
            Some(joint) => {
                Tree::Joint { shared_chunks: joint.shared_chunks, children: joint.children }
            }
        }
    }

    /// Drops what only further joins would need.
    pub(super) fn retire(mut self) -> Self {
        self.supports = Vec::new();
        if let Some(joint) = &mut self.joint {
            joint.terms = Vec::new();
            joint.occurrences = Occurrences::default();
            joint.used = Vec::new();
        }
        self
    }

    /// The published form.
    pub(super) fn into_cluster(mut self) -> Cluster {
        let tree = self.take_tree();
        self.build(tree)
    }

    fn build(&mut self, tree: Tree) -> Cluster {
        match tree {
            Tree::Leaf(number) => {
                Cluster::Simple(std::mem::take(&mut self.leaf_mut(number).cluster))
            }
            Tree::Joint { shared_chunks, children } => {
                let children: Vec<Cluster> =
                    children.into_iter().map(|child| self.build(child)).collect();
                let size = children.iter().map(Cluster::size).sum();
                Cluster::Joint(JointCluster { size, shared_chunks, children })
            }
        }
    }
}
