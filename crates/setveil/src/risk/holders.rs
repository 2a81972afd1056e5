//! Who in a data set holds what is known.

use crate::data::{Dataset, ItemId, Vocabulary, touch};

/// A data set with posting lists, seen with the item numbers of the original.
pub(super) struct Holders<'a> {
    data: &'a Dataset,
    /// The records are taken in this order, if there is one.
    order: Option<&'a [u32]>,
    /// The number here of each item of the original.
    here: Vec<Option<ItemId>>,
    /// The number in the original of each item here.
    there: Vec<Option<ItemId>>,
    /// The records with item `i` are `records[starts[i]..starts[i + 1]]`, ascending.
    starts: Vec<usize>,
    records: Vec<u32>,
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
        let mut starts = vec![0; data.item_count() + 1];
        for (item, support) in data.supports().into_iter().enumerate() {
            starts[item + 1] = starts[item] + support as usize;
        }
        let here = numbers(original.vocabulary(), data.vocabulary());
        let there = numbers(data.vocabulary(), original.vocabulary());
        let mut next = starts.clone();
        let records = vec![0; data.occurrences().len()];
        let mut holders = Self { data, order, here, there, starts, records };
        for r in 0..data.len() as u32 {
            for &item in data.record(holders.place(r)) {
                holders.records[next[item as usize]] = r;
                next[item as usize] += 1;
            }
        }
        holders
    }

    fn place(&self, record: u32) -> usize {
        self.order.map_or(record, |order| order[record as usize]) as usize
    }

    /// The items of a record, with the original's numbers. Items that the
    /// original does not have are left out: they are nobody's.
    pub(super) fn items(&self, record: u32) -> impl Iterator<Item = ItemId> {
        self.data.record(self.place(record)).iter().filter_map(|&item| self.there[item as usize])
    }

    /// Fetches some records from memory, all at the same time.
    pub(super) fn fetch(&self, records: &[u32]) {
        let records = records.iter().map(|&record| self.data.record(self.place(record)));
        touch(records.flat_map(|items| [items.first(), items.last()]).flatten());
    }

    /// The records that hold all of `known`; if there are none, those that
    /// hold most of it; if nobody holds anything of it, all. Ascending.
    pub(super) fn of(&self, known: &[ItemId]) -> Vec<u32> {
        let mut lists: Vec<&[u32]> = known.iter().map(|&item| self.postings(item)).collect();
        lists.sort_unstable_by_key(|list| list.len());
        let all = intersection(&lists);
        if !all.is_empty() {
            return all;
        }
        let most = most(&lists);
        if most.is_empty() { (0..self.data.len() as u32).collect() } else { most }
    }

    fn postings(&self, item: ItemId) -> &[u32] {
        match self.here[item as usize] {
            Some(item) => &self.records[self.starts[item as usize]..self.starts[item as usize + 1]],
            None => &[],
        }
    }
}

/// For each label of `from` its number in `to`.
fn numbers(from: &Vocabulary, to: &Vocabulary) -> Vec<Option<ItemId>> {
    from.labels().map(|label| to.id(label)).collect()
}

/// What is in every list; the shortest comes first.
fn intersection(lists: &[&[u32]]) -> Vec<u32> {
    let Some((first, others)) = lists.split_first() else { return Vec::new() };
    let mut found = first.to_vec();
    for list in others {
        let mut rest = *list;
        found.retain(|record| {
            rest = &rest[gallop(rest, *record)..];
            rest.first() == Some(record)
        });
    }
    found
}

/// The first position in `list` whose value is not below `value`.
fn gallop(list: &[u32], value: u32) -> usize {
    let mut step = 1;
    while step < list.len() && list[step] < value {
        step *= 2;
    }
    let (from, to) = (step / 2, (step + 1).min(list.len()));
    from + list[from..to].partition_point(|&x| x < value)
}

/// What is in most of the lists; nothing if all are empty.
fn most(lists: &[&[u32]]) -> Vec<u32> {
    let mut all: Vec<u32> = lists.iter().copied().flatten().copied().collect();
    all.sort_unstable();
    let runs = || all.chunk_by(|a, b| a == b);
    let longest = runs().map(<[u32]>::len).max().unwrap_or(0);
    runs().filter(|run| run.len() == longest).map(|run| run[0]).collect()
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
