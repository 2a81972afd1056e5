//! A bag of itemsets in canonical order: the one shape in which record
//! chunks, shared chunks, classes and the records of a group are published.
//!
//! As a bag with counts in the order of the items it cannot tell in which
//! order the records stood, and nobody can replay a shuffle.

use std::cmp::Ordering;

use crate::data::ItemId;
use crate::{Error, Progress, Result, progress};

/// Distinct non-empty itemsets, ascending, each with how often it occurs.
///
/// A bag that was read from a file holds whatever the file said; use
/// [`Bag::canonical_fault`] to see whether it obeys the order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bag {
    /// Where itemset `i` ends in `items`, where the next one starts, and its
    /// count. Together, as there are very many small bags.
    heads: Vec<(u32, u32)>,
    items: Vec<ItemId>,
}

impl Bag {
    /// Collects itemsets, each once per occurrence, in any order; empty ones
    /// are left out. The items of each must ascend.
    ///
    /// # Panics
    /// With more than [`Bag::MOST_ITEMS`] items in the distinct itemsets, or as
    /// many equal itemsets: see [`try_from_itemsets`](Self::try_from_itemsets).
    pub fn from_itemsets<'a>(itemsets: impl IntoIterator<Item = &'a [ItemId]>) -> Self {
        let mut all: Vec<&[ItemId]> = itemsets.into_iter().filter(|s| !s.is_empty()).collect();
        all.sort_unstable();
        Self::from_sorted(&all).expect("fewer than 2^32 items")
    }

    /// [`from_itemsets`](Self::from_itemsets) for data of any size.
    ///
    /// # Errors
    /// [`Error::TooLarge`], or [`Error::Cancelled`] if `progress` says so.
    pub fn try_from_itemsets<'a>(
        itemsets: impl IntoIterator<Item = &'a [ItemId]>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut all: Vec<&[ItemId]> = itemsets.into_iter().filter(|s| !s.is_empty()).collect();
        progress::sort_unstable_by(&mut all, |a, b| a.cmp(b), progress)?;
        Self::from_sorted(&all)
    }

    fn from_sorted(all: &[&[ItemId]]) -> Result<Self> {
        let mut bag = Self::default();
        for run in all.chunk_by(|a, b| a == b) {
            bag.try_push(run[0], count(run.len() as u64)?)?;
        }
        Ok(bag)
    }

    /// Collects itemsets with counts, in any order; equal ones are added up.
    ///
    /// # Panics
    /// As [`from_itemsets`](Self::from_itemsets).
    pub fn from_counted<'a>(counted: impl IntoIterator<Item = (&'a [ItemId], u32)>) -> Self {
        Self::try_from_counted(counted, &()).expect("fewer than 2^32 items")
    }

    /// [`from_counted`](Self::from_counted) for data of any size.
    ///
    /// # Errors
    /// [`Error::TooLarge`], or [`Error::Cancelled`] if `progress` says so.
    pub fn try_from_counted<'a>(
        counted: impl IntoIterator<Item = (&'a [ItemId], u32)>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut all: Vec<(&[ItemId], u32)> =
            counted.into_iter().filter(|(s, c)| !s.is_empty() && *c > 0).collect();
        progress::sort_unstable_by(&mut all, |a, b| a.cmp(b), progress)?;
        let mut bag = Self::default();
        for run in all.chunk_by(|a, b| a.0 == b.0) {
            bag.try_push(run[0].0, count(run.iter().map(|r| u64::from(r.1)).sum())?)?;
        }
        Ok(bag)
    }

    /// Appends an itemset as it is. Order and distinctness are the caller's
    /// affair: readers use this to keep what a file says.
    ///
    /// # Panics
    /// With more than [`Bag::MOST_ITEMS`] items: see [`try_push`](Self::try_push).
    pub fn push(&mut self, items: &[ItemId], count: u32) {
        self.try_push(items, count).expect("fewer than 2^32 items");
    }

    /// [`push`](Self::push) for data of any size.
    ///
    /// # Errors
    /// [`Error::TooLarge`]; the bag is as before then.
    pub fn try_push(&mut self, items: &[ItemId], count: u32) -> Result<()> {
        let end = end(self.items.len() as u64, items.len() as u64)?;
        self.items.extend_from_slice(items);
        self.heads.push((end, count));
        Ok(())
    }

    /// How many items the distinct itemsets of a bag may have together.
    pub const MOST_ITEMS: u64 = u32::MAX as u64;

    /// Forgets all itemsets and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.heads.clear();
        self.items.clear();
    }

    /// The number of distinct itemsets.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// The number of occurrences.
    pub fn total(&self) -> u64 {
        self.heads.iter().map(|&(_, count)| u64::from(count)).sum()
    }

    /// Itemset `i` and its count.
    pub fn get(&self, i: usize) -> (&[ItemId], u32) {
        let start = if i == 0 { 0 } else { self.heads[i - 1].0 as usize };
        let (end, count) = self.heads[i];
        (&self.items[start..end as usize], count)
    }

    /// The itemsets with their counts.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[ItemId], u32)> + Clone {
        (0..self.len()).map(|i| self.get(i))
    }

    /// The items of all distinct itemsets, one itemset after the other.
    pub fn items(&self) -> &[ItemId] {
        &self.items
    }

    /// The distinct items, ascending.
    pub fn domain(&self) -> Vec<ItemId> {
        let mut domain = self.items.clone();
        domain.sort_unstable();
        domain.dedup();
        domain
    }

    /// The occurrences that contain all of `itemset`, which must ascend.
    pub fn support(&self, itemset: &[ItemId]) -> u64 {
        self.iter()
            .filter(|(items, _)| itemset.iter().all(|i| items.binary_search(i).is_ok()))
            .map(|(_, count)| u64::from(count))
            .sum()
    }

    /// The same bag with every item renumbered. The order is kept, so it
    /// stays canonical only if `renumber` is monotone.
    pub(crate) fn renumber(&mut self, renumber: &[ItemId]) {
        self.renumber_by(|item| renumber[item as usize]);
    }

    /// The same by a function.
    pub(crate) fn renumber_by(&mut self, renumber: impl Fn(ItemId) -> ItemId) {
        self.items.iter_mut().for_each(|item| *item = renumber(*item));
    }

    /// What is wrong with the canonical form: an empty itemset, a count of
    /// zero, items or itemsets that do not ascend. With the itemset's index.
    pub fn canonical_fault(&self) -> Option<(usize, &'static str)> {
        for i in 0..self.len() {
            let (items, count) = self.get(i);
            if items.is_empty() {
                return Some((i, "an empty itemset"));
            }
            if count == 0 {
                return Some((i, "a count of zero"));
            }
            if !items.is_sorted_by(|a, b| a < b) {
                return Some((i, "items that do not ascend"));
            }
            if i > 0 && self.get(i - 1).0 >= items {
                return Some((i, "itemsets that do not ascend"));
            }
        }
        None
    }
}

/// Where an itemset of `len` items ends that starts at `start`.
fn end(start: u64, len: u64) -> Result<u32> {
    let found = start.saturating_add(len);
    u32::try_from(found).map_err(|_| too_large("items of the itemsets of one bag", found))
}

/// How often an itemset occurs.
fn count(found: u64) -> Result<u32> {
    u32::try_from(found).map_err(|_| too_large("equal itemsets in one bag", found))
}

fn too_large(what: &'static str, found: u64) -> Error {
    let hint = "anonymize the data in parts";
    Error::TooLarge { what, found, limit: Bag::MOST_ITEMS, hint }
}

/// Itemset by itemset: by items, then by count. A bag that is a beginning of
/// another comes first.
impl Ord for Bag {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}

impl PartialOrd for Bag {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_arrival_is_gone() {
        let a = Bag::from_itemsets([&[2, 3][..], &[1], &[], &[2, 3], &[1, 9]]);
        let b = Bag::from_itemsets([&[1, 9][..], &[2, 3], &[2, 3], &[1]]);
        assert_eq!(a, b);
        assert_eq!(a.iter().collect::<Vec<_>>(), [(&[1][..], 1), (&[1, 9], 1), (&[2, 3], 2)]);
        assert_eq!((a.total(), a.support(&[1]), a.support(&[2, 3])), (4, 2, 2));
        assert_eq!(a.domain(), [1, 2, 3, 9]);
        assert_eq!(a.canonical_fault(), None);
        assert_eq!(a, Bag::from_counted([(&[2, 3][..], 2), (&[1], 1), (&[1, 9], 1), (&[7], 0)]));
    }

    #[test]
    fn nothing_wraps_at_the_border() {
        let most = Bag::MOST_ITEMS;
        assert_eq!(end(most - 3, 3).unwrap(), u32::MAX);
        assert_eq!(end(most, 0).unwrap(), u32::MAX);
        for (start, len) in [(most - 2, 3), (most, 1), (u64::MAX, 2)] {
            let error = end(start, len).unwrap_err();
            assert!(matches!(error, Error::TooLarge { limit, .. } if limit == most), "{error}");
        }
        assert_eq!(count(most).unwrap(), u32::MAX);
        assert!(matches!(count(most + 1), Err(Error::TooLarge { found, .. }) if found == most + 1));
        // Counts of files are not trusted to be small.
        let twice = [(&[1][..], u32::MAX), (&[1], 1)];
        assert!(matches!(Bag::try_from_counted(twice, &()), Err(Error::TooLarge { .. })));
    }

    #[test]
    fn faults_are_seen() {
        for (pushes, word) in [
            (&[(&[][..], 1)][..], "empty"),
            (&[(&[1], 0)], "zero"),
            (&[(&[2, 1], 1)], "items that"),
            (&[(&[1, 1], 1)], "items that"),
            (&[(&[2], 1), (&[1], 1)], "itemsets"),
            (&[(&[1], 1), (&[1], 1)], "itemsets"),
        ] {
            let mut bag = Bag::default();
            for (items, count) in pushes {
                bag.push(items, *count);
            }
            assert!(bag.canonical_fault().unwrap().1.contains(word), "{pushes:?}");
        }
    }
}
