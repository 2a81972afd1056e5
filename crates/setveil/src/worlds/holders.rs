//! Which clusters have an item, and where in them.
//!
//! One flat list for the whole release: a question about items of simple
//! clusters is answered from it, without a look at the clusters.

use super::parts::TERM;
use crate::Result;
use crate::data::ItemId;
use crate::progress::{Progress, Pulse};
use crate::release::{Cluster, Disassociated};

/// The source of an item of a joint cluster, whose own index knows more.
const JOINT: u32 = u32::MAX - 1;

/// A cluster with an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) cluster: u32,
    /// In a simple cluster: the record chunk with the item, or [`TERM`].
    pub(super) source: u32,
    /// How many sub-records of that chunk have it.
    pub(super) count: u32,
}

/// For every item the clusters that have it, ascending.
#[derive(Debug)]
pub(super) struct Holders {
    /// Those of item `i` are `all[starts[i]..starts[i + 1]]`.
    starts: Vec<usize>,
    all: Vec<Holder>,
}

impl Holders {
    /// For all items, or only for those that are `wanted`.
    pub(super) fn new(
        body: &Disassociated,
        wanted: Option<&[bool]>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let items = body.vocabulary.len();
        let mut starts = vec![0; items + 1];
        let mut count = |item: ItemId, _: Holder, new: bool| {
            starts[item as usize + 1] += usize::from(new);
        };
        each_holder(body, items, wanted, progress, &mut count)?;
        for i in 0..items {
            starts[i + 1] += starts[i];
        }
        let (mut next, mut all) = (starts.clone(), vec![Holder::default(); starts[items]]);
        let mut fill = |item: ItemId, holder: Holder, new: bool| {
            let next = &mut next[item as usize];
            if new {
                all[*next] = holder;
                *next += 1;
            } else if all[*next - 1].source == holder.source {
                // Another sub-record of the chunk. In another chunk the first one counts.
                let count = &mut all[*next - 1].count;
                *count = count.saturating_add(holder.count);
            }
        };
        each_holder(body, items, wanted, progress, &mut fill)?;
        Ok(Self { starts, all })
    }

    fn of(&self, item: ItemId) -> &[Holder] {
        match self.starts.get(item as usize + 1) {
            Some(&end) => &self.all[self.starts[item as usize]..end],
            None => &[],
        }
    }

    /// Calls `enough` for the clusters, ascending, that have all items of a
    /// non-empty itemset somewhere, with the holders of the items in their order, until it
    /// says yes.
    pub(super) fn until(&self, itemset: &[ItemId], mut enough: impl FnMut(&[Holder]) -> bool) {
        let mut lists: Vec<&[Holder]> = itemset.iter().map(|&item| self.of(item)).collect();
        let Some(rarest) = (0..lists.len()).min_by_key(|&i| lists[i].len()) else { return };
        let mut found = vec![Holder::default(); itemset.len()];
        for &holder in lists[rarest] {
            found[rarest] = holder;
            let all = lists.iter_mut().enumerate().all(|(i, rest)| {
                if i != rarest {
                    *rest = &rest[skip_to(rest, holder.cluster)..];
                    match rest.first() {
                        Some(&other) if other.cluster == holder.cluster => found[i] = other,
                        _ => return false,
                    }
                }
                true
            });
            if all && enough(&found) {
                return;
            }
        }
    }
}

/// Calls `each` for every place of every item: whether it is the first one in
/// its cluster is the last argument. Clusters ascend; chunks come before terms.
fn each_holder(
    body: &Disassociated,
    items: usize,
    wanted: Option<&[bool]>,
    progress: &dyn Progress,
    each: &mut dyn FnMut(ItemId, Holder, bool),
) -> Result<()> {
    let mut last = vec![u32::MAX; items];
    let mut pulse = Pulse::new(progress);
    let mut add = |item: ItemId, holder: Holder| {
        let is_wanted = wanted.is_none_or(|wanted| wanted.get(item as usize) == Some(&true));
        if let Some(seen) = last.get_mut(item as usize).filter(|_| is_wanted) {
            let new = *seen != holder.cluster;
            *seen = holder.cluster;
            each(item, holder, new);
        }
    };
    for (c, cluster) in body.clusters.iter().enumerate() {
        let cluster_number = c as u32;
        pulse.done(1)?;
        let place = |source, count| Holder { cluster: cluster_number, source, count };
        if let Cluster::Simple(leaf) = cluster {
            for (chunk, bag) in leaf.record_chunks.iter().enumerate() {
                for (sub_record, count) in bag.iter() {
                    sub_record.iter().for_each(|&item| add(item, place(chunk as u32, count)));
                }
                pulse.work(bag.items().len())?;
            }
            leaf.term_chunk.iter().for_each(|&item| add(item, place(TERM, 0)));
            pulse.work(leaf.term_chunk.len())?;
            continue;
        }
        let mut stack = vec![cluster];
        while let Some(cluster) = stack.pop() {
            for items in cluster.chunks().iter().map(|bag| bag.items()) {
                items.iter().for_each(|&item| add(item, place(JOINT, 0)));
                pulse.work(items.len())?;
            }
            match cluster {
                Cluster::Simple(leaf) => {
                    leaf.term_chunk.iter().for_each(|&item| add(item, place(JOINT, 0)));
                    pulse.work(leaf.term_chunk.len())?;
                }
                Cluster::Joint(joint) => stack.extend(&joint.children),
            }
        }
    }
    pulse.flush()
}

/// The first position that is not below `target`. Galloping pays where one list
/// is much longer than the other.
fn skip_to(list: &[Holder], target: u32) -> usize {
    let mut step = 1;
    while step < list.len() && list[step].cluster < target {
        step *= 2;
    }
    let end = (step + 1).min(list.len());
    step / 2 + list[step / 2..end].partition_point(|holder| holder.cluster < target)
}
