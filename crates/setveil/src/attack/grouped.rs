//! Grouped releases (cahd-2008): how likely a sensitive item is for somebody
//! of whom some other items are known.
//!
//! Non-sensitive items are published as they are, so a record is found as
//! easily as in the original; what is hidden is which of a group's sensitive
//! items are its. Each item with count f in a group of g is taken to be in any f
//! of the g records, independently of the others. The promised degree is per
//! sensitive item: nothing is promised about having any of them at all.
//!
//! With the algorithm as a [`Kernel`], [`regroup`] also replays it.

use rustc_hash::FxHashMap;

use super::posterior::{Evaluation, examine_with};
use super::report::{Association, OTHER_KNOWLEDGE, Report};
use super::targets::People;
use super::{Background, Kernel, Options, regroup};
use crate::data::{Dataset, ItemId};
use crate::release::{Group, Grouped, Release};
use crate::{Progress, Result};

/// Attacks a grouped release.
pub(super) fn attack(
    release: &Release,
    body: &Grouped,
    original: Option<&Dataset>,
    options: &Options,
    kernel: &Kernel,
    progress: &dyn Progress,
) -> Result<Report> {
    let known = options.known.unwrap_or(2);
    let index = Index::new(body);
    let truth = match original {
        Some(data) => People::of(data, &body.vocabulary),
        None => People::from_records(body.groups.iter().flat_map(|group| {
            let copies = |(items, count): (&[ItemId], u32)| {
                std::iter::repeat_n(items.to_vec(), count as usize).collect::<Vec<_>>()
            };
            group.records.iter().flat_map(copies).collect::<Vec<_>>()
        })),
    };
    // The attacker knows non-sensitive items.
    let people = People::from_records((0..truth.len()).map(|r| {
        let open = |i: &&ItemId| !index.sensitive[**i as usize];
        truth.record(r).iter().filter(open).copied().collect::<Vec<_>>()
    }));
    let background = Background::new(&people, body.vocabulary.len(), known, options);
    let mut report = Report::new(release, options, original.is_some());
    report.association = Some(association(body));
    let evaluate = |set: &[ItemId]| index.evaluate(body, set);
    examine_with(
        &mut report,
        &body.vocabulary,
        (&people, &truth, &background),
        None,
        known,
        options,
        progress,
        &evaluate,
    )?;
    report.note(
        "the privacy degree holds per sensitive item: a group whose members all have different \
         sensitive items tells that each of them has one",
    );
    report.note("non-sensitive items are published unchanged: who somebody is, is not hidden");
    regroup::replay(&mut report, body, original, options, kernel, progress)?;
    report.note(OTHER_KNOWLEDGE);
    Ok(report)
}

struct Index {
    sensitive: Vec<bool>,
    /// Distinct records of a group: the group, and how many there are.
    records: Vec<(u32, u32)>,
    /// For each item the records that have it, ascending.
    records_with: Vec<Vec<u32>>,
}

impl Index {
    fn new(body: &Grouped) -> Self {
        let items = body.vocabulary.len();
        let (mut sensitive, mut records) = (vec![false; items], Vec::new());
        let mut records_with = vec![Vec::new(); items];
        for (g, group) in body.groups.iter().enumerate() {
            group.sensitive.iter().for_each(|(i, _)| sensitive[*i as usize] = true);
            for (items, count) in group.records.iter() {
                items.iter().for_each(|&i| records_with[i as usize].push(records.len() as u32));
                records.push((g as u32, count));
            }
        }
        Self { sensitive, records, records_with }
    }

    fn evaluate(&self, body: &Grouped, known: &[ItemId]) -> Evaluation {
        let lists: Vec<&[u32]> =
            known.iter().map(|&i| self.records_with[i as usize].as_slice()).collect();
        let Some((first, rest)) = lists.split_first() else { return (0.0, 0, None, None) };
        let found = first.iter().filter(|r| rest.iter().all(|l| l.binary_search(r).is_ok()));
        let mut candidates = 0;
        let mut mass: FxHashMap<ItemId, f64> = FxHashMap::default();
        for &r in found {
            let (group, count) = self.records[r as usize];
            let group = &body.groups[group as usize];
            candidates += u64::from(count);
            for &(item, occurrences) in &group.sensitive {
                *mass.entry(item).or_default() +=
                    f64::from(count) * f64::from(occurrences) / f64::from(group.size.max(1));
            }
        }
        let mut mass: Vec<(ItemId, f64)> = mass.into_iter().collect();
        mass.sort_unstable_by_key(|(item, _)| *item);
        let best = mass.into_iter().reduce(|a, b| if b.1 > a.1 { b } else { a });
        let best = best.map(|(item, mass)| (item, mass / candidates as f64));
        (candidates as f64, candidates, best, None)
    }
}

fn association(body: &Grouped) -> Association {
    let mut found = Association {
        groups: body.groups.len() as u64,
        min_size: body.groups.iter().map(|g| u64::from(g.size)).min().unwrap_or(0),
        ..Association::default()
    };
    let records: f64 = body.groups.iter().map(|g| f64::from(g.size)).sum();
    for group in &body.groups {
        let Group { size, sensitive, .. } = group;
        let size = f64::from((*size).max(1));
        let shares = sensitive.iter().map(|(_, count)| (f64::from(*count) / size).min(1.0));
        let item = shares.clone().fold(0.0, f64::max);
        let any = 1.0 - shares.map(|share| 1.0 - share).product::<f64>();
        found.max_item = found.max_item.max(item);
        found.max_any = found.max_any.max(any);
        found.mean_item += item * size / records;
        found.mean_any += any * size / records;
        if sensitive.iter().map(|(_, c)| u64::from(*c)).sum::<u64>() >= u64::from(group.size) {
            found.possibly_all_sensitive += u64::from(group.size);
        }
    }
    found
}
