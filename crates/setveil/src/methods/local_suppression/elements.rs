//! The sets of items that must be kept k times or not at all, numbered.
//!
//! Sets of fewer than m items count inside their leaf, sets of m items over
//! all leaves (rules L and G). A set that k records cannot have has no number.
//! Numbers depend on the threads; nothing that is published depends on them.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::bits::Bits;
use super::numbering::Numbering;
use super::postings::Postings;
use super::rows::Rows;
use super::subsets::{Places, slots};
use crate::data::ItemId;
use crate::{Error, Progress, Result};

/// The number of sets that are out of the question.
pub(super) const NEVER: u32 = u32::MAX;

/// Numbers for the subsets of every row, and how often each is kept.
pub(super) struct Elements {
    pub(super) places: Places,
    /// Where the block of row `r` begins.
    pub(super) starts: Vec<usize>,
    pub(super) ids: Vec<AtomicU32>,
    /// Per number: in how many records it is kept.
    counts: Vec<AtomicU32>,
    /// Per number: whether nobody may keep it.
    pub(super) dead: Bits,
    /// Per number: where the rows are that could keep the set.
    homes: Vec<Home>,
    postings: Option<Postings>,
}

/// Where a set can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Home {
    /// In this leaf.
    Leaf(u32),
    /// In rows with this item.
    Item(ItemId),
}

impl Elements {
    /// Numbers the subsets of 1 to `size` items. `m` of all items count
    /// everywhere; with one leaf, smaller sets do as well.
    pub(super) fn new(
        rows: &Rows,
        item_count: usize,
        (size, m): (u32, u32),
        k: u32,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let longest = (0..rows.len()).map(|r| rows.row(r).len()).max().unwrap_or(0);
        let mut starts = vec![0];
        for r in 0..rows.len() {
            let end = starts[r] + slots(rows.row(r).len(), size) as usize;
            starts.push(end);
        }
        let total = *starts.last().expect("a first start");
        if total as u64 / u64::from(k) >= u64::from(NEVER) {
            return Err(Error::TooLarge {
                what: "combinations of items in one record",
                found: total as u64,
                limit: u64::from(NEVER) * u64::from(k),
                hint: "choose a smaller m or smaller clusters",
            });
        }
        let ids = (0..total).into_par_iter().map(|_| AtomicU32::new(NEVER)).collect();
        let places = Places::new(size, longest);
        let mut elements = Self {
            places,
            starts,
            ids,
            counts: Vec::new(),
            dead: Bits::default(),
            homes: Vec::new(),
            postings: None,
        };
        let next = AtomicU32::new(0);
        let (size, m) = (size as usize, m as usize);
        let (local, global) = match (rows.leaf_count(), size) {
            (1, _) => (0, 1),
            (_, size) if size < m => (size, size + 1),
            _ => (size - 1, size),
        };
        let numbering = Numbering { rows, elements: &elements, k, next: &next };
        let mut found = Vec::new();
        if local > 0 {
            found.extend(numbering.in_leaves(item_count, 1..=local, progress)?);
        }
        let mut postings = None;
        if global <= size {
            let lists = Postings::new(rows, item_count);
            found.extend(numbering.everywhere(&lists, item_count, global..=size, progress)?);
            postings = Some(lists);
        }
        let len = next.into_inner() as usize;
        elements.counts = (0..len).map(|_| AtomicU32::new(0)).collect();
        elements.homes = vec![Home::Leaf(0); len];
        for (home, supports) in found {
            for (id, support) in supports {
                elements.counts[id as usize] = AtomicU32::new(support);
                elements.homes[id as usize] = home;
            }
        }
        elements.postings = postings;
        elements.dead = Bits::new(len);
        Ok(elements)
    }

    /// The number of the subset of row `r` in `slot`.
    pub(super) fn id(&self, r: usize, slot: usize) -> u32 {
        self.ids[self.starts[r] + slot].load(Relaxed)
    }

    /// The numbers of all subsets of row `r`.
    pub(super) fn ids(&self, r: usize) -> impl ExactSizeIterator<Item = u32> {
        self.ids[self.starts[r]..self.starts[r + 1]].iter().map(|id| id.load(Relaxed))
    }

    /// Whether row `r` of `n` items keeps a dead set, if it keeps `kept`.
    /// `members` is room to work in.
    pub(super) fn keeps_dead(&self, r: usize, kept: &[bool], members: &mut Vec<usize>) -> bool {
        let (n, ids) = (kept.len(), &self.ids[self.starts[r]..self.starts[r + 1]]);
        let is_dead = |slot: usize| self.is_dead(ids[slot].load(Relaxed));
        members.clear();
        if self.places.size() > 2 {
            members.extend((0..n).filter(|&p| kept[p]));
            let mut found = false;
            self.places.each_subset(n, members, &mut |slot| found = found || is_dead(slot));
            return found;
        }
        for p in (0..n).filter(|&p| kept[p]) {
            let pairs = self.places.size() == 2;
            if is_dead(p) || pairs && members.iter().any(|&q| is_dead(Places::pair(n, q, p))) {
                return true;
            }
            members.push(p);
        }
        false
    }

    /// Moves the counts from what row `r` kept to what it keeps.
    pub(super) fn recount(&self, r: usize, weight: u32, old: &[bool], new: &[bool]) {
        if self.places.size() > 2 {
            return self.recount_sets(r, weight, old, new);
        }
        let (n, ids) = (old.len(), &self.ids[self.starts[r]..self.starts[r + 1]]);
        let count = |slot: usize, was: bool, is: bool| {
            if was != is {
                let id = ids[slot].load(Relaxed);
                if is { self.add(id, weight) } else { self.subtract(id, weight) }
            }
        };
        for p in (0..n).filter(|&p| old[p] || new[p]) {
            count(p, old[p], new[p]);
            if self.places.size() == 2 {
                let below = old[..p].iter().zip(&new[..p]).enumerate();
                for (q, (was, is)) in below {
                    count(Places::pair(n, q, p), *was && old[p], *is && new[p]);
                }
            }
        }
    }

    /// The same for sets of more than two items.
    fn recount_sets(&self, r: usize, weight: u32, old: &[bool], new: &[bool]) {
        let n = old.len();
        let pick = |chosen: &dyn Fn(usize) -> bool| (0..n).filter(|&p| chosen(p)).collect();
        let stay: Vec<usize> = pick(&|p| old[p] && new[p]);
        let change = |moved: Vec<usize>, count: &dyn Fn(u32)| {
            let mut others = stay.clone();
            for p in moved {
                self.places.each_with(n, p, &others, &mut |slot, _| count(self.id(r, slot)));
                others.push(p);
            }
        };
        change(pick(&|p| old[p] && !new[p]), &|id| self.subtract(id, weight));
        change(pick(&|p| !old[p] && new[p]), &|id| self.add(id, weight));
    }

    pub(super) fn is_dead(&self, id: u32) -> bool {
        id == NEVER || self.dead.get(id as usize)
    }

    pub(super) fn count(&self, id: u32) -> u32 {
        self.counts[id as usize].load(Relaxed)
    }

    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The rows that could keep one of some sets, ascending; none if these are so
    /// many that looking at all is no more work.
    pub(super) fn homes(&self, ids: &[u32], rows: &Rows) -> Option<Vec<u32>> {
        let mut homes: Vec<Home> = ids.iter().map(|&id| self.homes[id as usize]).collect();
        homes.sort_unstable();
        homes.dedup();
        let mut found = Vec::new();
        for home in homes {
            match (home, &self.postings) {
                (Home::Leaf(l), _) => found.extend(rows.leaf(l as usize).map(|r| r as u32)),
                (Home::Item(item), Some(lists)) => found.extend(lists.of(item as usize)),
                (Home::Item(_), None) => return None,
            }
            if found.len() > rows.len() {
                return None;
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    fn add(&self, id: u32, weight: u32) {
        if id != NEVER {
            self.counts[id as usize].fetch_add(weight, Relaxed);
        }
    }

    fn subtract(&self, id: u32, weight: u32) {
        if id != NEVER {
            self.counts[id as usize].fetch_sub(weight, Relaxed);
        }
    }
}
