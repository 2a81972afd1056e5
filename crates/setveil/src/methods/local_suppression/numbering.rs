//! Gives numbers to the sets of items that k records can have: a search over
//! prefixes, leaf by leaf or by the first item.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::elements::{Home, NEVER};
use super::postings::Postings;
use super::rows::Rows;
use super::store::Filling;
use super::subsets::Places;
use crate::data::ItemId;
use crate::{Progress, Result};

pub(super) struct Numbering<'a> {
    pub(super) rows: &'a Rows,
    pub(super) places: &'a Places,
    pub(super) store: &'a Filling,
    pub(super) k: u32,
    pub(super) next: &'a AtomicU32,
}

/// A row that has a prefix: what stands behind it, and the prefix's part of
/// the place in colexicographic order.
type Entry = (u32, u32, usize);

/// Sets with the same prefix and consecutive numbers.
pub(super) struct Numbered {
    pub(super) home: Home,
    pub(super) first: u32,
    /// The last item of each set, and in how many records the set is.
    pub(super) sets: Vec<(ItemId, u32)>,
}

/// Counters that are clean between uses.
struct Worker {
    counts: Vec<u32>,
    behind: Vec<u32>,
}

impl Worker {
    fn new(items: usize) -> Self {
        Self { counts: vec![0; items], behind: vec![NEVER; items] }
    }
}

/// Leaves that one task numbers.
const LEAVES: usize = 64;

impl Numbering<'_> {
    pub(super) fn in_leaves(
        &self,
        items: usize,
        sizes: RangeInclusive<usize>,
        progress: &dyn Progress,
    ) -> Result<Vec<Numbered>> {
        let leaves = self.rows.leaf_count();
        let found: Vec<Vec<Numbered>> = (0..leaves.div_ceil(LEAVES))
            .into_par_iter()
            .map_init(
                || Worker::new(items),
                |worker, task| {
                    progress.step(0)?;
                    let mut found = Vec::new();
                    for l in task * LEAVES..((task + 1) * LEAVES).min(leaves) {
                        let entries: Vec<Entry> =
                            self.rows.leaf(l).map(|r| (r as u32, 0, 0)).collect();
                        let home = Home::Leaf(l as u32);
                        self.extend(&entries, (0, home), &sizes, worker, &mut found);
                    }
                    Ok(found)
                },
            )
            .collect::<Result<_>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    pub(super) fn everywhere(
        &self,
        postings: &Postings,
        items: usize,
        sizes: RangeInclusive<usize>,
        progress: &dyn Progress,
    ) -> Result<Vec<Numbered>> {
        let found: Vec<Vec<Numbered>> = (0..items)
            .into_par_iter()
            .map_init(
                || Worker::new(items),
                |worker, item| {
                    progress.step(0)?;
                    Ok(self.with_first(item, postings.of(item), &sizes, worker))
                },
            )
            .collect::<Result<_>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Numbers the sets whose first item is `item`, in the rows that have it.
    fn with_first(
        &self,
        item: usize,
        rows: &[u32],
        sizes: &RangeInclusive<usize>,
        worker: &mut Worker,
    ) -> Vec<Numbered> {
        let mut found = Vec::new();
        let total: u32 = rows.iter().map(|&r| self.rows.weight(r as usize)).sum();
        if total < self.k {
            return found;
        }
        let home = Home::Item(item as ItemId);
        let first = sizes.contains(&1).then(|| self.next.fetch_add(1, Relaxed));
        let entry = |&r: &u32| {
            let p = self.rows.row(r as usize).partition_point(|&i| (i as usize) < item);
            if let Some(id) = first {
                self.store.write(self.rows, r as usize, p, id, 0);
            }
            (r, p as u32 + 1, p)
        };
        let entries: Vec<Entry> = rows.iter().map(entry).collect();
        if let Some(first) = first {
            found.push(Numbered { home, first, sets: vec![(item as ItemId, total)] });
        }
        if *sizes.end() > 1 {
            self.extend(&entries, (1, home), sizes, worker, &mut found);
        }
        found
    }

    /// Counts what stands behind a prefix of `depth` items in the rows that
    /// have it, and numbers the sets that are one longer.
    fn extend(
        &self,
        entries: &[Entry],
        (depth, home): (usize, Home),
        sizes: &RangeInclusive<usize>,
        worker: &mut Worker,
        found: &mut Vec<Numbered>,
    ) {
        let frequent = self.frequent(entries, worker);
        let size = depth + 1;
        for (&(item, _), behind) in frequent.iter().zip(0..) {
            worker.behind[item as usize] = behind;
        }
        if sizes.contains(&size) && !frequent.is_empty() {
            let first = self.next.fetch_add(frequent.len() as u32, Relaxed);
            if let (1, Home::Item(item)) = (depth, home) {
                self.store.begin(item as usize, first);
            }
            self.number(entries, size, first, worker);
            found.push(Numbered { home, first, sets: frequent.clone() });
        }
        let buckets = match size < *sizes.end() {
            true => self.buckets(entries, size, frequent.len(), worker),
            false => Vec::new(),
        };
        frequent.iter().for_each(|&(item, _)| worker.behind[item as usize] = NEVER);
        for bucket in buckets {
            self.extend(&bucket, (size, home), sizes, worker, found);
        }
    }

    /// Writes the numbers from `first` on to the sets of `size` items.
    fn number(&self, entries: &[Entry], size: usize, first: u32, worker: &Worker) {
        for &(row, from, place) in entries {
            let r = row as usize;
            let base = self.places.base(self.rows.row(r).len(), size) + place;
            let behind = &self.rows.row(r)[from as usize..];
            for (&item, p) in behind.iter().zip(from as usize..) {
                let behind = worker.behind[item as usize];
                if behind != NEVER {
                    let slot = base + self.places.step(p, size);
                    self.store.write(self.rows, r, slot, first + behind, behind);
                }
            }
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
        present.shrink_to_fit();
        present
    }

    /// The rows of each longer prefix.
    fn buckets(
        &self,
        entries: &[Entry],
        size: usize,
        len: usize,
        worker: &Worker,
    ) -> Vec<Vec<Entry>> {
        let mut buckets = vec![Vec::new(); len];
        for &(row, from, place) in entries {
            let behind = &self.rows.row(row as usize)[from as usize..];
            for (&item, p) in behind.iter().zip(from as usize..) {
                let bucket = worker.behind[item as usize];
                if bucket != NEVER {
                    let place = place + self.places.step(p, size);
                    buckets[bucket as usize].push((row, p as u32 + 1, place));
                }
            }
        }
        buckets
    }
}
