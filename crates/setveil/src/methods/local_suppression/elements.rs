//! The sets of items that must be kept k times or not at all, numbered.
//!
//! Sets of fewer than m items count inside their leaf, sets of m items over
//! all leaves (rules L and G). A set that k records cannot have has no number.
//! Numbers depend on the threads; nothing that is published depends on them.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::rows::Rows;
use super::subsets::{Places, slots};
use crate::data::ItemId;
use crate::{Error, Progress, Result};

/// The number of sets that are out of the question.
pub(super) const NEVER: u32 = u32::MAX;

/// Numbers for the subsets of every row, and how often each is kept.
pub(super) struct Elements {
    pub(super) places: Places,
    /// Where the block of row `r` begins.
    starts: Vec<usize>,
    ids: Vec<AtomicU32>,
    /// Per number: in how many records it is kept.
    counts: Vec<AtomicU32>,
    /// Per number: whether nobody may keep it.
    pub(super) dead: Vec<bool>,
    /// Per number: where the rows are that could keep the set.
    homes: Vec<Home>,
    postings: Option<Postings>,
}

/// Where a set can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Home {
    /// In this leaf.
    Leaf(u32),
    /// In rows with this item.
    Item(ItemId),
}

impl Elements {
    /// Numbers the subsets of 1 to `size` items. `m` of all items count
    /// everywhere; with one leaf, smaller sets do as well.
    pub(super) fn new(
        rows: &Rows,
        item_count: usize,
        (size, m): (u32, u32),
        k: u32,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let longest = (0..rows.len()).map(|r| rows.row(r).len()).max().unwrap_or(0);
        let mut starts = vec![0];
        for r in 0..rows.len() {
            let end = starts[r] + slots(rows.row(r).len(), size) as usize;
            starts.push(end);
        }
        let total = *starts.last().expect("a first start");
        if total as u64 / u64::from(k) >= u64::from(NEVER) {
            return Err(Error::TooLarge {
                what: "combinations of items in one record",
                found: total as u64,
                limit: u64::from(NEVER) * u64::from(k),
                hint: "choose a smaller m or smaller clusters",
            });
        }
        let ids = (0..total).into_par_iter().map(|_| AtomicU32::new(NEVER)).collect();
        let places = Places::new(size, longest);
        let mut elements = Self {
            places,
            starts,
            ids,
            counts: Vec::new(),
            dead: Vec::new(),
            homes: Vec::new(),
            postings: None,
        };
        let next = AtomicU32::new(0);
        let (size, m) = (size as usize, m as usize);
        let (local, global) = match (rows.leaf_count(), size) {
            (1, _) => (0, 1),
            (_, size) if size < m => (size, size + 1),
            _ => (size - 1, size),
        };
        let numbering = Numbering { rows, elements: &elements, k, next: &next };
        let mut found = Vec::new();
        if local > 0 {
            found.extend(numbering.in_leaves(item_count, 1..=local, progress)?);
        }
        let mut postings = None;
        if global <= size {
            let lists = Postings::new(rows, item_count);
            found.extend(numbering.everywhere(&lists, item_count, global..=size, progress)?);
            postings = Some(lists);
        }
        let len = next.into_inner() as usize;
        elements.counts = (0..len).map(|_| AtomicU32::new(0)).collect();
        elements.homes = vec![Home::Leaf(0); len];
        for (home, supports) in found {
            for (id, support) in supports {
                elements.counts[id as usize] = AtomicU32::new(support);
                elements.homes[id as usize] = home;
            }
        }
        elements.postings = postings;
        elements.dead = vec![false; len];
        Ok(elements)
    }

    /// The number of the subset of row `r` in `slot`.
    pub(super) fn id(&self, r: usize, slot: usize) -> u32 {
        self.ids[self.starts[r] + slot].load(Relaxed)
    }

    /// The numbers of all subsets of row `r`.
    pub(super) fn ids(&self, r: usize) -> impl ExactSizeIterator<Item = u32> {
        self.ids[self.starts[r]..self.starts[r + 1]].iter().map(|id| id.load(Relaxed))
    }

    pub(super) fn is_dead(&self, id: u32) -> bool {
        id == NEVER || self.dead[id as usize]
    }

    pub(super) fn count(&self, id: u32) -> u32 {
        self.counts[id as usize].load(Relaxed)
    }

    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The rows that could keep one of some sets, ascending; none if these are so
    /// many that looking at all is no more work.
    pub(super) fn homes(&self, ids: &[u32], rows: &Rows) -> Option<Vec<u32>> {
        let mut homes: Vec<Home> = ids.iter().map(|&id| self.homes[id as usize]).collect();
        homes.sort_unstable();
        homes.dedup();
        let mut found = Vec::new();
        for home in homes {
            match (home, &self.postings) {
                (Home::Leaf(l), _) => found.extend(rows.leaf(l as usize).map(|r| r as u32)),
                (Home::Item(item), Some(lists)) => found.extend(lists.of(item as usize)),
                (Home::Item(_), None) => return None,
            }
            if found.len() > rows.len() {
                return None;
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    pub(super) fn add(&self, id: u32, weight: u32) {
        if id != NEVER {
            self.counts[id as usize].fetch_add(weight, Relaxed);
        }
    }

    pub(super) fn subtract(&self, id: u32, weight: u32) {
        if id != NEVER {
            self.counts[id as usize].fetch_sub(weight, Relaxed);
        }
    }
}

struct Numbering<'a> {
    rows: &'a Rows,
    elements: &'a Elements,
    k: u32,
    next: &'a AtomicU32,
}

/// A row that has a prefix: what stands behind it, and the prefix's part of
/// the place in colexicographic order.
type Entry = (u32, u32, usize);
/// Numbers and the supports of their sets.
type Supports = Vec<(u32, u32)>;

/// Counters that are clean between uses.
struct Worker {
    counts: Vec<u32>,
    ids: Vec<u32>,
}

impl Worker {
    fn new(items: usize) -> Self {
        Self { counts: vec![0; items], ids: vec![NEVER; items] }
    }
}

/// Leaves that one task numbers.
const LEAVES: usize = 64;

impl Numbering<'_> {
    fn in_leaves(
        &self,
        items: usize,
        sizes: std::ops::RangeInclusive<usize>,
        progress: &dyn Progress,
    ) -> Result<Vec<(Home, Supports)>> {
        let leaves = self.rows.leaf_count();
        let found: Vec<Vec<(Home, Supports)>> = (0..leaves.div_ceil(LEAVES))
            .into_par_iter()
            .map_init(
                || Worker::new(items),
                |worker, task| {
                    progress.step(0)?;
                    let own = task * LEAVES..((task + 1) * LEAVES).min(leaves);
                    Ok(own
                        .map(|l| {
                            let entries: Vec<Entry> =
                                self.rows.leaf(l).map(|r| (r as u32, 0, 0)).collect();
                            let mut supports = Vec::new();
                            self.extend(&entries, 0, &sizes, worker, &mut supports);
                            (Home::Leaf(l as u32), supports)
                        })
                        .collect())
                },
            )
            .collect::<Result<_>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    fn everywhere(
        &self,
        postings: &Postings,
        items: usize,
        sizes: std::ops::RangeInclusive<usize>,
        progress: &dyn Progress,
    ) -> Result<Vec<(Home, Supports)>> {
        (0..items)
            .into_par_iter()
            .map_init(
                || Worker::new(items),
                |worker, item| {
                    progress.step(0)?;
                    let supports = self.with_first(item, postings.of(item), &sizes, worker);
                    Ok((Home::Item(item as ItemId), supports))
                },
            )
            .collect()
    }

    /// Numbers the sets whose first item is `item`, in the rows that have it.
    fn with_first(
        &self,
        item: usize,
        rows: &[u32],
        sizes: &std::ops::RangeInclusive<usize>,
        worker: &mut Worker,
    ) -> Supports {
        let mut supports = Vec::new();
        let total: u32 = rows.iter().map(|&r| self.rows.weight(r as usize)).sum();
        if total < self.k {
            return supports;
        }
        let id = sizes.contains(&1).then(|| self.next.fetch_add(1, Relaxed));
        let entry = |&r: &u32| {
            let p = self.rows.row(r as usize).partition_point(|&i| (i as usize) < item);
            if let Some(id) = id {
                self.write(r, 1, p, id);
            }
            (r, p as u32 + 1, p)
        };
        let entries: Vec<Entry> = rows.iter().map(entry).collect();
        supports.extend(id.map(|id| (id, total)));
        if *sizes.end() > 1 {
            self.extend(&entries, 1, sizes, worker, &mut supports);
        }
        supports
    }

    fn write(&self, row: u32, size: usize, place: usize, id: u32) {
        let (r, elements) = (row as usize, self.elements);
        let base = elements.places.base(self.rows.row(r).len(), size);
        elements.ids[elements.starts[r] + base + place].store(id, Relaxed);
    }

    /// Counts what stands behind a prefix of `depth` items in the rows that
    /// have it, and numbers the sets that are one longer.
    fn extend(
        &self,
        entries: &[Entry],
        depth: usize,
        sizes: &std::ops::RangeInclusive<usize>,
        worker: &mut Worker,
        supports: &mut Supports,
    ) {
        let places = &self.elements.places;
        let frequent = self.frequent(entries, worker);
        let size = depth + 1;
        if sizes.contains(&size) {
            let first = self.next.fetch_add(frequent.len() as u32, Relaxed);
            for (&(item, support), id) in frequent.iter().zip(first..) {
                worker.ids[item as usize] = id;
                supports.push((id, support));
            }
            for &(row, from, place) in entries {
                let behind = &self.rows.row(row as usize)[from as usize..];
                for (&item, p) in behind.iter().zip(from as usize..) {
                    let id = worker.ids[item as usize];
                    if id != NEVER {
                        self.write(row, size, place + places.step(p, size), id);
                    }
                }
            }
            frequent.iter().for_each(|&(item, _)| worker.ids[item as usize] = NEVER);
        }
        if size == *sizes.end() {
            return;
        }
        for bucket in self.buckets(entries, size, &frequent, worker) {
            self.extend(&bucket, size, sizes, worker, supports);
        }
    }

    /// The items behind the prefix that k records have, with their supports.
    fn frequent(&self, entries: &[Entry], worker: &mut Worker) -> Vec<(ItemId, u32)> {
        let mut present = Vec::new();
        for &(row, from, _) in entries {
            let weight = self.rows.weight(row as usize);
            for &item in &self.rows.row(row as usize)[from as usize..] {
                if worker.counts[item as usize] == 0 {
                    present.push((item, 0));
                }
                worker.counts[item as usize] += weight;
            }
        }
        for (item, support) in &mut present {
            *support = std::mem::take(&mut worker.counts[*item as usize]);
        }
        present.retain(|&(_, support)| support >= self.k);
        present
    }

    /// The rows of each longer prefix.
    fn buckets(
        &self,
        entries: &[Entry],
        size: usize,
        frequent: &[(ItemId, u32)],
        worker: &mut Worker,
    ) -> Vec<Vec<Entry>> {
        let mut buckets = vec![Vec::new(); frequent.len()];
        for (&(item, _), b) in frequent.iter().zip(0..) {
            worker.ids[item as usize] = b;
        }
        for &(row, from, place) in entries {
            let behind = &self.rows.row(row as usize)[from as usize..];
            for (&item, p) in behind.iter().zip(from as usize..) {
                let bucket = worker.ids[item as usize];
                if bucket != NEVER {
                    let place = place + self.elements.places.step(p, size);
                    buckets[bucket as usize].push((row, p as u32 + 1, place));
                }
            }
        }
        frequent.iter().for_each(|&(item, _)| worker.ids[item as usize] = NEVER);
        buckets
    }
}

/// The rows of every item.
pub(super) struct Postings {
    ends: Vec<usize>,
    rows: Vec<u32>,
}

impl Postings {
    fn new(rows: &Rows, items: usize) -> Self {
        let mut ends = vec![0; items + 1];
        for r in 0..rows.len() {
            rows.row(r).iter().for_each(|&item| ends[item as usize + 1] += 1);
        }
        for i in 0..items {
            ends[i + 1] += ends[i];
        }
        let mut next = ends.clone();
        let mut listed = vec![0; rows.occurrences()];
        for r in 0..rows.len() {
            for &item in rows.row(r) {
                listed[next[item as usize]] = r as u32;
                next[item as usize] += 1;
            }
        }
        Self { ends, rows: listed }
    }

    fn of(&self, item: usize) -> &[u32] {
        &self.rows[self.ends[item]..self.ends[item + 1]]
    }
}
