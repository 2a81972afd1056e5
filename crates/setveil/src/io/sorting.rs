//! Sorts byte strings that do not fit into memory: sorted runs on shelves, which are merged.
//!
//! The order is that of the bytes. Equal strings stay as many as they are; which
//! of them came first shows nowhere.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::shelves::{DiskShelf, DiskShelves, Strings};
use crate::data::{Shelf, Shelves, prefix};
use crate::progress::{Progress, Pulse};
use crate::{Error, Result};

/// The most runs that are merged at once: each has a window in memory.
const FAN: usize = 32;
/// The most bytes of a run, whatever memory there is: spans count in 32 bits.
const RUN: usize = 1 << 30;

/// Takes byte strings in any order and gives them back in theirs.
pub struct Sorter<'a> {
    shelves: DiskShelves,
    progress: &'a dyn Progress,
    /// How much of a run is in memory.
    limit: usize,
    text: Vec<u8>,
    spans: Vec<Span>,
    runs: Vec<DiskShelf>,
}

/// A string in the text; its beginning decides nearly every comparison.
#[derive(Clone, Copy)]
struct Span {
    prefix: u64,
    start: u32,
    length: u32,
}

impl Span {
    fn of<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start as usize..][..self.length as usize]
    }
}

impl<'a> Sorter<'a> {
    /// Sorts with about `memory` bytes.
    pub fn new(shelves: &DiskShelves, memory: u64, progress: &'a dyn Progress) -> Self {
        let limit = usize::try_from(memory).unwrap_or(RUN).clamp(1 << 10, RUN);
        let (text, spans, runs) = (Vec::new(), Vec::new(), Vec::new());
        Self { shelves: shelves.clone(), progress, limit, text, spans, runs }
    }

    /// Takes one string.
    ///
    /// # Errors
    /// If the disk cannot be written, or `progress` says stop.
    pub fn add(&mut self, bytes: &[u8]) -> Result<()> {
        let full = self.text.len() + bytes.len() + (self.spans.len() + 1) * size_of::<Span>();
        if full > self.limit && !self.spans.is_empty() {
            self.end_run()?;
        }
        let Ok(length) = u32::try_from(bytes.len()) else {
            let what =
                format!("a cluster has {} bytes, and at most 4 GiB can be sorted", bytes.len());
            return Err(Error::Infeasible { what, hint: "let clusters be smaller".into() });
        };
        let start = self.text.len() as u32;
        self.text.extend_from_slice(bytes);
        self.spans.push(Span { prefix: prefix(bytes), start, length });
        Ok(())
    }

    /// Shows all strings, ascending.
    ///
    /// # Errors
    /// If the disk cannot be read or written, `progress` says stop, and as `visit`.
    pub fn each(mut self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if self.runs.is_empty() {
            self.sort()?;
            return self.spans.iter().try_for_each(|span| visit(span.of(&self.text)));
        }
        self.end_run()?;
        (self.text, self.spans) = (Vec::new(), Vec::new());
        while self.runs.len() > FAN {
            let rest = self.runs.split_off(FAN);
            let mut merged = self.shelves.shelf()?;
            merge(&mut self.runs, &mut |bytes| merged.put(bytes), self.progress)?;
            self.runs = rest;
            self.runs.push(merged);
        }
        merge(&mut self.runs, visit, self.progress)
    }

    fn sort(&mut self) -> Result<()> {
        let text = &self.text;
        self.spans.par_sort_unstable_by(|a, b| {
            a.prefix.cmp(&b.prefix).then_with(|| a.of(text).cmp(b.of(text)))
        });
        self.progress.step(0)
    }

    fn end_run(&mut self) -> Result<()> {
        self.sort()?;
        let (mut run, mut pulse) = (self.shelves.shelf()?, Pulse::new(self.progress));
        for span in &self.spans {
            run.put(span.of(&self.text))?;
            pulse.work(span.length as usize)?;
        }
        self.runs.push(run);
        self.text.clear();
        self.spans.clear();
        Ok(())
    }
}

/// Shows the strings of sorted runs, ascending.
fn merge(
    runs: &mut [DiskShelf],
    visit: &mut dyn FnMut(&[u8]) -> Result<()>,
    progress: &dyn Progress,
) -> Result<()> {
    let mut readers: Vec<Strings> =
        runs.iter_mut().map(DiskShelf::strings).collect::<Result<_>>()?;
    let mut heads = BinaryHeap::with_capacity(readers.len());
    for (at, reader) in readers.iter_mut().enumerate() {
        heads.extend(reader.next()?.map(|bytes| Reverse((bytes.to_vec(), at))));
    }
    let mut pulse = Pulse::new(progress);
    while let Some(mut head) = heads.peek_mut() {
        let Reverse((bytes, at)) = &mut *head;
        visit(bytes)?;
        pulse.work(bytes.len())?;
        match readers[*at].next()? {
            Some(next) => {
                bytes.clear();
                bytes.extend_from_slice(next);
            }
            None => {
                std::collections::binary_heap::PeekMut::pop(head);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted(strings: &[Vec<u8>], memory: u64) -> Vec<Vec<u8>> {
        let dir = tempfile::tempdir().unwrap();
        let shelves = DiskShelves::new(&dir.path().join("r"), None, 1 << 12).unwrap();
        let mut sorter = Sorter::new(&shelves, memory, &());
        strings.iter().for_each(|bytes| sorter.add(bytes).unwrap());
        let mut found = Vec::new();
        let mut take = |bytes: &[u8]| {
            found.push(bytes.to_vec());
            Ok(())
        };
        sorter.each(&mut take).unwrap();
        found
    }

    proptest! {
        #![proptest_config(testkit::settings::cases(48))]

        #[test]
        fn runs_on_disk_give_the_order_of_memory(
            strings in prop::collection::vec(prop::collection::vec(0u8..3, 0..12), 0..400),
        ) {
            let mut expected = strings.clone();
            expected.sort_unstable();
            prop_assert_eq!(sorted(&strings, 1 << 10), expected.clone());
            prop_assert_eq!(sorted(&strings, 1 << 20), expected);
        }
    }

    #[test]
    fn more_runs_than_are_merged_at_once() {
        let strings: Vec<Vec<u8>> =
            (0..3000u32).map(|n| (n.wrapping_mul(2_654_435_761)).to_be_bytes().to_vec()).collect();
        let mut expected = strings.clone();
        expected.sort_unstable();
        // About fifty strings a run: sixty runs.
        assert_eq!(sorted(&strings, 1 << 10), expected);
    }
}
