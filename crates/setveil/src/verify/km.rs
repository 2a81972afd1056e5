//! Finds itemsets of 1..m items that occur in a bag, but fewer than k times.
//!
//! A depth-first search over prefixes: the itemsets that contain the prefix
//! are listed, the items behind it counted in them, and each that is frequent
//! enough becomes a longer prefix. Where that grows too long, for a large m,
//! every row is asked by itself ([`Rows`]). Nothing of it is shared with the
//! methods.

use super::LISTED;
use super::rows::Rows;
use super::work::Meter;
use crate::Result;
use crate::data::ItemId;
use crate::release::Bag;

/// Steps of the search over prefixes before rows are asked one by one, and as
/// many more for every item of the bag.
const PREFIXES: u64 = 1 << 21;
const PREFIXES_PER_ITEM: u64 = 1 << 7;
/// How long a prefix becomes before rows are asked one by one.
const LONGEST: usize = 128;

/// The items that stand behind a prefix in one row, and the row's count.
type Row<'a> = (&'a [ItemId], u64);

/// Rare itemsets: the first with their supports, and how many there are.
#[derive(Default)]
pub(super) struct Met {
    pub(super) listed: Vec<(Vec<ItemId>, u64)>,
    pub(super) count: u64,
}

impl Met {
    fn add(&mut self, itemset: &[ItemId], support: u64) {
        self.count += 1;
        if self.listed.len() < LISTED {
            self.listed.push((itemset.to_vec(), support));
        }
    }
}

/// Counters per item of the vocabulary; clean between bags.
#[derive(Default)]
pub(super) struct KmSearch {
    counts: Vec<u64>,
}

impl KmSearch {
    /// Rare itemsets, at least one if anything is rare. The items of every
    /// itemset must ascend.
    pub(super) fn rare(
        &mut self,
        bag: &Bag,
        items: usize,
        k: u64,
        m: u32,
        meter: &mut Meter,
    ) -> Result<Met> {
        self.counts.resize(items, 0);
        let m = m as usize;
        let rows: Vec<Row> = bag.iter().map(|(s, c)| (s, u64::from(c))).collect();
        let mut met = Met::default();
        let mut prefixes = Prefixes {
            counts: &mut self.counts,
            k,
            m,
            left: PREFIXES + PREFIXES_PER_ITEM * bag.items().len() as u64,
            met: &mut met,
        };
        // Twins can wait for the third item: pairs are only counted.
        let done = if m > 2 && rows.iter().any(|row| row.0.len() > 2) {
            let apart = without_twins(&rows);
            let rows: Vec<Row> =
                apart.iter().zip(&rows).map(|(items, row)| (&items[..], row.1)).collect();
            prefixes.extend(&rows, &mut Vec::new(), meter)?
        } else {
            prefixes.extend(&rows, &mut Vec::new(), meter)?
        };
        if !done {
            met = Met::default();
            let all = Rows::new(&rows);
            for r in 0..rows.len() {
                if let Some((itemset, support)) = all.rare_subset(r, k, m, meter)? {
                    met.add(&itemset, support);
                }
            }
        }
        Ok(met)
    }
}

/// The search over prefixes of one bag.
struct Prefixes<'a> {
    counts: &'a mut [u64],
    k: u64,
    m: usize,
    /// Steps that are left.
    left: u64,
    met: &'a mut Met,
}

impl Prefixes<'_> {
    /// `rows` are what stands behind the prefix in the itemsets that have it.
    /// Prefixes that are rare themselves are not made longer. False if the
    /// search was too long.
    fn extend(
        &mut self,
        rows: &[Row],
        prefix: &mut Vec<ItemId>,
        meter: &mut Meter,
    ) -> Result<bool> {
        let steps = rows.iter().map(|row| row.0.len() as u64).sum::<u64>() + 1;
        meter.step(steps)?;
        if steps > self.left || prefix.len() > LONGEST {
            return Ok(false);
        }
        self.left -= steps;
        if prefix.len() + 1 == self.m {
            self.count_last(rows, prefix);
            return Ok(true);
        }
        let total: u64 = rows.iter().map(|r| r.1).sum();
        let mut places: Vec<(ItemId, u32, u32)> = rows
            .iter()
            .zip(0..)
            .flat_map(|(row, r)| row.0.iter().zip(0..).map(move |(&item, p)| (item, r, p)))
            .collect();
        places.sort_unstable();
        for with in places.chunk_by(|a, b| a.0 == b.0) {
            let support: u64 = with.iter().map(|place| rows[place.1 as usize].1).sum();
            prefix.push(with[0].0);
            if support < self.k {
                self.met.add(prefix, support);
            } else if support < total {
                // An item that all rows have changes no support: the prefix without it
                // meets the same rare itemsets one item shorter.
                let mut behind: Vec<Row> = with
                    .iter()
                    .map(|&(_, r, p)| (&rows[r as usize].0[p as usize + 1..], rows[r as usize].1))
                    .filter(|row| !row.0.is_empty())
                    .collect();
                // Rows that all occur k times have no rare part. Looking for that
                // pays where more than counting is left to do.
                let deep = prefix.len() + 1 < self.m;
                let safe = deep && merge(&mut behind, self.k);
                if !safe && !self.extend(&behind, prefix, meter)? {
                    return Ok(false);
                }
            }
            prefix.pop();
        }
        Ok(true)
    }

    /// The last item of an itemset is only counted.
    fn count_last(&mut self, rows: &[Row], prefix: &mut Vec<ItemId>) {
        let mut present: Vec<ItemId> = Vec::new();
        for &(items, count) in rows {
            for &item in items {
                if self.counts[item as usize] == 0 {
                    present.push(item);
                }
                self.counts[item as usize] += count;
            }
        }
        present.sort_unstable();
        for item in present {
            let support = std::mem::take(&mut self.counts[item as usize]);
            if support < self.k {
                prefix.push(item);
                self.met.add(prefix, support);
                prefix.pop();
            }
        }
    }
}

/// The rows with one item of each group of twins: items that stand in the very
/// same rows. An itemset with two of them occurs as often as with one, so if it
/// is rare, a shorter one is.
fn without_twins(rows: &[Row]) -> Vec<Vec<ItemId>> {
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
fn merge(rows: &mut Vec<Row>, k: u64) -> bool {
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
