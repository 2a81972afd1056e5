//! The KL-divergence against a count by hand and against a naive one.

use std::collections::BTreeMap;

use setveil::measure::Options;
use setveil::measure::kl::{Queries, kl_divergence};
use setveil::release::Body;
use setveil::{Dataset, Method, Release, workflow};
use testkit::grouped::{Items, plain_groups};
use testkit::random;

use super::cahd::Example;
use super::grouped::{METHODS, anonymize};

fn method(release: &Release) -> Method {
    Method::of(&release.manifest).unwrap()
}

fn kl(release: &Release, data: &Dataset, queries: Queries) -> Option<f64> {
    let Body::Grouped(body) = &release.body else { unreachable!() };
    kl_divergence(method(release).sensitive(), body, data, &queries, &()).unwrap()
}

/// The divergence of one query, with cells as sets of labels.
fn naive(release: &Release, records: &[Items], s: &str, by: &Items) -> f64 {
    let mut actual: BTreeMap<Items, f64> = BTreeMap::new();
    let mut estimated: BTreeMap<Items, f64> = BTreeMap::new();
    let holders: Vec<&Items> = records.iter().filter(|r| r.contains(s)).collect();
    for record in &holders {
        let cell = record.intersection(by).cloned().collect();
        *actual.entry(cell).or_default() += 1.0 / holders.len() as f64;
    }
    for group in plain_groups(release) {
        let a = group.sensitive.get(s).copied().unwrap_or(0) as f64;
        for record in &group.records {
            let cell = record.intersection(by).cloned().collect();
            *estimated.entry(cell).or_default() +=
                a / group.records.len() as f64 / holders.len() as f64;
        }
    }
    actual.iter().map(|(cell, act)| act * (act / estimated[cell]).ln()).sum()
}

/// Fig. 2: pregnancy test over cream and meat. The only holder has cream and
/// no meat; half of the group's weight is elsewhere, so the divergence is ln 2.
#[test]
fn fig_2_by_hand() {
    let example = Example::fig_1();
    let release = example.published(2);
    let records: Vec<Items> = example.records.iter().map(|r| r.iter().cloned().collect()).collect();
    let by: Items = ["cream", "meat"].map(str::to_owned).into();
    let found = naive(&release, &records, "pregnancy test", &by);
    assert!((found - 2f64.ln()).abs() < 1e-12, "{found}");
}

/// With as many items in a query as there are, every query with the same
/// sensitive item is the same, and the mean is over the sensitive items drawn.
#[test]
fn the_measure_agrees_with_the_naive_count() {
    for seed in 0..20 {
        let rows = random::records(seed, 60, 8, 3.0);
        let data = Dataset::from_records(&rows);
        let records: Vec<Items> = rows.iter().map(|r| r.iter().cloned().collect()).collect();
        let present: Vec<&str> =
            ["g"].into_iter().filter(|s| data.vocabulary().id(s).is_some()).collect();
        let Some(&secret) = present.first() else { continue };
        let by: Items =
            data.vocabulary().labels().filter(|l| *l != secret).map(str::to_owned).collect();
        for method in METHODS {
            let Ok(release) = anonymize(method, &data, 3, &present) else { continue };
            let expected = naive(&release, &records, secret, &by);
            let queries = Queries { count: 3, r: 12, seed };
            let found = kl(&release, &data, queries).unwrap();
            assert!((found - expected).abs() < 1e-9, "{method}: {found} and {expected}");
            assert!(found >= -1e-12 && found.is_finite());
        }
    }
}

#[test]
fn queries_repeat_with_the_seed_and_apply_to_groups_only() {
    let data = Dataset::from_records(random::records(9, 300, 20, 4.0));
    let release = anonymize("cahd", &data, 4, &["h", "o", "r"]).unwrap();
    let ask = |count, r, seed| kl(&release, &data, Queries { count, r, seed });
    assert_eq!(ask(50, 4, 1), ask(50, 4, 1));
    assert_ne!(ask(50, 4, 1), ask(50, 4, 2));
    assert_eq!(ask(0, 4, 1), None);
    let Body::Grouped(body) = &release.body else { unreachable!() };
    for r in [0, 21] {
        let queries = Queries { count: 1, r, seed: 1 };
        assert!(kl_divergence(method(&release).sensitive(), body, &data, &queries, &()).is_err());
    }
    let evaluation = workflow::evaluate(&release, &data, &Options::default(), &()).unwrap();
    assert_eq!(evaluation.kl, ask(100, 4, 1));
}

#[test]
fn one_group_of_equal_records_loses_nothing() {
    let data = Dataset::from_records([vec!["a", "x"], vec!["a"], vec!["a"], vec!["a"]]);
    let release = anonymize("cahd", &data, 4, &["x"]).unwrap();
    assert_eq!(kl(&release, &data, Queries::default()), Some(0.0));
}
