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
pub(super) fn pool(clusters: Vec<Vec<u32>>, data: &Dataset, sizes: Sizes) -> Clusters {
    let mut pooled: Vec<Vec<u32>> = Vec::with_capacity(clusters.len());
    let mut waiting: Vec<u32> = Vec::new();
    for cluster in clusters {
        if cluster.len() >= sizes.k() {
            pooled.push(cluster);
        } else {
            waiting.extend(cluster);
            if waiting.len() >= sizes.k() {
                pooled.push(std::mem::take(&mut waiting));
            }
        }
    }
    if !waiting.is_empty() {
        match pooled.last_mut() {
            Some(last) => last.append(&mut waiting),
            None => pooled.push(waiting),
        }
    }
    let mut result = Clusters::default();
    for cluster in pooled {
        cut(cluster, data, sizes, &mut result);
    }
    result
}

/// Cuts a cluster of more than max records into pieces of nearly equal size.
/// As max >= 2k, each piece has at least k. Equal records are interchangeable,
/// so sorting by content makes the pieces independent of the order of rows.
fn cut(mut cluster: Vec<u32>, data: &Dataset, sizes: Sizes, result: &mut Clusters) {
    let pieces = cluster.len().div_ceil(sizes.max());
    if pieces > 1 {
        cluster.sort_unstable_by_key(|&r| data.record(r as usize));
    }
    let len = cluster.len();
    for piece in 0..pieces {
        let range = piece * len / pieces..(piece + 1) * len / pieces;
        result.push(cluster[range].iter().copied());
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
        let pooled = pool(
            vec![vec![0], vec![1, 2, 3, 4], vec![5, 6], vec![7], vec![8, 9, 10], vec![11]],
            &data,
            sizes(3, 6),
        );
        let clusters: Vec<&[u32]> = pooled.iter().collect();
        assert_eq!(clusters, [&[1, 2, 3, 4][..], &[0, 5, 6], &[8, 9, 10, 7, 11]]);
    }

    #[test]
    fn what_cannot_be_split_is_cut_by_content() {
        let rows = ["b", "a", "b", "a", "a", "c", "b"];
        let data = Dataset::from_records(rows.map(|r| [r]));
        let pooled = pool(vec![(0..7).collect()], &data, sizes(2, 4));
        let contents: Vec<Vec<&str>> =
            pooled.iter().map(|c| c.iter().map(|&r| rows[r as usize]).collect()).collect();
        assert_eq!(contents, [vec!["a", "a", "a"], vec!["b", "b", "b", "c"]]);
    }
}
