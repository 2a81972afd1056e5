//! `verify` as such: by parts, against the order of the file's text, for any
//! m, with a way to stop; and what the readers do with a manifest.

use std::fs;
use std::ops::ControlFlow;

use rand::RngExt;
use rand::seq::SliceRandom;
use serde_json::json;
use setveil::data::{ItemId, K, M, Vocabulary};
use setveil::io::{open_release, read_release, write_release};
use setveil::methods::disassociation::{Parameters, anonymize};
use setveil::methods::suppress_rare;
use setveil::release::{Bag, Body, Cluster, Disassociated, Model, Release};
use setveil::verify::{Part, Verdict, verify};
use setveil::{Dataset, Error, Progress, Stage};
use testkit::sabotage::DISASSOCIATED;

fn body(release: &Release) -> &Disassociated {
    match &release.body {
        Body::Disassociated(body) => body,
        _ => panic!("a disassociated release"),
    }
}

fn disassociated(seed: u64, k: u32, m: u32) -> Release {
    let data = Dataset::from_records(testkit::random::records(seed, 60, 9, 2.5));
    let mut parameters = Parameters::new(K::new(k).unwrap(), M::new(m).unwrap());
    parameters.max_cluster_size = 8;
    anonymize(&data, &parameters, &()).unwrap()
}

/// Some clusters as a block with a vocabulary of its own.
fn block(whole: &Disassociated, clusters: &[Cluster]) -> Disassociated {
    let mut used: Vec<ItemId> = Vec::new();
    clusters.iter().for_each(|cluster| each_item(&mut cluster.clone(), &mut |i| used.push(*i)));
    used.sort_unstable();
    used.dedup();
    let vocabulary = Vocabulary::new(used.iter().map(|&i| whole.vocabulary.label(i)));
    let mut clusters = clusters.to_vec();
    for cluster in &mut clusters {
        each_item(cluster, &mut |i| *i = used.binary_search(i).unwrap() as ItemId);
    }
    Disassociated { vocabulary, clusters }
}

fn each_item(cluster: &mut Cluster, each: &mut dyn FnMut(&mut ItemId)) {
    let chunks = match cluster {
        Cluster::Simple(leaf) => {
            leaf.term_chunk.iter_mut().for_each(&mut *each);
            &mut leaf.record_chunks
        }
        Cluster::Joint(joint) => {
            joint.children.iter_mut().for_each(|child| each_item(child, each));
            &mut joint.shared_chunks
        }
    };
    for chunk in chunks {
        let mut changed = Bag::default();
        for (items, count) in chunk.iter() {
            let mut items = items.to_vec();
            items.iter_mut().for_each(&mut *each);
            changed.push(&items, count);
        }
        *chunk = changed;
    }
}

/// Verifies in random blocks, which random parts take and are merged.
fn in_parts(release: &Release, seed: u64) -> Verdict {
    let mut rng = testkit::random::rng(seed);
    let whole = body(release);
    let mut parts = vec![Part::new(&release.manifest)];
    let mut rest = &whole.clusters[..];
    while !rest.is_empty() {
        let (now, later) = rest.split_at(rng.random_range(1..=rest.len().min(5)));
        if rng.random_bool(0.4) {
            parts.push(Part::new(&release.manifest));
        }
        parts.last_mut().unwrap().add(&block(whole, now), &()).unwrap();
        rest = later;
    }
    // Neighbours first, in any order.
    while parts.len() > 1 {
        let at = rng.random_range(0..parts.len() - 1);
        let mut later = parts.remove(at + 1);
        // Some come from other machines.
        if rng.random_bool(0.5) {
            let bytes = later.to_bytes().unwrap();
            later = Part::from_bytes(&release.manifest, &bytes).unwrap();
        }
        parts[at].merge(later);
    }
    parts.pop().unwrap().finish()
}

#[test]
fn bytes_that_are_no_part_are_refused() {
    let release = disassociated(1, 3, 2);
    let mut part = Part::new(&release.manifest);
    part.add(body(&release), &()).unwrap();
    let bytes = part.to_bytes().unwrap();
    assert!(Part::from_bytes(&release.manifest, &bytes).is_ok());
    for end in [0, 1, bytes.len() / 2, bytes.len() - 1] {
        assert!(Part::from_bytes(&release.manifest, &bytes[..end]).is_err());
    }
}

#[test]
fn a_release_in_parts_gets_the_verdict_of_the_whole() {
    let mut broken = 0;
    for seed in 0..12 {
        let release = disassociated(seed, 3, 2);
        assert_eq!(in_parts(&release, seed), verify(&release, &()).unwrap());
        for saboteur in DISASSOCIATED {
            let mut sabotaged = release.clone();
            if (saboteur.act)(&mut sabotaged) {
                let whole = verify(&sabotaged, &()).unwrap();
                assert!(!whole.holds, "{}", saboteur.name);
                assert_eq!(in_parts(&sabotaged, seed), whole, "{}", saboteur.name);
                broken += 1;
            }
        }
    }
    assert!(broken > 200, "{broken}");
}

#[test]
fn parts_name_the_files_that_their_clusters_stand_in() {
    let release = disassociated(1, 3, 2);
    let whole = body(&release);
    let (first, second) = whole.clusters.split_at(whole.clusters.len() / 2);
    let mut one = Part::new(&release.manifest);
    one.file("clusters-00000.jsonl");
    one.add(&block(whole, second), &()).unwrap();
    let mut two = Part::new(&release.manifest);
    two.file("clusters-00001.jsonl");
    two.add(&block(whole, first), &()).unwrap();
    one.merge(two);
    let verdict = one.finish();
    assert_eq!(verdict.violation_count, 1, "{verdict:?}");
    assert_eq!(verdict.violations[0].r#where, "clusters-00001.jsonl:1");
    assert_eq!(verdict.violations[0].rule, "canonical-order");
}

/// The text of a release's body.
fn written(release: &Release) -> String {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("release");
    write_release(release, &target, false).unwrap();
    fs::read_to_string(target.join(release.body.file_name())).unwrap()
}

/// Puts something out of order, somewhere, or leaves everything as it is.
fn disturb(cluster: &mut Cluster, rng: &mut rand_chacha::ChaCha8Rng) {
    match cluster {
        Cluster::Simple(leaf) => match rng.random_range(0..4) {
            0 => leaf.record_chunks.shuffle(rng),
            1 => leaf.term_chunk.shuffle(rng),
            2 => shuffle_bag(leaf.record_chunks.first_mut(), rng),
            _ => {}
        },
        Cluster::Joint(joint) => match rng.random_range(0..4) {
            0 => joint.shared_chunks.shuffle(rng),
            1 => joint.children.shuffle(rng),
            2 => shuffle_bag(joint.shared_chunks.first_mut(), rng),
            _ => joint.children.iter_mut().for_each(|child| disturb(child, rng)),
        },
    }
}

fn shuffle_bag(bag: Option<&mut Bag>, rng: &mut rand_chacha::ChaCha8Rng) {
    let Some(bag) = bag else { return };
    let mut all: Vec<(Vec<ItemId>, u32)> = bag.iter().map(|(i, c)| (i.to_vec(), c)).collect();
    all.shuffle(rng);
    all[0].0.shuffle(rng);
    *bag = Bag::default();
    all.iter().for_each(|(items, count)| bag.push(items, *count));
}

#[test]
fn verify_and_the_text_agree_on_the_canonical_order() {
    let (mut ordered, mut disturbed) = (0, 0);
    for seed in 0..300 {
        let mut rng = testkit::random::rng(seed);
        let records = testkit::random::records(seed, 20, 7, 2.0);
        let mut release = match seed % 3 {
            0 => disassociated(seed, 2, 2),
            1 => testkit::releases::disassociated(seed, &records, 5, true).1,
            _ => testkit::releases::grouped(seed, &records, 4, &["c", "e"]).1,
        };
        match &mut release.body {
            Body::Disassociated(body) if seed % 2 == 0 => {
                let one = rng.random_range(0..body.clusters.len());
                disturb(&mut body.clusters[one], &mut rng);
                if rng.random_bool(0.3) {
                    body.clusters.shuffle(&mut rng);
                }
            }
            Body::Grouped(body) if seed % 2 == 0 => body.groups.sort_unstable(),
            _ => {}
        }
        let by_text = testkit::canonical::fault(&written(&release));
        let verdict = verify(&release, &()).unwrap();
        let by_verify = verdict.violations.iter().any(|v| v.rule == "canonical-order");
        assert_eq!(by_text.is_some(), by_verify, "{seed}: {by_text:?} {verdict:?}");
        ordered += u32::from(!by_verify);
        disturbed += u32::from(by_verify);
    }
    assert!(ordered > 60 && disturbed > 60, "{ordered} {disturbed}");
}

/// A release of one cluster with one record chunk, for any m.
fn one_chunk(rows: &[(Vec<ItemId>, u32)], items: usize, k: u32, m: u32) -> Release {
    let chunk = Bag::from_counted(rows.iter().map(|(items, count)| (&items[..], *count)));
    let vocabulary = Vocabulary::new((0..items).map(|i| format!("{i:03}")));
    let size = chunk.total() as u32;
    let leaf = setveil::release::SimpleCluster {
        size,
        record_chunks: vec![chunk],
        term_chunk: Vec::new(),
    };
    let (_, mut release) = testkit::releases::disassociated(1, &[vec!["a".into()]], 1, false);
    testkit::releases::promise(&mut release, Model::FormatKmAnonymity { k, m, l: None });
    release.manifest.records = size.into();
    let clusters = vec![Cluster::Simple(leaf)];
    let body = Disassociated { vocabulary, clusters };
    release.manifest.items = body.vocabulary.len() as u64;
    release.body = Body::Disassociated(body);
    release
}

/// The subsets of every row, up to m items, counted one by one.
fn rare_by_enumeration(rows: &[(Vec<ItemId>, u32)], k: u64, m: usize) -> bool {
    rows.iter().any(|(row, _)| {
        (1u32..1 << row.len()).filter(|set| set.count_ones() as usize <= m).any(|set| {
            let chosen: Vec<ItemId> =
                (0..row.len()).filter(|i| set >> i & 1 == 1).map(|i| row[i]).collect();
            let has = |other: &Vec<ItemId>| chosen.iter().all(|item| other.contains(item));
            let support: u64 =
                rows.iter().filter(|(r, _)| has(r)).map(|(_, count)| u64::from(*count)).sum();
            support < k
        })
    })
}

fn random_rows(seed: u64, rows: usize, items: u32, lacks: f64) -> Vec<(Vec<ItemId>, u32)> {
    let mut rng = testkit::random::rng(seed);
    let row = |rng: &mut rand_chacha::ChaCha8Rng| {
        (0..items).filter(|_| !rng.random_bool(lacks)).collect::<Vec<ItemId>>()
    };
    let made = (0..rows).map(|_| (row(&mut rng), rng.random_range(1..3)));
    let mut made: Vec<(Vec<ItemId>, u32)> = made.filter(|(r, _)| !r.is_empty()).collect();
    made.push(((0..items).collect(), 1));
    made.sort_unstable();
    made.dedup_by(|a, b| a.0 == b.0);
    made
}

#[test]
fn rare_itemsets_are_found_for_any_m() {
    let (mut rare, mut frequent) = (0, 0);
    for seed in 0..400 {
        let rows = random_rows(seed, 12, 7, 0.2);
        let (k, m) = (2 + (seed % 4) as u32, 1 + (seed / 4 % 8) as u32);
        let release = one_chunk(&rows, 7, k, m);
        let expected = rare_by_enumeration(&rows, k.into(), m as usize);
        let verdict = verify(&release, &()).unwrap();
        let found: Vec<_> = verdict.violations.iter().filter(|v| v.rule == "km").collect();
        assert_eq!(!found.is_empty(), expected, "{seed}: {rows:?} {verdict:?}");
        assert!(found.iter().all(|v| v.itemset.len() <= m as usize && v.support < v.required));
        rare += u32::from(expected);
        frequent += u32::from(!expected);
    }
    assert!(rare > 50 && frequent > 50, "{rare} {frequent}");
}

/// Prefixes alone would take 2^40 steps here.
#[test]
fn a_large_m_is_decided_by_rows() {
    for (m, items) in [(40, 60), (50, 60), (50, 50), (16, 60), (u32::MAX, 64)] {
        let rows = random_rows(m.into(), 40, items, 0.1);
        let verdict = verify(&one_chunk(&rows, items as usize, 3, m), &()).unwrap();
        assert!(verdict.violations.iter().any(|v| v.rule == "km"), "{m} {items}");
        // Each row three times: nothing is rare, whatever m is.
        let tripled: Vec<_> = rows.iter().map(|(row, _)| (row.clone(), 3)).collect();
        let verdict = verify(&one_chunk(&tripled, items as usize, 3, m), &()).unwrap();
        assert!(verdict.violations.iter().all(|v| v.rule != "km"), "{m} {items}");
    }
}

/// All rows lack three of so many items: the smallest rare set needs about
/// that third, and to show that there is none below takes very long.
#[test]
fn what_takes_too_long_is_not_decided() {
    let items = 48;
    let mut rng = testkit::random::rng(7);
    let mut rows: Vec<(Vec<ItemId>, u32)> = Vec::new();
    for _ in 0..1500 {
        let lacks = rand::seq::index::sample(&mut rng, items, 3).into_vec();
        let row = (0..items).filter(|i| !lacks.contains(i)).map(|i| i as ItemId).collect();
        rows.push((row, 1));
    }
    rows.push(((0..items as ItemId).collect(), 1));
    rows.sort_unstable();
    rows.dedup_by(|a, b| a.0 == b.0);
    let error = verify(&one_chunk(&rows, items, 40, 16), &()).unwrap_err();
    assert!(matches!(error, Error::Undecided { .. }), "{error}");
    assert!(error.to_string().contains("cannot be decided within"), "{error}");
}

struct Stop;

impl Progress for Stop {
    fn stage(&self, _stage: Stage, _total: Option<u64>) {}
    fn advance(&self, _steps: u64) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

#[test]
fn verify_can_be_stopped() {
    let records = testkit::random::records(3, 20, 6, 2.0);
    let (_, grouped) = testkit::releases::grouped(3, &records, 4, &["c"]);
    let data = Dataset::from_records(&records);
    let rare = suppress_rare::Parameters::new(K::new(2).unwrap());
    let classes = suppress_rare::anonymize(&data, &rare, &()).unwrap();
    for release in [disassociated(1, 2, 2), grouped, classes] {
        assert!(matches!(verify(&release, &Stop), Err(Error::Cancelled)));
    }
}

#[test]
fn shapes_that_no_writer_makes_are_violations_and_no_panics() {
    let empty = Bag::default();
    let mut odd = Bag::default();
    odd.push(&[], 1);
    odd.push(&[0], 0);
    for chunk in [empty, odd] {
        for size in [0, 3] {
            let mut release = one_chunk(&[(vec![0, 1], 3)], 2, 2, 2);
            let Body::Disassociated(body) = &mut release.body else { unreachable!() };
            let Cluster::Simple(leaf) = &mut body.clusters[0] else { unreachable!() };
            leaf.size = size;
            leaf.record_chunks.push(chunk.clone());
            let verdict = verify(&release, &()).unwrap();
            assert!(verdict.violations.iter().any(|v| v.rule == "canonical-order"), "{verdict:?}");
        }
    }
}

#[test]
fn a_manifest_that_no_method_writes_is_for_verify_alone() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("release");
    let data = Dataset::from_records(testkit::random::records(3, 20, 6, 2.0));
    let rare = suppress_rare::Parameters::new(K::new(2).unwrap());
    let mut release = suppress_rare::anonymize(&data, &rare, &()).unwrap();
    release.manifest.guarantee.model = Model::KmAnonymity { k: 0, m: 1 };
    release.manifest.parameters.insert("k".into(), json!(0));
    write_release(&release, &target, false).unwrap();
    let error = read_release(&target).unwrap_err().to_string();
    assert!(error.contains("k = 0"), "{error}");
    let opened = open_release(&target).unwrap();
    assert!(!verify(&opened.release, &()).unwrap().holds);
}
