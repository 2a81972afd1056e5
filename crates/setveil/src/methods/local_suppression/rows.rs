//! What the solver works on: the items that the records of a leaf may keep.
//!
//! Records of a leaf with equal candidates are one row with a weight, and the
//! rows of a leaf ascend: neither the order of the records nor their number
//! among equals can be seen.

use rayon::prelude::*;

use super::bits::Bits;
use super::subsets::slots;
use crate::data::{Dataset, ItemId};
use crate::methods::disassociation::Clusters;
use crate::{Progress, Result};

/// The most subsets of one row that are looked at: 400 items for pairs, 78
/// for triples.
const MOST_SUBSETS: u64 = 80_200;
/// All rows together: so many subsets per item occurrence.
const PER_OCCURRENCE: u64 = 40;
/// Below so many subsets in all nothing is saved.
const FEW: u64 = 1 << 24;

/// Rows of candidate items, leaf after leaf.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// Row `r` is `items[offsets[r]..offsets[r + 1]]`.
    offsets: Vec<usize>,
    items: Vec<ItemId>,
    /// How many records a row stands for.
    weights: Vec<u32>,
    /// Leaf `l` has the rows `leaves[l]..leaves[l + 1]`.
    leaves: Vec<u32>,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn row(&self, r: usize) -> &[ItemId] {
        &self.items[self.offsets[r]..self.offsets[r + 1]]
    }

    /// Where the items of row `r` stand among those of all rows.
    pub(super) fn range(&self, r: usize) -> std::ops::Range<usize> {
        self.offsets[r]..self.offsets[r + 1]
    }

    pub(super) fn weight(&self, r: usize) -> u32 {
        self.weights[r]
    }

    pub(super) fn occurrences(&self) -> usize {
        self.items.len()
    }

    /// How many different items there are, of at most `items`.
    pub(super) fn kinds(&self, items: usize) -> usize {
        let mut seen = Bits::new(items);
        self.items.iter().for_each(|&item| seen.set(item as usize, true));
        seen.ones().count()
    }

    pub(super) fn leaf_count(&self) -> usize {
        self.leaves.len() - 1
    }

    pub(super) fn leaf(&self, l: usize) -> std::ops::Range<usize> {
        self.leaves[l] as usize..self.leaves[l + 1] as usize
    }

    /// The same rows with the items that are `kept` alone.
    pub(super) fn only(&self, kept: &[bool]) -> Self {
        let mut rows = Self {
            offsets: vec![0],
            weights: self.weights.clone(),
            leaves: self.leaves.clone(),
            items: Vec::new(),
        };
        for r in 0..self.len() {
            let range = self.range(r);
            let both = self.items[range.clone()].iter().zip(&kept[range]);
            rows.items.extend(both.filter(|(_, kept)| **kept).map(|(&item, _)| item));
            rows.offsets.push(rows.items.len());
        }
        rows
    }

    /// Shortens rows that have too many subsets of at most `size` items: the
    /// items with the greatest priority stay, of equal ones the first by text.
    /// This is what keeps long records from squaring the work.
    pub(super) fn shorten(&mut self, size: u32, priorities: &[u32]) {
        let most = self.longest(size);
        let fits = (0..self.len()).all(|r| self.row(r).len() <= most);
        if fits {
            return;
        }
        let (mut offsets, mut items, mut order) = (vec![0], Vec::new(), Vec::new());
        for r in 0..self.len() {
            order.clear();
            order.extend_from_slice(self.row(r));
            if order.len() > most {
                order.sort_unstable_by_key(|&i| (std::cmp::Reverse(priorities[i as usize]), i));
                order.truncate(most);
                order.sort_unstable();
            }
            items.extend_from_slice(&order);
            offsets.push(items.len());
        }
        (self.offsets, self.items) = (offsets, items);
    }

    /// How long rows may be, so that neither one nor all of them together have
    /// too many subsets.
    fn longest(&self, size: u32) -> usize {
        let mut lengths: Vec<u64> = Vec::new();
        for r in 0..self.len() {
            let n = self.row(r).len();
            if lengths.len() <= n {
                lengths.resize(n + 1, 0);
            }
            lengths[n] += 1;
        }
        let allowed = FEW.max(self.items.len() as u64 * PER_OCCURRENCE);
        let longest = lengths.len().saturating_sub(1);
        let fits = |most: usize| {
            let subsets = |n: usize| slots(n.min(most), size);
            let all = lengths.iter().enumerate();
            let total = all.fold(0, |sum: u64, (n, &rows)| {
                sum.saturating_add(rows.saturating_mul(subsets(n)))
            });
            slots(most, size) <= MOST_SUBSETS && total <= allowed
        };
        // The number of subsets grows with the length: halve the range.
        let (mut low, mut high) = (1, longest.max(1));
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if fits(middle) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }
}

/// Rows, and the row of every record.
pub(super) struct Grouped {
    pub(super) rows: Rows,
    pub(super) row_of: Vec<u32>,
}

/// The rows of the records of `clusters`: a candidate is not `hidden` and in
/// at least `k` records of its leaf.
pub(super) fn group(
    data: &Dataset,
    clusters: &Clusters,
    hidden: &[bool],
    k: u32,
    progress: &dyn Progress,
) -> Result<Grouped> {
    let leaves: Vec<LeafRows> = (0..clusters.len())
        .into_par_iter()
        .map_init(
            || vec![0_u32; data.item_count()],
            |counts, l| {
                progress.step(0)?;
                Ok(LeafRows::new(data, clusters.get(l), hidden, k, counts))
            },
        )
        .collect::<Result<_>>()?;
    let mut rows = Rows { offsets: vec![0], leaves: vec![0], ..Rows::default() };
    let mut row_of = vec![0; data.len()];
    for (l, leaf) in leaves.into_iter().enumerate() {
        let (first, base) = (rows.weights.len() as u32, rows.items.len());
        for (&record, row) in clusters.get(l).iter().zip(&leaf.row_of) {
            row_of[record as usize] = first + row;
        }
        rows.items.extend_from_slice(&leaf.items);
        rows.offsets.extend(leaf.ends.iter().map(|end| base + end));
        rows.weights.extend_from_slice(&leaf.weights);
        rows.leaves.push(rows.weights.len() as u32);
    }
    Ok(Grouped { rows, row_of })
}

/// The rows of one leaf.
struct LeafRows {
    items: Vec<ItemId>,
    ends: Vec<usize>,
    weights: Vec<u32>,
    /// Per record in the order of the cluster.
    row_of: Vec<u32>,
}

impl LeafRows {
    fn new(data: &Dataset, records: &[u32], hidden: &[bool], k: u32, counts: &mut [u32]) -> Self {
        let mut contents = Vec::new();
        data.fetch(records, &mut contents);
        for &item in contents.iter().copied().flatten() {
            counts[item as usize] += 1;
        }
        let is_candidate = |item: ItemId| counts[item as usize] >= k && !hidden[item as usize];
        let (mut flat, mut starts) = (Vec::new(), vec![0]);
        for content in &contents {
            flat.extend(content.iter().copied().filter(|&i| is_candidate(i)));
            starts.push(flat.len());
        }
        for &item in contents.iter().copied().flatten() {
            counts[item as usize] = 0;
        }
        let row = |r: u32| &flat[starts[r as usize]..starts[r as usize + 1]];
        let mut order: Vec<u32> = (0..records.len() as u32).collect();
        if order.len() > 1 << 14 {
            order.par_sort_unstable_by(|&a, &b| row(a).cmp(row(b)));
        } else {
            order.sort_unstable_by(|&a, &b| row(a).cmp(row(b)));
        }
        let (mut items, mut ends, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        let mut row_of = vec![0; records.len()];
        for run in order.chunk_by(|&a, &b| row(a) == row(b)) {
            run.iter().for_each(|&r| row_of[r as usize] = weights.len() as u32);
            items.extend_from_slice(row(run[0]));
            ends.push(items.len());
            weights.push(run.len() as u32);
        }
        Self { items, ends, weights, row_of }
    }
}
