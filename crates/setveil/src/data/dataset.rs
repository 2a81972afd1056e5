//! Records as one flat array of sorted item ids.
//!
//! Invariants: the items of a record ascend and are distinct; no record is
//! empty; every label of the vocabulary occurs in some record. There are no
//! strings after reading and no identifiers of records at any time.

use rayon::prelude::*;

use super::{Assembly, Block, ItemId, Vocabulary};
use crate::Result;

/// Set-valued data: `len()` records over `vocabulary()`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dataset {
    vocabulary: Vocabulary,
    /// Record `r` is `items[offsets[r]..offsets[r + 1]]`.
    offsets: Vec<usize>,
    items: Vec<ItemId>,
}

/// What was left out when the data was read, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Items that stood in their record already.
    pub duplicates: u64,
    /// Records without an item: nothing to hide, nothing to publish.
    pub empty_records: u64,
    /// Items that are nothing but white space.
    pub blank_items: u64,
}

impl Dropped {
    /// Adds what was left out elsewhere.
    pub fn add(&mut self, other: Self) {
        self.duplicates += other.duplicates;
        self.empty_records += other.empty_records;
        self.blank_items += other.blank_items;
    }
}

impl Dataset {
    /// Builds a data set from records of labels; for examples and tests.
    ///
    /// # Panics
    /// With more than 2^32 - 1 records or labels.
    pub fn from_records<R, S>(records: impl IntoIterator<Item = R>) -> Self
    where
        R: IntoIterator<Item = S>,
        S: AsRef<str>,
    {
        let mut builder = DatasetBuilder::default();
        for record in records {
            for item in record {
                builder.push(item.as_ref());
            }
            builder.end_record();
        }
        builder.finish().expect("few enough records and labels").0
    }

    /// Assembles a data set from parts that already satisfy the invariants.
    pub(crate) fn from_parts(
        vocabulary: Vocabulary,
        offsets: Vec<usize>,
        items: Vec<ItemId>,
    ) -> Self {
        debug_assert_eq!(offsets.first(), Some(&0));
        debug_assert_eq!(offsets.last(), Some(&items.len()));
        debug_assert!(
            offsets.windows(2).all(|w| w[0] < w[1] && items[w[0]..w[1]].is_sorted_by(|a, b| a < b))
        );
        debug_assert!(items.iter().all(|&i| (i as usize) < vocabulary.len()));
        Self { vocabulary, offsets, items }
    }

    /// The same labels with other records; empty ones are left out. For
    /// methods that drop or replace items of the original.
    ///
    /// # Panics
    /// In debug builds, if a record does not ascend.
    pub fn with_records<'a>(&self, records: impl IntoIterator<Item = &'a [ItemId]>) -> Self {
        let (mut offsets, mut items) = (vec![0], Vec::new());
        for record in records.into_iter().filter(|r| !r.is_empty()) {
            items.extend_from_slice(record);
            offsets.push(items.len());
        }
        Self::from_parts(self.vocabulary.clone(), offsets, items)
    }

    /// The same data with other records, none of them empty, in some places, which ascend.
    pub(crate) fn with_replaced(&self, records: &[(u32, &[ItemId])]) -> Self {
        let mut offsets = Vec::with_capacity(self.offsets.len());
        let mut items = Vec::with_capacity(self.items.len());
        let mut next = 0;
        let end = (self.len() as u32, &[][..]);
        for &(place, record) in records.iter().chain([&end]) {
            // What stands in between, and then the new record.
            let (start, at) = (self.offsets[next], items.len());
            let between = next..place as usize;
            offsets.extend(self.offsets[between.clone()].iter().map(|o| o - start + at));
            items.extend_from_slice(self.occurrences_of(between));
            offsets.push(items.len());
            items.extend_from_slice(record);
            next = place as usize + 1;
        }
        Self::from_parts(self.vocabulary.clone(), offsets, items)
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items of record `r`, ascending.
    pub fn record(&self, r: usize) -> &[ItemId] {
        &self.items[self.offsets[r]..self.offsets[r + 1]]
    }

    /// Writes the items of some records to `rows`, and fetches them from memory.
    pub(crate) fn fetch<'a>(&'a self, records: &[u32], rows: &mut Vec<&'a [ItemId]>) {
        rows.clear();
        rows.extend(records.iter().map(|&r| self.record(r as usize)));
        touch(rows.iter().flat_map(|row| [row.first(), row.last()]).flatten());
    }

    /// All records in the order of the input.
    pub fn records(&self) -> impl ExactSizeIterator<Item = &[ItemId]> + Clone {
        self.offsets.windows(2).map(|w| &self.items[w[0]..w[1]])
    }

    /// The numbers of the records by their content: what is drawn in this order depends on
    /// that of the rows only in which of several equal records is meant.
    pub(crate) fn order_by_content(&self) -> Vec<u32> {
        // By keys of as many items as fit into 64 bits: at least two, which tell most records apart.
        let bits = (self.item_count().max(1).ilog2() + 1) as usize;
        let first = 64 / bits;
        let key = |record: &[ItemId]| {
            let item = |i: usize| record.get(i).map_or(0, |&item| u64::from(item) + 1);
            (0..first).fold(0, |key, i| key << bits | item(i))
        };
        let rest = |r: u32| self.record(r as usize).get(first..).unwrap_or_default();
        let mut keyed: Vec<(u64, u32)> = self.records().map(key).zip(0..).collect();
        keyed.par_sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| rest(a.1).cmp(rest(b.1))).then(a.1.cmp(&b.1))
        });
        keyed.into_iter().map(|(_, record)| record).collect()
    }

    /// All items of all records, one record after the other.
    pub fn occurrences(&self) -> &[ItemId] {
        &self.items
    }

    /// The items of some successive records, one record after the other.
    pub(crate) fn occurrences_of(&self, records: std::ops::Range<usize>) -> &[ItemId] {
        &self.items[self.offsets[records.start]..self.offsets[records.end]]
    }

    /// The labels.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// How many distinct items there are.
    pub fn item_count(&self) -> usize {
        self.vocabulary.len()
    }

    /// In how many records each item occurs.
    pub fn supports(&self) -> Vec<u32> {
        let count = |items: &[ItemId]| {
            let mut supports = vec![0; self.item_count()];
            items.iter().for_each(|&item| supports[item as usize] += 1);
            supports
        };
        // A table for each thread pays only where it is small beside the items.
        let share = self.items.len().div_ceil(rayon::current_num_threads()).max(1);
        if share < 8 * self.item_count().max(1 << 14) {
            return count(&self.items);
        }
        let add = |mut left: Vec<u32>, right: Vec<u32>| {
            left.iter_mut().zip(right).for_each(|(l, r)| *l += r);
            left
        };
        self.items.par_chunks(share).map(count).reduce_with(add).unwrap_or_default()
    }

    /// The number of items in the longest record.
    pub fn max_length(&self) -> usize {
        self.records().map(<[ItemId]>::len).max().unwrap_or(0)
    }

    /// The mean number of items in a record.
    pub fn mean_length(&self) -> f64 {
        if self.is_empty() { 0.0 } else { self.items.len() as f64 / self.len() as f64 }
    }
}

/// Fetches items from memory, all at the same time. If they lie far from each
/// other, who worked through them one at a time would wait for each.
pub(crate) fn touch<'a>(items: impl Iterator<Item = &'a ItemId>) {
    std::hint::black_box(items.fold(0, |sum: ItemId, item| sum.wrapping_add(*item)));
}

/// Collects records of labels into a [`Dataset`].
#[derive(Debug, Default)]
pub struct DatasetBuilder {
    block: Block,
}

impl DatasetBuilder {
    /// Adds an item to the current record.
    pub fn push(&mut self, label: &str) {
        self.block.push(label);
    }

    /// Ends the current record.
    pub fn end_record(&mut self) {
        self.block.end_record();
    }

    /// Ends reading: ids are renumbered in the order of the labels. Items
    /// after the last ended record are forgotten.
    pub fn finish(self) -> Result<(Dataset, Dropped)> {
        let mut assembly = Assembly::default();
        assembly.add(self.block)?;
        assembly.finish(&())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_replaced_in_their_places() {
        let data = Dataset::from_records([vec!["a", "b"], vec!["c"], vec!["a", "c"], vec!["b"]]);
        let other: [&[ItemId]; 3] = [&[2], &[0, 1, 2], &[1, 2]];
        // Every subset of the places, so the first, the last and neighbours are among them.
        for chosen in 0..16_u32 {
            let places = (0..4).filter(|place| chosen >> place & 1 == 1);
            let replaced: Vec<(u32, &[ItemId])> = places.zip(other.into_iter().cycle()).collect();
            let mut rows: Vec<&[ItemId]> = data.records().collect();
            replaced.iter().for_each(|(place, record)| rows[*place as usize] = record);
            assert_eq!(data.with_replaced(&replaced), data.with_records(rows), "{replaced:?}");
        }
    }

    #[test]
    fn records_are_ordered_by_their_items() {
        let rows = [vec!["b"], vec!["a", "b", "d"], vec!["a", "b"], vec!["a"], vec!["a", "b", "c"]];
        let data = Dataset::from_records(rows);
        assert_eq!(data.order_by_content(), [3, 2, 4, 1, 0]);
        let twice = data.with_records(data.records().chain(data.records()));
        assert_eq!(twice.order_by_content(), [3, 8, 2, 7, 4, 9, 1, 6, 0, 5]);
        // Few items and many: keys of many items and of two, of which the records have more.
        for items in [1, 2, 3, 5, 40, 70_000] {
            let has =
                |r: u64, i: u64| (r.is_multiple_of(3) || i > items / 2) && (r * 7 + i * 5) % 4 < 2;
            let record = |r| (0..items).filter(move |&i| has(r, i)).map(|i| format!("{i:05}"));
            let data = Dataset::from_records((0..if items > 100 { 9 } else { 300 }).map(record));
            let mut expected: Vec<u32> = (0..data.len() as u32).collect();
            expected.sort_by_key(|&r| data.record(r as usize));
            assert_eq!(data.order_by_content(), expected, "{items}");
        }
    }
}
