//! The K most frequent itemsets, exactly and without a limit on their length.
//!
//! The ranking is by support, larger first; then by size, smaller first; then
//! by text. In this order an itemset always stands after each of its subsets,
//! so a best-first search over prefixes meets the itemsets in the order of
//! the ranking: whatever is taken from the frontier is final, and at most K
//! itemsets are ever extended. A record of hundreds of items costs nothing
//! special: its subsets enter the frontier one size at a time, and the search
//! ends before they explode.

mod numbers;
mod transactions;

use std::cmp::Reverse;
use std::collections::BTreeSet;

pub use transactions::{Index, Transactions};

use crate::data::ItemId;
use crate::{Progress, Result};

/// An itemset and the weight of the transactions that contain it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frequent {
    /// The items, ascending.
    pub items: Vec<ItemId>,
    /// How many transactions contain them.
    pub support: u64,
}

/// Which two items may stand in one itemset.
pub type Compatible<'a> = &'a dyn Fn(ItemId, ItemId) -> bool;

/// The first `k` itemsets of the ranking; fewer if fewer occur. A step is an
/// itemset.
///
/// # Errors
/// If `progress` says stop.
///
/// # Complexity
/// At most `k` itemsets are extended; extending one reads the transactions
/// that contain it once. The frontier never holds more than `k` itemsets.
///
/// ```
/// use setveil::mine::{Transactions, top_k};
///
/// let mut transactions = Transactions::builder(3);
/// transactions.push(&[0, 1], 4);
/// transactions.push(&[0, 2], 1);
/// let top = top_k(&transactions.build(&())?, 3, &|_, _| true, &())?;
/// let sets: Vec<(&[u32], u64)> = top.iter().map(|f| (&f.items[..], f.support)).collect();
/// assert_eq!(sets, [(&[0][..], 5), (&[1], 4), (&[0, 1], 4)]);
/// # Ok::<(), setveil::Error>(())
/// ```
pub fn top_k(
    transactions: &Transactions,
    k: usize,
    compatible: Compatible,
    progress: &dyn Progress,
) -> Result<Vec<Frequent>> {
    let mut frontier = Frontier { best: BTreeSet::new(), room: k };
    for item in 0..transactions.item_count() as ItemId {
        frontier.offer(transactions.support(item), &[], item);
    }
    let mut top = Vec::new();
    // Items that do not stand among the first themselves are in no itemset that does.
    let mut wanted = vec![false; transactions.item_count()];
    frontier.best.iter().for_each(|(_, _, items)| wanted[items[0] as usize] = true);
    let index = transactions.index(|item| wanted[item as usize], progress)?;
    let mut extension = Extension::new(transactions, &index);
    while let Some((Reverse(support), _, items)) = frontier.best.pop_first() {
        frontier.room -= 1;
        progress.step(1)?;
        if frontier.room > 0 {
            extension.offer_all(&items, compatible, &mut frontier);
        }
        top.push(Frequent { items, support });
    }
    Ok(top)
}

/// The best itemsets that are known and not taken yet: at most `room`.
struct Frontier {
    best: BTreeSet<(Reverse<u64>, usize, Vec<ItemId>)>,
    room: usize,
}

impl Frontier {
    fn offer(&mut self, support: u64, prefix: &[ItemId], item: ItemId) {
        if support == 0 || self.room == 0 {
            return;
        }
        let size = prefix.len() + 1;
        if self.best.len() >= self.room {
            // Most candidates fail here, before anything is allocated.
            let (worst_support, worst_size, _) = self.best.last().expect("room > 0");
            if (Reverse(support), size) > (*worst_support, *worst_size) {
                return;
            }
        }
        let mut items = Vec::with_capacity(size);
        items.extend_from_slice(prefix);
        items.push(item);
        self.best.insert((Reverse(support), size, items));
        while self.best.len() > self.room {
            self.best.pop_last();
        }
    }
}

/// Scratch space for extending itemsets.
struct Extension<'a> {
    transactions: &'a Transactions,
    index: &'a Index,
    counts: Vec<u64>,
    touched: Vec<ItemId>,
}

impl<'a> Extension<'a> {
    fn new(transactions: &'a Transactions, index: &'a Index) -> Self {
        let counts = vec![0; transactions.item_count()];
        Self { transactions, index, counts, touched: Vec::new() }
    }

    /// Offers `items` plus each later item, so that every itemset is reached
    /// by its one ascending prefix.
    fn offer_all(&mut self, items: &[ItemId], compatible: Compatible, frontier: &mut Frontier) {
        let last = *items.last().expect("no itemset is empty");
        for t in self.index.containing(items) {
            let (record, weight) = self.transactions.get(t);
            for &item in &record[record.partition_point(|&i| i <= last)..] {
                if self.counts[item as usize] == 0 {
                    self.touched.push(item);
                }
                self.counts[item as usize] += weight;
            }
        }
        for item in self.touched.drain(..) {
            let support = std::mem::take(&mut self.counts[item as usize]);
            if items.iter().all(|&i| compatible(i, item)) {
                frontier.offer(support, items, item);
            }
        }
    }
}
