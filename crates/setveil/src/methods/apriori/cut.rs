//! A cut through the hierarchy: which node stands for every leaf, and what
//! that costs.

use crate::data::Hierarchy;
use crate::data::hierarchy::NodeId;
use crate::methods::generalization::{Rows, penalties};

/// The recoding of all records.
pub(super) struct Cut {
    /// The topmost generalised node at or above each node, or the node itself.
    raised: Vec<NodeId>,
    /// The loss of all instances below each node if they were published as it.
    alone: Vec<u64>,
    /// Their loss now.
    below: Vec<u64>,
}

impl Cut {
    /// Every leaf as itself.
    pub(super) fn new(tree: &Hierarchy, rows: &Rows) -> Self {
        let mut instances = vec![0u64; tree.len()];
        for r in 0..rows.len() {
            for &leaf in rows.row(r) {
                instances[leaf as usize] += u64::from(rows.weights[r]);
            }
        }
        // Children have larger numbers than their parents.
        for node in (1..tree.len()).rev() {
            instances[tree.parent(node as NodeId) as usize] += instances[node];
        }
        let penalties = penalties(tree);
        Self {
            raised: (0..tree.len() as NodeId).collect(),
            alone: instances.iter().zip(&penalties).map(|(i, &p)| i * u64::from(p)).collect(),
            below: vec![0; tree.len()],
        }
    }

    /// What `node` is published as.
    pub(super) fn node(&self, node: NodeId) -> NodeId {
        self.raised[node as usize]
    }

    /// Whether `node` has been generalised since it was in the cut.
    pub(super) fn is_stale(&self, node: NodeId) -> bool {
        self.raised[node as usize] != node
    }

    /// How much more is lost if everything below `node` is published as it.
    pub(super) fn cost(&self, node: NodeId) -> u64 {
        self.alone[node as usize] - self.below[node as usize]
    }

    /// Publishes everything below `node` as it.
    pub(super) fn raise(&mut self, tree: &Hierarchy, node: NodeId) {
        let more = self.cost(node);
        for below in tree.subtree(node) {
            self.raised[below as usize] = node;
        }
        let mut at = node;
        loop {
            self.below[at as usize] += more;
            if at == 0 {
                break;
            }
            at = tree.parent(at);
        }
    }

    /// The loss in leaves: NCP times |I| times the number of instances.
    pub(super) fn loss(&self) -> u64 {
        self.below[0]
    }
}
