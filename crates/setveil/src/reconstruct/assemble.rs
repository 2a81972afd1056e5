//! From drawn records to a data set.

use crate::data::{Dataset, ItemId, Vocabulary};

/// Records one after the other; items in any order.
#[derive(Debug, Default)]
pub(super) struct Records {
    ends: Vec<usize>,
    items: Vec<ItemId>,
}

impl Records {
    /// Adds a record of distinct items.
    pub(super) fn push(&mut self, items: impl IntoIterator<Item = ItemId>) {
        let start = self.items.len();
        self.items.extend(items);
        self.items[start..].sort_unstable();
        self.ends.push(self.items.len());
    }
}

/// Puts pieces together. Labels that no record uses are left out, as a
/// [`Dataset`] asks for.
pub(super) fn assemble(vocabulary: &Vocabulary, pieces: &[Records]) -> Dataset {
    let mut used = vec![false; vocabulary.len()];
    for piece in pieces {
        piece.items.iter().for_each(|&i| used[i as usize] = true);
    }
    let mut renumber = vec![0; vocabulary.len()];
    let mut labels = Vec::new();
    for (i, _) in used.iter().enumerate().filter(|(_, u)| **u) {
        renumber[i] = labels.len() as ItemId;
        labels.push(vocabulary.label(i as ItemId));
    }
    let (mut offsets, mut items) = (vec![0], Vec::new());
    for piece in pieces {
        let base = items.len();
        items.extend(piece.items.iter().map(|&i| renumber[i as usize]));
        offsets.extend(piece.ends.iter().map(|&end| base + end));
    }
    Dataset::from_parts(Vocabulary::from_sorted(labels), offsets, items)
}
