//! Which rows could keep a set, for sets that few records have: these die
//! often, and then their rows must choose again.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::elements::NEVER;
use super::rows::Rows;
use super::store::{Block, Store};
use crate::{Progress, Result};

/// Sets in at most so many times k records are listed.
const TIMES: u32 = 4;
/// A free place in a list.
const NOBODY: u32 = u32::MAX;
/// Rows that one task looks at.
const PIECE: usize = 4096;

/// The rows of every set that few records have.
pub(super) struct Weak {
    /// Where the list of each set begins.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Weak {
    /// Lists the sets with a support of at most four times k; fewer if there
    /// were more than a fifth of all occurrences.
    pub(super) fn new(
        rows: &Rows,
        (store, slots): (&Store, u64),
        supports: &[AtomicU32],
        k: u32,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let limit = limit(slots, supports, k);
        let mut sum = 0;
        let cursors: Vec<AtomicU32> = supports
            .iter()
            .map(|support| {
                sum += Some(support.load(Relaxed)).filter(|&s| s <= limit).unwrap_or(0);
                AtomicU32::new(sum)
            })
            .collect();
        let lists: Vec<AtomicU32> =
            (0..sum).into_par_iter().map(|_| AtomicU32::new(NOBODY)).collect();
        let all: Vec<u32> = (0..rows.len() as u32).collect();
        // From the end of each list to its beginning, where the cursor stays. A
        // row that stands for several records leaves places free.
        all.par_chunks(PIECE).try_for_each_init(Block::default, |block, piece| {
            progress.step(0)?;
            for &r in piece {
                store.read(rows, r as usize, block);
                for &id in block.ids.iter().filter(|&&id| id != NEVER) {
                    if supports[id as usize].load(Relaxed) <= limit {
                        let at = cursors[id as usize].fetch_sub(1, Relaxed) - 1;
                        lists[at as usize].store(r, Relaxed);
                    }
                }
            }
            Ok(())
        })?;
        let plain = |cells: Vec<AtomicU32>| cells.into_iter().map(AtomicU32::into_inner).collect();
        Ok(Self { starts: plain(cursors), rows: plain(lists) })
    }

    /// The rows that have the set; none if it is not listed.
    pub(super) fn of(&self, id: u32) -> impl Iterator<Item = u32> {
        let id = id as usize;
        let end = self.starts.get(id + 1).map_or(self.rows.len(), |&end| end as usize);
        let list = &self.rows[self.starts[id] as usize..end];
        list.iter().copied().filter(|&r| r != NOBODY)
    }
}

fn limit(slots: u64, supports: &[AtomicU32], k: u32) -> u32 {
    let most = k.saturating_mul(TIMES).min(1 << 20);
    let mut occurrences = vec![0_u64; most as usize + 1];
    for support in supports {
        let support = support.load(Relaxed);
        if support <= most {
            occurrences[support as usize] += u64::from(support);
        }
    }
    let mut left = (slots / 5).min(u64::from(u32::MAX));
    for (support, &occurrences) in occurrences.iter().enumerate() {
        match left.checked_sub(occurrences) {
            Some(rest) => left = rest,
            None => return support as u32 - 1,
        }
    }
    most
}
