//! Bounds for the support of an itemset in one leaf: no world is outside.
//!
//! Two arguments, both by counting. Parts of c_1, ..., c_q of s records
//! overlap in at least sum c_i - (q - 1) s and at most min c_i of them. And no
//! record is empty: if t records hold q parts each, the s records together
//! hold at least s + (q - 1) t parts, and there are no more than sum n_i
//! sub-records, the places of the term chunk, and what shared chunks bring.

use super::ClusterModel;

/// Least and greatest support of an itemset with these counts in record
/// chunks and `w` terms of the term chunk, when shared chunks may bring up to
/// `shared` sub-records to the leaf.
pub(super) fn simple(model: &ClusterModel, counts: &[u64], w: usize, shared: u64) -> (u64, u64) {
    if !model.possible() && shared == 0 || w as u64 > model.term_chunk_len {
        return (0, 0);
    }
    let upper = upper(model, counts, w, 0, shared);
    (lower(model, counts, w, shared).min(upper), upper)
}

/// The least support; parts from shared chunks are the caller's affair.
pub(super) fn lower(model: &ClusterModel, counts: &[u64], w: usize, shared: u64) -> u64 {
    let size = model.size;
    let parts = (counts.len() + w) as u64;
    if parts == 0 {
        return size;
    }
    let least_term = least_occurrences(model, shared);
    let sum = counts.iter().sum::<u64>() + w as u64 * least_term;
    sum.saturating_sub((parts - 1) * size)
}

/// A term of the term chunk is somewhere, and where nothing else can be, it is.
fn least_occurrences(model: &ClusterModel, shared: u64) -> u64 {
    let others = model.term_chunk_len.saturating_sub(1);
    let elsewhere = model.knowledge.max_occurrences(model.size).saturating_mul(others);
    let filled = model.totals.iter().sum::<u64>().saturating_add(shared).saturating_add(elsewhere);
    model.size.saturating_sub(filled).max(1)
}

/// The greatest support of an itemset that also has `extra` parts from shared
/// chunks (whose own counts are the caller's affair).
pub(super) fn upper(
    model: &ClusterModel,
    counts: &[u64],
    w: usize,
    extra: usize,
    shared: u64,
) -> u64 {
    let size = model.size;
    let mut upper = counts.iter().copied().min().unwrap_or(size).min(size);
    if w > 0 {
        upper = upper.min(model.knowledge.max_occurrences(size));
    }
    let parts = (counts.len() + w + extra) as u64;
    if parts >= 2 {
        let places = model.knowledge.max_occurrences(size).saturating_mul(model.term_chunk_len);
        let all = model.totals.iter().sum::<u64>().saturating_add(shared).saturating_add(places);
        upper = upper.min(all.saturating_sub(size) / (parts - 1));
    }
    upper
}
