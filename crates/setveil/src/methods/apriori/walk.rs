//! The walk over itemsets of one size: counts them depth first, and has each
//! rare one repaired at once.
//!
//! Nothing is stored but the records that contain the current prefix. A
//! branch ends when one of its nodes was generalised meanwhile, or when every
//! distinct record that is left occurs k times: then so do all its subsets.

use super::cut::Cut;
use super::repair::Repair;
use crate::Result;
use crate::data::Hierarchy;
use crate::data::hierarchy::NodeId;
use crate::methods::generalization::Rows;
use crate::progress::{Progress, Pulse, Stage};

/// Rows with the items renumbered in the order of the walk.
pub(super) struct Walk {
    /// The node of every rank.
    nodes: Vec<NodeId>,
    offsets: Vec<u32>,
    ranks: Vec<u32>,
    weights: Vec<u32>,
    size: usize,
    k: u64,
}

/// A record from its first item after the prefix to its end, and how often it occurs.
#[derive(Clone, Copy)]
struct Suffix {
    from: u32,
    to: u32,
    weight: u32,
}

/// One level of the walk: the suffixes after every item that follows the prefix.
#[derive(Default)]
struct Level {
    /// The items that occur, ascending.
    items: Vec<u32>,
    /// `ends[i]` is where the suffixes of `items[i]` end.
    ends: Vec<usize>,
    suffixes: Vec<Suffix>,
    supports: Vec<u64>,
}

impl Walk {
    pub(super) fn new(
        tree: &Hierarchy,
        rows: &Rows,
        size: usize,
        k: u64,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut pulse = Pulse::new(progress);
        let mut supports = vec![0u64; tree.len()];
        for r in 0..rows.len() {
            for &node in rows.row(r) {
                supports[node as usize] += u64::from(rows.weights[r]);
            }
            pulse.work(rows.row(r).len())?;
        }
        let mut nodes: Vec<NodeId> =
            (0..tree.len() as NodeId).filter(|&n| supports[n as usize] > 0).collect();
        nodes.sort_by_key(|&n| order_key(supports[n as usize]));
        let mut rank_of = vec![0u32; tree.len()];
        for (rank, &node) in nodes.iter().enumerate() {
            rank_of[node as usize] = rank as u32;
        }
        let (mut offsets, mut ranks) = (vec![0], Vec::new());
        for r in 0..rows.len() {
            let start = ranks.len();
            ranks.extend(rows.row(r).iter().map(|&n| rank_of[n as usize]));
            ranks[start..].sort_unstable();
            offsets.push(ranks.len() as u32);
            pulse.work(ranks.len() - start)?;
        }
        Ok(Self { nodes, offsets, ranks, weights: rows.weights.clone(), size, k })
    }

    /// Repairs every rare itemset of the walk's size that is met before one
    /// of its nodes is generalised; whether there was one.
    pub(super) fn run(
        &self,
        cut: &mut Cut,
        repair: &mut Repair,
        progress: &dyn Progress,
    ) -> Result<bool> {
        let all: Vec<Suffix> = (0..self.weights.len())
            .map(|r| Suffix {
                from: self.offsets[r],
                to: self.offsets[r + 1],
                weight: self.weights[r],
            })
            .filter(|s| (s.to - s.from) as usize >= self.size)
            .collect();
        progress.stage(Stage::Generalizing, Some(self.nodes.len() as u64));
        let mut prefix = Vec::with_capacity(self.size);
        let counts = vec![0; self.nodes.len()];
        let pulse = Pulse::new(progress);
        let mut state = State { cut, repair, pulse, found: false, counts };
        self.visit(&mut state, &mut prefix, &all)?;
        state.pulse.flush()?;
        Ok(state.found)
    }

    fn visit(
        &self,
        state: &mut State,
        prefix: &mut Vec<NodeId>,
        suffixes: &[Suffix],
    ) -> Result<()> {
        let missing = self.size - prefix.len();
        let level = if missing == 1 {
            self.count(state, suffixes)?
        } else {
            self.project(state, suffixes, missing)?
        };
        let mut start = 0;
        for (i, &item) in level.items.iter().enumerate() {
            let node = self.nodes[item as usize];
            let end = level.ends.get(i).copied().unwrap_or(start);
            let range = std::mem::replace(&mut start, end)..end;
            if state.cut.is_stale(node) {
                continue;
            }
            prefix.push(node);
            // Records too short for the walk's size are left out, so only the
            // supports of whole itemsets are true.
            if missing == 1 {
                if level.supports[i] < self.k {
                    state.found = true;
                    state.repair.fix(state.cut, prefix)?;
                }
            } else {
                let mut rest = level.suffixes[range].to_vec();
                self.merge(&mut rest, missing - 1);
                if rest.iter().any(|s| u64::from(s.weight) < self.k) {
                    self.visit(state, prefix, &rest)?;
                }
            }
            prefix.pop();
            if prefix.is_empty() {
                state.pulse.done(1)?;
            }
            if prefix.iter().any(|&n| state.cut.is_stale(n)) {
                break;
            }
        }
        Ok(())
    }

    /// The supports of the items in the suffixes.
    fn count(&self, state: &mut State, suffixes: &[Suffix]) -> Result<Level> {
        let State { counts, pulse, .. } = state;
        let mut level = Level::default();
        for s in suffixes {
            for &item in &self.ranks[s.from as usize..s.to as usize] {
                if counts[item as usize] == 0 {
                    level.items.push(item);
                }
                counts[item as usize] += u64::from(s.weight);
            }
            pulse.work((s.to - s.from) as usize + 1)?;
        }
        level.items.sort_unstable();
        level.supports = take(counts, &level.items);
        Ok(level)
    }

    /// The supports, and what follows each item. A suffix that is too short
    /// for `missing` items plays no part.
    fn project(&self, state: &mut State, suffixes: &[Suffix], missing: usize) -> Result<Level> {
        let mut level = self.count(state, suffixes)?;
        let State { counts, pulse, .. } = state;
        let items = |s: &Suffix| {
            let last = (s.to as usize + 1).saturating_sub(missing).max(s.from as usize);
            s.from as usize..last
        };
        for s in suffixes {
            for at in items(s) {
                counts[self.ranks[at] as usize] += 1;
            }
            pulse.work(items(s).len() + 1)?;
        }
        let sizes = take(counts, &level.items);
        let mut total = 0;
        for (&item, &size) in level.items.iter().zip(&sizes) {
            counts[item as usize] = total; // Where the item's next suffix goes.
            total += size;
            level.ends.push(total as usize);
        }
        level.suffixes = vec![Suffix { from: 0, to: 0, weight: 0 }; total as usize];
        for s in suffixes {
            for at in items(s) {
                let slot = &mut counts[self.ranks[at] as usize];
                level.suffixes[*slot as usize] = Suffix { from: at as u32 + 1, ..*s };
                *slot += 1;
            }
            pulse.work(items(s).len() + 1)?;
        }
        level.items.iter().for_each(|&item| counts[item as usize] = 0);
        Ok(level)
    }

    /// Adds up equal suffixes, where the walk goes deep enough for it to pay.
    fn merge(&self, suffixes: &mut Vec<Suffix>, missing: usize) {
        if missing < 2 {
            return;
        }
        let text = |s: &Suffix| &self.ranks[s.from as usize..s.to as usize];
        suffixes.sort_unstable_by(|a, b| text(a).cmp(text(b)));
        let mut kept = 0;
        for i in 1..suffixes.len() {
            let s = suffixes[i];
            if text(&suffixes[kept]) == text(&s) {
                suffixes[kept].weight += s.weight;
            } else {
                kept += 1;
                suffixes[kept] = s;
            }
        }
        suffixes.truncate(kept + 1);
    }
}

/// Where the items stand in the walk: frequent ones first.
fn order_key(support: u64) -> i64 {
    -(support as i64)
}

/// The counts of `items`, which are set to zero.
fn take(counts: &mut [u64], items: &[u32]) -> Vec<u64> {
    items.iter().map(|&i| std::mem::take(&mut counts[i as usize])).collect()
}

struct State<'s, 'a> {
    cut: &'s mut Cut,
    repair: &'s mut Repair<'a>,
    pulse: Pulse<'s>,
    found: bool,
    counts: Vec<u64>,
}
