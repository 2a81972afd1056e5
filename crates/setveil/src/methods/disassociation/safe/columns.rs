//! The terms of one cluster that k records have, each with the set of these
//! records.

use crate::data::ItemId;
use crate::release::Bag;

/// Terms by falling support, ties by text; a set of records is some words.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// The number of records.
    pub(super) n: u32,
    pub(super) items: Vec<ItemId>,
    pub(super) supports: Vec<u32>,
    words: usize,
    bits: Vec<u64>,
}

impl Columns {
    /// Takes terms of `records` with their supports, in the order of falling
    /// support; `index` gives the number of a term in this order, or none.
    pub(super) fn fill(
        &mut self,
        records: &[&[ItemId]],
        terms: &[(ItemId, u32)],
        index: impl Fn(ItemId) -> Option<usize>,
    ) {
        self.n = records.len() as u32;
        self.words = records.len().div_ceil(64);
        self.items.clear();
        self.supports.clear();
        self.items.extend(terms.iter().map(|t| t.0));
        self.supports.extend(terms.iter().map(|t| t.1));
        self.bits.clear();
        self.bits.resize(terms.len() * self.words, 0);
        for (r, record) in records.iter().enumerate() {
            for t in record.iter().filter_map(|&item| index(item)) {
                self.bits[t * self.words + r / 64] |= 1 << (r % 64);
            }
        }
    }

    pub(super) fn set(&self, t: usize) -> &[u64] {
        &self.bits[t * self.words..(t + 1) * self.words]
    }

    /// In how many records two terms meet.
    pub(super) fn overlap(&self, a: usize, b: usize) -> u32 {
        self.set(a).iter().zip(self.set(b)).map(|(a, b)| (a & b).count_ones()).sum()
    }

    /// In how many records all of the terms are.
    pub(super) fn together(&self, terms: &[usize]) -> u32 {
        let word = |w| terms.iter().fold(u64::MAX, |all, &t| all & self.bits[t * self.words + w]);
        (0..self.words).map(|w| word(w).count_ones()).sum()
    }

    /// In how many records at least one of the terms is.
    pub(super) fn covered(&self, terms: &[usize]) -> u32 {
        let word = |w| terms.iter().fold(0, |all, &t| all | self.bits[t * self.words + w]);
        (0..self.words).map(|w| word(w).count_ones()).sum()
    }

    /// Whether every combination of `term` with 1..m - 1 terms of a chunk that
    /// some record has is in k records.
    pub(super) fn accepts(&self, chunk: &[usize], term: usize, k: u32, m: u32) -> bool {
        if chunk.iter().any(|&t| (1..k).contains(&self.overlap(t, term))) {
            return false;
        }
        m <= 2 || !self.rare(self.set(term), chunk, k, m - 1)
    }

    /// Whether `set`, intersected with at least one and at most `depth` of the
    /// terms, gives a set that is not empty and smaller than k.
    fn rare(&self, set: &[u64], terms: &[usize], k: u32, depth: u32) -> bool {
        let size: u32 = set.iter().map(|w| w.count_ones()).sum();
        terms.iter().enumerate().any(|(i, &t)| {
            let common: Vec<u64> = set.iter().zip(self.set(t)).map(|(a, b)| a & b).collect();
            let count: u32 = common.iter().map(|w| w.count_ones()).sum();
            // A term that all of these records have changes no support: what is
            // rare with it is rare without it, and is found there.
            (1..k).contains(&count)
                || count > 0
                    && count < size
                    && depth > 1
                    && self.rare(&common, &terms[i + 1..], k, depth - 1)
        })
    }

    /// What each record has of the terms, as indices into `terms`; records
    /// with none are left out.
    pub(super) fn rows(&self, terms: &[usize]) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); self.n as usize];
        for (i, &t) in terms.iter().enumerate() {
            self.each_record(t, |r| rows[r].push(i));
        }
        rows.retain(|row| !row.is_empty());
        rows
    }

    fn each_record(&self, t: usize, mut f: impl FnMut(usize)) {
        for (w, &word) in self.set(t).iter().enumerate() {
            let mut word = word;
            while word != 0 {
                f(w * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
    }

    /// The records' parts over these terms.
    pub(super) fn bag(&self, terms: &[usize]) -> Bag {
        let mut terms = terms.to_vec();
        terms.sort_unstable_by_key(|&t| self.items[t]);
        let mut rows: Vec<Vec<ItemId>> = vec![Vec::new(); self.n as usize];
        for &t in &terms {
            self.each_record(t, |r| rows[r].push(self.items[t]));
        }
        Bag::from_itemsets(rows.iter().map(Vec::as_slice))
    }
}
