//! What happened on the way to a safe release: for its maker alone.

use serde::Serialize;

/// What happened on the way to a release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Simple clusters.
    pub clusters: u64,
    /// Those with more records than asked for: counts could not split them.
    pub oversized: u64,
    /// Those whose chunks follow from supports alone: nothing is lost there.
    pub by_supports: u64,
    /// Those in which links decided, with a witness for every set.
    pub by_links: u64,
    /// Those in which links were not used, as some set had no witness.
    pub without_witness: u64,
    /// Those that kept one chunk, as there were too few sub-records.
    pub one_chunk: u64,
    /// Pairs of terms in different record chunks of one cluster.
    pub pairs: u64,
    /// Terms of fewer than k records that were left out.
    pub dropped_items: u64,
    /// Records that were left out as they had no other terms.
    pub dropped_records: u64,
}
