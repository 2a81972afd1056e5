//! The sets of items that must be kept k times or not at all, numbered.
//!
//! Sets of fewer than m items count inside their leaf, sets of m items over
//! all leaves (rules L and G). A set that k records cannot have has no number.
//! Numbers depend on the threads; nothing that is published depends on them.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::bits::Bits;
use super::numbering::{Numbered, Numbering};
use super::postings::Postings;
use super::rows::Rows;
use super::store::{Block, Filling, Store};
use super::subsets::{Places, slots};
use super::weak::Weak;
use crate::data::ItemId;
use crate::{Error, Progress, Result};

/// The number of sets that are out of the question.
pub(super) const NEVER: u32 = u32::MAX;

/// The bit that marks what nobody may keep.
const DEAD: u32 = 1 << 31;

/// Numbers for the subsets of every row, and how often each is kept.
pub(super) struct Elements {
    pub(super) places: Places,
    store: Store,
    /// Whether two items say which set it is, or one and the leaf.
    pub(super) exact: bool,
    /// Per number: in how many records the set is kept, and whether it is dead.
    /// One more stands for all sets without a number.
    counts: Vec<AtomicU32>,
    /// Numbers from which on sets have this home, ascending.
    pub(super) homes: Vec<(u32, Home)>,
    /// Per number: the last item of the set.
    pub(super) last: Vec<ItemId>,
    pub(super) weak: Weak,
    pub(super) postings: Option<Postings>,
}

/// Where a set can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Home {
    /// In this leaf.
    Leaf(u32),
    /// In rows with this item, the first of the set.
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
        let places = Places::new(size, longest);
        let (size, m) = (size as usize, m as usize);
        let next = AtomicU32::new(0);
        let (local, global) = match (rows.leaf_count(), size) {
            (1, _) => (0, 1),
            (_, size) if size < m => (size, size + 1),
            _ => (size - 1, size),
        };
        let of_row = |r: usize| slots(rows.row(r).len(), size as u32);
        let total = (0..rows.len()).fold(0, |sum: u64, r| sum.saturating_add(of_row(r)));
        if total / u64::from(k) >= u64::from(NEVER) {
            return Err(Error::TooLarge {
                what: "combinations of items in one record",
                found: total,
                limit: u64::from(NEVER) * u64::from(k),
                hint: "choose a smaller m or smaller clusters",
            });
        }
        let store = Filling::new(rows, size as u32, global, item_count);
        let numbering = Numbering { rows, places: &places, store: &store, k, next: &next };
        let (mut found, mut postings) = (Vec::new(), None);
        if local > 0 {
            found.extend(numbering.in_leaves(item_count, 1..=local, progress)?);
        }
        if global <= size {
            let lists = Postings::new(rows, item_count);
            found.extend(numbering.everywhere(&lists, item_count, global..=size, progress)?);
            postings = Some(lists);
        }
        let len = next.into_inner() as usize;
        let (mut counts, last, homes) = listed(found, len);
        let store = store.finish();
        let weak = Weak::new(rows, (&store, total), &counts, k, progress)?;
        counts.push(AtomicU32::new(DEAD));
        let exact = size == 1 || size == 2 && global <= 2;
        Ok(Self { places, store, exact, counts, homes, last, weak, postings })
    }

    /// Reads the numbers of all subsets of row `r`.
    pub(super) fn read(&self, rows: &Rows, r: usize, block: &mut Block) {
        self.store.read(rows, r, block);
    }

    /// Whether somebody with these numbers keeps a dead set, if they keep `kept`.
    /// `members` is room to work in.
    pub(super) fn keeps_dead(&self, ids: &[u32], kept: &[bool], members: &mut Vec<usize>) -> bool {
        let n = kept.len();
        let is_dead = |slot: usize| self.is_dead(ids[slot]);
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

    /// Moves the counts from what somebody with these numbers kept to what
    /// they keep. Numbers whose count falls below `floor` are added to `fallen`.
    pub(super) fn recount(
        &self,
        ids: &[u32],
        weight: u32,
        (old, new): (&[bool], &[bool]),
        (floor, fallen): (u32, &mut Vec<u32>),
    ) {
        let mut count = |slot: usize, is: bool| {
            let id = ids[slot];
            if id == NEVER {
            } else if is {
                self.counts[id as usize].fetch_add(weight, Relaxed);
            } else {
                let before = self.counts[id as usize].fetch_sub(weight, Relaxed) & !DEAD;
                if before >= floor && before < floor.saturating_add(weight) {
                    fallen.push(id);
                }
            }
        };
        if self.places.size() > 2 {
            return self.recount_sets(old, new, &mut count);
        }
        let n = old.len();
        for p in (0..n).filter(|&p| old[p] || new[p]) {
            if old[p] != new[p] {
                count(p, new[p]);
            }
            if self.places.size() == 2 {
                for q in 0..p {
                    let (was, is) = (old[q] && old[p], new[q] && new[p]);
                    if was != is {
                        count(Places::pair(n, q, p), is);
                    }
                }
            }
        }
    }

    /// The same for sets of more than two items.
    fn recount_sets(&self, old: &[bool], new: &[bool], count: &mut impl FnMut(usize, bool)) {
        let n = old.len();
        let pick = |chosen: &dyn Fn(usize) -> bool| (0..n).filter(|&p| chosen(p)).collect();
        let stay: Vec<usize> = pick(&|p| old[p] && new[p]);
        let mut change = |moved: Vec<usize>, is: bool| {
            let mut others = stay.clone();
            for p in moved {
                self.places.each_with(n, p, &others, &mut |slot, _| count(slot, is));
                others.push(p);
            }
        };
        change(pick(&|p| old[p] && !new[p]), false);
        change(pick(&|p| !old[p] && new[p]), true);
    }

    /// How often a set is kept, and whether it is dead.
    fn state(&self, id: u32) -> u32 {
        self.counts[(id as usize).min(self.counts.len() - 1)].load(Relaxed)
    }

    pub(super) fn is_dead(&self, id: u32) -> bool {
        self.state(id) >= DEAD
    }

    pub(super) fn count(&self, id: u32) -> u32 {
        self.state(id) & !DEAD
    }

    /// The count, none if the set is dead.
    pub(super) fn live_count(&self, id: u32) -> Option<u32> {
        Some(self.state(id)).filter(|&state| state < DEAD)
    }

    /// From now on nobody may keep the set, or whoever wants to.
    pub(super) fn set_dead(&self, id: u32, dead: bool) {
        if dead {
            self.counts[id as usize].fetch_or(DEAD, Relaxed);
        } else {
            self.counts[id as usize].fetch_and(!DEAD, Relaxed);
        }
    }

    /// Lets a set die that is kept fewer than `threshold` times. Whether that
    /// concerns somebody: it was alive and is kept.
    pub(super) fn dies(&self, id: u32, threshold: u32) -> bool {
        let count = self.count(id);
        let dies = count < threshold && !self.is_dead(id);
        if dies {
            self.set_dead(id, true);
        }
        dies && count > 0
    }

    /// How many sets there are.
    pub(super) fn len(&self) -> usize {
        self.counts.len() - 1
    }

    /// Which sets are dead.
    pub(super) fn dead(&self) -> Bits {
        let mut dead = Bits::new(self.len());
        for id in (0..self.len()).filter(|&id| self.is_dead(id as u32)) {
            dead.set(id, true);
        }
        dead
    }

    pub(super) fn home(&self, id: u32) -> Home {
        self.homes[self.homes.partition_point(|home| home.0 <= id) - 1].1
    }
}

/// Counts, last items and homes by number.
fn listed(found: Vec<Numbered>, len: usize) -> (Vec<AtomicU32>, Vec<ItemId>, Vec<(u32, Home)>) {
    let mut counts: Vec<AtomicU32> = (0..len).map(|_| AtomicU32::new(0)).collect();
    let (mut last, mut homes) = (vec![0; len], Vec::with_capacity(found.len()));
    for numbered in found {
        let from = numbered.first as usize;
        for (i, &(item, support)) in numbered.sets.iter().enumerate() {
            counts[from + i] = AtomicU32::new(support);
            last[from + i] = item;
        }
        homes.push((numbered.first, numbered.home));
    }
    homes.sort_unstable();
    // Neighbours with the same home are one.
    homes.dedup_by_key(|home| home.1);
    (counts, last, homes)
}
