//! Parts of a release in which everybody has the same telling item: who is known to be
//! among them has it.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{Caution, Severity};
use crate::data::{ItemId, Vocabulary};
use crate::release::{
    Bag, Body, Cluster, Disassociated, Generalized, Leaf, Manifest, Model, Release, SimpleCluster,
};

/// From this share of all records on, everybody in a cluster having an item is
/// no news about them.
const COMMON: f64 = 0.1;

/// The caution that everybody in a part of the release has the same telling item.
pub(super) fn homogeneous(release: &Release, sensitive: &[String]) -> Option<Caution> {
    let vocabulary = release.body.vocabulary();
    let telling = telling(release, vocabulary, sensitive);
    let tells = |item: &ItemId| telling[*item as usize];
    let everybody = match &release.body {
        Body::Disassociated(body) => {
            let add = |mut found: Everybody, cluster| {
                each_leaf(cluster, &mut |leaf| {
                    found.add(leaf.size.into(), in_leaf(leaf).filter(tells));
                });
                found
            };
            let found = body.clusters.par_iter().fold(|| Everybody::of("clusters"), add);
            found.reduce(|| Everybody::of("clusters"), Everybody::and)
        }
        Body::Located(body) => {
            let mut found = Everybody::of("leaves");
            for leaf in &body.leaves {
                found.add(leaf.size.into(), in_all_of(leaf).into_iter().filter(tells));
            }
            found
        }
        Body::Generalized(body) => match release.manifest.guarantee.model {
            Model::KAnonymity { .. } => in_classes(body, tells),
            _ => return None,
        },
        Body::Grouped(_) => return None,
    };
    everybody.say(&release.manifest, vocabulary, sensitive)
}

/// A part of a release in which everybody has an item.
#[derive(Clone, Copy)]
struct Shared {
    size: u64,
    item: ItemId,
}

/// Parts in which everybody has a telling item: how many, of how many records together, and the
/// smallest of them.
struct Everybody {
    parts: &'static str,
    found: u64,
    records: u64,
    worst: Option<Shared>,
}

impl Everybody {
    fn of(parts: &'static str) -> Self {
        Self { parts, found: 0, records: 0, worst: None }
    }

    /// Adds a part of `size` records that all have `items`.
    fn add(&mut self, size: u64, items: impl Iterator<Item = ItemId>) {
        let Some(item) = items.min() else { return };
        self.found += 1;
        self.records += size;
        self.smallest(Shared { size, item });
    }

    fn smallest(&mut self, other: Shared) {
        let is_smaller = |worst: Shared| (other.size, other.item) < (worst.size, worst.item);
        if self.worst.is_none_or(is_smaller) {
            self.worst = Some(other);
        }
    }

    /// Those of both.
    fn and(mut self, other: Self) -> Self {
        self.found += other.found;
        self.records += other.records;
        other.worst.into_iter().for_each(|worst| self.smallest(worst));
        self
    }

    /// None if there is no such part.
    fn say(
        &self,
        manifest: &Manifest,
        vocabulary: &Vocabulary,
        sensitive: &[String],
    ) -> Option<Caution> {
        let Self { parts, found, records, worst } = self;
        let worst = (*worst)?;
        let (label, size) = (vocabulary.label(worst.item), worst.size);
        let share = 100.0 * *records as f64 / manifest.records.max(1) as f64;
        // What nobody may be linked to is then known of somebody.
        let severity = if sensitive.is_empty() { Severity::Amber } else { Severity::Red };
        let (kind, advice) = if sensitive.is_empty() {
            let advice = ". No sensitive items were named: name those that nobody may be linked to, or \
                      decide that there are none";
            ("telling", advice)
        } else {
            ("sensitive", "")
        };
        let what = format!(
            "in {found} of the {parts}, {share:.0} % of all records, everybody has the same {kind} item (all \
         {size} have `{label}`): who is known to be among them has it{advice}",
        );
        Some(Caution { severity, kind: "homogeneous", what })
    }
}

/// How many sets of items are remembered at most. When there are more, only the rarest item of a new set is
/// remembered: the one that the clusters so far have least often.
const MOST_SETS: usize = 1 << 16;
/// How many items these sets have together at most.
const MOST_ITEMS: usize = 1 << 20;

/// What is remembered of clusters that come block by block.
#[derive(Debug, Default)]
pub struct SeenClusters {
    /// In how many records of chunks each item is.
    counts: Vec<u64>,
    /// For each set of items that everybody in a leaf has: how many leaves, of
    /// how many records together, and of how many the smallest.
    everywhere: FxHashMap<Vec<ItemId>, (u64, u64, u64)>,
    /// How many items these sets have, but for those of one.
    items: usize,
}

impl SeenClusters {
    /// Adds a block of clusters with these labels. Where blocks end changes nothing.
    pub fn add(&mut self, block: &Disassociated) {
        self.counts.resize(block.vocabulary.len(), 0);
        let leaves: Vec<Vec<(u64, Vec<ItemId>)>> =
            block.clusters.par_iter().map(in_cluster).collect();
        for (cluster, leaves) in block.clusters.iter().zip(leaves) {
            count_chunks([cluster], &mut self.counts);
            leaves.into_iter().for_each(|(size, items)| self.add_leaf(size, items));
        }
    }

    /// Adds a leaf of `size` records that all have `items`, of which there is one at least.
    fn add_leaf(&mut self, size: u64, mut items: Vec<ItemId>) {
        let new = items.len() > 1 && !self.everywhere.contains_key(&items);
        if new && self.everywhere.len() < MOST_SETS && self.items + items.len() <= MOST_ITEMS {
            self.items += items.len();
        } else if new {
            // The rarest of all tells most; so far it is mostly this one.
            let rarest = items.iter().copied().min_by_key(|&i| (self.counts[i as usize], i));
            items = rarest.into_iter().collect();
        }
        let seen = self.everywhere.entry(items).or_insert((0, 0, u64::MAX));
        *seen = (seen.0 + 1, seen.1 + size, seen.2.min(size));
    }

    pub(super) fn homogeneous(
        &self,
        manifest: &Manifest,
        vocabulary: &Vocabulary,
    ) -> Option<Caution> {
        let common = COMMON * manifest.records as f64;
        let telling: Vec<bool> = self.counts.iter().map(|&count| (count as f64) < common).collect();
        let mut everybody = Everybody::of("clusters");
        for (items, &(leaves, all, size)) in &self.everywhere {
            let Some(&item) = items.iter().filter(|&&item| telling[item as usize]).min() else {
                continue;
            };
            everybody.found += leaves;
            everybody.records += all;
            everybody.smallest(Shared { size, item });
        }
        everybody.say(manifest, vocabulary, &[])
    }
}

/// Whether it says something about somebody to have an item: it is sensitive, or,
/// if nobody said what is, fewer than a tenth of all records have it.
fn telling(release: &Release, vocabulary: &Vocabulary, sensitive: &[String]) -> Vec<bool> {
    if !sensitive.is_empty() {
        let is = |label: &str| sensitive.iter().any(|s| s == label);
        return vocabulary.labels().map(is).collect();
    }
    let counts = match &release.body {
        Body::Disassociated(body) => in_chunks(&body.clusters, vocabulary.len()),
        Body::Located(body) => in_bags(body.leaves.iter().map(|l| &l.kept), vocabulary.len()),
        Body::Generalized(body) => in_bags([&body.classes], vocabulary.len()),
        Body::Grouped(_) => vec![0; vocabulary.len()],
    };
    let common = COMMON * release.manifest.records as f64;
    counts.into_iter().map(|count| (count as f64) < common).collect()
}

/// In how many records of `bags` each of `items` items is.
fn in_bags<'a>(bags: impl IntoIterator<Item = &'a Bag>, items: usize) -> Vec<u64> {
    let mut counts = vec![0; items];
    bags.into_iter().for_each(|bag| count(bag, &mut counts));
    counts
}

fn count(bag: &Bag, counts: &mut [u64]) {
    for (items, count) in bag.iter() {
        items.iter().for_each(|&item| counts[item as usize] += u64::from(count));
    }
}

fn count_chunks<'a>(clusters: impl IntoIterator<Item = &'a Cluster>, counts: &mut [u64]) {
    let mut stack: Vec<&Cluster> = clusters.into_iter().collect();
    while let Some(cluster) = stack.pop() {
        cluster.chunks().iter().for_each(|bag| count(bag, counts));
        stack.extend(cluster.children());
    }
}

/// In how many records of the chunks of `clusters` each of `items` items is.
fn in_chunks(clusters: &[Cluster], items: usize) -> Vec<u64> {
    let share = clusters.len().div_ceil(rayon::current_num_threads()).max(1);
    let counts = clusters.par_chunks(share).map(|clusters| {
        let mut counts = vec![0; items];
        count_chunks(clusters, &mut counts);
        counts
    });
    let add = |mut left: Vec<u64>, right: Vec<u64>| {
        left.iter_mut().zip(right).for_each(|(l, r)| *l += r);
        left
    };
    counts.reduce_with(add).unwrap_or_else(|| vec![0; items])
}

/// Calls `each` with every leaf of a cluster.
fn each_leaf<'a>(cluster: &'a Cluster, each: &mut impl FnMut(&'a SimpleCluster)) {
    match cluster {
        Cluster::Simple(leaf) => each(leaf),
        Cluster::Joint(joint) => joint.children.iter().for_each(|child| each_leaf(child, each)),
    }
}

/// Size and items of every leaf in which all records have some.
fn in_cluster(cluster: &Cluster) -> Vec<(u64, Vec<ItemId>)> {
    let mut leaves = Vec::new();
    each_leaf(cluster, &mut |leaf| {
        let items: Vec<ItemId> = in_leaf(leaf).collect();
        if !items.is_empty() {
            leaves.push((leaf.size.into(), items));
        }
    });
    leaves
}

/// What all records of a leaf have.
fn in_leaf(leaf: &SimpleCluster) -> impl Iterator<Item = ItemId> {
    let size = leaf.size.into();
    leaf.record_chunks.iter().flat_map(move |chunk| everywhere(chunk, size))
}

/// The items that every one of `size` records has.
fn everywhere(bag: &Bag, size: u64) -> impl Iterator<Item = ItemId> {
    // What is not in the first sub-record is not in all.
    let first = if bag.is_empty() || bag.total() != size { &[][..] } else { bag.get(0).0 };
    let all = |&item: &ItemId| bag.iter().all(|(items, _)| items.binary_search(&item).is_ok());
    first.iter().copied().filter(all)
}

/// What every record of a leaf has, kept or not: both are counted.
fn in_all_of(leaf: &Leaf) -> Vec<ItemId> {
    let size = u64::from(leaf.size);
    let kept = leaf.kept.iter().flat_map(|(items, count)| items.iter().map(move |&i| (i, count)));
    let counted = leaf.counted.iter().copied();
    let mut counts: Vec<(ItemId, u64)> =
        kept.chain(counted).map(|(item, count)| (item, u64::from(count))).collect();
    counts.sort_unstable();
    let sums = counts.chunk_by(|a, b| a.0 == b.0).map(|same| {
        let sum = same.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
        (same[0].0, sum)
    });
    sums.filter(|&(_, sum)| sum >= size).map(|(item, _)| item).collect()
}

/// Classes with telling items that were not generalised.
fn in_classes(body: &Generalized, tells: impl Fn(&ItemId) -> bool) -> Everybody {
    let leaf = |item: ItemId| match &body.hierarchy {
        Some(tree) => tree.node(body.vocabulary.label(item)).is_some_and(|n| tree.is_leaf(n)),
        None => true,
    };
    let leaves: Vec<bool> = (0..body.vocabulary.len() as ItemId).map(leaf).collect();
    let mut everybody = Everybody::of("classes");
    for (items, count) in body.classes.iter() {
        let own = items.iter().copied().filter(|&item| leaves[item as usize] && tells(&item));
        everybody.add(count.into(), own);
    }
    everybody
}
