//! Gives numbers to the sets of items that k records can have: a search over
//! prefixes, leaf by leaf or by the first item.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::elements::{Elements, Home, NEVER};
use super::postings::Postings;
use super::rows::Rows;
use crate::data::ItemId;
use crate::{Progress, Result};

pub(super) struct Numbering<'a> {
    pub(super) rows: &'a Rows,
    pub(super) elements: &'a Elements,
    pub(super) k: u32,
    pub(super) next: &'a AtomicU32,
}

/// A row that has a prefix: what stands behind it, and the prefix's part of
/// the place in colexicographic order.
type Entry = (u32, u32, usize);
/// Numbers and the supports of their sets.
pub(super) type Supports = Vec<(u32, u32)>;

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
    pub(super) fn in_leaves(
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

    pub(super) fn everywhere(
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
