//! The records of chains of HORPART, and the chains that wait for their turn.

use crate::Result;
use crate::data::{Dataset, ItemId};
use crate::methods::disassociation::index::{ChainId, Row};
use crate::methods::limits;
use crate::progress::Pulse;

/// The records of a chain with the items that can still split it, side by
/// side: the passes over a chain then read memory in order.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) records: Vec<u32>,
    /// Row `r` ends here among the items.
    ends: Vec<u32>,
    pub(super) items: Vec<ItemId>,
    /// Per item: its row.
    row_of: Vec<Row>,
}

impl Rows {
    fn clear(&mut self) {
        self.records.clear();
        self.ends.clear();
        self.items.clear();
        self.row_of.clear();
    }

    pub(super) fn row(&self, row: Row) -> &[ItemId] {
        let start = if row.0 == 0 { 0 } else { self.ends[row.index() - 1] };
        &self.items[start as usize..self.ends[row.index()] as usize]
    }

    /// The number of the record in the data.
    pub(super) fn record(&self, row: Row) -> u32 {
        self.records[row.index()]
    }

    /// Every item with its row.
    pub(super) fn occurrences(&self) -> impl Iterator<Item = (ItemId, Row)> {
        self.items.iter().copied().zip(self.row_of.iter().copied())
    }

    /// Takes the records of a chain, each with the items that `may_split` it.
    pub(super) fn fetch(
        &mut self,
        records: Vec<u32>,
        data: &Dataset,
        may_split: &[bool],
        pulse: &mut Pulse,
    ) -> Result<()> {
        self.clear();
        let mut ahead: Vec<&[ItemId]> = Vec::with_capacity(AHEAD);
        for some in records.chunks(AHEAD) {
            data.fetch(some, &mut ahead);
            self.append(Start::default(), ahead.iter().copied(), may_split)?;
            pulse.work(AHEAD)?;
        }
        self.records = records;
        Ok(())
    }

    /// Adds rows to the chain that starts there, each with the items that are
    /// `worth` it.
    fn append<'r>(
        &mut self,
        start: Start,
        rows: impl Iterator<Item = &'r [ItemId]> + Clone,
        worth: &[bool],
    ) -> Result<()> {
        let mut end = self.items.len();
        let most = end + rows.clone().map(<[ItemId]>::len).sum::<usize>();
        self.items.resize(most, 0);
        self.row_of.resize(most, Row::default());
        for row in rows {
            let number = Row((self.ends.len() - start.row) as u32);
            for &item in row {
                // Without a branch: what is worth it cannot be predicted.
                self.items[end] = item;
                self.row_of[end] = number;
                end += usize::from(worth[item as usize]);
            }
            self.ends.push((end - start.item) as u32);
        }
        self.items.truncate(end);
        self.row_of.truncate(end);
        // Ends that wrapped are never read: the run stops here.
        limits::number("occurrences in one part of the data", (end - start.item) as u64)?;
        Ok(())
    }
}

/// Where a chain starts among rows: ends and rows are counted from there.
#[derive(Clone, Copy, Default)]
struct Start {
    row: usize,
    item: usize,
}

/// Rows that are fetched from memory at the same time.
const AHEAD: usize = 32;

/// Chains that wait for their turn, the last first. Together they are never
/// more than the chain that they come from.
#[derive(Default)]
pub(super) struct Waiting {
    /// Those of one chain behind those of the other.
    rows: Rows,
    /// The number of each, and where it starts.
    chains: Vec<(ChainId, Start)>,
}

impl Waiting {
    /// Moves the last chain to `rows`.
    pub(super) fn pop(&mut self, rows: &mut Rows) -> Option<ChainId> {
        let (number, start) = self.chains.pop()?;
        rows.clear();
        rows.records.extend(self.rows.records.drain(start.row..));
        rows.ends.extend(self.rows.ends.drain(start.row..));
        rows.items.extend(self.rows.items.drain(start.item..));
        rows.row_of.extend(self.rows.row_of.drain(start.item..));
        Some(number)
    }

    /// Adds a chain: those of `rows` that are on the `list`, with the items
    /// that are `worth` it.
    pub(super) fn push(
        &mut self,
        number: ChainId,
        rows: &Rows,
        list: &[Row],
        worth: &[bool],
    ) -> Result<()> {
        let start = Start { row: self.rows.ends.len(), item: self.rows.items.len() };
        self.chains.push((number, start));
        self.rows.records.extend(list.iter().map(|&row| rows.record(row)));
        self.rows.append(start, list.iter().map(|&row| rows.row(row)), worth)
    }
}
