//! What becomes of clusters that are too small or cannot be split.
//!
//! A cluster of fewer than k records hides nobody: Lemma 2 of
//! disassociation-2012 holds only from k records on. Small clusters wait in
//! depth-first order, where neighbours share the terms that were split on,
//! until together they are enough.

use crate::Result;
use crate::data::{Dataset, ItemId};
use crate::methods::disassociation::{Clusters, Sizes};
use crate::progress::{Progress, sort_unstable_by};

/// Makes every cluster hold at least k and at most max records.
///
/// `clusters` come in depth-first order and hold at least k records together.
/// A cluster of more than max records is one that no term could split.
pub(super) fn pool<'a>(
    clusters: impl Iterator<Item = &'a [u32]>,
    data: &Dataset,
    sizes: Sizes,
    progress: &dyn Progress,
) -> Result<Clusters> {
    let mut pooled = Clusters::with_capacity(data.len());
    let mut waiting: Vec<u32> = Vec::new();
    for cluster in clusters {
        if cluster.len() >= sizes.k() {
            pooled.push(cluster.iter().copied());
        } else {
            waiting.extend_from_slice(cluster);
            if waiting.len() >= sizes.k() {
                pooled.push(waiting.drain(..));
            }
        }
    }
    if pooled.is_empty() {
        pooled.push(waiting);
    } else {
        pooled.extend_last(&waiting);
    }
    // As max >= 2k, each piece has at least k records.
    progress.step(0)?;
    pooled.cut(sizes.max(), |large| sort_by_content(large, data, progress))?;
    Ok(pooled)
}

/// Equal records are interchangeable, so what is cut in this order does not
/// depend on the order of the rows.
fn sort_by_content(cluster: &mut [u32], data: &Dataset, progress: &dyn Progress) -> Result<()> {
    let mut rows = Vec::new();
    data.fetch(cluster, &mut rows);
    let mut sorted: Vec<(&[ItemId], u32)> = rows.into_iter().zip(cluster.iter().copied()).collect();
    sort_unstable_by(&mut sorted, |a, b| a.cmp(b), progress)?;
    for (to, (_, record)) in cluster.iter_mut().zip(sorted) {
        *to = record;
    }
    progress.step(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::K;

    fn sizes(k: u32, max: usize) -> Sizes {
        Sizes::new(K::new(k).unwrap(), max).unwrap()
    }

    #[test]
    fn small_clusters_wait_for_each_other_and_the_last_ones_join_the_one_before() {
        let data = Dataset::from_records((0..12).map(|i| [format!("{i:02}")]));
        let clusters: [&[u32]; 6] = [&[0], &[1, 2, 3, 4], &[5, 6], &[7], &[8, 9, 10], &[11]];
        let pooled = pool(clusters.into_iter(), &data, sizes(3, 6), &()).unwrap();
        let clusters: Vec<&[u32]> = pooled.iter().collect();
        assert_eq!(clusters, [&[1, 2, 3, 4][..], &[0, 5, 6], &[8, 9, 10, 7, 11]]);
    }

    #[test]
    fn what_cannot_be_split_is_cut_by_content() {
        let rows = ["b", "a", "b", "a", "a", "c", "b"];
        let data = Dataset::from_records(rows.map(|r| [r]));
        let pooled =
            pool([&[0, 1, 2, 3, 4, 5, 6][..]].into_iter(), &data, sizes(2, 4), &()).unwrap();
        let contents: Vec<Vec<&str>> =
            pooled.iter().map(|c| c.iter().map(|&r| rows[r as usize]).collect()).collect();
        assert_eq!(contents, [vec!["a", "a", "a"], vec!["b", "b", "b", "c"]]);
    }
}
