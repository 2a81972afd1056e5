//! An attacker who also knows one item that the target does not have. The
//! records with S and without z are those with S less those with S and z.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::{draw, share};
use crate::attack::targets::People;
use crate::data::{Dataset, ItemId, K};
use crate::release::Disassociated;
use crate::worlds::{BodyWorlds, Knowledge};

/// Shares of the targets with fewer than k candidates, on average over the
/// possible worlds, and for certain by bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Negative {
    /// How many targets were examined.
    pub targets: usize,
    /// Without negative knowledge.
    pub few: f64,
    /// In no possible world k candidates, without negative knowledge: the
    /// format guarantee says 0 for up to m known items.
    pub certainly_few: f64,
    /// With one random item that the target does not have.
    pub few_random: f64,
    /// The same for certain.
    pub certainly_few_random: f64,
    /// With the item that most of the candidates have and the target has not.
    pub few_best: f64,
    /// The same for certain.
    pub certainly_few_best: f64,
}

/// Attacks `targets` random records of `data` of which `known` items are known.
pub fn negative(
    body: &Disassociated,
    data: &Dataset,
    (k, known, targets, seed): (K, usize, usize, u64),
) -> Negative {
    let worlds = BodyWorlds::new(body, Knowledge::Format, &()).expect("nobody says stop");
    let people = People::of(data, &body.vocabulary);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let drawn = draw(&people, known, targets, &mut rng);
    let items = body.vocabulary.len() as ItemId;
    let drawn: Vec<(usize, Vec<ItemId>, Option<ItemId>)> = drawn
        .into_iter()
        .map(|(r, set)| {
            let record = people.record(r);
            let lacks = record.len() < items as usize;
            let mut draw = || rng.random_range(0..items);
            let absent = lacks.then(|| {
                std::iter::repeat_with(&mut draw)
                    .find(|z| record.binary_search(z).is_err())
                    .expect("drawing does not end")
            });
            (r, set, absent)
        })
        .collect();
    let found: Vec<[bool; 6]> = drawn
        .par_iter()
        .map(|(r, set, random)| {
            let record = people.record(*r);
            let further = worlds.posterior(set).items.into_iter();
            let absent = further.filter(|(y, _)| record.binary_search(y).is_err());
            let best = absent.reduce(|a, b| if b.1 > a.1 { b } else { a }).map(|(y, _)| y);
            let few = |without: Option<ItemId>| candidates_below(&worlds, set, without, k);
            let [plain, random, best] = [few(None), few(*random), few(best)];
            [plain.0, plain.1, random.0, random.1, best.0, best.1]
        })
        .collect();
    let share = |i: usize| share(found.iter().map(|f| f[i]));
    Negative {
        targets: found.len(),
        few: share(0),
        certainly_few: share(1),
        few_random: share(2),
        certainly_few_random: share(3),
        few_best: share(4),
        certainly_few_best: share(5),
    }
}

/// Whether fewer than k records have `set` and not `without`: on average, and
/// for certain.
fn candidates_below(
    worlds: &BodyWorlds,
    set: &[ItemId],
    without: Option<ItemId>,
    k: K,
) -> (bool, bool) {
    let mut left = worlds.answer(set);
    if let Some(z) = without {
        let mut both = set.to_vec();
        both.push(z);
        both.sort_unstable();
        let both = worlds.answer(&both);
        left.expected -= both.expected;
        left.upper -= both.lower.min(left.upper);
    }
    (left.expected < f64::from(k.get()), left.upper < u64::from(k.get()))
}
