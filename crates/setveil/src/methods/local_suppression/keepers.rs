//! Who keeps a set that died, and must choose again.
//!
//! Sets that few records have are listed with their rows ([`Weak`]). For the
//! others the rows of the rarer of two items are looked through, all sets with
//! the same item at once.
//!
//! [`Weak`]: super::weak::Weak

use rayon::prelude::*;

use super::bits::Bits;
use super::elements::{Elements, Home};
use super::postings::Postings;
use super::rows::Rows;
use crate::data::ItemId;

/// Two items of a set, the one that fewer rows have first.
type Two = (ItemId, ItemId);

/// Sets whose rows one task looks for.
const SETS: usize = 4096;

impl Elements {
    /// Rows that keep one of some sets, ascending. Where sets are not `exact`,
    /// only two items are compared, and there may be other rows among them.
    pub(super) fn keepers(&self, ids: &[u32], rows: &Rows, kept: &[bool]) -> Vec<u32> {
        let found: Vec<(Vec<u32>, Vec<Two>)> = ids
            .par_chunks(SETS)
            .map(|ids| {
                let (mut keepers, mut common) = (Vec::new(), Vec::new());
                for &id in ids {
                    if !self.few(id, (rows, kept), &mut keepers) {
                        common.push(self.rarer(id));
                    }
                }
                (keepers, common)
            })
            .collect();
        let mut keepers = Bits::new(rows.len());
        for &r in found.iter().flat_map(|piece| &piece.0) {
            keepers.set(r as usize, true);
        }
        let common: Vec<Two> = found.into_iter().flat_map(|piece| piece.1).collect();
        if let Some(lists) = &self.postings {
            Self::common(common, lists, (rows, kept), &mut keepers);
        }
        keepers.ones().collect()
    }

    /// The rows that keep a set which is in few records or in one leaf; false for
    /// any other.
    fn few(&self, id: u32, (rows, kept): (&Rows, &[bool]), keepers: &mut Vec<u32>) -> bool {
        let keeps = |r: u32, item: ItemId| {
            let range = rows.range(r as usize);
            rows.row(r as usize).iter().zip(&kept[range]).any(|(&i, &kept)| i == item && kept)
        };
        let (home, last) = (self.home(id), self.last[id as usize]);
        let first = match home {
            Home::Item(first) => first,
            Home::Leaf(_) => last,
        };
        let mut listed = false;
        for r in self.weak.of(id) {
            listed = true;
            keepers.extend((keeps(r, first) && keeps(r, last)).then_some(r));
        }
        match home {
            _ if listed => {}
            Home::Leaf(l) => {
                let rows = rows.leaf(l as usize).map(|r| r as u32);
                keepers.extend(rows.filter(|&r| keeps(r, last)));
            }
            Home::Item(_) => return false,
        }
        true
    }

    /// Two items of a set, for the lists of rows.
    fn rarer(&self, id: u32) -> Two {
        let last = self.last[id as usize];
        let (Home::Item(first) | Home::Leaf(first)) = self.home(id);
        let often = |item: ItemId| {
            let lists = self.postings.as_ref();
            (lists.map_or(0, |lists| lists.of(item as usize).len()), item)
        };
        let rarer = often(first).min(often(last)).1;
        (rarer, first ^ last ^ rarer)
    }

    /// The rows that keep two items, by the lists of the first.
    fn common(
        mut pairs: Vec<Two>,
        lists: &Postings,
        (rows, kept): (&Rows, &[bool]),
        keepers: &mut Bits,
    ) {
        pairs.par_sort_unstable();
        let same: Vec<&[Two]> = pairs.chunk_by(|a, b| a.0 == b.0).collect();
        let found: Vec<Vec<u32>> = same
            .into_par_iter()
            .map_init(
                || Bits::new(lists.items()),
                |wanted, same| {
                    same.iter().for_each(|pair| wanted.set(pair.1 as usize, true));
                    let of_item = lists.of(same[0].0 as usize).iter().copied();
                    let keepers = of_item.filter(|&r| {
                        let (row, kept) = (rows.row(r as usize), &kept[rows.range(r as usize)]);
                        let own = row.partition_point(|&item| item < same[0].0);
                        let mut both = row.iter().zip(kept);
                        kept[own] && both.any(|(&item, &kept)| kept && wanted.get(item as usize))
                    });
                    let keepers = keepers.collect();
                    same.iter().for_each(|pair| wanted.set(pair.1 as usize, false));
                    keepers
                },
            )
            .collect();
        found.iter().flatten().for_each(|&r| keepers.set(r as usize, true));
    }
}
