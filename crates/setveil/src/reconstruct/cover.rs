//! Uniform placements that leave no slot empty.
//!
//! Given s slots, some of them filled already, parts of n_i pieces (each part
//! puts its pieces into distinct slots) and terms (each goes into 1..=cap
//! slots): draw uniformly among all placements that fill every slot.
//!
//! A plain draw that fills every slot is such a placement, and most clusters
//! accept one of the first few. Where they do not, placements are counted (see
//! `counted.rs`). Where counting would be too much work, an incomplete draw is
//! repaired and is no longer exactly uniform.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::counted::{Counts, LnFactorials, pick_ln};

/// Plain draws before counting.
const DRAWS: usize = 16;

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

/// A solution: for each part the slot of each of its pieces, then for each
/// term its slots, all in one array.
#[derive(Clone, Debug, Default)]
pub(super) struct Placement {
    slots: Vec<u32>,
    ends: Vec<usize>,
}

impl Placement {
    /// The slots of part `i`, or of term `i` less the number of parts.
    pub(super) fn step(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.slots[start..self.ends[i]]
    }

    /// All parts, then all terms.
    pub(super) fn steps(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.ends.len()).map(|i| self.step(i))
    }

    pub(super) fn push(&mut self, slots: impl IntoIterator<Item = u32>) {
        self.slots.extend(slots);
        self.ends.push(self.slots.len());
    }

    fn clear(&mut self) {
        self.slots.clear();
        self.ends.clear();
    }
}

/// Memory that is used again from cluster to cluster.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// All slots in some order. Any order will do: it is shuffled.
    order: Vec<u32>,
    load: Vec<u32>,
    placement: Placement,
}

impl Cover {
    /// Whether a placement exists.
    pub(super) fn feasible(&self) -> bool {
        let slots = self.filled.len();
        let open = self.filled.iter().filter(|f| !**f).count();
        let terms = self.terms.saturating_mul(self.cap);
        let pieces = self.parts.iter().fold(terms, |sum, &n| sum.saturating_add(n));
        self.parts.iter().all(|&n| n <= slots)
            && (self.terms == 0 || (1..=slots).contains(&self.cap))
            && pieces >= open
    }

    /// Draws a placement; one must exist.
    pub(super) fn draw<'a>(&self, scratch: &'a mut Scratch, rng: &mut ChaCha8Rng) -> &'a Placement {
        debug_assert!(self.feasible());
        let slots = self.filled.len();
        scratch.order.clear();
        scratch.order.extend(0..slots as u32);
        for _ in 0..DRAWS {
            self.plain(scratch, rng);
            if self.fills(scratch) {
                return &scratch.placement;
            }
        }
        match Counts::new(self) {
            Some(counts) => scratch.placement = counts.draw(rng),
            None => self.repair(scratch),
        }
        &scratch.placement
    }

    fn plain(&self, scratch: &mut Scratch, rng: &mut ChaCha8Rng) {
        let Scratch { order, placement, .. } = scratch;
        let slots = self.filled.len();
        placement.clear();
        for &n in &self.parts {
            placement.push(order.partial_shuffle(rng, n).0.iter().copied());
        }
        let between = self.terms > 0 && self.cap > 1 && self.cap < slots;
        let weights = if between { below_cap(slots, self.cap) } else { Vec::new() };
        for _ in 0..self.terms {
            match self.cap {
                1 => placement.push([rng.random_range(0..slots) as u32]),
                cap if cap >= slots => any_subset(slots, placement, rng),
                _ => {
                    let count = 1 + pick_ln(&weights, rng);
                    placement.push(order.partial_shuffle(rng, count).0.iter().copied());
                }
            }
        }
    }

    /// Whether the drawn placement leaves no slot empty; counts what is in each.
    fn fills(&self, scratch: &mut Scratch) -> bool {
        let Scratch { load, placement, .. } = scratch;
        load.clear();
        load.extend(self.filled.iter().map(|&f| u32::from(f)));
        placement.slots.iter().for_each(|&slot| load[slot as usize] += 1);
        load.iter().all(|&pieces| pieces > 0)
    }

    /// Gives the open slots of the last draw what stands elsewhere with
    /// something else: first further occurrences of terms, then moved pieces.
    fn repair(&self, scratch: &mut Scratch) {
        self.fills(scratch);
        let Scratch { load, placement, .. } = scratch;
        let mut open: Vec<u32> =
            (0..load.len() as u32).filter(|&slot| load[slot as usize] == 0).collect();
        let drawn = std::mem::take(placement);
        for (i, slots) in drawn.steps().enumerate() {
            let room = if i < self.parts.len() { 0 } else { self.cap - slots.len() };
            let more = open.split_off(open.len() - room.min(open.len()));
            placement.push(slots.iter().copied().chain(more));
        }
        load.fill(0);
        self.filled.iter().zip(load.iter_mut()).for_each(|(&f, l)| *l = u32::from(f));
        placement.slots.iter().for_each(|&slot| load[slot as usize] += 1);
        for slot in &mut placement.slots {
            if load[*slot as usize] > 1 {
                let Some(to) = open.pop() else { break };
                load[*slot as usize] -= 1;
                load[to as usize] += 1;
                *slot = to;
            }
        }
        debug_assert!(open.is_empty());
    }
}

/// The logarithms of how many ways there are to be in 1, 2, ..., `cap` slots.
fn below_cap(slots: usize, cap: usize) -> Vec<f64> {
    let ln = LnFactorials::new(slots);
    (1..=cap).map(|count| ln.choose(slots, count)).collect()
}

/// A uniformly drawn non-empty subset.
fn any_subset(slots: usize, placement: &mut Placement, rng: &mut ChaCha8Rng) {
    let before = placement.slots.len();
    while placement.slots.len() == before {
        placement.slots.extend((0..slots as u32).filter(|_| rng.random::<bool>()));
    }
    placement.ends.push(placement.slots.len());
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
                    let chosen: Vec<u32> =
                        (0..n).map(|i| (code / slots.pow(i as u32) % slots) as u32).collect();
                    if (0..n).all(|i| !chosen[..i].contains(&chosen[i])) {
                        let mut p = p.clone();
                        p.push(chosen);
                        next.push(p);
                    }
                }
            }
            all = next;
        }
        for _ in 0..cover.terms {
            let subsets = (1_usize..1 << slots)
                .map(|mask| (0..slots as u32).filter(|s| mask >> s & 1 == 1).collect::<Vec<_>>())
                .filter(|chosen| chosen.len() <= cover.cap);
            let subsets: Vec<_> = subsets.collect();
            all = all
                .iter()
                .flat_map(|p| {
                    subsets.iter().map(|chosen| {
                        let mut p = p.clone();
                        p.push(chosen.clone());
                        p
                    })
                })
                .collect();
        }
        all.retain(|p| full(cover, p));
        all
    }

    /// Whether no slot is empty.
    fn full(cover: &Cover, placement: &Placement) -> bool {
        (0..cover.filled.len()).all(|s| cover.filled[s] || placement.slots.contains(&(s as u32)))
    }

    /// Which piece of a part is where matters; a term's slots are a set.
    fn key(cover: &Cover, placement: &Placement) -> Vec<Vec<u32>> {
        let mut steps: Vec<Vec<u32>> = placement.steps().map(<[u32]>::to_vec).collect();
        steps[cover.parts.len()..].iter_mut().for_each(|t| t.sort_unstable());
        steps
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
                    let drawn = if counted {
                        Counts::new(&cover).unwrap().draw(&mut rng)
                    } else {
                        cover.draw(&mut Scratch::default(), &mut rng).clone()
                    };
                    assert!(full(&cover, &drawn));
                    *seen.entry(key(&cover, &drawn)).or_insert(0_u32) += 1;
                }
                for world in worlds.clone() {
                    let count = seen.remove(&key(&cover, &world)).unwrap_or(0);
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
        let mut scratch = Scratch::default();
        for (slots, parts, terms, cap) in [
            (50, vec![25, 25], 0, 0),
            (50, vec![20, 10], 20, 1),
            (60, vec![7], 1, 60),
            (3000, vec![1500, 1500], 0, 0),
            (3000, vec![100], 2, 1450),
            (20_000, vec![10_000, 10_000], 0, 0),
        ] {
            let cover = Cover { filled: vec![false; slots], parts, terms, cap };
            assert!(cover.feasible());
            let parts = cover.parts.len();
            let placement = cover.draw(&mut scratch, &mut rng);
            assert!(full(&cover, placement));
            for chosen in placement.steps() {
                let mut distinct = chosen.to_vec();
                distinct.sort_unstable();
                distinct.dedup();
                assert_eq!(distinct.len(), chosen.len());
            }
            assert!(placement.steps().skip(parts).all(|t| (1..=cap).contains(&t.len())));
        }
    }
}
