//! The labels of the items, interned.
//!
//! Invariant: labels are distinct and in ascending byte order, so comparing
//! two ids compares the two labels. Every tie that a method breaks by id is
//! broken by the item's text, and no release depends on the order of arrival.

/// A dense number for an item; an index into a [`Vocabulary`].
pub type ItemId = u32;

/// Distinct labels in ascending order, in one allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vocabulary {
    text: String,
    /// `ends[i]` is where label `i` ends in `text`.
    ends: Vec<usize>,
}

impl Vocabulary {
    /// Interns `labels`, which may come in any order and repeat.
    pub fn new<S: AsRef<str>>(labels: impl IntoIterator<Item = S>) -> Self {
        let mut labels: Vec<S> = labels.into_iter().collect();
        labels.sort_unstable_by(|a, b| a.as_ref().cmp(b.as_ref()));
        labels.dedup_by(|a, b| a.as_ref() == b.as_ref());
        Self::from_sorted(labels)
    }

    /// Takes labels that are already distinct and ascending.
    ///
    /// # Panics
    /// In debug builds, if they are not.
    pub(crate) fn from_sorted<S: AsRef<str>>(labels: impl IntoIterator<Item = S>) -> Self {
        let mut vocabulary = Self::default();
        for label in labels {
            let label = label.as_ref();
            debug_assert!(
                vocabulary.is_empty() || vocabulary.label(vocabulary.len() as ItemId - 1) < label,
                "labels must ascend: {label:?}"
            );
            vocabulary.text.push_str(label);
            vocabulary.ends.push(vocabulary.text.len());
        }
        vocabulary
    }

    /// How many labels there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no label.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text of `item`.
    ///
    /// # Panics
    /// If `item` is not one of this vocabulary's ids.
    pub fn label(&self, item: ItemId) -> &str {
        let i = item as usize;
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.text[start..self.ends[i]]
    }

    /// The id of `label`, by binary search.
    pub fn id(&self, label: &str) -> Option<ItemId> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.label(middle as ItemId).cmp(label) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle as ItemId),
            }
        }
        None
    }

    /// All labels, ascending.
    pub fn labels(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|i| self.label(i as ItemId))
    }

    /// The texts of several items.
    pub fn texts(&self, items: &[ItemId]) -> Vec<String> {
        items.iter().map(|&i| self.label(i).to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_the_text_whatever_the_order_of_arrival() {
        let vocabulary = Vocabulary::new(["pear", "apple", "pear", "fig", "äpfel", ""]);
        assert_eq!(vocabulary.labels().collect::<Vec<_>>(), ["", "apple", "fig", "pear", "äpfel"]);
        for (i, label) in vocabulary.labels().enumerate() {
            assert_eq!(vocabulary.id(label), Some(i as ItemId));
        }
        assert_eq!(vocabulary.id("plum"), None);
        assert_eq!(Vocabulary::default().id("plum"), None);
    }
}
