//! Releases that nobody would publish, made to keep a recipient busy: every
//! answer comes, and the bounds contain what was built in.

use setveil::data::{ItemId, Vocabulary};
use setveil::query::Index;
use setveil::reconstruct::{self, TermOccurrences, reconstruct};
use setveil::release::{
    Bag, Body, Cluster, Disassociated, JointCluster, Leaf, Located, Release, SimpleCluster,
};
use setveil::workflow::{self, ItemsetOptions};
use setveil::worlds::{Knowledge, ReleaseWorlds};

fn vocabulary(items: u32) -> Vocabulary {
    Vocabulary::new((0..items).map(|i| format!("{i:06}")))
}

fn label(item: u32) -> String {
    format!("{item:06}")
}

fn release(clusters: Vec<Cluster>, items: u32) -> Release {
    let records: u32 = clusters.iter().map(Cluster::size).sum();
    let body = Disassociated { vocabulary: vocabulary(items), clusters };
    let data = setveil::Dataset::from_records([["a", "b"], ["a", "b"], ["a", "b"], ["a", "b"]]);
    let k = setveil::data::K::new(2).unwrap();
    let parameters =
        setveil::methods::disassociation::Parameters::new(k, setveil::data::M::new(2).unwrap());
    let made = setveil::methods::disassociation::anonymize(&data, &parameters, &()).unwrap();
    let mut manifest = made.manifest;
    (manifest.records, manifest.items) = (records.into(), items.into());
    Release { manifest, body: Body::Disassociated(body) }
}

/// Distinct sub-records over `first..first + bits`, the subsets with these numbers.
fn subsets(first: ItemId, bits: u32, numbers: impl Iterator<Item = u32>) -> Bag {
    let sets: Vec<Vec<ItemId>> = numbers
        .map(|n| (0..bits).filter(|b| n >> b & 1 == 1).map(|b| first + b).collect())
        .collect();
    Bag::from_itemsets(sets.iter().map(Vec::as_slice))
}

fn ask(release: &Release, a: u32, b: u32) -> (u64, f64, u64) {
    let index = Index::new(release.clone(), TermOccurrences::Once);
    let answer = index.ask(&[label(a), label(b)]).unwrap();
    assert!(answer.expected.is_finite());
    (answer.lower, answer.expected, answer.upper.unwrap())
}

/// Many leaves, each with some of the shared items of its own, so that every
/// leaf keeps out other sub-records.
fn joint(leaves: u32, bits: u32, sub_records: u32) -> Cluster {
    let leaf = |l: u32| {
        let own: Vec<ItemId> = (0..bits).filter(|b| (l / 3) >> b & 1 == 1).collect();
        Cluster::Simple(SimpleCluster {
            size: 4,
            record_chunks: vec![Bag::from_counted([(&[bits + l % 50][..], 4)])],
            term_chunk: own,
        })
    };
    let shared = subsets(0, bits, 1..=sub_records);
    Cluster::Joint(JointCluster {
        size: 4 * leaves,
        shared_chunks: vec![shared],
        children: (0..leaves).map(leaf).collect(),
    })
}

#[test]
fn a_joint_cluster_of_a_thousand_leaves_that_all_keep_something_out() {
    let release = release(vec![joint(1000, 10, 1000)], 60);
    let (lower, expected, upper) = ask(&release, 0, 1);
    assert!(lower as f64 <= expected && expected <= upper as f64 && upper <= 4000);
    let (lower, expected, upper) = ask(&release, 3, 20);
    assert!(lower as f64 <= expected && expected <= upper as f64);
    let Body::Disassociated(body) = &release.body else { unreachable!() };
    let worlds = ReleaseWorlds::new(body.clone(), Knowledge::Format);
    let posterior = worlds.posterior(&[20]);
    assert!(posterior.items.iter().all(|(_, p)| (0.0..=1.0).contains(p)));
}

#[test]
fn sub_records_that_hardly_fill_their_records() {
    // One record more than the sub-records can fill apart from one term.
    for (size, parts, terms) in [
        (50_000_u32, vec![30_000_u32, 19_999], 1_u32),
        (50_000, vec![20_000, 20_000, 10_001], 0),
        (1_000_000, vec![999_000], 3),
        (u32::MAX, vec![u32::MAX - 5, 7], 0),
    ] {
        let bags = parts.iter().enumerate();
        let record_chunks =
            bags.map(|(i, &n)| Bag::from_counted([(&[i as ItemId][..], n)])).collect();
        let term_chunk = (10..10 + terms).collect();
        let cluster = Cluster::Simple(SimpleCluster { size, record_chunks, term_chunk });
        let release = release(vec![cluster], 20);
        for (a, b) in [(0, 1), (0, 10), (10, 11)] {
            let (lower, expected, upper) = ask(&release, a, b);
            assert!(lower as f64 <= expected && expected <= upper as f64, "{size} {a} {b}");
        }
    }
}

#[test]
fn one_leaf_with_all_records() {
    let sets: Vec<Vec<ItemId>> = (0..60_000).map(|r| vec![r % 300, 300 + r % 7]).collect();
    let mut kept: Vec<&[ItemId]> = sets.iter().map(Vec::as_slice).collect();
    kept.sort_unstable();
    let leaf = Leaf {
        size: 60_500,
        kept: Bag::from_itemsets(kept),
        counted: (310..600).map(|i| (i, 400)).collect(),
        listed: (600..900).collect(),
    };
    let body = Located { vocabulary: vocabulary(900), leaves: vec![leaf], totals: vec![] };
    let release = testkit::located::release(body, 2, 2);
    let (lower, expected, upper) = ask(&release, 5, 320);
    assert!(lower as f64 <= expected && expected <= upper as f64);
    let drawn = reconstruct(&release, reconstruct::Options::default(), 0).unwrap();
    assert_eq!(drawn.len(), 60_500);
    let counted = drawn.supports()[drawn.vocabulary().id(&label(400)).unwrap() as usize];
    assert_eq!(counted, 400, "a counted item is where it was counted, and nowhere else");
}

#[test]
fn mining_answers_from_the_release() {
    let release = release(vec![joint(60, 6, 60)], 60);
    let options = ItemsetOptions::default().n(40).confidence(Some(0.0));
    let found = workflow::itemsets(&release, &options, &()).unwrap();
    assert_eq!(found.itemsets.len(), 40);
    assert!(found.itemsets.is_sorted_by(|a, b| a.expected >= b.expected));
    for answer in &found.itemsets {
        let upper = answer.upper.unwrap() as f64;
        assert!(answer.lower as f64 <= answer.expected && answer.expected <= upper);
    }
    for rule in &found.rules {
        assert!(rule.lower <= rule.expected && rule.expected <= rule.upper.unwrap(), "{rule:?}");
    }
}
