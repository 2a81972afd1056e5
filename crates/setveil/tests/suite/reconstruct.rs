//! Reconstructions against an oracle that projects them back on the release.

use std::collections::BTreeMap;

use setveil::reconstruct::{Options, TermOccurrences, reconstruct, reconstruct_many};
use setveil::release::{Bag, Body, Cluster, Disassociated, Release, SimpleCluster};
use setveil::{Dataset, Hierarchy};
use testkit::possible::objection;
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
