//! Records as they are read, before labels are numbered for good.

use super::assembly::dedup;
use super::limits::check_length;
use super::{Dropped, Interner, ItemId};
use crate::{Progress, Result};

/// Rows between two questions whether to go on.
const STRIDE: usize = 1 << 16;

/// Records in the order of the input; the items as they came, with ids of
/// the block's own.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(super) labels: Interner,
    pub(super) items: Vec<ItemId>,
    pub(super) lengths: Vec<u32>,
    /// Where the current record starts in `items`.
    start: usize,
    /// How many records are tidy already.
    tidied: usize,
    /// Whether items were forgotten, so that a label may occur nowhere.
    pub(super) abandoned: bool,
    /// The length of the longest record that is too long, or 0.
    pub(super) too_long: u64,
    pub(super) dropped: Dropped,
}

/// Where a block stood between two records.
pub(crate) struct Mark {
    items: usize,
    records: usize,
    dropped: Dropped,
}

impl Block {
    /// The labels, to intern one that [`Block::push_id`] will be given.
    pub(crate) fn labels(&mut self) -> &mut Interner {
        &mut self.labels
    }

    /// Adds an item that [`Block::labels`] gave a number.
    pub(crate) fn push_id(&mut self, id: ItemId) {
        self.items.push(id);
    }

    /// The labels of all items in their order.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.items.iter().map(|&item| self.labels.label(item).to_owned()).collect()
    }

    /// Counts a blank item that was left out.
    pub(crate) fn blank(&mut self) {
        self.dropped.blank_items += 1;
    }

    /// The memory that making records of it will have taken at its highest.
    pub(crate) fn bytes(&self) -> u64 {
        (self.items.len() * 8 + self.lengths.len() * 12) as u64 + self.labels.bytes()
    }

    /// Where the block stands; no record is open.
    pub(crate) fn mark(&self) -> Mark {
        Mark { items: self.start, records: self.lengths.len(), dropped: self.dropped }
    }

    /// Forgets everything that came after `mark`.
    pub(crate) fn rewind(&mut self, mark: &Mark) {
        self.abandoned |= self.items.len() > mark.items;
        self.items.truncate(mark.items);
        self.lengths.truncate(mark.records);
        self.start = mark.items;
        self.dropped = mark.dropped;
    }

    /// Adds an item to the current record.
    pub(crate) fn push(&mut self, label: &str) {
        let id = self.labels.intern(label);
        self.items.push(id);
    }

    /// As [`Block::push`], without the white space around `label`; one that
    /// is nothing else is left out and counted.
    pub(crate) fn push_trimmed(&mut self, label: &str) {
        match label.trim() {
            "" => self.dropped.blank_items += 1,
            label => self.push(label),
        }
    }

    /// As [`Block::push`], for a label of `len` <= 7 bytes that the caller has in a register.
    #[inline]
    pub(crate) fn push_short(&mut self, packed: u64, len: usize) {
        let id = self.labels.intern_short(packed, len);
        self.items.push(id);
    }

    /// Ends the current record; one without an item is left out and counted.
    #[inline]
    pub(crate) fn end_record(&mut self) {
        let length = self.items.len() - self.start;
        if length == 0 {
            self.dropped.empty_records += 1;
            return;
        }
        if length > u32::MAX as usize {
            self.too_long = self.too_long.max(length as u64);
        }
        self.lengths.push(length as u32);
        self.start = self.items.len();
    }

    /// Forgets the items of the current record.
    pub(crate) fn abandon_record(&mut self) {
        self.abandoned |= self.items.len() > self.start;
        self.items.truncate(self.start);
    }

    /// Records from rows of (person, item) in any order; persons are numbered
    /// from 0 and give the order of the records.
    pub(crate) fn from_rows(
        labels: Interner,
        persons: usize,
        rows: Vec<(u32, ItemId)>,
        blank_items: u64,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut next = vec![0usize; persons + 1];
        for some in rows.chunks(STRIDE) {
            progress.step(0)?;
            some.iter().for_each(|&(person, _)| next[person as usize + 1] += 1);
        }
        let too_long = next.iter().copied().max().filter(|&l| l > u32::MAX as usize);
        let lengths: Vec<u32> = next[1..].iter().map(|&l| l as u32).collect();
        for p in 0..persons {
            next[p + 1] += next[p];
        }
        let mut items = vec![0; rows.len()];
        for some in rows.chunks(STRIDE) {
            progress.step(0)?;
            for &(person, item) in some {
                let at = &mut next[person as usize];
                items[*at] = item;
                *at += 1;
            }
        }
        let empty_records = lengths.iter().filter(|&&l| l == 0).count() as u64;
        let start = items.len();
        let dropped = Dropped { blank_items, empty_records, ..Dropped::default() };
        let lengths = lengths.into_iter().filter(|&l| l > 0).collect();
        let too_long = too_long.unwrap_or(0) as u64;
        let (tidied, abandoned) = (0, false);
        Ok(Self { labels, items, lengths, start, tidied, abandoned, too_long, dropped })
    }

    /// Drops items that stand twice in their record, and counts them; the
    /// others of a record ascend by their numbers here.
    pub(crate) fn tidy(&mut self) {
        if self.tidied == self.lengths.len() {
            return;
        }
        let (mut read, mut kept) = (0, 0);
        for length in &mut self.lengths {
            let whole = *length as usize;
            let record = &mut self.items[read..read + whole];
            record.sort_unstable();
            *length = dedup(record) as u32;
            self.items.copy_within(read..read + *length as usize, kept);
            read += whole;
            kept += *length as usize;
        }
        self.dropped.duplicates += (read - kept) as u64;
        self.abandon_record();
        self.items.truncate(kept);
        self.start = kept;
        self.tidied = self.lengths.len();
    }

    /// Shows every record with the numbers that `labels` gives its items.
    /// What was left out.
    pub(crate) fn each_record(
        mut self,
        labels: &mut Interner,
        visit: &mut dyn FnMut(&mut [ItemId]) -> Result<()>,
    ) -> Result<Dropped> {
        self.abandon_record();
        self.check()?;
        let mut ids: Vec<ItemId> = vec![0; self.labels.len()];
        for (id, label) in self.used() {
            ids[id] = labels.intern(label);
        }
        labels.check()?;
        self.items.iter_mut().for_each(|item| *item = ids[*item as usize]);
        let mut rest = &mut self.items[..];
        for &length in &self.lengths {
            let (record, others) = rest.split_at_mut(length as usize);
            visit(record)?;
            rest = others;
        }
        Ok(self.dropped)
    }

    /// Fails if something is larger than its number.
    pub(super) fn check(&self) -> Result<()> {
        check_length(self.too_long)?;
        self.labels.check()
    }

    /// The labels that occur, in the order of their ids, with their ids.
    pub(super) fn used(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut used = vec![!self.abandoned; self.labels.len()];
        if self.abandoned {
            self.items.iter().for_each(|&item| used[item as usize] = true);
        }
        self.labels.labels().enumerate().filter(move |&(id, _)| used[id])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Assembly, Dataset};

    #[test]
    fn rewinding_leaves_no_trace() {
        let mut block = Block::default();
        block.push("a");
        block.end_record();
        let mark = block.mark();
        block.push("b");
        block.push_trimmed(" ");
        block.end_record();
        block.end_record();
        block.push("c");
        block.rewind(&mark);
        block.push("d");
        block.end_record();
        let mut assembly = Assembly::default();
        assembly.add(block).unwrap();
        let (dataset, dropped) = assembly.finish(&()).unwrap();
        assert_eq!(dataset, Dataset::from_records([["a"], ["d"]]));
        assert_eq!(dropped, Dropped::default());
    }
}
