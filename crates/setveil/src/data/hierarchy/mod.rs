//! A generalization hierarchy: one tree over the items, `*` at the root.
//!
//! Nodes are numbered in preorder with siblings by text, so a subtree is one
//! range of numbers: ancestor tests and leaf counts are subtractions. The
//! tree may be unbalanced and a node may have thousands of children. Labels
//! lie in one allocation. This module builds and asks; files are read in
//! [`io`](crate::io).

mod balanced;
mod builder;

use rayon::prelude::*;

pub use balanced::{LeafOrder, balanced};
pub use builder::HierarchyBuilder;

use super::{ItemId, Vocabulary};
use crate::error::{Hint, Setting};
use crate::{Error, Result};

/// A node of a [`Hierarchy`]; the root is 0.
pub type NodeId = u32;

/// The label of every hierarchy's root.
pub const ROOT: &str = "*";

/// A single-parent tree of labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    /// The labels in preorder, one after the other.
    text: String,
    /// `text_ends[n]` is where the label of `n` ends in `text`.
    text_ends: Vec<usize>,
    parents: Vec<NodeId>,
    /// The first node after the subtree.
    ends: Vec<NodeId>,
    depths: Vec<u32>,
    /// `leaves_before[n]`: how many leaves have a smaller number than `n`.
    leaves_before: Vec<u32>,
    children_offsets: Vec<u32>,
    children: Vec<NodeId>,
    /// Nodes by ascending label, for look-up.
    by_label: Vec<NodeId>,
}

/// Why a list of paths is no hierarchy: which path (counted from 0), what is
/// wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    /// The index of the offending path.
    pub path: usize,
    /// What is wrong.
    pub what: String,
}

impl Hierarchy {
    /// Builds a tree from paths `leaf, parent, ..., *`; what is refused is
    /// listed at [`HierarchyBuilder::push`].
    pub fn from_paths<S: AsRef<str>>(paths: &[Vec<S>]) -> Result<Self, PathError> {
        let mut builder = HierarchyBuilder::default();
        for (path, labels) in paths.iter().enumerate() {
            let labels: Vec<&str> = labels.iter().map(AsRef::as_ref).collect();
            builder.push(&labels).map_err(|what| PathError { path, what })?;
        }
        builder.finish().ok_or_else(|| PathError { path: 0, what: "there is no leaf".into() })
    }

    /// Numbers the nodes of a tree in preorder, siblings by text. Node 0 of
    /// `parents` is the root; labels are distinct.
    fn number<'a>(label: impl Fn(NodeId) -> &'a str + Sync, parents: &[NodeId]) -> Self {
        let n = parents.len();
        let mut by_text: Vec<NodeId> = (0..n as NodeId).collect();
        by_text.par_sort_unstable_by(|&a, &b| label(a).cmp(label(b)));
        // In the order of the texts, so every node's children are by text.
        let (offsets, children) = children_of(parents, by_text.iter().copied());
        let mut tree = Self {
            text: String::new(),
            text_ends: Vec::with_capacity(n),
            parents: Vec::with_capacity(n),
            ends: vec![0; n],
            depths: Vec::with_capacity(n),
            leaves_before: vec![0; n + 1],
            children_offsets: Vec::new(),
            children: Vec::new(),
            by_label: Vec::new(),
        };
        let mut numbers: Vec<NodeId> = vec![0; n];
        let mut stack: Vec<NodeId> = vec![0];
        while let Some(node) = stack.pop() {
            let number = tree.parents.len();
            numbers[node as usize] = number as NodeId;
            tree.text.push_str(label(node));
            tree.text_ends.push(tree.text.len());
            let parent = numbers[parents[node as usize] as usize];
            tree.depths.push(if number == 0 { 0 } else { tree.depths[parent as usize] + 1 });
            tree.parents.push(parent);
            let kids = offsets[node as usize] as usize..offsets[node as usize + 1] as usize;
            tree.leaves_before[number + 1] =
                tree.leaves_before[number] + u32::from(kids.is_empty());
            // The stack turns the order round.
            stack.extend(children[kids].iter().rev());
        }
        drop((offsets, children));
        for i in (0..n).rev() {
            tree.ends[i] = tree.ends[i].max(i as NodeId + 1);
            let parent = tree.parents[i] as usize;
            tree.ends[parent] = tree.ends[parent].max(tree.ends[i]);
        }
        // Children in ascending number are children in ascending text.
        (tree.children_offsets, tree.children) = children_of(&tree.parents, 0..n as NodeId);
        by_text.iter_mut().for_each(|node| *node = numbers[*node as usize]);
        tree.by_label = by_text;
        tree
    }

    /// The same tree with further leaves directly below the root. Labels that
    /// are leaves already are passed over; the name of an inner node is an error.
    pub fn with_leaves_below_root<S: AsRef<str>>(&self, labels: &[S]) -> Result<Self> {
        let mut parents = self.parents.clone();
        let mut new: Vec<&str> = Vec::new();
        for label in labels.iter().map(AsRef::as_ref) {
            match self.node(label) {
                Some(node) if self.is_leaf(node) => {}
                Some(_) => {
                    return Err(Error::Unknown {
                        what: format!("item `{label}` has the name of an inner node"),
                        hint: "rename it in the data or in the hierarchy".into(),
                    });
                }
                None if label.is_empty() => {
                    return Err(Error::Unknown {
                        what: "an item without a name cannot be a leaf".into(),
                        hint: "give it one in the data".into(),
                    });
                }
                None => new.push(label),
            }
        }
        new.sort_unstable();
        new.dedup();
        parents.resize(parents.len() + new.len(), 0);
        let old = self.len();
        let label = |node: NodeId| {
            let n = node as usize;
            if n < old { self.label(node) } else { new[n - old] }
        };
        Ok(Self::number(label, &parents))
    }

    /// The same tree with every leaf renamed that `keep` does not name: as
    /// many leaves under every node as before, and no word of what they were.
    pub fn with_leaves_hidden(&self, keep: impl Fn(&str) -> bool) -> Self {
        let mut mark = String::from("#");
        // No label may hold the mark, or a made-up name could be a real one.
        while self.text.contains(&mark) {
            mark.push('#');
        }
        let (mut names, mut which) = (Vec::new(), vec![u32::MAX; self.len()]);
        let mut numbers = vec![0u32; self.len()];
        for leaf in self.leaves(0).filter(|&leaf| !keep(self.label(leaf))) {
            let number = &mut numbers[self.parent(leaf) as usize];
            *number += 1;
            which[leaf as usize] = names.len() as u32;
            names.push(format!("{}{mark}{number}", self.label(self.parent(leaf))));
        }
        let label = |node: NodeId| match which[node as usize] {
            u32::MAX => self.label(node),
            hidden => names[hidden as usize].as_str(),
        };
        Self::number(label, &self.parents)
    }

    /// How many nodes there are, the root and the leaves included.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Never: a hierarchy has at least a root and a leaf.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The label of `node`.
    pub fn label(&self, node: NodeId) -> &str {
        let n = node as usize;
        &self.text[if n == 0 { 0 } else { self.text_ends[n - 1] }..self.text_ends[n]]
    }

    /// The node called `label`.
    pub fn node(&self, label: &str) -> Option<NodeId> {
        self.by_label.binary_search_by(|&n| self.label(n).cmp(label)).ok().map(|i| self.by_label[i])
    }

    /// The parent of `node`; the root's is the root.
    pub fn parent(&self, node: NodeId) -> NodeId {
        self.parents[node as usize]
    }

    /// The children of `node`, ascending by text.
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        let n = node as usize;
        &self.children[self.children_offsets[n] as usize..self.children_offsets[n + 1] as usize]
    }

    /// Whether `node` has no children.
    pub fn is_leaf(&self, node: NodeId) -> bool {
        self.ends[node as usize] == node + 1
    }

    /// How many steps `node` is below the root.
    pub fn depth(&self, node: NodeId) -> u32 {
        self.depths[node as usize]
    }

    /// Whether `ancestor` is `node` or above it.
    pub fn covers(&self, ancestor: NodeId, node: NodeId) -> bool {
        (ancestor..self.ends[ancestor as usize]).contains(&node)
    }

    /// The child of `above` on the way down to `node`; `above` must cover
    /// `node` and differ from it.
    pub fn child_towards(&self, above: NodeId, node: NodeId) -> NodeId {
        debug_assert!(above != node && self.covers(above, node));
        let children = self.children(above);
        children[children.partition_point(|&c| c <= node) - 1]
    }

    /// How many leaves are at or under `node`.
    pub fn leaf_count(&self, node: NodeId) -> u32 {
        self.leaves_before[self.ends[node as usize] as usize] - self.leaves_before[node as usize]
    }

    /// `node` and everything below it.
    pub fn subtree(&self, node: NodeId) -> std::ops::Range<NodeId> {
        node..self.ends[node as usize]
    }

    /// The leaves at or under `node`, ascending.
    pub fn leaves(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        (node..self.ends[node as usize]).filter(|&n| self.is_leaf(n))
    }

    /// The leaf for every item of `vocabulary`. Items that are no leaf go to
    /// the root if `unknown_to_root`, and are an error otherwise.
    pub fn bind(&self, vocabulary: &Vocabulary, unknown_to_root: bool) -> Result<Vec<NodeId>> {
        let leaf = |label: &str| self.node(label).filter(|&n| self.is_leaf(n));
        let bound: Vec<Option<NodeId>> = vocabulary.labels().map(leaf).collect();
        let missing: Vec<ItemId> =
            (0..vocabulary.len() as ItemId).filter(|&i| bound[i as usize].is_none()).collect();
        if !missing.is_empty() && !unknown_to_root {
            let first: Vec<&str> = missing.iter().take(5).map(|&i| vocabulary.label(i)).collect();
            return Err(Error::Unknown {
                what: format!(
                    "{} of {} items are no leaf of the hierarchy, the first: {}",
                    missing.len(),
                    vocabulary.len(),
                    first.join(", ")
                ),
                hint: Hint::of(
                    "add them to the hierarchy file, or generalize them to the root with {}",
                    &[Setting::UnknownToRoot],
                ),
            });
        }
        Ok(bound.into_iter().map(|n| n.unwrap_or(0)).collect())
    }

    /// One path `leaf, parent, ..., *` for every leaf, in preorder.
    pub fn paths(&self) -> impl Iterator<Item = Vec<&str>> {
        self.leaves(0).map(|leaf| {
            let mut path = vec![self.label(leaf)];
            let mut node = leaf;
            while node != 0 {
                node = self.parent(node);
                path.push(self.label(node));
            }
            path
        })
    }
}

/// The children of every node, in the order in which `nodes` come: offsets
/// and list. Node 0 is nobody's child.
fn children_of(parents: &[NodeId], nodes: impl Iterator<Item = NodeId>) -> (Vec<u32>, Vec<NodeId>) {
    let n = parents.len();
    let mut offsets = vec![0u32; n + 1];
    for &parent in &parents[1..] {
        offsets[parent as usize + 1] += 1;
    }
    for i in 0..n {
        offsets[i + 1] += offsets[i];
    }
    let mut next = offsets.clone();
    let mut children = vec![0; n - 1];
    for node in nodes.filter(|&node| node != 0) {
        let slot = &mut next[parents[node as usize] as usize];
        children[*slot as usize] = node;
        *slot += 1;
    }
    (offsets, children)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(lines: &[&str]) -> Result<Hierarchy, PathError> {
        let paths: Vec<Vec<&str>> = lines.iter().map(|l| l.split(';').collect()).collect();
        Hierarchy::from_paths(&paths)
    }

    #[test]
    fn a_subtree_is_a_range() {
        let tree = tree(&["b1;B;*", "a2;A;*", "a1;A;*", "c;*"]).unwrap();
        let node = |l| tree.node(l).unwrap();
        assert_eq!(tree.len(), 7);
        assert_eq!(tree.leaf_count(0), 4);
        assert_eq!(tree.leaf_count(node("A")), 2);
        assert!(tree.covers(node("A"), node("a2")) && !tree.covers(node("B"), node("a2")));
        assert_eq!(tree.child_towards(0, node("a2")), node("A"));
        assert_eq!(tree.children(node("A")), [node("a1"), node("a2")]);
        assert_eq!(tree.depth(node("c")), 1);
        let labels: Vec<&str> = tree.leaves(0).map(|n| tree.label(n)).collect();
        assert_eq!(labels, ["a1", "a2", "b1", "c"]);
        assert_eq!(tree.paths().last().unwrap(), ["c", "*"]);
    }

    #[test]
    fn what_is_no_tree_is_refused_with_its_line() {
        for (lines, path, word) in [
            (&["a;A;*", "b;B"][..], 1, "root"),
            (&["a;A;*", "b;A;B;*"], 1, "two parents"),
            (&["a;A;B;A;*"], 0, "own ancestor"),
            (&["a;;*"], 0, "empty"),
            (&["a;A;*", "a;A;*"], 1, "twice"),
            (&["a;A;*", "A;*"], 1, "inner node"),
            (&["A;*", "a;A;*"], 1, "also a leaf"),
            (&["a;*;*"], 0, "inside"),
            (&[], 0, "no leaf"),
        ] {
            let error = tree(lines).unwrap_err();
            assert_eq!(error.path, path, "{lines:?}");
            assert!(error.what.contains(word), "{lines:?}: {}", error.what);
        }
    }

    #[test]
    fn items_outside_the_hierarchy_are_named() {
        let tree = tree(&["a;A;*", "b;A;*"]).unwrap();
        let vocabulary = Vocabulary::new(["a", "x", "A"]);
        let error = tree.bind(&vocabulary, false).unwrap_err().to_string();
        assert!(error.contains("2 of 3") && error.contains("A, x"), "{error}");
        assert_eq!(tree.bind(&vocabulary, true).unwrap(), [0, tree.node("a").unwrap(), 0]);
    }

    #[test]
    fn leaves_can_be_added_below_the_root_and_hidden() {
        let tree = tree(&["a;A;*", "b;A;*", "c;*"]).unwrap();
        let more = tree.with_leaves_below_root(&["x", "a", "x"]).unwrap();
        assert_eq!((more.leaf_count(0), more.depth(more.node("x").unwrap())), (4, 1));
        assert!(tree.with_leaves_below_root(&["A"]).is_err());
        assert!(tree.with_leaves_below_root(&[""]).is_err());
        let hidden = more.with_leaves_hidden(|label| label == "b");
        let names: Vec<&str> = hidden.leaves(0).map(|n| hidden.label(n)).collect();
        assert_eq!(names, ["*#1", "*#2", "A#1", "b"]);
        assert_eq!(hidden.leaf_count(hidden.node("A").unwrap()), 2);
    }
}
