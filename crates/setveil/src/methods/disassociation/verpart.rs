//! VERPART: splits the records of one cluster into chunks
//! (disassociation-2012, section 4).

use super::chunking::TermMatrix;
use super::lemma2;
use crate::data::{ItemId, K, M};
use crate::release::SimpleCluster;

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
    verpart_with(&mut Scratch::default(), records, k, m, &|_| false)
}

/// Arrays over all items that are clean between clusters.
#[derive(Debug, Default)]
pub struct Scratch {
    counts: Vec<u32>,
    index: Vec<u32>,
    present: Vec<ItemId>,
    occurrences: Vec<(u32, u32)>,
}

/// [`verpart`] with arrays that are used again, and with terms that must go
/// to the term chunk.
pub(crate) fn verpart_with(
    scratch: &mut Scratch,
    records: &[&[ItemId]],
    k: K,
    m: M,
    hidden: &dyn Fn(ItemId) -> bool,
) -> SimpleCluster {
    // Lines 1 to 3: the records ascend, so the last item tells how long the arrays must be.
    let items = records.iter().filter_map(|r| r.last()).max().map_or(0, |&i| i as usize + 1);
    if scratch.counts.len() < items {
        scratch.counts.resize(items, 0);
        scratch.index.resize(items, 0);
    }
    for &item in records.iter().copied().flatten() {
        let count = &mut scratch.counts[item as usize];
        if *count == 0 {
            scratch.present.push(item);
        }
        *count += 1;
    }
    // Line 5.
    const IN_TERM_CHUNK: u32 = u32::MAX;
    let (mut terms, mut term_chunk) = (Vec::new(), Vec::new());
    for item in scratch.present.drain(..) {
        let support = std::mem::take(&mut scratch.counts[item as usize]);
        if support < k.get() || hidden(item) {
            scratch.index[item as usize] = IN_TERM_CHUNK;
            term_chunk.push(item);
        } else {
            scratch.index[item as usize] = terms.len() as u32;
            terms.push((item, support));
        }
    }
    term_chunk.sort_unstable();
    term_chunk.shrink_to_fit();
    scratch.occurrences.clear();
    for (r, record) in records.iter().enumerate() {
        let indices = record.iter().map(|&item| scratch.index[item as usize]);
        scratch.occurrences.extend(indices.filter(|&i| i != IN_TERM_CHUNK).map(|i| (r as u32, i)));
    }
    // Lines 4 and 6 to 18.
    let matrix = TermMatrix::new(&terms, records.len(), &scratch.occurrences);
    let mut cluster = SimpleCluster {
        size: records.len() as u32,
        record_chunks: matrix.chunks(k, m),
        term_chunk,
    };
    lemma2::repair(&mut cluster, k, m);
    cluster
}
