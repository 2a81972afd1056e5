//! Turns labels into ids in the order of arrival, then into a [`Vocabulary`]
//! in the order of the text.
//!
//! One open-addressing table over one text arena: a label costs no allocation
//! of its own. A label of at most seven bytes is its own key, so a look-up
//! touches one slot and nothing else; longer ones compare their text as well.

use std::hash::Hasher;

use rayon::slice::ParallelSliceMut;
use rustc_hash::FxHasher;

use super::limits::{MAX_ITEMS, check_items};
use super::{ItemId, Vocabulary};
use crate::Result;

/// The longest label that is packed into its key.
const SHORT: usize = 7;
/// The top byte of a long label's key; a short one has its length there.
const LONG: u64 = 0xff << 56;
const VACANT: u32 = u32::MAX;

/// An interner that is still growing.
#[derive(Debug)]
pub struct Interner {
    text: String,
    ends: Vec<usize>,
    /// A power of two, at most three quarters full.
    slots: Vec<Slot>,
    /// The hash's upper bits are the slot: `64 - log2(slots.len())`.
    shift: u32,
    /// How many labels get a number.
    limit: usize,
    /// Labels that came when all numbers were given away.
    refused: u64,
}

impl Default for Interner {
    fn default() -> Self {
        Self {
            text: String::new(),
            ends: Vec::new(),
            slots: Vec::new(),
            shift: 0,
            limit: MAX_ITEMS as usize,
            refused: 0,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    key: u64,
    id: u32,
}

impl Interner {
    /// The id of `label`, new if it has not been seen.
    ///
    /// When no number is left the answer is 0 and means nothing: whoever
    /// interns what a user wrote asks [`Interner::check`] before the ids are used.
    pub fn intern(&mut self, label: &str) -> ItemId {
        let key = key(label);
        match self.find(key, |here, id| key < LONG || here.label(id) == label) {
            Ok(id) => id,
            Err(at) => self.insert(at, key, label),
        }
    }

    /// As [`Interner::intern`], for a label of `len` <= 7 bytes that stand in `packed`, the first lowest.
    ///
    /// Readers call this for every item: a call of its own costs a third more
    /// instructions there, and the compiler does not see that by itself.
    #[inline(always)]
    pub(crate) fn intern_short(&mut self, packed: u64, len: usize) -> ItemId {
        let key = short_key(packed, len);
        match self.find(key, |_, _| true) {
            Ok(id) => id,
            Err(at) => self.insert_short(at, key, packed, len),
        }
    }

    /// The id that stands for `key`, where `is` says that it is this one; or the slot where it goes.
    #[inline(always)]
    fn find(&mut self, key: u64, is: impl Fn(&Self, ItemId) -> bool) -> Result<ItemId, usize> {
        if self.ends.len() * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = self.home(key);
        loop {
            let slot = self.slots[at];
            if slot.id == VACANT {
                return Err(at);
            }
            if slot.key == key && is(self, slot.id) {
                return Ok(slot.id);
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn insert_short(&mut self, at: usize, key: u64, packed: u64, len: usize) -> ItemId {
        let bytes = packed.to_le_bytes();
        let label = std::str::from_utf8(&bytes[..len]).expect("what blanks divide is text");
        self.insert(at, key, label)
    }

    #[cold]
    fn insert(&mut self, at: usize, key: u64, label: &str) -> ItemId {
        if self.ends.len() >= self.limit {
            self.refused += 1;
            return 0;
        }
        let id = self.ends.len() as ItemId;
        self.text.push_str(label);
        self.ends.push(self.text.len());
        self.slots[at] = Slot { key, id };
        id
    }

    /// How many distinct labels there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Fails if more distinct labels came than there are numbers.
    pub fn check(&self) -> Result<()> {
        check_items(self.offered())
    }

    /// How many labels there are, and how often one came that got no number.
    pub(crate) fn offered(&self) -> u64 {
        match self.refused {
            0 => self.len() as u64,
            refused => MAX_ITEMS.saturating_add(refused),
        }
    }

    /// The memory that the labels take: a function of the labels alone. When the table grows
    /// depends on what comes after the last of them, so that it counts as grown.
    pub(crate) fn bytes(&self) -> u64 {
        let slots = (self.ends.len() * 4 / 3 + 1).next_power_of_two().max(1024);
        (self.text.len() + self.ends.len() * 8 + slots * size_of::<Slot>()) as u64
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

    /// All labels in the order of their ids.
    pub fn labels(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|i| self.label(i as ItemId))
    }

    /// The vocabulary, and for every id of this interner its id there.
    pub fn finish(mut self) -> (Vocabulary, Vec<ItemId>) {
        self.slots = Vec::new();
        // The first eight bytes decide nearly every comparison without a look at the text.
        let mut order: Vec<(u64, ItemId)> =
            self.labels().enumerate().map(|(i, l)| (prefix(l.as_bytes()), i as ItemId)).collect();
        order.par_sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| self.label(a.1).cmp(self.label(b.1)))
        });
        let mut renumber = vec![0; self.len()];
        for (new, &(_, old)) in order.iter().enumerate() {
            renumber[old as usize] = new as ItemId;
        }
        let vocabulary = Vocabulary::from_sorted(order.iter().map(|&(_, id)| self.label(id)));
        (vocabulary, renumber)
    }

    /// Fibonacci hashing: the product's upper bits depend on the whole key.
    fn home(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(1024);
        let old = std::mem::replace(&mut self.slots, vec![Slot { key: 0, id: VACANT }; size]);
        self.shift = 64 - size.trailing_zeros();
        for slot in old.into_iter().filter(|s| s.id != VACANT) {
            let mut at = self.home(slot.key);
            while self.slots[at].id != VACANT {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = slot;
        }
    }
}

/// The key of a label: the label itself with its length on top, or a hash.
pub(crate) fn key(label: &str) -> u64 {
    let bytes = label.as_bytes();
    if bytes.len() <= SHORT {
        let packed = bytes.iter().rev().fold(0, |packed, &b| packed << 8 | u64::from(b));
        return short_key(packed, bytes.len());
    }
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    LONG | hasher.finish() >> 8
}

/// The key of a label of `len` <= 7 bytes that stand in `packed`, the first lowest.
pub(crate) fn short_key(packed: u64, len: usize) -> u64 {
    packed | (len as u64) << 56
}

/// The first bytes as a number that compares as they do.
pub(crate) fn prefix(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    let length = bytes.len().min(8);
    first[..length].copy_from_slice(&bytes[..length]);
    u64::from_be_bytes(first)
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

    #[test]
    fn memory_does_not_depend_on_what_comes_after_the_last_new_label() {
        let mut interner = Interner::default();
        for i in 0..1024 * 3 {
            interner.intern(&i.to_string());
            let before = interner.bytes();
            let slots = interner.slots.len();
            interner.intern("0");
            assert_eq!(interner.bytes(), before, "{i}");
            assert!(slots == interner.slots.len() || (i + 1) * 4 == slots * 3);
            let labels = interner.text.len() + interner.ends.len() * 8;
            let table = interner.slots.len() * size_of::<Slot>();
            assert_eq!(before, (labels + table) as u64);
        }
    }

    #[test]
    fn a_label_without_a_number_is_told() {
        let mut interner = Interner { limit: 2, ..Interner::default() };
        assert_eq!(["a", "b", "a"].map(|l| interner.intern(l)), [0, 1, 0]);
        assert!(interner.check().is_ok());
        interner.intern("c");
        assert_eq!((interner.len(), interner.intern("b")), (2, 1));
        let error = interner.check().unwrap_err().to_string();
        assert!(error.contains("distinct items: 4294967296, at most 4294967295"), "{error}");
    }

    #[test]
    fn labels_around_the_length_of_a_packed_key_stay_apart() {
        let mut interner = Interner::default();
        let labels =
            ["", "\0", "\0\0", "a", "a\0", "1234567", "12345678", "123456789", "1234567\0"];
        let ids: Vec<ItemId> = labels.iter().map(|l| interner.intern(l)).collect();
        assert_eq!(ids, (0..labels.len() as ItemId).collect::<Vec<_>>());
        let (vocabulary, _) = interner.finish();
        let mut sorted = labels;
        sorted.sort_unstable();
        assert_eq!(vocabulary.labels().collect::<Vec<_>>(), sorted);
    }
}
