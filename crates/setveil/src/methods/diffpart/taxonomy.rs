//! The hierarchy as DiffPart walks it: no node has more than `fanout`
//! children, and none has only one.
//!
//! Expanding a node of c children opens 2^c - 1 sub-partitions, empty ones
//! included, so c must be small; a node with more gets nodes in between that
//! take its children by turns of neighbours. A node with one child would cost
//! budget and split nothing. All of this depends on the hierarchy alone.

use std::ops::Range;

use crate::data::Hierarchy;
use crate::data::hierarchy::NodeId;

/// A node of a [`Taxonomy`].
pub(super) type Node = u32;

#[derive(Debug, Default)]
pub(super) struct Taxonomy {
    children: Vec<Vec<Node>>,
    /// Inner nodes in the subtree: how many expansions it takes at most.
    inner: Vec<u64>,
    heights: Vec<u32>,
    /// The leaves below, counted from left to right.
    leaves: Vec<Range<u32>>,
    root: Node,
    /// The hierarchy's node of every leaf.
    pub(super) leaf_nodes: Vec<NodeId>,
}

impl Taxonomy {
    pub(super) fn new(hierarchy: &Hierarchy, fanout: usize) -> Self {
        let mut taxonomy = Self { leaf_nodes: hierarchy.leaves(0).collect(), ..Default::default() };
        let mut made: Vec<Node> = vec![0; hierarchy.len()];
        let mut leaf = taxonomy.leaf_nodes.len() as u32;
        // Children have larger numbers than their parents.
        for node in (0..hierarchy.len() as NodeId).rev() {
            let below: Vec<Node> =
                hierarchy.children(node).iter().map(|&c| made[c as usize]).collect();
            made[node as usize] = match below[..] {
                [] => {
                    leaf -= 1;
                    taxonomy.push(Vec::new(), leaf..leaf + 1)
                }
                // The root stays if it has nothing but one leaf: there must be something to expand.
                [only] if node != 0 || !taxonomy.is_leaf(only) => only,
                _ => taxonomy.join(below, fanout),
            };
        }
        taxonomy.root = made[0];
        taxonomy
    }

    /// A node above `below`, with as many in between as it takes.
    fn join(&mut self, mut below: Vec<Node>, fanout: usize) -> Node {
        while below.len() > fanout {
            let groups = below.len().div_ceil(fanout);
            let cut = |g: usize| g * below.len() / groups;
            below = (0..groups)
                .map(|g| match &below[cut(g)..cut(g + 1)] {
                    [only] => *only,
                    several => self.over(several.to_vec()),
                })
                .collect();
        }
        self.over(below)
    }

    fn over(&mut self, below: Vec<Node>) -> Node {
        let (first, last) = (below[0] as usize, below[below.len() - 1] as usize);
        let leaves = self.leaves[first].start..self.leaves[last].end;
        self.push(below, leaves)
    }

    fn push(&mut self, below: Vec<Node>, leaves: Range<u32>) -> Node {
        let inner = below.iter().map(|&c| self.inner[c as usize]).sum::<u64>();
        let height = below.iter().map(|&c| self.heights[c as usize] + 1).max();
        self.inner.push(inner + u64::from(!below.is_empty()));
        self.heights.push(height.unwrap_or(0));
        self.leaves.push(leaves);
        self.children.push(below);
        self.children.len() as Node - 1
    }

    pub(super) fn root(&self) -> Node {
        self.root
    }

    pub(super) fn children(&self, node: Node) -> &[Node] {
        &self.children[node as usize]
    }

    pub(super) fn is_leaf(&self, node: Node) -> bool {
        self.children(node).is_empty()
    }

    /// How many inner nodes are at or below `node`.
    pub(super) fn inner(&self, node: Node) -> u64 {
        self.inner[node as usize]
    }

    /// The leaves at or below `node`.
    pub(super) fn leaves(&self, node: Node) -> Range<u32> {
        self.leaves[node as usize].clone()
    }

    /// The higher, the earlier it is expanded; of equal ones the leftmost.
    pub(super) fn priority(&self, node: Node) -> (u32, std::cmp::Reverse<u32>) {
        (self.heights[node as usize], std::cmp::Reverse(self.leaves[node as usize].start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(lines: &[&str], fanout: usize) -> Taxonomy {
        let paths: Vec<Vec<&str>> = lines.iter().map(|l| l.split(';').collect()).collect();
        Taxonomy::new(&Hierarchy::from_paths(&paths).unwrap(), fanout)
    }

    /// Every inner node's children cover its leaves without a gap.
    fn check(t: &Taxonomy, fanout: usize) {
        let (mut stack, mut inner) = (vec![t.root()], 0);
        while let Some(node) = stack.pop() {
            let below = t.children(node);
            if below.is_empty() {
                assert_eq!(t.leaves(node).len(), 1);
                continue;
            }
            inner += 1;
            assert!(below.len() <= fanout && (below.len() > 1 || node == t.root()));
            let mut at = t.leaves(node).start;
            for &child in below {
                assert_eq!(t.leaves(child).start, at);
                at = t.leaves(child).end;
                assert!(t.priority(child) < t.priority(node));
            }
            assert_eq!(at, t.leaves(node).end);
            stack.extend(below);
        }
        assert_eq!(inner, t.inner(t.root()));
        assert_eq!(t.leaves(t.root()), 0..t.leaf_nodes.len() as u32);
    }

    #[test]
    fn wide_nodes_are_split_and_chains_are_cut_short() {
        let t = tree(&["a1;A;AA;*", "a2;A;AA;*", "b;B;*", "c;*"], 10);
        check(&t, 10);
        assert_eq!((t.inner(t.root()), t.children(t.root()).len()), (2, 3));
        for leaves in [2usize, 3, 10, 11, 100, 101, 777] {
            let lines: Vec<String> = (0..leaves).map(|i| format!("i{i};*")).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            for fanout in [2, 3, 10] {
                check(&tree(&lines, fanout), fanout);
            }
        }
        let single = tree(&["a;A;*"], 2);
        assert_eq!((single.children(single.root()).len(), single.inner(single.root())), (1, 1));
        let below_one = tree(&["a;A;*", "b;A;*"], 2);
        assert_eq!(below_one.inner(below_one.root()), 1);
    }
}
