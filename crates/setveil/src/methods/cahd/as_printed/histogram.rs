//! How often each sensitive item occurs in what remains, and whether a group
//! may be taken away (cahd-2008, Fig. 8, lines 7 to 11, corrected).

use crate::methods::sensitive::Split;

/// Invariant: `count[s] * p <= remaining` for every sensitive item, and
/// `remaining` is zero or at least p.
pub(super) struct Histogram {
    p: u64,
    remaining: u64,
    count: Vec<u64>,
    /// How many items have each count, and the largest count there is.
    items_with: Vec<u32>,
    largest: usize,
}

impl Histogram {
    /// The histogram of all records.
    pub(super) fn new(split: &Split, p: usize) -> Self {
        let mut count = vec![0u64; split.items.len()];
        for &s in split.sensitive.items() {
            count[s as usize] += 1;
        }
        let largest = count.iter().copied().max().unwrap_or(0) as usize;
        let mut items_with = vec![0; largest + 1];
        for &c in &count {
            items_with[c as usize] += 1;
        }
        Self { p: p as u64, remaining: split.len() as u64, count, items_with, largest }
    }

    /// Whether every further group of p records must hold item `s`.
    pub(super) fn is_urgent(&self, s: u32) -> bool {
        self.count[s as usize] * self.p + self.p > self.remaining
    }

    /// Takes away `records` records with the sensitive items `own` (each at
    /// most once), or changes nothing and says no.
    pub(super) fn take(&mut self, own: impl Iterator<Item = u32> + Clone, records: usize) -> bool {
        let after = self.remaining - records as u64;
        let before = self.largest;
        own.clone().for_each(|s| self.change(s, -1));
        while self.largest > 0 && self.items_with[self.largest] == 0 {
            self.largest -= 1;
        }
        if self.largest as u64 * self.p <= after && (after == 0 || after >= self.p) {
            self.remaining = after;
            return true;
        }
        own.for_each(|s| self.change(s, 1));
        self.largest = before;
        false
    }

    fn change(&mut self, s: u32, by: i64) {
        let count = &mut self.count[s as usize];
        self.items_with[*count as usize] -= 1;
        *count = count.wrapping_add_signed(by);
        self.items_with[*count as usize] += 1;
    }
}
