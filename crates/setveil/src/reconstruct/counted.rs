//! Placements counted, where plain draws do not fill every slot.
//!
//! With `c` slots filled, a part of n pieces fills d new ones in
//! C(c, n-d) C(s-c, d) ways (times the orders of its pieces, which are the
//! same for every d), so a table over (part, filled slots) gives the
//! probability of each d. All terms are positive: nothing cancels, unlike in
//! the inclusion-exclusion sum over empty slots.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::cover::{Cover, Placement};

/// The most sums that are worth their time for one cluster: about a fifth of a
/// second. Sensible clusters need a thousandth of it.
const WORK: usize = 1 << 24;

/// How many ways there are to go on.
pub(super) struct Counts<'a> {
    cover: &'a Cover,
    ln: LnFactorials,
    /// `ways[i][c]`: the logarithm of how many ways the steps i.. fill what is
    /// open when c slots are filled.
    ways: Vec<Vec<f64>>,
}

impl<'a> Counts<'a> {
    /// Counts the placements, unless that is too much work.
    pub(super) fn new(cover: &'a Cover) -> Option<Self> {
        let slots = cover.filled.len();
        let steps = cover.parts.len() + cover.terms;
        if work(cover) > WORK {
            return None;
        }
        let ln = LnFactorials::new(slots);
        let mut counts =
            Self { cover, ln, ways: vec![vec![f64::NEG_INFINITY; slots + 1]; steps + 1] };
        counts.ways[steps][slots] = 0.0;
        for step in (0..steps).rev() {
            for c in 0..=slots {
                counts.ways[step][c] = ln_sum(&counts.choices(step, c));
            }
        }
        Some(counts)
    }

    /// Draws a placement; one must exist.
    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> Placement {
        let slots = 0..self.cover.filled.len() as u32;
        let is_full = |slot: &u32| self.cover.filled[*slot as usize];
        let (mut full, mut open): (Vec<u32>, Vec<u32>) = slots.partition(is_full);
        let mut placement = Placement::default();
        for step in 0..self.ways.len() - 1 {
            let new = pick_ln(&self.choices(step, full.len()), rng);
            let old = self.in_full_slots(step, new, full.len(), rng);
            let mut chosen = full.partial_shuffle(rng, old).0.to_vec();
            open.shuffle(rng);
            for _ in 0..new {
                let slot = open.pop().expect("at most as many as are open");
                chosen.push(slot);
                full.push(slot);
            }
            // Which piece goes where is uniform too.
            chosen.shuffle(rng);
            placement.push(chosen);
        }
        debug_assert!(open.is_empty());
        placement
    }

    /// How many of a step's pieces go where something is already, if `new` do not.
    fn in_full_slots(&self, step: usize, new: usize, full: usize, rng: &mut ChaCha8Rng) -> usize {
        match self.cover.parts.get(step) {
            Some(n) => n - new,
            None => {
                let least = usize::from(new == 0);
                let most = (self.cover.cap - new).min(full);
                let weights: Vec<f64> =
                    (least..=most).map(|old| self.ln.choose(full, old)).collect();
                least + pick_ln(&weights, rng)
            }
        }
    }

    /// The logarithms of the numbers of ways in which `step` fills 0, 1, ...
    /// new slots when `c` are filled, completions included.
    fn choices(&self, step: usize, c: usize) -> Vec<f64> {
        let (slots, after) = (self.cover.filled.len(), &self.ways[step + 1]);
        let part = self.cover.parts.get(step);
        let most = part.copied().unwrap_or(self.cover.cap).min(slots - c);
        let ways = |new: usize| {
            if after[c + new] == f64::NEG_INFINITY {
                return f64::NEG_INFINITY;
            }
            let old = match part {
                Some(&n) => self.ln.choose(c, n - new),
                None => self.ln.choose_sum(c, usize::from(new == 0), self.cover.cap - new),
            };
            self.ln.choose(slots - c, new) + old + after[c + new]
        };
        (0..=most).map(ways).collect()
    }
}

/// How many sums counting takes.
fn work(cover: &Cover) -> usize {
    let slots = cover.filled.len();
    // Where a term may be anywhere, the inner sum is a power of two.
    let inner = if cover.cap >= slots { 1 } else { cover.cap };
    let terms = cover.terms.saturating_mul(cover.cap).saturating_mul(inner);
    let sums = cover.parts.iter().fold(terms, |sum, &n| sum.saturating_add(n + 1));
    sums.saturating_mul(slots)
}

/// An index, with probability proportional to the exponential of its weight.
pub(super) fn pick_ln(weights: &[f64], rng: &mut ChaCha8Rng) -> usize {
    let top = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = weights.iter().map(|w| (w - top).exp()).sum();
    let mut left = rng.random::<f64>() * total;
    for (i, w) in weights.iter().enumerate() {
        left -= (w - top).exp();
        if left < 0.0 {
            return i;
        }
    }
    // Rounding may leave a crumb: the last possible one takes it.
    weights.iter().rposition(|w| *w > f64::NEG_INFINITY).unwrap_or(0)
}

fn ln_sum(terms: &[f64]) -> f64 {
    let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln()
}

/// Logarithms of factorials.
pub(super) struct LnFactorials(Vec<f64>);

impl LnFactorials {
    pub(super) fn new(most: usize) -> Self {
        let mut table = vec![0.0];
        for n in 1..=most {
            table.push(table[n - 1] + (n as f64).ln());
        }
        Self(table)
    }

    pub(super) fn choose(&self, n: usize, r: usize) -> f64 {
        if r > n { f64::NEG_INFINITY } else { self.0[n] - self.0[r] - self.0[n - r] }
    }

    /// The logarithm of the sum of C(n, r) for `from <= r <= to`.
    fn choose_sum(&self, n: usize, from: usize, to: usize) -> f64 {
        if to >= n && from <= 1 {
            let all = n as f64 * std::f64::consts::LN_2;
            return if from == 0 { all } else { all + (-(-all).exp()).ln_1p() };
        }
        let terms: Vec<f64> = (from..=to.min(n)).map(|r| self.choose(n, r)).collect();
        ln_sum(&terms)
    }
}
