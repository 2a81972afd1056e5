//! The splits of PermMondrian (cahd-2008, section V): parts on an explicit
//! stack, each divided by the allowed item that divides best.

use std::cmp::Reverse;

use crate::data::ItemId;
use crate::methods::sensitive::{Rows, Split};
use crate::{Progress, Result, Stage};

/// Partitions the rows of `split` into groups of degree `p`.
pub(super) fn partition(
    split: &Split,
    p: u64,
    columns: usize,
    progress: &dyn Progress,
) -> Result<Rows> {
    progress.stage(Stage::Grouping, Some(split.len() as u64));
    let mut counter = Counter::new(split, p, columns);
    let mut rows: Vec<u32> = (0..split.len() as u32).collect();
    let mut side = Vec::new();
    let mut groups = Rows::default();
    // Parts are ranges of `rows`.
    let mut stack = vec![(0, rows.len())];
    while let Some((start, end)) = stack.pop() {
        let part = &mut rows[start..end];
        progress.step(0)?;
        match counter.best_split(part) {
            Some(item) => {
                let with = divide(split, part, item, &mut side);
                stack.push((start + with, end));
                stack.push((start, start + with));
            }
            None => {
                groups.push(part.iter().copied());
                progress.step(part.len() as u64)?;
            }
        }
    }
    Ok(groups)
}

/// Moves the rows with `item` to the front, keeping the order on both sides,
/// and returns how many there are.
fn divide(split: &Split, part: &mut [u32], item: ItemId, side: &mut Vec<u32>) -> usize {
    side.clear();
    let mut with = 0;
    for i in 0..part.len() {
        let row = part[i];
        if split.qid.row(row as usize).binary_search(&item).is_ok() {
            part[with] = row;
            with += 1;
        } else {
            side.push(row);
        }
    }
    part[with..].copy_from_slice(side);
    with
}

/// Counts items and pairs of an item and a sensitive item in one part after another.
struct Counter<'a> {
    split: &'a Split,
    p: u64,
    /// How many records of the part have each item; the items that have some.
    records: Vec<u64>,
    touched: Vec<ItemId>,
    /// How many records of the part have item `i` and sensitive item `s`, at
    /// `i * sensitive + s`.
    pairs: Vec<u32>,
    /// How many have each sensitive item.
    totals: Vec<u64>,
}

impl<'a> Counter<'a> {
    fn new(split: &'a Split, p: u64, columns: usize) -> Self {
        let sensitive = split.items.len();
        Self {
            split,
            p,
            records: vec![0; columns],
            touched: Vec::new(),
            pairs: vec![0; columns * sensitive],
            totals: vec![0; sensitive],
        }
    }

    /// The item by which `part` is best split, if any split is allowed and needed.
    fn best_split(&mut self, part: &[u32]) -> Option<ItemId> {
        let size = part.len() as u64;
        let has_sensitive = |&r: &u32| !self.split.sensitive.row(r as usize).is_empty();
        if size < 2 * self.p || !part.iter().any(has_sensitive) {
            return None;
        }
        self.count(part);
        let best = self
            .touched
            .iter()
            .filter_map(|&item| Some((self.evenness(item, size)?, Reverse(item))))
            .max()
            .map(|(_, Reverse(item))| item);
        self.clear();
        best
    }

    fn count(&mut self, part: &[u32]) {
        let sensitive = self.totals.len();
        for &row in part {
            let own = self.split.sensitive.row(row as usize);
            own.iter().for_each(|&s| self.totals[s as usize] += 1);
            for &item in self.split.qid.row(row as usize) {
                if self.records[item as usize] == 0 {
                    self.touched.push(item);
                }
                self.records[item as usize] += 1;
                for &s in own {
                    self.pairs[item as usize * sensitive + s as usize] += 1;
                }
            }
        }
    }

    fn clear(&mut self) {
        let sensitive = self.totals.len();
        for item in self.touched.drain(..).map(|i| i as usize) {
            self.records[item] = 0;
            self.pairs[item * sensitive..(item + 1) * sensitive].fill(0);
        }
        self.totals.fill(0);
    }

    /// How evenly `item` divides the part, more is better: the sensitive
    /// occurrences on their smaller sides, then the records on the smaller
    /// side. None if a side would miss the degree.
    fn evenness(&self, item: ItemId, size: u64) -> Option<(u64, u64)> {
        let with = self.records[item as usize];
        let without = size - with;
        if with < self.p || without < self.p {
            return None;
        }
        let sensitive = self.totals.len();
        let mut even = 0;
        for (s, &total) in self.totals.iter().enumerate() {
            let here = u64::from(self.pairs[item as usize * sensitive + s]);
            let there = total - here;
            if here * self.p > with || there * self.p > without {
                return None;
            }
            even += here.min(there);
        }
        Some((even, with.min(without)))
    }
}
