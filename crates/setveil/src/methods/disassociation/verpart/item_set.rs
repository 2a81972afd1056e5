//! A set of items that gives them back in order, without sorting.

use crate::data::ItemId;

const BITS: usize = u64::BITS as usize;

/// A set of items. A bit of a word of `groups` says that a word of
/// `items` is not zero, so that few items among millions are found quickly.
#[derive(Debug, Default)]
pub(super) struct ItemSet {
    items: Vec<u64>,
    groups: Vec<u64>,
}

impl ItemSet {
    /// Makes room for items below `count`.
    pub(super) fn reserve(&mut self, count: usize) {
        let words = count.div_ceil(BITS);
        if words > self.items.len() {
            self.items.resize(words, 0);
            self.groups.resize(words.div_ceil(BITS), 0);
        }
    }

    /// # Panics
    /// If there is no room for the item.
    #[inline]
    pub(super) fn insert(&mut self, item: ItemId) {
        let word = item as usize / BITS;
        self.items[word] |= 1 << (item as usize % BITS);
        self.groups[word / BITS] |= 1 << (word % BITS);
    }

    /// Takes all items out, ascending.
    #[inline]
    pub(super) fn drain(&mut self, mut f: impl FnMut(ItemId)) {
        for (group, words) in self.groups.iter_mut().enumerate() {
            for_each_bit(std::mem::take(words), |bit| {
                let word = group * BITS + bit;
                let items = std::mem::take(&mut self.items[word]);
                for_each_bit(items, |bit| f((word * BITS + bit) as ItemId));
            });
        }
    }
}

#[inline]
fn for_each_bit(mut word: u64, mut f: impl FnMut(usize)) {
    while word != 0 {
        f(word.trailing_zeros() as usize);
        word &= word - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_back_once_and_in_order() {
        let mut set = ItemSet::default();
        for items in [&[4095, 0, 63, 64, 4096, 63, 9999][..], &[], &[5]] {
            set.reserve(10_000);
            items.iter().for_each(|&item| set.insert(item));
            let mut expected = items.to_vec();
            expected.sort_unstable();
            expected.dedup();
            let mut found = Vec::new();
            set.drain(|item| found.push(item));
            assert_eq!(found, expected);
        }
    }
}
