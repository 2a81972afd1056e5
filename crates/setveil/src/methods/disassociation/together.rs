//! Sets of items that shall stay together: a horizontal and a vertical step
//! that prefer them.
//!
//! Neither loosens a rule. The horizontal step only says which records the
//! chosen one sees at a time, the vertical one only in which order terms ask
//! for a place in a chunk.

use super::verpart::Scratch;
use super::{ChunkedCluster, Chunker, Clusters, HorizontalPartitioning, Sizes};
use super::{Verpart, VerticalPartitioning};
use crate::Result;
use crate::data::{Dataset, ItemId, K, M, Wanted};
use crate::progress::{Progress, Pulse};
use crate::release::Bag;

/// Records with items of the same set come together before another
/// partitioning divides them, so that their pairs are not scattered.
///
/// # Guarantee
/// That of the other partitioning: every cluster is one that it made of at
/// least k records.
pub(in crate::methods) struct Together<'a> {
    pub(in crate::methods) wanted: &'a Wanted,
    pub(in crate::methods) other: &'a dyn HorizontalPartitioning,
}

impl HorizontalPartitioning for Together<'_> {
    fn name(&self) -> &str {
        self.other.name()
    }

    fn partition(
        &self,
        data: &Dataset,
        may_split: &[bool],
        sizes: Sizes,
        progress: &dyn Progress,
    ) -> Result<Clusters> {
        let mut clusters = Clusters::default();
        for group in self.groups(data, may_split, sizes.k(), progress)? {
            let own = data.with_records(group.iter().map(|&r| data.record(r as usize)));
            let parts = self.other.partition(&own, may_split, sizes, progress)?;
            for part in parts.iter() {
                clusters.push(part.iter().map(|&r| group[r as usize]));
            }
        }
        Ok(clusters)
    }
}

impl Together<'_> {
    /// Records by the set that they have most pairs of, those without one last.
    /// Each group has at least k records.
    fn groups(
        &self,
        data: &Dataset,
        may_split: &[bool],
        k: usize,
        progress: &dyn Progress,
    ) -> Result<Vec<Vec<u32>>> {
        let mut groups = vec![Vec::new(); self.wanted.len() + 1];
        let (mut counts, mut pulse) = (Counts::new(self.wanted.len()), Pulse::new(progress));
        for (record, r) in data.records().zip(0..) {
            let items = record.iter().copied().filter(|&item| may_split[item as usize]);
            groups[counts.best(items, self.wanted)].push(r);
            pulse.work(record.len())?;
        }
        pulse.flush()?;
        let mut rest = groups.pop().unwrap_or_default();
        let (mut large, small): (Vec<_>, Vec<_>) = groups.into_iter().partition(|g| g.len() >= k);
        rest.extend(small.into_iter().flatten());
        match large.last_mut() {
            // Too few for a cluster of their own.
            Some(last) if rest.len() < k => last.append(&mut rest),
            _ => large.push(rest),
        }
        Ok(large)
    }
}

/// How many items of each set a record has.
struct Counts {
    counts: Vec<u32>,
    touched: Vec<u32>,
}

impl Counts {
    fn new(sets: usize) -> Self {
        Self { counts: vec![0; sets], touched: Vec::new() }
    }

    /// The set with most pairs of these items by weight, of equal ones the
    /// first; the number of sets if no set has two of them.
    fn best(&mut self, items: impl Iterator<Item = ItemId>, wanted: &Wanted) -> usize {
        for &set in items.flat_map(|item| wanted.sets_of(item)) {
            if self.counts[set as usize] == 0 {
                self.touched.push(set);
            }
            self.counts[set as usize] += 1;
        }
        self.touched.sort_unstable();
        let mut best = (0, self.counts.len());
        for set in self.touched.drain(..) {
            let items = u64::from(std::mem::take(&mut self.counts[set as usize]));
            let pairs = items * items.saturating_sub(1) / 2 * u64::from(wanted.weight(set));
            if pairs > best.0 {
                best = (pairs, set as usize);
            }
        }
        best.1
    }
}

/// VERPART, in which terms that shall stay together ask for a place first, set
/// after set: the first chunk that can take them takes as many of them as k^m
/// allows.
pub(super) struct Ranked<'a> {
    pub(super) verpart: Verpart,
    pub(super) wanted: &'a Wanted,
}

impl VerticalPartitioning for Ranked<'_> {
    type Scratch = Scratch;

    fn name(&self) -> &str {
        self.verpart.name()
    }

    fn partition(
        &self,
        scratch: &mut Scratch,
        records: &[&[ItemId]],
        hidden: &dyn Fn(ItemId) -> bool,
        progress: &dyn Progress,
    ) -> Result<ChunkedCluster> {
        let Verpart { k, m } = self.verpart;
        scratch.verpart(records, (k, m), hidden, |item| self.wanted.rank(item), progress)
    }

    fn share(&self, terms: &mut Chunker, k: K, m: M, progress: &dyn Progress) -> Result<Vec<Bag>> {
        terms.chunks_by(k, m, |item| self.wanted.rank(item), progress)
    }
}
