//! A long table: one row an item, with whose it is. The rows of one person
//! need not stand together.

use crate::data::{Block, Interner, ItemId};

/// The rows that were read so far.
#[derive(Default)]
pub(super) struct LongTable {
    persons: Interner,
    labels: Interner,
    /// Whose row it is, and the item.
    rows: Vec<(u32, ItemId)>,
    blank: u64,
}

impl LongTable {
    /// Adds a row. A blank item is left out and counted; the person stays,
    /// with an empty record if nothing else comes.
    pub(super) fn push(&mut self, person: &str, item: &str) {
        let person = self.persons.intern(person);
        match item.trim() {
            "" => self.blank += 1,
            item => {
                let item = self.labels.intern(item);
                self.rows.push((person, item));
            }
        }
    }

    /// The records, in the order in which the persons first appeared.
    pub(super) fn into_block(self) -> Block {
        Block::from_rows(self.labels, self.persons.len(), self.rows, self.blank)
    }
}
