//! The sub-records of one shared chunk, dealt to distinct slots.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::tree::{Kind, Tree};
use super::{Shared, too_much};
use crate::Result;

/// No sub-record of the chunk is in the slot.
const FREE: u32 = u32::MAX;

/// Deals chunk after chunk, in memory that is used again.
pub(super) struct Dealer<'t, 'a> {
    tree: &'t Tree<'a>,
    /// Per slot, the kind of the present chunk that it holds.
    holds: Vec<u32>,
    /// Slots that were given something of the present chunk, in any order.
    touched: Vec<u32>,
    /// Steps that are left.
    work: u64,
}

/// A sub-record that has its place already: chunk, kind, slot.
pub(super) type Placed = (usize, u32, u32);

impl<'t, 'a> Dealer<'t, 'a> {
    pub(super) fn new(tree: &'t Tree<'a>, work: u64) -> Self {
        Self { tree, holds: vec![FREE; tree.slots()], touched: Vec::new(), work }
    }

    /// Deals every chunk, those that are `placed` (sorted by chunk) where they
    /// are. None if a sub-record finds no slot.
    pub(super) fn deal(
        &mut self,
        placed: &[Placed],
        rng: &mut ChaCha8Rng,
    ) -> Result<Option<Vec<Shared<'a>>>> {
        let mut shared = Vec::new();
        for (c, kinds) in self.tree.chunks.iter().enumerate() {
            let mut left: Vec<u32> = kinds.iter().map(|kind| kind.count).collect();
            let from = placed.partition_point(|p| p.0 < c);
            for &(_, kind, slot) in placed[from..].iter().take_while(|p| p.0 == c) {
                self.put(slot, kind);
                left[kind as usize] -= 1;
            }
            let dealt = self.chunk(kinds, &left, rng)?;
            for slot in self.touched.drain(..) {
                let kind = std::mem::replace(&mut self.holds[slot as usize], FREE);
                if kind != FREE {
                    shared.push((slot, kinds[kind as usize].items));
                }
            }
            if !dealt {
                return Ok(None);
            }
        }
        Ok(Some(shared))
    }

    fn put(&mut self, slot: u32, kind: u32) {
        self.holds[slot as usize] = kind;
        self.touched.push(slot);
    }

    fn spend(&mut self, steps: usize) -> Result<()> {
        let left = self.work.checked_sub(steps as u64);
        self.work = left.ok_or_else(|| too_much("steps to deal shared sub-records"))?;
        Ok(())
    }

    /// Deals `left` of each kind; false if one finds no slot. Where all kinds
    /// may go to the same leaves, the result is uniform. Otherwise each goes to
    /// a uniformly chosen free slot, one after the other in random order.
    fn chunk(&mut self, kinds: &[Kind<'a>], left: &[u32], rng: &mut ChaCha8Rng) -> Result<bool> {
        let Some(first) = kinds.first() else { return Ok(true) };
        if kinds.iter().all(|kind| kind.same_takers(first)) {
            let count = left.iter().map(|&n| n as usize).sum();
            let mut slots = self.free_slots(first, count, rng)?;
            if slots.len() < count {
                return Ok(false);
            }
            for (kind, &n) in left.iter().enumerate() {
                slots.drain(..n as usize).for_each(|slot| self.put(slot, kind as u32));
            }
            return Ok(true);
        }
        let each = |(kind, &n): (usize, &u32)| std::iter::repeat_n(kind, n as usize);
        let mut order: Vec<usize> = left.iter().enumerate().flat_map(each).collect();
        order.shuffle(rng);
        for kind in order {
            let slot = match self.free_slots(&kinds[kind], 1, rng)?.first() {
                Some(&slot) => slot,
                None => match self.make_room(kinds, kind)? {
                    Some(slot) => slot,
                    None => return Ok(false),
                },
            };
            self.put(slot, kind as u32);
        }
        Ok(true)
    }

    /// Up to `count` distinct free slots for a kind, uniformly, in random order.
    fn free_slots(
        &mut self,
        kind: &Kind<'a>,
        count: usize,
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<u32>> {
        let tree = self.tree;
        let ranges: Vec<std::ops::Range<u32>> = tree.slots_for(kind).collect();
        let total: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        self.spend(ranges.len() + count)?;
        let mut chosen = Vec::with_capacity(count.min(total));
        // A few among many: try. A slot that was tried is marked until all are found.
        if count * 4 < total {
            let mut tries = 4 * count + 16;
            while chosen.len() < count && tries > 0 {
                tries -= 1;
                let slot = nth(&ranges, rng.random_range(0..total as u32));
                if self.holds[slot as usize] == FREE {
                    self.holds[slot as usize] = FREE - 1;
                    chosen.push(slot);
                }
            }
            chosen.iter().for_each(|&slot| self.holds[slot as usize] = FREE);
            if chosen.len() == count {
                return Ok(chosen);
            }
            chosen.clear();
        }
        self.spend(total)?;
        chosen.extend(ranges.into_iter().flatten().filter(|&s| self.holds[s as usize] == FREE));
        let count = count.min(chosen.len());
        let _ = chosen.partial_shuffle(rng, count);
        // The shuffled ones come last.
        let rest = chosen.len() - count;
        chosen.drain(..rest);
        Ok(chosen)
    }

    /// Moves sub-records along an alternating path so that a slot becomes free
    /// for kind `i`; none if there is no such path, that is, no placement.
    fn make_room(&mut self, kinds: &[Kind<'a>], i: usize) -> Result<Option<u32>> {
        let tree = self.tree;
        let slots_of = |l: usize| tree.starts[l]..tree.starts[l + 1];
        // Breadth first over leaves: the slot whose sub-record could move into
        // leaf `l`; the first leaves have none.
        let mut from: Vec<Option<Option<u32>>> = vec![None; tree.leaves.len()];
        let mut queue = std::collections::VecDeque::new();
        for l in tree.takers(&kinds[i]).iter().cloned().flatten() {
            from[l as usize] = Some(None);
            queue.push_back(l as usize);
        }
        self.spend(tree.leaves.len())?;
        while let Some(l) = queue.pop_front() {
            self.spend(slots_of(l).len())?;
            if let Some(free) = slots_of(l).find(|&s| self.holds[s as usize] == FREE) {
                let (mut to, mut at) = (free, l);
                while let Some(Some(slot)) = from[at] {
                    let kind = std::mem::replace(&mut self.holds[slot as usize], FREE);
                    self.put(to, kind);
                    (to, at) = (slot, tree.leaf_of(slot));
                }
                return Ok(Some(to));
            }
            for slot in slots_of(l) {
                let takers = tree.takers(&kinds[self.holds[slot as usize] as usize]);
                self.spend(takers.iter().map(ExactSizeIterator::len).sum())?;
                for next in takers.iter().cloned().flatten() {
                    if from[next as usize].is_none() {
                        from[next as usize] = Some(Some(slot));
                        queue.push_back(next as usize);
                    }
                }
            }
        }
        Ok(None)
    }
}

/// Slot number `at` of some ranges together.
fn nth(ranges: &[std::ops::Range<u32>], mut at: u32) -> u32 {
    for range in ranges {
        let length = range.end - range.start;
        if at < length {
            return range.start + at;
        }
        at -= length;
    }
    unreachable!("there are more slots than `at`")
}
