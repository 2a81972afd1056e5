//! Weighted itemsets, and the list of those that contain an item.

use super::numbers::Numbers;
use crate::Result;
use crate::data::{Dataset, ItemId};
use crate::progress::{Progress, Pulse, sort_unstable_by};

/// Distinct itemsets with weights: equal ones are merged, because real data
/// repeats itself (a third of the records of BMS-WebView-1 are distinct).
#[derive(Clone, Debug, Default)]
pub struct Transactions {
    item_count: usize,
    offsets: Numbers,
    items: Vec<ItemId>,
    weights: Numbers,
    supports: Vec<u64>,
}

/// For some items the list of the transactions that contain each. It is made for one purpose
/// and given back: for all items it takes as much memory as the transactions.
#[derive(Debug)]
pub struct Index {
    /// `postings[starts[i]..starts[i + 1]]`: the transactions with item `i`.
    starts: Vec<usize>,
    postings: Vec<u32>,
    transactions: u32,
}

impl Transactions {
    /// Collects transactions over items below `item_count`.
    pub fn builder(item_count: usize) -> Builder {
        let mut offsets = Numbers::default();
        offsets.push(0);
        Builder { item_count, offsets, items: Vec::new(), weights: Numbers::default() }
    }

    /// The records of `data`, each with weight 1.
    ///
    /// # Errors
    /// If `progress` says stop.
    pub fn from_dataset(data: &Dataset, progress: &dyn Progress) -> Result<Self> {
        Self::renumbered(data, data.item_count(), progress)
    }

    /// The same over more items, of which those of `data` are the first ones.
    pub(crate) fn renumbered(
        data: &Dataset,
        item_count: usize,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let get = |t: u32| data.record(t as usize);
        Self::merged(item_count, data.len(), get, |_| 1, progress)
    }

    /// The distinct transactions among `len`.
    fn merged<'a>(
        item_count: usize,
        len: usize,
        get: impl Fn(u32) -> &'a [ItemId] + Sync,
        weight: impl Fn(u32) -> u64,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut order: Vec<u32> = (0..len as u32).filter(|&t| !get(t).is_empty()).collect();
        sort_unstable_by(&mut order, |&a, &b| get(a).cmp(get(b)), progress)?;
        let runs = || order.chunk_by(|&a, &b| get(a) == get(b));
        let (mut count, mut occurrences) = (0, 0);
        runs().for_each(|run| {
            count += 1;
            occurrences += get(run[0]).len();
        });
        let mut merged = Self {
            item_count,
            offsets: Numbers::with_capacity(count + 1),
            items: Vec::with_capacity(occurrences),
            weights: Numbers::with_capacity(count),
            supports: vec![0; item_count],
        };
        merged.offsets.push(0);
        let mut pulse = Pulse::new(progress);
        for run in runs() {
            let items = get(run[0]);
            pulse.work(run.len() + items.len())?;
            let weight = run.iter().map(|&t| weight(t)).sum();
            items.iter().for_each(|&item| merged.supports[item as usize] += weight);
            merged.items.extend_from_slice(items);
            merged.offsets.push(merged.items.len() as u64);
            merged.weights.push(weight);
        }
        Ok(merged)
    }

    /// The lists of those that contain an item, for the items that are `wanted`; others seem
    /// to be nowhere.
    ///
    /// # Errors
    /// If `progress` says stop.
    pub fn index(&self, wanted: impl Fn(ItemId) -> bool, progress: &dyn Progress) -> Result<Index> {
        let wanted: Vec<bool> = (0..self.item_count as ItemId).map(wanted).collect();
        let mut starts = vec![0; self.item_count + 1];
        let mut pulse = Pulse::new(progress);
        for items in self.items.chunks(Pulse::PORTION as usize) {
            pulse.work(items.len())?;
            let some = items.iter().filter(|&&item| wanted[item as usize]);
            some.for_each(|&item| starts[item as usize + 1] += 1);
        }
        for i in 0..self.item_count {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut postings = vec![0; starts[self.item_count]];
        for t in 0..self.len() as u32 {
            let (items, _) = self.get(t);
            pulse.work(items.len())?;
            for &item in items.iter().filter(|&&item| wanted[item as usize]) {
                postings[next[item as usize]] = t;
                next[item as usize] += 1;
            }
        }
        Ok(Index { starts, postings, transactions: self.len() as u32 })
    }

    /// How many items there may be.
    pub fn item_count(&self) -> usize {
        self.item_count
    }

    /// How many distinct transactions there are.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Transaction `t` and its weight.
    pub fn get(&self, t: u32) -> (&[ItemId], u64) {
        let t = t as usize;
        let items = self.offsets.get(t) as usize..self.offsets.get(t + 1) as usize;
        (&self.items[items], self.weights.get(t))
    }

    /// All transactions with their weights.
    pub fn iter(&self) -> impl Iterator<Item = (&[ItemId], u64)> {
        (0..self.len() as u32).map(|t| self.get(t))
    }

    /// The weight of the transactions with `item`.
    pub fn support(&self, item: ItemId) -> u64 {
        self.supports[item as usize]
    }
}

impl Index {
    fn posting(&self, item: ItemId) -> &[u32] {
        &self.postings[self.starts[item as usize]..self.starts[item as usize + 1]]
    }

    /// The transactions that contain all of `items`, which were wanted, ascending.
    pub fn containing(&self, items: &[ItemId]) -> Vec<u32> {
        let mut lists: Vec<&[u32]> = items.iter().map(|&i| self.posting(i)).collect();
        lists.sort_unstable_by_key(|l| l.len());
        let Some((&first, others)) = lists.split_first() else {
            return (0..self.transactions).collect();
        };
        let mut found = first.to_vec();
        for mut rest in others.iter().copied() {
            found.retain(|t| {
                rest = &rest[gallop(rest, *t)..];
                rest.first() == Some(t)
            });
        }
        found
    }
}

/// The first position in `list` that is not below `target`.
fn gallop(list: &[u32], target: u32) -> usize {
    let mut step = 1;
    while step < list.len() && list[step] < target {
        step *= 2;
    }
    let start = step / 2;
    let end = (step + 1).min(list.len());
    start + list[start..end].partition_point(|&t| t < target)
}

/// Transactions that are still being collected.
#[derive(Clone, Debug)]
pub struct Builder {
    item_count: usize,
    offsets: Numbers,
    items: Vec<ItemId>,
    weights: Numbers,
}

impl Builder {
    /// Adds a transaction, whose items ascend; an empty one says nothing.
    pub fn push(&mut self, items: &[ItemId], weight: u64) {
        debug_assert!(items.is_sorted_by(|a, b| a < b));
        if items.is_empty() || weight == 0 {
            return;
        }
        self.items.extend_from_slice(items);
        self.offsets.push(self.items.len() as u64);
        self.weights.push(weight);
    }

    /// Merges equal transactions.
    ///
    /// # Errors
    /// If `progress` says stop.
    pub fn build(self, progress: &dyn Progress) -> Result<Transactions> {
        let place = |t: u32| self.offsets.get(t as usize) as usize;
        let get = |t: u32| &self.items[place(t)..place(t + 1)];
        let weight = |t: u32| self.weights.get(t as usize);
        Transactions::merged(self.item_count, self.weights.len(), get, weight, progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn galloping_finds_the_first_that_is_not_below() {
        let list: Vec<u32> = (0..200).map(|i| i * 3).collect();
        for target in 0..620 {
            for from in [0, 1, 50, 199, 200] {
                let naive = list[from..].iter().take_while(|&&t| t < target).count();
                assert_eq!(gallop(&list[from..], target), naive, "{target} from {from}");
            }
        }
    }
}
