//! A long table: one row an item, with whose it is. The rows of one person
//! need not stand together.

use rayon::slice::ParallelSliceMut;

use super::limits::check_persons;
use super::{Block, Interner, ItemId};
use crate::{Progress, Result};

/// The rows that were read so far.
#[derive(Default)]
pub(crate) struct LongTable {
    pub(crate) persons: Interner,
    pub(crate) labels: Interner,
    /// Whose row it is, and the item.
    rows: Vec<(u32, ItemId)>,
    pub(crate) blank: u64,
}

impl LongTable {
    /// Adds a row. A blank item is left out and counted; the person stays,
    /// with an empty record if nothing else comes.
    pub(crate) fn push(&mut self, person: &str, item: &str) {
        let person = self.persons.intern(person);
        self.push_item(person, item);
    }

    /// As [`LongTable::push`], for a person who has a number already.
    pub(crate) fn push_item(&mut self, person: u32, item: &str) {
        match item.trim() {
            "" => self.blank += 1,
            item => {
                let item = self.labels.intern(item);
                self.push_row(person, item);
            }
        }
    }

    /// Adds a row of numbers that `persons` and `labels` gave.
    pub(crate) fn push_row(&mut self, person: u32, item: ItemId) {
        self.rows.push((person, item));
    }

    /// The memory that making records of it will have taken at its highest.
    pub(crate) fn bytes(&self) -> u64 {
        // The rows, the items in the order of the persons, and the finished records.
        self.rows.len() as u64 * 16
            + self.persons.len() as u64 * 12
            + self.persons.bytes()
            + self.labels.bytes()
    }

    /// Shows every person with the items that the rows so far have, in the
    /// numbers that `labels` gives them; none for one with blank items only.
    /// How many blank items were left out.
    pub(crate) fn each_person(
        mut self,
        labels: &mut Interner,
        visit: &mut dyn FnMut(&str, &[ItemId]) -> Result<()>,
    ) -> Result<u64> {
        check_persons(self.persons.offered())?;
        self.labels.check()?;
        let ids: Vec<ItemId> = self.labels.labels().map(|label| labels.intern(label)).collect();
        labels.check()?;
        self.rows.par_sort_unstable();
        let (mut rest, mut items) = (&self.rows[..], Vec::new());
        for (number, person) in self.persons.labels().enumerate() {
            let own = rest.iter().take_while(|row| row.0 as usize == number).count();
            items.clear();
            items.extend(rest[..own].iter().map(|row| ids[row.1 as usize]));
            rest = &rest[own..];
            visit(person, &items)?;
        }
        Ok(self.blank)
    }

    /// The records, in the order in which the persons first appeared.
    pub(crate) fn into_block(self, progress: &dyn Progress) -> Result<Block> {
        check_persons(self.persons.offered())?;
        let persons = self.persons.len();
        // The names of the persons are never needed again.
        drop(self.persons);
        Block::from_rows(self.labels, persons, self.rows, self.blank, progress)
    }
}
