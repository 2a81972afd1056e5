//! How many itemsets are identifying by themselves (dls-2022, section 6.2 and
//! Fig. 5).
//!
//! Defined as in the paper: the records are clustered by HORPART, the minimal
//! problematic itemsets of at most five items are counted in every cluster,
//! their number is divided by that of the itemsets of the same size that
//! occur in the cluster, and the shares are averaged over the clusters that
//! have an itemset of this size. The clusters are those of disassociation
//! with its default size and the largest k of the table, so that they are the
//! same for every k and each could be published.
//!
//! An itemset counts as soon as one record of the cluster holds it. Nothing is
//! sampled up to [`MOST_CLUSTERS`] clusters; beyond, every n-th is looked at.

use rayon::prelude::*;
use serde::Serialize;

use super::mpii_counts;
use crate::data::{ItemId, K, M};
use crate::methods::disassociation::{
    Clusters, DEFAULT_MAX_CLUSTER_SIZE, HorizontalPartitioning, Horpart, Sizes,
};
use crate::methods::limits;
use crate::{Dataset, Progress, Result, Stage};

/// The values of k in the table.
pub const PROBLEMATIC_K: [u32; 6] = [2, 3, 4, 5, 6, 11];
/// The largest itemsets in the table.
pub const MOST_ITEMS: u32 = 5;
/// How many clusters are looked at.
const MOST_CLUSTERS: usize = 4096;

/// One cell of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problematic {
    /// How many items the itemsets have.
    pub size: u32,
    /// In fewer than so many records of the cluster they occur.
    pub k: u32,
    /// The share of these itemsets that is minimal problematic: mean over the
    /// clusters.
    pub share: f64,
}

/// The table for `data`: sizes 1..5, each with k = 2, 3, 4, 5, 6, 11.
///
/// # Errors
/// If `progress` says stop, or there is more data than can be numbered.
pub fn problematic(data: &Dataset, progress: &dyn Progress) -> Result<Vec<Problematic>> {
    let clusters = cluster(data, progress)?;
    let step = clusters.len().div_ceil(MOST_CLUSTERS).max(1);
    let chosen: Vec<usize> = (0..clusters.len()).step_by(step).collect();
    progress.stage(Stage::Problematic, Some(chosen.len() as u64));
    let shares: Vec<Vec<Option<f64>>> = chosen
        .into_par_iter()
        .map(|c| {
            let shares = shares(&clusters.rows(c, data));
            progress.step(1)?;
            Ok(shares)
        })
        .collect::<Result<_>>()?;
    let cells = (1..=MOST_ITEMS).flat_map(|size| PROBLEMATIC_K.map(|k| (size, k)));
    let table = cells
        .enumerate()
        .map(|(cell, (size, k))| {
            let known: Vec<f64> = shares.iter().filter_map(|s| s[cell]).collect();
            let share = known.iter().sum::<f64>() / known.len().max(1) as f64;
            Problematic { size, k, share }
        })
        .collect();
    Ok(table)
}

/// HORPART, or one cluster where there are too few records for it.
fn cluster(data: &Dataset, progress: &dyn Progress) -> Result<Clusters> {
    limits::records(data)?;
    let largest = PROBLEMATIC_K.into_iter().max().unwrap_or(2);
    let sizes = K::new(largest).and_then(|k| Sizes::new(k, DEFAULT_MAX_CLUSTER_SIZE));
    match sizes {
        Ok(sizes) if data.len() >= sizes.k() => {
            Horpart.partition(data, &vec![true; data.item_count()], sizes, progress)
        }
        _ => {
            let mut whole = Clusters::default();
            whole.push(0..data.len() as u32);
            Ok(whole)
        }
    }
}

/// The shares in one cluster, cell by cell; none where no itemset occurs.
fn shares(records: &[&[ItemId]]) -> Vec<Option<f64>> {
    let occurring = occurring_itemsets(records);
    let mut shares = vec![None; occurring.len() * PROBLEMATIC_K.len()];
    for (column, &k) in PROBLEMATIC_K.iter().enumerate() {
        let (Ok(k), Ok(m)) = (K::new(k), M::new(MOST_ITEMS)) else { continue };
        for (size, count) in mpii_counts(records, k, m).into_iter().enumerate() {
            if occurring[size] > 0.0 {
                shares[size * PROBLEMATIC_K.len() + column] = Some(count as f64 / occurring[size]);
            }
        }
    }
    shares
}

/// Items that occur in the same records, and how many there are of them.
type Class = (Vec<u64>, u64);

/// How many itemsets of 1, 2, .. [`MOST_ITEMS`] items occur in some record.
/// Long records have more of them than can be listed: items with the same
/// records are counted together.
fn occurring_itemsets(records: &[&[ItemId]]) -> Vec<f64> {
    let mut distinct = records.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let words = distinct.len().div_ceil(64);
    let mut occurrences: Vec<(ItemId, usize)> = Vec::new();
    for (row, record) in distinct.iter().enumerate() {
        occurrences.extend(record.iter().map(|&item| (item, row)));
    }
    occurrences.sort_unstable();
    let columns = occurrences.chunk_by(|a, b| a.0 == b.0).map(|run| {
        let mut bits = vec![0_u64; words];
        run.iter().for_each(|&(_, row)| bits[row / 64] |= 1 << (row % 64));
        (bits, 1)
    });
    let mut by_size = choices(merge(columns.collect()), MOST_ITEMS as usize);
    by_size.remove(0);
    by_size
}

/// Puts classes with the same records together.
fn merge(mut classes: Vec<Class>) -> Vec<Class> {
    classes.sort_unstable();
    classes.dedup_by(|later, first| {
        let same = later.0 == first.0;
        if same {
            first.1 += later.1;
        }
        same
    });
    classes
}

/// How many sets of 0, 1, .. `room` items of these classes occur together.
fn choices(classes: Vec<Class>, room: usize) -> Vec<f64> {
    let mut total = vec![0.0; room + 1];
    total[0] = 1.0;
    if room == 0 {
        return total;
    }
    for (i, (bits, items)) in classes.iter().enumerate() {
        let later: Vec<Class> = classes[i + 1..]
            .iter()
            .map(|(b, n)| (b.iter().zip(bits).map(|(x, y)| x & y).collect::<Vec<_>>(), *n))
            .filter(|(b, _)| b.iter().any(|&w| w != 0))
            .collect();
        let rest = choices(merge(later), room - 1);
        let mut ways = 1.0;
        for chosen in 1..=room.min(*items as usize) {
            ways *= (*items as usize + 1 - chosen) as f64 / chosen as f64;
            for (size, sets) in rest.iter().enumerate().take(room - chosen + 1) {
                total[chosen + size] += ways * sets;
            }
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn itemsets_are_counted_once_however_many_records_hold_them() {
        let long: Vec<ItemId> = (0..100).collect();
        let records: [&[ItemId]; 3] = [&long, &long, &[0, 1, 200]];
        let counts = occurring_itemsets(&records);
        // Pairs: C(100, 2), and {0, 200}, {1, 200}; triples: C(100, 3), and {0, 1, 200}.
        assert_eq!(counts[..3], [101.0, 4952.0, 161_701.0]);
        assert_eq!(counts[4], 75_287_520.0);
    }

    #[test]
    fn a_small_table_by_hand() {
        // One cluster; {a, b} is in one record; a and b are in two each, c in one.
        let data = Dataset::from_records(
            ["ab", "a", "b", "c"].map(|r| r.chars().map(String::from).collect::<Vec<_>>()),
        );
        let table = problematic(&data, &()).unwrap();
        let share = |size, k| table.iter().find(|p| (p.size, p.k) == (size, k)).unwrap().share;
        assert_eq!((share(1, 2), share(2, 2), share(3, 2)), (1.0 / 3.0, 1.0, 0.0));
        assert_eq!((share(1, 3), share(2, 3)), (1.0, 0.0), "{{a, b}} is not minimal any more");
    }
}
