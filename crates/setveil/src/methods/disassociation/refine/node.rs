//! A cluster on its way through REFINE, simple or joint.
//!
//! Most clusters find no partner, so a simple one costs little: all that it
//! has stands with the [`Leaves`].

use std::borrow::Cow;

use super::leaves::{Finished, Leaves, Term};
use crate::data::ItemId;
use crate::methods::disassociation::index::LeafId;
use crate::release::{Bag, Cluster, JointCluster};

/// A simple or joint cluster on its way.
#[derive(Default)]
pub(super) struct Node {
    /// How many records.
    pub(super) size: u32,
    pub(super) depth: u32,
    /// How many rounds have passed without a partner.
    pub(super) idle: u32,
    /// The number of the first leaf, which no other node has.
    pub(super) first_leaf: LeafId,
    /// First leaf and size of the last that was no partner.
    refused: Option<(LeafId, u32)>,
    joint: Option<Box<Joint>>,
}

/// What a joint cluster has and a simple one does not.
pub(super) struct Joint {
    /// The virtual term chunk, as far as it can be shared; ascending.
    pub(super) terms: Vec<Term>,
    /// The terms of all record and shared chunks (the paper's T^r); ascending.
    pub(super) used: Vec<ItemId>,
    pub(super) shared_chunks: Vec<Bag>,
    /// Ascending.
    leaves: Vec<LeafId>,
    children: Vec<Tree>,
}

impl Joint {
    /// A joint cluster whose children and leaves are not known yet.
    pub(super) fn new(terms: Vec<Term>, used: Vec<ItemId>, shared_chunks: Vec<Bag>) -> Self {
        Self { terms, used, shared_chunks, leaves: Vec::new(), children: Vec::new() }
    }
}

pub(super) enum Tree {
    Leaf(LeafId),
    Joint { shared_chunks: Vec<Bag>, children: Vec<Tree> },
}

impl Node {
    /// A node for one cluster.
    pub(super) fn new(leaf: LeafId, leaves: &Leaves) -> Self {
        Self { size: leaves.size(leaf), first_leaf: leaf, ..Self::default() }
    }

    /// A node on its way, of these leaves; `depth` is 0 for one leaf.
    pub(super) fn resumed(tree: Tree, own: Vec<LeafId>, depth: u32, leaves: &Leaves) -> Self {
        let size = own.iter().map(|&leaf| leaves.size(leaf)).sum();
        let node = Self { size, depth, first_leaf: own[0], ..Self::default() };
        let Tree::Joint { shared_chunks, children } = tree else { return node };
        let mut terms: Vec<(ItemId, u32)> = Vec::new();
        let mut used: Vec<ItemId> = shared_chunks.iter().flat_map(Bag::domain).collect();
        children.iter().for_each(|child| child.used(leaves, &mut used));
        for &leaf in &own {
            let open = leaves.terms(leaf).iter().filter(|t| t.support() > 0);
            terms.extend(open.map(|t| (t.item, t.support())));
        }
        used.sort_unstable();
        used.dedup();
        terms.sort_unstable();
        let sum = |run: &[(ItemId, u32)]| Term::new(run[0].0, run.iter().map(|t| t.1).sum());
        let terms = terms.chunk_by(|a, b| a.0 == b.0).map(sum).collect();
        let joint = Joint { terms, used, shared_chunks, leaves: own, children };
        Self { joint: Some(Box::new(joint)), ..node }
    }

    /// Whether another node has taken everything.
    pub(super) fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// The virtual term chunk, ascending; those without support cannot be
    /// shared.
    pub(super) fn terms<'a>(&'a self, leaves: &'a Leaves) -> &'a [Term] {
        match &self.joint {
            Some(joint) => &joint.terms,
            None => leaves.terms(self.first_leaf),
        }
    }

    /// The terms that can be shared, ascending.
    pub(super) fn sharable<'a>(&'a self, leaves: &'a Leaves) -> impl Iterator<Item = ItemId> {
        self.terms(leaves).iter().filter(|t| t.support() > 0).map(|t| t.item)
    }

    /// The numbers of its leaves, ascending.
    pub(super) fn leaves(&self) -> &[LeafId] {
        match &self.joint {
            Some(joint) => &joint.leaves,
            None => std::slice::from_ref(&self.first_leaf),
        }
    }

    /// Remembers that a join with `other`, as both are now, was refused.
    pub(super) fn refuse(&mut self, other: &Self) {
        self.idle += 1;
        self.refused = Some((other.first_leaf, other.size));
    }

    /// Whether a join with `other`, as both are now, was refused before. What
    /// took another in has grown.
    pub(super) fn has_refused(&self, other: &Self) -> bool {
        self.refused == Some((other.first_leaf, other.size))
    }

    /// The terms of all record and shared chunks, ascending.
    pub(super) fn used(&self, leaves: &Leaves) -> Cow<'_, [ItemId]> {
        match &self.joint {
            Some(joint) => Cow::Borrowed(&joint.used),
            None => {
                let chunks = &leaves.cluster(self.first_leaf).record_chunks;
                let mut used: Vec<ItemId> = chunks.iter().flat_map(Bag::domain).collect();
                used.sort_unstable();
                Cow::Owned(used)
            }
        }
    }

    /// Becomes the joint cluster of itself and `other`.
    pub(super) fn absorb(&mut self, mut other: Self, mut joint: Joint) {
        joint.leaves = [self.leaves(), other.leaves()].concat();
        // The sort finds the two runs and merges them.
        joint.leaves.sort();
        joint.children = vec![self.take_tree(), other.take_tree()];
        self.size += other.size;
        self.depth = self.depth.max(other.depth) + 1;
        self.idle = 0;
        self.first_leaf = joint.leaves[0];
        self.refused = None;
        self.joint = Some(Box::new(joint));
    }

    pub(super) fn take_tree(&mut self) -> Tree {
        match self.joint.take() {
            None => Tree::Leaf(self.first_leaf),
            Some(joint) => {
                Tree::Joint { shared_chunks: joint.shared_chunks, children: joint.children }
            }
        }
    }

    /// Drops what only further joins would need.
    pub(super) fn retire(mut self) -> Self {
        if let Some(joint) = &mut self.joint {
            joint.terms = Vec::new();
            joint.leaves = Vec::new();
            joint.used = Vec::new();
        }
        self
    }

    /// The published form.
    pub(super) fn into_cluster(mut self, leaves: &Finished) -> Cluster {
        self.take_tree().build(leaves)
    }
}

impl Tree {
    /// Appends the terms of all record and shared chunks.
    fn used(&self, leaves: &Leaves, used: &mut Vec<ItemId>) {
        match self {
            Self::Leaf(leaf) => {
                used.extend(leaves.cluster(*leaf).record_chunks.iter().flat_map(Bag::domain));
            }
            Self::Joint { shared_chunks, children } => {
                used.extend(shared_chunks.iter().flat_map(Bag::domain));
                children.iter().for_each(|child| child.used(leaves, used));
            }
        }
    }

    fn build(self, leaves: &Finished) -> Cluster {
        match self {
            Self::Leaf(leaf) => Cluster::Simple(leaves.take(leaf)),
            Self::Joint { shared_chunks, children } => {
                let children: Vec<Cluster> =
                    children.into_iter().map(|child| child.build(leaves)).collect();
                let size = children.iter().map(Cluster::size).sum();
                Cluster::Joint(JointCluster { size, shared_chunks, children })
            }
        }
    }
}
