//! Which rows have an item.

use super::rows::Rows;

/// The rows of every item.
pub(super) struct Postings {
    ends: Vec<usize>,
    rows: Vec<u32>,
}

impl Postings {
    pub(super) fn new(rows: &Rows, items: usize) -> Self {
        let mut ends = vec![0; items + 1];
        for r in 0..rows.len() {
            rows.row(r).iter().for_each(|&item| ends[item as usize + 1] += 1);
        }
        for i in 0..items {
            ends[i + 1] += ends[i];
        }
        let mut next = ends.clone();
        let mut listed = vec![0; rows.occurrences()];
        for r in 0..rows.len() {
            for &item in rows.row(r) {
                listed[next[item as usize]] = r as u32;
                next[item as usize] += 1;
            }
        }
        Self { ends, rows: listed }
    }

    /// How many items there are.
    pub(super) fn items(&self) -> usize {
        self.ends.len() - 1
    }

    pub(super) fn of(&self, item: usize) -> &[u32] {
        &self.rows[self.ends[item]..self.ends[item + 1]]
    }
}
