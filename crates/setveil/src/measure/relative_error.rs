//! `re` and `re_a`: the relative error of the supports of pairs
//! (disassociation-2012, equation 3).

use std::ops::Range;

use super::Comparison;
use crate::data::ItemId;
use crate::mine::Transactions;

/// `re`: the published supports are means over the reconstructions. None if
/// none of the pairs occurs in the original: over pairs that nobody has, an
/// empty release would be best.
pub fn re(comparison: &Comparison) -> Option<f64> {
    let draws = f64::from(comparison.options.reconstructions.get());
    relative_error(comparison, &comparison.reconstructed, draws)
}

/// Over how many pairs `re` and `re_a` are means, and how many of them occur
/// in the original.
pub fn re_pairs(comparison: &Comparison) -> (u64, u64) {
    let terms = ranked(&comparison.originals, comparison.options.re_range.clone());
    let supports = pair_supports(&comparison.originals, &terms);
    (supports.len() as u64, supports.iter().filter(|&&s| s > 0).count() as u64)
}

/// `re_a`: the published supports are counted inside chunks only. None for a
/// release without chunks.
pub fn re_a(comparison: &Comparison) -> Option<f64> {
    relative_error(comparison, comparison.chunks.as_ref()?, 1.0)
}

fn relative_error(comparison: &Comparison, published: &Transactions, divisor: f64) -> Option<f64> {
    let terms = ranked(&comparison.originals, comparison.options.re_range.clone());
    let original = pair_supports(&comparison.originals, &terms);
    let published = pair_supports(published, &terms);
    let errors: Vec<f64> = original
        .iter()
        .zip(&published)
        .map(|(&so, &sp)| {
            let (so, sp) = (so as f64, sp as f64 / divisor);
            if so + sp == 0.0 { 0.0 } else { (so - sp).abs() / ((so + sp) / 2.0) }
        })
        .collect();
    original.iter().any(|&so| so > 0).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
}

/// The terms with a rank in `range`: by descending support, ties by text, the
/// most frequent term has rank 0.
fn ranked(data: &Transactions, range: Range<usize>) -> Vec<ItemId> {
    let mut order: Vec<ItemId> =
        (0..data.item_count() as ItemId).filter(|&i| data.support(i) > 0).collect();
    order.sort_unstable_by_key(|&i| (std::cmp::Reverse(data.support(i)), i));
    let end = range.end.min(order.len());
    order[range.start.min(end)..end].to_vec()
}

/// The supports of all pairs of `terms`, in a fixed order.
fn pair_supports(data: &Transactions, terms: &[ItemId]) -> Vec<u64> {
    let mut place = vec![None; data.item_count()];
    for (i, &term) in terms.iter().enumerate() {
        place[term as usize] = Some(i);
    }
    let mut supports = vec![0; terms.len() * terms.len().saturating_sub(1) / 2];
    let mut present = Vec::new();
    for (items, weight) in data.iter() {
        present.clear();
        present.extend(items.iter().filter_map(|&i| place[i as usize]));
        present.sort_unstable();
        for (at, &high) in present.iter().enumerate() {
            for &low in &present[..at] {
                supports[high * (high - 1) / 2 + low] += weight;
            }
        }
    }
    supports
}
