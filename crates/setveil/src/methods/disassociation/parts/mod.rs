//! Disassociation of data that does not fit into one memory.
//!
//! A [`Plan`] by rank prefixes says which records come into one part. Every
//! part goes through the three steps alone ([`split`]). REFINE ends where a
//! part ends, so terms that are rare in every part would be lost: what
//! clusters have not shared travels on ([`terms`] says what that is), clusters
//! with the same rare terms come together in other parts, and REFINE goes on
//! there ([`join`]), six times, in fewer and larger parts ([`JOIN_ROUNDS`]). At the
//! end [`close`] makes of each what is published.
//!
//! Between the steps a cluster is a string of bytes, so that it can lie in a
//! file or go to another machine. [`anonymize_numbered`] does all of it, with
//! whatever keeps byte strings as [`Shelves`].
//!
//! # Guarantee
//! That of [`anonymize`](super::anonymize): it is one of every cluster and of
//! every join, whoever is in it. The result depends on the records as a bag
//! and on the size of the parts, not on the order of the records or threads.
//!
//! # Deviations
//! In one part, the result is that of [`anonymize`](super::anonymize). In
//! several, another one: HORPART begins again in every part.
//! `docs/disassociation.md` says what that costs.

mod counting;
mod filling;
mod plan;
mod ranks;
mod round;
mod run;
mod watch;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

pub use crate::data::{InMemory, Shelf, Shelves};
pub use filling::{Equal, Plan};
pub use plan::{Beginning, Counter, Planner};
pub use ranks::{PartSize, Ranks};
pub use run::{Counted, JOIN_ROUNDS, Numbered, Sizes, anonymize_numbered, join_size};

use super::pipeline::open;
use super::refine::{OpenCluster, open_terms_of, refine_open};
use super::{Chunking, Clustering, Parameters, TermChunks, Verpart};
use crate::data::{Dataset, ItemId, Vocabulary};
use crate::progress::Progress;
use crate::release::Cluster;
use crate::{Error, Result};

/// The records of a part, items by the numbers that all parts share.
#[derive(Clone, Debug, Default)]
pub struct Records {
    ends: Vec<usize>,
    items: Vec<ItemId>,
}

impl Records {
    /// Adds a record of ascending items so many times.
    pub fn push(&mut self, items: &[ItemId], count: u64) {
        for _ in 0..count {
            self.items.extend_from_slice(items);
            self.ends.push(self.items.len());
        }
    }

    /// Appends a record whose items may be in any order; see [`sort`](Self::sort).
    fn push_unsorted(&mut self, items: impl Iterator<Item = ItemId>) {
        self.items.extend(items);
        self.ends.push(self.items.len());
    }

    /// Sorts the items of every record.
    fn sort(&mut self) {
        let mut rest = &mut self.items[..];
        let mut start = 0;
        let mut pieces = Vec::new();
        for ends in self.ends.chunks(1 << 12) {
            let end = ends[ends.len() - 1];
            let (piece, others) = rest.split_at_mut(end - start);
            pieces.push((piece, start, ends));
            (rest, start) = (others, end);
        }
        pieces.into_par_iter().for_each(|(piece, start, ends)| {
            let mut from = 0;
            for end in ends {
                piece[from..end - start].sort_unstable();
                from = end - start;
            }
        });
    }

    /// The records with small numbers in the same order, and which they had.
    fn settle(self) -> (Dataset, Vec<ItemId>) {
        let Self { ends: mut offsets, mut items } = self;
        let mut ids = items.clone();
        ids.par_sort_unstable();
        ids.dedup();
        ids.shrink_to_fit();
        let numbers: FxHashMap<ItemId, ItemId> = ids.iter().copied().zip(0..).collect();
        items.par_iter_mut().for_each(|item| *item = numbers[item]);
        offsets.insert(0, 0);
        // Nobody reads these labels: they stand for the numbers, in their order.
        let labels = ids.iter().map(|id| format!("{id:010}"));
        (Dataset::from_parts(Vocabulary::from_sorted(labels), offsets, items), ids)
    }
}

/// Refuses parameters with which parts would not keep what is promised, or
/// are not known to.
///
/// # Errors
/// With sensitive terms, a safe release, or partitionings other than the
/// paper's horizontal one.
pub fn check(parameters: &Parameters) -> Result<()> {
    let refuse =
        |name, found: &str, expected| Err(Error::Parameter { name, found: found.into(), expected });
    parameters.sizes()?;
    if !parameters.keep.is_empty() {
        return refuse(
            "keep",
            "data in parts",
            "all data at once: records of all parts come together",
        );
    }
    if parameters.safe.is_some() {
        return refuse("safe", "data in parts", "all data at once: all clusters are joined");
    }
    if parameters.sensitive.is_some() {
        let expected = "all data at once: a term must be rare enough in every part";
        return refuse("sensitive", "data in parts", expected);
    }
    if parameters.clustering != Clustering::Horpart {
        return refuse("clustering", "data in parts", "the paper's, `horpart`");
    }
    if let Chunking::Own(name) = &parameters.chunking {
        return refuse("chunking", name, "a partitioning that this method has");
    }
    Ok(())
}

/// The three steps for one part, which must have at least k records. The
/// clusters, as bytes, may still share terms with those of other parts.
///
/// # Errors
/// As for [`anonymize`](super::anonymize) and [`check`].
pub fn split(
    records: Records,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Vec<Vec<u8>>> {
    check(parameters)?;
    let (data, ids) = records.settle();
    match parameters.chunking {
        Chunking::TermChunks => open(&data, &ids, parameters, &TermChunks, progress),
        _ => {
            let vertical = Verpart { k: parameters.k, m: parameters.m };
            open(&data, &ids, parameters, &vertical, progress)
        }
    }
}

/// Lets clusters of any parts share terms that have a rank. The result
/// depends on the clusters as a bag.
///
/// # Errors
/// If these are no bytes of [`split`] or `join`, or `progress` says stop.
pub fn join(
    clusters: Vec<Vec<u8>>,
    ranks: &Ranks,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Vec<Vec<u8>>> {
    let may_share = |item| ranks.has(item);
    // Both chunkings share by the greedy loop of VERPART.
    let vertical = Verpart { k: parameters.k, m: parameters.m };
    refine_open(clusters, &may_share, parameters, &vertical, progress)
}

/// The terms that a cluster has not shared, ascending, each with its number
/// of records.
///
/// # Errors
/// If these are no bytes of [`split`] or [`join`].
pub fn terms(cluster: &[u8]) -> Result<Vec<(ItemId, u32)>> {
    let mut terms = Vec::new();
    open_terms_of(cluster, &mut terms)?;
    Ok(terms)
}

/// What is published of a cluster that shares nothing more, in canonical order.
///
/// # Errors
/// If these are no bytes of [`split`] or [`join`].
pub fn close(cluster: &[u8]) -> Result<Cluster> {
    let mut cluster = OpenCluster::from_bytes(cluster)?.close();
    cluster.canonicalize();
    Ok(cluster)
}
