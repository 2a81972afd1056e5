//! No release contradicts the original that it was made from, whatever the
//! method left out; and its bounds hold for that original.

use std::collections::BTreeSet;

use rand::RngExt;
use serde_json::{Value, json};
use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::measure::check_original;
use setveil::query::Index;
use setveil::reconstruct::TermOccurrences;
use setveil::release::Release;
use setveil::{Dataset, Method};
use testkit::random;

/// Every method, with the options that leave something out.
fn methods() -> Vec<(&'static str, Value)> {
    let clusters = |more: Value| {
        let mut all = json!({"k": 3, "m": 2, "max_cluster_size": 8, "refine": true});
        let object = all.as_object_mut().unwrap();
        object.extend(more.as_object().unwrap().clone());
        all
    };
    let leaves = |counts: bool, combinations: bool, size: Value| {
        json!({"k": 3, "m": 2, "max_cluster_size": size, "no_item_counts": counts,
               "only_combinations": combinations})
    };
    vec![
        ("disassociation", clusters(json!({}))),
        ("disassociation", clusters(json!({"refine": false}))),
        ("disassociation", clusters(json!({"sensitive": ["a"], "l": 2}))),
        ("disassociation", clusters(json!({"safe": true, "eta": 0.05}))),
        ("disassociation", clusters(json!({"safe": true, "eta": 0.05, "drop_below_k": true}))),
        ("dls", clusters(json!({}))),
        ("dls", clusters(json!({"refine": false}))),
        ("local-suppression", leaves(false, false, json!(8))),
        ("local-suppression", leaves(true, false, json!(8))),
        ("local-suppression", leaves(false, false, json!("all"))),
        ("local-suppression", leaves(false, true, json!("all"))),
        ("suppress-rare", json!({"k": 3})),
        ("partition", json!({"k": 3, "hide_leaves": false, "unknown_to_root": false})),
        ("apriori", json!({"k": 3, "m": 2, "hide_leaves": false, "unknown_to_root": false})),
        (
            "cahd",
            json!({"p": 2, "sensitive": ["a"], "grouping": "blind",
                        "sensitive_only": "drop"}),
        ),
        (
            "cahd",
            json!({"p": 2, "sensitive": ["a"], "grouping": "as-printed", "alpha": 3,
                        "sensitive_only": "drop"}),
        ),
        ("perm-mondrian", json!({"p": 2, "sensitive": ["a"], "sensitive_only": "drop"})),
    ]
}

/// Few records over few items; `a` is in some of them, and alone in a few.
fn data(seed: u64) -> Dataset {
    let mut rng = random::rng(seed);
    let items = rng.random_range(3..9);
    let (len, mean) = (rng.random_range(6..40), rng.random_range(1.0..3.5));
    let mut records = random::records(seed, len, items, mean);
    for record in &mut records {
        record.retain(|item| item != "a");
        if rng.random_bool(0.2) || record.is_empty() {
            record.insert(0, "a".to_owned());
        }
    }
    Dataset::from_records(records)
}

fn release(name: &str, parameters: &Value, data: &Dataset) -> Option<Release> {
    let method = Method::named(name, parameters.as_object().unwrap().clone()).unwrap();
    let tree = balanced(data.vocabulary(), 3, LeafOrder::Alphabetical).unwrap();
    // Some data cannot be published by some methods, which say so.
    method.with_hierarchy(tree).run(data, &()).ok().map(|outcome| outcome.release)
}

#[test]
fn every_release_fits_its_own_original() {
    let mut made = vec![0; methods().len()];
    for seed in 0..150 {
        let data = data(seed);
        for (at, (name, parameters)) in methods().iter().enumerate() {
            let Some(release) = release(name, parameters, &data) else { continue };
            made[at] += 1;
            let fits = check_original(&release, &data, &());
            assert!(fits.is_ok(), "{seed} {name} {parameters}: {}", fits.unwrap_err());
        }
    }
    assert!(made.iter().all(|&made| made >= 20), "{made:?}");
}

#[test]
fn bounds_hold_for_the_original_whatever_was_left_out() {
    for seed in 0..60 {
        let data = data(seed);
        for (name, parameters) in methods() {
            let Some(release) = release(name, &parameters, &data) else { continue };
            let index = Index::new(release, TermOccurrences::default());
            let labels: Vec<String> = data.vocabulary().labels().map(str::to_owned).collect();
            for (i, first) in labels.iter().enumerate() {
                for second in &labels[i..] {
                    let asked: BTreeSet<&str> = [first.as_str(), second].into();
                    let asked: Vec<&str> = asked.into_iter().collect();
                    let ids: Vec<u32> =
                        asked.iter().map(|l| data.vocabulary().id(l).unwrap()).collect();
                    let has = |r: &&[u32]| ids.iter().all(|id| r.contains(id));
                    let support = data.records().filter(has).count() as u64;
                    let answer = index.ask(&asked).unwrap();
                    let below = answer.upper.is_none_or(|upper| support <= upper);
                    assert!(
                        answer.lower <= support && below,
                        "{seed} {name} {parameters}: {asked:?} is in {support}: {answer:?}"
                    );
                }
            }
        }
    }
}

/// Another original is told by its records, its items or their numbers.
#[test]
fn most_other_originals_are_refused() {
    let (mut refused, mut all) = (0, 0);
    for seed in 0..40 {
        let (data, other) = (data(seed), data(seed + 1000));
        for (name, parameters) in methods() {
            let Some(release) = release(name, &parameters, &data) else { continue };
            all += 1;
            refused += u32::from(check_original(&release, &other, &()).is_err());
        }
    }
    assert!(all > 300 && refused * 20 >= all * 17, "{refused} of {all}");
}
