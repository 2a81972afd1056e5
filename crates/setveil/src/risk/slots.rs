//! Where each original record stands in the release, and whether a picked
//! record is the target's.
//!
//! A slot is the smallest thing in a release that belongs to one person:
//!
//! - clusters: a sub-record of the record chunk that holds most of what is
//!   known, in the person's own cluster. If no record chunk holds any of it,
//!   every record of the cluster is as likely to be the person's;
//! - classes: one of the records of the person's class;
//! - groups: the row with the person's non-sensitive items.
//!
//! Equal sub-records, rows and records of a class cannot be told apart: who
//! picks one of c has found the person with probability 1/c.
//!
//! Positions in a drawn data set tell the cluster or class: reconstructions
//! hold one after the other, in the order in which they are published.

use rustc_hash::FxHashMap;

use super::holders::Holders;
use super::unfit;
use crate::Result;
use crate::data::{Dataset, ItemId};
use crate::release::{Body, Disassociated, Generalized, Grouped, Release, SimpleCluster, Supports};

/// Where the custodian put each record of the original, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Slots {
    /// The number of the simple cluster, counted in the order of publication.
    Clusters(Vec<u32>),
    /// The number of the class; [`Slots::LEFT_OUT`] for a record without one.
    Classes(Vec<u32>),
    /// Groups show the non-sensitive items as they are: the row tells.
    Rows,
    /// Nobody knows, or nobody is anywhere: linking is not measured.
    Unknown,
}

impl Slots {
    /// For a record that is not in the release.
    pub const LEFT_OUT: u32 = u32::MAX;
}

/// Says whether a picked record is the target's slot.
pub(super) enum Judge<'a> {
    Clusters(Clusters<'a>),
    Classes { class_of: &'a [u32], starts: Vec<u64> },
    Rows(Rows<'a>),
    Unknown,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        release: &'a Release,
        original: &'a Dataset,
        slots: &'a Slots,
    ) -> Result<Self> {
        let given = match slots {
            Slots::Clusters(list) | Slots::Classes(list) => list.len(),
            Slots::Rows | Slots::Unknown => original.len(),
        };
        if given != original.len() {
            return Err(unfit(format!("{given} places for {} records", original.len())));
        }
        match (&release.body, slots) {
            (Body::Disassociated(body), Slots::Clusters(leaf_of)) => {
                let lower = release.manifest.guarantee.supports == Supports::LowerBound;
                Ok(Self::Clusters(Clusters::new(body, original, leaf_of, lower)))
            }
            (Body::Generalized(body), Slots::Classes(class_of)) => {
                Ok(Self::Classes { class_of, starts: class_starts(body) })
            }
            (Body::Grouped(body), Slots::Rows) => Ok(Self::Rows(Rows::new(body, original))),
            (_, Slots::Unknown) => Ok(Self::Unknown),
            _ => Err(unfit("the places are those of another kind of release".into())),
        }
    }

    /// Whether linking is measured at all.
    pub(super) fn links(&self) -> bool {
        !matches!(self, Self::Unknown)
    }

    /// The probability that one of `found`, picked uniformly, is the slot of
    /// record `target`.
    pub(super) fn score(
        &self,
        holders: &Holders,
        target: usize,
        known: &[ItemId],
        found: &[u32],
    ) -> Option<f64> {
        let hits = match self {
            Self::Clusters(clusters) => clusters.hits(holders, target, known, found),
            Self::Classes { class_of, starts } => {
                let class = class_of[target];
                if class == Slots::LEFT_OUT {
                    return Some(0.0);
                }
                let range = (starts[class as usize], starts[class as usize + 1]);
                inside(found, range).len() as f64 / (range.1 - range.0).max(1) as f64
            }
            Self::Rows(rows) => rows.hits(holders, target, found),
            Self::Unknown => return None,
        };
        Some(hits / found.len() as f64)
    }
}

/// Those of `found`, which ascend, that lie in a range of positions.
fn inside(found: &[u32], (start, end): (u64, u64)) -> &[u32] {
    let at = |limit: u64| found.partition_point(|&r| u64::from(r) < limit);
    &found[at(start)..at(end)]
}

fn class_starts(body: &Generalized) -> Vec<u64> {
    let mut starts = vec![0];
    for (_, count) in body.classes.iter() {
        starts.push(starts[starts.len() - 1] + u64::from(count));
    }
    starts
}

/// Simple clusters with the domains of their record chunks.
pub(super) struct Clusters<'a> {
    original: &'a Dataset,
    leaf_of: &'a [u32],
    leaves: Vec<&'a SimpleCluster>,
    starts: Vec<u64>,
    /// Per leaf and record chunk: its items with the original's numbers, ascending.
    domains: Vec<Vec<Vec<ItemId>>>,
    /// The number in the release of each item of the original.
    published: Vec<Option<ItemId>>,
    /// Whether instances were suppressed.
    lower: bool,
}

impl<'a> Clusters<'a> {
    fn new(
        body: &'a Disassociated,
        original: &'a Dataset,
        leaf_of: &'a [u32],
        lower: bool,
    ) -> Self {
        let leaves: Vec<&SimpleCluster> = body.clusters.iter().flat_map(|c| c.leaves()).collect();
        let mut starts = vec![0];
        for leaf in &leaves {
            starts.push(starts[starts.len() - 1] + u64::from(leaf.size));
        }
        let label = |item: ItemId| original.vocabulary().id(body.vocabulary.label(item));
        let there: Vec<Option<ItemId>> = (0..body.vocabulary.len() as ItemId).map(label).collect();
        let domain = |items: Vec<ItemId>| items.iter().filter_map(|&i| there[i as usize]).collect();
        let domains = leaves
            .iter()
            .map(|leaf| leaf.record_chunks.iter().map(|chunk| domain(chunk.domain())).collect())
            .collect();
        let published = original.vocabulary().labels().map(|l| body.vocabulary.id(l)).collect();
        Self { original, leaf_of, leaves, starts, domains, published, lower }
    }

    /// How many of `found` are the slot of `target`; one of c equal ones
    /// counts 1/c.
    fn hits(&self, holders: &Holders, target: usize, known: &[ItemId], found: &[u32]) -> f64 {
        let number = self.leaf_of[target] as usize;
        let Some(&leaf) = self.leaves.get(number) else { return 0.0 };
        let here = inside(found, (self.starts[number], self.starts[number + 1]));
        let held =
            |domain: &[ItemId]| known.iter().filter(|i| domain.binary_search(i).is_ok()).count();
        let domains = &self.domains[number];
        let most = (0..domains.len()).max_by_key(|&c| (held(&domains[c]), std::cmp::Reverse(c)));
        let Some(chunk) = most.filter(|&c| held(&domains[c]) > 0) else {
            return here.len() as f64 / f64::from(leaf.size.max(1));
        };
        let domain = &domains[chunk];
        let (own, equal) = self.own_subrecord(leaf, chunk, domain, target);
        let same = |&&record: &&u32| {
            holders
                .items(record)
                .filter(|i| domain.binary_search(i).is_ok())
                .eq(own.iter().copied())
        };
        here.iter().filter(same).count() as f64 / equal.max(1) as f64
    }

    /// The target's sub-record in a chunk, and how many are equal. Where
    /// instances were suppressed: the largest sub-record that it could be.
    fn own_subrecord(
        &self,
        leaf: &SimpleCluster,
        chunk: usize,
        domain: &[ItemId],
        target: usize,
    ) -> (Vec<ItemId>, u64) {
        let record = self.original.record(target).iter().copied();
        let own: Vec<ItemId> = record.filter(|i| domain.binary_search(i).is_ok()).collect();
        let number = |item: &ItemId| self.published[*item as usize];
        let wanted: Vec<ItemId> = own.iter().filter_map(number).collect();
        let bag = &leaf.record_chunks[chunk];
        let exact = bag.iter().find(|(items, _)| *items == wanted).map(|(_, count)| count);
        if let Some(count) = exact {
            return (own, u64::from(count));
        }
        let empty = u64::from(leaf.size).saturating_sub(bag.total());
        if !self.lower {
            return (own, empty);
        }
        let fits = bag
            .iter()
            .filter(|(items, _)| items.iter().all(|i| wanted.binary_search(i).is_ok()))
            .max_by_key(|(items, _)| items.len());
        match fits {
            None => (Vec::new(), empty),
            Some((items, count)) => {
                let kept =
                    |item: &ItemId| number(item).is_some_and(|i| items.binary_search(&i).is_ok());
                (own.into_iter().filter(kept).collect(), u64::from(count))
            }
        }
    }
}

/// The non-sensitive rows of groups and how often each is published.
pub(super) struct Rows<'a> {
    original: &'a Dataset,
    /// Rows with the original's numbers.
    counts: FxHashMap<Vec<ItemId>, u64>,
    /// Whether an item of the original stands in rows.
    in_rows: Vec<bool>,
}

impl<'a> Rows<'a> {
    fn new(body: &Grouped, original: &'a Dataset) -> Self {
        let label = |item: ItemId| original.vocabulary().id(body.vocabulary.label(item));
        let there: Vec<Option<ItemId>> = (0..body.vocabulary.len() as ItemId).map(label).collect();
        let mut counts: FxHashMap<Vec<ItemId>, u64> = FxHashMap::default();
        let mut in_rows = vec![false; original.item_count()];
        for (items, count) in body.groups.iter().flat_map(|g| g.records.iter()) {
            let row: Vec<ItemId> = items.iter().filter_map(|&i| there[i as usize]).collect();
            row.iter().for_each(|&i| in_rows[i as usize] = true);
            *counts.entry(row).or_default() += u64::from(count);
        }
        Self { original, counts, in_rows }
    }

    fn hits(&self, holders: &Holders, target: usize, found: &[u32]) -> f64 {
        let in_row = |item: &ItemId| self.in_rows[*item as usize];
        let own: Vec<ItemId> =
            self.original.record(target).iter().copied().filter(in_row).collect();
        let Some(&equal) = self.counts.get(&own) else { return 0.0 };
        let same = |&&record: &&u32| holders.items(record).filter(in_row).eq(own.iter().copied());
        found.iter().filter(same).count() as f64 / equal as f64
    }
}
