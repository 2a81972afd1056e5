//! `tlost`: the share of terms with an original support of at least k that
//! stand in no record or shared chunk (disassociation-2012, section 7.1). In a
//! leaf's terms: that are kept nowhere, and neither counted nor summed up.

use super::Comparison;
use crate::release::Body;

/// `tlost`; none for a release without chunks, 0 if no term has support k.
///
/// # Deviations
/// The paper says "more than k" in the text; k itself is already enough to be
/// published in a chunk, so it counts here.
pub fn tlost(comparison: &Comparison) -> Option<f64> {
    let (chunks, k) = (comparison.chunks.as_ref()?, u64::from(comparison.k()?));
    let items = 0..comparison.vocabulary.len() as u32;
    let frequent: Vec<u32> = items.filter(|&i| comparison.originals.support(i) >= k).collect();
    let told = told(comparison);
    let lost = frequent.iter().filter(|&&i| chunks.support(i) == 0 && !told[i as usize]).count();
    Some(if frequent.is_empty() { 0.0 } else { lost as f64 / frequent.len() as f64 })
}

/// Per item, whether a located release says how often it occurs beside what is
/// kept: that is as good as a chunk of one term.
fn told(comparison: &Comparison) -> Vec<bool> {
    let mut told = vec![false; comparison.vocabulary.len()];
    if let Body::Located(body) = &comparison.release.body {
        let counted = body.leaves.iter().flat_map(|leaf| leaf.counted.iter().map(|c| c.0));
        for item in counted.chain(body.totals.iter().map(|t| t.0)) {
            let id = comparison.vocabulary.id(body.vocabulary.label(item));
            told[id.expect("all labels are in it") as usize] = true;
        }
    }
    told
}
