//! From what the records keep to what is published: counts, lists and totals,
//! as far as rules C, T and N of `docs/local-suppression.md` allow.

use rayon::prelude::*;

use super::rows::Rows;
use crate::data::{Dataset, ItemId};
use crate::methods::disassociation::Clusters;
use crate::release::{Bag, Leaf, Located};
use crate::{Progress, Result};

/// A leaf with what its records do not keep.
struct Draft {
    leaf: Leaf,
    /// Items with their number of further records, ascending.
    dropped: Vec<(ItemId, u32)>,
}

/// Leaves in canonical order, and for each the number of the cluster.
pub(super) struct Published {
    pub(super) body: Located,
    pub(super) order: Vec<usize>,
}

/// Publishes every occurrence: as part of a kept sub-record, in a count, or
/// behind a listed name.
pub(super) fn with_counts(
    data: &Dataset,
    clusters: &Clusters,
    (rows, kept): (&Rows, &[bool]),
    (k, m): (u32, u32),
    progress: &dyn Progress,
) -> Result<Published> {
    let mut drafts = drafts(data, clusters, (rows, kept), progress)?;
    drafts.par_iter_mut().for_each(|draft| draft.count(k, m));
    let totals = totals(&mut drafts, data.item_count(), k, m);
    Ok(finish(data, drafts, totals))
}

/// Publishes what is kept, and the names of the items that are kept nowhere.
/// A leaf with records that keep nothing lists a name in any case.
pub(super) fn without_counts(
    data: &Dataset,
    clusters: &Clusters,
    (rows, kept): (&Rows, &[bool]),
    progress: &dyn Progress,
) -> Result<Published> {
    let mut drafts = drafts(data, clusters, (rows, kept), progress)?;
    let mut somewhere = vec![false; data.item_count()];
    for draft in &drafts {
        draft.leaf.kept.items().iter().for_each(|&item| somewhere[item as usize] = true);
    }
    let supports = data.supports();
    drafts.par_iter_mut().for_each(|Draft { leaf, dropped }| {
        let names = dropped.iter().map(|d| d.0);
        leaf.listed = names.clone().filter(|&item| !somewhere[item as usize]).collect();
        if leaf.listed.is_empty() && leaf.bare() > 0 {
            leaf.listed.extend(names.min_by_key(|&item| (supports[item as usize], item)));
        }
    });
    Ok(finish(data, drafts, Vec::new()))
}

fn drafts(
    data: &Dataset,
    clusters: &Clusters,
    kept: (&Rows, &[bool]),
    progress: &dyn Progress,
) -> Result<Vec<Draft>> {
    (0..clusters.len())
        .into_par_iter()
        .map_init(
            || vec![0_u32; data.item_count()],
            |counts, l| {
                progress.step(0)?;
                Ok(draft(data, clusters.get(l), l, kept, counts))
            },
        )
        .collect()
}

fn draft(
    data: &Dataset,
    records: &[u32],
    l: usize,
    (rows, kept): (&Rows, &[bool]),
    counts: &mut [u32],
) -> Draft {
    let mut present: Vec<ItemId> = Vec::new();
    for &record in records {
        for &item in data.record(record as usize) {
            if counts[item as usize] == 0 {
                present.push(item);
            }
            counts[item as usize] += 1;
        }
    }
    let (mut items, mut ends) = (Vec::new(), vec![0]);
    for r in rows.leaf(l) {
        let both = rows.row(r).iter().zip(&kept[rows.range(r)]);
        items.extend(both.filter(|(_, kept)| **kept).map(|(&item, _)| item));
        for &item in &items[*ends.last().expect("a first end")..] {
            counts[item as usize] -= rows.weight(r);
        }
        ends.push(items.len());
    }
    let subrecords = ends.windows(2).map(|w| &items[w[0]..w[1]]);
    let kept = Bag::from_counted(subrecords.zip(rows.leaf(l).map(|r| rows.weight(r))));
    present.sort_unstable();
    let mut dropped: Vec<(ItemId, u32)> = present
        .into_iter()
        .map(|item| (item, std::mem::take(&mut counts[item as usize])))
        .collect();
    dropped.retain(|d| d.1 > 0);
    let size = records.len() as u32;
    Draft { leaf: Leaf { size, kept, counted: Vec::new(), listed: Vec::new() }, dropped }
}

impl Draft {
    /// Rule C: a count of k or more is published, any other item is listed.
    fn count(&mut self, k: u32, m: u32) {
        let (counted, listed): (Vec<_>, Vec<_>) = self.dropped.iter().partition(|d| d.1 >= k);
        self.leaf.counted = counted;
        self.leaf.listed = listed.into_iter().map(|d: (ItemId, u32)| d.0).collect();
        // Rule N needs a listed item without a total where counts do not suffice.
        if !fills(&self.leaf, k, m) && self.leaf.listed.is_empty() {
            let counted = self.leaf.counted.iter().enumerate();
            if let Some((at, _)) = counted.min_by_key(|(_, (item, count))| (*count, *item)) {
                self.leaf.listed.push(self.leaf.counted.remove(at).0);
            }
        }
    }

    fn further(&self, item: ItemId) -> u64 {
        let at = self.dropped.binary_search_by_key(&item, |d| d.0);
        at.map_or(0, |at| u64::from(self.dropped[at].1))
    }
}

/// Whether the counted items fill the records that keep nothing, with k times
/// m copies to spare.
fn fills(leaf: &Leaf, k: u32, m: u32) -> bool {
    let bare = leaf.bare();
    let copies: u64 = leaf.counted.iter().map(|&(_, count)| u64::from(count).min(bare)).sum();
    bare == 0 || copies >= bare + u64::from(k) * u64::from(m)
}

/// Rule T: the totals that may be published; and for every leaf that needs a
/// listed item without a total, one is hidden.
fn totals(drafts: &mut [Draft], items: usize, k: u32, m: u32) -> Vec<(ItemId, u64)> {
    let (mut sums, mut leaves) = (vec![0_u64; items], vec![0_u64; items]);
    for draft in &*drafts {
        for &item in &draft.leaf.listed {
            sums[item as usize] += draft.further(item);
            leaves[item as usize] += 1;
        }
    }
    let mut published: Vec<bool> =
        (0..items).map(|i| leaves[i] > 0 && sums[i] >= u64::from(k) + leaves[i] - 1).collect();
    // In canonical order, so that who comes first does not depend on the rows.
    let mut needy: Vec<&Leaf> =
        drafts.iter().map(|d| &d.leaf).filter(|l| !fills(l, k, m)).collect();
    needy.sort_unstable();
    for leaf in needy {
        if leaf.listed.iter().all(|&item| published[item as usize]) {
            let smallest = leaf.listed.iter().min_by_key(|&&item| (sums[item as usize], item));
            if let Some(&item) = smallest {
                published[item as usize] = false;
            }
        }
    }
    let all = (0..items).filter(|&i| published[i]);
    all.map(|i| (i as ItemId, sums[i])).collect()
}

fn finish(data: &Dataset, drafts: Vec<Draft>, totals: Vec<(ItemId, u64)>) -> Published {
    let mut keyed: Vec<(u128, usize, Leaf)> =
        drafts.into_iter().enumerate().map(|(l, d)| (d.leaf.sort_key(), l, d.leaf)).collect();
    keyed.par_sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.2.cmp(&b.2)));
    let mut order = Vec::with_capacity(keyed.len());
    let mut leaves = Vec::with_capacity(keyed.len());
    for (_, l, leaf) in keyed {
        order.push(l);
        leaves.push(leaf);
    }
    Published { body: Located { vocabulary: data.vocabulary().clone(), leaves, totals }, order }
}
