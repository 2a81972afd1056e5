//! Posting lists that shrink as records leave, and the terms by how many
//! records they have left: what a chain of HORPART is made of.

use crate::data::ItemId;

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
    present: Vec<ItemId>,
    lists: Vec<u32>,
    gone: Vec<bool>,
    /// How many entries of lists may still be read before counts are kept.
    budget: usize,
    /// Whether they are kept.
    kept: bool,
    /// Per item: how many of the records that are left have it, if kept; else 0.
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
        occurrences: impl Iterator<Item = (ItemId, u32)>,
    ) {
        assert!(u32::try_from(items.len()).is_ok(), "a chain of more than 2^32 occurrences");
        self.clear();
        self.spans.resize(item_count, Span::default());
        for &item in items {
            let span = &mut self.spans[item as usize];
            if span.end == 0 {
                self.present.push(item);
            }
            span.end += 1;
        }
        let mut next = 0;
        for &item in &self.present {
            let span = &mut self.spans[item as usize];
            next += std::mem::replace(span, Span { start: next, end: next }).end;
        }
        // What is longer than needed is not made shorter: it would be filled again.
        if self.lists.len() < items.len() {
            self.lists.resize(items.len(), 0);
        }
        occurrences.for_each(|(item, record)| {
            let span = &mut self.spans[item as usize];
            self.lists[span.end as usize] = record;
            span.end += 1;
        });
        self.gone.clear();
        self.gone.resize(len, false);
        self.budget = READS * items.len();
    }

    fn clear(&mut self) {
        for item in self.present.drain(..) {
            self.spans[item as usize] = Span::default();
            if self.kept {
                self.counts[item as usize] = 0;
            }
        }
        self.kept = false;
    }

    /// The items that occur, in any order.
    pub(super) fn present(&self) -> &[ItemId] {
        &self.present
    }

    /// How many records have the item, as long as nobody has left.
    pub(super) fn initial_count(&self, item: ItemId) -> u32 {
        let Span { start, end } = self.spans[item as usize];
        end - start
    }

    /// How many of the records that are left have the item.
    pub(super) fn count(&mut self, item: ItemId) -> u32 {
        if self.kept {
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
        self.kept = true;
        self.counts.resize(self.spans.len(), 0);
        for i in 0..self.present.len() {
            self.counts[self.present[i] as usize] = self.shorten(self.present[i]);
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
            left += usize::from(!self.gone[record as usize]);
        }
        span.end = span.start + left as u32;
        left as u32
    }

    /// The records that have the item leave; gives them. Nobody may have left
    /// since the item was counted. `row` tells the items of a record.
    pub(super) fn take<'r>(&mut self, item: ItemId, row: impl Fn(u32) -> &'r [ItemId]) -> &[u32] {
        if self.kept {
            self.shorten(item);
        }
        let Span { start, end } = self.spans[item as usize];
        let list = &self.lists[start as usize..end as usize];
        debug_assert!(list.iter().all(|&record| !self.gone[record as usize]));
        for &record in list {
            self.gone[record as usize] = true;
        }
        if self.kept {
            for &item in list.iter().flat_map(|&record| row(record)) {
                self.counts[item as usize] -= 1;
            }
        }
        list
    }

    /// The records that are left.
    pub(super) fn left(&self) -> impl Iterator<Item = u32> {
        (0u32..).zip(&self.gone).filter(|(_, gone)| !**gone).map(|(record, _)| record)
    }
}

/// Items by a count that only falls.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Per count: the last item that came with it, plus one.
    last: Vec<u32>,
    /// Per item: the one that came before it with the same count, plus one.
    before: Vec<u32>,
}

impl Queue {
    /// Prepares for items below `item_count`.
    pub(super) fn prepare(&mut self, item_count: usize) {
        self.before.resize(item_count, 0);
    }

    pub(super) fn push(&mut self, count: u32, item: ItemId) {
        let count = count as usize;
        if self.last.len() <= count {
            self.last.resize(count + 1, 0);
        }
        self.before[item as usize] = std::mem::replace(&mut self.last[count], item + 1);
    }

    /// The highest count there may be.
    pub(super) fn top(&self) -> u32 {
        self.last.len().saturating_sub(1) as u32
    }

    /// Moves the items with this count, which is the highest, to `items`,
    /// ascending.
    pub(super) fn pop_all(&mut self, count: u32, items: &mut Vec<ItemId>) {
        items.clear();
        debug_assert!(self.last.iter().skip(count as usize + 1).all(|&item| item == 0));
        self.last.truncate(count as usize + 1);
        let mut next = self.last.pop().unwrap_or(0);
        while next > 0 {
            items.push(next - 1);
            next = self.before[next as usize - 1];
        }
        items.sort_unstable();
    }

    pub(super) fn clear(&mut self) {
        self.last.clear();
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
                    rows.iter().zip(0..).flat_map(|(r, n)| r.iter().map(move |&i| (i, n)));
                postings.fill(8, rows.len(), &rows.concat(), numbered);
                postings.budget = budget;
                let mut left: Vec<u32> = (0..rows.len() as u32).collect();
                for (item, take) in steps {
                    let has = |r: &u32| rows[*r as usize].contains(&item);
                    let with: Vec<u32> = left.iter().copied().filter(has).collect();
                    prop_assert_eq!(postings.count(item) as usize, with.len());
                    if take {
                        let mut taken = postings.take(item, |r| &rows[r as usize]).to_vec();
                        taken.sort_unstable();
                        prop_assert_eq!(taken, with);
                        left.retain(|r| !has(r));
                    }
                    prop_assert_eq!(postings.left().collect::<Vec<_>>(), left.clone());
                }
            }
        }
    }

    #[test]
    fn items_come_by_count_and_then_in_order() {
        let (mut queue, mut items) = (Queue::default(), Vec::new());
        queue.prepare(6);
        for (count, item) in [(2, 5), (7, 3), (2, 0), (7, 1), (7, 4)] {
            queue.push(count, item);
        }
        assert_eq!(queue.top(), 7);
        queue.pop_all(7, &mut items);
        assert_eq!(items, [1, 3, 4]);
        queue.push(2, 3);
        queue.pop_all(6, &mut items);
        assert!(items.is_empty());
        queue.pop_all(2, &mut items);
        assert_eq!(items, [0, 3, 5]);
    }
}
