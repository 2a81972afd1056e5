//! Builds a [`Hierarchy`] one path at a time.
//!
//! The paths are never held together: a label is stored once, whatever the
//! number of leaves below it, so ten million leaves fit where their file does.

use super::{Hierarchy, NodeId, ROOT};
use crate::data::{Interner, ItemId};

const UNSET: NodeId = NodeId::MAX;

/// Collects paths `leaf, parent, ..., *`.
#[derive(Debug)]
pub struct HierarchyBuilder {
    labels: Interner,
    /// The parent of every label, by the interner's ids; 0 is the root.
    parents: Vec<NodeId>,
    kinds: Vec<Kind>,
    /// The path before this one, root first: neighbours share most of it.
    last: Vec<NodeId>,
    leaves: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    New,
    Inner,
    Leaf,
}

impl Default for HierarchyBuilder {
    fn default() -> Self {
        let mut labels = Interner::default();
        labels.intern(ROOT);
        Self { labels, parents: vec![0], kinds: vec![Kind::Inner], last: vec![0], leaves: 0 }
    }
}

impl HierarchyBuilder {
    /// Adds one path, leaf first and root last.
    ///
    /// Refused, with what is wrong: an empty label, a path that does not end
    /// in `*` or holds it earlier, a node with two parents, a cycle, a leaf
    /// that comes twice or is also an inner node. After a refusal the builder
    /// is of no further use.
    pub fn push(&mut self, path: &[&str]) -> Result<(), String> {
        if path.len() < 2 || path[path.len() - 1] != ROOT {
            return Err(format!("the line does not end in the root `{ROOT}`"));
        }
        let mut above = 0;
        let mut shared = true;
        for (down, label) in path.iter().rev().enumerate().skip(1) {
            let up = path.len() - 1 - down;
            let known = self.last.get(down).copied();
            let node = match known.filter(|&n| shared && self.labels.label(n) == *label) {
                Some(node) => node,
                None => {
                    shared = false;
                    self.node(label, up, above, path)?
                }
            };
            self.settle(node, label, up == 0)?;
            if !shared {
                self.last.truncate(down);
                self.last.push(node);
            }
            above = node;
        }
        self.last.truncate(path.len());
        Ok(())
    }

    /// The node of `label`, made if it is new.
    fn node(
        &mut self,
        label: &str,
        up: usize,
        above: NodeId,
        path: &[&str],
    ) -> Result<NodeId, String> {
        if label.is_empty() {
            return Err(format!("label {} of the line is empty", up + 1));
        }
        if label == ROOT {
            return Err(format!("the root `{ROOT}` stands inside the line"));
        }
        let node = self.labels.intern(label);
        if node as usize == self.parents.len() {
            self.parents.push(UNSET);
            self.kinds.push(Kind::New);
        }
        let parent = self.parents[node as usize];
        if parent == UNSET {
            self.parents[node as usize] = above;
        } else if parent != above {
            // A label that stands twice in one line closes a cycle.
            return Err(if path.iter().filter(|l| **l == label).count() > 1 {
                format!("`{label}` is its own ancestor")
            } else {
                let name = |n: NodeId| self.labels.label(n);
                format!("`{label}` has two parents, `{}` and `{}`", name(parent), name(above))
            });
        }
        Ok(node)
    }

    /// Notes that `node` is a leaf or an inner node, and refuses both at once.
    fn settle(&mut self, node: NodeId, label: &str, leaf: bool) -> Result<(), String> {
        let kind = &mut self.kinds[node as usize];
        match (*kind, leaf) {
            (Kind::Inner, true) => return Err(format!("leaf `{label}` is also an inner node")),
            (Kind::Leaf, true) => return Err(format!("leaf `{label}` stands twice")),
            (Kind::Leaf, false) => return Err(format!("inner node `{label}` is also a leaf")),
            (_, true) => {
                *kind = Kind::Leaf;
                self.leaves += 1;
            }
            (_, false) => *kind = Kind::Inner,
        }
        Ok(())
    }

    /// Whether no leaf was added.
    pub fn is_empty(&self) -> bool {
        self.leaves == 0
    }

    /// Numbers the nodes; none if there is no leaf.
    pub fn finish(self) -> Option<Hierarchy> {
        let Self { labels, parents, leaves, .. } = self;
        (leaves > 0).then(|| Hierarchy::number(|n| labels.label(n as ItemId), &parents))
    }
}
