//! Which records come into one part: a plan by rank prefixes.
//!
//! A record is written as the ranks of its items, the most frequent first.
//! Records that begin alike are similar in the sense of HORPART, which splits
//! by the most frequent term first. Beginnings that too many records have are
//! made longer, level by level; then neighbouring beginnings are put together
//! until a part is full. Only counts decide, so the plan is the same whoever
//! counted, in whatever order and on however many machines.
//!
//! Beginnings have at most [`LEVELS`] ranks. Records that are alike so far are
//! told apart by a checksum of all their ranks, a byte a level. If too many are
//! still alike, all of their ranks are counted: those that are as many as the
//! records are in each of them, and if all are, the records are equal.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::filling::{Parts, Plan};
use super::ranks::PartSize;

/// Beginnings are at most so long: more levels would be more passes.
const LEVELS: usize = 256;
/// So many bytes of a checksum of the whole record come behind that.
const BYTES: usize = 4;
/// The end of the record in place of a rank; other ranks are one more.
const END: u32 = 0;

/// Something to count: a beginning that is being made longer, and what comes
/// behind it.
pub type Beginning = (u32, u32);

/// A plan on the way. Count, [`take`](Self::take), and again, until there is
/// nothing more to count:
///
/// ```
/// use setveil::methods::disassociation::parts::{PartSize, Planner};
///
/// let records = [vec![0, 1], vec![0, 2], vec![0, 1, 2], vec![1], vec![2], vec![2]];
/// let mut planner = Planner::new(PartSize::weight(4), false);
/// while planner.counts() {
///     let mut counter = planner.counter();
///     records.iter().for_each(|ranks| planner.count(ranks, 1, &mut counter));
///     planner.take(counter);
/// }
/// let plan = planner.finish();
/// assert_eq!(plan.sizes(), [4, 2]);
/// assert_eq!(plan.part(&[0, 2]), Some(0));
/// assert_eq!(plan.part(&[2]), Some(1));
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Planner {
    size: PartSize,
    /// Whether those that are equal may be divided among several parts.
    equal_divide: bool,
    level: usize,
    tree: Vec<Split>,
}

/// A beginning that is made longer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Split {
    /// By what comes behind it, ascending; empty until it was counted.
    pub(super) children: Vec<Child>,
}

impl Split {
    /// The ranks of equal records of which all ranks were counted.
    pub(super) fn ranks(&self) -> Vec<u32> {
        self.children.iter().map(|child| child.code - 1).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Child {
    pub(super) code: u32,
    pub(super) weight: u64,
    pub(super) next: Next,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Next {
    /// Longer beginnings.
    Split(u32),
    /// All of them in this part.
    Part(u32),
    /// Equal ones, divided among parts.
    Divided,
    /// As that, where the ranks are not those on the way: all of them were counted here.
    Alike(u32),
}

/// What counts of somebody in a pass.
enum Awaited {
    /// The beginning.
    Beginning(Beginning),
    /// All ranks.
    Ranks(u32),
}

/// What was counted, in any order and by anybody.
#[derive(Clone, Debug, Default)]
pub struct Counter(FxHashMap<Beginning, u64>);

impl Counter {
    /// Adds what somebody else counted.
    pub fn add(&mut self, beginning: Beginning, weight: u64) {
        *self.0.entry(beginning).or_default() += weight;
    }

    fn add_all(&mut self, awaited: Option<Awaited>, ranks: &[u32], weight: u64) {
        match awaited {
            Some(Awaited::Beginning(beginning)) => self.add(beginning, weight),
            Some(Awaited::Ranks(split)) => {
                ranks.iter().for_each(|rank| self.add((split, rank + 1), weight));
            }
            None => {}
        }
    }

    /// How many beginnings were counted.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// All that was counted.
    pub fn counts(&self) -> impl Iterator<Item = (Beginning, u64)> {
        self.0.iter().map(|(&beginning, &weight)| (beginning, weight))
    }
}

impl Planner {
    /// Nothing is counted yet. `equal_divide` says that equal ones may be
    /// divided among several parts.
    pub fn new(size: PartSize, equal_divide: bool) -> Self {
        Self { size, equal_divide, level: 0, tree: vec![Split::default()] }
    }

    /// Whether there is something to count.
    pub fn counts(&self) -> bool {
        self.tree.last().is_some_and(|split| split.children.is_empty())
    }

    /// A counter for one pass, or for a part of one.
    pub fn counter(&self) -> Counter {
        Counter::default()
    }

    /// Counts something of this weight, if it is of the ones that count in this pass.
    pub fn count(&self, ranks: &[u32], weight: u64, counter: &mut Counter) {
        counter.add_all(self.awaited_of(|i| code(ranks, i)), ranks, weight);
    }

    /// As [`count`](Self::count), for ranks in any order. Whether it counts in this pass.
    pub(super) fn count_unsorted(
        &self,
        ranks: &mut [u32],
        weight: u64,
        counter: &mut Counter,
    ) -> bool {
        let awaited = self.awaited_of(|i| next_code(ranks, i));
        let counts = awaited.is_some();
        counter.add_all(awaited, ranks, weight);
        counts
    }

    /// What counts of somebody in this pass.
    fn awaited_of(&self, mut code: impl FnMut(usize) -> u32) -> Option<Awaited> {
        let mut split = 0;
        // The end of the record has no longer beginnings.
        for i in 0.. {
            let code = code(i);
            let children = &self.tree[split].children;
            if children.is_empty() {
                return Some(Awaited::Beginning((split as u32, code)));
            }
            match find(children, code)?.next {
                Next::Split(next) => split = next as usize,
                Next::Alike(below) if self.tree[below as usize].children.is_empty() => {
                    return Some(Awaited::Ranks(below));
                }
                _ => return None,
            }
        }
        None
    }

    /// The weight of all that counts in this pass; none before anything was counted.
    pub(super) fn awaited(&self) -> Option<u64> {
        let children = self.tree.iter().flat_map(|split| &split.children);
        let awaited = children.filter(|child| match child.next {
            Next::Split(next) | Next::Alike(next) => self.tree[next as usize].children.is_empty(),
            _ => false,
        });
        (self.level > 0).then(|| awaited.map(|child| child.weight).sum())
    }

    /// The weight of all that was counted.
    pub(super) fn all(&self) -> u64 {
        self.tree[0].children.iter().map(|child| child.weight).sum()
    }

    /// How many counts the plan has so far.
    pub(super) fn len(&self) -> usize {
        self.tree.iter().map(|split| split.children.len()).sum()
    }

    /// How many parts there will be of equal ones alone: each of them
    /// has its ranks in the plan.
    pub fn equal_parts(&self) -> u64 {
        let children = self.tree.iter().flat_map(|split| &split.children);
        let divided = children.filter(|c| matches!(c.next, Next::Divided | Next::Alike(_)));
        divided.map(|child| self.size.pieces(child.weight)).sum()
    }

    /// Takes what one pass counted.
    pub fn take(&mut self, counter: Counter) {
        let mut counts: Vec<(Beginning, u64)> = counter.0.into_iter().collect();
        counts.sort_unstable();
        self.level += 1;
        // What is just small enough to be joined with a part that is too small alone.
        let most = self.size.max() - self.size.min();
        // Clusters are followed to the last rank that counts, and stay together then.
        let last = LEVELS + if self.equal_divide { BYTES } else { 0 };
        for ((split, code), weight) in counts {
            let below = self.tree.len() as u32;
            let next = match (weight > most, code) {
                (true, END) if self.equal_divide => Next::Divided,
                (true, 1..) if self.level < last => Next::Split(below),
                (true, 1..) if self.level == last && self.equal_divide => Next::Alike(below),
                _ => Next::Part(0),
            };
            if matches!(next, Next::Split(_) | Next::Alike(_)) {
                self.tree.push(Split::default());
            }
            self.tree[split as usize].children.push(Child { code, weight, next });
        }
        if self.level == last + 1 {
            self.keep_together_what_differs();
        }
        // Nothing at all was counted: the plan of nothing.
        if self.tree.len() == 1 && self.tree[0].children.is_empty() {
            self.tree[0].children.push(Child { code: END, weight: 0, next: Next::Part(0) });
        }
    }

    /// Records with the same checksum are equal if each has every rank that one has. If not,
    /// somebody has searched for such records: they come into one part.
    fn keep_together_what_differs(&mut self) {
        for split in 0..self.tree.len() {
            for at in 0..self.tree[split].children.len() {
                let Child { weight, next: Next::Alike(below), .. } = self.tree[split].children[at]
                else {
                    continue;
                };
                let ranks = &self.tree[below as usize].children;
                if ranks.iter().any(|rank| rank.weight != weight) {
                    self.tree[split].children[at].next = Next::Part(0);
                }
            }
        }
    }

    /// Puts neighbours together in parts.
    pub fn finish(self) -> Plan {
        Parts::fill_all(self.size, self.tree)
    }
}

/// The code at place `i` of a record with these ascending ranks. The first [`LEVELS`] places are the ranks
/// themselves, and `END` after the last one. The places after those are the bytes of the checksum.
pub(super) fn code(ranks: &[u32], i: usize) -> u32 {
    match i.checked_sub(LEVELS) {
        None => ranks.get(i).map_or(END, |rank| rank + 1),
        Some(byte) => (checksum(ranks) >> (8 * byte) & 0xff) as u32 + 1,
    }
}

/// The same on every machine: FNV-1a over the ranks, and the last step of SplitMix64.
fn checksum(ranks: &[u32]) -> u64 {
    let add = |sum: u64, &rank: &u32| (sum ^ u64::from(rank)).wrapping_mul(0x100_0000_01b3);
    let sum = ranks.iter().fold(0xcbf2_9ce4_8422_2325, add);
    let sum = (sum ^ sum >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let sum = (sum ^ sum >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    sum ^ sum >> 31
}

/// As [`code`], for ranks of which the first `i` alone are in their order: most
/// records are told by two or three of them.
pub(super) fn next_code(ranks: &mut [u32], i: usize) -> u32 {
    const FEW: usize = 4;
    if i >= FEW {
        if i == FEW && i < ranks.len() {
            ranks[i..].sort_unstable();
        }
    } else if let Some(least) = (i..ranks.len()).min_by_key(|&at| ranks[at]) {
        ranks.swap(i, least);
    }
    code(ranks, i)
}

pub(super) fn find(children: &[Child], code: u32) -> Option<&Child> {
    children.binary_search_by_key(&code, |child| child.code).ok().map(|at| &children[at])
}
