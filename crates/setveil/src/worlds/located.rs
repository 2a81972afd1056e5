//! The possible worlds of a located release: bounds and expectations of
//! supports, and what they say of somebody of whom some items are known.
//!
//! A world gives every kept sub-record to a record of its leaf, every counted
//! item to exactly so many further records, every listed item to at least one
//! (and over all leaves to its total, where there is one). Bounds hold in every
//! world.
//!
//! Expectations are those of [`reconstruct`](crate::reconstruct): the further
//! records of an item are drawn uniformly among the records of the leaf that
//! do not keep it, items independently; of a total each listing leaf gets one
//! and the rest goes to the room that is left, uniformly. That no record may be
//! empty is neglected; where every record keeps something and all items are
//! counted, they are exact.

use rustc_hash::FxHashMap;

use super::{Answer, Posterior};
use crate::data::ItemId;
use crate::release::{Leaf, Located};

/// In how many further records of a leaf an item is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Further {
    /// No world has fewer.
    pub least: u64,
    /// No world has more.
    pub most: u64,
    /// The mean.
    pub mean: f64,
    /// Records of the leaf that do not keep the item.
    pub room: u64,
}

impl Further {
    /// The chance that a given record that does not keep the item has it.
    fn chance(&self) -> f64 {
        if self.room == 0 { 0.0 } else { (self.mean / self.room as f64).min(1.0) }
    }
}

/// An item in a leaf.
#[derive(Clone, Copy, Debug)]
struct Place {
    leaf: u32,
    kept: u64,
    further: Option<Further>,
}

/// A located release, prepared for many questions.
#[derive(Debug)]
pub struct LocatedWorlds<'a> {
    body: &'a Located,
    /// Per item: the leaves that have it, ascending.
    places: Vec<Vec<Place>>,
    /// Per item: the sub-records that have it, numbered over all leaves, ascending.
    subrecords: Vec<Vec<u32>>,
    /// Where the sub-records of each leaf begin.
    firsts: Vec<u32>,
    /// Per item: the fewest and the most records that can have it.
    supports: Vec<(u64, u64)>,
    /// Per leaf: its items, each with its position among the places of the item.
    leaf_items: Vec<(ItemId, u32)>,
    /// Where the items of each leaf begin in `leaf_items`.
    leaf_starts: Vec<usize>,
}

impl<'a> LocatedWorlds<'a> {
    /// Prepares `body`. A listed item without a total is expected in `likely`
    /// further records of a leaf, given their greatest number and the leaf.
    ///
    /// # Complexity
    /// Linear in the release.
    pub fn new(body: &'a Located, likely: &dyn Fn(u64, &Leaf) -> f64) -> Self {
        let items = body.vocabulary.len();
        let (mut places, mut subrecords) = (vec![Vec::new(); items], vec![Vec::new(); items]);
        let mut firsts = vec![0_u32];
        for (l, leaf) in body.leaves.iter().enumerate() {
            let first = firsts[l];
            for ((kept, count), s) in leaf.kept.iter().zip(first..) {
                for &item in kept {
                    subrecords[item as usize].push(s);
                    at(&mut places[item as usize], l as u32).kept += u64::from(count);
                }
            }
            firsts.push(first + leaf.kept.len() as u32);
            for &(item, count) in &leaf.counted {
                let place = at(&mut places[item as usize], l as u32);
                let (count, room) = (u64::from(count), room(leaf, place.kept));
                let mean = count.min(room) as f64;
                place.further = Some(Further { least: count, most: count, mean, room });
            }
            for &item in &leaf.listed {
                let place = at(&mut places[item as usize], l as u32);
                let room = room(leaf, place.kept);
                let mean = likely(room, leaf);
                place.further = Some(Further { least: 1, most: room, mean, room });
            }
        }
        let (leaf_items, leaf_starts) = by_leaf(&places, body.leaves.len());
        let supports = Vec::new();
        let mut worlds =
            Self { body, places, subrecords, firsts, supports, leaf_items, leaf_starts };
        worlds.spread_totals();
        worlds.supports = (0..items).map(|i| worlds.range(i)).collect();
        worlds
    }

    /// Says of listed items with a total what the total says.
    fn spread_totals(&mut self) {
        for &(item, total) in &self.body.totals {
            let leaves = &self.body.leaves;
            let lists = |p: &Place| leaves[p.leaf as usize].listed.binary_search(&item).is_ok();
            let places = &mut self.places[item as usize];
            let listing = places.iter().filter(|p| lists(p)).count() as u64;
            let rooms = places.iter().filter(|p| lists(p)).filter_map(|p| p.further);
            let spare: u64 = rooms.map(|f| f.room.saturating_sub(1)).sum();
            let rest = total.saturating_sub(listing);
            for further in places.iter_mut().filter(|p| lists(p)).filter_map(|p| p.further.as_mut())
            {
                let own = further.room.saturating_sub(1);
                // What the other leaves cannot take stays here.
                further.least = rest.saturating_sub(spare - own).saturating_add(1);
                further.most = further.most.min(rest.saturating_add(1));
                further.mean = 1.0 + rest as f64 * own as f64 / spare.max(1) as f64;
            }
        }
    }

    /// The fewest and the most records that can have an item.
    fn range(&self, item: usize) -> (u64, u64) {
        let (mut least, mut most) = (0, 0);
        let total = self.body.total(item as ItemId);
        for place in &self.places[item] {
            let leaf = &self.body.leaves[place.leaf as usize];
            let in_total = total.is_some() && leaf.listed.binary_search(&(item as ItemId)).is_ok();
            let further = place.further.filter(|_| !in_total);
            least += place.kept + further.map_or(0, |f| f.least);
            most += place.kept + further.map_or(0, |f| f.most);
        }
        let total = total.unwrap_or(0);
        (total.saturating_add(least), total.saturating_add(most))
    }

    /// What the worlds say of the records with all of `itemset`, which ascends.
    ///
    /// # Complexity
    /// Linear in the sub-records that have one of the items, in leaves that can
    /// have all.
    pub fn answer(&self, itemset: &[ItemId]) -> Answer {
        let mut answer = Answer::NONE;
        self.each_leaf(itemset, |places| {
            answer = answer.plus(self.in_leaf(itemset, places));
        });
        let known = itemset.iter().map(|&item| self.supports[item as usize]);
        let most = known.clone().map(|(_, most)| most).min().unwrap_or(0);
        answer.upper = answer.upper.min(most);
        if let [item] = itemset {
            answer.lower = answer.lower.max(self.supports[*item as usize].0);
        }
        answer.lower = answer.lower.min(answer.upper);
        answer.expected = answer.expected.clamp(answer.lower as f64, answer.upper as f64);
        answer
    }

    /// Leaves that can have all of `itemset`, with the place of each item.
    fn each_leaf(&self, itemset: &[ItemId], mut each: impl FnMut(&[Place])) {
        let lists: Vec<&[Place]> = itemset.iter().map(|&i| &self.places[i as usize][..]).collect();
        let Some(shortest) = lists.iter().min_by_key(|l| l.len()) else { return };
        let mut found = Vec::new();
        for place in *shortest {
            found.clear();
            found.extend(lists.iter().map_while(|list| {
                let at = list.binary_search_by_key(&place.leaf, |p| p.leaf).ok()?;
                Some(list[at])
            }));
            if found.len() == lists.len() {
                each(&found);
            }
        }
    }

    fn in_leaf(&self, itemset: &[ItemId], places: &[Place]) -> Answer {
        let leaf = &self.body.leaves[places[0].leaf as usize];
        let size = u64::from(leaf.size);
        let (mut together, mut expected, mut seen) = (0, 0.0, 0);
        // Sub-records with all items that nobody else of the leaf can have.
        let mut certain = 0;
        self.each_meeting(itemset, places, |count, chance, missing_fixed, all| {
            seen += count;
            expected += count as f64 * chance;
            together += if all { count } else { 0 };
            certain += if missing_fixed { 0 } else { count };
        });
        let all: f64 = places.iter().map(|p| p.further.map_or(0.0, |f| f.chance())).product();
        let others = size.saturating_sub(seen);
        expected += others as f64 * all;
        let free = places.iter().all(|p| p.further.is_some());
        let possible = certain + if free { others } else { 0 };
        let counts = |f: &dyn Fn(&Further) -> u64| {
            places.iter().map(|p| p.kept + p.further.map_or(0, |x| f(&x))).collect::<Vec<u64>>()
        };
        let sum: u64 = counts(&|f| f.least).iter().sum();
        let missing = (places.len() as u64 - 1) * size;
        let copies: u64 = places.iter().filter_map(|p| p.further).map(|f| f.most).sum();
        let most = counts(&|f| f.most).into_iter().min().unwrap_or(0);
        Answer {
            lower: together.max(sum.saturating_sub(missing)),
            expected,
            upper: most.min(possible).min(together.saturating_add(copies)),
            exact: leaf.bare() == 0 && leaf.listed.is_empty(),
        }
    }

    /// The sub-records of the leaf that have some of `itemset`: their count,
    /// the chance that the rest is there too, whether an item is missing that no
    /// further record of the leaf has, and whether nothing is missing.
    fn each_meeting(
        &self,
        itemset: &[ItemId],
        places: &[Place],
        mut each: impl FnMut(u64, f64, bool, bool),
    ) {
        let l = places[0].leaf as usize;
        let (first, end) = (self.firsts[l], self.firsts[l + 1]);
        let mut met: Vec<(u32, u32)> = Vec::new();
        for (&item, i) in itemset.iter().zip(0..) {
            let list = &self.subrecords[item as usize];
            let from = list.partition_point(|&s| s < first);
            let own = list[from..].iter().take_while(|&&s| s < end);
            met.extend(own.map(|&s| (s, i)));
        }
        met.sort_unstable();
        for run in met.chunk_by(|a, b| a.0 == b.0) {
            let (mut chance, mut fixed) = (1.0, false);
            let mut have = run.iter().map(|r| r.1).peekable();
            for (place, i) in places.iter().zip(0..) {
                if have.next_if_eq(&i).is_none() {
                    chance *= place.further.map_or(0.0, |f| f.chance());
                    fixed |= place.further.is_none();
                }
            }
            let count = self.body.leaves[l].kept.get((run[0].0 - first) as usize).1;
            each(count.into(), chance, fixed, run.len() == itemset.len());
        }
    }

    /// Who could be the person of whom `known` (ascending) is known, and what
    /// else they have.
    ///
    /// # Complexity
    /// Linear in the items of the leaves that can have all known items, and in the
    /// sub-records there that keep one of them.
    pub fn posterior(&self, known: &[ItemId]) -> Posterior {
        let mut mass = vec![0.0; self.body.vocabulary.len()];
        let (mut candidates, mut exact) = (0.0, true);
        self.each_leaf(known, |places| {
            let leaf = &self.body.leaves[places[0].leaf as usize];
            exact &= leaf.bare() == 0 && leaf.listed.is_empty();
            candidates += self.weigh_leaf(known, places, &mut mass);
        });
        let all = mass.into_iter().enumerate().map(|(i, m)| (i as ItemId, m / candidates));
        let further = all.filter(|(i, p)| *p > 0.0 && known.binary_search(i).is_err());
        Posterior { candidates, items: further.map(|(i, p)| (i, p.min(1.0))).collect(), exact }
    }

    /// Adds the expected number of candidates with each item; returns their number.
    ///
    /// A record that keeps none of the known items is a candidate with the same
    /// probability as any other: only the sub-records that keep one are looked at
    /// one by one.
    fn weigh_leaf(&self, known: &[ItemId], places: &[Place], mass: &mut [f64]) -> f64 {
        let l = places[0].leaf as usize;
        let (leaf, first) = (&self.body.leaves[l], self.firsts[l]);
        let chances: Vec<f64> =
            places.iter().map(|p| p.further.map_or(0.0, |f| f.chance())).collect();
        let none: f64 = chances.iter().product();
        let mut total = f64::from(leaf.size) * none;
        // What sub-records with a known item weigh more than the others.
        let mut more: FxHashMap<ItemId, f64> = FxHashMap::default();
        for s in self.meeting(known, l) {
            let (items, count) = leaf.kept.get((s - first) as usize);
            let missing = known.iter().zip(&chances);
            let missing = missing.filter(|(item, _)| items.binary_search(item).is_err());
            let weight = missing.map(|(_, chance)| chance).product::<f64>() - none;
            let weight = f64::from(count) * weight;
            total += weight;
            items.iter().for_each(|&item| *more.entry(item).or_default() += weight);
        }
        let here = &self.leaf_items[self.leaf_starts[l]..self.leaf_starts[l + 1]];
        for &(item, at) in here {
            let place = &self.places[item as usize][at as usize];
            let kept = place.kept as f64 * none + more.get(&item).copied().unwrap_or(0.0);
            let chance = place.further.map_or(0.0, |f| f.chance());
            mass[item as usize] += kept + (total - kept).max(0.0) * chance;
        }
        total
    }

    /// The sub-records of a leaf that keep one of the items, ascending.
    fn meeting(&self, itemset: &[ItemId], l: usize) -> Vec<u32> {
        let (first, end) = (self.firsts[l], self.firsts[l + 1]);
        let mut met = Vec::new();
        for &item in itemset {
            let list = &self.subrecords[item as usize];
            let from = list.partition_point(|&s| s < first);
            met.extend(list[from..].iter().take_while(|&&s| s < end));
        }
        met.sort_unstable();
        met.dedup();
        met
    }
}

/// The items of every leaf with their positions in `places`, one leaf after the
/// other, and where each leaf begins.
fn by_leaf(places: &[Vec<Place>], leaves: usize) -> (Vec<(ItemId, u32)>, Vec<usize>) {
    let mut starts = vec![0; leaves + 1];
    places.iter().flatten().for_each(|place| starts[place.leaf as usize + 1] += 1);
    for l in 0..leaves {
        starts[l + 1] += starts[l];
    }
    let (mut next, mut items) = (starts.clone(), vec![(0, 0); starts[leaves]]);
    for (item, places) in places.iter().enumerate() {
        for (at, place) in places.iter().enumerate() {
            let slot = &mut next[place.leaf as usize];
            items[*slot] = (item as ItemId, at as u32);
            *slot += 1;
        }
    }
    (items, starts)
}

/// The place of an item in leaf `l`, the last one so far.
fn at(places: &mut Vec<Place>, l: u32) -> &mut Place {
    if places.last().is_none_or(|p| p.leaf != l) {
        places.push(Place { leaf: l, kept: 0, further: None });
    }
    places.last_mut().expect("just pushed")
}

fn room(leaf: &Leaf, kept: u64) -> u64 {
    u64::from(leaf.size).saturating_sub(kept)
}
