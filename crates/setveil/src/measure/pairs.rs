//! `pairs_kept` and `pairs_limit`: how much of what stood together is still
//! seen together, and how much of it k allows to be seen at all.

use rayon::prelude::*;

use super::Comparison;
use crate::data::ItemId;
use crate::mine::Transactions;
use crate::{Progress, Result};

/// The share of the original pair occurrences that stand inside one record or
/// shared chunk. A record's item goes to one chunk only, so no occurrence is
/// counted twice. None for a release without chunks; 1 if there are no pairs.
pub fn pairs_kept(comparison: &Comparison) -> Option<f64> {
    let kept = pair_occurrences(comparison.chunks.as_ref()?);
    Some(share(kept, pair_occurrences(&comparison.originals)))
}

/// The share of pair occurrences whose pair has a support of at least k: no
/// release with m of 2 or more can keep more. None where there is no k.
///
/// # Complexity
/// One step for every pair occurrence among distinct records; the memory of
/// one counter per item and thread.
///
/// # Errors
/// If `progress` says stop.
pub fn pairs_limit(comparison: &Comparison, progress: &dyn Progress) -> Result<Option<f64>> {
    let Some(k) = comparison.k().map(u64::from) else { return Ok(None) };
    let data = &comparison.originals;
    // No pair with an item below k is allowed.
    let frequent = |item: ItemId| data.support(item) >= k;
    let index = data.index(frequent, progress)?;
    let allowed: u64 = (0..data.item_count() as ItemId)
        .into_par_iter()
        .filter(|&item| frequent(item))
        .map_init(
            || (vec![0_u64; data.item_count()], Vec::new()),
            |(counts, touched), item| {
                progress.step(0)?;
                for t in index.containing(&[item]) {
                    let (record, weight) = data.get(t);
                    for &other in &record[record.partition_point(|&i| i <= item)..] {
                        if counts[other as usize] == 0 {
                            touched.push(other);
                        }
                        counts[other as usize] += weight;
                    }
                }
                let supports = touched.drain(..).map(|i| std::mem::take(&mut counts[i as usize]));
                Ok(supports.filter(|&support| support >= k).sum::<u64>())
            },
        )
        .try_reduce(|| 0, |a, b| Ok(a + b))?;
    Ok(Some(share(allowed, pair_occurrences(data))))
}

fn pair_occurrences(data: &Transactions) -> u64 {
    data.iter().map(|(items, weight)| super::pairs_of(items.len()) * weight).sum()
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}
