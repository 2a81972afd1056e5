//! Other labels for items that were read: names for numbers, several items
//! for a cell with several codes, one spelling for many.
//!
//! Labels are changed once each, whatever the number of records.

use super::assembly::{Assembly, Part};
use super::limits::check_length;
use super::{Interner, ItemId};
use crate::{Progress, Result};

/// Gives a label's new ones to its second argument: one, several or none.
pub(crate) type Respelling<'a> = dyn Fn(&str, &mut dyn FnMut(&str)) + 'a;

/// What all labels become.
pub(crate) struct Change {
    /// The new labels.
    pub(crate) labels: Interner,
    /// By the number of the old label.
    pieces: Vec<Piece>,
    new: Vec<ItemId>,
}

/// What a label becomes.
#[derive(Default)]
struct Piece {
    /// Its new labels stand at `start..end` of the list of all.
    start: usize,
    end: usize,
    blank: u64,
}

impl Change {
    /// Every label becomes those that `change` gives to its second argument,
    /// without the white space around them: one, several or none.
    pub(crate) fn new(
        old: &Interner,
        change: &Respelling,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut labels = Interner::default();
        let mut new: Vec<ItemId> = Vec::new();
        let mut pieces = Vec::with_capacity(old.len());
        for (n, old) in old.labels().enumerate() {
            if n % (1 << 14) == 0 {
                progress.step(0)?;
            }
            let mut piece = Piece { start: new.len(), end: new.len(), blank: 0 };
            change(old, &mut |label| match label.trim() {
                "" => piece.blank += 1,
                label => new.push(labels.intern(label)),
            });
            piece.end = new.len();
            pieces.push(piece);
        }
        labels.check()?;
        Ok(Self { labels, pieces, new })
    }

    /// Appends what `item` becomes; how many blank ones were left out.
    pub(crate) fn of(&self, item: ItemId, to: &mut Vec<ItemId>) -> u64 {
        let piece = &self.pieces[item as usize];
        to.extend_from_slice(&self.new[piece.start..piece.end]);
        piece.blank
    }
}

impl Assembly {
    /// Replaces every label by those that `change` gives to its second
    /// argument. A blank one is left out and counted, and so is a record that
    /// has no item then.
    pub(crate) fn relabel(&mut self, change: &Respelling, progress: &dyn Progress) -> Result<()> {
        let change = Change::new(&self.labels, change, progress)?;
        let Change { pieces, new, .. } = &change;
        let single = pieces.iter().all(|p| p.end == p.start + 1 && p.blank == 0);
        for part in &mut self.parts {
            if single {
                for id in &mut part.ids {
                    // A label that only a forgotten record had may have no number.
                    *id = pieces.get(*id as usize).map_or(0, |p| new[p.start]);
                }
            } else {
                let empty = part.expand(&change, progress)?;
                self.dropped.blank_items += empty.blank;
                self.dropped.empty_records += empty.records;
            }
        }
        self.labels = change.labels;
        self.bytes = self.parts.iter().map(Part::bytes).sum();
        Ok(())
    }
}

/// What an expansion left out.
#[derive(Default)]
struct Empty {
    blank: u64,
    records: u64,
}

impl Part {
    fn expand(&mut self, change: &Change, progress: &dyn Progress) -> Result<Empty> {
        let mut left = Empty::default();
        let mut items = Vec::with_capacity(self.items.len());
        let (mut lengths, mut read) = (Vec::with_capacity(self.lengths.len()), 0);
        for (n, &length) in self.lengths.iter().enumerate() {
            if n % (1 << 14) == 0 {
                progress.step(0)?;
            }
            let start = items.len();
            for &item in &self.items[read..read + length as usize] {
                left.blank += change.of(self.ids[item as usize], &mut items);
            }
            read += length as usize;
            check_length((items.len() - start) as u64)?;
            match items.len() - start {
                0 => left.records += 1,
                length => lengths.push(length as u32),
            }
        }
        self.ids = (0..change.labels.len() as ItemId).collect();
        (self.items, self.lengths) = (items, lengths);
        Ok(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Block, Dataset, Dropped};

    fn assembly(records: &[&[&str]]) -> Assembly {
        let mut assembly = Assembly::default();
        for record in records {
            let mut block = Block::default();
            block.push("never");
            block.abandon_record();
            record.iter().for_each(|item| block.push(item));
            block.end_record();
            assembly.add(block).unwrap();
        }
        assembly
    }

    #[test]
    fn cells_with_several_codes() {
        let mut assembly = assembly(&[&["a|b", "c"], &["|"], &["b|b|", "d|a"]]);
        assembly.relabel(&|label, push| label.split('|').for_each(push), &()).unwrap();
        let (dataset, dropped) = assembly.finish(&()).unwrap();
        assert_eq!(dataset, Dataset::from_records([vec!["a", "b", "c"], vec!["a", "b", "d"]]));
        assert_eq!(dropped, Dropped { duplicates: 1, empty_records: 1, blank_items: 3 });
    }

    #[test]
    fn one_spelling_for_two_labels() {
        let mut assembly = assembly(&[&["A", "b"], &["a", "A"]]);
        assembly.relabel(&|label, push| push(&label.to_lowercase()), &()).unwrap();
        let (dataset, dropped) = assembly.finish(&()).unwrap();
        assert_eq!(dataset, Dataset::from_records([vec!["a", "b"], vec!["a"]]));
        assert_eq!(dropped.duplicates, 1);
    }
}
