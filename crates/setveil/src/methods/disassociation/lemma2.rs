//! Lemma 2 of disassociation-2012: a cluster needs enough sub-records to fill
//! all of its records even when k of them take several at once.
//!
//! Records cannot be empty, and an attacker who knows the cluster's size can
//! rule out every combination that would leave one empty. A term of the term
//! chunk can fill any record, unless it is sensitive: who believes that such a
//! term is in at most 1/l of the records knows that it fills no more.

use super::ChunkedCluster;
use crate::data::{ItemId, K, M};
use crate::release::Bag;

/// Whether a cluster of `size` records with these record chunks is safe even
/// with an empty term chunk: the chunks hold `size + k (h - 1)` sub-records,
/// where h = min(m, number of chunks). Right for `size` >= k.
pub(crate) fn holds_without_term_chunk(size: u32, record_chunks: &[Bag], k: K, m: M) -> bool {
    let h = record_chunks.len().min(m.get() as usize).max(1) as u64;
    let subrecords: u64 = record_chunks.iter().map(Bag::total).sum();
    subrecords >= u64::from(size) + u64::from(k.get()) * (h - 1)
}

/// Moves the rarest term of the record chunks to the term chunk if the
/// cluster, made of `records`, needs it; one is always enough, for any m. Terms
/// that are `hidden` are sensitive.
pub(crate) fn repair(
    chunked: &mut ChunkedCluster,
    records: &[&[ItemId]],
    k: K,
    m: M,
    hidden: &dyn Fn(ItemId) -> bool,
) {
    let ChunkedCluster { cluster, supports } = chunked;
    let safe = cluster.term_chunk.iter().any(|&t| !hidden(t))
        || holds_without_term_chunk(cluster.size, &cluster.record_chunks, k, m);
    if safe {
        return;
    }
    let rarest = cluster
        .record_chunks
        .iter()
        .enumerate()
        .flat_map(|(c, chunk)| {
            chunk.domain().into_iter().map(move |t| (chunk.support(&[t]), std::cmp::Reverse(t), c))
        })
        .min();
    if let Some((_, std::cmp::Reverse(term), c)) = rarest {
        cluster.record_chunks[c] = without(&cluster.record_chunks[c], term);
        cluster.record_chunks.retain(|chunk| !chunk.is_empty());
        let place = cluster.term_chunk.partition_point(|&t| t < term);
        cluster.term_chunk.insert(place, term);
        // A chunk may hold fewer than there are: DLS suppresses.
        let with_term = records.iter().filter(|r| r.binary_search(&term).is_ok());
        supports.insert(place, with_term.count() as u32);
    }
}

fn without(chunk: &Bag, term: ItemId) -> Bag {
    let rest: Vec<(Vec<ItemId>, u32)> = chunk
        .iter()
        .map(|(items, count)| (items.iter().copied().filter(|&i| i != term).collect(), count))
        .collect();
    Bag::from_counted(rest.iter().map(|(items, count)| (&items[..], *count)))
}
