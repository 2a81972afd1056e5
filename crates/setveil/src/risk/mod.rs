//! What an attacker who is played out achieves, measured by somebody who has
//! the original at hand.
//!
//! The attacker knows some items of a person. She draws a data set that the
//! release could have come from, looks for records that hold what she knows
//! (if nobody holds all of it: those that hold most of it), and picks one of
//! them. Then the custodian, who knows where everybody went, says how well she
//! did:
//!
//! - **linking**: how often the picked record is the person's own slot in the
//!   release (see [`Slots`]);
//! - **disclosure**: the share of the person's further items that the picked
//!   record has, and how often it is more than four fifths;
//! - **inference**: how often the person has the further item that is most
//!   common among the records she could pick from.
//!
//! **raw** is the same attacker on the raw data: there, a slot is the record
//! itself. A release that protects has `linking` below `raw`, and less with a
//! larger k. All three can be played out by anybody with the original; none of
//! them is a bound, and another attacker may do better.
//!
//! What this replaces: the mean of 1 / (candidates that the format leaves)
//! counts everybody who could match in some data set and is far too low; the
//! mean of 1 / (expected holders) rises with k, because holders that vanish
//! count as found.

mod attacker;
mod holders;
mod level;
mod postings;
mod slots;

pub use level::{Level, MEANINGS, Measured};
pub use slots::Slots;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::{Dataset, ItemId, Keep};
use crate::query::{Factors, Prepared};
use crate::reconstruct::{self, TermOccurrences, reconstruct};
use crate::release::{Release, Supports};
use crate::{Error, Progress, Result, Stage};
use attacker::{Attempt, Counts, Target};
use holders::Holders;
use slots::Judge;

/// How much is played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Options {
    /// The most items that the attacker knows; 1 up to this many are tried.
    pub known: u32,
    /// People attacked for each number of known items.
    pub targets: usize,
    /// Data sets that the attacker draws for each person.
    pub worlds: u32,
    /// For everything that is drawn.
    pub seed: u64,
    /// How often the attacker lets terms of term chunks occur.
    pub terms: TermOccurrences,
    /// The sets of items that the release was made to keep together, which no
    /// manifest has: without them nobody knows where a record went.
    #[serde(skip)]
    pub keep: Keep,
}

impl Default for Options {
    fn default() -> Self {
        let (terms, keep) = Default::default();
        Self { known: 4, targets: 1000, worlds: 3, seed: 0, terms, keep }
    }
}

setters!(Options {
    /// The most items that the attacker knows.
    known: u32,
    /// People attacked for each number of known items.
    targets: usize,
    /// Data sets that the attacker draws for each person.
    worlds: u32,
    /// For everything that is drawn.
    seed: u64,
    /// How often the attacker lets terms of term chunks occur.
    terms: TermOccurrences,
    /// The sets of items that the release was made to keep together.
    keep: Keep,
});

/// Plays the attacker against `release`, for 1 up to `options.known` items.
///
/// # Complexity
/// Per drawn data set: drawing it, and for each person the posting lists of
/// the known items, and up to `attacker::LOOKED_AT` records.
///
/// # Errors
/// If no data set fits the release, if `slots` are not those of `original`, or
/// if the caller says stop.
pub fn play(
    release: &Release,
    original: &Dataset,
    slots: &Slots,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Vec<Level>> {
    let order = original.order_by_content();
    let sets = targets(original, &order, options);
    let count: usize = sets.iter().map(Vec::len).sum();
    let rounds = u64::from(options.worlds) + 1;
    progress.stage(Stage::Linking, Some(count as u64 * rounds));
    let candidates = candidates(release, original, &sets, options, progress)?;
    let raw = raw(original, &order, &sets, options, progress)?;
    drop(order);
    let judge = Judge::new(release, original, slots)?;
    let mut played: Vec<Vec<Vec<Attempt>>> = Vec::new();
    for number in 0..options.worlds {
        let drawing = reconstruct::Options { seed: options.seed, terms: options.terms };
        let world = reconstruct(release, drawing, number)?;
        progress.step(0)?;
        let holders = Holders::new(&world, original);
        let score =
            |t: usize, known: &[ItemId], found: &[u32]| judge.score(&holders, t, known, found);
        played.push(attempts(original, &holders, &score, &sets, number + 1, options, progress)?);
    }
    let links = judge.links();
    Ok((0..sets.len())
        .map(|i| {
            let worlds: Vec<&[Attempt]> = played.iter().map(|w| w[i].as_slice()).collect();
            Level::new(i as u32 + 1, &raw[i], &worlds, links, candidates[i])
        })
        .collect())
}

/// The attacker on the raw data: there, a slot is the record itself.
fn raw(
    original: &Dataset,
    order: &[u32],
    sets: &[Vec<Target>],
    options: &Options,
    progress: &dyn Progress,
) -> Result<Vec<Vec<Attempt>>> {
    let mut place = vec![0u32; order.len()];
    order.iter().zip(0..).for_each(|(&r, at)| place[r as usize] = at);
    let holders = Holders::in_order(original, order);
    let own_record = |target: usize, _known: &[ItemId], found: &[u32]| {
        let own = found.binary_search(&place[target]).is_ok();
        if own { 1.0 / found.len() as f64 } else { 0.0 }
    };
    attempts(original, &holders, &own_record, sets, 0, options, progress)
}

/// For each number of known items: people with at least that many items, drawn
/// uniformly, each with as many of their items, drawn uniformly.
fn targets(original: &Dataset, order: &[u32], options: &Options) -> Vec<Vec<Target>> {
    (1..=options.known)
        .map(|known| {
            let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
            rng.set_stream(u64::from(known));
            Target::draw(original, order, known as usize, options.targets, &mut rng)
        })
        .collect()
}

type Score<'a> = dyn Fn(usize, &[ItemId], &[u32]) -> f64 + Sync + 'a;

/// Attacks everybody in one data set.
fn attempts(
    original: &Dataset,
    holders: &Holders,
    score: &Score,
    sets: &[Vec<Target>],
    number: u32,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Vec<Vec<Attempt>>> {
    let attack = |i: usize, t: usize, target: &Target, found: &[u32], counts: &mut Counts| {
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed ^ 0x7269_736b);
        rng.set_stream(u64::from(number) << 40 | (i as u64) << 32 | t as u64);
        let attempt = attacker::attack(original, holders, target, found, score, (counts, &mut rng));
        progress.step(1)?;
        Ok((t, attempt))
    };
    let attack_all = |(i, set): (usize, &Vec<Target>)| {
        // People of whom the same is known have the same holders.
        let mut order: Vec<usize> = (0..set.len()).collect();
        order.sort_unstable_by(|&a, &b| set[a].known.cmp(&set[b].known).then(a.cmp(&b)));
        let alike: Vec<&[usize]> = order.chunk_by(|&a, &b| set[a].known == set[b].known).collect();
        let counts = || Counts::new(original.item_count());
        let attacked = alike.par_iter().map_init(counts, |counts, alike| {
            let found = holders.of(&set[alike[0]].known);
            let attacked = alike.iter().map(|&t| attack(i, t, &set[t], &found, counts));
            attacked.collect::<Result<Vec<_>>>()
        });
        let mut attacked: Vec<(usize, Attempt)> =
            attacked.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        attacked.sort_unstable_by_key(|(t, _)| *t);
        Ok(attacked.into_iter().map(|(_, attempt)| attempt).collect())
    };
    sets.iter().enumerate().map(attack_all).collect()
}

/// People for whom the candidates of the format are counted.
const COUNTED: usize = 200;

/// For each number of known items: the smallest number of records that can
/// hold the known items of a person in some data set that fits the release,
/// among those for whom it is not 0 (their items were suppressed, or cannot
/// stand together). None where noise leaves nothing to fit.
fn candidates(
    release: &Release,
    original: &Dataset,
    sets: &[Vec<Target>],
    options: &Options,
    progress: &dyn Progress,
) -> Result<Vec<Option<u64>>> {
    if release.manifest.guarantee.supports == Supports::Noisy {
        return Ok(vec![None; sets.len()]);
    }
    let labels = |target: &Target| -> Vec<&str> {
        target.known.iter().map(|&item| original.vocabulary().label(item)).collect()
    };
    let counted: Vec<Vec<Vec<&str>>> =
        sets.iter().map(|set| set.iter().take(COUNTED).map(labels).collect()).collect();
    let index =
        Prepared::about(release, (options.terms, Factors::WORLDS), &counted.concat(), progress)?;
    let smallest = |set: &Vec<Vec<&str>>| {
        let counted = set.par_iter().map(|known| {
            progress.step(0)?;
            Ok(index.most(known))
        });
        let counted: Vec<u64> = counted.collect::<Result<_>>()?;
        Ok(counted.into_iter().filter(|&most| most > 0).min())
    };
    counted.iter().map(smallest).collect()
}

/// The release is not that of this original.
fn unfit(what: String) -> Error {
    Error::Infeasible {
        what: format!("the release does not fit the original: {what}"),
        hint: "name the data the release was made from".into(),
    }
}
