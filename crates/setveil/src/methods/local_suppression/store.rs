//! The numbers of the sets of every row: by far the largest array of the
//! method, so pairs are stored in two bytes where that is enough.

use std::sync::atomic::{AtomicU16, AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::elements::NEVER;
use super::rows::Rows;
use super::subsets::slots;

/// The mark of pairs that are out of the question.
const NO_PAIR: u16 = u16::MAX;

/// Per row a block with a number for each subset. While numbers are given by
/// several threads, `Wide` and `Narrow` are atomic.
pub(super) enum Store<Wide = u32, Narrow = u16> {
    /// Every number as it is.
    Wide { starts: Vec<usize>, ids: Vec<Wide> },
    /// Pairs with the same first item have consecutive numbers: the item has the
    /// first of them, the row how far its own is behind.
    Narrow { starts: Vec<usize>, pairs: Vec<Narrow>, first: Vec<Wide>, items: Items<Wide> },
}

/// A store that is being filled.
pub(super) type Filling = Store<AtomicU32, AtomicU16>;

/// The numbers of single items.
pub(super) enum Items<Wide> {
    /// The same in all rows.
    Everywhere(Vec<Wide>),
    /// Per occurrence.
    InLeaves(Vec<Wide>),
}

/// The numbers of one row, and room to work in.
#[derive(Default)]
pub(super) struct Block {
    pub(super) ids: Vec<u32>,
    bases: Vec<u32>,
}

fn never(len: usize) -> Vec<AtomicU32> {
    (0..len).into_par_iter().map(|_| AtomicU32::new(NEVER)).collect()
}

fn plain(cells: Vec<AtomicU32>) -> Vec<u32> {
    // In place: this takes no second array.
    cells.into_iter().map(AtomicU32::into_inner).collect()
}

impl Filling {
    /// Room for the subsets of 1 to `size` items of every row; of which those
    /// of `global` and more items have the same number in all leaves.
    pub(super) fn new(rows: &Rows, size: u32, global: usize, item_count: usize) -> Self {
        let narrow = size == 2 && global <= 2 && rows.kinds(item_count) < usize::from(NO_PAIR);
        let mut starts = vec![0];
        for r in 0..rows.len() {
            let n = rows.row(r).len();
            let own = slots(n, size) as usize - if narrow { n } else { 0 };
            starts.push(starts[r] + own);
        }
        let total = *starts.last().expect("a first start");
        if !narrow {
            return Self::Wide { starts, ids: never(total) };
        }
        let items = match rows.leaf_count() {
            1 => Items::Everywhere(never(item_count)),
            _ => Items::InLeaves(never(rows.occurrences())),
        };
        let pairs = (0..total).into_par_iter().map(|_| AtomicU16::new(NO_PAIR)).collect();
        Self::Narrow { starts, pairs, first: never(item_count), items }
    }

    /// The pairs whose first item is `item` have numbers from `id` on.
    pub(super) fn begin(&self, item: usize, id: u32) {
        if let Self::Narrow { first, .. } = self {
            first[item].store(id, Relaxed);
        }
    }

    /// Gives the subset of row `r` in `slot` a number. `behind` is its distance
    /// from the first with the same prefix.
    pub(super) fn write(&self, rows: &Rows, r: usize, slot: usize, id: u32, behind: u32) {
        match self {
            Self::Wide { starts, ids } => ids[starts[r] + slot].store(id, Relaxed),
            Self::Narrow { starts, pairs, items, .. } => {
                let range = rows.range(r);
                match (slot.checked_sub(range.len()), items) {
                    (Some(pair), _) => pairs[starts[r] + pair].store(behind as u16, Relaxed),
                    (None, Items::InLeaves(ids)) => ids[range.start + slot].store(id, Relaxed),
                    (None, Items::Everywhere(ids)) => {
                        ids[rows.row(r)[slot] as usize].store(id, Relaxed);
                    }
                }
            }
        }
    }

    /// All numbers are given.
    pub(super) fn finish(self) -> Store {
        match self {
            Self::Wide { starts, ids } => Store::Wide { starts, ids: plain(ids) },
            Self::Narrow { starts, pairs, first, items } => Store::Narrow {
                starts,
                pairs: pairs.into_iter().map(AtomicU16::into_inner).collect(),
                first: plain(first),
                items: match items {
                    Items::Everywhere(ids) => Items::Everywhere(plain(ids)),
                    Items::InLeaves(ids) => Items::InLeaves(plain(ids)),
                },
            },
        }
    }
}

impl Store {
    /// Reads the numbers of all subsets of row `r`.
    pub(super) fn read(&self, rows: &Rows, r: usize, block: &mut Block) {
        block.ids.clear();
        let (starts, pairs, first, items) = match self {
            Self::Wide { starts, ids } => {
                return block.ids.extend_from_slice(&ids[starts[r]..starts[r + 1]]);
            }
            Self::Narrow { starts, pairs, first, items } => (starts, pairs, first, items),
        };
        let row = rows.row(r);
        match items {
            Items::InLeaves(ids) => block.ids.extend_from_slice(&ids[rows.range(r)]),
            Items::Everywhere(ids) => block.ids.extend(row.iter().map(|&i| ids[i as usize])),
        }
        block.bases.clear();
        block.bases.extend(row.iter().map(|&i| first[i as usize]));
        let mut rest = &pairs[starts[r]..starts[r + 1]];
        for high in 1..row.len() {
            let (own, others) = rest.split_at(high);
            block.ids.extend(own.iter().zip(&block.bases).map(|(&behind, base)| {
                let id = base.wrapping_add(u32::from(behind));
                if behind == NO_PAIR { NEVER } else { id }
            }));
            rest = others;
        }
    }
}
