//! Disassociation in parts: the plan, the joins across parts, and what they
//! must not depend on.

use proptest::prelude::*;
use setveil::data::{K, L, M};
use setveil::methods::disassociation::parts::{
    Counted, InMemory, Numbered, PartSize, Plan, Planner, Ranks, Shelf, Shelves, Sizes,
    anonymize_numbered, check,
};
use setveil::methods::disassociation::safe::Safe;
use setveil::methods::disassociation::{Clustering, Parameters, anonymize, publish};
use setveil::release::{Cluster, Disassociated};
use setveil::verify::verify;
use setveil::{Dataset, Error, Release, io, measure, workflow};

pub(crate) fn parameters(k: u32, m: u32) -> Parameters {
    Parameters::new(K::new(k).unwrap(), M::new(m).unwrap())
}

/// The records as bytes.
pub(crate) fn counted(data: &Dataset) -> Counted<Vec<Vec<u8>>> {
    let counts = data.supports().into_iter().map(u64::from).collect();
    let (mut records, mut bytes) = (Vec::new(), Vec::new());
    for record in data.records() {
        Counted::<()>::record(record, &mut bytes);
        records.push(bytes.clone());
    }
    Counted { records, counts }
}

pub(crate) fn numbered(data: &Dataset) -> Numbered<Vec<Vec<u8>>> {
    Numbered { counted: counted(data), numbers: None }
}

/// The release in parts of at most about `size` records.
pub(crate) fn in_parts(data: &Dataset, parameters: &Parameters, size: u64) -> Release {
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let mut take = |key: &[u8]| {
        keys.push(key.to_vec());
        Ok(())
    };
    let (size, numbered) = (PartSize::weight(size).into(), numbered(data));
    anonymize_numbered(numbered, parameters, size, &mut InMemory, &mut take, &()).unwrap();
    // The keys alone decide the order.
    keys.sort();
    let clusters = keys.iter().map(|key| Cluster::from_key(key).unwrap()).collect();
    publish(parameters, Disassociated { vocabulary: data.vocabulary().clone(), clusters })
}

pub(crate) fn plan(records: &[Vec<u32>], max: u64, equal_divide: bool) -> Plan {
    let mut planner = Planner::new(PartSize::weight(max), equal_divide);
    while planner.counts() {
        let mut counter = planner.counter();
        records.iter().for_each(|ranks| planner.count(ranks, 1, &mut counter));
        planner.take(counter);
    }
    planner.finish()
}

#[test]
fn one_part_gives_the_release_of_one_machine() {
    let data = Dataset::from_records(testkit::random::records(7, 500, 40, 5.0));
    for parameters in [parameters(3, 2), parameters(5, 3), parameters(3, 2).with_refine(false)] {
        let one = anonymize(&data, &parameters, &()).unwrap();
        assert_eq!(in_parts(&data, &parameters, 10_000), one);
    }
}

#[test]
fn every_part_is_large_enough_and_none_too_large() {
    for seed in 0..20 {
        let data = Dataset::from_records(testkit::random::records(seed, 3000, 60, 4.0));
        let counts: Vec<u64> = data.supports().into_iter().map(u64::from).collect();
        let (ranks, mut records) = (Ranks::new(&counts), Vec::new());
        for record in data.records() {
            let mut own = Vec::new();
            ranks.of(record, &mut own);
            assert_eq!(ranks.items(&own), record);
            records.push(own);
        }
        for max in [40, 200, 1000] {
            let plan = plan(&records, max, true);
            let (last, others) = plan.sizes().split_last().unwrap();
            assert!(others.iter().chain([last]).all(|&size| size >= max / 4), "{:?}", plan.sizes());
            assert!(others.iter().all(|&size| size <= max) && *last <= max + max / 4);
            let mut found = vec![0; plan.sizes().len()];
            let parts = records.iter().filter_map(|own| plan.part(own));
            parts.for_each(|part| found[part as usize] += 1);
            plan.equal().iter().for_each(|equal| found[equal.part as usize] += equal.count);
            assert_eq!(found, plan.sizes());
        }
    }
}

#[test]
fn equal_records_are_divided_and_clusters_are_not() {
    let mut records = vec![vec![0]; 1000];
    records.extend(vec![vec![0, 1]; 5]);
    let divided = plan(&records, 100, true);
    assert_eq!(divided.part(&[0]), None);
    assert_eq!(divided.equal().iter().map(|equal| equal.count).sum::<u64>(), 1000);
    assert!(divided.sizes().iter().all(|&size| (25..=125).contains(&size)));
    let whole = plan(&records, 100, false);
    assert_eq!(whole.part(&[0]), Some(0));
    assert!(plan(&[], 100, true).sizes().iter().all(|&size| size == 0));
}

#[test]
fn one_item_in_nearly_all_records_does_not_make_one_part_of_them() {
    let rest = testkit::random::records(3, 4000, 50, 3.0);
    let skewed = rest.into_iter().enumerate().map(|(i, mut record)| {
        if i % 10 > 0 {
            record.push("everybody".into());
        }
        record
    });
    let data = Dataset::from_records(skewed);
    let release = in_parts(&data, &parameters(5, 2), 500);
    let verdict = verify(&release, &()).unwrap();
    assert!(verdict.holds, "{:?}", verdict.violations);
}

#[test]
fn what_needs_all_data_at_once_is_refused() {
    let usual = parameters(3, 2);
    assert!(check(&usual).is_ok());
    for wrong in [
        usual.clone().with_safe(Safe::default()),
        usual.clone().with_sensitive(["a"], L::new(2).unwrap()),
        usual.clone().with_clustering(Clustering::Whole),
        usual.with_max_cluster_size(4),
    ] {
        assert!(matches!(check(&wrong), Err(Error::Parameter { .. })), "{wrong:?}");
    }
    assert!(PartSize::records(799, 50).is_err() && PartSize::records(800, 50).is_ok());
}

#[test]
fn parts_of_long_equal_records_are_made_smaller_and_too_many_parts_are_refused() {
    let long: Vec<String> = (0..20).map(|item| format!("long {item}")).collect();
    let mut records = testkit::random::records(3, 4000, 50, 1.0);
    records.extend(vec![long; 1500]);
    let data = Dataset::from_records(records);
    let parts = |items, parts| {
        let records = Some(PartSize::records(4000, 50).unwrap());
        let sizes = Sizes { records, items, join: u64::MAX, parts, counts: u64::MAX };
        let take = &mut |_: &[u8]| Ok(());
        anonymize_numbered(numbered(&data), &parameters(3, 2), sizes, &mut InMemory, take, &())
    };
    let usual = parts(u64::MAX, u64::MAX).unwrap();
    // 1,500 equal records of 20 items do not fit, and come into parts of a quarter of the size at most.
    assert!(parts(20_000, u64::MAX).unwrap() > usual);
    let error = parts(20_000, 1).unwrap_err().to_string();
    assert!(error.contains("parts") && error.contains("memory"), "{error}");
    assert!(parts(100, u64::MAX).is_err());
}

/// A few items that everybody has one of, and a long tail: a count for every pair of both would be
/// as many as there are records.
#[test]
fn a_large_vocabulary_is_planned_with_few_counts() {
    let record = |r: usize| vec![format!("h{}", r % 12), format!("t{:05}", r * 7919 % 20_000)];
    let data = Dataset::from_records((0..40_000).map(record));
    let made = |counts| {
        let records = Some(PartSize::records(4000, 50).unwrap());
        let sizes = Sizes { records, items: u64::MAX, join: u64::MAX, parts: u64::MAX, counts };
        let take = &mut |_: &[u8]| Ok(());
        anonymize_numbered(numbered(&data), &parameters(3, 2), sizes, &mut InMemory, take, &())
    };
    assert!(made(2000).unwrap() >= 10);
    let error = made(20).unwrap_err().to_string();
    assert!(error.contains("counts") && error.contains("memory"), "{error}");
}

#[test]
fn items_that_share_a_rank_are_rare_together_and_the_plan_stays_one() {
    for seed in 0..20 {
        let data = Dataset::from_records(testkit::random::records(seed, 3000, 900, 4.0));
        let counts: Vec<u64> = data.supports().into_iter().map(u64::from).collect();
        for max in [100, 400, 1000] {
            let ranks = Ranks::of_records(&counts, PartSize::weight(max));
            let (exact, mut of, mut own) = (Ranks::new(&counts), Vec::new(), Vec::new());
            let mut together = std::collections::BTreeMap::<u32, Vec<u64>>::new();
            let mut last = None;
            let mut by_rank: Vec<u32> = (0..counts.len() as u32).collect();
            by_rank.sort_by_key(|&item| {
                exact.of(&[item], &mut own);
                own.clone()
            });
            for item in by_rank.into_iter().filter(|&item| counts[item as usize] > 0) {
                ranks.of(&[item], &mut of);
                assert!(last <= Some(of[0]), "neighbours only");
                last = Some(of[0]);
                together.entry(of[0]).or_default().push(counts[item as usize]);
            }
            let few = |group: &Vec<u64>| group.len() == 1 || group.iter().sum::<u64>() <= max / 8;
            assert!(together.values().all(few) && together.len() < data.item_count());
            let ranked = |record: &[u32]| {
                let mut own = Vec::new();
                ranks.of(record, &mut own);
                own
            };
            let records: Vec<Vec<u32>> = data.records().map(ranked).collect();
            let plan = plan(&records, max, true);
            assert_eq!(plan.sizes().iter().sum::<u64>(), 3000);
            assert!(plan.sizes().iter().all(|&size| size >= max / 4 && size <= max + max / 4));
        }
    }
}

/// Counts the bytes that are read.
#[derive(Default)]
pub(crate) struct Reading {
    pub(crate) read: std::rc::Rc<std::cell::Cell<usize>>,
}

pub(crate) struct ReadingShelf(
    pub(crate) Vec<Vec<u8>>,
    pub(crate) std::rc::Rc<std::cell::Cell<usize>>,
);

impl Shelves for Reading {
    type Shelf = ReadingShelf;

    fn shelf(&mut self) -> setveil::Result<ReadingShelf> {
        Ok(ReadingShelf(Vec::new(), self.read.clone()))
    }
}

impl Shelf for ReadingShelf {
    fn put(&mut self, bytes: &[u8]) -> setveil::Result<()> {
        self.0.put(bytes)
    }

    fn each(&mut self, visit: &mut dyn FnMut(&[u8]) -> setveil::Result<()>) -> setveil::Result<()> {
        self.1.set(self.1.get() + self.0.iter().map(Vec::len).sum::<usize>());
        self.0.each(visit)
    }
}

/// A cluster that is larger than a part is followed term by term, through up to 256 levels in each of
/// six rounds.
#[test]
fn one_heavy_cluster_does_not_make_everything_be_read_for_each_of_its_terms() {
    let mut records = testkit::random::records(5, 20_000, 3000, 4.0);
    // No term of a long record is in k records of a cluster, and all are in several clusters.
    let has = |r: usize, i: usize| (i * 7919 + r * 104_729) % 1009 < 300;
    let long = |r: usize| (0..500).filter(move |&i| has(r, i)).map(|i| format!("long {i}"));
    records.extend((0..120).map(|r| long(r).collect()));
    let data = Dataset::from_records(records);
    let mut shelves = Reading::default();
    let Counted { records, counts } = counted(&data);
    let all: usize = records.iter().map(Vec::len).sum();
    let records = ReadingShelf(records, shelves.read.clone());
    let numbered = Numbered { counted: Counted { records, counts }, numbers: None };
    let (mut keys, parameters) = (Vec::new(), parameters(30, 1));
    let mut take = |key: &[u8]| {
        keys.push(key.to_vec());
        Ok(())
    };
    let records = Some(PartSize::records(4000, 50).unwrap());
    let rest = (u64::MAX, 4000, u64::MAX, u64::MAX);
    let sizes = Sizes { records, items: rest.0, join: rest.1, parts: rest.2, counts: rest.3 };
    let parts =
        anonymize_numbered(numbered, &parameters, sizes, &mut shelves, &mut take, &()).unwrap();
    assert!(parts > 2 && keys.iter().any(|key| key.len() > 3000), "{parts}");
    // The records a few times, and the clusters a few times in every round.
    let times = shelves.read.get() / all;
    assert!(times < 40, "everything was read {times} times");
}

/// What parts cost, and that joins across parts give it back: without them
/// tlost is .36 in 9 parts.
#[test]
fn parts_of_real_data_lose_hardly_more_terms_than_one_machine() {
    let Some(path) = testkit::real::data_file("bms-webview-2.dat.gz") else { return };
    let data = io::read_dataset(&path, &Default::default(), &()).unwrap().dataset;
    let parameters = parameters(5, 2);
    let options = measure::Options::default();
    let tlost = |release: &Release| {
        workflow::evaluate(release, &data, &options, &()).unwrap().tlost.unwrap()
    };
    let one = tlost(&anonymize(&data, &parameters, &()).unwrap());
    // With 10000, .2835 in rounds of joins of which no two had the same size.
    for size in [12_919, 10_000, 9000, 3876, 2400] {
        let release = in_parts(&data, &parameters, size);
        assert!(verify(&release, &()).unwrap().holds);
        let parts = tlost(&release);
        assert!(parts - one <= 0.02, "{parts} in parts of {size}, {one} on one machine");
    }
}

proptest! {
    #![proptest_config(testkit::settings::cases(48))]

    #[test]
    fn every_release_in_parts_verifies_and_row_order_changes_nothing(
        seed in 0u64..1 << 32, k in 2u32..6, m in 1u32..4, size in 16u64..200, items in 5usize..60,
    ) {
        let mut records = testkit::random::records(seed, 400, items, 4.0);
        let data = Dataset::from_records(&records);
        let parameters = parameters(k, m).with_max_cluster_size(4 * k as usize);
        let size = size.max(4 * u64::from(k));
        let release = in_parts(&data, &parameters, size);
        let verdict = verify(&release, &()).unwrap();
        prop_assert!(verdict.holds, "{:?}", verdict.violations);
        prop_assert_eq!(release.manifest.records, data.len() as u64);
        let len = records.len();
        records.rotate_left(seed as usize % len);
        records.reverse();
        prop_assert_eq!(in_parts(&Dataset::from_records(&records), &parameters, size), release);
    }
}
