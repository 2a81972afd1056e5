//! In which records each item occurs, for supports of small itemsets.
//!
//! Rare items have a list of records, frequent ones (in one record of 64 or
//! more) a bit set: together they take no more than three times the data.

use crate::Dataset;
use crate::data::ItemId;

const WORD: usize = 64;

/// Lists and bit sets of records.
pub(crate) struct Postings {
    offsets: Vec<usize>,
    lists: Vec<u32>,
    /// Bit set number of an item, if it has one.
    dense: Vec<Option<u32>>,
    bits: Vec<u64>,
    words: usize,
}

impl Postings {
    pub(crate) fn new(data: &Dataset) -> Self {
        let supports = data.supports();
        let mut offsets = vec![0; supports.len() + 1];
        for (i, &support) in supports.iter().enumerate() {
            offsets[i + 1] = offsets[i] + support as usize;
        }
        let mut next = offsets.clone();
        let mut lists = vec![0; data.occurrences().len()];
        for (r, record) in data.records().enumerate() {
            for &item in record {
                let at = &mut next[item as usize];
                lists[*at] = r as u32;
                *at += 1;
            }
        }
        let words = data.len().div_ceil(WORD);
        let mut sets = 0;
        let dense: Vec<Option<u32>> = supports
            .iter()
            .map(|&support| {
                let dense = support as usize * WORD >= data.len();
                sets += u32::from(dense);
                dense.then(|| sets - 1)
            })
            .collect();
        let mut bits = vec![0; sets as usize * words];
        for (item, set) in dense.iter().enumerate() {
            let Some(set) = set else { continue };
            let bits = &mut bits[*set as usize * words..][..words];
            for &r in &lists[offsets[item]..offsets[item + 1]] {
                bits[r as usize / WORD] |= 1 << (r as usize % WORD);
            }
        }
        Self { offsets, lists, dense, bits, words }
    }

    /// How many records hold all of `itemset`, which must not be empty.
    pub(crate) fn support(&self, itemset: &[ItemId]) -> u32 {
        let shortest = *itemset.iter().min_by_key(|&&i| self.list(i).len()).expect("not empty");
        let others = || itemset.iter().copied().filter(move |&i| i != shortest);
        if let Some(first) = self.bit_set(shortest) {
            // All are frequent: word by word.
            let others: Vec<&[u64]> = others().filter_map(|i| self.bit_set(i)).collect();
            return (0..self.words)
                .map(|w| others.iter().fold(first[w], |all, set| all & set[w]).count_ones())
                .sum();
        }
        let mut others: Vec<ItemId> = others().collect();
        others.sort_unstable_by_key(|&i| self.list(i).len());
        let Some((&second, rest)) = others.split_first() else {
            return self.list(shortest).len() as u32;
        };
        // The first two decide the work; what they leave is little.
        let mut both = Vec::new();
        match self.bit_set(second) {
            None if self.list(second).len() < 16 * self.list(shortest).len() => {
                merge(self.list(shortest), self.list(second), &mut both);
            }
            _ => {
                let mut second = self.membership(second);
                both.extend(self.list(shortest).iter().filter(|&&r| second.contains(r)));
            }
        }
        let mut rest: Vec<Membership> = rest.iter().map(|&i| self.membership(i)).collect();
        both.into_iter().filter(|&r| rest.iter_mut().all(|m| m.contains(r))).count() as u32
    }

    fn list(&self, item: ItemId) -> &[u32] {
        &self.lists[self.offsets[item as usize]..self.offsets[item as usize + 1]]
    }

    fn bit_set(&self, item: ItemId) -> Option<&[u64]> {
        self.dense[item as usize].map(|set| &self.bits[set as usize * self.words..][..self.words])
    }

    fn membership(&self, item: ItemId) -> Membership<'_> {
        match self.bit_set(item) {
            Some(bits) => Membership::Bits(bits),
            None => Membership::List(self.list(item)),
        }
    }
}

/// The records that stand in both lists. The comparisons move the cursors
/// without a branch that the processor would have to guess.
fn merge(a: &[u32], b: &[u32], both: &mut Vec<u32>) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        if x == y {
            both.push(x);
        }
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
}

/// Answers whether records, asked in ascending order, hold an item.
enum Membership<'a> {
    Bits(&'a [u64]),
    /// What is left of the list.
    List(&'a [u32]),
}

impl Membership<'_> {
    fn contains(&mut self, record: u32) -> bool {
        match self {
            Self::Bits(bits) => bits[record as usize / WORD] >> (record as usize % WORD) & 1 == 1,
            Self::List(list) => {
                // Gallop: the next one is usually near.
                let mut step = 1;
                while step < list.len() && list[step] < record {
                    step *= 2;
                }
                let from = step / 2;
                let to = (step + 1).min(list.len());
                let at = from + list[from..to].partition_point(|&r| r < record);
                *list = &list[at..];
                list.first() == Some(&record)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supports_of_rare_and_frequent_items_agree_with_counting() {
        // Item i stands in every record whose number is divisible by i + 1 or by 97.
        let label = |i: usize| format!("{i:03}");
        let records = (0..1000usize)
            .map(|r| (0..200).filter(|i| r % (i + 1) == 0 || r % 97 == 0).map(label).collect());
        let data = Dataset::from_records(records.collect::<Vec<Vec<String>>>());
        let postings = Postings::new(&data);
        for set in
            [vec![0], vec![150], vec![1, 2], vec![1, 130], vec![120, 180], vec![2, 99, 149, 4]]
        {
            let count =
                data.records().filter(|r| set.iter().all(|i| r.binary_search(i).is_ok())).count();
            assert_eq!(postings.support(&set), count as u32, "{set:?}");
        }
    }
}
