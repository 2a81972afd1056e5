//! Posting lists that shrink as records leave: what a chain of HORPART is
//! made of.

use crate::Result;
use crate::data::ItemId;
use crate::methods::disassociation::index::Row;
use crate::methods::limits;

/// A chain may read its lists so many times over, on average, before it keeps
/// counts. Skewed data never comes near it, equally frequent terms do.
const READS: usize = 4;

/// Which records of a chain have each item.
///
/// Subtracting a record that leaves from the counts of all of its items is not
/// worth it as long as few items are asked for: the list of one that is asked
/// for forgets who is gone. What this costs is bounded; if it becomes too much,
/// counts are kept from then on.
#[derive(Debug, Default)]
pub(super) struct Postings {
    /// Per item: where its list lies.
    spans: Vec<Span>,
    /// The items that occur.
    items: Vec<ItemId>,
    lists: Vec<Row>,
    /// Per record: whether it has left.
    gone: Vec<bool>,
    /// How many entries of lists may still be read before counts are kept.
    budget: usize,
    /// Whether they are kept.
    counting: bool,
    /// Per item: how many of the records that are left have it, while counting; else 0.
    counts: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    end: u32,
}

impl Postings {
    /// Lists the occurrences of `len` records over `item_count` items: `items`
    /// and, in the same order, with the number of their record.
    pub(super) fn fill(
        &mut self,
        item_count: usize,
        len: usize,
        items: &[ItemId],
        occurrences: impl Iterator<Item = (ItemId, Row)>,
    ) -> Result<()> {
        limits::number("occurrences in one part of the data", items.len() as u64)?;
        self.clear();
        self.spans.resize(item_count, Span::default());
        for &item in items {
            let span = &mut self.spans[item as usize];
            if span.end == 0 {
                self.items.push(item);
            }
            span.end += 1;
        }
        let mut next = 0;
        for &item in &self.items {
            let span = &mut self.spans[item as usize];
            next += std::mem::replace(span, Span { start: next, end: next }).end;
        }
        // What is longer than needed is not made shorter: it would be filled again.
        if self.lists.len() < items.len() {
            self.lists.resize(items.len(), Row::default());
        }
        occurrences.for_each(|(item, record)| {
            let span = &mut self.spans[item as usize];
            self.lists[span.end as usize] = record;
            span.end += 1;
        });
        self.gone.clear();
        self.gone.resize(len, false);
        self.budget = READS * items.len();
        Ok(())
    }

    fn clear(&mut self) {
        for item in self.items.drain(..) {
            self.spans[item as usize] = Span::default();
            if self.counting {
                self.counts[item as usize] = 0;
            }
        }
        self.counting = false;
    }

    /// The items that occur, in any order.
    pub(super) fn items(&self) -> &[ItemId] {
        &self.items
    }

    /// How many records have the item, as long as nobody has left.
    pub(super) fn initial_count(&self, item: ItemId) -> u32 {
        let Span { start, end } = self.spans[item as usize];
        end - start
    }

    /// How many of the records that are left have the item.
    pub(super) fn count(&mut self, item: ItemId) -> u32 {
        if self.counting {
            return self.counts[item as usize];
        }
        let Span { start, end } = self.spans[item as usize];
        match self.budget.checked_sub((end - start) as usize) {
            Some(rest) => {
                self.budget = rest;
                self.shorten(item)
            }
            None => {
                self.keep_counts();
                self.count(item)
            }
        }
    }

    /// From now on records that leave are subtracted.
    fn keep_counts(&mut self) {
        self.counting = true;
        self.counts.resize(self.spans.len(), 0);
        for i in 0..self.items.len() {
            self.counts[self.items[i] as usize] = self.shorten(self.items[i]);
        }
    }

    /// The list of the item forgets who is gone; gives its length.
    fn shorten(&mut self, item: ItemId) -> u32 {
        let span = &mut self.spans[item as usize];
        let list = &mut self.lists[span.start as usize..span.end as usize];
        let mut left = 0;
        for i in 0..list.len() {
            // Without a branch: who is gone cannot be predicted.
            let record = list[i];
            list[left] = record;
            left += usize::from(!self.gone[record.index()]);
        }
        span.end = span.start + left as u32;
        left as u32
    }

    /// The records that have the item leave; gives them. Nobody may have left
    /// since the item was counted. `row` tells the items of a record.
    pub(super) fn take<'r>(&mut self, item: ItemId, row: impl Fn(Row) -> &'r [ItemId]) -> &[Row] {
        if self.counting {
            self.shorten(item);
        }
        let Span { start, end } = self.spans[item as usize];
        let list = &self.lists[start as usize..end as usize];
        debug_assert!(list.iter().all(|&record| !self.gone[record.index()]));
        for &record in list {
            self.gone[record.index()] = true;
        }
        if self.counting {
            for &item in list.iter().flat_map(|&record| row(record)) {
                self.counts[item as usize] -= 1;
            }
        }
        list
    }

    /// The records that are left.
    pub(super) fn left(&self) -> impl Iterator<Item = Row> {
        (0u32..).zip(&self.gone).filter(|(_, gone)| !**gone).map(|(record, _)| Row(record))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(testkit::settings::cases(256))]

        /// Whenever counts begin to be kept, they say what the records say, and
        /// nothing of one chain is left for the next.
        #[test]
        fn counts_and_lists_agree_with_the_records(
            chains in prop::collection::vec(
                (
                    prop::collection::vec(prop::collection::btree_set(0u32..8, 0..6), 1..20),
                    prop::collection::vec((0u32..8, any::<bool>()), 1..12),
                    0usize..60,
                ),
                1..4,
            ),
        ) {
            let mut postings = Postings::default();
            for (rows, steps, budget) in chains {
                let rows: Vec<Vec<ItemId>> =
                    rows.iter().map(|row| row.iter().copied().collect()).collect();
                let numbered =
                    rows.iter().zip(0..).flat_map(|(r, n)| r.iter().map(move |&i| (i, Row(n))));
                postings.fill(8, rows.len(), &rows.concat(), numbered).unwrap();
                postings.budget = budget;
                let mut left: Vec<Row> = (0..rows.len() as u32).map(Row).collect();
                for (item, take) in steps {
                    let has = |r: &Row| rows[r.index()].contains(&item);
                    let with: Vec<Row> = left.iter().copied().filter(has).collect();
                    prop_assert_eq!(postings.count(item) as usize, with.len());
                    if take {
                        let mut taken = postings.take(item, |r| &rows[r.index()]).to_vec();
                        taken.sort_unstable();
                        prop_assert_eq!(taken, with);
                        left.retain(|r| !has(r));
                    }
                    prop_assert_eq!(postings.left().collect::<Vec<_>>(), left.clone());
                }
            }
        }
    }
}
