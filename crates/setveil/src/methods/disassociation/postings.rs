//! Posting lists that shrink as records leave, and the terms by how many
//! records they have left: what a chain of HORPART is made of.

use crate::data::ItemId;

/// Which records of a chain have each item.
///
/// Nothing is subtracted from a list when a record leaves: the list forgets
/// who is gone when it is looked at, which few lists often are.
#[derive(Debug, Default)]
pub(super) struct Postings {
    /// Per item: where its list lies.
    spans: Vec<Span>,
    /// The items that occur.
    present: Vec<ItemId>,
    lists: Vec<u32>,
    gone: Vec<bool>,
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
    }

    fn clear(&mut self) {
        for item in self.present.drain(..) {
            self.spans[item as usize] = Span::default();
        }
    }

    /// The items that occur, in any order.
    pub(super) fn present(&self) -> &[ItemId] {
        &self.present
    }

    /// Those that had the item when they were last counted.
    pub(super) fn list(&self, item: ItemId) -> &[u32] {
        let Span { start, end } = self.spans[item as usize];
        &self.lists[start as usize..end as usize]
    }

    /// How many of the records that are left have the item.
    pub(super) fn count(&mut self, item: ItemId) -> u32 {
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

    /// The records on the item's list leave.
    pub(super) fn leave(&mut self, item: ItemId) {
        let Span { start, end } = self.spans[item as usize];
        for &record in &self.lists[start as usize..end as usize] {
            self.gone[record as usize] = true;
        }
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
