//! Rare itemsets of very many sub-records: those of all leaves of a located
//! release together.
//!
//! As [`km`](super::km), but the sub-records of an item are listed instead of
//! searched, and items are counted on all threads.

use rayon::prelude::*;

use crate::data::ItemId;

/// Sub-records with their counts.
pub(super) type Rows<'a> = [(&'a [ItemId], u64)];

/// Itemsets of 1 to `m` items of which no part is rare and that occur fewer
/// than `k` times, with their supports, by first item.
pub(super) fn rare(rows: &Rows, items: usize, k: u64, m: u32) -> Vec<(Vec<ItemId>, u64)> {
    let mut lists: Vec<Vec<(u32, u32)>> = vec![Vec::new(); items];
    for ((itemset, _), r) in rows.iter().zip(0..) {
        for (&item, behind) in itemset.iter().zip(1..) {
            lists[item as usize].push((r, behind));
        }
    }
    let found: Vec<Vec<(Vec<ItemId>, u64)>> = lists
        .par_iter()
        .enumerate()
        .map_init(
            || vec![0_u64; items],
            |counts, (item, list)| {
                let support: u64 = list.iter().map(|&(r, _)| rows[r as usize].1).sum();
                let mut search = Search { rows, counts, k, m: m as usize, found: Vec::new() };
                let mut prefix = vec![item as ItemId];
                if support > 0 && support < k {
                    search.found.push((prefix, support));
                } else if m > 1 {
                    search.extend(list, &mut prefix);
                }
                search.found
            },
        )
        .collect();
    found.concat()
}

struct Search<'a> {
    rows: &'a Rows<'a>,
    /// Per item; zero between uses.
    counts: &'a mut [u64],
    k: u64,
    m: usize,
    found: Vec<(Vec<ItemId>, u64)>,
}

impl Search<'_> {
    /// `list` has the rows with the prefix and where the rest begins.
    fn extend(&mut self, list: &[(u32, u32)], prefix: &mut Vec<ItemId>) {
        let mut present: Vec<(ItemId, u64)> = Vec::new();
        for &(r, from) in list {
            let (itemset, count) = self.rows[r as usize];
            for &item in &itemset[from as usize..] {
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
        let longer = prefix.len() + 1 < self.m;
        let mut lists = if longer { self.split(list, &present) } else { Vec::new() };
        for (i, &(item, support)) in present.iter().enumerate() {
            prefix.push(item);
            if support < self.k {
                self.found.push((prefix.clone(), support));
            } else if longer {
                let list = std::mem::take(&mut lists[i]);
                self.extend(&list, prefix);
            }
            prefix.pop();
        }
    }

    /// The rows of each longer prefix, in the order of `present`.
    fn split(&self, list: &[(u32, u32)], present: &[(ItemId, u64)]) -> Vec<Vec<(u32, u32)>> {
        let mut lists = vec![Vec::new(); present.len()];
        for &(r, from) in list {
            let itemset = self.rows[r as usize].0;
            for (&item, behind) in itemset[from as usize..].iter().zip(from + 1..) {
                let at = present.binary_search_by_key(&item, |p| p.0).expect("it was counted");
                lists[at].push((r, behind));
            }
        }
        lists
    }
}
