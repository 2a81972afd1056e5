//! The S-step: takes groups of p records away from a part in which a sensitive
//! item is too frequent for a Q-step. It sees the sensitive sets of the records
//! in the order of a secret shuffle. It has no way to the non-sensitive items,
//! and that is what the proof in [`blind`](super) rests on.
//!
//! Invariant: each sensitive item is in at most 1/p of what remains.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::methods::sensitive::Rows;

/// For one group, at most this many times p records that share a sensitive item
/// with it are passed over; then only records without any are taken.
const PASSED: usize = 64;

/// Who holds what.
pub(super) struct Holders<'a> {
    sensitive: &'a Rows,
    order: &'a [u32],
    p: usize,
}

/// What an S-step did with a part: its places now stand in the order of the
/// groups, and at the end what is divided further.
pub(super) struct Peeled {
    /// The sizes of the groups.
    pub groups: Vec<usize>,
    /// How many records are no group yet.
    pub open: usize,
}

impl<'a> Holders<'a> {
    pub(super) fn new(sensitive: &'a Rows, order: &'a [u32], p: usize) -> Self {
        Self { sensitive, order, p }
    }

    fn own(&self, place: u32) -> &'a [u32] {
        self.sensitive.row(self.order[place as usize] as usize)
    }

    /// How many of these records hold the sensitive item that most of them hold.
    pub(super) fn largest_count(&self, places: &[u32]) -> usize {
        let mut held: Vec<u32> =
            places.iter().flat_map(|&place| self.own(place)).copied().collect();
        held.sort_unstable();
        held.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap_or(0)
    }

    /// Forms groups from `places`, which stand in a secret order, until a
    /// Q-step is possible again or nothing more can be taken away.
    pub(super) fn peel(&self, places: &mut [u32]) -> Peeled {
        let mut line = Line::new(places.iter().map(|&place| self.own(place)), self.p);
        let (mut formed, mut groups) = (Vec::with_capacity(places.len()), Vec::new());
        let open = loop {
            let largest = line.largest();
            if line.left < 2 * self.p || largest == 0 {
                break false;
            }
            if line.left >= 2 * self.p * largest {
                break true;
            }
            let group = line.next_group();
            if !line.take(&group) {
                break false;
            }
            groups.push(group.len());
            formed.extend(group.iter().map(|&at| places[at]));
        };
        let mut rest: Vec<u32> = line.rest().map(|at| places[at]).collect();
        rest.sort_unstable();
        if !open && !rest.is_empty() {
            groups.push(rest.len());
        }
        places[..formed.len()].copy_from_slice(&formed);
        places[formed.len()..].copy_from_slice(&rest);
        Peeled { groups, open: if open { rest.len() } else { 0 } }
    }
}

/// A sensitive item in what remains.
struct Item {
    count: usize,
    /// Where its holders stand, in order, and the first that may remain.
    holders: Vec<usize>,
    head: usize,
    /// The last group that held it.
    group: usize,
}

/// What remains of a part, in the order of the shuffle.
struct Line<'a> {
    p: usize,
    own: Vec<&'a [u32]>,
    items: FxHashMap<u32, Item>,
    /// Items that remain, by count; of items with the same count the first is last.
    by_count: BTreeSet<(usize, Reverse<u32>)>,
    taken: Vec<bool>,
    left: usize,
    /// Where records without sensitive items stand, and the first that remains.
    plain: Vec<usize>,
    plain_head: usize,
    /// Where records with some stand, and for each that is taken a later entry
    /// before which none remains.
    marked: Vec<usize>,
    next_marked: Vec<usize>,
    group: usize,
}

impl<'a> Line<'a> {
    fn new(own: impl Iterator<Item = &'a [u32]>, p: usize) -> Self {
        let own: Vec<&[u32]> = own.collect();
        let mut items: FxHashMap<u32, Item> = FxHashMap::default();
        for (at, &set) in own.iter().enumerate() {
            for &s in set {
                let fresh = || Item { count: 0, holders: Vec::new(), head: 0, group: 0 };
                let item = items.entry(s).or_insert_with(fresh);
                item.count += 1;
                item.holders.push(at);
            }
        }
        let (marked, plain): (Vec<usize>, _) = (0..own.len()).partition(|&at| !own[at].is_empty());
        Self {
            p,
            by_count: items.iter().map(|(&s, item)| (item.count, Reverse(s))).collect(),
            items,
            taken: vec![false; own.len()],
            left: own.len(),
            plain,
            plain_head: 0,
            next_marked: (1..=marked.len()).collect(),
            marked,
            group: 0,
            own,
        }
    }

    fn largest(&self) -> usize {
        self.by_count.last().map_or(0, |&(count, _)| count)
    }

    fn rest(&self) -> impl Iterator<Item = usize> {
        (0..self.own.len()).filter(|&at| !self.taken[at])
    }

    fn conflicts(&self, at: usize) -> bool {
        self.own[at].iter().any(|s| self.items[s].group == self.group)
    }

    fn join(&mut self, at: usize, group: &mut Vec<usize>) {
        for s in self.own[at] {
            if let Some(item) = self.items.get_mut(s) {
                item.group = self.group;
            }
        }
        group.push(at);
    }

    /// The next group: holders of the items that must go, then whoever is
    /// first. No two share a sensitive item. Nothing is taken yet.
    fn next_group(&mut self) -> Vec<usize> {
        self.group += 1;
        let (p, left) = (self.p, self.left);
        let must =
            |&&(count, _): &&(usize, Reverse<u32>)| 2 * p * count > left || p * count > left - p;
        let urgent: Vec<u32> =
            self.by_count.iter().rev().take_while(must).map(|&(_, Reverse(s))| s).collect();
        let mut group = Vec::with_capacity(p);
        for s in urgent {
            if let Some(at) = self.first_holder(s) {
                self.join(at, &mut group);
            }
        }
        self.fill(&mut group);
        group
    }

    /// The first record with `s` that shares no sensitive item with the group.
    fn first_holder(&mut self, s: u32) -> Option<usize> {
        let item = self.items.get_mut(&s)?;
        while item.head < item.holders.len() && self.taken[item.holders[item.head]] {
            item.head += 1;
        }
        let item = &self.items[&s];
        if item.group == self.group {
            return None;
        }
        let remaining = item.holders[item.head..].iter().filter(|&&at| !self.taken[at]);
        remaining.take(PASSED * self.p).copied().find(|&at| !self.conflicts(at))
    }

    /// Fills the group up to p with the first records that do not conflict.
    fn fill(&mut self, group: &mut Vec<usize>) {
        let (mut plain, mut marked) = (self.plain_head, self.marked_from(0));
        let mut passed = 0;
        while group.len() < self.p {
            let next_marked = match self.marked.get(marked) {
                Some(&at) if passed < PASSED * self.p => at,
                _ => usize::MAX,
            };
            let next_plain = self.plain.get(plain).copied().unwrap_or(usize::MAX);
            if next_plain < next_marked {
                group.push(next_plain);
                plain += 1;
            } else if next_marked == usize::MAX {
                return;
            } else {
                if self.conflicts(next_marked) {
                    passed += 1;
                } else {
                    self.join(next_marked, group);
                }
                marked = self.marked_from(marked + 1);
            }
        }
    }

    /// Takes the group away, or changes nothing and says no: it is too small,
    /// or what would remain is not a group of degree p and not empty.
    fn take(&mut self, group: &[usize]) -> bool {
        let left = self.left - group.len();
        if group.len() < self.p || (left > 0 && left < self.p) {
            return false;
        }
        let top = self.by_count.iter().rev().take_while(|(count, _)| count * self.p > left);
        let mut breaking = top.filter(|&&(count, Reverse(s))| {
            self.items[&s].group != self.group || (count - 1) * self.p > left
        });
        if breaking.next().is_some() {
            return false;
        }
        for &at in group {
            self.taken[at] = true;
            for &s in self.own[at] {
                self.count_down(s);
            }
        }
        while self.plain.get(self.plain_head).is_some_and(|&at| self.taken[at]) {
            self.plain_head += 1;
        }
        self.left = left;
        true
    }

    fn count_down(&mut self, s: u32) {
        let Some(item) = self.items.get_mut(&s) else { return };
        self.by_count.remove(&(item.count, Reverse(s)));
        item.count -= 1;
        if item.count > 0 {
            self.by_count.insert((item.count, Reverse(s)));
        }
    }

    /// The first entry of `marked` at or after `from` that remains, or the end.
    fn marked_from(&mut self, mut from: usize) -> usize {
        let is_taken = |taken: &[bool], marked: &[usize], at: usize| {
            marked.get(at).is_some_and(|&place| taken[place])
        };
        while is_taken(&self.taken, &self.marked, from) {
            let next = self.next_marked[from];
            if is_taken(&self.taken, &self.marked, next) {
                // Halving the way keeps the next walk short.
                self.next_marked[from] = self.next_marked[next];
            }
            from = self.next_marked[from];
        }
        from
    }
}
