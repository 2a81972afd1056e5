//! Sensitive terms in clusters: what l lets an attacker infer does not break
//! k^m. The oracle makes every world that somebody who believes l thinks
//! possible.

use rand::RngExt;
use serde_json::json;
use setveil::Dataset;
use setveil::data::{ItemId, K, L, M};
use setveil::methods::disassociation::{Parameters, Sensitive, anonymize};
use setveil::release::{Bag, Body, Cluster, Disassociated, Model, Release, SimpleCluster};
use setveil::verify::verify;
use testkit::format_guarantee::{broken_for_believer, broken_itemset};

fn body(release: &Release) -> &Disassociated {
    match &release.body {
        Body::Disassociated(body) => body,
        _ => panic!("a disassociated release"),
    }
}

/// Promises k, m and l for the sensitive items of a release.
fn promise(release: &mut Release, k: u32, m: u32, l: u32, sensitive: &[&str]) {
    let model = Model::FormatKmAnonymity { k, m, l: Some(l) };
    testkit::releases::promise(release, model);
    release.manifest.parameters.insert("l".into(), json!(l));
    release.manifest.parameters.insert("sensitive".into(), json!(sensitive));
}

fn rules(release: &Release) -> Vec<&'static str> {
    verify(release, &()).unwrap().violations.iter().map(|v| v.rule).collect()
}

/// A release of leaves: size, record chunks of one item with counts, term chunk.
fn release(leaves: &[(u32, &[&[(ItemId, u32)]], &[ItemId])], labels: &[&str]) -> Release {
    let (_, mut release) = testkit::releases::disassociated(1, &[vec!["a".into()]], 1, false);
    let mut clusters: Vec<Cluster> = leaves
        .iter()
        .map(|&(size, chunks, terms)| {
            let bag = |chunk: &&[(ItemId, u32)]| {
                Bag::from_counted(chunk.iter().map(|(i, c)| (std::slice::from_ref(i), *c)))
            };
            let record_chunks = chunks.iter().map(bag).collect();
            Cluster::Simple(SimpleCluster { size, record_chunks, term_chunk: terms.to_vec() })
        })
        .collect();
    clusters.sort_unstable();
    let vocabulary = setveil::data::Vocabulary::new(labels);
    let body = Disassociated { vocabulary, clusters };
    release.manifest.records = body.records();
    release.manifest.items = body.vocabulary.len() as u64;
    release.body = Body::Disassociated(body);
    release
}

/// Seven records, `a` and `b` four times each in chunks of their own, `s`
/// hidden: with l = 7 believed, s is in one record and fills only one.
#[test]
fn l_must_not_contradict_km() {
    let chunks: &[&[(ItemId, u32)]] = &[&[(0, 4)], &[(1, 4)]];
    let mut seven = release(&[(7, chunks, &[2])], &["a", "b", "s"]);
    promise(&mut seven, 3, 2, 7, &["s"]);
    assert_eq!(broken_itemset(body(&seven), 3, 2), None, "the format alone is safe");
    assert!(broken_for_believer(body(&seven), 3, 2, 7, &[2]).is_some());
    assert_eq!(rules(&seven), ["sensitive-support", "lemma-2", "sensitive-room"]);
}

/// One rule each, and enough of everything else.
#[test]
fn each_rule_is_needed() {
    let many: &[&[(ItemId, u32)]] = &[&[(0, 12)], &[(1, 12)]];
    // m = 1, s in one record of each of two leaves: k = 3 cannot be reached.
    let mut two = release(&[(12, many, &[2]), (12, many, &[2])], &["a", "b", "s"]);
    promise(&mut two, 3, 1, 7, &["s"]);
    assert_eq!(rules(&two), ["sensitive-support"]);
    let three = (12, many, &[2][..]);
    let mut three = release(&[three, three, three], &["a", "b", "s"]);
    promise(&mut three, 3, 1, 7, &["s"]);
    assert_eq!(rules(&three), [""; 0]);
    // Pairs with s are within one leaf.
    promise(&mut three, 3, 2, 7, &["s"]);
    assert_eq!(rules(&three), ["sensitive-room"; 3]);
    promise(&mut three, 3, 2, 4, &["s"]);
    assert_eq!(rules(&three), [""; 0]);
    // Without enough sub-records, s would have to fill nine of twelve records.
    let few: &[&[(ItemId, u32)]] = &[&[(0, 3)], &[(1, 3)]];
    let mut empty = release(&[(12, few, &[2])], &["a", "b", "s"]);
    promise(&mut empty, 3, 2, 4, &["s"]);
    assert_eq!(rules(&empty), ["lemma-2"]);
}

/// Leaves are drawn at random, by no method: what `verify` accepts is safe
/// against a believer, whoever made it.
#[test]
fn verify_is_sound_for_who_believes_l() {
    let (mut held, mut saved) = (0, 0);
    for seed in 0..3000 {
        let mut rng = testkit::random::rng(seed);
        let (k, m) = (2, 1 + (seed % 3) as u32);
        let l = rng.random_range(2..=3);
        let mut leaf = || {
            let size = rng.random_range(3..=6);
            let mut count = || rng.random_range(0..=size);
            let counts = [count(), count()];
            (size, counts, rng.random_bool(0.8), rng.random_bool(0.2), rng.random_bool(0.3))
        };
        let drawn: Vec<_> = (0..1 + seed % 2).map(|_| leaf()).collect();
        let made: Vec<(u32, Vec<Vec<(ItemId, u32)>>, Vec<ItemId>)> = drawn
            .iter()
            .map(|&(size, counts, hidden, open, second)| {
                let chunk = |(i, &c): (usize, &u32)| vec![(i as ItemId, c)];
                let chunks = counts.iter().enumerate().filter(|c| *c.1 > 0).map(chunk).collect();
                let terms = [(hidden, 2), (open, 3), (second, 4)];
                (size, chunks, terms.into_iter().filter(|t| t.0).map(|t| t.1).collect())
            })
            .collect();
        let chunks: Vec<Vec<&[(ItemId, u32)]>> =
            made.iter().map(|leaf| leaf.1.iter().map(Vec::as_slice).collect()).collect();
        let leaves: Vec<(u32, &[&[(ItemId, u32)]], &[ItemId])> =
            made.iter().zip(&chunks).map(|(leaf, c)| (leaf.0, &c[..], &leaf.2[..])).collect();
        let mut release = release(&leaves, &["a", "b", "s", "t", "u"]);
        promise(&mut release, k, m, l, &["s", "u"]);
        let broken = broken_for_believer(body(&release), k.into(), m as usize, l as usize, &[2, 4]);
        let found = rules(&release);
        let relevant = |rule: &&&str| !["totals", "manifest"].contains(*rule);
        if !found.iter().any(|rule| relevant(&rule)) {
            assert_eq!(broken, None, "seed {seed}: {:?}", body(&release));
            held += 1;
        } else if broken.is_some()
            && found.iter().filter(relevant).all(|r| r.starts_with("sensitive-") || *r == "lemma-2")
        {
            saved += 1;
        }
    }
    assert!(held > 100 && saved > 100, "{held} {saved}");
}

/// What the method publishes must satisfy the rules as well.
mod method {
    use super::*;

    fn published(rows: &[Vec<String>], k: u32, m: u32, l: u32, max: Option<usize>) -> Release {
        let mut parameters = Parameters::new(K::new(k).unwrap(), M::new(m).unwrap());
        parameters.max_cluster_size = max;
        parameters.sensitive = Some(Sensitive { terms: vec!["s".into()], l: L::new(l).unwrap() });
        anonymize(&Dataset::from_records(rows), &parameters, &()).unwrap()
    }

    #[test]
    fn every_release_with_sensitive_terms_holds_for_a_believer() {
        for seed in 0..40 {
            let mut rows = testkit::random::records(seed, 80, 6, 2.5);
            let holders = 1 + seed as usize % 4;
            rows.iter_mut().step_by(80 / holders).for_each(|row| row.push("s".into()));
            let (k, m, l) = (2 + (seed % 2) as u32, 1 + (seed % 3) as u32, 2 + (seed % 4) as u32);
            let release = published(&rows, k, m, l, Some(2 * k as usize));
            let verdict = verify(&release, &()).unwrap();
            assert!(verdict.holds, "seed {seed}: {verdict:?}");
        }
    }
}
