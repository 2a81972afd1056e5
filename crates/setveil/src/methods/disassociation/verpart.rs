//! VERPART: splits the records of one cluster into chunks
//! (disassociation-2012, section 4).

use super::chunking::TermMatrix;
use super::lemma2;
use super::masks::{self, Chunker};
use super::present::Present;
use crate::data::{ItemId, K, M};
use crate::release::{Bag, SimpleCluster};

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
    split(&mut Scratch::default(), records, k, m, &|_| false).cluster
}

/// A cluster that was split, with what the custodian alone may know.
#[derive(Clone, Debug)]
pub struct Split {
    /// What can be published.
    pub cluster: SimpleCluster,
    /// How many of the cluster's records have each term of the term chunk.
    pub supports: Vec<u32>,
}

/// Arrays that are used again from cluster to cluster.
#[derive(Debug, Default)]
pub struct Scratch {
    counts: Vec<u32>,
    masks: Vec<u64>,
    index: Vec<u32>,
    present: Present,
    term_chunk: TermChunk,
    chunker: Chunker,
    occurrences: Vec<(u32, u32)>,
}

/// The term chunk that is being made.
#[derive(Debug, Default)]
struct TermChunk {
    terms: Vec<ItemId>,
    supports: Vec<u32>,
}

impl TermChunk {
    /// Takes those of the terms that are present and too rare for a record
    /// chunk, or `hidden`, and hands the others on (line 5). `take` tells where
    /// a term occurs, and how often.
    fn fill<T>(
        &mut self,
        present: &mut Present,
        k: K,
        hidden: &dyn Fn(ItemId) -> bool,
        mut take: impl FnMut(ItemId) -> (T, u32),
        mut keep: impl FnMut(ItemId, T),
    ) {
        self.terms.clear();
        self.supports.clear();
        present.drain(|item| {
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
    fn split(&self, size: usize, record_chunks: Vec<Bag>) -> Split {
        let term_chunk = self.terms.clone();
        let cluster = SimpleCluster { size: size as u32, record_chunks, term_chunk };
        Split { cluster, supports: self.supports.clone() }
    }
}

/// [`verpart`] with arrays that are used again, and with terms that must go
/// to the term chunk.
pub(super) fn split(
    scratch: &mut Scratch,
    records: &[&[ItemId]],
    k: K,
    m: M,
    hidden: &dyn Fn(ItemId) -> bool,
) -> Split {
    // The records ascend, so the last item tells how long the arrays must be.
    let items = records.iter().filter_map(|r| r.last()).max().map_or(0, |&i| i as usize + 1);
    scratch.present.reserve(items);
    let mut split = if records.len() <= masks::MOST_RECORDS {
        scratch.masks.resize(items.max(scratch.masks.len()), 0);
        split_few(scratch, records, k, m, hidden)
    } else {
        for array in [&mut scratch.counts, &mut scratch.index] {
            array.resize(items.max(array.len()), 0);
        }
        split_many(scratch, records, k, m, hidden)
    };
    lemma2::repair(&mut split, records, k, m);
    split
}

fn split_few(
    scratch: &mut Scratch,
    records: &[&[ItemId]],
    k: K,
    m: M,
    hidden: &dyn Fn(ItemId) -> bool,
) -> Split {
    let Scratch { masks, present, term_chunk, chunker, .. } = scratch;
    // Lines 1 to 3.
    for (r, record) in records.iter().enumerate() {
        for &item in *record {
            masks[item as usize] |= 1 << r;
            present.insert(item);
        }
    }
    chunker.terms.clear();
    let take = |item: ItemId| {
        let mask = std::mem::take(&mut masks[item as usize]);
        (mask, mask.count_ones())
    };
    term_chunk.fill(present, k, hidden, take, |item, mask| chunker.terms.push((item, mask)));
    // Lines 4 and 6 to 18.
    term_chunk.split(records.len(), chunker.chunks(k, m))
}

fn split_many(
    scratch: &mut Scratch,
    records: &[&[ItemId]],
    k: K,
    m: M,
    hidden: &dyn Fn(ItemId) -> bool,
) -> Split {
    let Scratch { counts, index, present, term_chunk, occurrences, .. } = scratch;
    for &item in records.iter().copied().flatten() {
        counts[item as usize] += 1;
        present.insert(item);
    }
    const IN_TERM_CHUNK: u32 = u32::MAX;
    let mut terms = Vec::new();
    let take = |item: ItemId| {
        let support = std::mem::take(&mut counts[item as usize]);
        (support, support)
    };
    term_chunk.fill(present, k, hidden, take, |item, support| {
        index[item as usize] = terms.len() as u32;
        terms.push((item, support));
    });
    term_chunk.terms.iter().for_each(|&item| index[item as usize] = IN_TERM_CHUNK);
    occurrences.clear();
    for (r, record) in (0..).zip(records) {
        let indices = record.iter().map(|&item| index[item as usize]);
        occurrences.extend(indices.filter(|&i| i != IN_TERM_CHUNK).map(|i| (r, i)));
    }
    let matrix = TermMatrix::new(&terms, records.len(), occurrences);
    term_chunk.split(records.len(), matrix.chunks(k, m))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
            let mut scratch = Scratch {
                counts: vec![0; 12],
                masks: vec![0; 12],
                index: vec![0; 12],
                ..Scratch::default()
            };
            scratch.present.reserve(12);
            let few = split_few(&mut scratch, &records, k, m, &hide);
            let many = split_many(&mut scratch, &records, k, m, &hide);
            prop_assert_eq!(&few.cluster, &many.cluster);
            prop_assert_eq!(&few.supports, &many.supports);
            let whole = split(&mut scratch, &records, k, m, &hide);
            let occur = |t: &ItemId| rows.iter().filter(|r| r.contains(t)).count() as u32;
            let expected: Vec<u32> = whole.cluster.term_chunk.iter().map(occur).collect();
            prop_assert_eq!(whole.supports, expected);
        }
    }
}
