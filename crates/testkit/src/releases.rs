//! Random releases whose original is known.
//!
//! They follow the format and not any method: clusters, chunk domains, shared
//! chunks, classes and groups are chosen at random, whether or not that
//! protects anybody. Whatever a recipient computes from them can be compared
//! with the truth.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use setveil::data::ItemId;
use setveil::release::{
    Bag, Body, Cluster, Disassociated, Generalized, Group, Grouped, Guarantee, JointCluster,
    Manifest, Model, Release, SimpleCluster, Supports,
};
use setveil::{Dataset, Hierarchy};

use crate::random;

/// A disassociated release and its original. The original's records stand in
/// the order of the release's clusters and leaves.
pub fn disassociated(
    seed: u64,
    records: &[Vec<String>],
    largest: usize,
    joint: bool,
) -> (Dataset, Release) {
    let mut rng = random::rng(seed);
    let data = Dataset::from_records(records);
    let mut clusters = Vec::new();
    let mut rest: Vec<Vec<ItemId>> = data.records().map(<[ItemId]>::to_vec).collect();
    while !rest.is_empty() {
        let size = rng.random_range(1..=largest).min(rest.len());
        clusters.push(Draft::leaf(rest.split_off(rest.len() - size), &mut rng));
    }
    while joint && clusters.len() > 1 && rng.random_bool(0.8) {
        let children = rng.random_range(2..=clusters.len().min(3));
        clusters.shuffle(&mut rng);
        let children = clusters.split_off(clusters.len() - children);
        clusters.push(Draft::joint(children, &mut rng));
    }
    let order: Vec<Vec<ItemId>> = clusters.iter().flat_map(Draft::records).collect();
    let truth = data.with_records(order.iter().map(|r| &r[..]));
    let body = Disassociated {
        vocabulary: data.vocabulary().clone(),
        clusters: clusters.into_iter().map(Draft::publish).collect(),
    };
    let model = Model::FormatKmAnonymity { k: 2, m: 2, l: None };
    (truth, release("disassociation", &data, model, Body::Disassociated(body)))
}

/// Sees a leaf's records and may change its term chunk.
type Visit<'a> = dyn FnMut(&[Vec<ItemId>], &mut BTreeSet<ItemId>) + 'a;

/// A cluster with the records it comes from.
enum Draft {
    Leaf { records: Vec<Vec<ItemId>>, chunks: Vec<Bag>, terms: BTreeSet<ItemId> },
    Joint { chunks: Vec<Bag>, children: Vec<Draft> },
}

impl Draft {
    fn leaf(records: Vec<Vec<ItemId>>, rng: &mut ChaCha8Rng) -> Self {
        let items: BTreeSet<ItemId> = records.iter().flatten().copied().collect();
        let parts = rng.random_range(0..=3);
        let mut domains = vec![BTreeSet::new(); parts + 1];
        for item in items {
            domains[rng.random_range(0..=parts)].insert(item);
        }
        let terms = domains.pop().expect("there is at least one");
        let chunks = domains.iter().map(|domain| project(&records, domain));
        let chunks = chunks.filter(|chunk| !chunk.is_empty()).collect();
        Self::Leaf { records, chunks, terms }
    }

    /// Shares random terms of the leaves' term chunks.
    fn joint(mut children: Vec<Self>, rng: &mut ChaCha8Rng) -> Self {
        let mut terms = BTreeSet::new();
        children.iter_mut().for_each(|c| c.each_leaf(&mut |_, t| terms.extend(t.iter().copied())));
        let mut domains = vec![BTreeSet::new(); rng.random_range(1..=2)];
        for term in terms {
            if rng.random_bool(0.6) {
                let domain = rng.random_range(0..domains.len());
                domains[domain].insert(term);
            }
        }
        let mut chunks = Vec::new();
        for domain in domains {
            let mut subrecords: Vec<Vec<ItemId>> = Vec::new();
            for child in &mut children {
                child.each_leaf(&mut |records, terms| {
                    let own: BTreeSet<ItemId> = terms.intersection(&domain).copied().collect();
                    terms.retain(|t| !own.contains(t));
                    for record in records {
                        subrecords
                            .push(record.iter().copied().filter(|i| own.contains(i)).collect());
                    }
                });
            }
            let chunk = Bag::from_itemsets(subrecords.iter().map(|s| &s[..]));
            if !chunk.is_empty() {
                chunks.push(chunk);
            }
        }
        Self::Joint { chunks, children }
    }

    fn each_leaf(&mut self, visit: &mut Visit) {
        match self {
            Self::Leaf { records, terms, .. } => visit(records, terms),
            Self::Joint { children, .. } => children.iter_mut().for_each(|c| c.each_leaf(visit)),
        }
    }

    fn records(&self) -> Vec<Vec<ItemId>> {
        match self {
            Self::Leaf { records, .. } => records.clone(),
            Self::Joint { children, .. } => children.iter().flat_map(Self::records).collect(),
        }
    }

    fn publish(self) -> Cluster {
        match self {
            Self::Leaf { records, chunks, terms } => Cluster::Simple(SimpleCluster {
                size: records.len() as u32,
                record_chunks: chunks,
                term_chunk: terms.into_iter().collect(),
            }),
            Self::Joint { chunks, children } => {
                let children: Vec<Cluster> = children.into_iter().map(Self::publish).collect();
                Cluster::Joint(JointCluster {
                    size: children.iter().map(Cluster::size).sum(),
                    shared_chunks: chunks,
                    children,
                })
            }
        }
    }
}

fn project(records: &[Vec<ItemId>], domain: &BTreeSet<ItemId>) -> Bag {
    let kept = |r: &Vec<ItemId>| r.iter().copied().filter(|i| domain.contains(i)).collect();
    let projected: Vec<Vec<ItemId>> = records.iter().map(kept).collect();
    Bag::from_itemsets(projected.iter().map(|p| &p[..]))
}

/// A grouped release and its original, records in the order of the groups.
/// Items whose label is in `sensitive` are taken out.
pub fn grouped(
    seed: u64,
    records: &[Vec<String>],
    size: usize,
    sensitive: &[&str],
) -> (Dataset, Release) {
    let mut rng = random::rng(seed);
    let data = Dataset::from_records(records);
    let mut rows: Vec<Vec<ItemId>> = data.records().map(<[ItemId]>::to_vec).collect();
    rows.shuffle(&mut rng);
    let secret: BTreeSet<ItemId> =
        sensitive.iter().filter_map(|s| data.vocabulary().id(s)).collect();
    let open: BTreeSet<ItemId> =
        (0..data.item_count() as ItemId).filter(|i| !secret.contains(i)).collect();
    let groups = rows.chunks(size).map(|rows| Group {
        size: rows.len() as u32,
        records: project(rows, &open),
        sensitive: secret
            .iter()
            .map(|&s| (s, rows.iter().filter(|r| r.contains(&s)).count() as u32))
            .filter(|s| s.1 > 0)
            .collect(),
    });
    let body = Grouped { vocabulary: data.vocabulary().clone(), groups: groups.collect() };
    let truth = data.with_records(rows.iter().map(|r| &r[..]));
    (truth, release("cahd", &data, Model::Association { p: 2 }, Body::Grouped(body)))
}

/// A generalised release: each record's items are replaced, each with
/// probability one half, by their parent in `hierarchy`.
pub fn generalized(
    seed: u64,
    records: &[Vec<String>],
    hierarchy: &Hierarchy,
) -> (Dataset, Release) {
    let mut rng = random::rng(seed);
    let data = Dataset::from_records(records);
    let rows: Vec<BTreeSet<String>> = records
        .iter()
        .map(|record| {
            // Siblings go up together: a class never holds a node and its ancestor.
            let mut up: BTreeMap<u32, bool> = BTreeMap::new();
            record
                .iter()
                .map(|item| {
                    let Some(node) = hierarchy.node(item) else { return item.clone() };
                    let parent = hierarchy.parent(node);
                    if *up.entry(parent).or_insert_with(|| rng.random_bool(0.5)) {
                        hierarchy.label(parent).to_owned()
                    } else {
                        item.clone()
                    }
                })
                .collect()
        })
        .collect();
    let published = Dataset::from_records(&rows);
    let body = Generalized {
        vocabulary: published.vocabulary().clone(),
        classes: Bag::from_itemsets(published.records()),
        hierarchy: Some(hierarchy.clone()),
    };
    let model = Model::KAnonymity { k: 2 };
    (data.clone(), release("partition", &data, model, Body::Generalized(body)))
}

/// Lets `release` promise `model`, in its guarantee and in its parameters.
pub fn promise(release: &mut Release, model: Model) {
    let parameters = &mut release.manifest.parameters;
    let mut set = |name: &str, value: Option<u32>| match value {
        Some(value) => parameters.insert(name.to_owned(), value.into()),
        None => parameters.remove(name),
    };
    set("k", model.k());
    set("m", model.m());
    if let Model::Association { p } = model {
        set("p", Some(p));
    }
    release.manifest.guarantee.model = model;
}

/// A release of `method` with the parameters that its manifest must have.
fn release(method: &str, data: &Dataset, model: Model, body: Body) -> Release {
    let parameters: &[(&str, serde_json::Value)] = match method {
        "disassociation" => &[("max_cluster_size", 50.into()), ("refine", true.into())],
        "partition" => &[("hide_leaves", false.into()), ("unknown_to_root", false.into())],
        "cahd" => &[("grouping", "blind".into())],
        _ => &[],
    };
    let guarantee = Guarantee { model: model.clone(), supports: Supports::Exact };
    let items = body.vocabulary().len() as u64;
    let parameters = parameters.iter().cloned();
    let manifest = Manifest::new(method, parameters, guarantee, data.len() as u64, items);
    let mut release = Release { manifest, body };
    promise(&mut release, model);
    release
}
