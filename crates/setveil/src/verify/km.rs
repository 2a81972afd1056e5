//! Finds itemsets of 1..m items that occur in a bag, but fewer than k times.
//!
//! A depth-first search over prefixes: the itemsets that contain the prefix
//! are listed, the items behind it counted in them, and each that is frequent
//! enough becomes a longer prefix. Nothing of it is shared with the methods.

use crate::data::ItemId;
use crate::release::Bag;

/// Counters per item of the vocabulary; clean between bags.
#[derive(Default)]
pub(super) struct KmSearch {
    counts: Vec<u64>,
}

impl KmSearch {
    /// Calls `found` with every rare itemset that the search meets, and its
    /// support. Prefixes that are rare themselves are not made longer, so one
    /// call at least is made if anything is rare.
    pub(super) fn rare(
        &mut self,
        bag: &Bag,
        items: usize,
        k: u64,
        m: u32,
        found: &mut dyn FnMut(&[ItemId], u64),
    ) {
        self.counts.resize(items, 0);
        let rows: Vec<(&[ItemId], u64)> = bag.iter().map(|(s, c)| (s, u64::from(c))).collect();
        // Twins can wait for the third item: pairs are only counted.
        if m > 2 && rows.iter().any(|row| row.0.len() > 2) {
            let apart = without_twins(&rows);
            let rows: Vec<(&[ItemId], u64)> =
                apart.iter().zip(&rows).map(|(items, row)| (&items[..], row.1)).collect();
            self.extend(&rows, &mut Vec::new(), k, m, found);
        } else {
            self.extend(&rows, &mut Vec::new(), k, m, found);
        }
    }

    /// `rows` are what stands behind the prefix in the itemsets that have it.
    fn extend(
        &mut self,
        rows: &[(&[ItemId], u64)],
        prefix: &mut Vec<ItemId>,
        k: u64,
        m: u32,
        found: &mut dyn FnMut(&[ItemId], u64),
    ) {
        let mut present: Vec<(ItemId, u64)> = Vec::new();
        for &(items, count) in rows {
            for &item in items {
                if self.counts[item as usize] == 0 {
                    present.push((item, 0));
                }
                self.counts[item as usize] += count;
            }
        }
        for (item, support) in &mut present {
            *support = std::mem::take(&mut self.counts[*item as usize]);
        }
        present.sort_unstable();
        let total: u64 = rows.iter().map(|r| r.1).sum();
        for &(item, support) in &present {
            prefix.push(item);
            if support < k {
                found(prefix, support);
            } else if prefix.len() < m as usize && support < total {
                // An item that all rows have changes no support: the prefix without it
                // meets the same rare itemsets one item shorter.
                let mut behind: Vec<(&[ItemId], u64)> = rows
                    .iter()
                    .filter_map(|&(items, count)| {
                        let place = items.iter().position(|&i| i == item)?;
                        let behind = &items[place + 1..];
                        (!behind.is_empty()).then_some((behind, count))
                    })
                    .collect();
                // Rows that all occur k times have no rare part. Looking for that
                // pays where more than counting is left to do.
                let deep = prefix.len() + 1 < m as usize;
                if !(deep && merge(&mut behind, k)) {
                    self.extend(&behind, prefix, k, m, found);
                }
            }
            prefix.pop();
        }
    }
}

/// The rows with one item of each group of twins: items that stand in the very
/// same rows. An itemset with two of them occurs as often as with one, so if it
/// is rare, a shorter one is.
fn without_twins(rows: &[(&[ItemId], u64)]) -> Vec<Vec<ItemId>> {
    let mut places: Vec<(ItemId, u32)> = rows
        .iter()
        .zip(0..)
        .flat_map(|(row, r)| row.0.iter().map(move |&item| (item, r)))
        .collect();
    places.sort_unstable();
    let mut columns: Vec<&[(ItemId, u32)]> = places.chunk_by(|a, b| a.0 == b.0).collect();
    // Stable: of twins the first item stays.
    columns.sort_by(|a, b| in_rows(a).cmp(in_rows(b)));
    columns.dedup_by(|a, b| in_rows(a).eq(in_rows(b)));
    columns.sort_unstable_by_key(|column| column[0].0);
    let mut apart = vec![Vec::new(); rows.len()];
    for &(item, r) in columns.into_iter().flatten() {
        apart[r as usize].push(item);
    }
    apart
}

fn in_rows(column: &[(ItemId, u32)]) -> impl Iterator<Item = u32> {
    column.iter().map(|place| place.1)
}

/// Adds up equal rows; whether each then occurs at least k times.
fn merge(rows: &mut Vec<(&[ItemId], u64)>, k: u64) -> bool {
    rows.sort_unstable();
    rows.dedup_by(|later, first| {
        let same = later.0 == first.0;
        if same {
            first.1 += later.1;
        }
        same
    });
    rows.iter().all(|row| row.1 >= k)
}
