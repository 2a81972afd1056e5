//! Disassociation in parts: the plan, the joins across parts, and what they
//! must not depend on.

use proptest::prelude::*;
use setveil::data::{K, L, M};
use setveil::methods::disassociation::parts::{
    Counted, InMemory, PartSize, Plan, Planner, Ranks, anonymize_in_parts, check,
};
use setveil::methods::disassociation::safe::Safe;
use setveil::methods::disassociation::{Clustering, Parameters, anonymize, publish};
use setveil::release::{Cluster, Disassociated};
use setveil::verify::verify;
use setveil::{Dataset, Error, Release, io, measure, workflow};

fn parameters(k: u32, m: u32) -> Parameters {
    Parameters::new(K::new(k).unwrap(), M::new(m).unwrap())
}

/// The release in parts of at most about `size` records.
fn in_parts(data: &Dataset, parameters: &Parameters, size: u64) -> Release {
    let counts = data.supports().into_iter().map(u64::from).collect();
    let (mut records, mut bytes) = (Vec::new(), Vec::new());
    for record in data.records() {
        Counted::<()>::record(record, &mut bytes);
        records.push(bytes.clone());
    }
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let mut take = |key: &[u8]| {
        keys.push(key.to_vec());
        Ok(())
    };
    let size = PartSize::weight(size);
    let counted = Counted { records, counts };
    anonymize_in_parts(counted, parameters, size, &mut InMemory, &mut take, &()).unwrap();
    // The keys alone decide the order.
    keys.sort();
    let clusters = keys.iter().map(|key| Cluster::from_key(key).unwrap()).collect();
    publish(parameters, Disassociated { vocabulary: data.vocabulary().clone(), clusters })
}

fn plan(records: &[Vec<u32>], max: u64, equal_divide: bool) -> Plan {
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
    for size in [9000, 2400] {
        let release = in_parts(&data, &parameters, size);
        assert!(verify(&release, &()).unwrap().holds);
        let parts = tlost(&release);
        assert!((parts - one).abs() <= 0.02, "{parts} in parts of {size}, {one} on one machine");
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
