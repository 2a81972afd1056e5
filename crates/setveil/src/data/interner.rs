//! Turns labels into ids in the order of arrival, then into a [`Vocabulary`]
//! in the order of the text.
//!
//! One open-addressing table over one text arena: a label costs no allocation
//! of its own, and a look-up touches one slot and the label's bytes.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::{ItemId, Vocabulary};

const EMPTY: u32 = u32::MAX;

/// An interner that is still growing.
#[derive(Debug, Default)]
pub struct Interner {
    text: String,
    ends: Vec<usize>,
    /// A power of two slots, at most half full: the upper bits of the hash
    /// and the id.
    slots: Vec<(u32, u32)>,
}

impl Interner {
    /// The id of `label`, new if it has not been seen.
    pub fn intern(&mut self, label: &str) -> ItemId {
        if self.ends.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let hash = hash(label);
        let tag = (hash >> 32) as u32;
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (found, id) = self.slots[slot];
            if id == EMPTY {
                let id = self.ends.len() as ItemId;
                self.text.push_str(label);
                self.ends.push(self.text.len());
                self.slots[slot] = (tag, id);
                return id;
            }
            if found == tag && self.label(id) == label {
                return id;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// How many distinct labels there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether nothing was interned.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text of `id`.
    pub fn label(&self, id: ItemId) -> &str {
        let i = id as usize;
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.text[start..self.ends[i]]
    }

    /// The vocabulary, and for every id of this interner its id there.
    pub fn finish(self) -> (Vocabulary, Vec<ItemId>) {
        let mut order: Vec<ItemId> = (0..self.len() as ItemId).collect();
        order.sort_unstable_by(|&a, &b| self.label(a).cmp(self.label(b)));
        let mut renumber = vec![0; self.len()];
        for (new, &old) in order.iter().enumerate() {
            renumber[old as usize] = new as ItemId;
        }
        let vocabulary = Vocabulary::from_sorted(order.iter().map(|&id| self.label(id)));
        (vocabulary, renumber)
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(1024);
        let mut slots = vec![(0, EMPTY); size];
        for id in 0..self.len() as ItemId {
            let hash = hash(self.label(id));
            let mut slot = hash as usize & (size - 1);
            while slots[slot].1 != EMPTY {
                slot = (slot + 1) & (size - 1);
            }
            slots[slot] = ((hash >> 32) as u32, id);
        }
        self.slots = slots;
    }
}

fn hash(label: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(label.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_of_labels_come_back() {
        let mut interner = Interner::default();
        let labels: Vec<String> = (0..5000).map(|i| format!("item {}", i * 7919 % 5000)).collect();
        for (i, label) in labels.iter().enumerate() {
            assert_eq!(interner.intern(label), i as ItemId);
        }
        for (i, label) in labels.iter().enumerate() {
            assert_eq!(interner.intern(label), i as ItemId);
        }
        let (vocabulary, renumber) = interner.finish();
        for (i, label) in labels.iter().enumerate() {
            assert_eq!(vocabulary.label(renumber[i]), label);
        }
    }
}
