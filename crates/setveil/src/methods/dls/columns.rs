//! A cluster turned on its side: for every item, the set of records that
//! hold it, as bits.
//!
//! Invariants: items ascend; bits beyond the last record are zero. A cluster
//! may have any number of records; up to 64 a column is one word.

use crate::Result;
use crate::data::ItemId;
use crate::progress::{Progress, sort_unstable_by};
use crate::release::Bag;

/// The records of each item of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Columns {
    records: usize,
    words: usize,
    items: Vec<ItemId>,
    bits: Vec<u64>,
}

impl Columns {
    /// Splits the items of a cluster into those with at least `k` records,
    /// which become columns, and the others together with what is `hidden`,
    /// whose numbers of records come last.
    pub(crate) fn split(
        records: &[&[ItemId]],
        k: u32,
        hidden: &dyn Fn(ItemId) -> bool,
        progress: &dyn Progress,
    ) -> Result<(Self, Vec<ItemId>, Vec<u32>)> {
        let words = records.len().div_ceil(64).max(1);
        let mut occurrences: Vec<(ItemId, u32)> = Vec::new();
        for (row, record) in records.iter().enumerate() {
            occurrences.extend(record.iter().map(|&item| (item, row as u32)));
        }
        sort_unstable_by(&mut occurrences, |a, b| a.cmp(b), progress)?;
        let mut columns =
            Self { records: records.len(), words, items: Vec::new(), bits: Vec::new() };
        let (mut rare, mut supports) = (Vec::new(), Vec::new());
        for run in occurrences.chunk_by(|a, b| a.0 == b.0) {
            if run.len() < k as usize || hidden(run[0].0) {
                rare.push(run[0].0);
                supports.push(run.len() as u32);
                continue;
            }
            let start = columns.bits.len();
            columns.items.push(run[0].0);
            columns.bits.resize(start + words, 0);
            for &(_, row) in run {
                columns.bits[start + row as usize / 64] |= 1 << (row % 64);
            }
        }
        Ok((columns, rare, supports))
    }

    /// The columns of `chosen`, which must ascend.
    pub(crate) fn select(&self, chosen: &[usize]) -> Self {
        let bits = chosen.iter().flat_map(|&i| self.column(i)).copied().collect();
        let items = chosen.iter().map(|&i| self.items[i]).collect();
        Self { records: self.records, words: self.words, items, bits }
    }

    /// The same items within `records` only.
    pub(crate) fn restrict(mut self, records: &[u64]) -> Self {
        for column in self.bits.chunks_exact_mut(self.words) {
            column.iter_mut().zip(records).for_each(|(x, y)| *x &= y);
        }
        self
    }

    /// How many columns there are.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// How many words a column has.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// The items, ascending.
    pub(crate) fn items(&self) -> &[ItemId] {
        &self.items
    }

    /// The records of the item at index `i`.
    pub(crate) fn column(&self, i: usize) -> &[u64] {
        &self.bits[i * self.words..(i + 1) * self.words]
    }

    /// The item at index `i`.
    pub(crate) fn item(&self, i: usize) -> ItemId {
        self.items[i]
    }

    /// How many records hold the item at index `i`.
    pub(crate) fn support(&self, i: usize) -> u32 {
        count(self.column(i))
    }

    /// How many records hold both.
    pub(crate) fn pair_support(&self, i: usize, j: usize) -> u32 {
        count_and(self.column(i), self.column(j))
    }

    /// How many records hold every item of `itemset`, which is not empty.
    pub(crate) fn itemset_support(&self, itemset: impl Iterator<Item = usize> + Clone) -> u32 {
        let word = |w| itemset.clone().fold(u64::MAX, |all, i| all & self.bits[i * self.words + w]);
        (0..self.words).map(|w| word(w).count_ones()).sum()
    }

    /// Takes the item at index `i` out of the records `from`.
    pub(crate) fn suppress(&mut self, i: usize, from: &[u64]) {
        let words = self.words;
        subtract(&mut self.bits[i * words..(i + 1) * words], from);
    }

    /// Puts the item at index `i` back into the records `from`.
    pub(crate) fn restore(&mut self, i: usize, from: &[u64]) {
        let column = &mut self.bits[i * self.words..(i + 1) * self.words];
        column.iter_mut().zip(from).for_each(|(x, y)| *x |= y);
    }

    /// The sub-records over all items, as a bag.
    pub(crate) fn chunk(&self, progress: &dyn Progress) -> Result<Bag> {
        let mut rows = vec![Vec::new(); self.records];
        for (i, &item) in self.items.iter().enumerate() {
            for row in ones(self.column(i)) {
                rows[row].push(item);
            }
        }
        progress.step(0)?;
        Bag::try_from_itemsets(rows.iter().map(Vec::as_slice), progress)
    }
}

/// The positions of the bits that are set.
pub(crate) fn ones(bits: &[u64]) -> impl Iterator<Item = usize> {
    bits.iter().enumerate().flat_map(|(w, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                w * 64 + bit
            })
        })
    })
}

/// How many bits are set.
pub(crate) fn count(a: &[u64]) -> u32 {
    a.iter().map(|w| w.count_ones()).sum()
}

/// How many bits are set in both.
pub(crate) fn count_and(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(x, y)| (x & y).count_ones()).sum()
}

/// Whether every bit of `a` is set in `b`.
pub(crate) fn within(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).all(|(x, y)| x & !y == 0)
}

/// Clears in `a` what is set in `b`.
pub(crate) fn subtract(a: &mut [u64], b: &[u64]) {
    a.iter_mut().zip(b).for_each(|(x, y)| *x &= !y);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_records_than_a_word_has_bits() {
        let rows: Vec<Vec<ItemId>> =
            (0..130).map(|r| if r % 3 == 0 { vec![1, 4] } else { vec![4] }).collect();
        let records: Vec<&[ItemId]> = rows.iter().map(Vec::as_slice).collect();
        let (columns, rare, _) = Columns::split(&records, 44, &|_| false, &()).unwrap();
        assert_eq!((columns.items(), columns.words(), rare.as_slice()), (&[1, 4][..], 3, &[][..]));
        assert_eq!(
            (columns.support(0), columns.support(1), columns.pair_support(0, 1)),
            (44, 130, 44)
        );
        assert_eq!(columns.itemset_support([0, 1].into_iter()), 44);
        assert_eq!(columns.chunk(&()).unwrap(), Bag::from_itemsets(records.iter().copied()));
        assert_eq!(
            ones(columns.column(0)).collect::<Vec<_>>(),
            (0..130).step_by(3).collect::<Vec<_>>()
        );
        let (columns, rare, _) = Columns::split(&records, 45, &|_| false, &()).unwrap();
        assert_eq!((columns.items(), rare.as_slice()), (&[4][..], &[1][..]));
    }

    #[test]
    fn suppression_touches_the_named_records_only() {
        let records: [&[ItemId]; 3] = [&[0, 1], &[0, 1], &[0]];
        let (mut columns, ..) = Columns::split(&records, 2, &|_| false, &()).unwrap();
        columns.suppress(0, &[0b010]);
        let without: [&[ItemId]; 3] = [&[0, 1], &[1], &[0]];
        assert_eq!(columns.chunk(&()).unwrap(), Bag::from_itemsets(without));
        assert_eq!(columns.select(&[1]).items(), [1]);
        assert!(!within(columns.column(0), columns.column(1)));
        columns.restore(0, &[0b010]);
        assert_eq!(columns.chunk(&()).unwrap(), Bag::from_itemsets(records));
    }
}
