//! The workflows: what one of them says, no other leaves out.

use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::measure::{self, MEANINGS};
use setveil::workflow::{self, QueryOptions, ReconstructOptions, compare};
use setveil::{Dataset, Error, Method, Progress, Release, Stage, attack};

use super::method::{WRITTEN, data};

/// One release of every method.
fn releases(data: &Dataset) -> Vec<Release> {
    let tree = balanced(data.vocabulary(), 3, LeafOrder::Natural).unwrap();
    let made = WRITTEN.iter().map(|written| {
        let method: Method = serde_json::from_str(written).unwrap();
        workflow::anonymize(data, &method.with_hierarchy(tree.clone()), &()).unwrap().0
    });
    made.collect()
}

#[test]
fn every_measure_that_evaluate_prints_is_in_the_report() {
    let data = data();
    let options = measure::Options::default().re_range(0..5).top(20);
    let mut seen = std::collections::BTreeSet::new();
    for release in releases(&data) {
        let method = &release.manifest.method;
        // The full hierarchy, for a release that hides the names of its leaves.
        let tree = balanced(data.vocabulary(), 3, LeafOrder::Natural).unwrap();
        let options = options.clone().hierarchy(Some(tree.into()));
        let evaluation = workflow::evaluate(&release, &data, &options, &()).unwrap();
        let verdict = workflow::verify(&release, &()).unwrap();
        let about = Default::default();
        let report =
            workflow::report(&release, &verdict, Some(&data), &about, &options, &()).unwrap();
        let values = serde_json::to_value(&evaluation).unwrap();
        for (name, ..) in MEANINGS {
            if let Some(value) = values[name].as_f64() {
                seen.insert(*name);
                let key = format!("({name})");
                let row = report.page.split("<tr>").find(|row| row.contains(&key));
                let row = row.unwrap_or_else(|| panic!("{method}: no row for {name}"));
                assert!(row.contains(&format!(">{value:.4}<")), "{method}: {name} = {value}");
            }
        }
    }
    let all: Vec<&str> = MEANINGS.iter().map(|m| m.0).collect();
    assert!(all.iter().all(|name| seen.contains(name)), "{seen:?} of {all:?}");
}

#[test]
fn the_report_says_in_words_what_each_method_did() {
    let data = data();
    for release in releases(&data) {
        let method = Method::of(&release.manifest).unwrap();
        let verdict = workflow::verify(&release, &()).unwrap();
        let (about, options) = (Default::default(), Default::default());
        let report = workflow::report(&release, &verdict, None, &about, &options, &()).unwrap();
        assert!(report.page.contains(method.in_words()), "{}", method.name());
    }
}

#[test]
fn options_and_results_are_json() {
    let data = data();
    for release in releases(&data) {
        let options: attack::Options =
            serde_json::from_str(r#"{"targets": 5, "worlds": 3}"#).unwrap();
        let attacked = workflow::attack(&release, Some(&data), &options, &()).unwrap();
        let json = serde_json::to_value(&attacked).unwrap();
        for key in ["adversary", "max_posterior", "format", "notes"] {
            assert!(json.get(key).is_some(), "{key}");
        }
        let options: QueryOptions = serde_json::from_str(r#"{"terms": "below-k"}"#).unwrap();
        let answers = workflow::query(&release, &[vec!["secret"]], &options, &()).unwrap();
        assert_eq!(serde_json::to_value(&answers).unwrap()[0]["itemset"][0], "secret");
        let options: ReconstructOptions = serde_json::from_str(r#"{"n": 2}"#).unwrap();
        assert_eq!(workflow::reconstruct(&release, &options, &()).unwrap().len(), 2);
    }
    assert!(serde_json::from_str::<attack::Options>(r#"{"target": 5}"#).is_err(), "misspelt");
    assert!(serde_json::from_str::<measure::Options>(r#"{"reconstructions": 0}"#).is_err());
}

#[test]
fn the_attacker_knows_the_algorithms_that_can_be_replayed() {
    let data = data();
    let options = attack::Options::default().targets(5).worlds(5);
    for release in releases(&data) {
        let report = workflow::attack(&release, None, &options, &()).unwrap().report;
        let method = release.manifest.method.as_str();
        let replayed = ["disassociation", "cahd", "perm-mondrian"].contains(&method);
        assert_eq!(report.algorithm.is_some(), replayed, "{method}");
        assert_eq!(report.breached_pairs.is_some(), method == "disassociation", "{method}");
    }
}

#[test]
fn a_comparison_goes_on_where_it_was_stopped() {
    #[derive(Default)]
    struct Memory(std::collections::BTreeMap<String, Vec<u8>>, Vec<String>);
    impl compare::Store for Memory {
        fn load(&mut self, name: &str) -> Option<Vec<u8>> {
            self.0.get(name).cloned()
        }
        fn save(&mut self, name: &str, finished: &[u8]) -> setveil::Result<()> {
            self.0.insert(name.to_owned(), finished.to_vec());
            Ok(())
        }
        fn begin(&mut self, name: &str) {
            self.1.push(name.to_owned());
        }
    }
    let data = data();
    let names: Vec<String> = Method::NAMES.iter().map(ToString::to_string).collect();
    let options = compare::Options::default().methods(names).random_sensitive(1);
    let mut store = Memory::default();
    let first = compare::compare(&data, &options, &mut store, &()).unwrap();
    assert!(first.rows.iter().all(|row| row.holds.is_some()), "{:?}", first.rows);
    let begun = std::mem::take(&mut store.1);
    assert_eq!(begun.len(), first.rows.len());
    store.0.remove(&begun[3]);
    let again = compare::compare(&data, &options, &mut store, &()).unwrap();
    assert_eq!(store.1, [begun[3].clone()]);
    assert_eq!(compare::csv(&again.rows).lines().count(), first.rows.len() + 1);
}

/// Says stop from the first question on.
struct Stop;

impl Progress for Stop {
    fn stage(&self, _stage: Stage, _total: Option<u64>) {}
    fn advance(&self, _steps: u64) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Break(())
    }
}

#[test]
fn a_comparison_that_is_stopped_is_no_refusal_of_a_method() {
    let stopped = compare::compare(&data(), &Default::default(), &mut (), &Stop);
    assert!(matches!(stopped, Err(Error::Cancelled)));
}
