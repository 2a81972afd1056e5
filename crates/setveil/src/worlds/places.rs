//! Where each item of a joint cluster can be: the leaves with a source of it.

use smallvec::SmallVec;

use super::cluster::{ClusterWorlds, Exception};
use super::parts::TERM;
use crate::data::ItemId;

/// For each item of a joint cluster the leaves that have it in a chunk of their
/// own, and the shared chunks that bring it to the leaves below them.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// By item, then by leaf.
    own: Vec<Place>,
    /// By item, then by chunk.
    shared: Vec<(ItemId, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    item: ItemId,
    pub(super) leaf: u32,
    /// A record chunk, or [`TERM`].
    chunk: u32,
    /// How many sub-records of the chunk have the item.
    count: u32,
}

/// Where a leaf has an item from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// A record chunk, a shared chunk, or [`TERM`].
    pub(super) chunk: u32,
    /// How many sub-records of a record chunk have the item.
    pub(super) count: u32,
    /// What keeps sub-records of a shared chunk out, or [`NONE`].
    exception: u32,
}

const NONE: u32 = u32::MAX;

impl Source {
    const NOWHERE: Self = Self { chunk: TERM, count: 0, exception: NONE };

    /// The position of what keeps sub-records of a shared chunk out.
    pub(super) fn exception(self) -> Option<u32> {
        (self.exception != NONE).then_some(self.exception)
    }
}

/// Leaves in which all items of an itemset have a source, ascending.
#[derive(Debug, Default)]
pub(super) struct Sites {
    leaves: Vec<u32>,
    /// For every leaf as many as the itemset has items, in its order.
    sources: Vec<Source>,
}

impl Places {
    pub(super) fn new(cluster: &ClusterWorlds) -> Self {
        let mut places = Self::default();
        for (leaf_number, leaf) in cluster.leaves.iter().enumerate() {
            let place = |item, chunk, count| Place { item, leaf: leaf_number as u32, chunk, count };
            for c in leaf.own.clone() {
                for (items, count) in cluster.chunks[c].bag.iter() {
                    places.own.extend(items.iter().map(|&item| place(item, c as u32, count)));
                }
            }
            places.own.extend(leaf.term_chunk.iter().map(|&item| place(item, TERM, 0)));
        }
        places.own.sort_unstable();
        // The nearest source counts: a record chunk before the term chunk.
        places.own.dedup_by(|next, kept| {
            let same = (next.item, next.leaf) == (kept.item, kept.leaf);
            if same && next.chunk == kept.chunk {
                kept.count = kept.count.saturating_add(next.count);
            }
            same
        });
        places.own.shrink_to_fit();
        for (c, chunk) in cluster.chunks.iter().enumerate().filter(|(_, c)| c.is_shared()) {
            places.shared.extend(chunk.domain().iter().map(|&item| (item, c as u32)));
        }
        places.shared.sort_unstable();
        places
    }

    /// The leaves with the item in a chunk of their own, ascending.
    pub(super) fn own(&self, item: ItemId) -> &[Place] {
        let start = self.own.partition_point(|p| p.item < item);
        let len = self.own[start..].partition_point(|p| p.item == item);
        &self.own[start..start + len]
    }

    /// The shared chunks with the item, the lowest first.
    pub(super) fn shared(&self, item: ItemId) -> impl Iterator<Item = u32> + Clone {
        let start = self.shared.partition_point(|s| s.0 < item);
        let len = self.shared[start..].partition_point(|s| s.0 == item);
        self.shared[start..start + len].iter().map(|s| s.1)
    }
}

/// One item of an itemset: where it can be, asked for leaf after leaf.
pub(super) struct Spots<'a> {
    own: &'a [Place],
    shared: SmallVec<[Below<'a>; 4]>,
}

/// The leaves below a shared chunk.
struct Below<'a> {
    chunk: u32,
    leaves: std::ops::Range<u32>,
    /// Those that do not get everything, and the position of the first.
    exceptions: &'a [Exception],
    first: u32,
}

impl Spots<'_> {
    /// Where a leaf has the item from: a record chunk, [`TERM`], or the lowest
    /// shared chunk with it, if that may bring something. Leaves must ascend
    /// from call to call.
    pub(super) fn source(&mut self, leaf: u32) -> Option<Source> {
        let passed = ascend(self.own, |place| place.leaf < leaf);
        self.own = &self.own[passed..];
        if let Some(place) = self.own.first().filter(|place| place.leaf == leaf) {
            return Some(Source { chunk: place.chunk, count: place.count, exception: NONE });
        }
        let below = self.shared.iter_mut().find(|below| below.leaves.contains(&leaf))?;
        let passed = ascend(below.exceptions, |exception| exception.leaf < leaf);
        below.exceptions = &below.exceptions[passed..];
        below.first += passed as u32;
        match below.exceptions.first().filter(|exception| exception.leaf == leaf) {
            None => Some(Source { chunk: below.chunk, count: 0, exception: NONE }),
            Some(exception) if exception.open => {
                Some(Source { chunk: below.chunk, count: 0, exception: below.first })
            }
            Some(_) => None,
        }
    }

    /// The leaves that may have the item, ascending: ranges that do not overlap.
    pub(super) fn ranges(&self) -> Vec<std::ops::Range<u32>> {
        let mut ranges: Vec<std::ops::Range<u32>> =
            self.shared.iter().map(|below| below.leaves.clone()).collect();
        ranges.extend(self.own.iter().map(|place| place.leaf..place.leaf + 1));
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        let mut end = 0;
        for range in &mut ranges {
            range.start = range.start.max(end).min(range.end);
            end = end.max(range.end);
        }
        ranges
    }

    /// How many leaves these are at most.
    pub(super) fn leaves(&self) -> usize {
        self.own.len() + self.shared.iter().map(|below| below.leaves.len()).sum::<usize>()
    }
}

/// The first position that is not `below`, from the beginning: mostly a step or two.
fn ascend<T>(list: &[T], below: impl Fn(&T) -> bool) -> usize {
    let mut step = 1;
    while step <= list.len() && below(&list[step - 1]) {
        step *= 2;
    }
    step / 2 + list[step / 2..(step - 1).min(list.len())].partition_point(below)
}

impl ClusterWorlds<'_> {
    /// The leaves in which all items have a source; none for an empty itemset.
    pub(super) fn sites(&self, itemset: &[ItemId]) -> Sites {
        let mut sites = Sites::default();
        self.any_site(itemset, |leaf, sources| {
            sites.leaves.push(leaf);
            sites.sources.extend_from_slice(sources);
            false
        });
        sites
    }

    /// Shows these leaves to `holds`, ascending, with the sources of the items, until
    /// it says yes. Whether it did.
    pub(super) fn any_site(
        &self,
        itemset: &[ItemId],
        mut holds: impl FnMut(u32, &[Source]) -> bool,
    ) -> bool {
        let mut spots: SmallVec<[(usize, Spots); 4]> = SmallVec::new();
        for (i, &item) in itemset.iter().enumerate() {
            let found = self.spots(item);
            if found.leaves() == 0 {
                return false;
            }
            spots.push((i, found));
        }
        // The rarest first: most leaves fail there.
        spots.sort_by_key(|(_, s)| s.leaves());
        let Some((_, rarest)) = spots.first() else { return false };
        let mut sources: SmallVec<[Source; 4]> =
            SmallVec::from_elem(Source::NOWHERE, itemset.len());
        rarest.ranges().into_iter().flatten().any(|leaf| {
            let all = spots.iter_mut().all(|(i, s)| match s.source(leaf) {
                Some(source) => {
                    sources[*i] = source;
                    true
                }
                None => false,
            });
            all && holds(leaf, &sources)
        })
    }

    /// Where an item can be.
    pub(super) fn spots(&self, item: ItemId) -> Spots<'_> {
        let below = |chunk: u32| {
            let inflow = self.chunks[chunk as usize].inflow.as_ref()?;
            let leaves = &self.nodes[inflow.node].leaves;
            let exceptions = inflow.exceptions.start as usize..inflow.exceptions.end as usize;
            Some(Below {
                chunk,
                leaves: leaves.start as u32..leaves.end as u32,
                exceptions: &self.exceptions[exceptions],
                first: inflow.exceptions.start,
            })
        };
        let shared = self.places.shared(item).filter_map(below).collect();
        Spots { own: self.places.own(item), shared }
    }
}

impl Sites {
    pub(super) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// The leaves with the sources of the items.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &[Source])> {
        let items = (self.sources.len() / self.leaves.len().max(1)).max(1);
        self.leaves.iter().map(|&l| l as usize).zip(self.sources.chunks(items))
    }
}

#[cfg(test)]
mod tests {
    use super::ascend;

    #[test]
    fn ascending_finds_the_first_that_is_not_below() {
        for len in 0..40_u32 {
            let list: Vec<u32> = (0..len).map(|i| 2 * i).collect();
            for target in 0..=2 * len + 2 {
                let expected = list.partition_point(|&x| x < target);
                assert_eq!(ascend(&list, |&x| x < target), expected, "{len} {target}");
            }
        }
    }
}
