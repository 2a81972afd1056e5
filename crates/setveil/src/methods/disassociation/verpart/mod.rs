//! VERPART: splits the records of one cluster into chunks
//! (disassociation-2012, section 4).
//!
//! The algorithm is in this file; its greedy loop is the [`Chunker`], which
//! REFINE uses as well.

mod chunker;
mod dense;
mod item_set;
mod sparse;

pub use chunker::Chunker;
use item_set::ItemSet;

use super::{VerticalPartitioning, lemma2};
use crate::Result;
use crate::data::{ItemId, K, M};
use crate::methods::limits;
use crate::progress::{Progress, Pulse};
use crate::release::{Bag, SimpleCluster};

/// The paper's vertical partitioning.
#[derive(Clone, Copy, Debug)]
pub struct Verpart {
    /// How many candidates must remain.
    pub k: K,
    /// How many terms an attacker may know.
    pub m: M,
}

impl VerticalPartitioning for Verpart {
    type Scratch = Scratch;

    fn name(&self) -> &str {
        "verpart"
    }

    fn partition(
        &self,
        scratch: &mut Scratch,
        records: &[&[ItemId]],
        hidden: &dyn Fn(ItemId) -> bool,
        progress: &dyn Progress,
    ) -> Result<ChunkedCluster> {
        scratch.verpart(records, (self.k, self.m), hidden, |_| 0, progress)
    }
}

/// A cluster in chunks, with what the custodian alone may know.
#[derive(Clone, Debug)]
pub struct ChunkedCluster {
    /// What can be published.
    pub cluster: SimpleCluster,
    /// How many of the cluster's records have each term of the term chunk.
    pub supports: Vec<u32>,
}

/// Splits the records of a cluster into k^m-anonymous record chunks and a
/// term chunk.
///
/// # Guarantee
/// Every combination of 1..m terms that is present in a record chunk is
/// present at least k times, the domains are disjoint, every term is in one
/// chunk, and Lemma 2 holds, provided that there are at least k records.
///
/// # Complexity
/// For m = 2 one pass over the records of a term for every chunk that is
/// tried; for larger m the number of combinations that are present.
///
/// # Deviations
/// Sizes 1..m are tested, not only m: three terms of which two occur together
/// once break the guarantee for m = 3 too. Where Lemma 2 fails the rarest term
/// moves to the term chunk, as section 5 asks.
///
/// # Panics
/// With 2^32 records or occurrences: [`Verpart`] gives an error then.
///
/// ```
/// use setveil::data::{K, M};
/// use setveil::methods::disassociation::verpart;
///
/// // Items 0 and 1 occur together in three records, item 2 in one.
/// let rows: [&[u32]; 3] = [&[0, 1], &[0, 1, 2], &[0, 1]];
/// let cluster = verpart(&rows, K::new(3)?, M::new(2)?);
/// assert_eq!(cluster.record_chunks[0].support(&[0, 1]), 3);
/// assert_eq!(cluster.term_chunk, [2]);
/// # Ok::<(), setveil::Error>(())
/// ```
pub fn verpart(records: &[&[ItemId]], k: K, m: M) -> SimpleCluster {
    let chunked = Scratch::default().verpart(records, (k, m), &|_| false, |_| 0, &());
    chunked.expect("fewer than 2^32 occurrences, and nobody says stop").cluster
}

/// Arrays that are used again from cluster to cluster.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Per item, zero between clusters: in how many records it is, in which,
    /// and which number it has for the chunker.
    supports: Vec<u32>,
    masks: Vec<u64>,
    numbers: Vec<u32>,
    /// The items of the cluster.
    items: ItemSet,
    term_chunk: TermChunk,
    chunker: Chunker,
}

/// The number of a term that goes to the term chunk.
const IN_TERM_CHUNK: u32 = u32::MAX;

impl Scratch {
    /// [`verpart`] with arrays that are used again, with terms that must go to
    /// the term chunk, and with an order of terms that comes before their supports.
    pub(super) fn verpart(
        &mut self,
        records: &[&[ItemId]],
        (k, m): (K, M),
        hidden: &dyn Fn(ItemId) -> bool,
        rank: impl Fn(ItemId) -> u32,
        progress: &dyn Progress,
    ) -> Result<ChunkedCluster> {
        let size = limits::number("records in one cluster", records.len() as u64)?;
        // The records ascend, so the last item tells how long the arrays must be.
        let items = records.iter().filter_map(|r| r.last()).max().map_or(0, |&i| i as usize + 1);
        self.items.reserve(items);
        self.chunker.clear();
        // Lines 1 to 5.
        if records.len() <= Chunker::MOST_MASKED {
            self.masks.resize(items.max(self.masks.len()), 0);
            self.divide_few(records, k, hidden);
        } else {
            for array in [&mut self.supports, &mut self.numbers] {
                array.resize(items.max(array.len()), 0);
            }
            self.divide_many(records, k, hidden, progress)?;
        }
        // Lines 6 to 18.
        let record_chunks = self.chunker.chunks_by(k, m, rank, progress)?;
        let mut chunked = self.term_chunk.chunked(size, record_chunks);
        lemma2::repair(&mut chunked, records, k, m, hidden);
        Ok(chunked)
    }

    /// Fills the term chunk with the terms that are too rare, and the chunker
    /// with the others.
    fn divide_few(&mut self, records: &[&[ItemId]], k: K, hidden: &dyn Fn(ItemId) -> bool) {
        let Self { masks, items, term_chunk, chunker, .. } = self;
        for (r, record) in records.iter().enumerate() {
            let bit = 1 << r;
            for &item in *record {
                let mask = &mut masks[item as usize];
                if *mask == 0 {
                    items.insert(item);
                }
                *mask |= bit;
            }
        }
        let take = |item: ItemId| {
            let mask = std::mem::take(&mut masks[item as usize]);
            (mask, mask.count_ones())
        };
        term_chunk.fill(items, k, hidden, take, |item, mask| chunker.push_mask(item, mask));
    }

    /// [`divide_few`](Self::divide_few) for more records than a word has bits.
    fn divide_many(
        &mut self,
        records: &[&[ItemId]],
        k: K,
        hidden: &dyn Fn(ItemId) -> bool,
        progress: &dyn Progress,
    ) -> Result<()> {
        let Self { supports, numbers, items, term_chunk, chunker, .. } = self;
        let mut pulse = Pulse::new(progress);
        for record in records {
            for &item in *record {
                supports[item as usize] += 1;
                items.insert(item);
            }
            pulse.work(record.len())?;
        }
        let take = |item: ItemId| {
            let support = std::mem::take(&mut supports[item as usize]);
            (support, support)
        };
        term_chunk.fill(items, k, hidden, take, |item, support| {
            numbers[item as usize] = chunker.push_term(item, support);
        });
        term_chunk.terms.iter().for_each(|&item| numbers[item as usize] = IN_TERM_CHUNK);
        for record in records {
            let numbers = record.iter().map(|&item| numbers[item as usize]);
            chunker.push_record(numbers.filter(|&number| number != IN_TERM_CHUNK));
            pulse.work(record.len())?;
        }
        Ok(())
    }
}

/// The term chunk that is being made.
#[derive(Debug, Default)]
struct TermChunk {
    terms: Vec<ItemId>,
    supports: Vec<u32>,
}

impl TermChunk {
    /// Takes those of the items that are too rare for a record chunk, or
    /// `hidden`, and hands the others on (line 5). `take` tells where an item
    /// occurs, and how often.
    fn fill<T>(
        &mut self,
        items: &mut ItemSet,
        k: K,
        hidden: &dyn Fn(ItemId) -> bool,
        mut take: impl FnMut(ItemId) -> (T, u32),
        mut keep: impl FnMut(ItemId, T),
    ) {
        self.terms.clear();
        self.supports.clear();
        items.drain(|item| {
            let (occurrences, support) = take(item);
            if support < k.get() || hidden(item) {
                self.terms.push(item);
                self.supports.push(support);
            } else {
                keep(item, occurrences);
            }
        });
    }

    /// The cluster of `size` records with these record chunks.
    fn chunked(&self, size: u32, record_chunks: Vec<Bag>) -> ChunkedCluster {
        let cluster = SimpleCluster { size, record_chunks, term_chunk: self.terms.clone() };
        ChunkedCluster { cluster, supports: self.supports.clone() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What comes before Lemma 2, in the form for few records or for many.
    fn divide(
        records: &[&[ItemId]],
        k: K,
        m: M,
        hide: &dyn Fn(ItemId) -> bool,
        few: bool,
    ) -> ChunkedCluster {
        let mut scratch = Scratch {
            supports: vec![0; 12],
            masks: vec![0; 12],
            numbers: vec![0; 12],
            ..Scratch::default()
        };
        scratch.items.reserve(12);
        if few {
            scratch.divide_few(records, k, hide);
        } else {
            scratch.divide_many(records, k, hide, &()).unwrap();
        }
        let chunks = scratch.chunker.chunks(k, m, &()).unwrap();
        scratch.term_chunk.chunked(records.len() as u32, chunks)
    }

    proptest! {
        #![proptest_config(testkit::settings::cases(256))]

        /// Words of bits and counts split a cluster alike, and say how often
        /// each term of the term chunk occurs.
        #[test]
        fn few_records_are_split_like_many(
            rows in prop::collection::vec(prop::collection::btree_set(0u32..12, 1..7), 2..=64),
            k in 2u32..7,
            m in 1u32..5,
            hidden in 0u32..12,
        ) {
            let rows: Vec<Vec<ItemId>> = rows.iter().map(|r| r.iter().copied().collect()).collect();
            let records: Vec<&[ItemId]> = rows.iter().map(Vec::as_slice).collect();
            let (k, m) = (K::new(k).unwrap(), M::new(m).unwrap());
            let hide = |item| item == hidden;
            let few = divide(&records, k, m, &hide, true);
            let many = divide(&records, k, m, &hide, false);
            prop_assert_eq!(&few.cluster, &many.cluster);
            prop_assert_eq!(&few.supports, &many.supports);
            let whole = Scratch::default().verpart(&records, (k, m), &hide, |_| 0, &()).unwrap();
            let occur = |t: &ItemId| rows.iter().filter(|r| r.contains(t)).count() as u32;
            let expected: Vec<u32> = whole.cluster.term_chunk.iter().map(occur).collect();
            prop_assert_eq!(whole.supports, expected);
        }
    }
}
