//! Top-down partitioning with noisy counts (diffpart-2011, Algorithm 1 and
//! procedure SubPart_Gen).
//!
//! A partition is a cut through the taxonomy and the records that have an
//! item below every node of the cut and none elsewhere. An operation expands
//! one inner node of the cut: each non-empty set of its children is a
//! sub-partition, and those whose noisy count reaches a threshold go on. A
//! partition whose cut is all leaves is published with a noisy count.
//!
//! What makes it private is that everything beside the noisy comparisons
//! depends on the taxonomy and the cut alone: which node is expanded, what
//! budget is spent, where the threshold lies, which sub-partitions there are.
//! A sub-partition without records is drawn from like any other.

use rand::CryptoRng;

use super::noise::{Noise, Rate};
use super::taxonomy::{Node, Taxonomy};
use crate::data::Epsilon;
use crate::methods::generalization::Rows;
use crate::{Progress, Result};

/// Budgets are whole numbers of epsilon / 2^41, so nothing is lost or gained
/// by rounding; this is the half that is kept for the published counts.
const HALF: u64 = 1 << 40;

/// How many of an operation's sub-partitions are expected to pass if all are
/// empty. Below 1, or noise breeds noise and partitioning does not end.
const EMPTY_PASSING: f64 = 0.1;

/// The same for sub-partitions that are published at once.
const EMPTY_PUBLISHED: f64 = 0.5;

/// Leaves of the taxonomy, ascending, with a noisy count.
pub(super) type Class = (Vec<u32>, u32);

/// A partition that is not published yet.
struct Partition {
    /// The cut's inner nodes, the next to expand last.
    open: Vec<Node>,
    /// The cut's leaves.
    leaves: Vec<u32>,
    /// Distinct records, by number.
    rows: Vec<u32>,
    /// What may still be spent on partitioning.
    budget: u64,
}

impl Partition {
    /// The inner nodes and the leaves of this partition with those `children` that
    /// `cell` names, each in its order.
    fn below(&self, children: &[Node], cell: u32, taxonomy: &Taxonomy) -> (Vec<Node>, Vec<u32>) {
        let (mut open, mut leaves) = (self.open.clone(), self.leaves.clone());
        for (_, &child) in children.iter().enumerate().filter(|(i, _)| cell >> i & 1 == 1) {
            if taxonomy.is_leaf(child) {
                leaves.push(taxonomy.leaves(child).start);
            } else {
                open.push(child);
            }
        }
        open.sort_unstable_by_key(|&n| taxonomy.priority(n));
        leaves.sort_unstable();
        (open, leaves)
    }
}

/// One kind of sub-partition: what is spent on it, and what its noisy count
/// must reach.
#[derive(Clone, Copy)]
struct Test {
    rate: Rate,
    threshold: u64,
}

pub(super) struct Partitioner<'a, R> {
    pub(super) taxonomy: &'a Taxonomy,
    /// Records as ascending leaves of the taxonomy.
    pub(super) rows: &'a Rows,
    pub(super) epsilon: Epsilon,
    pub(super) noise: Noise<'a, R>,
}

impl<R: CryptoRng> Partitioner<'_, R> {
    /// Algorithm 1. The classes come in no particular order.
    pub(super) fn run(&mut self, progress: &dyn Progress) -> Result<Vec<Class>> {
        let mut classes = Vec::new();
        // The root is expanded whatever the data is, so nothing is spent on it.
        let mut stack = vec![Partition {
            open: vec![self.taxonomy.root()],
            leaves: Vec::new(),
            rows: (0..self.rows.len() as u32).collect(),
            budget: HALF,
        }];
        while let Some(partition) = stack.pop() {
            self.expand(partition, &mut stack, &mut classes);
            progress.step(1)?;
        }
        Ok(classes)
    }

    /// SubPart_Gen: expands one node, keeps what passes.
    fn expand(
        &mut self,
        mut partition: Partition,
        stack: &mut Vec<Partition>,
        classes: &mut Vec<Class>,
    ) {
        let taxonomy = self.taxonomy;
        // An upper bound on the operations on any way down from here.
        let operations: u64 = partition.open.iter().map(|&n| taxonomy.inner(n)).sum();
        let node = partition.open.pop().expect("a partition without inner nodes is published");
        let children = taxonomy.children(node);
        let inner = mask(children.iter().map(|&c| !taxonomy.is_leaf(c)));
        let last = partition.open.is_empty();
        let is_published = |cell: u32| last && cell & inner == 0;
        let spent = partition.budget / operations;
        let cells = (1 << children.len()) - 1;
        let on = self.test(spent, cells, EMPTY_PASSING);
        let publish = self.test(HALF + partition.budget, cells, EMPTY_PUBLISHED);

        let mut keep = |cell: u32, rows: Vec<u32>, count: u64| {
            let (open, leaves) = partition.below(children, cell, taxonomy);
            if open.is_empty() {
                classes.push((leaves, u32::try_from(count).unwrap_or(u32::MAX)));
            } else {
                stack.push(Partition { open, leaves, rows, budget: partition.budget - spent });
            }
        };
        let filled = self.fill(node, &partition.rows);
        for cell in filled.chunk_by(|a, b| a.0 == b.0) {
            let test = if is_published(cell[0].0) { publish } else { on };
            let rows: Vec<u32> = cell.iter().map(|c| c.1).collect();
            let count: i64 = rows.iter().map(|&r| i64::from(self.rows.weights[r as usize])).sum();
            let noisy = count.saturating_add(self.noise.two_sided(test.rate));
            if let Some(noisy) = u64::try_from(noisy).ok().filter(|&n| n >= test.threshold) {
                keep(cell[0].0, rows, noisy);
            }
        }
        // Whether there are cells of a kind depends on the cut, not on the records.
        let some_go_on = !last || inner != 0;
        let some_published = last && inner != mask(children.iter().map(|_| true));
        for (test, published, exist) in [(on, false, some_go_on), (publish, true, some_published)] {
            let passing =
                if exist { self.noise.passing(test.rate, test.threshold, cells) } else { vec![] };
            for cell in passing.into_iter().map(|cell| cell as u32 + 1) {
                let empty = filled.binary_search_by_key(&cell, |f| f.0).is_err();
                if empty && is_published(cell) == published {
                    let above = self.noise.geometric(test.rate);
                    keep(cell, Vec::new(), test.threshold.saturating_add(above));
                }
            }
        }
    }

    /// The records by the set of children that they have items below, as a
    /// bit mask; ascending.
    fn fill(&self, node: Node, rows: &[u32]) -> Vec<(u32, u32)> {
        let (range, children) = (self.taxonomy.leaves(node), self.taxonomy.children(node));
        let ends: Vec<u32> = children.iter().map(|&c| self.taxonomy.leaves(c).end).collect();
        let mut filled: Vec<(u32, u32)> = rows
            .iter()
            .map(|&r| {
                let row = self.rows.row(r as usize);
                let from = row.partition_point(|&leaf| leaf < range.start);
                let inside = row[from..].iter().take_while(|&&leaf| leaf < range.end);
                let cell = inside
                    .fold(0, |cell, &leaf| cell | 1 << ends.partition_point(|&end| end <= leaf));
                (cell, r)
            })
            .collect();
        filled.sort_unstable();
        filled
    }

    /// The test of a sub-partition on which `units` are spent, one of `cells`.
    ///
    /// The threshold lets `passing` of `cells` empty ones pass on average. It
    /// may be computed with floating point numbers: it is no secret and does
    /// not depend on the data.
    fn test(&self, units: u64, cells: u64, passing: f64) -> Test {
        let whole = 2 * HALF * Epsilon::PER_ONE;
        let rate = Rate::new(u128::from(units) * u128::from(self.epsilon.millionths()), whole);
        let step = rate.approximate();
        // cells * r^threshold / (1 + r) <= passing
        let least = (cells as f64 / (passing * (1.0 + (-step).exp()))).ln() / step;
        Test { rate, threshold: (least.ceil() as u64).max(1) }
    }
}

fn mask(bits: impl Iterator<Item = bool>) -> u32 {
    bits.enumerate().fold(0, |mask, (i, bit)| mask | u32::from(bit) << i)
}
