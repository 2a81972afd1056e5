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
/// A cluster of more than max records is one that no term could split. Where
/// some items may not split, it is cut only between records that differ in the
/// others, so that a cut does not tell who has them; more than max records that
/// are alike stay together.
pub(super) fn pool<'a>(
    clusters: impl Iterator<Item = &'a [u32]>,
    data: &Dataset,
    may_split: &[bool],
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
    progress.step(0)?;
    if may_split.contains(&false) {
        return cut_between_kinds(&pooled, data, may_split, sizes, progress);
    }
    // As max >= 2k, each piece has at least k records.
    pooled.cut(sizes.max(), |large| sort_by_content(large, data, progress))?;
    Ok(pooled)
}

/// Cuts clusters of more than max records into pieces of k records at least,
/// between records that differ in items that may split.
fn cut_between_kinds(
    clusters: &Clusters,
    data: &Dataset,
    may_split: &[bool],
    sizes: Sizes,
    progress: &dyn Progress,
) -> Result<Clusters> {
    let mut cut = Clusters::with_capacity(data.len());
    for cluster in clusters.iter() {
        if cluster.len() <= sizes.max() {
            cut.push(cluster.iter().copied());
            continue;
        }
        let kind = |&record: &u32| -> Vec<ItemId> {
            let items = data.record(record as usize).iter().copied();
            items.filter(|&item| may_split[item as usize]).collect()
        };
        let items: Vec<Vec<ItemId>> = cluster.iter().map(kind).collect();
        let mut kinds: Vec<(&[ItemId], u32)> =
            items.iter().map(Vec::as_slice).zip(cluster.iter().copied()).collect();
        sort_unstable_by(&mut kinds, |a, b| a.cmp(b), progress)?;
        let target = cluster.len().div_ceil(cluster.len().div_ceil(sizes.max()));
        let (mut piece, mut left) = (Vec::new(), cluster.len());
        for alike in kinds.chunk_by(|a, b| a.0 == b.0) {
            piece.extend(alike.iter().map(|(_, record)| *record));
            left -= alike.len();
            if left == 0 || piece.len() >= target.max(sizes.k()) && left >= sizes.k() {
                cut.push(piece.drain(..));
            }
        }
    }
    Ok(cut)
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
        let pooled = pool(clusters.into_iter(), &data, &[true; 12], sizes(3, 6), &()).unwrap();
        let clusters: Vec<&[u32]> = pooled.iter().collect();
        assert_eq!(clusters, [&[1, 2, 3, 4][..], &[0, 5, 6], &[8, 9, 10, 7, 11]]);
    }

    #[test]
    fn what_cannot_be_split_is_cut_by_content() {
        let rows = ["b", "a", "b", "a", "a", "c", "b"];
        let data = Dataset::from_records(rows.map(|r| [r]));
        let pooled =
            pool([&[0, 1, 2, 3, 4, 5, 6][..]].into_iter(), &data, &[true; 3], sizes(2, 4), &())
                .unwrap();
        let contents: Vec<Vec<&str>> =
            pooled.iter().map(|c| c.iter().map(|&r| rows[r as usize]).collect()).collect();
        assert_eq!(contents, [vec!["a", "a", "a"], vec!["b", "b", "b", "c"]]);
    }
}
