//! Sensitive terms in clusters: what l lets an attacker infer does not break
//! k^m. The oracle makes every world that somebody who believes l thinks
//! possible.

use rand::RngExt;
use serde_json::json;
use setveil::Dataset;
use setveil::data::{ItemId, K, L, M};
use setveil::methods::disassociation::{Parameters, anonymize};
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

/// Size, record chunks of one item with its count, term chunk.
type Leaf<'a> = (u32, &'a [(ItemId, u32)], &'a [ItemId]);

/// The same, made up.
type Drawn = (u32, Vec<(ItemId, u32)>, Vec<ItemId>);

/// A release of leaves.
fn release(leaves: &[Leaf], labels: &[&str]) -> Release {
    let (_, mut release) = testkit::releases::disassociated(1, &[vec!["a".into()]], 1, false);
    let mut clusters: Vec<Cluster> = leaves
        .iter()
        .map(|&(size, chunks, terms)| {
            let bag = |(item, count): &(ItemId, u32)| {
                Bag::from_counted([(std::slice::from_ref(item), *count)])
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
    let chunks = &[(0, 4), (1, 4)];
    let mut seven = release(&[(7, chunks, &[2])], &["a", "b", "s"]);
    promise(&mut seven, 3, 2, 7, &["s"]);
    assert_eq!(broken_itemset(body(&seven), 3, 2), None, "the format alone is safe");
    assert!(broken_for_believer(body(&seven), 3, 2, 7, &[2]).is_some());
    assert_eq!(rules(&seven), ["sensitive-support", "lemma-2", "sensitive-room"]);
}

/// One rule each, and enough of everything else.
#[test]
fn each_rule_is_needed() {
    let many = &[(0, 12), (1, 12)];
    // m = 1, s in one record of each of two leaves: k = 3 cannot be reached.
    let mut two = release(&[(12, many, &[2]), (12, many, &[2])], &["a", "b", "s"]);
    promise(&mut two, 3, 1, 7, &["s"]);
    assert_eq!(rules(&two), ["sensitive-support"]);
    let three: Leaf = (12, many, &[2]);
    let mut three = release(&[three, three, three], &["a", "b", "s"]);
    promise(&mut three, 3, 1, 7, &["s"]);
    assert_eq!(rules(&three), [""; 0]);
    // Pairs with s are within one leaf.
    promise(&mut three, 3, 2, 7, &["s"]);
    assert_eq!(rules(&three), ["sensitive-room"; 3]);
    promise(&mut three, 3, 2, 4, &["s"]);
    assert_eq!(rules(&three), [""; 0]);
    // Without enough sub-records, s would have to fill nine of twelve records.
    let few = &[(0, 3), (1, 3)];
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
        let made: Vec<Drawn> = drawn
            .iter()
            .map(|&(size, counts, hidden, open, second)| {
                let chunks = (0..).zip(counts).filter(|c| c.1 > 0).collect();
                let terms = [(hidden, 2), (open, 3), (second, 4)];
                (size, chunks, terms.into_iter().filter(|t| t.0).map(|t| t.1).collect())
            })
            .collect();
        let leaves: Vec<Leaf> = made.iter().map(|(size, c, t)| (*size, &c[..], &t[..])).collect();
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

/// What the method publishes satisfies the rules as well.
mod method {
    use std::collections::HashMap;

    use setveil::methods::disassociation::{
        Clusters, HorizontalPartitioning, Horpart, Sizes, Verpart, anonymize_with,
    };
    use setveil::{Error, Progress};

    use super::*;

    fn parameters(k: u32, m: u32, l: u32, max: usize) -> Parameters {
        Parameters::new(K::new(k).unwrap(), M::new(m).unwrap())
            .with_max_cluster_size(max)
            .with_sensitive(["s"], L::new(l).unwrap())
    }

    #[test]
    fn every_release_with_sensitive_terms_holds_for_a_believer() {
        for seed in 0..40 {
            let mut rows = testkit::random::records(seed, 80, 6, 2.5);
            let holders = 1 + seed as usize % 4;
            rows.iter_mut().step_by(80 / holders).for_each(|row| row.push("s".into()));
            let (k, m, l) = (2 + (seed % 2) as u32, 1 + (seed % 3) as u32, 2 + (seed % 4) as u32);
            let data = Dataset::from_records(&rows);
            let release = anonymize(&data, &parameters(k, m, l, 2 * k as usize), &()).unwrap();
            let verdict = verify(&release, &()).unwrap();
            assert!(verdict.holds, "seed {seed}: {verdict:?}");
        }
    }

    /// Seven records cannot hide a term with k = 3 and l = 7.
    #[test]
    fn what_would_contradict_km_is_refused() {
        let rows =
            [vec!["a", "b"], vec!["a"], vec!["a"], vec!["a"], vec!["b"], vec!["b"], vec!["b", "s"]];
        let error = anonymize(&Dataset::from_records(rows), &parameters(3, 2, 7, 10), &());
        assert!(matches!(error, Err(Error::Infeasible { .. })), "{error:?}");
    }

    /// The largest share of the placements of `holders` holders, over releases
    /// and records, in which a record holds the term although only the release is
    /// known. Placements that are refused give no release.
    fn most_certain(
        rows: &[Vec<String>],
        holders: u32,
        publish: &dyn Fn(&Dataset) -> Result<Release, Error>,
    ) -> (f64, usize) {
        let mut seen: HashMap<String, (u64, Vec<u64>)> = HashMap::new();
        for placement in (0u32..1 << rows.len()).filter(|p| p.count_ones() == holders) {
            let mut world = rows.to_vec();
            let holds = |r: usize| placement >> r & 1 == 1;
            (0..rows.len()).filter(|&r| holds(r)).for_each(|r| world[r].push("s".into()));
            let Ok(release) = publish(&Dataset::from_records(&world)) else { continue };
            let key = format!("{:?}", release.body);
            let (all, of) = seen.entry(key).or_insert_with(|| (0, vec![0; rows.len()]));
            *all += 1;
            (0..rows.len()).for_each(|r| of[r] += u64::from(holds(r)));
        }
        let shares = seen.values().flat_map(|(all, of)| of.iter().map(|&o| o as f64 / *all as f64));
        (shares.fold(0.0, f64::max), seen.len())
    }

    /// Fourteen records in clusters of four: once, only "both a-records" gave
    /// what was published of them.
    fn fourteen() -> Vec<Vec<String>> {
        "yyyyaabbccddee".chars().map(|item| vec![item.to_string()]).collect()
    }

    #[test]
    fn merges_do_not_tell_who_has_the_term() {
        let publish = |data: &Dataset| anonymize(data, &parameters(2, 2, 2, 4), &());
        let mut releases = 0;
        for holders in 1..=4 {
            let (share, different) = most_certain(&fourteen(), holders, &publish);
            assert!(share <= 0.5, "{holders} holders: {share}");
            releases += different;
        }
        assert!(releases > 4, "there is something to be told apart: {releases}");
        for seed in 0..6 {
            let rows = testkit::random::records(seed, 10, 4, 1.8);
            for holders in 1..=3 {
                let (share, _) = most_certain(&rows, holders, &publish);
                assert!(share <= 0.5, "seed {seed}, {holders} holders: {share}");
            }
        }
    }

    /// Clusters that were merged where the term was too frequent: the same
    /// brute force finds what they tell.
    #[test]
    fn merges_by_holders_are_found_out() {
        struct Telling;
        impl HorizontalPartitioning for Telling {
            fn name(&self) -> &str {
                "telling"
            }

            fn partition(
                &self,
                data: &Dataset,
                may_split: &[bool],
                sizes: Sizes,
                progress: &dyn Progress,
            ) -> setveil::Result<Clusters> {
                let clusters = Horpart.partition(data, may_split, sizes, progress)?;
                let secret =
                    |r: &u32| data.record(*r as usize).iter().any(|&i| !may_split[i as usize]);
                let (mut told, mut open) = (Clusters::default(), Vec::new());
                for cluster in clusters.iter() {
                    open.extend_from_slice(cluster);
                    if 2 * open.iter().filter(|r| secret(r)).count() <= open.len() {
                        told.push(open.drain(..));
                    }
                }
                if !open.is_empty() {
                    told.push(open);
                }
                Ok(told)
            }
        }
        let parameters = parameters(2, 2, 2, 4);
        let vertical = Verpart { k: parameters.k, m: parameters.m };
        let publish = |data: &Dataset| anonymize_with(data, &parameters, &Telling, &vertical, &());
        let certain = (2..=4).map(|h| most_certain(&fourteen(), h, &publish).0).fold(0.0, f64::max);
        assert!(certain > 0.5, "{certain}");
    }
}
