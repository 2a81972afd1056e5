//! Slots that are positions of a drawn data set: classes, kept sub-records of
//! leaves, rows of groups.

use rustc_hash::FxHashMap;

use super::super::unfit;
use super::{Range, Slots, inside};
use crate::Result;
use crate::data::{Dataset, ItemId, Vocabulary};
use crate::release::{Generalized, Grouped, Leaf, Located};

/// For every record the positions that could be its slot, all of them equal.
pub(in super::super) enum Places<'a> {
    /// One range a record; empty for records that are not published.
    Ranges(Vec<Range>),
    Rows(Rows<'a>),
}

impl<'a> Places<'a> {
    /// One of the records of the class.
    pub(super) fn classes(body: &Generalized, class_of: &[u32]) -> Result<Self> {
        let mut ranges = Vec::with_capacity(body.classes.len());
        let mut end = 0;
        for (_, count) in body.classes.iter() {
            ranges.push((end, end + u64::from(count)));
            end += u64::from(count);
        }
        let place = |&class: &u32| match class {
            Slots::LEFT_OUT => Ok((0, 0)),
            class => ranges
                .get(class as usize)
                .copied()
                .ok_or_else(|| unfit(format!("there is no class {class}"))),
        };
        class_of.iter().map(place).collect::<Result<_>>().map(Self::Ranges)
    }

    /// The sub-record that a record keeps; for one that keeps nothing, one of
    /// the leaf's records without one.
    pub(super) fn leaves(
        body: &Located,
        original: &Dataset,
        leaves: &[(u32, Vec<ItemId>)],
    ) -> Result<Self> {
        let published = numbers(original.vocabulary(), &body.vocabulary);
        let mut starts = vec![0];
        for leaf in &body.leaves {
            starts.push(starts[starts.len() - 1] + u64::from(leaf.size));
        }
        let firsts: Vec<Vec<u64>> = body.leaves.iter().map(first_places).collect();
        let mut used: FxHashMap<Range, u64> = FxHashMap::default();
        let mut ranges = Vec::with_capacity(leaves.len());
        for (number, kept) in leaves {
            let number = *number as usize;
            let leaf = body.leaves.get(number);
            let leaf = leaf.ok_or_else(|| unfit(format!("there is no leaf {number}")))?;
            let firsts = &firsts[number];
            let at = place_of(leaf, kept, &published).ok_or_else(|| {
                unfit(format!("leaf {number} does not have what a record keeps there"))
            })?;
            let range = (starts[number] + firsts[at], starts[number] + firsts[at + 1]);
            *used.entry(range).or_default() += 1;
            ranges.push(range);
        }
        // As many records for every sub-record as there are: the release is this one's.
        match used.into_iter().find(|((start, end), records)| end - start != *records) {
            Some(((start, end), records)) => Err(unfit(format!(
                "{records} records keep what {} are published with",
                end - start
            ))),
            None => Ok(Self::Ranges(ranges)),
        }
    }

    pub(super) fn groups(body: &'a Grouped, original: &'a Dataset) -> Self {
        Self::Rows(Rows::new(body, original))
    }

    /// How many of `found` are the slot of `target`; one of c equal ones
    /// counts 1/c.
    pub(super) fn hits(&self, target: usize, found: &[u32]) -> f64 {
        let one;
        let many;
        let ranges = match self {
            Self::Ranges(ranges) => {
                one = [ranges[target]];
                &one[..]
            }
            Self::Rows(rows) => {
                many = rows.of(target);
                &many[..]
            }
        };
        let equal: u64 = ranges.iter().map(|(start, end)| end - start).sum();
        let hits: usize = ranges.iter().map(|&range| inside(found, range).len()).sum();
        hits as f64 / equal.max(1) as f64
    }
}

/// Where the records of each kept sub-record begin, then those without one,
/// then the end.
fn first_places(leaf: &Leaf) -> Vec<u64> {
    let mut firsts = vec![0];
    for (_, count) in leaf.kept.iter() {
        firsts.push(firsts[firsts.len() - 1] + u64::from(count));
    }
    firsts.push(u64::from(leaf.size));
    firsts
}

/// The number of a kept sub-record in its leaf; that of the records without
/// one if nothing is kept.
fn place_of(leaf: &Leaf, kept: &[ItemId], published: &[Option<ItemId>]) -> Option<usize> {
    let wanted: Vec<ItemId> =
        kept.iter().map(|&item| published[item as usize]).collect::<Option<_>>()?;
    if wanted.is_empty() {
        return Some(leaf.kept.len());
    }
    (0..leaf.kept.len()).find(|&i| leaf.kept.get(i).0 == wanted)
}

/// For each label of `from` its number in `to`.
pub(super) fn numbers(from: &Vocabulary, to: &Vocabulary) -> Vec<Option<ItemId>> {
    from.labels().map(|label| to.id(label)).collect()
}

/// The ordinary rows of groups.
pub(in super::super) struct Rows<'a> {
    original: &'a Dataset,
    body: &'a Grouped,
    /// Rows with the original's numbers, and in which groups they stand where.
    places: FxHashMap<Vec<ItemId>, Vec<(u32, Range)>>,
    /// Whether an item of the original stands in rows.
    in_rows: Vec<bool>,
    /// The number in the release of each item of the original.
    published: Vec<Option<ItemId>>,
}

impl<'a> Rows<'a> {
    fn new(body: &'a Grouped, original: &'a Dataset) -> Self {
        let there = numbers(&body.vocabulary, original.vocabulary());
        let mut places: FxHashMap<Vec<ItemId>, Vec<(u32, Range)>> = FxHashMap::default();
        let mut in_rows = vec![false; original.item_count()];
        let mut start = 0;
        for (number, group) in body.groups.iter().enumerate() {
            let end = start + u64::from(group.size);
            for (items, count) in group.records.iter() {
                let row: Vec<ItemId> = items.iter().filter_map(|&i| there[i as usize]).collect();
                row.iter().for_each(|&i| in_rows[i as usize] = true);
                let range = (start, start + u64::from(count));
                places.entry(row).or_default().push((number as u32, range));
                start = range.1;
            }
            if start < end {
                places.entry(Vec::new()).or_default().push((number as u32, (start, end)));
            }
            start = end;
        }
        let published = numbers(original.vocabulary(), &body.vocabulary);
        Self { original, body, places, in_rows, published }
    }

    /// The rows like the record's, in groups that have all of its sensitive items.
    fn of(&self, target: usize) -> Vec<Range> {
        let record = self.original.record(target);
        let (own, sensitive): (Vec<ItemId>, Vec<ItemId>) =
            record.iter().partition(|&&item| self.in_rows[item as usize]);
        let Some(places) = self.places.get(&own) else { return Vec::new() };
        let has = |group: u32, item: &ItemId| {
            let group = &self.body.groups[group as usize];
            self.published[*item as usize]
                .is_some_and(|item| group.sensitive.binary_search_by_key(&item, |s| s.0).is_ok())
        };
        let fits = |group: u32| sensitive.iter().all(|item| has(group, item));
        places.iter().filter(|(group, _)| fits(*group)).map(|place| place.1).collect()
    }
}
