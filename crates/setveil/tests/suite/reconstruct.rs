//! Reconstructions against an oracle that projects them back on the release.

use std::collections::BTreeMap;

use setveil::reconstruct::{Options, TermOccurrences, reconstruct, reconstruct_many};
use setveil::release::{Bag, Body, Cluster, Disassociated, Release, SimpleCluster};
use setveil::{Dataset, Hierarchy};
use testkit::possible::objection;
use testkit::worlds::each_world;
use testkit::{random, releases};

const TERMS: [TermOccurrences; 3] =
    [TermOccurrences::Once, TermOccurrences::BelowK, TermOccurrences::Any];

#[test]
fn every_reconstruction_of_clusters_gives_the_release_back() {
    for seed in 0..300 {
        let records = random::records(seed, 30, 8, 2.2);
        let (truth, release) = releases::disassociated(seed, &records, 9, seed % 3 != 0);
        assert_eq!(objection(&release, &truth), None, "the oracle refuses the truth, {seed}");
        for terms in TERMS {
            let options = Options::default().seed(seed).terms(terms);
            for data in reconstruct_many(&release, options, 3, &()).unwrap() {
                assert_eq!(objection(&release, &data), None, "seed {seed}, {terms:?}");
            }
        }
    }
}

#[test]
fn the_oracle_sees_a_swap_between_records() {
    let records = [["a", "b"], ["c", "d"], ["a", "c"]];
    let chunk = |sets: &[&[u32]]| Bag::from_itemsets(sets.iter().copied());
    let leaf = SimpleCluster {
        size: 3,
        record_chunks: vec![chunk(&[&[0, 1], &[0]]), chunk(&[&[2, 3], &[2]])],
        term_chunk: vec![],
    };
    let (truth, mut release) =
        releases::disassociated(0, &records.map(|r| r.map(str::to_owned).to_vec()), 9, false);
    release.body = Body::Disassociated(Disassociated {
        vocabulary: truth.vocabulary().clone(),
        clusters: vec![Cluster::Simple(leaf)],
    });
    assert_eq!(objection(&release, &Dataset::from_records(records)), None);
    for wrong in [[["a", "c"], ["b", "d"], ["a", "c"]], [["a", "b"], ["c", "b"], ["d", "c"]]] {
        assert!(objection(&release, &Dataset::from_records(wrong)).is_some());
    }
}

#[test]
fn every_reconstruction_of_groups_and_classes_fits() {
    let paths: Vec<Vec<String>> =
        (0..8).map(|i| vec![random::label(i), ["A", "B"][i % 2].to_owned(), "*".into()]).collect();
    let tree = Hierarchy::from_paths(&paths).unwrap();
    for seed in 0..80 {
        let records = random::records(seed, 30, 8, 1.8);
        let (truth, release) = releases::grouped(seed, &records, 7, &["a", "d", "e"]);
        assert_eq!(objection(&release, &truth), None);
        let data = reconstruct(&release, Options::default().seed(seed), 0).unwrap();
        assert_eq!(objection(&release, &data), None, "group, seed {seed}");
        let (_, release) = releases::generalized(seed, &records, &tree);
        let data = reconstruct(&release, Options::default().seed(seed), 0).unwrap();
        assert_eq!(objection(&release, &data), None, "class, seed {seed}");
    }
}

#[test]
fn a_reconstruction_depends_on_seed_and_number_only() {
    let records = random::records(5, 200, 12, 3.0);
    let (_, release) = releases::disassociated(5, &records, 20, true);
    let draw = |threads: usize, seed, number| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = Options::default().seed(seed);
        pool.install(|| reconstruct(&release, options, number).unwrap())
    };
    assert_eq!(draw(1, 9, 0), draw(4, 9, 0));
    assert_ne!(draw(1, 9, 0), draw(1, 9, 1));
    assert_ne!(draw(1, 9, 0), draw(1, 10, 0));
    let many = reconstruct_many(&release, Options::default().seed(9), 2, &());
    assert_eq!(many.unwrap(), [draw(1, 9, 0), draw(1, 9, 1)]);
}

/// Example 1 of disassociation-2012: one data set fits, up to the order of
/// the records, and it is found every time.
#[test]
fn the_only_possible_data_set_is_found() {
    let chunk = |sets: &[&[u32]]| Bag::from_itemsets(sets.iter().copied());
    let leaf = SimpleCluster {
        size: 5,
        record_chunks: vec![chunk(&[&[0], &[0], &[0]]), chunk(&[&[1, 2], &[1, 2], &[1, 2]])],
        term_chunk: vec![],
    };
    let (_, mut release) =
        releases::disassociated(0, &[vec!["a".into(), "b".into(), "c".into()]], 1, false);
    let Body::Disassociated(body) = &mut release.body else { panic!() };
    body.clusters = vec![Cluster::Simple(leaf)];
    for number in 0..20 {
        let data = reconstruct(&release, Options::default(), number).unwrap();
        let mut records: Vec<&[u32]> = data.records().collect();
        records.sort_unstable();
        assert_eq!(records, [&[0][..], &[0], &[0, 1, 2], &[1, 2], &[1, 2]]);
    }
}

#[test]
fn what_fits_no_data_set_is_an_error() {
    let (_, release) = releases::disassociated(0, &[vec!["a".into()], vec!["a".into()]], 2, false);
    let impossible = |leaf: SimpleCluster| {
        let mut release: Release = release.clone();
        let Body::Disassociated(body) = &mut release.body else { panic!() };
        body.clusters = vec![Cluster::Simple(leaf)];
        reconstruct(&release, Options::default(), 0).unwrap_err().to_string()
    };
    let chunk = Bag::from_counted([(&[0][..], 3)]);
    let too_many =
        SimpleCluster { size: 2, record_chunks: vec![chunk.clone()], term_chunk: vec![] };
    let too_few = SimpleCluster { size: 4, record_chunks: vec![chunk], term_chunk: vec![] };
    for error in [impossible(too_many), impossible(too_few)] {
        assert!(error.contains("no data set fits"), "{error}");
    }
}

/// Terms occur once, below k times, or anything up to everywhere.
#[test]
fn terms_occur_as_often_as_asked() {
    let leaf = SimpleCluster {
        size: 6,
        record_chunks: vec![Bag::from_counted([(&[0][..], 6)])],
        term_chunk: vec![1],
    };
    let (_, mut release) =
        releases::disassociated(0, &[vec!["a".into()], vec!["b".into()]], 2, false);
    let Body::Disassociated(body) = &mut release.body else { panic!() };
    body.clusters = vec![Cluster::Simple(leaf)];
    release.manifest.guarantee.model =
        setveil::release::Model::FormatKmAnonymity { k: 4, m: 2, l: None };
    for (terms, most) in TERMS.into_iter().zip([1, 3, 6]) {
        let mut seen = BTreeMap::new();
        for number in 0..400 {
            let data =
                reconstruct(&release, Options::default().seed(1).terms(terms), number).unwrap();
            *seen.entry(data.supports()[1]).or_insert(0) += 1;
        }
        assert_eq!(seen.keys().copied().collect::<Vec<_>>(), (1..=most).collect::<Vec<_>>());
    }
}

/// A data set as a bag: which record stands where is no part of a release.
type Drawn = Vec<Vec<u32>>;

/// How likely each data set is, by enumeration: all worlds equally.
fn enumerated(cluster: &Cluster, most: usize) -> BTreeMap<Drawn, f64> {
    let (mut counts, mut all) = (BTreeMap::new(), 0.0);
    each_world(cluster, most, &mut |world| {
        let mut records: Drawn = world.iter().map(|r| r.iter().copied().collect()).collect();
        records.sort_unstable();
        *counts.entry(records).or_insert(0.0) += 1.0;
        all += 1.0;
    });
    counts.values_mut().for_each(|count| *count /= all);
    counts
}

/// Pearson's statistic of what was drawn, rare data sets being one cell, and the limit:
/// its mean and six of its standard deviations, and six more for few cells. Uniform draws
/// exceed it in fewer than one of a million runs.
fn chi_square(likely: &BTreeMap<Drawn, f64>, seen: &BTreeMap<Drawn, u64>, runs: u64) -> (f64, f64) {
    let (mut sum, mut cells, mut rare, mut rare_expected) = (0.0, 0.0, 0.0, 0.0);
    for (drawn, probability) in likely {
        let expected = probability * runs as f64;
        let count = seen.get(drawn).copied().unwrap_or(0) as f64;
        if expected < 10.0 {
            (rare, rare_expected) = (rare + count, rare_expected + expected);
            continue;
        }
        sum += (count - expected).powi(2) / expected;
        cells += 1.0;
    }
    sum += (rare - rare_expected).powi(2) / f64::max(rare_expected, 1.0);
    (sum, cells + 6.0 * f64::sqrt(2.0 * cells) + 6.0)
}

/// Small clusters: easy to fill, hard to fill, repeated sub-records, terms that must
/// occur more than once.
fn small_clusters() -> Vec<SimpleCluster> {
    let leaf = |size, chunks: &[&[(&[u32], u32)]], terms: &[u32]| SimpleCluster {
        size,
        record_chunks: chunks.iter().map(|c| Bag::from_counted(c.iter().copied())).collect(),
        term_chunk: terms.to_vec(),
    };
    vec![
        leaf(3, &[&[(&[0], 2)], &[(&[1], 1), (&[1, 2], 1)]], &[]),
        leaf(4, &[&[(&[0], 2), (&[0, 1], 1)], &[(&[2], 2)]], &[]),
        leaf(3, &[&[(&[0], 2)]], &[3, 4]),
        leaf(4, &[&[(&[0], 1)], &[(&[1], 1)]], &[3, 4]),
        leaf(3, &[], &[3, 4]),
        leaf(2, &[&[(&[0], 1)], &[(&[1], 1)], &[(&[2], 1)]], &[3]),
    ]
}

/// What was drawn, with the release's numbers: an item that is nowhere has none in the data.
fn numbered(data: &Dataset, names: &[Vec<String>]) -> Drawn {
    let labels = data.vocabulary().labels();
    let ids: Vec<u32> = labels
        .map(|label| names.iter().position(|name| name[0] == label).unwrap() as u32)
        .collect();
    let number = |record: &[u32]| record.iter().map(|&item| ids[item as usize]).collect();
    let mut records: Drawn = data.records().map(number).collect();
    records.sort_unstable();
    records
}

#[test]
fn simple_clusters_are_drawn_uniformly() {
    const RUNS: u64 = 12_000;
    let names = ["a", "b", "c", "d", "e"].map(|name| vec![name.to_owned()]);
    let (_, mut release) = releases::disassociated(0, &names, 2, false);
    release.manifest.guarantee.model =
        setveil::release::Model::FormatKmAnonymity { k: 3, m: 2, l: None };
    let mut told_apart = 0;
    for (i, leaf) in small_clusters().into_iter().enumerate() {
        for terms in TERMS {
            let (size, covered) = (leaf.size as usize, leaf.record_chunks.iter().map(Bag::total));
            let uncovered = size.saturating_sub(covered.sum::<u64>() as usize);
            let most = terms.cap(Some(3), size, uncovered, leaf.term_chunk.len());
            let cluster = Cluster::Simple(leaf.clone());
            let likely = enumerated(&cluster, most);
            let Body::Disassociated(body) = &mut release.body else { panic!() };
            body.clusters = vec![cluster];
            let mut seen: BTreeMap<Drawn, u64> = BTreeMap::new();
            for number in 0..RUNS as u32 {
                let data =
                    reconstruct(&release, Options::default().seed(i as u64).terms(terms), number)
                        .unwrap();
                *seen.entry(numbered(&data, &names)).or_default() += 1;
            }
            let stray: Vec<&Drawn> = seen.keys().filter(|d| !likely.contains_key(*d)).collect();
            assert!(stray.is_empty(), "{leaf:?} {terms:?}: {stray:?} is no world");
            let (sum, limit) = chi_square(&likely, &seen, RUNS);
            assert!(sum < limit, "{leaf:?} {terms:?}: {sum} of {limit}");
            // Who took every bag, and not every sequence, for equally likely is told apart.
            let even = 1.0 / likely.len() as f64;
            let even = likely.keys().map(|drawn| (drawn.clone(), even)).collect();
            let (sum, limit) = chi_square(&even, &seen, RUNS);
            told_apart += u32::from(sum > limit);
        }
    }
    assert!(told_apart >= 6, "the test hardly sees anything: {told_apart}");
}
