//! Which records belong together: the outcome of a horizontal partitioning.

use rayon::prelude::*;

use crate::Result;
use crate::data::{Dataset, ItemId};

/// Clusters of record numbers, in one allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clusters {
    /// Cluster `c` is `records[ends[c - 1]..ends[c]]`.
    ends: Vec<usize>,
    records: Vec<u32>,
}

impl Clusters {
    /// Room for so many records.
    pub(super) fn with_capacity(records: usize) -> Self {
        Self { ends: Vec::new(), records: Vec::with_capacity(records) }
    }

    /// Adds a cluster.
    pub fn push(&mut self, records: impl IntoIterator<Item = u32>) {
        self.records.extend(records);
        self.ends.push(self.records.len());
    }

    /// Adds records to the last cluster, which must exist.
    pub(super) fn extend_last(&mut self, records: &[u32]) {
        self.records.extend_from_slice(records);
        *self.ends.last_mut().expect("a cluster") = self.records.len();
    }

    /// Cuts the clusters of more than `max` records into pieces of nearly equal
    /// size, in the order in which `sort` puts their records. Empty ones go.
    pub(super) fn cut(
        &mut self,
        max: usize,
        sort: impl Fn(&mut [u32]) -> Result<()> + Send + Sync,
    ) -> Result<()> {
        let (mut ends, mut large) = (Vec::with_capacity(self.len()), Vec::new());
        let (mut start, mut rest) = (0, &mut self.records[..]);
        for &end in &self.ends {
            let (cluster, others) = rest.split_at_mut(end - start);
            let (len, pieces) = (cluster.len(), cluster.len().div_ceil(max));
            ends.extend((1..=pieces).map(|piece| start + piece * len / pieces));
            if pieces > 1 {
                large.push(cluster);
            }
            (start, rest) = (end, others);
        }
        large.into_par_iter().try_for_each(sort)?;
        self.ends = ends;
        Ok(())
    }

    /// How many clusters there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The numbers of the records of cluster `c`.
    pub fn get(&self, c: usize) -> &[u32] {
        let start = if c == 0 { 0 } else { self.ends[c - 1] };
        &self.records[start..self.ends[c]]
    }

    /// The clusters in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|c| self.get(c))
    }

    /// The items of the records of cluster `c`.
    pub fn rows<'a>(&self, c: usize, data: &'a Dataset) -> Vec<&'a [ItemId]> {
        let mut rows = Vec::new();
        data.fetch(self.get(c), &mut rows);
        rows
    }
}
