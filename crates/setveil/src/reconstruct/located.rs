//! Located releases: kept sub-records as they are, the further occurrences of
//! counted and listed items dealt to records of their leaf that do not keep
//! them.
//!
//! Of an item with a total every leaf that lists it gets one occurrence, and
//! the rest is drawn uniformly from the room that is left. A record that
//! remains empty takes an occurrence from one that has others.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::assemble::{Records, assemble};
use super::{Options, TermOccurrences, random};
use crate::data::{Dataset, ItemId};
use crate::release::{Leaf, Located};
use crate::{Error, Result};

/// Draws of a leaf before an empty record is filled by hand.
const DRAWS: usize = 8;

pub(super) fn reconstruct(
    body: &Located,
    k: Option<u32>,
    options: Options,
    number: u32,
) -> Result<Dataset> {
    let shares = shares(body, &mut random(options, number, body.leaves.len()))?;
    let pieces: Vec<Records> = body
        .leaves
        .par_iter()
        .zip(&shares)
        .enumerate()
        .map(|(part, (leaf, shares))| {
            let mut rng = random(options, number, part);
            let deal = Deal { leaf, shares, terms: options.terms, k };
            let mut records = Records::default();
            deal.draw(&mut rng)?.into_iter().for_each(|record| records.push(record));
            Ok(records)
        })
        .collect::<Result<_>>()?;
    Ok(assemble(&body.vocabulary, pieces))
}

/// For every leaf, in the order of its listed items: how often each with a
/// total occurs there. None for items without one.
fn shares(body: &Located, rng: &mut ChaCha8Rng) -> Result<Vec<Vec<Option<u64>>>> {
    let mut listing: Vec<Vec<(u32, u32)>> = vec![Vec::new(); body.totals.len()];
    let mut shares: Vec<Vec<Option<u64>>> = Vec::with_capacity(body.leaves.len());
    for (l, leaf) in body.leaves.iter().enumerate() {
        let mut own = vec![None; leaf.listed.len()];
        for (i, item) in leaf.listed.iter().enumerate() {
            if let Ok(t) = body.totals.binary_search_by_key(item, |t| t.0) {
                listing[t].push((l as u32, i as u32));
                own[i] = Some(1);
            }
        }
        shares.push(own);
    }
    let rooms: Vec<Vec<u64>> = body.leaves.par_iter().map(rooms).collect();
    for (&(item, total), places) in body.totals.iter().zip(&listing) {
        // Room beside the one occurrence that every leaf gets, up to each leaf.
        let mut spare = 0;
        let mut ends = Vec::with_capacity(places.len());
        for &(l, i) in places {
            spare += rooms[l as usize][i as usize].saturating_sub(1);
            ends.push(spare);
        }
        let roomy = places.iter().all(|&(l, i)| rooms[l as usize][i as usize] > 0);
        let rest = total.checked_sub(places.len() as u64).filter(|&rest| rest <= spare);
        let (Some(rest), true) = (rest, roomy) else {
            let label = body.vocabulary.label(item);
            return Err(impossible(&format!("`{label}` cannot have a total of {total}")));
        };
        for slot in distinct(spare, rest, rng) {
            // The leaf that this piece of room belongs to.
            let (l, i) = places[ends.partition_point(|&end| end <= slot)];
            *shares[l as usize][i as usize].get_or_insert(0) += 1;
        }
    }
    Ok(shares)
}

/// `count` different numbers below `all`, ascending (Floyd's way).
fn distinct(all: u64, count: u64, rng: &mut ChaCha8Rng) -> Vec<u64> {
    let mut chosen = std::collections::BTreeSet::new();
    for top in all - count..all {
        let drawn = rng.random_range(0..=top);
        if !chosen.insert(drawn) {
            chosen.insert(top);
        }
    }
    chosen.into_iter().collect()
}

/// For each listed item of a leaf, the records that do not keep it.
fn rooms(leaf: &Leaf) -> Vec<u64> {
    let mut keepers = vec![0; leaf.listed.len()];
    for (items, count) in leaf.kept.iter() {
        for item in items {
            if let Ok(at) = leaf.listed.binary_search(item) {
                keepers[at] += u64::from(count);
            }
        }
    }
    keepers.into_iter().map(|kept| u64::from(leaf.size).saturating_sub(kept)).collect()
}

/// One leaf to be dealt.
struct Deal<'a> {
    leaf: &'a Leaf,
    shares: &'a [Option<u64>],
    terms: TermOccurrences,
    k: Option<u32>,
}

impl Deal<'_> {
    fn draw(&self, rng: &mut ChaCha8Rng) -> Result<Vec<Vec<ItemId>>> {
        let leaf = self.leaf;
        let mut kept: Vec<&[ItemId]> = Vec::with_capacity(leaf.size as usize);
        for (items, count) in leaf.kept.iter() {
            kept.extend(std::iter::repeat_n(items, count as usize));
        }
        if kept.len() > leaf.size as usize {
            return Err(impossible("more sub-records than records in a leaf"));
        }
        kept.resize(leaf.size as usize, &[]);
        let mut best = None;
        for _ in 0..DRAWS {
            let records = self.deal(&kept, rng)?;
            if records.iter().all(|r| !r.is_empty()) {
                return Ok(records);
            }
            best = Some(records);
        }
        let mut records = best.expect("at least one draw");
        self.fill(&kept, &mut records, rng)?;
        Ok(records)
    }

    /// Every item to as many records as it must, whatever remains empty.
    fn deal(&self, kept: &[&[ItemId]], rng: &mut ChaCha8Rng) -> Result<Vec<Vec<ItemId>>> {
        let mut records: Vec<Vec<ItemId>> = kept.iter().map(|items| items.to_vec()).collect();
        let mut keepers: FxHashMap<ItemId, usize> = FxHashMap::default();
        for (items, count) in self.leaf.kept.iter() {
            items.iter().for_each(|&item| *keepers.entry(item).or_default() += count as usize);
        }
        let listed = self.leaf.listed.iter().zip(self.shares).map(|(&item, &share)| (item, share));
        let counted = self.leaf.counted.iter().map(|&(item, count)| (item, Some(count.into())));
        for (item, count) in counted.chain(listed) {
            let kept_here = keepers.get(&item).copied().unwrap_or(0);
            let room = kept.len() - kept_here;
            let count = match count {
                Some(count) => count as usize,
                None => self.terms.draw(self.k, room, rng),
            };
            if count > room {
                return Err(impossible("an item with more occurrences than records"));
            }
            let without = |r: u32| kept[r as usize].binary_search(&item).is_err();
            for r in choose(kept.len() as u32, room, count, without, rng) {
                records[r as usize].push(item);
            }
        }
        Ok(records)
    }

    /// Fills empty records: with an occurrence of a record that has others, or
    /// with one more of a listed item without a total.
    fn fill(
        &self,
        kept: &[&[ItemId]],
        records: &mut [Vec<ItemId>],
        rng: &mut ChaCha8Rng,
    ) -> Result<()> {
        let free: Vec<ItemId> = self
            .leaf
            .listed
            .iter()
            .zip(self.shares)
            .filter(|(_, share)| share.is_none())
            .map(|(&item, _)| item)
            .collect();
        let mut donors: Vec<usize> = (0..records.len()).collect();
        donors.shuffle(rng);
        for empty in 0..records.len() {
            if !records[empty].is_empty() {
                continue;
            }
            while let Some(&donor) = donors.last() {
                if records[donor].len() > kept[donor].len().max(1) {
                    break;
                }
                donors.pop();
            }
            let item = match donors.last() {
                Some(&donor) => records[donor].pop().expect("more than it keeps"),
                None if free.is_empty() => {
                    return Err(impossible("not enough items to leave no record empty"));
                }
                None => free[rng.random_range(0..free.len())],
            };
            records[empty].push(item);
        }
        Ok(())
    }
}

/// `count` of the `room` records below `all` that are `open`, all choices equally
/// likely. Few of many are drawn until they differ; otherwise all are listed.
fn choose(
    all: u32,
    room: usize,
    count: usize,
    open: impl Fn(u32) -> bool,
    rng: &mut ChaCha8Rng,
) -> Vec<u32> {
    if count * 4 < room {
        let mut chosen = FxHashSet::default();
        let mut order = Vec::with_capacity(count);
        while order.len() < count {
            let r = rng.random_range(0..all);
            if open(r) && chosen.insert(r) {
                order.push(r);
            }
        }
        return order;
    }
    let mut list: Vec<u32> = (0..all).filter(|&r| open(r)).collect();
    list.partial_shuffle(rng, count).0.to_vec()
}

impl TermOccurrences {
    /// In how many of `room` records an item occurs of which no more is known
    /// than that it does; mean over [`draw`](Self::draw).
    pub(crate) fn mean(self, k: Option<u32>, room: u64) -> f64 {
        let most = self.most(k, room as usize) as f64;
        if room == 0 { 0.0 } else { (1.0 + most) / 2.0 }
    }

    /// A number of occurrences from 1 to the greatest, all equally likely.
    pub(super) fn draw(self, k: Option<u32>, room: usize, rng: &mut ChaCha8Rng) -> usize {
        rng.random_range(1..=self.most(k, room).max(1))
    }

    fn most(self, k: Option<u32>, room: usize) -> usize {
        self.cap(k, room, 0, 1)
    }
}

fn impossible(why: &str) -> Error {
    Error::Infeasible {
        what: format!("no data set fits the release: {why}"),
        hint: "verify tells what is wrong with the release".into(),
    }
}
