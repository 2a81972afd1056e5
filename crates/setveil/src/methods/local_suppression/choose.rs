//! What one record keeps: as many pairs as possible without a dead set.
//!
//! Sets of items have weights. Items are removed, each time the one that loses
//! least weight for the dead sets that go with it, until no dead set is left;
//! then whatever fits comes back, and one item replaces another where that
//! gains. Weights are whole numbers and ties go to the first item by text, so
//! the choice depends on the content and the counts alone.

use super::elements::{Elements, NEVER};
use super::subsets::Places;

/// The weight of a set that is kept far more than k times.
const FULL: u64 = 1024;
/// The weight of an item by itself.
const ITEM: u64 = 128;
/// A set that must not be kept.
const DEAD: u32 = u32::MAX;

/// What a set is worth to somebody who could be one of `count` that keep it.
/// Sets that just reach k are worth most: whoever gives one up may take it from
/// all others.
pub(super) fn weight(count: u32, k: u32) -> u32 {
    let (count, k) = (u64::from(count), u64::from(k));
    let weight = if count < k {
        (FULL * 3 / 10 + FULL * count / k).min(FULL)
    } else {
        let near = k - (count - k).min(k);
        FULL + FULL * near * near / (k * k)
    };
    weight as u32
}

/// Arrays that are used again from record to record.
#[derive(Default)]
pub(super) struct Chooser {
    /// Per slot of the row: its weight or `DEAD`.
    weights: Vec<u32>,
    /// Positions that are in.
    inside: Vec<usize>,
    /// Positions that could be in.
    live: Vec<usize>,
    gain: Vec<u64>,
    bars: Vec<u32>,
    pub(super) kept: Vec<bool>,
}

impl Chooser {
    /// Chooses for row `r` of `n` items and the given weight, of which it
    /// keeps `kept` now. The answer is in `self.kept`.
    pub(super) fn choose(
        &mut self,
        elements: &Elements,
        (r, n, own): (usize, usize, u32),
        kept: &[bool],
        k: u32,
    ) {
        let places = &elements.places;
        self.weigh(elements, r, n, own, kept, k);
        self.live.clear();
        self.live.extend((0..n).filter(|&p| self.weights[p] != DEAD));
        self.inside.clone_from(&self.live);
        self.remove_until_allowed(places, n);
        self.add(places, n);
        if places.size() == 2 {
            self.swap(n);
        }
        if self.inside.len() < 2 {
            // Alone, the item that most others keep.
            let count = |p: &usize| elements.count(elements.id(r, *p));
            let most = self.live.iter().copied().max_by_key(|p| (count(p), std::cmp::Reverse(*p)));
            self.inside.clear();
            self.inside.extend(most);
        }
        self.kept.clear();
        self.kept.resize(n, false);
        self.inside.iter().for_each(|&p| self.kept[p] = true);
    }

    /// Looks up the weight of every subset: what it would be worth if this row
    /// kept it.
    fn weigh(&mut self, elements: &Elements, r: usize, n: usize, own: u32, kept: &[bool], k: u32) {
        self.weights.clear();
        self.weights.extend(
            elements.ids(r).map(|id| if elements.is_dead(id) { DEAD } else { elements.count(id) }),
        );
        let mut others = elements.places.size() > 0;
        others &= kept.iter().any(|k| *k);
        let members: Vec<usize> =
            if others { (0..n).filter(|&p| kept[p]).collect() } else { Vec::new() };
        for weight in self.weights.iter_mut().filter(|w| **w != DEAD) {
            *weight = weight.saturating_add(own).min(DEAD - 1);
        }
        let weights = &mut self.weights;
        elements.places.each_subset(n, &members, &mut |slot| {
            if weights[slot] != DEAD {
                weights[slot] -= own;
            }
        });
        for count in self.weights.iter_mut().filter(|w| **w != DEAD) {
            *count = weight(*count, k);
        }
    }

    /// What position `p` adds to those inside, and how many dead sets.
    fn value(&self, places: &Places, n: usize, p: usize, inside: &[usize]) -> (u64, u32) {
        let (mut gain, mut bars) = (ITEM, 0);
        places.each_with(n, p, inside, &mut |slot, others| {
            if !others.is_empty() {
                match self.weights[slot] {
                    DEAD => bars += 1,
                    weight => gain += u64::from(weight),
                }
            }
        });
        (gain, bars)
    }

    fn remove_until_allowed(&mut self, places: &Places, n: usize) {
        self.gain.clear();
        self.gain.resize(n, ITEM);
        self.bars.clear();
        self.bars.resize(n, 0);
        let (mut gain, mut bars) = (std::mem::take(&mut self.gain), std::mem::take(&mut self.bars));
        for (i, &p) in self.inside.iter().enumerate() {
            places.each_with(n, p, &self.inside[i + 1..], &mut |slot, others| {
                if others.is_empty() {
                    return;
                }
                let weight = self.weights[slot];
                for &q in others.iter().chain([&p]) {
                    if weight == DEAD {
                        bars[q] += 1;
                    } else {
                        gain[q] += u64::from(weight);
                    }
                }
            });
        }
        while let Some(at) = worst(&self.inside, &gain, &bars) {
            let p = self.inside.remove(at);
            places.each_with(n, p, &self.inside, &mut |slot, others| {
                if others.is_empty() {
                    return;
                }
                let weight = self.weights[slot];
                for &q in others {
                    if weight == DEAD {
                        bars[q] -= 1;
                    } else {
                        gain[q] -= u64::from(weight);
                    }
                }
            });
        }
        (self.gain, self.bars) = (gain, bars);
    }

    /// Adds what fits, the greatest gain first.
    fn add(&mut self, places: &Places, n: usize) {
        loop {
            let outside = self.live.iter().copied().filter(|p| !self.inside.contains(p));
            let fits = outside
                .map(|p| (self.value(places, n, p, &self.inside), p))
                .filter(|((_, bars), _)| *bars == 0)
                .max_by_key(|((gain, _), p)| (*gain, std::cmp::Reverse(*p)));
            let Some((_, p)) = fits else { return };
            self.inside.push(p);
            self.inside.sort_unstable();
        }
    }

    /// Replaces one item by another where only this one bars it and more is
    /// gained than lost.
    fn swap(&mut self, n: usize) {
        for _ in 0..n {
            let mut best: Option<(u64, usize, usize)> = None;
            for &p in self.live.iter().filter(|p| !self.inside.contains(p)) {
                let (mut gain, mut barrier, mut bars) = (ITEM, 0, 0);
                for &q in &self.inside {
                    match self.weights[Places::pair(n, p, q)] {
                        DEAD => (barrier, bars) = (q, bars + 1),
                        weight => gain += u64::from(weight),
                    }
                    if bars > 1 {
                        break;
                    }
                }
                if bars != 1 {
                    continue;
                }
                let rest = self.inside.iter().filter(|&&q| q != barrier);
                let lost: u64 =
                    rest.map(|&q| u64::from(self.weights[Places::pair(n, barrier, q)])).sum();
                let won = gain.saturating_sub(lost + ITEM);
                if won > 0 && best.is_none_or(|(most, _, _)| won > most) {
                    best = Some((won, barrier, p));
                }
            }
            let Some((_, out, into)) = best else { return };
            self.inside.retain(|&p| p != out);
            self.inside.push(into);
            self.inside.sort_unstable();
            self.add_pairs(n);
        }
    }

    /// [`add`](Self::add) for pairs, after a swap has made room.
    fn add_pairs(&mut self, n: usize) {
        loop {
            let inside = &self.inside;
            let value = |p: usize| {
                let mut gain = 0;
                for &q in inside {
                    match self.weights[Places::pair(n, p, q)] {
                        DEAD => return None,
                        weight => gain += u64::from(weight),
                    }
                }
                Some((gain, std::cmp::Reverse(p)))
            };
            let outside = self.live.iter().copied().filter(|p| !inside.contains(p));
            let Some((_, std::cmp::Reverse(p))) = outside.filter_map(value).max() else { return };
            self.inside.push(p);
            self.inside.sort_unstable();
        }
    }
}

/// The place in `inside` of the item with the least gain per dead set.
fn worst(inside: &[usize], gain: &[u64], bars: &[u32]) -> Option<usize> {
    let barred = (0..inside.len()).filter(|&i| bars[inside[i]] > 0);
    barred.min_by(|&a, &b| {
        let (p, q) = (inside[a], inside[b]);
        let left = u128::from(gain[p]) * u128::from(bars[q]);
        let right = u128::from(gain[q]) * u128::from(bars[p]);
        // Of equal ones the last by text goes.
        left.cmp(&right).then(q.cmp(&p))
    })
}

/// Whether the members of a row keep a dead set.
pub(super) fn keeps_dead(elements: &Elements, r: usize, n: usize, members: &[usize]) -> bool {
    let mut found = false;
    elements.places.each_subset(n, members, &mut |slot| {
        let id = elements.id(r, slot);
        found |= id == NEVER || elements.dead[id as usize];
    });
    found
}
