//! Sets of items whose associations an analyst needs, and which a method
//! shall keep together where it can (utility constraints).
//!
//! The list is the custodian's. No release says what was on it.

use super::{ItemId, Vocabulary};
use crate::{Error, Result};

/// The most items of a set: its pairs are looked at one by one.
const MOST_ITEMS: usize = 200;
/// The most pairs of all sets.
const MOST_PAIRS: usize = 200_000;
/// The greatest weight.
const MOST_WEIGHT: u32 = 100;

/// Items that shall stay together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeepSet {
    /// Their labels, ascending.
    pub items: Vec<String>,
    /// How much this set counts beside the others.
    pub weight: u32,
}

/// Sets of items that shall stay together, the weightiest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    sets: Vec<KeepSet>,
}

impl Keep {
    /// Sets of labels with their weights, from 1 to 100.
    ///
    /// # Errors
    /// If a set has fewer than two items or more than 200, a weight is out of its
    /// range, or all sets together have more than 200,000 pairs.
    ///
    /// ```
    /// use setveil::data::Keep;
    ///
    /// let keep = Keep::new([(["flu", "fever"], 1), (["ham", "eggs"], 5)])?;
    /// assert_eq!(keep.sets()[0].items, ["eggs", "ham"]);
    /// assert!(Keep::new([(["flu", "flu"], 1)]).is_err());
    /// # Ok::<(), setveil::Error>(())
    /// ```
    pub fn new<R, S>(sets: impl IntoIterator<Item = (R, u32)>) -> Result<Self>
    where
        R: IntoIterator<Item = S>,
        S: Into<String>,
    {
        let mut all = Vec::new();
        for (items, weight) in sets {
            let mut items: Vec<String> = items.into_iter().map(Into::into).collect();
            items.sort_unstable();
            items.dedup();
            if items.len() < 2 || items.len() > MOST_ITEMS {
                return Err(Error::Parameter {
                    name: "keep",
                    found: format!("a set of {}", counted(items.len())),
                    expected: "sets of 2 to 200 different items",
                });
            }
            if weight == 0 || weight > MOST_WEIGHT {
                return Err(Error::Parameter {
                    name: "keep",
                    found: format!("a set of weight {weight}"),
                    expected: "weights from 1 to 100",
                });
            }
            all.push(KeepSet { items, weight });
        }
        let pairs: usize = all.iter().map(|set| set.items.len() * (set.items.len() - 1) / 2).sum();
        if pairs > MOST_PAIRS {
            return Err(Error::TooLarge {
                what: "pairs of items that shall stay together",
                found: pairs as u64,
                limit: MOST_PAIRS as u64,
                hint: "choose fewer or smaller sets",
            });
        }
        // The order of the list changes nothing; of equal sets the weightiest stays.
        all.sort_by(|a, b| (&a.items, b.weight).cmp(&(&b.items, a.weight)));
        all.dedup_by(|later, first| later.items == first.items);
        all.sort_by(|a, b| (b.weight, &a.items).cmp(&(a.weight, &b.items)));
        Ok(Self { sets: all })
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The sets, the weightiest first.
    pub fn sets(&self) -> &[KeepSet] {
        &self.sets
    }

    /// Fails if an item of the list does not occur.
    ///
    /// # Errors
    /// That, with the item.
    pub fn check(&self, vocabulary: &Vocabulary) -> Result<()> {
        let mut labels = self.sets.iter().flat_map(|set| &set.items);
        match labels.find(|label| vocabulary.id(label).is_none()) {
            None => Ok(()),
            Some(label) => Err(Error::Unknown {
                what: format!("item `{label}` of the list to keep does not occur in the data"),
                hint: "check the spelling, or take it out of the list".into(),
            }),
        }
    }
}

fn counted(items: usize) -> String {
    if items == 1 { "1 item".into() } else { format!("{items} items") }
}

/// A list with the numbers of some vocabulary. Items that it does not have
/// are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Per item: the sets that it is in, ascending. Empty if nothing is wanted.
    sets_of: Vec<Vec<u32>>,
    weights: Vec<u32>,
}

impl Wanted {
    pub(crate) fn new(keep: &Keep, vocabulary: &Vocabulary) -> Self {
        if keep.is_empty() {
            return Self::default();
        }
        let mut sets_of = vec![Vec::new(); vocabulary.len()];
        for (set, number) in keep.sets.iter().zip(0..) {
            for item in set.items.iter().filter_map(|label| vocabulary.id(label)) {
                sets_of[item as usize].push(number);
            }
        }
        Self { sets_of, weights: keep.sets.iter().map(|set| set.weight).collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sets_of.is_empty()
    }

    /// How many sets there are.
    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    /// How much set number `set` counts.
    pub(crate) fn weight(&self, set: u32) -> u32 {
        self.weights[set as usize]
    }

    /// The sets that an item is in.
    pub(crate) fn sets_of(&self, item: ItemId) -> &[u32] {
        self.sets_of.get(item as usize).map_or(&[], Vec::as_slice)
    }

    /// The first set that an item is in; those without one come last.
    pub(crate) fn rank(&self, item: ItemId) -> u32 {
        self.sets_of(item).first().copied().unwrap_or(u32::MAX)
    }

    /// The weight of the weightiest set with both items; 0 if there is none.
    pub(crate) fn together(&self, a: ItemId, b: ItemId) -> u32 {
        // Weights fall, so the first set that both are in is the weightiest.
        let other = self.sets_of(b);
        let common = self.sets_of(a).iter().find(|set| other.binary_search(set).is_ok());
        common.map_or(0, |&set| self.weight(set))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_checked_and_ordered_by_weight_and_text() {
        let keep = Keep::new([(vec!["b", "a"], 1), (vec!["d", "c"], 7), (vec!["a", "b"], 2)]);
        let keep = keep.unwrap();
        let sets: Vec<(&[String], u32)> =
            keep.sets().iter().map(|set| (&set.items[..], set.weight)).collect();
        assert_eq!(sets.len(), 2);
        assert_eq!((sets[0].0, sets[0].1), (&["c".to_owned(), "d".to_owned()][..], 7));
        let vocabulary = Vocabulary::new(["a", "b", "c"]);
        assert!(keep.check(&vocabulary).unwrap_err().to_string().contains("`d`"));
        let wanted = Wanted::new(&keep, &vocabulary);
        assert_eq!((wanted.together(0, 1), wanted.together(0, 2), wanted.rank(2)), (2, 0, 0));
        for (items, weight) in [(vec!["a"], 1), (vec!["a", "b"], 0), (vec!["a", "b"], 101)] {
            assert!(Keep::new([(items, weight)]).is_err());
        }
        let many: Vec<String> = (0..201).map(|i| i.to_string()).collect();
        assert!(Keep::new([(many, 1)]).is_err());
    }
}
