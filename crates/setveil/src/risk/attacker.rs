//! One person, one drawn data set, one attack.

use rand::RngExt;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;

use super::Score;
use super::holders::Holders;
use crate::data::{Dataset, ItemId};

/// So many of the records that hold what is known are looked at for the best
/// guess of a further item: more would not change the guess of an attacker.
pub(super) const LOOKED_AT: usize = 1000;
/// So many of them are picked to see what a picked record discloses.
const PICKED: usize = 16;
/// From this share on, a record is as good as disclosed.
const NEARLY_ALL: f64 = 0.8;

/// A person of whom some items are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The number of the record in the original.
    pub(super) record: usize,
    /// Ascending.
    pub(super) known: Vec<ItemId>,
}

impl Target {
    /// `count` people with at least `known` items. `order` are the records in
    /// an order that does not depend on that of the rows.
    pub(super) fn draw(
        data: &Dataset,
        order: &[u32],
        known: usize,
        count: usize,
        rng: &mut ChaCha8Rng,
    ) -> Vec<Self> {
        let long: Vec<u32> =
            order.iter().copied().filter(|&r| data.record(r as usize).len() >= known).collect();
        if long.is_empty() {
            return Vec::new();
        }
        let one = |_| {
            let record = long[rng.random_range(0..long.len())] as usize;
            let items = data.record(record);
            let mut known: Vec<ItemId> =
                sample(rng, items.len(), known).into_iter().map(|i| items[i]).collect();
            known.sort_unstable();
            Self { record, known }
        };
        (0..count).map(one).collect()
    }

    /// The items of the person that are not known.
    fn further(&self, data: &Dataset) -> Vec<ItemId> {
        let record = data.record(self.record).iter().copied();
        record.filter(|item| self.known.binary_search(item).is_err()).collect()
    }
}

/// How well an attack went, in expectation over which holder is picked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Attempt {
    /// The probability that the picked record is the target's slot.
    pub(super) linking: f64,
    /// Share of the further items in the picked record, and whether it is
    /// nearly all; none if there is no further item.
    pub(super) disclosure: Option<(f64, f64)>,
    /// Whether the best guess is right; none if there is no further item.
    pub(super) inference: Option<f64>,
}

/// Attacks `target` in the data set of `holders`, where what is known was `found`.
pub(super) fn attack(
    original: &Dataset,
    holders: &Holders,
    target: &Target,
    found: &[u32],
    score: &Score,
    (counts, rng): (&mut Counts, &mut ChaCha8Rng),
) -> Attempt {
    let further = target.further(original);
    let linking = score(target.record, &target.known, found);
    if further.is_empty() {
        return Attempt { linking, disclosure: None, inference: None };
    }
    if found.is_empty() {
        // An empty release: nothing is picked and nothing guessed.
        return Attempt { linking, disclosure: Some((0.0, 0.0)), inference: Some(0.0) };
    }
    let seen = sample(rng, found.len(), found.len().min(LOOKED_AT));
    let seen: Vec<u32> = seen.into_iter().map(|i| found[i]).collect();
    let disclosure = disclosure(holders, &seen[..seen.len().min(PICKED)], &further);
    let guess = counts.best_guess(holders, &seen, &target.known);
    let right = guess.is_some_and(|item| further.binary_search(&item).is_ok());
    Attempt { linking, disclosure: Some(disclosure), inference: Some(f64::from(u8::from(right))) }
}

/// The mean share of `further` that the picked records have, and how many of
/// them have nearly all.
fn disclosure(holders: &Holders, picked: &[u32], further: &[ItemId]) -> (f64, f64) {
    let (mut sum, mut nearly) = (0.0, 0.0);
    for &record in picked {
        let had = holders.items(record).filter(|item| further.binary_search(item).is_ok());
        let share = had.count() as f64 / further.len() as f64;
        sum += share;
        nearly += f64::from(u8::from(share > NEARLY_ALL));
    }
    (sum / picked.len() as f64, nearly / picked.len() as f64)
}

/// So many records are fetched from memory at the same time.
const AHEAD: usize = 16;

/// How many records have each item, in an array that is used again.
#[derive(Debug, Default)]
pub(super) struct Counts {
    of: Vec<u32>,
    seen: Vec<ItemId>,
}

impl Counts {
    pub(super) fn new(items: usize) -> Self {
        Self { of: vec![0; items], seen: Vec::new() }
    }

    /// The further item that most of the records have; ties by text.
    fn best_guess(
        &mut self,
        holders: &Holders,
        records: &[u32],
        known: &[ItemId],
    ) -> Option<ItemId> {
        for some in records.chunks(AHEAD) {
            holders.fetch(some);
            for item in some.iter().flat_map(|&record| holders.items(record)) {
                let count = &mut self.of[item as usize];
                if *count == 0 {
                    self.seen.push(item);
                }
                *count += 1;
            }
        }
        let mut best: Option<(u32, ItemId)> = None;
        for item in self.seen.drain(..) {
            let count = std::mem::take(&mut self.of[item as usize]);
            let better =
                best.is_none_or(|(most, first)| count > most || count == most && item < first);
            if better && known.binary_search(&item).is_err() {
                best = Some((count, item));
            }
        }
        best.map(|(_, item)| item)
    }
}
