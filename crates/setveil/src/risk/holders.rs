//! Who in a data set holds what is known.

use super::postings::Postings;
use crate::data::{Dataset, ItemId, Vocabulary, touch};

/// A data set with its holders, seen with the item numbers of the original.
pub(super) struct Holders<'a> {
    data: &'a Dataset,
    /// The records are taken in this order, if there is one.
    order: Option<&'a [u32]>,
    /// The number here of each item of the original.
    here: Vec<Option<ItemId>>,
    /// The number in the original of each item here.
    there: Vec<Option<ItemId>>,
    postings: Postings,
}

impl<'a> Holders<'a> {
    pub(super) fn new(data: &'a Dataset, original: &Dataset) -> Self {
        Self::of_records(data, original, None)
    }

    /// The original itself, with its records in another order.
    pub(super) fn in_order(original: &'a Dataset, order: &'a [u32]) -> Self {
        Self::of_records(original, original, Some(order))
    }

    fn of_records(data: &'a Dataset, original: &Dataset, order: Option<&'a [u32]>) -> Self {
        let here = numbers(original.vocabulary(), data.vocabulary());
        let there = numbers(data.vocabulary(), original.vocabulary());
        let postings = Postings::new(data, |record| place(order, record));
        Self { data, order, here, there, postings }
    }

    /// The items of a record, with the original's numbers. Items that the
    /// original does not have are left out: they are nobody's.
    pub(super) fn items(&self, record: u32) -> impl Iterator<Item = ItemId> {
        let items = self.data.record(place(self.order, record)).iter();
        items.filter_map(|&item| self.there[item as usize])
    }

    /// Fetches some records from memory, all at the same time.
    pub(super) fn fetch(&self, records: &[u32]) {
        let records = records.iter().map(|&record| self.data.record(place(self.order, record)));
        touch(records.flat_map(|items| [items.first(), items.last()]).flatten());
    }

    /// The records that hold all of `known`; if there are none, those that
    /// hold most of it; if nobody holds anything of it, all. Ascending.
    pub(super) fn of(&self, known: &[ItemId]) -> Vec<u32> {
        self.postings.of(known.iter().map(|&item| self.here[item as usize]))
    }
}

/// Where a record stands in the data set.
fn place(order: Option<&[u32]>, record: u32) -> usize {
    order.map_or(record, |order| order[record as usize]) as usize
}

/// For each label of `from` its number in `to`.
fn numbers(from: &Vocabulary, to: &Vocabulary) -> Vec<Option<ItemId>> {
    from.labels().map(|label| to.id(label)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holders_of_all_or_of_most() {
        let original = Dataset::from_records([vec!["a", "b", "c", "d"], vec!["e"]]);
        let world =
            Dataset::from_records([vec!["a", "b"], vec!["b", "c"], vec!["a", "b", "x"], vec!["d"]]);
        let holders = Holders::new(&world, &original);
        assert_eq!(holders.of(&[0, 1]), [0, 2]);
        assert_eq!(holders.of(&[0, 1, 2]), [0, 1, 2], "two of three");
        assert_eq!(holders.of(&[0, 4]), [0, 2], "nobody has e");
        assert_eq!(holders.of(&[4]), [0, 1, 2, 3], "nobody has it, so it may be anybody");
        assert_eq!(holders.items(2).collect::<Vec<_>>(), [0, 1], "x is nobody's");
    }
}
