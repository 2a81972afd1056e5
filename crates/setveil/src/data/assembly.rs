//! Makes one [`Dataset`] of blocks that were read apart from each other.
//!
//! A [`Block`] numbers its labels on its own, so blocks can be read on any
//! thread. An [`Assembly`] takes them in the order of the input, and at the
//! end gives every label its number in the order of the text: which block saw
//! a label first, and how many blocks there were, leaves no trace.

use rayon::prelude::*;

use super::interner::short_key;
use super::{Dataset, Dropped, Interner, ItemId};

/// Records in the order of the input; the items as they came, with ids of
/// the block's own.
#[derive(Debug, Default)]
pub(crate) struct Block {
    labels: Interner,
    items: Vec<ItemId>,
    lengths: Vec<u32>,
    /// Where the current record starts in `items`.
    start: usize,
    /// Whether items were forgotten, so that a label may occur nowhere.
    abandoned: bool,
    dropped: Dropped,
}

impl Block {
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

    /// As [`Block::push`], for at most seven bytes that the caller has in a register.
    #[inline]
    pub(crate) fn push_short(&mut self, packed: u64, label: &str) {
        let id = self.labels.intern_keyed(short_key(packed, label.len()), label);
        self.items.push(id);
    }

    /// Ends the current record; one without an item is left out and counted.
    #[inline]
    pub(crate) fn end_record(&mut self) {
        let length = self.items.len() - self.start;
        if length == 0 {
            self.dropped.empty_records += 1;
        } else {
            self.lengths.push(length as u32);
            self.start = self.items.len();
        }
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
    ) -> Self {
        let mut next = vec![0; persons + 1];
        for &(person, _) in &rows {
            next[person as usize + 1] += 1;
        }
        let lengths: Vec<u32> = next[1..].iter().map(|&l: &usize| l as u32).collect();
        for p in 0..persons {
            next[p + 1] += next[p];
        }
        let mut items = vec![0; rows.len()];
        for (person, item) in rows {
            let at = &mut next[person as usize];
            items[*at] = item;
            *at += 1;
        }
        let empty_records = lengths.iter().filter(|&&l| l == 0).count() as u64;
        let start = items.len();
        let dropped = Dropped { blank_items, empty_records, ..Dropped::default() };
        let lengths = lengths.into_iter().filter(|&l| l > 0).collect();
        Self { labels, items, lengths, start, abandoned: false, dropped }
    }

    /// The labels that occur, in the order of their ids, with their ids.
    fn used(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut used = vec![!self.abandoned; self.labels.len()];
        if self.abandoned {
            self.items.iter().for_each(|&item| used[item as usize] = true);
        }
        self.labels.labels().enumerate().filter(move |&(id, _)| used[id])
    }
}

/// Collects blocks.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    labels: Interner,
    parts: Vec<Part>,
    dropped: Dropped,
}

/// A block without its labels.
#[derive(Debug)]
struct Part {
    /// The assembly's id for each of the block's.
    ids: Vec<ItemId>,
    items: Vec<ItemId>,
    lengths: Vec<u32>,
}

impl Assembly {
    /// Appends the records of `block`.
    pub(crate) fn add(&mut self, mut block: Block) {
        block.abandon_record();
        self.dropped.add(block.dropped);
        let mut ids: Vec<ItemId> = (0..block.labels.len() as ItemId).collect();
        if self.labels.is_empty() && !block.abandoned {
            self.labels = block.labels;
        } else {
            for (id, label) in block.used() {
                ids[id] = self.labels.intern(label);
            }
        }
        self.parts.push(Part { ids, items: block.items, lengths: block.lengths });
    }

    /// Gives labels other names; two may get the same.
    pub(crate) fn rename<'a>(&mut self, name: impl Fn(&str) -> Option<&'a str>) {
        let mut labels = Interner::default();
        let ids: Vec<ItemId> =
            self.labels.labels().map(|old| labels.intern(name(old).unwrap_or(old))).collect();
        self.labels = labels;
        for id in self.parts.iter_mut().flat_map(|p| &mut p.ids) {
            *id = ids.get(*id as usize).copied().unwrap_or(0);
        }
    }

    /// Numbers the labels by text, sorts the records and drops duplicates.
    pub(crate) fn finish(mut self) -> (Dataset, Dropped) {
        let (vocabulary, renumber) = self.labels.finish();
        let total = self.parts.iter().map(|p| p.items.len()).sum();
        let records: usize = self.parts.iter().map(|p| p.lengths.len()).sum();
        let mut items: Vec<ItemId> = vec![0; total];
        let mut regions = Vec::with_capacity(self.parts.len());
        let mut rest = &mut items[..];
        for part in &self.parts {
            let (region, tail) = rest.split_at_mut(part.items.len());
            regions.push(region);
            rest = tail;
        }
        let settled: Vec<(Vec<u32>, usize, usize)> = std::mem::take(&mut self.parts)
            .into_par_iter()
            .zip(regions)
            .map(|(part, region)| {
                let (before, lengths) = (region.len(), part.settle(&renumber, region));
                let kept = lengths.iter().map(|&l| l as usize).sum();
                (lengths, before, kept)
            })
            .collect();
        close_gaps(&mut items, settled.iter().map(|&(_, before, kept)| (before, kept)));
        self.dropped.duplicates += (total - items.len()) as u64;
        let mut offsets = Vec::with_capacity(records + 1);
        let mut end = 0;
        offsets.push(end);
        for length in settled.iter().flat_map(|s| &s.0) {
            end += *length as usize;
            offsets.push(end);
        }
        (Dataset::from_parts(vocabulary, offsets, items), self.dropped)
    }
}

impl Part {
    /// Writes the records to the beginning of `region`, sorted and without
    /// duplicates; their lengths.
    fn settle(self, renumber: &[ItemId], region: &mut [ItemId]) -> Vec<u32> {
        // A label that occurs nowhere has no number; nothing asks for it.
        let number = |&id: &ItemId| renumber.get(id as usize).copied().unwrap_or(0);
        let ids: Vec<ItemId> = self.ids.iter().map(number).collect();
        let (mut lengths, mut read, mut kept) = (self.lengths, 0, 0);
        for length in &mut lengths {
            let from = &self.items[read..read + *length as usize];
            read += from.len();
            let record = &mut region[kept..kept + from.len()];
            for (to, &id) in record.iter_mut().zip(from) {
                *to = ids[id as usize];
            }
            record.sort_unstable();
            *length = dedup(record) as u32;
            kept += *length as usize;
        }
        lengths
    }
}

/// Moves the distinct ones of sorted items to the front; how many they are.
fn dedup(record: &mut [ItemId]) -> usize {
    if record.windows(2).all(|w| w[0] != w[1]) {
        return record.len();
    }
    let mut kept = 1;
    for i in 1..record.len() {
        if record[i] != record[kept - 1] {
            record[kept] = record[i];
            kept += 1;
        }
    }
    kept
}

/// Joins regions of which only the beginning is used.
fn close_gaps(items: &mut Vec<ItemId>, regions: impl Iterator<Item = (usize, usize)>) {
    let (mut from, mut to) = (0, 0);
    for (length, kept) in regions {
        if from != to {
            items.copy_within(from..from + kept, to);
        }
        from += length;
        to += kept;
    }
    items.truncate(to);
    items.shrink_to_fit();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_blocks_leaves_no_trace() {
        let records =
            [&["b", "a", "b"][..], &[], &["c", "a", "d"], &["d", "d", "d"], &["a"], &["e", "b"]];
        let split = |cut: usize| {
            let mut assembly = Assembly::default();
            for half in [&records[..cut], &records[cut..]] {
                let mut block = Block::default();
                for record in half {
                    record.iter().for_each(|item| block.push(item));
                    block.end_record();
                }
                assembly.add(block);
            }
            assembly.finish()
        };
        let (dataset, dropped) = split(0);
        assert_eq!(dataset.occurrences(), [0, 1, 0, 2, 3, 3, 0, 1, 4]);
        assert_eq!((dropped.duplicates, dropped.empty_records), (3, 1));
        for cut in 1..=records.len() {
            assert_eq!(split(cut), (dataset.clone(), dropped), "cut at {cut}");
        }
    }

    #[test]
    fn a_label_that_only_an_abandoned_record_had_is_not_in_the_vocabulary() {
        let mut assembly = Assembly::default();
        for labels in [["x", "a"], ["b", "y"], ["c", "z"]] {
            let mut block = Block::default();
            block.push("a");
            block.push(labels[0]);
            block.push(labels[1]);
            block.abandon_record();
            block.push(labels[1]);
            block.end_record();
            block.push("never");
            assembly.add(block);
        }
        let (dataset, _) = assembly.finish();
        assert_eq!(dataset.vocabulary().labels().collect::<Vec<_>>(), ["a", "y", "z"]);
        assert_eq!(dataset.occurrences(), [0, 1, 2]);
    }
}
