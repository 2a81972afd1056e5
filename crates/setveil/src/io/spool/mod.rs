//! Data that does not fit into memory: records go to a shelf on disk as they
//! are read, in numbers of their items in the order of arrival.
//!
//! What stays in memory is the vocabulary, and a number for each of its labels.
//! The numbers that follow the text, as a data set has them, are known when all
//! is read; whoever takes a record from the shelf gives it these.

mod persons;

use crate::budget::Budget;
use crate::data::limits::{check_length, check_records};
use crate::data::{
    Block, Change, Dropped, Interner, ItemId, LongTable, Respelling, Shelf, Shelves, Vocabulary,
    damaged,
};
use crate::error::{Hint, Setting};
use crate::io::{Assumption, DiskShelf, DiskShelves, Format, LeftOut, Preview};
use crate::progress::{Progress, Pulse};
use crate::release::key::{numbers, put_number};
use crate::{Error, Result};

use persons::{Persons, settle};

/// Takes records while they are read.
pub(super) struct Spool<'a> {
    progress: &'a dyn Progress,
    memory: Budget,
    shelves: DiskShelves,
    records: Numbered,
    labels: Interner,
    dropped: Dropped,
    /// Whether items will get other labels: what stands twice in a record is counted when it has them.
    respells: bool,
    /// Rows of persons of which more may come.
    persons: Option<Persons>,
}

/// Records on a shelf, with what is known about them.
struct Numbered {
    shelf: DiskShelf,
    /// In how many records each item is.
    counts: Vec<u64>,
    records: u64,
    occurrences: u64,
    bytes: Vec<u8>,
}

impl Numbered {
    fn new(shelves: &mut DiskShelves) -> Result<Self> {
        let (counts, bytes) = (Vec::new(), Vec::new());
        Ok(Self { shelf: shelves.shelf()?, counts, records: 0, occurrences: 0, bytes })
    }

    /// Takes a record. Counts mean something if its items are distinct.
    fn put(&mut self, items: &[ItemId]) -> Result<()> {
        self.bytes.clear();
        for &item in items {
            put_number(item, &mut self.bytes);
            if self.counts.len() <= item as usize {
                self.counts.resize(item as usize + 1, 0);
            }
            self.counts[item as usize] += 1;
        }
        self.records += 1;
        self.occurrences += items.len() as u64;
        self.shelf.put(&self.bytes)
    }
}

impl<'a> Spool<'a> {
    pub(super) fn new(
        shelves: &DiskShelves,
        memory: Budget,
        respells: bool,
        progress: &'a dyn Progress,
    ) -> Result<Self> {
        let mut shelves = shelves.clone();
        let records = Numbered::new(&mut shelves)?;
        let (labels, dropped) = (Interner::default(), Dropped::default());
        Ok(Self { progress, memory, shelves, records, labels, dropped, respells, persons: None })
    }

    /// How many bytes of records, or rows, are read before they go to the disk.
    pub(super) fn portion(&self) -> u64 {
        self.memory.part(16).bytes()
    }

    /// Whether blocks are to be [tidy](Block::tidy).
    pub(super) fn tidies(&self) -> bool {
        !self.respells
    }

    /// Takes the records of a block.
    pub(super) fn add(&mut self, block: Block) -> Result<()> {
        let records = &mut self.records;
        let dropped = block.each_record(&mut self.labels, &mut |items| records.put(items))?;
        self.dropped.add(dropped);
        check_records(self.records.records)?;
        self.check()
    }

    /// Takes rows of persons of which more may come.
    pub(super) fn add_rows(&mut self, table: LongTable) -> Result<()> {
        let persons = match &mut self.persons {
            Some(persons) => persons,
            none => none.insert(Persons::new(&mut self.shelves)?),
        };
        let mut put = |person: &str, items: &[ItemId]| persons.put(person, items);
        self.dropped.blank_items += table.each_person(&mut self.labels, &mut put)?;
        self.progress.step(0)?;
        self.check()
    }

    /// Takes the last rows.
    pub(super) fn end_rows(&mut self, table: LongTable) -> Result<()> {
        if self.persons.is_none() {
            let mut block = table.into_block(self.progress)?;
            if self.tidies() {
                block.tidy();
            }
            return self.add(block);
        }
        self.add_rows(table)?;
        let Some(persons) = self.persons.take() else { return Ok(()) };
        let tidies = self.tidies();
        let (records, dropped) = (&mut self.records, &mut self.dropped);
        persons.each(tidies, self.memory, self.progress, &mut |items, repeated| {
            dropped.duplicates += repeated;
            match items.len() {
                0 => dropped.empty_records += 1,
                _ => records.put(items)?,
            }
            check_records(records.records)
        })
    }

    /// The labels, their copies and what is counted for each must fit.
    fn check(&self) -> Result<()> {
        let needed = vocabulary_bytes(&self.labels);
        if needed <= self.memory.part(2).bytes() {
            return Ok(());
        }
        Err(Error::Infeasible {
            what: format!(
                "{} distinct items so far need {needed} bytes of memory, and {} are half of all",
                self.labels.len(),
                self.memory.part(2).bytes()
            ),
            hint: Hint::of("allow more with {}", &[Setting::Memory]),
        })
    }

    /// As for an [`Assembly`](crate::data): other labels for items.
    pub(super) fn relabel(&mut self, change: &Respelling) -> Result<()> {
        let change = Change::new(&self.labels, change, self.progress)?;
        let new = Numbered::new(&mut self.shelves)?;
        let mut old = std::mem::replace(&mut self.records, new);
        let (mut items, mut changed) = (Vec::new(), Vec::new());
        let mut pulse = Pulse::new(self.progress);
        old.shelf.each(&mut |bytes| {
            numbers(bytes, &mut items)?;
            changed.clear();
            for &item in &items {
                self.dropped.blank_items += change.of(item, &mut changed);
            }
            let all = changed.len();
            check_length(all as u64)?;
            self.dropped.duplicates += settle(&mut changed);
            match changed.len() {
                0 => self.dropped.empty_records += 1,
                _ => self.records.put(&changed)?,
            }
            pulse.work(all)
        })?;
        self.labels = change.labels;
        self.check()
    }

    /// All that was read.
    pub(super) fn finish(self) -> Result<Spooled> {
        let labels = vocabulary_bytes(&self.labels);
        let (vocabulary, numbers) = self.labels.finish();
        let mut counts = vec![0; vocabulary.len()];
        for (&number, count) in numbers.iter().zip(self.records.counts) {
            counts[number as usize] = count;
        }
        Ok(Spooled {
            vocabulary,
            counts,
            records: self.records.records,
            occurrences: self.records.occurrences,
            dropped: self.dropped,
            skipped_lines: 0,
            format: Format::Fimi,
            assumed: Vec::new(),
            preview: Preview::default(),
            shelf: self.records.shelf,
            numbers,
            shelves: self.shelves,
            labels,
            memory: self.memory,
        })
    }
}

/// What the labels take at the highest: the interner and the vocabulary, later
/// the vocabulary, the labels that were written and their JSON; and eight
/// numbers for each.
fn vocabulary_bytes(labels: &Interner) -> u64 {
    2 * labels.bytes() + 64 * labels.len() as u64
}

/// Data on disk, and what was left out of it. The file goes with it.
#[non_exhaustive]
pub struct Spooled {
    /// The labels.
    pub vocabulary: Vocabulary,
    /// In how many records each item is.
    pub counts: Vec<u64>,
    /// How many records there are.
    pub records: u64,
    /// How many items they have together.
    pub occurrences: u64,
    /// Duplicates, blank items and empty records.
    pub dropped: Dropped,
    /// Lines or rows that were skipped because they could not be read.
    pub skipped_lines: u64,
    /// The layout it was read as.
    pub format: Format,
    /// What was taken for granted.
    pub assumed: Vec<Assumption>,
    /// The first lines as they were understood.
    pub preview: Preview,
    /// The records, in numbers in the order of arrival.
    pub(crate) shelf: DiskShelf,
    /// The number of an item by its number on the shelf.
    pub(crate) numbers: Vec<ItemId>,
    pub(crate) shelves: DiskShelves,
    /// What the labels take of the memory.
    pub(crate) labels: u64,
    pub(crate) memory: Budget,
}

impl Spooled {
    /// What was left out.
    pub fn left_out(&self) -> LeftOut {
        LeftOut::new(self.dropped, self.skipped_lines)
    }

    /// Shows every record, ascending numbers of items, in no particular order.
    ///
    /// # Errors
    /// If the disk cannot be read, `progress` says stop, and as `visit`.
    pub fn each_record(
        &mut self,
        progress: &dyn Progress,
        visit: &mut dyn FnMut(&[ItemId]) -> Result<()>,
    ) -> Result<()> {
        let (mut items, mut pulse) = (Vec::new(), Pulse::new(progress));
        self.shelf.each(&mut |bytes| {
            numbers(bytes, &mut items)?;
            for item in &mut items {
                *item = *self.numbers.get(*item as usize).ok_or_else(damaged)?;
            }
            items.sort_unstable();
            pulse.work(items.len())?;
            visit(&items)
        })
    }
}
