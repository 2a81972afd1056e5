//! Makes one [`Dataset`] of blocks that were read apart from each other.
//!
//! A [`Block`] numbers its labels on its own, so blocks can be read on any
//! thread. An [`Assembly`] takes them in the order of the input, and at the
//! end gives every label its number in the order of the text: which block saw
//! a label first, and how many blocks there were, leaves no trace.

use rayon::prelude::*;

use super::limits::check_records;
use super::{Block, Dataset, Dropped, Interner, ItemId};
use crate::{Progress, Result};

/// Records between two questions whether to go on.
const STRIDE: usize = 1 << 16;

/// Collects blocks.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    pub(super) labels: Interner,
    pub(super) parts: Vec<Part>,
    records: u64,
    pub(super) bytes: u64,
    pub(super) dropped: Dropped,
}

/// A block without its labels.
#[derive(Debug)]
pub(super) struct Part {
    /// The assembly's id for each of the block's.
    pub(super) ids: Vec<ItemId>,
    pub(super) items: Vec<ItemId>,
    pub(super) lengths: Vec<u32>,
}

impl Assembly {
    /// Appends the records of `block`. Fails if there is more than can be numbered.
    pub(crate) fn add(&mut self, mut block: Block) -> Result<()> {
        block.abandon_record();
        block.check()?;
        self.records += block.lengths.len() as u64;
        check_records(self.records)?;
        self.dropped.add(block.dropped);
        let mut ids: Vec<ItemId> = (0..block.labels.len() as ItemId).collect();
        if self.labels.is_empty() && !block.abandoned {
            self.labels = block.labels;
        } else {
            for (id, label) in block.used() {
                ids[id] = self.labels.intern(label);
            }
            self.labels.check()?;
        }
        let part = Part { ids, items: block.items, lengths: block.lengths };
        self.bytes += part.bytes();
        self.parts.push(part);
        Ok(())
    }

    /// The memory that the data set will have taken at its highest.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes + 2 * self.labels.bytes()
    }

    /// Numbers the labels by text, sorts the records and drops duplicates.
    pub(crate) fn finish(mut self, progress: &dyn Progress) -> Result<(Dataset, Dropped)> {
        progress.step(0)?;
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
                let before = region.len();
                let lengths = part.settle(&renumber, region, progress)?;
                let kept = lengths.iter().map(|&l| l as usize).sum();
                Ok((lengths, before, kept))
            })
            .collect::<Result<_>>()?;
        close_gaps(&mut items, settled.iter().map(|&(_, before, kept)| (before, kept)));
        self.dropped.duplicates += (total - items.len()) as u64;
        let mut offsets = Vec::with_capacity(records + 1);
        let mut end = 0;
        offsets.push(end);
        for length in settled.iter().flat_map(|s| &s.0) {
            end += *length as usize;
            offsets.push(end);
        }
        Ok((Dataset::from_parts(vocabulary, offsets, items), self.dropped))
    }
}

impl Part {
    /// The memory that its records will have taken at its highest: the items
    /// stand here and, in the end, in the data set.
    pub(super) fn bytes(&self) -> u64 {
        (self.items.len() * 8 + self.lengths.len() * 12 + self.ids.len() * 8) as u64
    }

    /// Writes the records to the beginning of `region`, sorted and without
    /// duplicates; their lengths.
    fn settle(
        self,
        renumber: &[ItemId],
        region: &mut [ItemId],
        progress: &dyn Progress,
    ) -> Result<Vec<u32>> {
        // A label that occurs nowhere has no number; nothing asks for it.
        let number = |&id: &ItemId| renumber.get(id as usize).copied().unwrap_or(0);
        let ids: Vec<ItemId> = self.ids.iter().map(number).collect();
        let (mut lengths, mut read, mut kept) = (self.lengths, 0, 0);
        for some in lengths.chunks_mut(STRIDE) {
            progress.step(0)?;
            for length in some {
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
        }
        Ok(lengths)
    }
}

/// Moves the distinct ones of sorted items to the front; how many they are.
pub(super) fn dedup(record: &mut [ItemId]) -> usize {
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
                assembly.add(block).unwrap();
            }
            assembly.finish(&()).unwrap()
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
            assembly.add(block).unwrap();
        }
        let (dataset, _) = assembly.finish(&()).unwrap();
        assert_eq!(dataset.vocabulary().labels().collect::<Vec<_>>(), ["a", "y", "z"]);
        assert_eq!(dataset.occurrences(), [0, 1, 2]);
    }

    #[test]
    fn lengths_and_records_are_checked_at_the_border() {
        let block = |too_long| {
            let mut block = Block::default();
            block.too_long = too_long;
            block
        };
        assert!(Assembly::default().add(block(u64::from(u32::MAX))).is_ok());
        let error = Assembly::default().add(block(1 << 32)).unwrap_err().to_string();
        assert!(error.contains("items of one record: 4294967296"), "{error}");
        let one = || {
            let mut block = Block::default();
            block.push("a");
            block.end_record();
            block
        };
        let full = |records| Assembly { records, ..Assembly::default() };
        assert!(full(u64::from(u32::MAX) - 1).add(one()).is_ok());
        let error = full(u64::from(u32::MAX)).add(one()).unwrap_err().to_string();
        assert!(error.contains("records: 4294967296, at most 4294967295"), "{error}");
    }
}
