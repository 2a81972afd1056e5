//! l-diversity for terms that are sensitive in themselves
//! (disassociation-2012, section 5).
//!
//! Hiding a sensitive term in the term chunk hides which records have it, but
//! not that perhaps all have it. Clusters are merged until every sensitive
//! term occurs in at most 1/l of the records of each cluster that has it.

use rustc_hash::FxHashMap;

use super::Clusters;
use crate::data::{Dataset, ItemId, L};
use crate::progress::{Progress, Pulse};
use crate::{Error, Result};

/// Merges neighbours until occurrences * l <= size holds for every sensitive
/// term in every cluster.
///
/// # Deviations
/// The paper promises a probability of at most 1/|C| for whatever stands in a
/// term chunk. That does not follow: the multiplicity is hidden, but may be
/// everything.
pub(super) fn diversify(
    clusters: Clusters,
    data: &Dataset,
    sensitive: &[bool],
    l: L,
    progress: &dyn Progress,
) -> Result<Clusters> {
    let (mut whole, mut pulse) = (Tally::default(), Pulse::new(progress));
    for record in 0..data.len() as u32 {
        whole.add(data, sensitive, record);
        pulse.work(data.record(record as usize).len())?;
    }
    if let Some((item, count)) = whole.too_frequent(l) {
        let largest = data.len() as u64 / u64::from(count);
        return Err(Error::Infeasible {
            what: format!(
                "sensitive term `{}` is in {count} of {} records, more than 1/{l} of them",
                data.vocabulary().label(item),
                data.len()
            ),
            hint: match largest {
                0 | 1 => "no l works for it: take it out of the list of sensitive terms".into(),
                _ => format!("the largest l that works for it is {largest}"),
            },
        });
    }
    let mut merged: Vec<(Vec<u32>, Tally)> = Vec::new();
    let (mut open, mut tally) = (Vec::new(), Tally::default());
    for cluster in clusters.iter() {
        open.extend_from_slice(cluster);
        for &record in cluster {
            tally.add(data, sensitive, record);
            pulse.work(data.record(record as usize).len())?;
        }
        if tally.too_frequent(l).is_none() {
            merged.push((std::mem::take(&mut open), std::mem::take(&mut tally)));
        }
    }
    // What is left over takes in the clusters before it; all together are diverse.
    while !open.is_empty() {
        if let Some((records, before)) = merged.pop() {
            open.extend(records);
            pulse.work(open.len())?;
            tally.merge(before);
        }
        if tally.too_frequent(l).is_none() {
            merged.push((std::mem::take(&mut open), std::mem::take(&mut tally)));
        }
    }
    let mut result = Clusters::default();
    merged.into_iter().for_each(|(records, _)| result.push(records));
    Ok(result)
}

/// How often each sensitive term occurs in so many records.
#[derive(Default)]
struct Tally {
    records: u64,
    counts: FxHashMap<ItemId, u32>,
}

impl Tally {
    fn add(&mut self, data: &Dataset, sensitive: &[bool], record: u32) {
        self.records += 1;
        for &item in data.record(record as usize).iter().filter(|&&i| sensitive[i as usize]) {
            *self.counts.entry(item).or_default() += 1;
        }
    }

    fn merge(&mut self, other: Self) {
        self.records += other.records;
        for (item, count) in other.counts {
            *self.counts.entry(item).or_default() += count;
        }
    }

    /// The most frequent sensitive term, if it is too frequent; ties by text.
    fn too_frequent(&self, l: L) -> Option<(ItemId, u32)> {
        self.counts
            .iter()
            .map(|(&item, &count)| (item, count))
            .filter(|&(_, count)| u64::from(count) * u64::from(l.get()) > self.records)
            .max_by_key(|&(item, count)| (count, std::cmp::Reverse(item)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sensitive terms that fill the first clusters, and a leftover that has
    /// to take in what came before it.
    #[test]
    fn no_cluster_has_a_sensitive_term_in_more_than_one_of_l_records() {
        let rows = (0..60).map(|r| match r {
            0..4 | 56..60 => vec!["x", "s"],
            20 | 30 => vec!["y", "t"],
            _ => vec!["x"],
        });
        let data = Dataset::from_records(rows);
        let sensitive: Vec<bool> =
            data.vocabulary().labels().map(|label| matches!(label, "s" | "t")).collect();
        let mut clusters = Clusters::default();
        (0..15).for_each(|c| clusters.push(c * 4..c * 4 + 4));
        for l in 2..=7 {
            let l = L::new(l).unwrap();
            let merged = diversify(clusters.clone(), &data, &sensitive, l, &()).unwrap();
            for cluster in merged.iter() {
                for item in (0..data.item_count() as ItemId).filter(|&i| sensitive[i as usize]) {
                    let has = |r: &&u32| data.record(**r as usize).contains(&item);
                    let count = cluster.iter().filter(has).count();
                    assert!(count * l.get() as usize <= cluster.len(), "l = {l}: {cluster:?}");
                }
            }
            let mut all: Vec<u32> = merged.iter().flatten().copied().collect();
            all.sort_unstable();
            assert_eq!(all, (0..60).collect::<Vec<u32>>(), "every record is in one cluster");
        }
        // Eight of sixty records have s: l = 8 cannot be had.
        let error = diversify(clusters, &data, &sensitive, L::new(8).unwrap(), &()).unwrap_err();
        assert!(error.to_string().contains("largest l that works for it is 7"), "{error}");
    }
}
