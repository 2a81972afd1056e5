//! One step of Partition: pick a node, distribute the records, balance the
//! buckets (partition-2009, Algorithm 1).
//!
//! A partition carries a copy of just those item instances that can still be
//! expanded, each with its ancestor one step below the cut. Instances under
//! leaves and under nodes that can never be expanded are counted as loss and
//! forgotten, so partitions get lighter on the way down.

use std::cmp::Reverse;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::Result;
use crate::data::Hierarchy;
use crate::data::hierarchy::NodeId;
use crate::methods::generalization::Rows;
use crate::progress::{Progress, Pulse};

/// A partition with more instances than this builds its parts in parallel.
const PARALLEL: usize = 1 << 16;

/// An item of a record below a node of the cut.
#[derive(Clone, Copy, Debug)]
struct Instance {
    leaf: NodeId,
    /// The child of the cut's node on the way to the leaf.
    child: NodeId,
}

/// Records that share a generalised representation.
#[derive(Debug, Default)]
pub(super) struct Partition {
    /// Rows and how often each occurs here, ascending by row.
    rows: Vec<(u32, u32)>,
    /// The instances of row `i` are `instances[ends[i - 1]..ends[i]]`, by leaf.
    ends: Vec<u32>,
    instances: Vec<Instance>,
    /// The nodes of the representation that may be expanded, ascending.
    open: Vec<NodeId>,
    /// The others.
    closed: Vec<NodeId>,
}

impl Partition {
    pub(super) fn instances(&self) -> usize {
        self.instances.len()
    }

    fn start(&self, row: usize) -> usize {
        if row == 0 { 0 } else { self.ends[row - 1] as usize }
    }
}

/// What became of a partition.
pub(super) enum Step {
    /// No node can be expanded.
    Class { nodes: Vec<NodeId>, count: u64, loss: u64 },
    /// A node was expanded; `loss` is what is certain already.
    Split { parts: Vec<Partition>, loss: u64 },
}

/// The rules of splitting.
pub(super) struct Splitter<'a> {
    pub(super) tree: &'a Hierarchy,
    pub(super) k: u64,
    pub(super) penalties: &'a [u32],
    pub(super) progress: &'a dyn Progress,
}

/// What the open nodes of a partition are worth, and where they are.
struct Survey {
    /// `starts[row * open + node]`: where the row's instances under the node begin.
    starts: Vec<u32>,
    gains: Vec<u64>,
    losses: Vec<u64>,
}

/// A node's expansion: the bucket of every row.
struct Buckets {
    of_row: Vec<u32>,
    weights: Vec<u64>,
    /// The children of bucket `b` are `sets[ends[b - 1]..ends[b]]`.
    ends: Vec<usize>,
    sets: Vec<NodeId>,
}

/// An expansion that works.
struct Expansion {
    node: usize,
    buckets: Buckets,
    /// How much of each row goes to the leftover partition.
    leftover: Vec<u32>,
    /// Open nodes that can be closed: no bucket of theirs holds k records.
    dead: Vec<bool>,
}

impl Splitter<'_> {
    /// All records as `{*}`.
    pub(super) fn whole(&self, rows: &Rows) -> Result<Partition> {
        let mut pulse = Pulse::new(self.progress);
        let mut whole = Partition { open: vec![0], ..Partition::default() };
        for r in 0..rows.len() {
            whole.rows.push((r as u32, rows.weights[r]));
            whole.instances.extend(
                rows.row(r)
                    .iter()
                    .map(|&leaf| Instance { leaf, child: self.tree.child_towards(0, leaf) }),
            );
            whole.ends.push(whole.instances.len() as u32);
            pulse.work(rows.row(r).len())?;
        }
        Ok(whole)
    }

    /// `pick_node`, `distribute_data` and `balance_partitions`, until a node works.
    pub(super) fn step(&self, partition: Partition) -> Result<Step> {
        let survey = self.survey(&partition)?;
        let mut order: Vec<usize> = (0..partition.open.len()).collect();
        // An only child separates nobody: at once. Then most information
        // first; among equals the first node.
        let only_child = |node: usize| self.tree.children(partition.open[node]).len() == 1;
        order.sort_by_key(|&node| (!only_child(node), Reverse(survey.gains[node])));
        let mut dead = vec![false; partition.open.len()];
        for node in order {
            let buckets = self.distribute(&partition, &survey, node)?;
            if let Some(leftover) = self.balance(&partition, &survey, node, &buckets) {
                let expansion = Expansion { node, buckets, leftover, dead };
                return self.split(&partition, &survey, &expansion);
            }
            // Subsets of buckets below k are below k: no use below either.
            dead[node] = buckets.weights.iter().all(|&w| w < self.k);
        }
        let mut nodes = partition.closed;
        nodes.extend(&partition.open);
        nodes.sort_unstable();
        Ok(Step::Class {
            nodes,
            count: partition.rows.iter().map(|r| u64::from(r.1)).sum(),
            loss: survey.losses.iter().sum(),
        })
    }

    /// The information gain of each open node: over the instances below it,
    /// the penalty of the node less the penalty of the child.
    fn survey(&self, partition: &Partition) -> Result<Survey> {
        let mut pulse = Pulse::new(self.progress);
        let open = &partition.open;
        let mut survey = Survey {
            starts: Vec::with_capacity(partition.rows.len() * open.len()),
            gains: vec![0; open.len()],
            losses: vec![0; open.len()],
        };
        for (row, &(_, weight)) in partition.rows.iter().enumerate() {
            let (mut at, end) = (partition.start(row), partition.ends[row] as usize);
            for (i, &node) in open.iter().enumerate() {
                survey.starts.push(at as u32);
                let penalty = u64::from(self.penalties[node as usize]);
                let (mut loss, mut gain) = (0, 0);
                while at < end && self.tree.covers(node, partition.instances[at].leaf) {
                    let child = partition.instances[at].child;
                    loss += penalty;
                    gain += penalty - u64::from(self.penalties[child as usize]);
                    at += 1;
                }
                survey.losses[i] += loss * u64::from(weight);
                survey.gains[i] += gain * u64::from(weight);
            }
            pulse.work(open.len() + end - partition.start(row))?;
        }
        Ok(survey)
    }

    /// Puts every row into the bucket of its children under the node. Only child
    /// sets that occur get a bucket.
    fn distribute(&self, partition: &Partition, survey: &Survey, node: usize) -> Result<Buckets> {
        let mut pulse = Pulse::new(self.progress);
        let (mut keys, mut key_ends) = (Vec::new(), Vec::with_capacity(partition.rows.len()));
        for row in 0..partition.rows.len() {
            let start = keys.len();
            for instance in segment(partition, survey, node, row) {
                // Instances are in preorder, so equal children are neighbours.
                if keys.len() == start || keys[keys.len() - 1] != instance.child {
                    keys.push(instance.child);
                }
            }
            key_ends.push(keys.len());
            pulse.work(1 + keys.len() - start)?;
        }
        let mut buckets = Buckets {
            of_row: Vec::with_capacity(partition.rows.len()),
            weights: Vec::new(),
            ends: Vec::new(),
            sets: Vec::new(),
        };
        let mut known: FxHashMap<&[NodeId], u32> = FxHashMap::default();
        let mut start = 0;
        for (row, &end) in key_ends.iter().enumerate() {
            let key = &keys[start..end];
            start = end;
            let bucket = *known.entry(key).or_insert_with(|| {
                buckets.sets.extend_from_slice(key);
                buckets.ends.push(buckets.sets.len());
                buckets.weights.push(0);
                buckets.weights.len() as u32 - 1
            });
            buckets.of_row.push(bucket);
            buckets.weights[bucket as usize] += u64::from(partition.rows[row].1);
            pulse.work(key.len() + 1)?;
        }
        Ok(buckets)
    }

    /// How much of each row goes to the leftover partition; none if the
    /// expansion does not work.
    fn balance(
        &self,
        partition: &Partition,
        survey: &Survey,
        node: usize,
        buckets: &Buckets,
    ) -> Option<Vec<u32>> {
        let large = |bucket: u32| buckets.weights[bucket as usize] >= self.k;
        let (mut small, mut surplus) = (0, 0);
        for &weight in &buckets.weights {
            if weight < self.k {
                small += weight;
            } else {
                surplus += weight - self.k;
            }
        }
        let missing = if small == 0 { 0 } else { self.k.saturating_sub(small) };
        if missing > surplus || buckets.weights.iter().all(|&w| w < self.k) {
            return None;
        }
        let mut leftover: Vec<u32> = (0..partition.rows.len())
            .map(|row| if large(buckets.of_row[row]) { 0 } else { partition.rows[row].1 })
            .collect();
        if missing > 0 {
            self.fill(partition, survey, node, buckets, missing, &mut leftover);
        }
        Some(leftover)
    }

    /// Takes `missing` records with the least information gain from what
    /// buckets hold beyond k.
    fn fill(
        &self,
        partition: &Partition,
        survey: &Survey,
        node: usize,
        buckets: &Buckets,
        mut missing: u64,
        leftover: &mut [u32],
    ) {
        let penalty = self.penalties[partition.open[node] as usize];
        let gain = |row: usize| -> u64 {
            segment(partition, survey, node, row)
                .iter()
                .map(|i| u64::from(penalty - self.penalties[i.child as usize]))
                .sum()
        };
        let mut donors: Vec<(u64, u32)> = (0..partition.rows.len())
            .filter(|&row| buckets.weights[buckets.of_row[row] as usize] > self.k)
            .map(|row| (gain(row), row as u32))
            .collect();
        donors.sort_unstable();
        let mut weights = buckets.weights.clone();
        for (_, row) in donors {
            if missing == 0 {
                break;
            }
            let row = row as usize;
            let left = &mut weights[buckets.of_row[row] as usize];
            let take = missing.min(*left - self.k).min(u64::from(partition.rows[row].1));
            *left -= take;
            missing -= take;
            leftover[row] += take as u32;
        }
        debug_assert_eq!(missing, 0);
    }

    /// The buckets with at least k records, and the leftover with the old cut.
    fn split(&self, partition: &Partition, survey: &Survey, expansion: &Expansion) -> Result<Step> {
        let Expansion { node, buckets, leftover, dead } = expansion;
        let mut part_of: Vec<Option<usize>> = vec![None; buckets.weights.len()];
        let mut large = Vec::new();
        for (bucket, &weight) in buckets.weights.iter().enumerate() {
            if weight >= self.k {
                part_of[bucket] = Some(large.len());
                large.push(bucket);
            }
        }
        // Rows by part; the leftover is the last one.
        let mut members: Vec<Vec<(usize, u32)>> = vec![Vec::new(); large.len() + 1];
        for (row, &(_, weight)) in partition.rows.iter().enumerate() {
            let part = part_of[buckets.of_row[row] as usize];
            if let Some(part) = part.filter(|_| weight > leftover[row]) {
                members[part].push((row, weight - leftover[row]));
            }
            if leftover[row] > 0 {
                members[large.len()].push((row, leftover[row]));
            }
        }
        let make = |part: usize| {
            let set = large.get(part).map(|&bucket| {
                let start = if bucket == 0 { 0 } else { buckets.ends[bucket - 1] };
                &buckets.sets[start..buckets.ends[bucket]]
            });
            self.part(partition, survey, expansion, &members[part], set)
        };
        let last = members.len() - usize::from(members[large.len()].is_empty());
        let parts: Vec<Partition> = if partition.instances.len() > PARALLEL {
            (0..last).into_par_iter().map(make).collect::<Result<_>>()?
        } else {
            (0..last).map(make).collect::<Result<_>>()?
        };
        let penalty = u64::from(self.penalties[partition.open[*node] as usize]);
        let mut loss = 0;
        for &(row, weight) in &members[large.len()] {
            let instances = segment(partition, survey, *node, row).len() as u64;
            loss += instances * u64::from(weight) * penalty;
        }
        for (node, _) in dead.iter().enumerate().filter(|d| *d.1) {
            loss += survey.losses[node];
        }
        Ok(Step::Split { parts, loss })
    }

    /// A sub-partition in which the expanded node is replaced by the children
    /// in `set`, or closed if there is none.
    fn part(
        &self,
        partition: &Partition,
        survey: &Survey,
        expansion: &Expansion,
        members: &[(usize, u32)],
        set: Option<&[NodeId]>,
    ) -> Result<Partition> {
        let mut pulse = Pulse::new(self.progress);
        let mut part = Partition { closed: partition.closed.clone(), ..Partition::default() };
        for (i, &node) in partition.open.iter().enumerate() {
            if expansion.dead[i] || (i == expansion.node && set.is_none()) {
                part.closed.push(node);
            } else if i != expansion.node {
                part.open.push(node);
            } else {
                for &child in set.unwrap_or_default() {
                    let leaf = self.tree.is_leaf(child);
                    let list = if leaf { &mut part.closed } else { &mut part.open };
                    list.push(child);
                }
            }
        }
        part.rows.reserve_exact(members.len());
        part.ends.reserve_exact(members.len());
        for &(row, weight) in members {
            part.rows.push((partition.rows[row].0, weight));
            for i in (0..partition.open.len()).filter(|&i| !expansion.dead[i]) {
                let instances = segment(partition, survey, i, row);
                if i != expansion.node {
                    part.instances.extend_from_slice(instances);
                } else if set.is_some() {
                    let inner = instances.iter().filter(|x| !self.tree.is_leaf(x.child));
                    part.instances.extend(inner.map(|x| Instance {
                        leaf: x.leaf,
                        child: self.tree.child_towards(x.child, x.leaf),
                    }));
                }
            }
            part.ends.push(part.instances.len() as u32);
            pulse.work(partition.open.len() + 1)?;
        }
        Ok(part)
    }
}

/// The instances of a row under an open node.
fn segment<'p>(
    partition: &'p Partition,
    survey: &Survey,
    node: usize,
    row: usize,
) -> &'p [Instance] {
    let open = partition.open.len();
    let at = row * open + node;
    let end = if node + 1 < open { survey.starts[at + 1] } else { partition.ends[row] };
    &partition.instances[survey.starts[at] as usize..end as usize]
}
