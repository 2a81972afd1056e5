//! Uniform placements that leave no slot empty.
//!
//! Given s slots, some of them filled already, parts of n_i pieces (each part
//! puts its pieces into distinct slots) and terms (each goes into 1..=cap
//! slots): draw uniformly among all placements that fill every slot.
//!
//! A plain draw that fills every slot is such a placement, and most clusters
//! accept one of the first few. Where they do not, placements are counted:
//! with `c` slots filled, a part of n pieces fills d new ones in
//! C(c, n-d) C(s-c, d) ways (times the orders of its pieces, which are the
//! same for every d), so a table over (part, filled slots) gives the
//! probability of each d. All terms are positive: nothing cancels, unlike in
//! the inclusion-exclusion sum over empty slots.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Plain draws before counting.
const DRAWS: usize = 16;
/// The largest number of slots for which placements are counted; above it
/// (far beyond sensible cluster sizes) an incomplete draw is repaired and no
/// longer exactly uniform.
const COUNTED: usize = 2048;

/// The problem.
#[derive(Clone, Debug)]
pub(super) struct Cover {
    /// Which slots are filled from the start; as many as there are slots.
    pub(super) filled: Vec<bool>,
    /// The number of pieces of each part.
    pub(super) parts: Vec<usize>,
    /// How many terms there are.
    pub(super) terms: usize,
    /// In how many slots a term may be.
    pub(super) cap: usize,
}

/// A solution.
#[derive(Clone, Debug, Default)]
pub(super) struct Placement {
    /// For each part, the slot of each of its pieces.
    pub(super) parts: Vec<Vec<usize>>,
    /// For each term, its slots.
    pub(super) terms: Vec<Vec<usize>>,
}

impl Cover {
    /// Whether a placement exists.
    pub(super) fn feasible(&self) -> bool {
        let slots = self.filled.len();
        let open = self.filled.iter().filter(|f| !**f).count();
        let pieces: usize = self.parts.iter().sum::<usize>() + self.terms * self.cap;
        self.parts.iter().all(|&n| n <= slots)
            && (self.terms == 0 || (1..=slots).contains(&self.cap))
            && pieces >= open
    }

    /// Draws a placement; one must exist.
    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> Placement {
        debug_assert!(self.feasible());
        for _ in 0..DRAWS {
            let placement = self.plain(rng);
            if self.open_slots(&placement).is_empty() {
                return placement;
            }
        }
        if self.filled.len() <= COUNTED { self.counted(rng) } else { self.repaired(rng) }
    }

    fn plain(&self, rng: &mut ChaCha8Rng) -> Placement {
        let slots = self.filled.len();
        let mut order: Vec<usize> = (0..slots).collect();
        let parts = self.parts.iter().map(|&n| order.partial_shuffle(rng, n).0.to_vec()).collect();
        let ln = LnFactorials::new(if self.cap > 1 && self.cap < slots { slots } else { 0 });
        let terms = (0..self.terms)
            .map(|_| match self.cap {
                1 => vec![rng.random_range(0..slots)],
                cap if cap >= slots => any_subset(slots, rng),
                cap => {
                    let weights: Vec<f64> = (1..=cap).map(|c| ln.choose(slots, c)).collect();
                    let count = 1 + pick_ln(&weights, rng);
                    order.partial_shuffle(rng, count).0.to_vec()
                }
            })
            .collect();
        Placement { parts, terms }
    }

    fn open_slots(&self, placement: &Placement) -> Vec<usize> {
        let mut filled = self.filled.clone();
        for &slot in placement.parts.iter().chain(&placement.terms).flatten() {
            filled[slot] = true;
        }
        (0..filled.len()).filter(|&slot| !filled[slot]).collect()
    }

    /// Draws by counting completions.
    fn counted(&self, rng: &mut ChaCha8Rng) -> Placement {
        let slots = self.filled.len();
        let ln = LnFactorials::new(slots);
        let steps = self.parts.len() + self.terms;
        // ways[i][c]: the logarithm of how many ways steps i.. fill what is
        // open when c slots are filled.
        let mut ways = vec![vec![f64::NEG_INFINITY; slots + 1]; steps + 1];
        ways[steps][slots] = 0.0;
        for step in (0..steps).rev() {
            for c in 0..=slots {
                let options = self.choices(step, c, &ln, &ways[step + 1]);
                ways[step][c] = ln_sum(&options);
            }
        }
        let mut full: Vec<usize> = (0..slots).filter(|&s| self.filled[s]).collect();
        let mut open: Vec<usize> = (0..slots).filter(|&s| !self.filled[s]).collect();
        let mut placement = Placement::default();
        for step in 0..steps {
            let options = self.choices(step, full.len(), &ln, &ways[step + 1]);
            let new = pick_ln(&options, rng);
            let old = match self.parts.get(step) {
                Some(n) => n - new,
                None => {
                    let least = usize::from(new == 0);
                    let most = (self.cap - new).min(full.len());
                    let weights: Vec<f64> =
                        (least..=most).map(|o| ln.choose(full.len(), o)).collect();
                    least + pick_ln(&weights, rng)
                }
            };
            let mut chosen = full.partial_shuffle(rng, old).0.to_vec();
            open.shuffle(rng);
            for _ in 0..new {
                let slot = open.pop().expect("at most as many as are open");
                chosen.push(slot);
                full.push(slot);
            }
            // Which piece goes where is uniform too.
            chosen.shuffle(rng);
            if step < self.parts.len() {
                placement.parts.push(chosen);
            } else {
                placement.terms.push(chosen);
            }
        }
        debug_assert!(open.is_empty());
        placement
    }

    /// The logarithms of the numbers of ways in which `step` fills 0, 1, ...
    /// new slots when `c` are filled, completions included.
    fn choices(&self, step: usize, c: usize, ln: &LnFactorials, after: &[f64]) -> Vec<f64> {
        let slots = self.filled.len();
        let most = match self.parts.get(step) {
            Some(&n) => n.min(slots - c),
            None => self.cap.min(slots - c),
        };
        (0..=most)
            .map(|new| {
                if after[c + new] == f64::NEG_INFINITY {
                    return f64::NEG_INFINITY;
                }
                let old = match self.parts.get(step) {
                    Some(&n) => ln.choose(c, n - new),
                    None => ln.choose_sum(c, usize::from(new == 0), self.cap - new),
                };
                ln.choose(slots - c, new) + old + after[c + new]
            })
            .collect()
    }

    /// A plain draw whose open slots receive what is there twice.
    fn repaired(&self, rng: &mut ChaCha8Rng) -> Placement {
        let mut placement = self.plain(rng);
        let mut open = self.open_slots(&placement);
        for terms in &mut placement.terms {
            while terms.len() < self.cap && !open.is_empty() {
                terms.extend(open.pop());
            }
        }
        let mut load: Vec<usize> = self.filled.iter().map(|&f| usize::from(f)).collect();
        for &slot in placement.parts.iter().chain(&placement.terms).flatten() {
            load[slot] += 1;
        }
        for slot in placement.parts.iter_mut().chain(&mut placement.terms).flatten() {
            if load[*slot] > 1 {
                let Some(to) = open.pop() else { break };
                load[*slot] -= 1;
                load[to] += 1;
                *slot = to;
            }
        }
        debug_assert!(open.is_empty());
        placement
    }
}

/// A uniformly drawn non-empty subset.
fn any_subset(slots: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    loop {
        let chosen: Vec<usize> = (0..slots).filter(|_| rng.random::<bool>()).collect();
        if !chosen.is_empty() {
            return chosen;
        }
    }
}

/// An index, with probability proportional to the exponential of its weight.
fn pick_ln(weights: &[f64], rng: &mut ChaCha8Rng) -> usize {
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
struct LnFactorials(Vec<f64>);

impl LnFactorials {
    fn new(most: usize) -> Self {
        let mut table = vec![0.0];
        for n in 1..=most {
            table.push(table[n - 1] + (n as f64).ln());
        }
        Self(table)
    }

    fn choose(&self, n: usize, r: usize) -> f64 {
        if r > n { f64::NEG_INFINITY } else { self.0[n] - self.0[r] - self.0[n - r] }
    }

    /// The logarithm of the sum of C(n, r) for `from <= r <= to`.
    fn choose_sum(&self, n: usize, from: usize, to: usize) -> f64 {
        let terms: Vec<f64> = (from..=to.min(n)).map(|r| self.choose(n, r)).collect();
        ln_sum(&terms)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::SeedableRng;

    use super::*;

    /// Every placement of pieces that are told apart, by brute force.
    fn enumerate(cover: &Cover) -> Vec<Placement> {
        let slots = cover.filled.len();
        let mut all = vec![Placement::default()];
        for &n in &cover.parts {
            let mut next = Vec::new();
            for p in &all {
                for code in 0..slots.pow(n as u32) {
                    let chosen: Vec<usize> =
                        (0..n).map(|i| code / slots.pow(i as u32) % slots).collect();
                    if (0..n).all(|i| !chosen[..i].contains(&chosen[i])) {
                        let mut p = p.clone();
                        p.parts.push(chosen);
                        next.push(p);
                    }
                }
            }
            all = next;
        }
        for _ in 0..cover.terms {
            let subsets = (1_usize..1 << slots)
                .map(|mask| (0..slots).filter(|s| mask >> s & 1 == 1).collect::<Vec<_>>())
                .filter(|chosen| chosen.len() <= cover.cap);
            let subsets: Vec<_> = subsets.collect();
            all = all
                .iter()
                .flat_map(|p| {
                    subsets.iter().map(|chosen| {
                        let mut p = p.clone();
                        p.terms.push(chosen.clone());
                        p
                    })
                })
                .collect();
        }
        all.retain(|p| cover.open_slots(p).is_empty());
        all
    }

    fn key(mut placement: Placement) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
        placement.terms.iter_mut().for_each(|t| t.sort_unstable());
        (placement.parts, placement.terms)
    }

    /// Counts stay within 5.5 standard deviations of the uniform share. Over
    /// the at most 4,000 cells below, a fair sampler fails with probability
    /// below 0.001 (and the seed is fixed).
    #[test]
    fn both_ways_of_drawing_are_uniform() {
        let cases = [
            (vec![false; 3], vec![2, 1], 0, 0),
            (vec![false; 4], vec![2, 2], 0, 0),
            (vec![false; 3], vec![1], 2, 3),
            (vec![false; 4], vec![2], 2, 1),
            (vec![true, false, false, true], vec![1, 2], 1, 2),
            (vec![false; 4], vec![1], 1, 4),
        ];
        for (filled, parts, terms, cap) in cases {
            let cover = Cover { filled, parts, terms, cap };
            assert!(cover.feasible());
            let worlds = enumerate(&cover);
            let mut rng = ChaCha8Rng::seed_from_u64(7);
            for counted in [false, true] {
                let draws = worlds.len() * 200;
                let mut seen = BTreeMap::new();
                for _ in 0..draws {
                    let drawn =
                        if counted { cover.counted(&mut rng) } else { cover.draw(&mut rng) };
                    assert!(cover.open_slots(&drawn).is_empty());
                    *seen.entry(key(drawn)).or_insert(0_u32) += 1;
                }
                for world in worlds.clone() {
                    let count = seen.remove(&key(world)).unwrap_or(0);
                    let deviation = (f64::from(count) - 200.0).abs() / 200_f64.sqrt();
                    assert!(deviation < 5.5, "{cover:?}, counted {counted}: {count}");
                }
                assert!(seen.is_empty(), "{cover:?}: drew what is no placement: {seen:?}");
            }
        }
    }

    #[test]
    fn tight_clusters_are_filled_whatever_their_size() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for (slots, parts, terms, cap) in [
            (50, vec![25, 25], 0, 0),
            (50, vec![20, 10], 20, 1),
            (60, vec![7], 1, 60),
            (3000, vec![1500, 1500], 0, 0),
            (3000, vec![100], 2, 1450),
        ] {
            let cover = Cover { filled: vec![false; slots], parts, terms, cap };
            assert!(cover.feasible());
            let placement = cover.draw(&mut rng);
            assert!(cover.open_slots(&placement).is_empty());
            for chosen in placement.parts.iter().chain(&placement.terms) {
                let mut distinct = chosen.clone();
                distinct.sort_unstable();
                distinct.dedup();
                assert_eq!(distinct.len(), chosen.len());
            }
            assert!(placement.terms.iter().all(|t| (1..=cap).contains(&t.len())));
        }
    }
}
