//! The terms of a chain of HORPART by how many of its records have them.

use crate::data::ItemId;

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
    use super::*;

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
