//! l-diversity for terms that are sensitive in themselves
//! (disassociation-2012, section 5), so that nobody learns from the clusters who
//! has them.
//!
//! Hiding a sensitive term in the term chunk hides which records have it, but
//! not that perhaps all have it: clusters must be large enough. Which of them
//! are put together may not tell where the term was. So a step looks at who is in
//! a cluster or at how often a term occurs, and never at both.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::Clusters;
use crate::data::{Dataset, ItemId, K, L};
use crate::progress::{Progress, Pulse};
use crate::{Error, Result};

/// Puts neighbours together until every cluster that has a sensitive term has
/// l times as many other records as the term has, and k l of them.
///
/// All clusters are divided in the middle, the two parts again, and so on. A
/// part may be divided if whatever it holds could be anywhere in it: both
/// sides have l times as many records as its most frequent sensitive term, and k l.
/// Records without any other item do not count: nobody is hidden among them.
///
/// # Guarantee
/// Exchange the sensitive terms of records of one resulting cluster: the result is the
/// same. For every part that was looked at is a union of resulting clusters, its
/// counts are the same, and nothing else of the terms was looked at. So among the
/// records with other items each holds a term with the probability count / records
/// <= 1/l, if all were equally likely before.
///
/// # Deviations
/// The paper promises a probability of at most 1/|C| for whatever stands in a
/// term chunk. That does not follow: the multiplicity is hidden, but may be
/// everything. Merging where a term is too frequent, and nowhere else, tells where
/// it was.
pub(super) fn diversify(
    clusters: Clusters,
    data: &Dataset,
    sensitive: &[bool],
    (k, l): (K, L),
    progress: &dyn Progress,
) -> Result<Clusters> {
    let mut pulse = Pulse::new(progress);
    let mut tallies = Vec::with_capacity(clusters.len());
    for cluster in clusters.iter() {
        let mut tally = Tally::default();
        for &record in cluster {
            tally.add(data.record(record as usize), sensitive);
            pulse.work(data.record(record as usize).len())?;
        }
        tallies.push(tally);
    }
    let all = sum(&tallies);
    if all.counts.is_empty() {
        return Ok(clusters);
    }
    let needed = |tally: &Tally| tally.most() * u64::from(l.get());
    if needed(&all).max(u64::from(k.get()) * u64::from(l.get())) > all.records {
        return Err(infeasible(&all, data, k, l));
    }
    let mut result = Clusters::default();
    // Parts that wait, the first of them last.
    let mut waiting: Vec<Range<usize>> = std::iter::once(0..tallies.len()).collect();
    while let Some(part) = waiting.pop() {
        let all = sum(&tallies[part.clone()]);
        pulse.work(part.len() + all.counts.len())?;
        if all.counts.is_empty() {
            part.for_each(|c| result.push(clusters.get(c).iter().copied()));
            continue;
        }
        let least = needed(&all).max(u64::from(k.get()) * u64::from(l.get()));
        match middle(&tallies[part.clone()], all.records, least) {
            Some(first) => {
                waiting.push(part.start + first..part.end);
                waiting.push(part.start..part.start + first);
            }
            None => result.push(part.flat_map(|c| clusters.get(c).iter().copied())),
        }
    }
    Ok(result)
}

/// How many of the clusters the first of two parts takes, each of `least`
/// records or more and as equal as possible; none if there are no such parts.
fn middle(tallies: &[Tally], all: u64, least: u64) -> Option<usize> {
    let mut before = 0;
    let mut best = None;
    for (i, tally) in tallies.iter().enumerate() {
        if i > 0 && before >= least && all - before >= least {
            let apart = (2 * before).abs_diff(all);
            if best.is_none_or(|(_, least)| apart < least) {
                best = Some((i, apart));
            }
        }
        before += tally.records;
    }
    best.map(|(i, _)| i)
}

fn infeasible(all: &Tally, data: &Dataset, k: K, l: L) -> Error {
    let Tally { records, .. } = *all;
    let most = all.counts.iter().map(|(&item, &count)| (count, std::cmp::Reverse(item))).max();
    let (count, item) = most.map_or((0, 0), |(count, item)| (count, item.0));
    if u64::from(count) <= u64::from(k.get()) {
        return Error::Infeasible {
            what: format!(
                "{records} records have other items than sensitive ones, fewer than k l = {}",
                u64::from(k.get()) * u64::from(l.get())
            ),
            hint: "with a sensitive term, a cluster needs k l records: choose a smaller k or l"
                .into(),
        };
    }
    let largest = records / u64::from(count);
    Error::Infeasible {
        what: format!(
            "sensitive term `{}` is in {count} of {records} records, more than 1/{l} of them",
            data.vocabulary().label(item),
        ),
        hint: match largest {
            0 | 1 => "no l works for it: take it out of the list of sensitive terms".into(),
            _ => format!("the largest l that works for it is {largest}").into(),
        },
    }
}

/// How often each sensitive term occurs, and how many records have other items.
#[derive(Default)]
struct Tally {
    records: u64,
    counts: FxHashMap<ItemId, u32>,
}

impl Tally {
    fn add(&mut self, record: &[ItemId], sensitive: &[bool]) {
        let mut others = false;
        for &item in record {
            if sensitive[item as usize] {
                *self.counts.entry(item).or_default() += 1;
            } else {
                others = true;
            }
        }
        self.records += u64::from(others);
    }

    /// How often the most frequent term occurs.
    fn most(&self) -> u64 {
        self.counts.values().max().map_or(0, |&count| count.into())
    }
}

fn sum(tallies: &[Tally]) -> Tally {
    let mut all = Tally::default();
    for Tally { records, counts } in tallies {
        all.records += records;
        counts.iter().for_each(|(&item, count)| *all.counts.entry(item).or_default() += count);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clusters(sizes: &[u32]) -> Clusters {
        let (mut clusters, mut start) = (Clusters::default(), 0);
        for size in sizes {
            clusters.push(start..start + size);
            start += size;
        }
        clusters
    }

    fn parameters(k: u32, l: u32) -> (K, L) {
        (K::new(k).unwrap(), L::new(l).unwrap())
    }

    fn marks(data: &Dataset) -> Vec<bool> {
        data.vocabulary().labels().map(|label| matches!(label, "s" | "t")).collect()
    }

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
        let sensitive = marks(&data);
        for l in 2..=7 {
            let merged =
                diversify(clusters(&[4; 15]), &data, &sensitive, parameters(2, l), &()).unwrap();
            for cluster in merged.iter() {
                for item in (0..data.item_count() as ItemId).filter(|&i| sensitive[i as usize]) {
                    let has = |r: &&u32| data.record(**r as usize).contains(&item);
                    let count = cluster.iter().filter(has).count();
                    assert!(count * l as usize <= cluster.len(), "l = {l}: {cluster:?}");
                    assert!(count == 0 || cluster.len() >= 2 * l as usize, "{cluster:?}");
                }
            }
            let mut all: Vec<u32> = merged.iter().flatten().copied().collect();
            all.sort_unstable();
            assert_eq!(all, (0..60).collect::<Vec<u32>>(), "every record is in one cluster");
        }
        // Eight of sixty records have s: l = 8 cannot be had.
        let error = diversify(clusters(&[60]), &data, &sensitive, parameters(2, 8), &());
        let error = error.unwrap_err().to_string();
        assert!(error.contains("largest l that works for it is 7"), "{error}");
        let error = diversify(clusters(&[60]), &data, &sensitive, parameters(31, 2), &());
        assert!(error.unwrap_err().to_string().contains("k l = 62"));
    }

    /// Whoever holds a term, as long as the clusters hold as many: the same.
    #[test]
    fn who_holds_a_term_changes_nothing() {
        let place = |holders: u32| {
            let rows =
                (0..12).map(|r| if holders >> r & 1 == 1 { vec!["x", "s"] } else { vec!["x"] });
            Dataset::from_records(rows)
        };
        let first = |holders: u32| {
            let data = place(holders);
            diversify(clusters(&[2; 6]), &data, &marks(&data), parameters(2, 2), &()).unwrap()
        };
        let mut several = 0;
        for holders in (1u32..1 << 12).filter(|h| h.count_ones() <= 4) {
            let merged = first(holders);
            several += u32::from(merged.len() > 1);
            for cluster in merged.iter() {
                // The holders of one cluster move to its first records.
                let inside = cluster.iter().fold(0u32, |set, r| set | 1 << r);
                let count = (holders & inside).count_ones() as usize;
                let moved = cluster.iter().take(count).fold(holders & !inside, |h, r| h | 1 << r);
                assert_eq!(first(moved), merged, "{holders:b}");
            }
        }
        assert!(several > 100, "{several}");
    }

    #[test]
    fn records_with_sensitive_terms_only_hide_nobody() {
        let rows = (0..8).map(|r| if r < 4 { vec!["t"] } else { vec!["x", "s"] });
        let data = Dataset::from_records(rows);
        let error = diversify(clusters(&[8]), &data, &marks(&data), parameters(2, 2), &());
        assert!(error.unwrap_err().to_string().contains("is in 4 of 4 records"));
    }
}
