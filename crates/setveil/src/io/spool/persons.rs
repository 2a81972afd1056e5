//! Rows of persons in any order, on disk: all rows of a person come to the same
//! of many shelves, and each of these is taken into memory alone.

use std::hash::Hasher;

use rayon::slice::ParallelSliceMut;
use rustc_hash::FxHasher;

use crate::budget::Budget;
use crate::data::{ItemId, Shelf, Shelves};
use crate::error::{Hint, Setting};
use crate::io::{DiskShelf, DiskShelves};
use crate::progress::{Progress, Pulse};
use crate::release::key::{Reader, more_numbers, put_number};
use crate::{Error, Result};

/// How many shelves.
const SHELVES: usize = 256;
/// What a number takes in a list that grows.
const NUMBER: u64 = 8;

/// The rows of all persons.
pub(super) struct Persons {
    shelves: Vec<DiskShelf>,
    bytes: Vec<u8>,
}

impl Persons {
    pub(super) fn new(shelves: &mut DiskShelves) -> Result<Self> {
        let shelves = (0..SHELVES).map(|_| shelves.shelf()).collect::<Result<_>>()?;
        Ok(Self { shelves, bytes: Vec::new() })
    }

    /// Takes items of a person, who may come again.
    pub(super) fn put(&mut self, person: &str, items: &[ItemId]) -> Result<()> {
        self.bytes.clear();
        put_number(person.len() as u32, &mut self.bytes);
        self.bytes.extend_from_slice(person.as_bytes());
        items.iter().for_each(|&item| put_number(item, &mut self.bytes));
        let mut hash = FxHasher::default();
        hash.write(person.as_bytes());
        self.shelves[(hash.finish() >> 32) as usize % SHELVES].put(&self.bytes)
    }

    /// Shows the items of every person, as they came, and how many more there were: with `settles`,
    /// they ascend and each is there once.
    pub(super) fn each(
        self,
        settles: bool,
        memory: Budget,
        progress: &dyn Progress,
        visit: &mut dyn FnMut(&mut Vec<ItemId>, u64) -> Result<()>,
    ) -> Result<()> {
        let mut pulse = Pulse::new(progress);
        for mut shelf in self.shelves {
            let (mut rows, mut items) = (Vec::new(), Vec::new());
            let (mut taken, mut repeated, mut settled) = (0, 0, 0);
            shelf.each(&mut |bytes| {
                taken += (size_of::<Vec<u8>>() + 16 + bytes.len()) as u64;
                check(taken, memory)?;
                rows.push(bytes.to_vec());
                Ok(())
            })?;
            // The name comes first, so the rows of a person stand together.
            rows.par_sort_unstable();
            let mut rows = rows.iter().map(|row| person(row)).peekable();
            while let Some(row) = rows.next() {
                let (name, own) = row?;
                if settles && items.len() > 2 * settled {
                    repeated += settle(&mut items);
                    settled = items.len();
                }
                // In memory a number takes more than the byte that it may have here.
                check(taken + NUMBER * (items.len() + own.len()) as u64, memory)?;
                more_numbers(own, &mut items)?;
                let again =
                    rows.peek().is_some_and(|next| matches!(next, Ok(next) if next.0 == name));
                if again {
                    continue;
                }
                pulse.work(items.len())?;
                if settles {
                    repeated += settle(&mut items);
                }
                visit(&mut items, repeated)?;
                items.clear();
                (repeated, settled) = (0, 0);
            }
        }
        Ok(())
    }
}

/// Sorts, and drops what stands twice; how many that were.
pub(super) fn settle(items: &mut Vec<ItemId>) -> u64 {
    let all = items.len();
    items.sort_unstable();
    items.dedup();
    (all - items.len()) as u64
}

/// The name, and the bytes of the items.
fn person(row: &[u8]) -> Result<(&[u8], &[u8])> {
    let mut reader = Reader::new(row);
    let length = reader.number()? as usize;
    reader.rest().split_at_checked(length).ok_or_else(crate::release::key::broken)
}

fn check(needed: u64, memory: Budget) -> Result<()> {
    let limit = memory.part(4).bytes();
    if needed <= limit {
        return Ok(());
    }
    Err(Error::Infeasible {
        what: format!(
            "the rows of one in {SHELVES} persons need more than {limit} bytes of memory, a quarter of all"
        ),
        hint: Hint::of(
            "allow more with {}, or see whether one id stands in very many rows",
            &[Setting::Memory],
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A person of whom the same sixteen items come again and again.
    #[test]
    fn numbers_count_as_large_as_they_are_in_memory_and_what_comes_again_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let each = |settles, distinct: u32, bytes| {
            let mut shelves = DiskShelves::new(&dir.path().join("r"), None, 1 << 12).unwrap();
            let mut persons = Persons::new(&mut shelves).unwrap();
            for row in 0..100 {
                let items: Vec<ItemId> = (0..1000).map(|i| (row * 31 + i) % distinct).collect();
                persons.put("somebody", &items).unwrap();
            }
            let mut found = Vec::new();
            persons.each(settles, Budget::new(bytes), &(), &mut |items, repeated| {
                found.push((items.len(), repeated));
                Ok(())
            })?;
            Ok::<_, Error>(found)
        };
        // A hundred thousand numbers of a byte, and eight times as much in memory.
        assert_eq!(each(false, 16, 4 << 20).unwrap(), [(100_000, 0)]);
        let error = each(false, 16, 1 << 20).unwrap_err().to_string();
        assert!(error.contains("memory"), "{error}");
        assert_eq!(each(true, 16, 1 << 20).unwrap(), [(16, 99_984)]);
        assert_eq!(each(true, 100, 1 << 20).unwrap(), [(100, 99_900)]);
    }
}
