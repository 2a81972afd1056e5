//! The attacker who is played out, against one who tries everything.

use std::collections::BTreeSet;

use setveil::data::{K, M};
use setveil::methods::{Method, disassociation};
use setveil::reconstruct::TermOccurrences;
use setveil::release::{Bag, Body, Cluster, Disassociated, Release, SimpleCluster};
use setveil::risk::{Level, Options, Slots, play};
use setveil::{Dataset, io};
use testkit::worlds::worlds;
use testkit::{cases, random, real};

/// Items 0..5 are a..f. Two clusters, the second with a term chunk.
fn example() -> (Dataset, Release, Vec<u32>) {
    let original = Dataset::from_records(
        [
            "a b c", "a b d", "a b", "b c", // the first cluster
            "a e", "a e f", "e d", // the second
        ]
        .map(|r| r.split(' ').collect::<Vec<_>>()),
    );
    let chunk = |sets: &[&[u32]]| Bag::from_itemsets(sets.iter().copied());
    let first = SimpleCluster {
        size: 4,
        record_chunks: vec![chunk(&[&[0, 1], &[0, 1], &[0, 1], &[1]]), chunk(&[&[2], &[3], &[2]])],
        term_chunk: vec![],
    };
    let second = SimpleCluster {
        size: 3,
        record_chunks: vec![chunk(&[&[0, 4], &[0, 4], &[4]])],
        term_chunk: vec![3, 5],
    };
    let mut release = cases::release(2, 2, &[]);
    release.manifest.records = 7;
    release.body = Body::Disassociated(Disassociated {
        vocabulary: original.vocabulary().clone(),
        clusters: vec![Cluster::Simple(first), Cluster::Simple(second)],
    });
    (original, release, vec![0, 0, 0, 0, 1, 1, 1])
}

type Record = BTreeSet<u32>;

/// All subsets of `size` items.
fn subsets(record: &Record, size: usize) -> Vec<Record> {
    let items: Vec<u32> = record.iter().copied().collect();
    (0u32..1 << items.len())
        .filter(|mask| mask.count_ones() as usize == size)
        .map(|mask| (0..items.len()).filter(|i| mask >> i & 1 == 1).map(|i| items[i]).collect())
        .collect()
}

/// Picks every holder, and every one of equal sub-records, in every world:
/// linking, disclosure and the share of right guesses, each as a mean.
fn by_hand(release: &Release, truth: &[Record], leaf_of: &[u32], known: usize) -> (f64, f64, f64) {
    let Body::Disassociated(body) = &release.body else { panic!() };
    let leaves: Vec<&SimpleCluster> = body.clusters.iter().flat_map(|c| c.leaves()).collect();
    let each: Vec<_> = body.clusters.iter().map(|c| worlds(c, 7)).collect();
    let (mut linking, mut disclosure, mut right) = ((0.0, 0.0), (0.0, 0.0), (0.0, 0.0));
    for (t, record) in truth.iter().enumerate().filter(|(_, r)| r.len() >= known) {
        let sets = subsets(record, known);
        let share = 1.0 / (sets.len() * each[0].len() * each[1].len()) as f64;
        for set in &sets {
            for first in &each[0] {
                for second in &each[1] {
                    let world: Vec<(usize, &Record)> =
                        first.iter().map(|r| (0, r)).chain(second.iter().map(|r| (1, r))).collect();
                    let overlap = |r: &Record| r.intersection(set).count();
                    let most = world.iter().map(|(_, r)| overlap(r)).max().unwrap();
                    let holders: Vec<_> =
                        world.iter().filter(|(_, r)| overlap(r) == most).collect();
                    let picked = share / holders.len() as f64;
                    linking.1 += share;
                    for (leaf, r) in &holders {
                        if *leaf == leaf_of[t] as usize {
                            linking.0 += picked * same_slot(leaves[*leaf], set, record, r);
                        }
                    }
                    let further: Record = record.difference(set).copied().collect();
                    if further.is_empty() {
                        continue;
                    }
                    disclosure.1 += share;
                    for (_, r) in &holders {
                        let had = r.intersection(&further).count() as f64;
                        disclosure.0 += picked * had / further.len() as f64;
                    }
                    right.1 += share;
                    let votes = |i: u32| holders.iter().filter(|(_, r)| r.contains(&i)).count();
                    let open = (0..6).filter(|i| !set.contains(i) && votes(*i) > 0);
                    let guess = open.max_by_key(|&i| (votes(i), std::cmp::Reverse(i)));
                    right.0 += guess.filter(|g| further.contains(g)).map_or(0.0, |_| share);
                }
            }
        }
    }
    (linking.0 / linking.1, disclosure.0 / disclosure.1, right.0 / right.1)
}

/// The probability that `picked` is the slot of `record`.
fn same_slot(leaf: &SimpleCluster, set: &Record, record: &Record, picked: &Record) -> f64 {
    let domain = |c: &Bag| c.domain().into_iter().collect::<Record>();
    let mut best: Option<(usize, &Bag)> = None;
    for chunk in &leaf.record_chunks {
        let held = domain(chunk).intersection(set).count();
        if held > best.map_or(0, |b| b.0) {
            best = Some((held, chunk));
        }
    }
    let Some((_, chunk)) = best else { return 1.0 / f64::from(leaf.size) };
    let part = |r: &Record| r.intersection(&domain(chunk)).copied().collect::<Vec<_>>();
    let own = part(record);
    let equal: u32 = chunk.iter().filter(|(s, _)| *s == own).map(|(_, c)| c).sum();
    if own == part(picked) { 1.0 / f64::from(equal) } else { 0.0 }
}

#[test]
fn a_played_attack_succeeds_as_often_as_one_that_tries_everything() {
    let (original, release, leaf_of) = example();
    let truth: Vec<Record> = original.records().map(|r| r.iter().copied().collect()).collect();
    let mut options = Options::default().known(2).targets(2000).worlds(300);
    options.terms = TermOccurrences::Any;
    let levels =
        play(&release, &original, &Slots::Clusters(leaf_of.clone()), &options, &()).unwrap();
    for level in &levels {
        let expected = by_hand(&release, &truth, &leaf_of, level.known as usize);
        let near = |found: Option<f64>, error: Option<f64>, expected: f64, what: &str| {
            // Four errors of the draw of people, and what 300 worlds leave open.
            let allowed = 4.0 * error.unwrap() + 0.01;
            let off = (found.unwrap() - expected).abs();
            assert!(off < allowed, "{what}, {level:?}: expected {expected}");
        };
        near(level.linking, level.linking_error, expected.0, "linking");
        near(level.disclosure, level.disclosure_error, expected.1, "disclosure");
        near(level.inference, level.inference_error, expected.2, "inference");
    }
    // The attacker who takes any record of the cluster does worse.
    assert!(levels[1].linking.unwrap() > 1.0 / 7.0);
}

#[test]
fn raw_is_one_over_the_holders() {
    let (original, release, leaf_of) = example();
    let options = Options::default().known(2).targets(4000).worlds(1);
    let levels = play(&release, &original, &Slots::Clusters(leaf_of), &options, &()).unwrap();
    let truth: Vec<Record> = original.records().map(|r| r.iter().copied().collect()).collect();
    for level in levels {
        let (mut sum, mut people) = (0.0, 0.0);
        for record in truth.iter().filter(|r| r.len() >= level.known as usize) {
            let sets = subsets(record, level.known as usize);
            let holders = |s: &Record| truth.iter().filter(|r| s.is_subset(r)).count() as f64;
            sum += sets.iter().map(|s| 1.0 / holders(s)).sum::<f64>() / sets.len() as f64;
            people += 1.0;
        }
        let (found, error) = (level.raw.unwrap(), level.raw_error.unwrap());
        assert!((found - sum / people).abs() < 4.0 * error, "{found} {}", sum / people);
    }
}

fn levels(data: &Dataset, k: u32) -> Vec<Level> {
    let parameters = disassociation::Parameters::new(K::new(k).unwrap(), M::new(2).unwrap());
    let release = disassociation::anonymize(data, &parameters, &()).unwrap();
    let leaf_of = clusters_of(&release, data);
    let options = Options::default().targets(500).worlds(2);
    play(&release, data, &Slots::Clusters(leaf_of), &options, &()).unwrap()
}

fn clusters_of(release: &Release, data: &Dataset) -> Vec<u32> {
    let mut leaf_of = vec![0; data.len()];
    let method = Method::of(&release.manifest).unwrap();
    let members = method.members(release, data, &()).unwrap().unwrap();
    for (leaf, records) in members.iter().enumerate() {
        records.iter().for_each(|&r| leaf_of[r as usize] = leaf as u32);
    }
    leaf_of
}

/// No release makes people easier to find, and a larger k makes them harder.
fn protects(data: &Dataset) {
    let by_k: Vec<Vec<Level>> = [3, 10, 40].map(|k| levels(data, k)).into();
    for levels in &by_k {
        for level in levels {
            let error = level.raw_error.unwrap() + level.linking_error.unwrap();
            assert!(level.linking.unwrap() <= level.raw.unwrap() + 3.0 * error, "{level:?}");
        }
    }
    for pair in by_k.windows(2) {
        for (low, high) in pair[0].iter().zip(&pair[1]).skip(1) {
            let error = low.linking_error.unwrap() + high.linking_error.unwrap();
            assert!(
                high.linking.unwrap() <= low.linking.unwrap() + 2.0 * error,
                "{low:?} {high:?}"
            );
        }
    }
    let (low, high) = (&by_k[0][2], &by_k[2][2]);
    assert!(high.linking.unwrap() < low.linking.unwrap(), "three known items: {low:?} {high:?}");
}

#[test]
fn linking_is_at_most_raw_and_falls_with_k() {
    protects(&random::quest(3000, 200));
    if let Some(path) = real::data_file("groceries.dat.gz") {
        protects(&io::read_dataset(&path, &Default::default(), &()).unwrap().dataset);
    }
}

#[test]
fn the_order_of_the_rows_changes_nothing_but_equal_records() {
    let data = random::quest(600, 60);
    let mut records: Vec<Vec<&str>> =
        data.records().map(|r| r.iter().map(|&i| data.vocabulary().label(i)).collect()).collect();
    records.reverse();
    let turned = Dataset::from_records(records);
    assert_eq!(levels(&data, 5), levels(&turned, 5));
}

#[test]
fn places_of_another_release_are_refused() {
    let (original, release, _) = example();
    for slots in [Slots::Clusters(vec![0; 3]), Slots::Classes(vec![0; 7]), Slots::Rows] {
        assert!(play(&release, &original, &slots, &Options::default(), &()).is_err(), "{slots:?}");
    }
    let options = Options::default().known(2);
    let unknown = play(&release, &original, &Slots::Unknown, &options, &()).unwrap();
    assert!(unknown.iter().all(|level| level.linking.is_none() && level.inference.is_some()));
}
