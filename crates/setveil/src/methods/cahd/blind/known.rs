//! The Q-step: divides a part by the non-sensitive items of its records into
//! parts of at least a given size. It has no way to who holds what, and that is
//! what the proof in [`blind`](super) rests on.
//!
//! Invariants: parts ascend in the band order; nothing but the records of the
//! part, their order and the least size decides; integers only.

use crate::methods::sensitive::Rows;

/// Up to this many times the least size, parts are formed around their longest
/// records; larger parts are cut in two first.
const CLUSTERED: usize = 16;
/// At most this many records are asked which item tells the most about the others.
const ASKED: usize = 1 << 12;
/// A cut takes away at least one in so many records, so that cuts stay linear together.
const NARROW: usize = 64;

/// What anybody may know: the non-sensitive items of the records in the band order.
pub(super) struct Known<'a> {
    qid: &'a Rows,
    order: &'a [u32],
}

/// Memory that is used again: zero or empty between steps.
pub(super) struct Scratch {
    count: Vec<u32>,
    sampled: Vec<u32>,
    pairs: Vec<u32>,
    slot: Vec<u32>,
    touched: Vec<u32>,
    near: Vec<u128>,
    side: Vec<u32>,
}

impl Scratch {
    /// For items below `columns`.
    pub(super) fn new(columns: usize) -> Self {
        Self {
            count: vec![0; columns],
            sampled: vec![0; columns],
            pairs: vec![0; columns],
            slot: vec![0; columns],
            touched: Vec::new(),
            near: Vec::new(),
            side: Vec::new(),
        }
    }
}

impl<'a> Known<'a> {
    pub(super) fn new(qid: &'a Rows, order: &'a [u32]) -> Self {
        Self { qid, order }
    }

    fn items(&self, place: u32) -> &'a [u32] {
        self.qid.row(self.order[place as usize] as usize)
    }

    /// Rearranges `places`, of which there are at least twice `least`, into
    /// parts of at least `least` and returns their sizes.
    pub(super) fn divide(
        &self,
        places: &mut [u32],
        least: usize,
        scratch: &mut Scratch,
    ) -> Vec<usize> {
        let size = places.len();
        if size <= CLUSTERED.saturating_mul(least) {
            return self.cluster(places, least, scratch);
        }
        let first = match self.best_item(places, least.max(size / NARROW), scratch) {
            Some(item) => self.bring_forward(places, item, &mut scratch.side),
            None => self.weakest_link(places, least),
        };
        vec![first, size - first]
    }

    /// The longest record and those most like it are a part, again and again;
    /// what is left at the end is one too.
    fn cluster(&self, places: &mut [u32], least: usize, scratch: &mut Scratch) -> Vec<usize> {
        let mut sizes = Vec::new();
        let mut rest = places;
        while rest.len() >= 2 * least {
            let longest = |&&place: &&u32| (self.items(place).len(), std::cmp::Reverse(place));
            let seed = *rest.iter().max_by_key(longest).expect("there are records");
            self.nearest_first(rest, seed, least, scratch);
            sizes.push(least);
            rest = &mut rest[least..];
        }
        sizes.push(rest.len());
        sizes
    }

    /// Moves `seed` and the records most like it, `least` together, to the front.
    fn nearest_first(&self, places: &mut [u32], seed: u32, least: usize, scratch: &mut Scratch) {
        let own = self.items(seed);
        own.iter().for_each(|&item| scratch.slot[item as usize] = 1);
        scratch.near.clear();
        scratch.near.extend(places.iter().map(|&place| {
            let items = self.items(place);
            let common = items.iter().map(|&item| scratch.slot[item as usize] as usize).sum();
            nearness(common, own.len(), items.len(), place.abs_diff(seed), place)
        }));
        own.iter().for_each(|&item| scratch.slot[item as usize] = 0);
        // The seed is at distance 0 from itself and nothing is nearer.
        let (_, &mut last, _) = scratch.near.select_nth_unstable(least - 1);
        scratch.side.clear();
        let mut chosen: Vec<u32> = scratch.near[..least].iter().map(|&near| near as u32).collect();
        chosen.sort_unstable();
        debug_assert!(chosen.binary_search(&seed).is_ok() && scratch.near[least - 1] == last);
        scratch.side.extend(places.iter().filter(|place| chosen.binary_search(place).is_err()));
        places[..least].copy_from_slice(&chosen);
        places[least..].copy_from_slice(&scratch.side);
    }

    /// The item by which the part is cut: of those that leave at least `least`
    /// records on both sides the one that explains the most of all items.
    ///
    /// With n records, n_i of them with item i and n_ij with both, that is the
    /// largest n / (n_i (n - n_i)) * sum over j of (n_ij - n_i n_j / n)^2.
    fn best_item(&self, places: &[u32], least: usize, scratch: &mut Scratch) -> Option<u32> {
        let Scratch { count, touched, .. } = scratch;
        for &place in places {
            for &item in self.items(place) {
                if count[item as usize] == 0 {
                    touched.push(item);
                }
                count[item as usize] += 1;
            }
        }
        let allowed = least..=places.len().saturating_sub(least);
        let mut candidates: Vec<u32> = touched
            .iter()
            .copied()
            .filter(|&i| allowed.contains(&(count[i as usize] as usize)))
            .collect();
        touched.drain(..).for_each(|item| count[item as usize] = 0);
        candidates.sort_unstable();
        self.most_telling(places, &candidates, scratch)
    }

    /// The candidate with the largest score among the records that are asked;
    /// of equal ones the first.
    fn most_telling(
        &self,
        places: &[u32],
        candidates: &[u32],
        scratch: &mut Scratch,
    ) -> Option<u32> {
        let asked: Vec<u32> =
            places.iter().step_by(places.len().div_ceil(ASKED)).copied().collect();
        for (i, &item) in candidates.iter().enumerate() {
            scratch.slot[item as usize] = i as u32 + 1;
        }
        let mut holders: Vec<Vec<u32>> = vec![Vec::new(); candidates.len()];
        for &place in &asked {
            for &item in self.items(place) {
                if scratch.sampled[item as usize] == 0 {
                    scratch.touched.push(item);
                }
                scratch.sampled[item as usize] += 1;
                if let Some(i) = scratch.slot[item as usize].checked_sub(1) {
                    holders[i as usize].push(place);
                }
            }
        }
        let square = |&item: &u32| u128::from(scratch.sampled[item as usize]).pow(2);
        let squares: u128 = scratch.touched.iter().map(square).sum();
        let mut best: Option<(u128, u32)> = None;
        for (&item, holders) in candidates.iter().zip(&holders) {
            let score = self.score(holders, asked.len(), squares, scratch);
            if score > best.map_or(0, |(score, _)| score) {
                best = Some((score, item));
            }
        }
        candidates.iter().for_each(|&item| scratch.slot[item as usize] = 0);
        scratch.touched.drain(..).for_each(|item| scratch.sampled[item as usize] = 0);
        // Nobody who was asked has a candidate: the first will do.
        best.map(|(_, item)| item).or(candidates.first().copied())
    }

    /// n times the score of the item that `holders` of `n` records have;
    /// `squares` is the sum of n_j^2.
    fn score(&self, holders: &[u32], n: usize, squares: u128, scratch: &mut Scratch) -> u128 {
        let own = holders.len() as u128;
        let n = n as u128;
        if own == 0 || own == n {
            return 0;
        }
        let mut together: Vec<u32> = Vec::new();
        for &place in holders {
            for &item in self.items(place) {
                if scratch.pairs[item as usize] == 0 {
                    together.push(item);
                }
                scratch.pairs[item as usize] += 1;
            }
        }
        let (mut both, mut mixed) = (0, 0);
        for item in together {
            let pair = u128::from(std::mem::take(&mut scratch.pairs[item as usize]));
            both += pair * pair;
            mixed += pair * u128::from(scratch.sampled[item as usize]);
        }
        // n^2 times the sum of squares, written out.
        (n * n * both + own * own * squares - 2 * n * own * mixed) / (own * (n - own))
    }

    /// Moves the records with `item` to the front and returns how many there are.
    fn bring_forward(&self, places: &mut [u32], item: u32, side: &mut Vec<u32>) -> usize {
        side.clear();
        let mut with = 0;
        for i in 0..places.len() {
            let place = places[i];
            if self.items(place).binary_search(&item).is_ok() {
                places[with] = place;
                with += 1;
            } else {
                side.push(place);
            }
        }
        places[with..].copy_from_slice(side);
        with
    }

    /// Where to cut the band order: around its middle between two records with
    /// the fewest items in common, of equal ones nearest to the middle.
    fn weakest_link(&self, places: &[u32], least: usize) -> usize {
        let (size, middle) = (places.len(), places.len() / 2);
        let (low, high) = ((middle - size / 8).max(least), (middle + size / 8).min(size - least));
        let link = |&cut: &usize| {
            let (a, b) = (self.items(places[cut - 1]), self.items(places[cut]));
            let common = a.iter().filter(|item| b.binary_search(item).is_ok()).count();
            (common, cut.abs_diff(middle), cut)
        };
        (low..=high).min_by_key(link).unwrap_or(middle)
    }
}

/// Smaller is nearer: by Jaccard's coefficient, then fewer other items, then
/// the distance in the band order, then the place, which is in the lowest bits.
fn nearness(common: usize, own: usize, length: usize, distance: u32, place: u32) -> u128 {
    let union = own + length - common;
    let unlike = match union {
        0 => 0,
        _ => ((union - common) as u64 * u64::from(u32::MAX)) / union as u64,
    };
    u128::from(unlike) << 96
        | u128::from((length - common) as u32) << 64
        | u128::from(distance) << 32
        | u128::from(place)
}
