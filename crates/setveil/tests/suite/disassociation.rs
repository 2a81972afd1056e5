//! Disassociation and its verification: the paper's examples, what the paper
//! gets wrong, and random data.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;
use setveil::data::{ItemId, K, L, M};
use setveil::methods::disassociation::{
    Clusters, HorizontalPartitioning, Horpart, Parameters, Sensitive, Sizes, Verpart, anonymize,
    anonymize_with, verpart,
};
use setveil::release::{Body, Cluster, Disassociated, Model, Release};
use setveil::verify::verify;
use setveil::{Dataset, Error, Progress, Result};
use testkit::format_guarantee::{broken_itemset, world_count};
use testkit::sabotage::DISASSOCIATED;

fn parameters(k: u32, m: u32) -> Parameters {
    Parameters::new(K::new(k).unwrap(), M::new(m).unwrap())
}

fn body(release: &Release) -> &Disassociated {
    match &release.body {
        Body::Disassociated(body) => body,
        _ => panic!("a disassociated release"),
    }
}

/// Clusters that are given instead of found.
struct Given(Vec<usize>);

impl HorizontalPartitioning for Given {
    fn name(&self) -> &str {
        "given"
    }

    fn partition(&self, _: &Dataset, _: &[bool], _: Sizes, _: &dyn Progress) -> Result<Clusters> {
        let (mut clusters, mut start) = (Clusters::default(), 0);
        for size in &self.0 {
            clusters.push(start..start + *size as u32);
            start += *size as u32;
        }
        Ok(clusters)
    }
}

/// Disassociates records whose clusters are known.
fn with_clusters<S: AsRef<str>>(
    clusters: &[Vec<Vec<S>>],
    k: u32,
    m: u32,
    refine: bool,
) -> Disassociated {
    let data = Dataset::from_records(clusters.iter().flatten());
    let given = Given(clusters.iter().map(Vec::len).collect());
    let mut parameters = parameters(k, m);
    parameters.refine = refine;
    let vertical = Verpart { k: parameters.k, m: parameters.m };
    let release = anonymize_with(&data, &parameters, &given, &vertical, &()).unwrap();
    body(&release).clone()
}

/// `"ab a b"` is a cluster of three records of one-letter terms.
fn letters(cluster: &str) -> Vec<Vec<String>> {
    cluster.split(' ').map(|r| r.chars().map(String::from).collect()).collect()
}

#[test]
fn the_papers_figures() {
    let mut reproduced = 0;
    for case in testkit::cases::disassociation("disassociation-2012") {
        let expected = case.release();
        let verdict = verify(&expected, &()).unwrap();
        assert_eq!(verdict.holds, case.breaks.is_none(), "{}: {verdict:?}", case.source);
        if let Some(rule) = &case.breaks {
            assert!(
                verdict.violations.iter().all(|v| v.rule == rule),
                "{}: {verdict:?}",
                case.source
            );
        }
        if !case.clusters.is_empty() {
            let made = with_clusters(&case.clusters, case.k, case.m, case.refine);
            assert_eq!(&made, body(&expected), "{}", case.source);
            reproduced += 1;
        }
    }
    assert_eq!(reproduced, 2);
}

#[test]
fn example_1_is_repaired_and_the_unrepaired_release_gives_the_record_away() {
    let unrepaired = json!({"size": 5, "record_chunks": [
        {"subrecords": [{"items": ["a"], "count": 3}]},
        {"subrecords": [{"items": ["b", "c"], "count": 3}]}], "term_chunk": []});
    let release = testkit::cases::release(3, 2, &[unrepaired]);
    assert_eq!(world_count(&body(&release).clusters[0]), 1, "only the original is possible");
    assert_eq!(broken_itemset(body(&release), 3, 2), Some((vec![0, 1], 1)));

    let made = with_clusters(&[letters("a a bc bc abc")], 3, 2, true);
    assert_eq!(broken_itemset(&made, 3, 2), None);
    let Cluster::Simple(leaf) = &made.clusters[0] else { panic!("one simple cluster") };
    assert_eq!(made.vocabulary.texts(&leaf.term_chunk), ["c"], "the rarest, the last by text");
}

#[test]
fn combinations_of_fewer_than_m_terms_count() {
    // No combination of three terms occurs, and {a, b} occurs once.
    let rows = letters("ab a a a a a b b b b b");
    let data = Dataset::from_records(&rows);
    let records: Vec<&[ItemId]> = data.records().collect();
    let cluster = verpart(&records, K::new(5).unwrap(), M::new(3).unwrap());
    assert!(cluster.record_chunks.iter().all(|chunk| chunk.domain().len() == 1));

    let together = json!({"size": 11, "record_chunks": [{"subrecords": [
        {"items": ["a", "b"], "count": 1}, {"items": ["a"], "count": 5},
        {"items": ["b"], "count": 5}]}], "term_chunk": []});
    let verdict = verify(&testkit::cases::release(5, 3, &[together]), &()).unwrap();
    assert_eq!(verdict.violation_count, 1);
    assert_eq!((verdict.violations[0].rule, verdict.violations[0].support), ("km", 1));
    assert_eq!(verdict.violations[0].itemset, ["a", "b"]);
}

#[test]
fn refining_keeps_a_term_that_lemma_2_needs() {
    let clusters = [letters("ab a a a b b b z z"), letters("cz cz c c")];
    let made = with_clusters(&clusters, 4, 2, true);
    assert_eq!(broken_itemset(&made, 4, 2), None);
    // As the paper has it, z is shared and the first term chunk is empty.
    let printed = json!({"size": 13,
        "shared_chunks": [{"subrecords": [{"items": ["z"], "count": 4}]}],
        "children": [
            {"size": 9, "record_chunks": [
                {"subrecords": [{"items": ["a"], "count": 4}]},
                {"subrecords": [{"items": ["b"], "count": 4}]}], "term_chunk": []},
            {"size": 4, "record_chunks": [
                {"subrecords": [{"items": ["c"], "count": 4}]}], "term_chunk": []}]});
    let printed = testkit::cases::release(4, 2, &[printed]);
    let verdict = verify(&printed, &()).unwrap();
    assert!(!verdict.holds);
    assert_eq!(verdict.violations[0].rule, "lemma-2");
    assert_eq!(broken_itemset(body(&printed), 4, 2), Some((vec![0, 1], 3)));
}

#[test]
fn property_1_of_the_paper_is_not_enough() {
    let clusters = [letters("ta tb tc"), letters("ubz uc"), letters("bcaz bc")];
    let made = with_clusters(&clusters, 2, 2, true);
    assert_eq!(broken_itemset(&made, 2, 2), None);
    // L2 and M join on z, then L joins on {a, b, c}: 2-anonymous, as Property 1 asks.
    let printed = json!({"size": 7,
        "shared_chunks": [{"subrecords": [{"items": ["a"], "count": 2},
            {"items": ["b"], "count": 2}, {"items": ["c"], "count": 2}]}],
        "children": [
            {"size": 3, "record_chunks": [{"subrecords": [{"items": ["t"], "count": 3}]}],
             "term_chunk": []},
            {"size": 4, "shared_chunks": [{"subrecords": [{"items": ["z"], "count": 2}]}],
             "children": [
                {"size": 2, "record_chunks": [{"subrecords": [{"items": ["u"], "count": 2}]}],
                 "term_chunk": []},
                {"size": 2, "record_chunks": [{"subrecords": [{"items": ["b", "c"], "count": 2}]}],
                 "term_chunk": []}]}]});
    let printed = testkit::cases::release(2, 2, &[printed]);
    let vocabulary = &body(&printed).vocabulary;
    let (itemset, most) = broken_itemset(body(&printed), 2, 2).expect("a broken itemset");
    assert_eq!((vocabulary.texts(&itemset), most), (vec!["a".to_owned(), "t".to_owned()], 1));
    let verdict = verify(&printed, &()).unwrap();
    assert!(verdict.violations.iter().any(|v| v.rule == "property-1"), "{verdict:?}");
}

#[test]
fn every_cluster_of_a_real_data_set_has_k_records() {
    let Some(path) = testkit::real::data_file("bms-webview-1.dat.gz") else { return };
    let data = setveil::io::read_dataset(&path, &Default::default(), &()).unwrap().dataset;
    let release = anonymize(&data, &parameters(5, 2), &()).unwrap();
    let sizes: Vec<u32> =
        body(&release).clusters.iter().flat_map(|c| c.leaves()).map(|leaf| leaf.size).collect();
    assert!(sizes.iter().all(|&s| (5..=50).contains(&s)));
    assert_eq!(sizes.iter().sum::<u32>() as usize, data.len());
    assert!(verify(&release, &()).unwrap().holds);
}

#[test]
fn chains_as_long_as_the_domain_do_not_overflow_the_stack() {
    // Every term splits off one record; and long records that are all alike.
    let chain: Vec<Vec<String>> = (0..30_000).map(|i| vec![format!("t{i}")]).collect();
    let alike: Vec<Vec<String>> =
        (0..300).map(|_| (0..2_000).map(|i| format!("t{i}")).collect()).collect();
    for records in [chain, alike] {
        let data = Dataset::from_records(records);
        let clusters =
            Horpart.partition(&data, &vec![true; data.item_count()], sizes(5, 50), &()).unwrap();
        assert!(clusters.iter().all(|c| (5..=50).contains(&c.len())));
        assert_eq!(clusters.iter().map(<[u32]>::len).sum::<usize>(), data.len());
    }
}

/// HORPART as the paper writes it: count again after every split.
fn rescan(data: &Dataset, may_split: &[bool], part: Vec<u32>, max: usize) -> Vec<Vec<u32>> {
    let mut counts = vec![0; data.item_count()];
    for &r in &part {
        data.record(r as usize).iter().for_each(|&item| counts[item as usize] += 1);
    }
    let splits = |&t: &usize| may_split[t] && 1 < counts[t] && counts[t] < part.len();
    let best = (0..counts.len()).filter(splits).max_by_key(|&t| (counts[t], usize::MAX - t));
    let Some(term) = best.filter(|_| part.len() > max) else { return vec![part] };
    let has = |r: &u32| data.record(*r as usize).contains(&(term as ItemId));
    let (with, without) = part.iter().partition(|r| has(r));
    let mut clusters = rescan(data, may_split, with, max);
    clusters.extend(rescan(data, may_split, without, max));
    clusters
}

/// What the records of each cluster say, small clusters together and large
/// ones cut.
fn pooled<'a>(
    data: &'a Dataset,
    may_split: &[bool],
    clusters: Vec<Vec<u32>>,
    k: usize,
    max: usize,
) -> Vec<Vec<&'a [ItemId]>> {
    let (mut done, mut waiting) = (Vec::new(), Vec::new());
    for cluster in clusters {
        let mut rows: Vec<&[ItemId]> = cluster.iter().map(|&r| data.record(r as usize)).collect();
        if rows.len() >= k {
            done.push(rows);
            continue;
        }
        waiting.append(&mut rows);
        if waiting.len() >= k {
            done.push(std::mem::take(&mut waiting));
        }
    }
    if done.is_empty() {
        done.push(Vec::new());
    }
    done.last_mut().unwrap().append(&mut waiting);
    let mut cut = Vec::new();
    for mut rows in done {
        rows.sort();
        let (len, pieces) = (rows.len(), rows.len().div_ceil(max));
        if pieces > 1 && may_split.contains(&false) {
            cut.extend(between_kinds(rows, may_split, k, len.div_ceil(pieces)));
            continue;
        }
        cut.extend((0..pieces).map(|p| rows[p * len / pieces..(p + 1) * len / pieces].to_vec()));
    }
    cut
}

/// Cuts where the items that may split differ, as soon as a piece has `target`
/// records and k remain.
fn between_kinds<'a>(
    rows: Vec<&'a [ItemId]>,
    may_split: &[bool],
    k: usize,
    target: usize,
) -> Vec<Vec<&'a [ItemId]>> {
    let mut kinds: BTreeMap<Vec<ItemId>, Vec<&[ItemId]>> = BTreeMap::new();
    let (mut left, mut pieces) = (rows.len(), vec![Vec::new()]);
    for row in rows {
        let kind = row.iter().copied().filter(|&i| may_split[i as usize]).collect();
        kinds.entry(kind).or_default().push(row);
    }
    for alike in kinds.into_values() {
        let piece = pieces.last_mut().unwrap();
        left -= alike.len();
        piece.extend(alike);
        if left > 0 && piece.len() >= target.max(k) && left >= k {
            pieces.push(Vec::new());
        }
    }
    pieces.iter_mut().for_each(|piece| piece.sort());
    pieces
}

/// Fails unless HORPART finds the clusters that rescanning finds.
fn assert_as_rescanned(data: &Dataset, may_split: &[bool], k: u32, max: usize) {
    let clusters = Horpart.partition(data, may_split, sizes(k, max), &()).unwrap();
    let found: Vec<Vec<&[ItemId]>> = clusters
        .iter()
        .map(|cluster| {
            let mut rows: Vec<_> = cluster.iter().map(|&r| data.record(r as usize)).collect();
            rows.sort();
            rows
        })
        .collect();
    let naive = rescan(data, may_split, (0..data.len() as u32).collect(), max);
    assert!(found == pooled(data, may_split, naive, k as usize, max));
}

proptest! {
    #![proptest_config(testkit::settings::cases(256))]

    #[test]
    fn horpart_finds_what_rescanning_finds(
        data in testkit::random::dataset(60, 9),
        k in 2u32..5,
        more in 0usize..6,
        hidden in 0usize..9,
    ) {
        let may_split: Vec<bool> = (0..data.item_count()).map(|item| item != hidden).collect();
        assert_as_rescanned(&data, &may_split, k, 2 * k as usize + more);
    }
}

#[test]
fn horpart_finds_what_rescanning_finds_where_chains_are_large() {
    // Half of the records have the most frequent term: its chain is divided
    // among threads once more.
    let records = testkit::random::records(3, 24_000, 24, 6.0);
    let data = Dataset::from_records(records);
    let mut may_split = vec![true; data.item_count()];
    assert!(data.supports().into_iter().max() > Some(9_000));
    assert_as_rescanned(&data, &may_split, 5, 50);
    may_split[0] = false;
    assert_as_rescanned(&data, &may_split, 5, 200);
}

fn sizes(k: u32, max: usize) -> Sizes {
    Sizes::new(K::new(k).unwrap(), max).unwrap()
}

#[test]
fn too_few_records_and_bad_parameters_publish_nothing() {
    let data = Dataset::from_records(letters("ab a b"));
    let error = anonymize(&data, &parameters(4, 2), &()).unwrap_err();
    assert!(matches!(error, Error::Infeasible { .. }));
    assert_eq!(error.to_string().split(';').next(), Some("there are 3 records, fewer than k = 4"));
    let mut small = parameters(2, 2);
    small.max_cluster_size = 3;
    let error = anonymize(&data, &small, &()).unwrap_err().to_string();
    assert!(error.contains("max-cluster-size = 3") && error.contains("2k"), "{error}");
    assert!(anonymize(&Dataset::default(), &parameters(2, 1), &()).is_err());
    // What is wrong with the parameters is said before what is wrong with terms.
    small.sensitive = Some(Sensitive { terms: vec!["typo".into()], l: L::new(2).unwrap() });
    assert!(anonymize(&data, &small, &()).unwrap_err().to_string().contains("max-cluster-size"));
    small.max_cluster_size = 50;
    let error = anonymize(&Dataset::default(), &small, &()).unwrap_err().to_string();
    assert!(error.starts_with("there are 0 records"), "{error}");
}

#[test]
fn sensitive_terms_are_hidden_and_at_most_one_in_l() {
    let mut records = testkit::random::records(11, 400, 12, 3.0);
    for (i, record) in records.iter_mut().enumerate() {
        // Concentrated, so that similar records would share it.
        if i % 5 == 0 || (i < 60 && i % 2 == 0) {
            record.push("SECRET".into());
        }
    }
    let data = Dataset::from_records(&records);
    let mut parameters = parameters(3, 2);
    let secret = |l| Some(Sensitive { terms: vec!["SECRET".into()], l: L::new(l).unwrap() });
    parameters.sensitive = secret(3);
    let release = anonymize(&data, &parameters, &()).unwrap();
    assert!(verify(&release, &()).unwrap().holds);
    let id = data.vocabulary().id("SECRET").unwrap();
    for cluster in &body(&release).clusters {
        for leaf in cluster.leaves() {
            assert!(leaf.record_chunks.iter().all(|chunk| !chunk.items().contains(&id)));
        }
        assert!(cluster.chunks().iter().all(|chunk| !chunk.items().contains(&id)));
    }
    parameters.sensitive = secret(5);
    let error = anonymize(&data, &parameters, &()).unwrap_err().to_string();
    assert!(
        error.contains("`SECRET`") && error.contains("largest l that works for it is 3"),
        "{error}"
    );
    parameters.sensitive = Some(Sensitive { terms: vec!["SECRTE".into()], l: L::new(2).unwrap() });
    assert!(anonymize(&data, &parameters, &()).unwrap_err().to_string().contains("`SECRTE`"));
}

#[test]
fn a_sensitive_term_in_a_chunk_is_a_violation() {
    let data = Dataset::from_records(letters("as bs ac bc a b a b ac bc"));
    let mut parameters = parameters(2, 2);
    let release = anonymize(&data, &parameters, &()).unwrap();
    parameters.sensitive = Some(Sensitive { terms: vec!["a".into()], l: L::new(2).unwrap() });
    let mut promised =
        anonymize(&data, &parameters.with_sensitive(["s"], L::new(2).unwrap()), &()).unwrap();
    assert!(verify(&promised, &()).unwrap().holds);
    promised.body = release.body;
    promised.manifest.parameters.insert("sensitive".into(), json!(["a"]));
    let verdict = verify(&promised, &()).unwrap();
    assert!(verdict.violations.iter().any(|v| v.rule == "sensitive" && v.itemset == ["a"]));
}

/// The occurrences of every set of one or two terms, by looking at all records.
fn support(records: &[Vec<ItemId>], itemset: &[ItemId]) -> u64 {
    records.iter().filter(|r| itemset.iter().all(|i| r.contains(i))).count() as u64
}

/// Nothing is invented and nothing is lost: chunks never count more than the
/// original has, exactly as much for terms that stand in no term chunk, and
/// every term is published.
fn faithful(data: &Dataset, body: &Disassociated) {
    let records: Vec<Vec<ItemId>> = data.records().map(<[ItemId]>::to_vec).collect();
    let mut chunks = Vec::new();
    let mut mentions = vec![0u64; data.item_count()];
    let mut stack: Vec<&Cluster> = body.clusters.iter().collect();
    while let Some(cluster) = stack.pop() {
        chunks.extend(cluster.chunks());
        stack.extend(cluster.children());
        if let Cluster::Simple(leaf) = cluster {
            leaf.term_chunk.iter().for_each(|&t| mentions[t as usize] += 1);
        }
    }
    let count = |itemset: &[ItemId]| chunks.iter().map(|c| c.support(itemset)).sum::<u64>();
    let items = data.item_count() as ItemId;
    for a in 0..items {
        let (published, original) = (count(&[a]), support(&records, &[a]));
        let mentioned = mentions[a as usize];
        assert!(published + mentioned > 0, "every term is published");
        assert!(published + mentioned <= original);
        assert!(mentioned > 0 || published == original);
        for b in a + 1..items {
            assert!(count(&[a, b]) <= support(&records, &[a, b]));
        }
    }
    assert_eq!(body.records(), data.len() as u64);
}

proptest! {
    #![proptest_config(testkit::settings::cases(300))]

    #[test]
    fn every_release_verifies_and_is_faithful(
        data in testkit::random::dataset(60, 12),
        k in 2u32..6,
        m in 1u32..5,
        room in 0usize..6,
    ) {
        let mut parameters = parameters(k, m);
        parameters.max_cluster_size = 2 * k as usize + room;
        match anonymize(&data, &parameters, &()) {
            Err(error) => prop_assert!(data.len() < k as usize, "{error}"),
            Ok(release) => {
                let verdict = verify(&release, &()).unwrap();
                prop_assert!(verdict.holds, "{verdict:?}");
                faithful(&data, body(&release));
            }
        }
    }

    #[test]
    fn neither_row_order_nor_threads_change_the_release(
        rows in prop::collection::vec(prop::collection::btree_set(0usize..9, 1..5), 8..80),
        seed in any::<u64>(),
    ) {
        let labels: Vec<Vec<String>> = rows
            .iter()
            .map(|r| r.iter().map(|&i| testkit::random::label(i)).collect())
            .collect();
        let other = shuffled(labels.clone(), seed);
        let one = with_threads(4, &labels, &parameters(3, 2));
        prop_assert_eq!(one, with_threads(1, &other, &parameters(3, 2)));
    }
}

/// Enough records for chains on several threads and for many blocks of REFINE.
#[test]
fn neither_row_order_nor_threads_change_a_large_release() {
    let records = testkit::random::records(5, 24_000, 300, 7.0);
    let other = shuffled(records.clone(), 5);
    let mut parameters = parameters(4, 2);
    for terms in [vec![], vec!["i100".to_owned(), "i150".to_owned()]] {
        let sensitive = Sensitive { terms, l: L::new(2).unwrap() };
        parameters.sensitive = (!sensitive.terms.is_empty()).then_some(sensitive);
        let one = with_threads(4, &records, &parameters);
        assert!(one == with_threads(1, &other, &parameters));
        assert!(verify(&one, &()).unwrap().holds);
        let leaves: Vec<usize> =
            body(&one).clusters.iter().map(|cluster| cluster.leaves().len()).collect();
        assert!(leaves.iter().max() > Some(&20), "joint clusters are small: {leaves:?}");
    }
}

fn shuffled(mut records: Vec<Vec<String>>, seed: u64) -> Vec<Vec<String>> {
    let mut rng = testkit::random::rng(seed);
    for i in (1..records.len()).rev() {
        records.swap(i, rand::RngExt::random_range(&mut rng, 0..=i));
    }
    records
}

fn with_threads(threads: usize, records: &[Vec<String>], parameters: &Parameters) -> Release {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| anonymize(&Dataset::from_records(records), parameters, &())).unwrap()
}

#[test]
fn what_verify_accepts_the_possible_worlds_confirm() {
    let mut joints = 0;
    for seed in 0..400 {
        let records = testkit::random::records(seed, 4 + seed as usize % 5, 5, 2.0);
        let data = Dataset::from_records(&records);
        let (k, m) = (2 + (seed / 7 % 2) as u32, 1 + (seed % 3) as u32);
        let mut parameters = parameters(k, m);
        parameters.max_cluster_size = 2 * k as usize;
        let Ok(release) = anonymize(&data, &parameters, &()) else { continue };
        assert!(verify(&release, &()).unwrap().holds);
        let body = body(&release);
        joints += body.clusters.iter().filter(|c| matches!(c, Cluster::Joint(_))).count();
        let broken = broken_itemset(body, k.into(), m as usize);
        assert_eq!(broken, None, "seed {seed}: {records:?} gives {body:?}");
    }
    assert!(joints > 50, "too few joint clusters to mean anything: {joints}");
}

#[test]
fn nested_joint_clusters_stand_up_to_the_possible_worlds() {
    // Small clusters that are given, so that several levels of joins happen on tiny data.
    let mut nested = 0;
    for seed in 0..1000 {
        let rows = testkit::random::records(1000 + seed, 8, 6, 2.2);
        let clusters: Vec<Vec<Vec<String>>> = rows.chunks(2).map(<[_]>::to_vec).collect();
        let made = with_clusters(&clusters, 2, 2, true);
        nested += made
            .clusters
            .iter()
            .filter(|c| c.children().iter().any(|c| matches!(c, Cluster::Joint(_))))
            .count();
        assert_eq!(broken_itemset(&made, 2, 2), None, "seed {seed}: {rows:?} gives {made:?}");
    }
    assert!(nested > 20, "too few nested joint clusters to mean anything: {nested}");
}

#[test]
fn saboteurs_are_caught_with_the_right_rule() {
    let mut caught = vec![0; DISASSOCIATED.len()];
    for seed in 0..30 {
        let data = Dataset::from_records(testkit::random::records(seed, 60, 8, 2.5));
        let mut parameters = parameters(3, 2);
        parameters.max_cluster_size = 8;
        let release = anonymize(&data, &parameters, &()).unwrap();
        assert!(verify(&release, &()).unwrap().holds);
        for (saboteur, caught) in DISASSOCIATED.iter().zip(&mut caught) {
            let mut broken = release.clone();
            if (saboteur.act)(&mut broken) {
                let verdict = verify(&broken, &()).unwrap();
                let found = verdict.violations.iter().any(|v| v.rule == saboteur.rule);
                assert!(!verdict.holds && found, "{}: {verdict:?}", saboteur.name);
                *caught += 1;
            }
        }
    }
    for (saboteur, caught) in DISASSOCIATED.iter().zip(caught) {
        assert!(caught > 0, "{} never acted", saboteur.name);
    }
}

/// Clusters and chunks are drawn at random here, by no method: what `verify`
/// lets through must be safe whoever made it.
#[test]
fn verify_is_sound_on_releases_that_no_method_made() {
    let (mut held, mut joint, mut broken) = (0, 0, 0);
    for seed in 0..6000 {
        let records = testkit::random::records(seed, 4 + seed as usize % 4, 3, 1.4);
        let (_, mut release) = testkit::releases::disassociated(seed, &records, 4, true);
        let m = 1 + (seed % 3) as u32;
        let model = Model::FormatKmAnonymity { k: 2, m, l: None };
        testkit::releases::promise(&mut release, model);
        if let Body::Disassociated(body) = &mut release.body {
            body.clusters.iter_mut().for_each(Cluster::canonicalize);
            body.clusters.sort_unstable();
        }
        let unsafe_itemset = broken_itemset(body(&release), 2, m as usize);
        let verdict = verify(&release, &()).unwrap();
        if verdict.holds {
            assert_eq!(unsafe_itemset, None, "seed {seed}: {records:?} {:?}", body(&release));
            held += 1;
            let clusters = &body(&release).clusters;
            joint += u32::from(clusters.iter().any(|c| matches!(c, Cluster::Joint(_))));
        }
        broken += u32::from(unsafe_itemset.is_some());
    }
    assert!(held > 300 && joint > 100 && broken > 300, "{held} {joint} {broken}");
}
