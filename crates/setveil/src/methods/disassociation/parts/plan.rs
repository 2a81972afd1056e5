//! Which records come into one part: a plan by rank prefixes.
//!
//! A record is written as the ranks of its items, the most frequent first.
//! Records that begin alike are similar in the sense of HORPART, which splits
//! by the most frequent term first. Beginnings that too many records have are
//! made longer, level by level; then neighbouring beginnings are put together
//! until a part is full. Only counts decide, so the plan is the same whoever
//! counted, in whatever order and on however many machines.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::data::{ItemId, K};
use crate::{Error, Result};

/// The ranks of items: 0 is the most frequent one. Of two that are equally
/// frequent the first by text comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ranks {
    /// By item; `NONE` for one that has no rank.
    ranks: Vec<u32>,
    /// By rank.
    items: Vec<ItemId>,
}

const NONE: u32 = u32::MAX;

impl Ranks {
    /// The ranks of the items with these counts; one with a count of 0 has none.
    pub fn new(counts: &[u64]) -> Self {
        let mut items: Vec<ItemId> =
            (0..counts.len() as ItemId).filter(|&item| counts[item as usize] > 0).collect();
        items.sort_by_key(|&item| (std::cmp::Reverse(counts[item as usize]), item));
        let mut ranks = vec![NONE; counts.len()];
        for (rank, &item) in items.iter().enumerate() {
            ranks[item as usize] = rank as u32;
        }
        Self { ranks, items }
    }

    /// The ranks of terms that have not been shared, the rarest first: of those
    /// that several `clusters` have, and at least k `records` together.
    pub fn rare_first(clusters: &[u64], records: &[u64], k: K) -> Self {
        let common = |(&c, &r): (&u64, &u64)| c > 1 && r >= u64::from(k.get());
        let both = clusters.iter().zip(records);
        let counts = both.map(|some| if common(some) { u64::MAX - some.0 } else { 0 });
        Self::new(&counts.collect::<Vec<u64>>())
    }

    /// Writes the ranks of the items that have one to `ranks`, ascending.
    pub fn of(&self, items: &[ItemId], ranks: &mut Vec<u32>) {
        self.of_items(items.iter().copied(), ranks);
    }

    /// As [`of`](Self::of).
    pub(super) fn of_items(&self, items: impl Iterator<Item = ItemId>, ranks: &mut Vec<u32>) {
        ranks.clear();
        ranks.extend(items.map(|item| self.ranks[item as usize]).filter(|&r| r != NONE));
        ranks.sort_unstable();
    }

    /// As [`of`](Self::of), for numbers that stand for items (`own` says for
    /// which), and in any order.
    pub(super) fn of_numbers(&self, numbers: &[u32], own: Option<&[ItemId]>, ranks: &mut Vec<u32>) {
        let Some(own) = own else { return self.of(numbers, ranks) };
        ranks.clear();
        let rank = |&number: &u32| self.ranks[own[number as usize] as usize];
        ranks.extend(numbers.iter().map(rank).filter(|&r| r != NONE));
    }

    /// The items of these ranks, ascending.
    pub fn items(&self, ranks: &[u32]) -> Vec<ItemId> {
        let mut items: Vec<ItemId> = ranks.iter().map(|&rank| self.items[rank as usize]).collect();
        items.sort_unstable();
        items
    }

    /// Whether an item has a rank.
    pub fn has(&self, item: ItemId) -> bool {
        self.ranks.get(item as usize).is_some_and(|&rank| rank != NONE)
    }
}

/// How large a part may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartSize {
    max: u64,
}

impl PartSize {
    /// Parts of at most about `max` records and at least a quarter of that.
    ///
    /// # Errors
    /// If that is less than 16 clusters of `cluster` records each.
    pub fn records(max: u64, cluster: usize) -> Result<Self> {
        if max < 16 * cluster as u64 {
            return Err(Error::Parameter {
                name: "part-size",
                found: max.to_string(),
                expected: "at least 16 times the largest cluster",
            });
        }
        Ok(Self { max })
    }

    /// Parts of at most about so much of anything.
    pub fn weight(max: u64) -> Self {
        Self { max: max.max(4) }
    }

    /// The smaller of the two.
    #[must_use]
    pub fn at_most(self, max: u64) -> Self {
        Self::weight(self.max.min(max))
    }

    /// The least of a part, if there is so much at all.
    pub fn min(self) -> u64 {
        self.max / 4
    }

    /// What a part has at most, but for what cannot be divided; the last one a
    /// quarter more.
    pub fn max(self) -> u64 {
        self.max
    }
}

/// Beginnings are at most so long: more levels would be more passes.
const LEVELS: usize = 256;
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
struct Split {
    /// By what comes behind it, ascending; empty until it was counted.
    children: Vec<Child>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Child {
    code: u32,
    weight: u64,
    next: Next,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Next {
    /// Longer beginnings.
    Split(u32),
    /// All of them in this part.
    Part(u32),
    /// Equal ones, divided among parts.
    Divided,
}

/// What was counted, in any order and by anybody.
#[derive(Clone, Debug, Default)]
pub struct Counter(FxHashMap<Beginning, u64>);

impl Counter {
    /// Adds what somebody else counted.
    pub fn add(&mut self, beginning: Beginning, weight: u64) {
        *self.0.entry(beginning).or_default() += weight;
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
        self.count_by(|i| code(ranks, i), weight, counter);
    }

    /// As [`count`](Self::count), for ranks in any order.
    pub(super) fn count_unsorted(&self, ranks: &mut [u32], weight: u64, counter: &mut Counter) {
        self.count_by(|i| next_code(ranks, i), weight, counter);
    }

    fn count_by(&self, mut code: impl FnMut(usize) -> u32, weight: u64, counter: &mut Counter) {
        let mut split = 0;
        // The end of the record has no longer beginnings.
        for i in 0.. {
            let code = code(i);
            let children = &self.tree[split].children;
            if children.is_empty() {
                return counter.add((split as u32, code), weight);
            }
            match find(children, code).map(|child| child.next) {
                Some(Next::Split(next)) => split = next as usize,
                _ => return,
            }
        }
    }

    /// Takes what one pass counted.
    pub fn take(&mut self, counter: Counter) {
        let mut counts: Vec<(Beginning, u64)> = counter.0.into_iter().collect();
        counts.sort_unstable();
        self.level += 1;
        // What is just small enough to be joined with a part that is too small alone.
        let most = self.size.max - self.size.min();
        for ((split, code), weight) in counts {
            let longer = weight > most && code != END && self.level < LEVELS;
            let next = if longer {
                self.tree.push(Split::default());
                Next::Split(self.tree.len() as u32 - 1)
            } else if weight > most && code == END && self.equal_divide {
                Next::Divided
            } else {
                Next::Part(0)
            };
            self.tree[split as usize].children.push(Child { code, weight, next });
        }
        // Nothing at all was counted: the plan of nothing.
        if self.tree.len() == 1 && self.tree[0].children.is_empty() {
            self.tree[0].children.push(Child { code: END, weight: 0, next: Next::Part(0) });
        }
    }

    /// Puts neighbours together in parts.
    pub fn finish(mut self) -> Plan {
        let mut parts = Parts { size: self.size, sizes: Vec::new(), equal: Vec::new(), open: None };
        parts.walk(&mut self.tree);
        parts.close(&mut self.tree);
        Plan { tree: self.tree, sizes: parts.sizes, equal: parts.equal }
    }
}

/// What comes behind `i` ascending ranks.
fn code(ranks: &[u32], i: usize) -> u32 {
    ranks.get(i).map_or(END, |rank| rank + 1)
}

/// As [`code`], for ranks of which the first `i` alone are in their order: most
/// records are told by two or three of them.
fn next_code(ranks: &mut [u32], i: usize) -> u32 {
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

fn find(children: &[Child], code: u32) -> Option<&Child> {
    children.binary_search_by_key(&code, |child| child.code).ok().map(|at| &children[at])
}

/// Parts that are being filled.
struct Parts {
    size: PartSize,
    sizes: Vec<u64>,
    equal: Vec<Equal>,
    /// The part that is being filled, and who is in it: split and child.
    open: Option<(u64, Vec<(usize, usize)>)>,
}

impl Parts {
    fn walk(&mut self, tree: &mut [Split]) {
        // Split, child, and the ranks on the way.
        let (mut stack, mut path) = (vec![(0usize, 0usize)], Vec::new());
        while let Some((split, at)) = stack.pop() {
            let Some(&Child { code, weight, next }) = tree[split].children.get(at) else {
                path.pop();
                continue;
            };
            stack.push((split, at + 1));
            match next {
                Next::Split(below) => {
                    path.push(code - 1);
                    stack.push((below as usize, 0));
                }
                Next::Divided => self.divide(&path, weight),
                Next::Part(_) => self.fill(tree, (split, at), weight),
            }
        }
    }

    fn fill(&mut self, tree: &mut [Split], who: (usize, usize), weight: u64) {
        if self.open.as_ref().is_some_and(|(filled, _)| {
            filled + weight > self.size.max && *filled >= self.size.min()
        }) {
            self.end(tree);
        }
        let (filled, members) = self.open.get_or_insert_default();
        *filled += weight;
        members.push(who);
    }

    /// Equal ones fill parts of their own.
    fn divide(&mut self, ranks: &[u32], weight: u64) {
        let pieces = weight.div_ceil(self.size.max);
        for piece in 0..pieces {
            let count = weight * (piece + 1) / pieces - weight * piece / pieces;
            self.equal.push(Equal { ranks: ranks.to_vec(), count, part: self.sizes.len() as u32 });
            self.sizes.push(count);
        }
    }

    /// The open part is full.
    fn end(&mut self, tree: &mut [Split]) {
        if let Some((filled, members)) = self.open.take() {
            self.put(tree, self.sizes.len(), &members);
            self.sizes.push(filled);
        }
    }

    /// What is left at the end and too small alone joins the part before.
    fn close(&mut self, tree: &mut [Split]) {
        match (&self.open, self.sizes.len().checked_sub(1)) {
            (Some((filled, _)), Some(last)) if *filled < self.size.min() => {
                let (filled, members) = self.open.take().expect("it was there");
                self.put(tree, last, &members);
                self.sizes[last] += filled;
            }
            _ => self.end(tree),
        }
    }

    fn put(&self, tree: &mut [Split], part: usize, members: &[(usize, usize)]) {
        for &(split, at) in members {
            tree[split].children[at].next = Next::Part(part as u32);
        }
    }
}

/// Equal records of which a part has some: which of them is all the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Equal {
    /// The ranks of their items.
    pub ranks: Vec<u32>,
    /// How many the part has.
    pub count: u64,
    /// The part.
    pub part: u32,
}

/// Which records come into which part.
///
/// # Guarantee
/// Who comes into a part depends on the records as a bag: not on their order,
/// nor on how they were counted. Every part has at least the least size, if
/// there is so much at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    tree: Vec<Split>,
    sizes: Vec<u64>,
    equal: Vec<Equal>,
}

impl Plan {
    /// The part of who has these ranks, ascending. None for one of many equal
    /// ones: [`equal`](Self::equal) says how many of those a part has.
    pub fn part(&self, ranks: &[u32]) -> Option<u32> {
        self.part_by(|i| code(ranks, i))
    }

    /// As [`part`](Self::part), for ranks in any order.
    pub(super) fn part_unsorted(&self, ranks: &mut [u32]) -> Option<u32> {
        self.part_by(|i| next_code(ranks, i))
    }

    fn part_by(&self, mut code: impl FnMut(usize) -> u32) -> Option<u32> {
        let mut split = 0;
        for i in 0.. {
            match find(&self.tree[split].children, code(i))?.next {
                Next::Split(next) => split = next as usize,
                Next::Part(part) => return Some(part),
                Next::Divided => return None,
            }
        }
        None
    }

    /// How much every part has.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Equal ones that are divided among parts.
    pub fn equal(&self) -> &[Equal] {
        &self.equal
    }
}
