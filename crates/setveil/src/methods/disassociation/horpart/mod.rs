//! HORPART: similar records come together in clusters
//! (disassociation-2012, section 4).
//!
//! A part that is too large is split by its most frequent term into the
//! records that have it and the rest; the rest is split again, until it is
//! small. Such a sequence of splits is a *chain* here, and the parts that leave
//! it and are still too large are chains of their own.
//!
//! The algorithm is in this file: the loop of a chain, and what a chain must be
//! able to do. Beside it: the records of a chain ([`rows`]) and the lists that
//! say who has a term ([`postings`]), the terms by frequency ([`queue`]), which
//! chain runs when and where ([`schedule`]), and what becomes of clusters that
//! are too small ([`pooling`]).
//!
//! Clusters are sets of records that depend on the content alone: neither the
//! order of the rows nor the number of threads changes them.

mod pooling;
mod postings;
mod queue;
mod rows;
mod schedule;

use queue::Queue;

use super::{Clusters, HorizontalPartitioning, Sizes};
use crate::Result;
use crate::data::{Dataset, ItemId};
use crate::progress::{Progress, Pulse, Stage};

/// The paper's horizontal partitioning.
///
/// # Guarantee
/// Every cluster has at least `k` and at most `max` records.
///
/// # Complexity
/// A record takes part in at most as many chains as it has terms, and costs
/// its length in each; in practice in five. The list of a term is read when
/// the term comes to the front, and again if others then took its records;
/// a chain that reads too much begins to subtract, so that it stays linear.
///
/// # Deviations
/// The paper rescans what is left after every split, which is quadratic, and
/// publishes clusters of fewer than k records, which is not private. The set
/// *ignore* is not kept: a term that was used on the way to a part is in all of
/// its records, and a term that all records have cannot split them. A chain
/// ends where no two records have a term in common: what is left is cut.
#[derive(Clone, Copy, Debug, Default)]
pub struct Horpart;

impl HorizontalPartitioning for Horpart {
    fn name(&self) -> &str {
        "horpart"
    }

    fn partition(
        &self,
        data: &Dataset,
        may_split: &[bool],
        sizes: Sizes,
        progress: &dyn Progress,
    ) -> Result<Clusters> {
        progress.stage(Stage::Clustering, Some(data.len() as u64));
        if data.len() <= sizes.max() {
            let all: Vec<u32> = (0..data.len() as u32).collect();
            return pooling::pool([&all[..]].into_iter(), data, may_split, sizes, progress);
        }
        let outcomes = schedule::run_chains(data, may_split, sizes.max(), Floor::ANY, progress)?;
        pooling::pool(schedule::DepthFirst::new(&outcomes), data, may_split, sizes, progress)
    }
}

/// HORPART by counts alone, for safe disassociation: a term splits a part only
/// if k records have it and k of the rest do not. No cluster is pooled or cut, and
/// what no term can split stays whole, however large it is. Who is in which
/// cluster depends on counts that the records of a cluster have together.
///
/// # Guarantee
/// Every cluster has at least `k` records.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountOnly;

impl HorizontalPartitioning for CountOnly {
    fn name(&self) -> &str {
        "count-only"
    }

    fn partition(
        &self,
        data: &Dataset,
        may_split: &[bool],
        sizes: Sizes,
        progress: &dyn Progress,
    ) -> Result<Clusters> {
        progress.stage(Stage::Clustering, Some(data.len() as u64));
        let mut clusters = Clusters::default();
        if data.len() <= sizes.max() {
            clusters.push(0..data.len() as u32);
            progress.step(data.len() as u64)?;
            return Ok(clusters);
        }
        let both = Floor { part: sizes.k() as u32, rest: sizes.k() };
        let outcomes = schedule::run_chains(data, may_split, sizes.max(), both, progress)?;
        for cluster in schedule::DepthFirst::new(&outcomes) {
            clusters.push(cluster.iter().copied());
        }
        Ok(clusters)
    }
}

/// How many records at least must have a term that splits, and how many of
/// those that are left then must not.
#[derive(Clone, Copy)]
struct Floor {
    part: u32,
    rest: usize,
}

impl Floor {
    /// The paper's: a term that one record has brings nobody together.
    const ANY: Self = Self { part: 2, rest: 0 };
}

/// Records that are being split.
trait Chain {
    /// How many of the records that are left have the term.
    fn count(&mut self, term: ItemId) -> u32;

    /// Those leave and become a part.
    fn take(&mut self, term: ItemId) -> Result<()>;
}

/// Takes the most frequent term until at most `max` of `len` records are left
/// (Alg. HORPART, lines 3 to 5). Of two that are equally frequent the first by
/// text comes first.
fn take_frequent_terms(
    chain: &mut impl Chain,
    queue: &mut Queue,
    len: usize,
    max: usize,
    floor: Floor,
    pulse: &mut Pulse,
) -> Result<()> {
    let (mut left, mut terms) = (len, Vec::new());
    'taking: for expected in (floor.part..=queue.top()).rev() {
        queue.pop_all(expected, &mut terms);
        for &term in &terms {
            if left <= max {
                break 'taking;
            }
            let now = chain.count(term);
            // The rest without the term only falls: too few once is too few always.
            if now == expected && left - now as usize >= floor.rest {
                chain.take(term)?;
                left -= now as usize;
                if now as usize <= max {
                    pulse.done(now as usize)?;
                }
            } else if now < expected && now >= floor.part {
                // Counts only fall: it will come again.
                queue.push(now, term);
            }
            // So long was the list that was read.
            pulse.work(expected as usize)?;
        }
    }
    queue.clear();
    Ok(())
}
