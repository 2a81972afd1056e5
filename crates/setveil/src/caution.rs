//! What to know about a release before it is handed out, although its promise
//! holds: it is empty, the promise is a weak one, or everybody in a cluster has
//! the same telling item.
//!
//! Everything is found in the release alone, so whoever receives it sees the
//! same. Nothing here is a violation: `verify` decides about those.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::data::{ItemId, Vocabulary};
use crate::release::{
    Bag, Body, Cluster, Disassociated, Generalized, Leaf, Manifest, Model, Release, SimpleCluster,
    Supports,
};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Somebody has thought about it: it is said, and changes no verdict.
    Remark,
    /// Think about it before publishing.
    Amber,
    /// Do not publish this.
    Red,
}

/// Something to know about a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Caution {
    /// How bad it is.
    pub severity: Severity,
    /// One word for programs: `empty`, `combinations`, `rows`, `budget`,
    /// `homogeneous` or `risk`.
    pub kind: &'static str,
    /// What it is, in plain words.
    pub what: String,
}

/// From this share of all records on, everybody in a cluster having an item is
/// no news about them.
const COMMON: f64 = 0.1;

/// What to know about `release`. `sensitive` are the labels that its maker
/// named as sensitive: then only those are looked for in clusters.
pub fn cautions(release: &Release, sensitive: &[String]) -> Vec<Caution> {
    let found = [
        empty(release),
        combinations(&release.manifest),
        rows(release),
        budget(release),
        homogeneous(release, sensitive),
    ];
    found.into_iter().flatten().collect()
}

fn empty(release: &Release) -> Option<Caution> {
    let records = match &release.body {
        Body::Generalized(body) => body.classes.total(),
        _ => release.manifest.records,
    };
    if records > 0 && !release.body.vocabulary().is_empty() {
        return None;
    }
    let hint = match release.manifest.guarantee.supports {
        Supports::Noisy => ": no count was large enough for its noise; spend a larger epsilon",
        _ => "",
    };
    let what = format!("the release is empty, it publishes no record{hint}");
    Some(Caution { severity: Severity::Red, kind: "empty", what })
}

/// What to know about a release of clusters without sensitive terms that was
/// written block by block.
pub fn cluster_cautions(
    manifest: &Manifest,
    vocabulary: &Vocabulary,
    seen: &SeenClusters,
) -> Vec<Caution> {
    let common = COMMON * manifest.records as f64;
    let telling: Vec<bool> = seen.counts.iter().map(|&count| (count as f64) < common).collect();
    let found = [combinations(manifest), seen.homogeneous(manifest, vocabulary, &telling)];
    found.into_iter().flatten().collect()
}

fn combinations(manifest: &Manifest) -> Option<Caution> {
    let (Model::KmAnonymity { m: 1, .. } | Model::FormatKmAnonymity { m: 1, .. }) =
        manifest.guarantee.model
    else {
        return None;
    };
    let what = "nothing is promised about combinations: two items together can single out a \
                person, and the whole record is then read"
        .to_owned();
    Some(Caution { severity: Severity::Amber, kind: "combinations", what })
}

fn rows(release: &Release) -> Option<Caution> {
    let Body::Grouped(_) = &release.body else { return None };
    let what = "ordinary items are published as they are: who knows a few of them finds the \
                person's row and reads the others; only who has which sensitive item is hidden"
        .to_owned();
    Some(Caution { severity: Severity::Amber, kind: "rows", what })
}

/// From this budget on, differential privacy promises next to nothing.
const LARGE_BUDGET: f64 = 10.0;

fn budget(release: &Release) -> Option<Caution> {
    let epsilon = release.manifest.guarantee.model.epsilon().filter(|&e| e > LARGE_BUDGET)?;
    let what = format!(
        "epsilon = {epsilon} promises next to nothing: a single record may make a release \
         e^{epsilon} times as likely; 1 is usual, and more than {LARGE_BUDGET} is not"
    );
    Some(Caution { severity: Severity::Amber, kind: "budget", what })
}

/// A part of a release in which everybody has an item.
struct Shared {
    size: u64,
    item: ItemId,
}

fn homogeneous(release: &Release, sensitive: &[String]) -> Option<Caution> {
    let (parts, found) = match &release.body {
        Body::Disassociated(body) => {
            ("clusters", body.clusters.par_iter().flat_map_iter(in_cluster).collect())
        }
        Body::Located(body) => {
            let leaves = body.leaves.iter().filter_map(|leaf| {
                let shared = in_all_of(leaf);
                (!shared.is_empty()).then_some(shared)
            });
            ("leaves", leaves.collect())
        }
        Body::Generalized(body) => match release.manifest.guarantee.model {
            Model::KAnonymity { .. } => ("classes", in_classes(body)),
            _ => return None,
        },
        Body::Grouped(_) => return None,
    };
    if found.is_empty() {
        return None;
    }
    let vocabulary = release.body.vocabulary();
    let telling = telling(release, vocabulary, sensitive);
    let found: Vec<Vec<Shared>> = found
        .into_iter()
        .map(|part| part.into_iter().filter(|s| telling[s.item as usize]).collect())
        .filter(|part: &Vec<Shared>| !part.is_empty())
        .collect();
    let worst = found.iter().flatten().min_by_key(|s| (s.size, s.item))?;
    let records: u64 = found.iter().filter_map(|part| part.first()).map(|s| s.size).sum();
    let all = Everybody { parts, found: found.len() as u64, records, worst };
    Some(all.say(&release.manifest, vocabulary, sensitive))
}

/// Parts in which everybody has an item, and the smallest of them.
struct Everybody<'a> {
    parts: &'static str,
    found: u64,
    records: u64,
    worst: &'a Shared,
}

impl Everybody<'_> {
    fn say(&self, manifest: &Manifest, vocabulary: &Vocabulary, sensitive: &[String]) -> Caution {
        let Self { parts, found, records, worst } = self;
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
        Caution { severity, kind: "homogeneous", what }
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
        let leaves: Vec<Vec<Vec<Shared>>> = block.clusters.par_iter().map(in_cluster).collect();
        for (cluster, leaves) in block.clusters.iter().zip(leaves) {
            count_chunks([cluster], &mut self.counts);
            leaves.into_iter().for_each(|leaf| self.add_leaf(&leaf));
        }
    }

    fn add_leaf(&mut self, leaf: &[Shared]) {
        let size = leaf[0].size;
        let mut items: Vec<ItemId> = leaf.iter().map(|shared| shared.item).collect();
        let new = items.len() > 1 && !self.everywhere.contains_key(&items);
        if new && self.everywhere.len() < MOST_SETS && self.items + items.len() <= MOST_ITEMS {
            self.items += items.len();
        } else if new {
            // If one of them tells something, the rarest does.
            let rarest = items.iter().copied().min_by_key(|&i| (self.counts[i as usize], i));
            items = rarest.into_iter().collect();
        }
        let seen = self.everywhere.entry(items).or_insert((0, 0, u64::MAX));
        *seen = (seen.0 + 1, seen.1 + size, seen.2.min(size));
    }

    fn homogeneous(
        &self,
        manifest: &Manifest,
        vocabulary: &Vocabulary,
        telling: &[bool],
    ) -> Option<Caution> {
        let (mut found, mut records, mut worst) = (0, 0, None::<Shared>);
        for (items, &(leaves, all, size)) in &self.everywhere {
            let Some(&item) = items.iter().filter(|&&item| telling[item as usize]).min() else {
                continue;
            };
            (found, records) = (found + leaves, records + all);
            if worst.as_ref().is_none_or(|w| (size, item) < (w.size, w.item)) {
                worst = Some(Shared { size, item });
            }
        }
        let worst = &worst?;
        Some(Everybody { parts: "clusters", found, records, worst }.say(manifest, vocabulary, &[]))
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

/// What all records of a leaf have, for each leaf where there is such a thing.
fn in_cluster(cluster: &Cluster) -> Vec<Vec<Shared>> {
    let shared = |leaf: &SimpleCluster| -> Vec<Shared> {
        let size = leaf.size.into();
        leaf.record_chunks.iter().flat_map(|chunk| everywhere(chunk, size)).collect()
    };
    cluster.leaves().into_iter().map(shared).filter(|shared| !shared.is_empty()).collect()
}

/// The items that every one of `size` records has.
fn everywhere(bag: &Bag, size: u64) -> Vec<Shared> {
    if bag.total() != size || bag.is_empty() {
        return Vec::new();
    }
    // What is not in the first sub-record is not in all.
    let all = |&&item: &&ItemId| bag.iter().all(|(items, _)| items.binary_search(&item).is_ok());
    bag.get(0).0.iter().filter(all).map(|&item| Shared { size, item }).collect()
}

/// The items that every record of a leaf has, kept or not: both are counted.
fn in_all_of(leaf: &Leaf) -> Vec<Shared> {
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
    sums.filter(|&(_, sum)| sum >= size).map(|(item, _)| Shared { size, item }).collect()
}

/// Items of classes that were not generalised.
fn in_classes(body: &Generalized) -> Vec<Vec<Shared>> {
    let leaf = |item: ItemId| match &body.hierarchy {
        Some(tree) => tree.node(body.vocabulary.label(item)).is_some_and(|n| tree.is_leaf(n)),
        None => true,
    };
    let leaves: Vec<bool> = (0..body.vocabulary.len() as ItemId).map(leaf).collect();
    let shared = body.classes.iter().map(|(items, count)| {
        let own = items.iter().filter(|&&item| leaves[item as usize]);
        own.map(|&item| Shared { size: count.into(), item }).collect()
    });
    shared.filter(|shared: &Vec<Shared>| !shared.is_empty()).collect()
}
