//! A generalization hierarchy: one tree over the items, `*` at the root.
//!
//! Nodes are numbered in preorder with siblings by text, so a subtree is one
//! range of numbers: ancestor tests and leaf counts are subtractions. The
//! tree may be unbalanced and a node may have thousands of children. This
//! module builds and asks; files are read in [`io`](crate::io).

use rustc_hash::FxHashMap;

use super::{ItemId, Vocabulary};
use crate::{Error, Result};

/// A node of a [`Hierarchy`]; the root is 0.
pub type NodeId = u32;

/// The label of every hierarchy's root.
pub const ROOT: &str = "*";

/// A single-parent tree of labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    /// In preorder.
    labels: Vec<String>,
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
    /// Builds a tree from paths `leaf, parent, ..., *`.
    ///
    /// Refused: no path at all, an empty label, a path that does not end in
    /// `*` or holds it earlier, a node with two parents, a cycle, a leaf that
    /// comes twice or is also an inner node.
    pub fn from_paths<S: AsRef<str>>(paths: &[Vec<S>]) -> Result<Self, PathError> {
        let fail = |path: usize, what: String| Err(PathError { path, what });
        // First the edges, as the paths give them; the preorder numbers follow.
        let mut ids: FxHashMap<&str, usize> = FxHashMap::default();
        let mut names: Vec<&str> = vec![ROOT];
        let mut parents: Vec<usize> = vec![0];
        let mut leaf_of: Vec<Option<usize>> = vec![None];
        let mut inner: Vec<bool> = vec![true];
        ids.insert(ROOT, 0);
        if paths.is_empty() {
            return fail(0, "there is no leaf".into());
        }
        for (p, path) in paths.iter().enumerate() {
            if path.len() < 2 || path[path.len() - 1].as_ref() != ROOT {
                return fail(p, format!("the line does not end in the root `{ROOT}`"));
            }
            let mut above = 0;
            for (up, label) in path.iter().enumerate().rev().skip(1) {
                let label = label.as_ref();
                if label.is_empty() {
                    return fail(p, format!("label {} of the line is empty", up + 1));
                }
                if label == ROOT {
                    return fail(p, format!("the root `{ROOT}` stands inside the line"));
                }
                let node = match ids.get(label) {
                    Some(&node) => {
                        if parents[node] != above {
                            // A label that stands twice in one line closes a cycle.
                            let twice = path.iter().filter(|l| l.as_ref() == label).count() > 1;
                            return fail(
                                p,
                                if twice {
                                    format!("`{label}` is its own ancestor")
                                } else {
                                    format!(
                                        "`{label}` has two parents, `{}` and `{}`",
                                        names[parents[node]], names[above]
                                    )
                                },
                            );
                        }
                        node
                    }
                    None => {
                        let node = names.len();
                        ids.insert(label, node);
                        names.push(label);
                        parents.push(above);
                        leaf_of.push(None);
                        inner.push(false);
                        node
                    }
                };
                if up == 0 {
                    if inner[node] {
                        return fail(p, format!("leaf `{label}` is also an inner node"));
                    }
                    if let Some(first) = leaf_of[node] {
                        return fail(
                            p,
                            format!(
                                "leaf `{label}` stands twice, first as leaf number {}",
                                first + 1
                            ),
                        );
                    }
                    leaf_of[node] = Some(p);
                } else {
                    if leaf_of[node].is_some() {
                        return fail(p, format!("inner node `{label}` is also a leaf"));
                    }
                    inner[node] = true;
                }
                above = node;
            }
        }
        Ok(Self::number(&names, &parents))
    }

    /// Numbers the nodes in preorder, siblings by text.
    fn number(names: &[&str], parents: &[usize]) -> Self {
        let n = names.len();
        let mut kids: Vec<Vec<usize>> = vec![Vec::new(); n];
        for node in 1..n {
            kids[parents[node]].push(node);
        }
        for list in &mut kids {
            // Descending, because the stack below turns it round.
            list.sort_unstable_by(|&a, &b| names[b].cmp(names[a]));
        }
        let mut tree = Self {
            labels: Vec::with_capacity(n),
            parents: Vec::with_capacity(n),
            ends: vec![0; n],
            depths: Vec::with_capacity(n),
            leaves_before: vec![0; n + 1],
            children_offsets: vec![0; n + 1],
            children: Vec::with_capacity(n.saturating_sub(1)),
            by_label: (0..n as NodeId).collect(),
        };
        let mut stack = vec![(0, 0, 0)];
        while let Some((node, parent, depth)) = stack.pop() {
            let number = tree.labels.len() as NodeId;
            tree.labels.push(names[node].to_owned());
            tree.parents.push(parent);
            tree.depths.push(depth);
            tree.leaves_before[number as usize + 1] = u32::from(kids[node].is_empty());
            stack.extend(kids[node].iter().map(|&kid| (kid, number, depth + 1)));
        }
        for i in 0..n {
            tree.leaves_before[i + 1] += tree.leaves_before[i];
        }
        for i in (0..n).rev() {
            tree.ends[i] = tree.ends[i].max(i as NodeId + 1);
            let parent = tree.parents[i] as usize;
            tree.ends[parent] = tree.ends[parent].max(tree.ends[i]);
        }
        // Children in ascending number are children in ascending text.
        for i in 1..n {
            tree.children_offsets[tree.parents[i] as usize + 1] += 1;
        }
        for i in 0..n {
            tree.children_offsets[i + 1] += tree.children_offsets[i];
        }
        let mut next = tree.children_offsets.clone();
        tree.children.resize(n - 1, 0);
        for i in 1..n {
            let slot = &mut next[tree.parents[i] as usize];
            tree.children[*slot as usize] = i as NodeId;
            *slot += 1;
        }
        let labels = &tree.labels;
        tree.by_label.sort_unstable_by(|&a, &b| labels[a as usize].cmp(&labels[b as usize]));
        tree
    }

    /// How many nodes there are, the root and the leaves included.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Never: a hierarchy has at least a root and a leaf.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The label of `node`.
    pub fn label(&self, node: NodeId) -> &str {
        &self.labels[node as usize]
    }

    /// The node called `label`.
    pub fn node(&self, label: &str) -> Option<NodeId> {
        self.by_label
            .binary_search_by(|&n| self.labels[n as usize].as_str().cmp(label))
            .ok()
            .map(|i| self.by_label[i])
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
                hint: "add them to the hierarchy file, or generalize them to the root with \
                       --unknown-to-root"
                    .into(),
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
}
