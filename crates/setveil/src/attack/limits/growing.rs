//! What two releases of growing data say together. Everybody in the first is
//! in the second, each was made on its own, each keeps its promise.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::{draw, share};
use crate::attack::targets::People;
use crate::data::{Dataset, ItemId, K, Vocabulary};
use crate::release::Disassociated;
use crate::worlds::{Answer, BodyWorlds, Knowledge};

/// What an attacker with both releases knows about random targets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Growth {
    /// Targets examined who are in both releases, of whom some items are known.
    pub targets: usize,
    /// Mean number of further items that are possible by the second release.
    pub possible: f64,
    /// Mean number of those that are possible by both.
    pub possible_in_both: f64,
    /// How often the most probable further item of the second release is right.
    pub right: f64,
    /// How often the one with the greatest product of both probabilities is.
    pub right_with_both: f64,
    /// Targets examined who are in the second release only, which is known.
    pub newcomers: usize,
    /// Share of the newcomers with fewer than k candidates by the second
    /// release alone, on average over its possible worlds.
    pub few: f64,
    /// The same if the candidates of the first release are taken off.
    pub few_with_both: f64,
    /// Share of the newcomers with fewer than k candidates for certain, by
    /// bounds: at most the second's upper less the first's lower.
    pub certainly_few: f64,
}

/// The two releases over the second's item numbers.
struct Both<'a> {
    first: BodyWorlds<'a>,
    second: BodyWorlds<'a>,
    /// The first release's numbers of the second's items.
    ids: Vec<Option<ItemId>>,
}

impl<'a> Both<'a> {
    fn new(first: &'a Disassociated, second: &'a Disassociated) -> Self {
        let ids = second.vocabulary.labels().map(|label| first.vocabulary.id(label)).collect();
        let [first, second] = [first, second].map(|body| {
            let worlds = BodyWorlds::new(body, Knowledge::Format, &());
            worlds.expect("nobody says stop")
        });
        Self { first, second, ids }
    }

    fn in_first(&self, itemset: &[ItemId]) -> Option<Vec<ItemId>> {
        let mut ids: Vec<ItemId> =
            itemset.iter().map(|&i| self.ids[i as usize]).collect::<Option<_>>()?;
        ids.sort_unstable();
        Some(ids)
    }

    /// What the first release says; an item that it does not have is in no
    /// record of it.
    fn first(&self, itemset: &[ItemId]) -> Answer {
        self.in_first(itemset).map_or(Answer::NONE, |ids| self.first.answer(&ids))
    }
}

/// Attacks `targets` random people of the first `before` records of `data`,
/// and as many of those that came later, of each of whom `known` items are
/// known.
pub fn growth(
    (first, second): (&Disassociated, &Disassociated),
    (data, before): (&Dataset, usize),
    (k, known, targets, seed): (K, usize, usize, u64),
) -> Growth {
    let both = Both::new(first, second);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let old = people(data, &second.vocabulary, 0..before);
    let new = people(data, &second.vocabulary, before..data.len());
    let stayed = draw(&old, known, targets, &mut rng);
    let came = draw(&new, known, targets, &mut rng);
    let learned: Vec<[f64; 4]> =
        stayed.par_iter().map(|(r, set)| learned(&both, old.record(*r), set)).collect();
    let left: Vec<[bool; 3]> = came
        .par_iter()
        .map(|(_, set)| {
            let (before, after) = (both.first(set), both.second.answer(set));
            let k = f64::from(k.get());
            [
                after.expected < k,
                after.expected - before.expected < k,
                ((after.upper.saturating_sub(before.lower)) as f64) < k,
            ]
        })
        .collect();
    let mean =
        |i: usize| learned.iter().map(|row| row[i]).sum::<f64>() / learned.len().max(1) as f64;
    Growth {
        targets: stayed.len(),
        possible: mean(0),
        possible_in_both: mean(1),
        right: mean(2),
        right_with_both: mean(3),
        newcomers: came.len(),
        few: share(left.iter().map(|l| l[0])),
        few_with_both: share(left.iter().map(|l| l[1])),
        certainly_few: share(left.iter().map(|l| l[2])),
    }
}

/// Possible further items by the second and by both, and whether the guesses
/// are right.
fn learned(both: &Both, record: &[ItemId], known: &[ItemId]) -> [f64; 4] {
    let after = both.second.posterior(known);
    let before = both.in_first(known).map(|ids| both.first.posterior(&ids)).unwrap_or_default();
    let joined: Vec<(ItemId, f64)> = after
        .items
        .iter()
        .map(|&(y, p)| (y, p * both.ids[y as usize].map_or(0.0, |id| before.of(id))))
        .collect();
    let best = |items: &[(ItemId, f64)]| {
        let best = items.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
        let right = best.is_some_and(|(y, _)| record.binary_search(&y).is_ok());
        f64::from(u8::from(right))
    };
    let possible = |items: &[(ItemId, f64)]| items.iter().filter(|(_, p)| *p > 0.0).count() as f64;
    [possible(&after.items), possible(&joined), best(&after.items), best(&joined)]
}

fn people(
    data: &Dataset,
    vocabulary: &Vocabulary,
    rows: std::ops::Range<usize>,
) -> People<'static> {
    let ids: Vec<Option<ItemId>> =
        data.vocabulary().labels().map(|label| vocabulary.id(label)).collect();
    let published = |r: usize| {
        let mut items: Vec<ItemId> =
            data.record(r).iter().filter_map(|&i| ids[i as usize]).collect();
        items.sort_unstable();
        items
    };
    People::from_records(rows.map(published))
}

/// Supports of the increment that two releases give away by subtraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Increments {
    /// Items and pairs of items that the new records have.
    pub itemsets: u64,
    /// Those whose support both releases give exactly, so that the number of
    /// new records with them is known.
    pub exact: u64,
    /// Those of them that fewer than k new records have.
    pub below_k: u64,
    /// New records with such an item or pair.
    pub records: u64,
    /// How many new records there are.
    pub newcomers: u64,
}

/// Subtracts the supports of all items and pairs of the records from number
/// `before` on.
pub fn increments(
    (first, second): (&Disassociated, &Disassociated),
    (data, before): (&Dataset, usize),
    k: K,
) -> Increments {
    let both = Both::new(first, second);
    let new = people(data, &second.vocabulary, before..data.len());
    let mut itemsets: Vec<Vec<ItemId>> = Vec::new();
    for r in 0..new.len() {
        let record = new.record(r);
        for (i, &a) in record.iter().enumerate() {
            itemsets.push(vec![a]);
            itemsets.extend(record[i + 1..].iter().map(|&b| vec![a, b]));
        }
    }
    itemsets.sort_unstable();
    itemsets.dedup();
    let grown: Vec<Option<u64>> = itemsets
        .par_iter()
        .map(|set| {
            let after = both.second.answer(set);
            if after.lower != after.upper {
                return None;
            }
            let before = both.first(set);
            let exact = before.lower == before.upper;
            after.lower.checked_sub(before.lower).filter(|_| exact)
        })
        .collect();
    let rare: FxHashSet<&[ItemId]> = itemsets
        .iter()
        .zip(&grown)
        .filter(|(_, more)| more.is_some_and(|more| more < u64::from(k.get())))
        .map(|(set, _)| &set[..])
        .collect();
    let has_rare = |r: &usize| {
        let record = new.record(*r);
        (0..record.len()).any(|i| {
            rare.contains(&record[i..=i])
                || record[i + 1..].iter().any(|&b| rare.contains(&[record[i], b][..]))
        })
    };
    Increments {
        itemsets: itemsets.len() as u64,
        exact: grown.iter().flatten().count() as u64,
        below_k: rare.len() as u64,
        records: (0..new.len()).filter(has_rare).count() as u64,
        newcomers: new.len() as u64,
    }
}
