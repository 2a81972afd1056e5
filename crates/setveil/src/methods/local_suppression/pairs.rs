//! The choice of one record where only pairs count (m = 2, and the first step
//! for a greater m): the best clique that greedy removal, adding and swapping
//! find.
//!
//! For every live position its gain and its dead pairs with those inside are
//! kept up to date, so that a step costs the length of the record.

use super::choose::{DEAD, ITEM};
use super::subsets::Places;

/// Arrays that are used again from record to record.
#[derive(Default)]
pub(super) struct Clique {
    /// Positions that could be in.
    live: Vec<usize>,
    /// Per position: whether it is in, what its pairs with those inside weigh,
    /// and how many of them are dead.
    inside: Vec<bool>,
    gain: Vec<u64>,
    bars: Vec<u32>,
}

impl Clique {
    /// Chooses among the `n` positions with the given weights per slot. The
    /// answer ascends.
    pub(super) fn choose(&mut self, weights: &[u32], n: usize, chosen: &mut Vec<usize>) {
        self.prepare(weights, n);
        while let Some(p) = self.worst() {
            self.toggle(weights, n, p);
        }
        self.add(weights, n);
        // Every swap gains, so this ends; the bound is for records without end.
        for _ in 0..n {
            let Some((out, into)) = self.best_swap(weights, n) else { break };
            self.toggle(weights, n, out);
            self.toggle(weights, n, into);
            self.add(weights, n);
        }
        chosen.clear();
        chosen.extend(self.live.iter().copied().filter(|&p| self.inside[p]));
    }

    /// Everything that is alive is inside.
    fn prepare(&mut self, weights: &[u32], n: usize) {
        self.live.clear();
        self.live.extend((0..n).filter(|&p| weights[p] != DEAD));
        self.inside.clear();
        self.inside.resize(n, false);
        self.gain.clear();
        self.gain.resize(n, ITEM);
        self.bars.clear();
        self.bars.resize(n, 0);
        for (i, &p) in self.live.iter().enumerate() {
            self.inside[p] = true;
            for &q in &self.live[..i] {
                // Nobody can guess which pairs are dead: no branches.
                let weight = weights[Places::pair(n, q, p)];
                let bars = u32::from(weight == DEAD);
                let gain = if weight == DEAD { 0 } else { u64::from(weight) };
                self.bars[p] += bars;
                self.bars[q] += bars;
                self.gain[p] += gain;
                self.gain[q] += gain;
            }
        }
    }

    /// Takes `p` out, or puts it in.
    fn toggle(&mut self, weights: &[u32], n: usize, p: usize) {
        let enters = !self.inside[p];
        self.inside[p] = enters;
        for &q in self.live.iter().filter(|&&q| q != p) {
            match (weights[Places::pair(n, p, q)], enters) {
                (DEAD, true) => self.bars[q] += 1,
                (DEAD, false) => self.bars[q] -= 1,
                (weight, true) => self.gain[q] += u64::from(weight),
                (weight, false) => self.gain[q] -= u64::from(weight),
            }
        }
    }

    /// Of those inside with a dead pair, the one with the least gain per dead
    /// pair; of equal ones the last by text.
    fn worst(&self) -> Option<usize> {
        let barred = self.live.iter().copied().filter(|&p| self.inside[p] && self.bars[p] > 0);
        barred.reduce(|a, b| {
            let left = u128::from(self.gain[a]) * u128::from(self.bars[b]);
            let right = u128::from(self.gain[b]) * u128::from(self.bars[a]);
            if right <= left { b } else { a }
        })
    }

    /// Adds what fits, the greatest gain first.
    fn add(&mut self, weights: &[u32], n: usize) {
        loop {
            let fits = self.live.iter().copied().filter(|&p| !self.inside[p] && self.bars[p] == 0);
            let best = fits.reduce(|a, b| if self.gain[b] > self.gain[a] { b } else { a });
            let Some(p) = best else { return };
            self.toggle(weights, n, p);
        }
    }

    /// One out, one in, where that one alone bars it and more is gained than
    /// lost; the greatest gain, ties by text.
    fn best_swap(&self, weights: &[u32], n: usize) -> Option<(usize, usize)> {
        let mut best: Option<(u64, usize, usize)> = None;
        let barred = |&&p: &&usize| !self.inside[p] && self.bars[p] == 1;
        for &p in self.live.iter().filter(barred) {
            let bars = |&&q: &&usize| self.inside[q] && weights[Places::pair(n, p, q)] == DEAD;
            let out = *self.live.iter().find(bars)?;
            let won = self.gain[p].saturating_sub(self.gain[out]);
            if won > 0 && best.is_none_or(|(most, _, _)| won > most) {
                best = Some((won, out, p));
            }
        }
        best.map(|(_, out, into)| (out, into))
    }
}
