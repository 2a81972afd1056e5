//! `tlost`: the share of terms with an original support of at least k that
//! stand in no record or shared chunk (disassociation-2012, section 7.1).

use super::Comparison;

/// `tlost`; none for a release without chunks, 0 if no term has support k.
///
/// # Deviations
/// The paper says "more than k" in the text; k itself is already enough to be
/// published in a chunk, so it counts here.
pub fn tlost(comparison: &Comparison) -> Option<f64> {
    let (chunks, k) = (comparison.chunks.as_ref()?, u64::from(comparison.k()?));
    let items = 0..comparison.vocabulary.len() as u32;
    let frequent: Vec<u32> = items.filter(|&i| comparison.originals.support(i) >= k).collect();
    let lost = frequent.iter().filter(|&&i| chunks.support(i) == 0).count();
    Some(if frequent.is_empty() { 0.0 } else { lost as f64 / frequent.len() as f64 })
}
