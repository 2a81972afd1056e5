//! DLS: the paper's examples, what the paper gets wrong, and random clusters
//! against brute force.

use proptest::prelude::*;
use setveil::Method;
use setveil::data::{ItemId, K, M};
use setveil::measure::{Associations, Question, associations};
use setveil::methods::disassociation::{self, Parameters, VerticalPartitioning, verpart};
use setveil::methods::dls::{Dls, anonymize, dls_cluster, mpii, mpii_counts};
use setveil::release::{Bag, Body, Cluster, Disassociated, Release, SimpleCluster, Supports};
use setveil::verify::verify;
use setveil::{Dataset, io};
use testkit::format_guarantee::broken_itemset;
use testkit::problematic;
use testkit::sabotage::DISASSOCIATED;

fn k(value: u32) -> K {
    K::new(value).unwrap()
}

fn m(value: u32) -> M {
    M::new(value).unwrap()
}

/// `"ab a b"` is a cluster of three records; a is item 0.
fn letters(cluster: &str) -> Vec<Vec<ItemId>> {
    let item = |c: char| u32::from(c) - u32::from('a');
    cluster.split(' ').map(|r| r.chars().map(item).collect()).collect()
}

fn rows(records: &[Vec<ItemId>]) -> Vec<&[ItemId]> {
    records.iter().map(Vec::as_slice).collect()
}

fn dls(records: &[Vec<ItemId>], k_: u32, m_: u32) -> SimpleCluster {
    dls_cluster(&rows(records), k(k_), m(m_))
}

fn subrecords(bag: &Bag) -> Vec<Vec<ItemId>> {
    bag.iter()
        .flat_map(|(items, count)| std::iter::repeat_n(items.to_vec(), count as usize))
        .collect()
}

/// What must hold for the chunks of every cluster, checked by brute force.
fn check(records: &[Vec<ItemId>], cluster: &SimpleCluster, k: u32, m: u32) {
    let mut domain: Vec<ItemId> = cluster.term_chunk.clone();
    for chunk in &cluster.record_chunks {
        let published = subrecords(chunk);
        assert!(problematic::is_anonymous(&published, k, m as usize), "{records:?} {cluster:?}");
        assert!(published.len() <= records.len());
        for item in chunk.domain() {
            let original = records.iter().filter(|r| r.contains(&item)).count() as u64;
            assert!(chunk.support(&[item]) <= original, "a support is a lower bound");
        }
        domain.extend(chunk.domain());
    }
    domain.sort_unstable();
    let mut all: Vec<ItemId> = records.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(domain, all, "every item is published, in one chunk: {cluster:?}");
}

/// Whether the chunks can be dealt to the original records so that each holds
/// only items of its own and none is empty: the suppressed data set is a
/// possible one.
fn original_stands_behind(records: &[Vec<ItemId>], cluster: &SimpleCluster) -> bool {
    let fits = |sub: &[ItemId], record: &[ItemId]| sub.iter().all(|i| record.contains(i));
    // Per chunk: a matching of sub-records to records that contain them.
    cluster.record_chunks.iter().all(|chunk| {
        let subs = subrecords(chunk);
        let mut owner: Vec<Option<usize>> = vec![None; records.len()];
        (0..subs.len()).all(|s| {
            let mut seen = vec![false; records.len()];
            augment(s, &subs, records, &fits, &mut owner, &mut seen)
        })
    })
}

fn augment(
    s: usize,
    subs: &[Vec<ItemId>],
    records: &[Vec<ItemId>],
    fits: &dyn Fn(&[ItemId], &[ItemId]) -> bool,
    owner: &mut Vec<Option<usize>>,
    seen: &mut Vec<bool>,
) -> bool {
    for r in 0..records.len() {
        if seen[r] || !fits(&subs[s], &records[r]) {
            continue;
        }
        seen[r] = true;
        if owner[r].is_none_or(|other| augment(other, subs, records, fits, owner, seen)) {
            owner[r] = Some(s);
            return true;
        }
    }
    false
}

#[test]
fn fig_2_keeps_the_larger_domain_whatever_the_tie() {
    // Fig. 2 is a drawing; this cluster has its story: 2^2, f once, c and d
    // equally frequent, and taking one of them first costs a chunk more.
    let records = letters("ace ace ad ade acdf cb cb");
    let cluster = dls(&records, 2, 2);
    check(&records, &cluster, 2, 2);
    let largest = cluster.record_chunks.iter().map(|c| c.domain().len()).max().unwrap();
    let plain = verpart(&rows(&records), k(2), m(2));
    let largest_plain = plain.record_chunks.iter().map(|c| c.domain().len()).max().unwrap();
    assert!(largest >= largest_plain, "{cluster:?} {plain:?}");
}

#[test]
fn fig_3_only_a_leaves_the_first_record() {
    let records = letters("adef acf cef acdf cde ad");
    assert_eq!(mpii(&rows(&records), k(2), m(2)), [letters("ae")[0].clone()]);
    let cluster = dls(&records, 2, 2);
    let suppressed = letters("def acf cef acdf cde ad");
    let expected = SimpleCluster {
        size: 6,
        record_chunks: vec![Bag::from_itemsets(suppressed.iter().map(Vec::as_slice))],
        term_chunk: vec![],
    };
    assert_eq!(cluster, expected);
    // Algorithm 2, line 7, as printed: the projection of the original records.
    assert!(!problematic::is_anonymous(&records, 2, 2));
    let plain = verpart(&rows(&records), k(2), m(2));
    assert_eq!(plain.record_chunks.len(), 2, "disassociation separates e");
}

#[test]
fn itemsets_with_other_items_of_the_eliminated_one_are_tested() {
    // {u, v, z} is minimal problematic; without v there, {u, v} is in one record.
    let records = letters("uvz uv vz vz uz uz");
    assert_eq!(mpii(&rows(&records), k(2), m(3)), [letters("uvz")[0].clone()]);
    let printed = letters("uz uv vz vz uz uz");
    assert!(!problematic::is_anonymous(&printed, 2, 3), "Definition 8 allows this");
    let cluster = dls(&records, 2, 3);
    check(&records, &cluster, 2, 3);
}

#[test]
fn domains_that_contain_a_problematic_itemset_are_out() {
    // RRCC as printed joins {a, b}, {a, c} to {a, b, c}, though {b, c} is in one record.
    let records = letters("ab ab ac ac bc");
    assert_eq!(mpii(&rows(&records), k(2), m(2)), [letters("bc")[0].clone()]);
    assert!(!problematic::is_anonymous(&records, 2, 2));
    check(&records, &dls(&records, 2, 2), 2, 2);
}

#[test]
fn sizes_below_m_count() {
    let records = letters("ab a a a a a b b b b b");
    assert_eq!(mpii(&rows(&records), k(5), m(3)), [letters("ab")[0].clone()]);
    check(&records, &dls(&records, 5, 3), 5, 3);
}

#[test]
fn lemma_2_is_repaired() {
    // Example 1 of disassociation-2012; without the repair only the original is possible.
    let records = letters("a a bc bc abc");
    let cluster = dls(&records, 3, 2);
    assert_eq!(cluster.term_chunk.len(), 1);
    check(&records, &cluster, 3, 2);
    assert_eq!(broken_itemset(&whole(&cluster, 3), 3, 2), None);
}

#[test]
fn more_partitioned_items_than_are_searched_exactly() {
    // 30 items; each pair of neighbours is once together, so nothing may stay.
    let mut records: Vec<Vec<ItemId>> = (0..29).map(|i| vec![i, i + 1]).collect();
    records.extend((0..30).map(|i| vec![i]));
    records.extend((0..30).map(|i| vec![i]));
    for m_ in [2, 3, 5] {
        check(&records, &dls(&records, 3, m_), 3, m_);
    }
    // Long equal records: 40 twins have 658,008 itemsets of five, and none matters.
    let long: Vec<ItemId> = (0..40).collect();
    let records = vec![long.clone(), long.clone(), long, vec![0], vec![0], vec![50, 51]];
    let cluster = dls_cluster(&rows(&records), k(3), m(5));
    assert_eq!(cluster.record_chunks[0].domain().len(), 40);
    assert_eq!(mpii(&rows(&records), k(3), m(5)), [vec![50], vec![51]]);
}

#[test]
fn clusters_of_more_records_than_a_word_has_bits() {
    let records: Vec<Vec<ItemId>> = testkit::random::records(7, 300, 14, 3.0)
        .iter()
        .map(|r| r.iter().map(|l| u32::from(l.as_bytes()[0] - b'a')).collect())
        .collect();
    for (k_, m_) in [(5, 2), (9, 3), (20, 4)] {
        check(&records, &dls(&records, k_, m_), k_, m_);
    }
}

fn whole(cluster: &SimpleCluster, items: usize) -> Disassociated {
    let labels = (0..items).map(testkit::random::label);
    Disassociated {
        vocabulary: setveil::data::Vocabulary::new(labels),
        clusters: vec![Cluster::Simple(cluster.clone())],
    }
}

fn cluster() -> impl Strategy<Value = Vec<Vec<ItemId>>> {
    let record = prop::collection::btree_set(0_u32..6, 1..5);
    prop::collection::vec(record.prop_map(|r| r.into_iter().collect()), 2..16)
}

proptest! {
    #![proptest_config(testkit::settings::cases(600))]

    /// REFINE shares terms of the term chunk with all of their records, also
    /// a term that Lemma 2 sent there out of a suppressed chunk.
    #[test]
    fn terms_of_the_term_chunk_keep_their_original_supports(
        records in cluster(), k_ in 2_u32..5, m_ in 1_u32..5,
    ) {
        let vertical = Dls { k: k(k_), m: m(m_) };
        let split = vertical.partition(&mut (), &rows(&records), &|_| false, &()).unwrap();
        let occur = |t: &ItemId| records.iter().filter(|r| r.contains(t)).count() as u32;
        let expected: Vec<u32> = split.cluster.term_chunk.iter().map(occur).collect();
        prop_assert_eq!(split.supports, expected);
    }

    #[test]
    fn mpii_agrees_with_brute_force(records in cluster(), k_ in 2_u32..5, m_ in 1_u32..5) {
        let expected = problematic::minimal(&records, k_, m_ as usize);
        let found = mpii(&rows(&records), k(k_), m(m_));
        prop_assert_eq!(&found, &expected);
        let mut by_size = vec![0; m_ as usize];
        found.iter().for_each(|itemset| by_size[itemset.len() - 1] += 1);
        prop_assert_eq!(mpii_counts(&rows(&records), k(k_), m(m_)), by_size);
        prop_assert_eq!(expected.is_empty(), problematic::is_anonymous(&records, k_, m_ as usize));
    }

    #[test]
    fn every_cluster_is_anonymous_and_complete(records in cluster(), k_ in 2_u32..5, m_ in 1_u32..5) {
        let made = dls(&records, k_, m_);
        check(&records, &made, k_, m_);
        prop_assert!(original_stands_behind(&records, &made), "{records:?} {made:?}");
        let mut turned = records.clone();
        turned.reverse();
        prop_assert_eq!(dls(&turned, k_, m_), made, "the order of the records does not matter");
    }

    #[test]
    fn no_record_becomes_empty(records in cluster(), k_ in 2_u32..5, m_ in 2_u32..4) {
        // With one chunk and no term chunk nothing else could fill a record.
        let made = dls(&records, k_, m_);
        if made.term_chunk.is_empty() && made.record_chunks.len() == 1 {
            prop_assert_eq!(made.record_chunks[0].total(), records.len() as u64);
        }
        if made.term_chunk.is_empty() {
            let total: u64 = made.record_chunks.iter().map(Bag::total).sum();
            prop_assert!(total >= records.len() as u64);
        }
    }
}

proptest! {
    #![proptest_config(testkit::settings::cases(60))]

    #[test]
    fn the_format_guarantee_holds_in_all_possible_worlds(
        records in prop::collection::vec(prop::collection::btree_set(0_u32..4, 1..4), 3..6),
        k_ in 2_u32..4,
        m_ in 1_u32..4,
    ) {
        let records: Vec<Vec<ItemId>> =
            records.into_iter().map(|r| r.into_iter().collect()).collect();
        prop_assume!(records.len() >= k_ as usize);
        let body = whole(&dls(&records, k_, m_), 4);
        prop_assert_eq!(broken_itemset(&body, u64::from(k_), m_ as usize), None);
    }
}

fn sample() -> Dataset {
    Dataset::from_records(testkit::random::records(11, 400, 40, 4.0))
}

fn released(data: &Dataset, k_: u32, m_: u32, max: usize) -> Release {
    let parameters = Parameters::new(k(k_), m(m_)).with_max_cluster_size(max);
    anonymize(data, &parameters, &()).unwrap()
}

#[test]
fn releases_verify_and_say_that_supports_are_lower_bounds() {
    for (k_, m_, max) in [(2, 2, 20), (5, 2, 50), (5, 3, 100), (3, 4, 400)] {
        let release = released(&sample(), k_, m_, max);
        let verdict = verify(&release, &()).unwrap();
        assert!(verdict.holds, "k = {k_}, m = {m_}: {:?}", verdict.violations);
        assert_eq!(release.manifest.method, "dls");
        assert_eq!(release.manifest.guarantee.supports, Supports::LowerBound);
        assert!(release.manifest.parameters.keys().all(|key| !key.contains("suppress")));
    }
}

#[test]
fn saboteurs_are_caught_in_dls_releases_too() {
    let mut caught = 0;
    for saboteur in DISASSOCIATED {
        let mut release = released(&sample(), 5, 2, 60);
        if (saboteur.act)(&mut release) {
            let verdict = verify(&release, &()).unwrap();
            let found = verdict.violations.iter().any(|v| v.rule == saboteur.rule);
            assert!(!verdict.holds && found, "{}: {:?}", saboteur.name, verdict.violations);
            caught += 1;
        }
    }
    assert!(caught >= 6, "{caught}");
}

#[test]
fn a_suppressed_instance_that_comes_back_is_caught() {
    // The printed algorithm's release of Fig. 3.
    let line = serde_json::json!({"size": 6, "record_chunks": [{"subrecords": [
        {"items": ["a", "c", "d", "f"], "count": 1}, {"items": ["a", "c", "f"], "count": 1},
        {"items": ["a", "d"], "count": 1}, {"items": ["a", "d", "e", "f"], "count": 1},
        {"items": ["c", "d", "e"], "count": 1}, {"items": ["c", "e", "f"], "count": 1}]}],
        "term_chunk": []});
    let verdict = verify(&testkit::cases::release(2, 2, &[line]), &()).unwrap();
    assert!(!verdict.holds);
    assert_eq!(verdict.violations[0].itemset, ["a", "e"]);
    assert_eq!((verdict.violations[0].support, verdict.violations[0].rule), (1, "km"));
}

#[test]
fn neither_row_order_nor_threads_change_the_release() {
    let rows = testkit::random::records(5, 300, 30, 4.0);
    let mut turned = rows.clone();
    turned.reverse();
    let (a, b) = (Dataset::from_records(&rows), Dataset::from_records(&turned));
    assert_eq!(released(&a, 3, 2, 40), released(&b, 3, 2, 40));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(pool.install(|| released(&a, 3, 2, 40)), released(&a, 3, 2, 40));
}

fn measured(release: &Release, data: &Dataset) -> Option<Associations> {
    let members = Method::of(&release.manifest).unwrap().members(release, data, &()).unwrap()?;
    associations(release, data, &members, &Question::default(), &()).unwrap()
}

#[test]
fn anr_and_are_by_hand() {
    // Fig. 3 as one cluster: ten pairs, all but {a, e} kept; two of them are the top 20 %.
    let data = Dataset::from_records(
        ["adef", "acf", "cef", "acdf", "cde", "ad"]
            .map(|r| r.chars().map(String::from).collect::<Vec<_>>()),
    );
    let made = measured(&released(&data, 2, 2, 6), &data).unwrap();
    assert_eq!((made.clusters, made.anr, made.anr_limit), (1, 0.9, 0.9));
    // {a, d} and {a, f} have three records each and lose the first one.
    assert!((made.are - 1.0 / 3.0).abs() < 1e-12, "{}", made.are);
    let parameters = Parameters::new(k(2), m(2)).with_max_cluster_size(6);
    let plain = disassociation::anonymize(&data, &parameters, &()).unwrap();
    let plain = measured(&plain, &data).unwrap();
    assert_eq!((plain.anr, plain.are), (0.6, 0.0), "e is alone");
}

#[test]
fn anr_and_are_need_the_very_original() {
    let data = sample();
    let release = released(&data, 5, 2, 60);
    let found = measured(&release, &data).unwrap();
    assert!(found.anr <= found.anr_limit && found.anr > 0.0 && found.are < 1.0);
    // The same labels and as many records, but others.
    let mut other = testkit::random::records(11, 400, 40, 4.0);
    other[0] = other[1].clone();
    let other = Dataset::from_records(other);
    assert_eq!(measured(&release, &other), None);
    // Written and read again it is the same release.
    let folder = tempfile::tempdir().unwrap();
    io::write_release(&release, &folder.path().join("r"), false).unwrap();
    let read = io::read_release(&folder.path().join("r")).unwrap();
    assert_eq!(measured(&read, &data), Some(found));
    let Body::Disassociated(_) = read.body else { panic!("a disassociated release") };
}
