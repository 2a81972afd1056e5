//! What becomes of clusters that are too small or cannot be split.
//!
//! A cluster of fewer than k records hides nobody: Lemma 2 of
//! disassociation-2012 holds only from k records on. Small clusters wait in
//! depth-first order, where neighbours share the terms that were split on,
//! until together they are enough.

use super::{Clusters, Sizes};
use crate::data::Dataset;

/// Makes every cluster hold at least k and at most max records.
///
/// `clusters` come in depth-first order and hold at least k records together.
/// A cluster of more than max records is one that no term could split.
pub(super) fn pool<'a>(
    clusters: impl Iterator<Item = &'a [u32]>,
    data: &Dataset,
    sizes: Sizes,
) -> Clusters {
    let mut pooled = Clusters::default();
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
    if pooled.iter().all(|cluster| cluster.len() <= sizes.max()) {
        return pooled;
    }
    let mut result = Clusters::default();
    for cluster in pooled.iter() {
        cut(cluster, data, sizes, &mut result);
    }
    result
}

/// Cuts a cluster of more than max records into pieces of nearly equal size.
/// As max >= 2k, each piece has at least k. Equal records are interchangeable,
/// so sorting by content makes the pieces independent of the order of rows.
fn cut(cluster: &[u32], data: &Dataset, sizes: Sizes, result: &mut Clusters) {
    let (len, pieces) = (cluster.len(), cluster.len().div_ceil(sizes.max()));
    if pieces == 1 {
        result.push(cluster.iter().copied());
        return;
    }
    let mut sorted = cluster.to_vec();
    sorted.sort_unstable_by_key(|&r| data.record(r as usize));
    for piece in 0..pieces {
        let range = piece * len / pieces..(piece + 1) * len / pieces;
        result.push(sorted[range].iter().copied());
    }
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
        let pooled = pool(clusters.into_iter(), &data, sizes(3, 6));
        let clusters: Vec<&[u32]> = pooled.iter().collect();
        assert_eq!(clusters, [&[1, 2, 3, 4][..], &[0, 5, 6], &[8, 9, 10, 7, 11]]);
    }

    #[test]
    fn what_cannot_be_split_is_cut_by_content() {
        let rows = ["b", "a", "b", "a", "a", "c", "b"];
        let data = Dataset::from_records(rows.map(|r| [r]));
        let pooled = pool([&[0, 1, 2, 3, 4, 5, 6][..]].into_iter(), &data, sizes(2, 4));
        let contents: Vec<Vec<&str>> =
            pooled.iter().map(|c| c.iter().map(|&r| rows[r as usize]).collect()).collect();
        assert_eq!(contents, [vec!["a", "a", "a"], vec!["b", "b", "b", "c"]]);
    }
}
