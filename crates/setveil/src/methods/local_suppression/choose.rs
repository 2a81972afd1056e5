//! What one record keeps: as many pairs as possible without a dead set.
//!
//! Sets of items have weights. Items are removed, each time the one that loses
//! least weight for the dead sets that go with it, until no dead set is left;
//! then whatever fits comes back. Where only pairs count, [`Clique`] does this
//! and swaps items as well. Weights are whole numbers and ties go to the first
//! item by text, so the choice depends on the content and the counts alone.

use super::elements::Elements;
use super::pairs::Clique;
use super::subsets::Places;
use crate::data::{ItemId, Wanted};

/// The weight of a set that is kept far more than k times.
const FULL: u64 = 1024;
/// The weight of an item by itself.
pub(super) const ITEM: u64 = 128;
/// How many times as much a pair weighs that shall stay together, by its weight.
const WANTED: u32 = 16;
/// A set that must not be kept.
pub(super) const DEAD: u32 = u32::MAX;

/// What a set is worth to somebody who could be one of some that keep it.
/// Sets that just reach k are worth most: whoever gives one up may take it from
/// all others.
pub(super) struct Worth(Vec<u32>);

impl Worth {
    pub(super) fn new(k: u32) -> Self {
        let k = u64::from(k);
        let worth = |count: u64| match count.checked_sub(k) {
            None => (FULL * 3 / 10 + FULL * count / k).min(FULL) as u32,
            Some(above) => (FULL + FULL * (k - above) * (k - above) / (k * k)) as u32,
        };
        // From twice k on it stays the same.
        Self((0..=2 * k).map(worth).collect())
    }

    fn of(&self, count: u32) -> u32 {
        self.0[(count as usize).min(self.0.len() - 1)]
    }
}

/// A row that chooses: its items, the numbers of its subsets, how many records
/// it stands for, and what it keeps now.
pub(super) struct Voter<'a> {
    pub(super) items: &'a [ItemId],
    pub(super) ids: &'a [u32],
    pub(super) own: u32,
    pub(super) kept: &'a [bool],
}

/// Arrays that are used again from record to record.
#[derive(Default)]
pub(super) struct Chooser {
    /// Per slot of the row: its weight or `DEAD`.
    weights: Vec<u32>,
    /// Positions that are in, ascending.
    inside: Vec<usize>,
    clique: Clique,
    pub(super) kept: Vec<bool>,
}

impl Chooser {
    /// Chooses for a row. The answer is in `self.kept`.
    pub(super) fn choose(
        &mut self,
        elements: &Elements,
        voter: &Voter,
        worth: &Worth,
        wanted: &Wanted,
    ) {
        let (places, n) = (&elements.places, voter.kept.len());
        self.weigh(elements, voter, worth);
        if !wanted.is_empty() && places.size() > 1 {
            self.prefer(voter.items, wanted);
        }
        if places.size() == 2 {
            let mut inside = std::mem::take(&mut self.inside);
            self.clique.choose(&self.weights, n, &mut inside);
            self.inside = inside;
        } else {
            self.inside.clear();
            self.inside.extend((0..n).filter(|&p| self.weights[p] != DEAD));
            self.remove_until_allowed(places, n);
            self.add(places, n);
        }
        if self.inside.len() < 2 {
            // Alone, the item that most others keep.
            let count = |p: &usize| elements.count(voter.ids[*p]);
            let live = (0..n).filter(|&p| self.weights[p] != DEAD);
            let most = live.max_by_key(|p| (count(p), std::cmp::Reverse(*p)));
            self.inside.clear();
            self.inside.extend(most);
        }
        self.kept.clear();
        self.kept.resize(n, false);
        self.inside.iter().for_each(|&p| self.kept[p] = true);
    }

    /// Looks up the weight of every subset: what it would be worth if this row
    /// kept it.
    fn weigh(&mut self, elements: &Elements, voter: &Voter, worth: &Worth) {
        let (kept, own) = (voter.kept, voter.own);
        let weigh = |id: u32, counted: bool| {
            let count = elements.live_count(id);
            // What it keeps now, it has been counted for.
            count.map_or(DEAD, |count| worth.of(count + if counted { 0 } else { own }))
        };
        self.weights.clear();
        if elements.places.size() == 2 {
            let (items, mut rest) = voter.ids.split_at(kept.len());
            self.weights.extend(items.iter().zip(kept).map(|(&id, &kept)| weigh(id, kept)));
            for high in 1..kept.len() {
                let (pairs, others) = rest.split_at(high);
                let both = pairs.iter().zip(kept);
                self.weights.extend(both.map(|(&id, &low)| weigh(id, low && kept[high])));
                rest = others;
            }
            return;
        }
        self.weights.extend(voter.ids.iter().map(|&id| weigh(id, false)));
        let (now, weights) = (&mut self.inside, &mut self.weights);
        now.clear();
        now.extend((0..kept.len()).filter(|&p| kept[p]));
        elements.places.each_subset(kept.len(), now, &mut |slot| {
            weights[slot] = weigh(voter.ids[slot], true);
        });
    }

    /// Pairs that shall stay together weigh more.
    fn prefer(&mut self, items: &[ItemId], wanted: &Wanted) {
        let mut some: Vec<usize> = Vec::new();
        for p in (0..items.len()).filter(|&p| !wanted.sets_of(items[p]).is_empty()) {
            for &q in &some {
                let weight = &mut self.weights[Places::pair(items.len(), q, p)];
                if *weight != DEAD {
                    *weight *= (wanted.together(items[q], items[p]) * WANTED).max(1);
                }
            }
            some.push(p);
        }
    }

    fn remove_until_allowed(&mut self, places: &Places, n: usize) {
        let (mut gain, mut bars) = (vec![ITEM; n], vec![0_u32; n]);
        for (i, &p) in self.inside.iter().enumerate() {
            places.each_with(n, p, &self.inside[i + 1..], &mut |slot, others| {
                if others.is_empty() {
                    return;
                }
                for &q in others.iter().chain([&p]) {
                    match self.weights[slot] {
                        DEAD => bars[q] += 1,
                        weight => gain[q] += u64::from(weight),
                    }
                }
            });
        }
        while let Some(at) = worst(&self.inside, &gain, &bars) {
            let p = self.inside.remove(at);
            places.each_with(n, p, &self.inside, &mut |slot, others| {
                for &q in others {
                    match self.weights[slot] {
                        DEAD => bars[q] -= 1,
                        weight => gain[q] -= u64::from(weight),
                    }
                }
            });
        }
    }

    /// Adds what fits, the greatest gain first.
    fn add(&mut self, places: &Places, n: usize) {
        loop {
            let live = (0..n).filter(|&p| self.weights[p] != DEAD);
            let outside = live.filter(|p| self.inside.binary_search(p).is_err());
            let fits = outside.filter_map(|p| Some((self.gain_of(places, n, p)?, p)));
            let best = fits.max_by_key(|(gain, p)| (*gain, std::cmp::Reverse(*p)));
            let Some((_, p)) = best else { return };
            self.inside.push(p);
            self.inside.sort_unstable();
        }
    }

    /// What position `p` adds to those inside; none if a dead set comes with it.
    fn gain_of(&self, places: &Places, n: usize, p: usize) -> Option<u64> {
        let (mut gain, mut dead) = (0, false);
        places.each_with(n, p, &self.inside, &mut |slot, _| match self.weights[slot] {
            DEAD => dead = true,
            weight => gain += u64::from(weight),
        });
        (!dead).then_some(gain)
    }
}

/// The place in `inside` of the item with the least gain per dead set; of equal
/// ones the last by text.
fn worst(inside: &[usize], gain: &[u64], bars: &[u32]) -> Option<usize> {
    let barred = (0..inside.len()).filter(|&i| bars[inside[i]] > 0);
    barred.reduce(|a, b| {
        let (p, q) = (inside[a], inside[b]);
        let left = u128::from(gain[p]) * u128::from(bars[q]);
        let right = u128::from(gain[q]) * u128::from(bars[p]);
        if right <= left { b } else { a }
    })
}
