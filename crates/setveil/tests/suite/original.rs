//! Every release fits the data that it was made from, and nothing that differs
//! in a count: also where a method leaves out records or items.

use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::measure::check_original;
use setveil::query::Index;
use setveil::reconstruct::TermOccurrences;
use setveil::{Dataset, Method, Release};
use testkit::random;

/// Every method, with what it may leave out.
const METHODS: [&str; 16] = [
    r#"{"method":"disassociation","parameters":{"k":3,"m":2}}"#,
    r#"{"method":"disassociation","parameters":{"k":3,"m":2,"l":2,"sensitive":["x"]}}"#,
    r#"{"method":"disassociation","parameters":{"k":4,"m":2,"safe":true}}"#,
    r#"{"method":"disassociation","parameters":{"k":4,"m":2,"safe":true,"drop_below_k":true}}"#,
    r#"{"method":"dls","parameters":{"k":3,"m":2}}"#,
    r#"{"method":"local-suppression","parameters":{"k":3,"m":2}}"#,
    r#"{"method":"local-suppression","parameters":{"k":3,"m":2,"no_item_counts":true}}"#,
    r#"{"method":"local-suppression","parameters":{"k":3,"m":2,"only_combinations":true}}"#,
    r#"{"method":"partition","parameters":{"k":3}}"#,
    r#"{"method":"partition","parameters":{"k":3,"hide_leaves":true}}"#,
    r#"{"method":"apriori","parameters":{"k":3,"m":2}}"#,
    r#"{"method":"suppress-rare","parameters":{"k":5}}"#,
    r#"{"method":"cahd","parameters":{"p":3,"sensitive":["x","y","z"],"sensitive_only":"drop"}}"#,
    r#"{"method":"cahd","parameters":{"alpha":3,"grouping":"as-printed","p":3,"sensitive":["x","y","z"],"sensitive_only":"drop"}}"#,
    r#"{"method":"perm-mondrian","parameters":{"p":3,"sensitive":["x","y","z"],"sensitive_only":"drop"}}"#,
    r#"{"method":"diffpart","parameters":{"epsilon":2.0}}"#,
];

/// Records with rare items, alone and with others, and with sensitive ones:
/// `x` alone and with others, `z` with `x` and `y` only.
fn records(seed: u64) -> Vec<Vec<String>> {
    let mut records = random::records(seed, 80, 8, 2.5);
    for (at, sensitive) in [(3, "x"), (20, "x"), (41, "x"), (60, "y"), (70, "y")] {
        records[at].push(sensitive.to_owned());
    }
    let alone = [vec!["x"], vec!["x", "y"], vec!["x", "y", "z"], vec!["rare"], vec!["rare", "a"]];
    records.extend(alone.map(|record| record.into_iter().map(str::to_owned).collect()));
    records
}

fn release(written: &str, data: &Dataset) -> Release {
    let method: Method = serde_json::from_str(written).unwrap_or_else(|e| panic!("{written}: {e}"));
    let tree = balanced(data.vocabulary(), 3, LeafOrder::Natural).unwrap();
    let made = method.with_hierarchy(tree).run(data, &());
    made.unwrap_or_else(|e| panic!("{written}: {e}")).release
}

#[test]
fn a_release_is_never_refused_with_its_own_original() {
    for (written, seed) in METHODS.iter().flat_map(|written| (0..6).map(move |s| (written, s))) {
        let data = Dataset::from_records(records(seed));
        let release = release(written, &data);
        check_original(&release, &data, &()).unwrap_or_else(|e| panic!("{written}, {seed}: {e}"));
    }
}

#[test]
fn the_original_support_is_between_the_bounds_whatever_was_left_out() {
    for written in METHODS {
        let data = Dataset::from_records(records(1));
        let index = Index::new(release(written, &data), TermOccurrences::default());
        let labels: Vec<&str> = data.vocabulary().labels().collect();
        for (i, first) in labels.iter().enumerate() {
            for second in &labels[i..] {
                let has = |r: &&[u32], l: &str| r.contains(&data.vocabulary().id(l).unwrap());
                let both =
                    data.records().filter(|r| has(r, first) && has(r, second)).count() as u64;
                let answer = index.ask(&[first, second]).unwrap();
                assert!(answer.lower <= both, "{written}: {both} records, {answer:?}");
                let upper = answer.upper.unwrap_or(u64::MAX);
                assert!(both <= upper, "{written}: {both} records, {answer:?}");
            }
        }
    }
}

#[test]
fn what_differs_in_a_sensitive_count_is_another_original() {
    for written in METHODS.iter().filter(|written| written.contains("sensitive_only")) {
        let data = Dataset::from_records(records(2));
        let release = release(written, &data);
        // A holder with other items loses `x`; somebody without them has it instead.
        let mut moved = records(2);
        moved[3].retain(|item| item != "x");
        moved.push(vec!["x".into()]);
        let mut fewer = records(2);
        fewer.remove(0);
        for (name, changed) in [("moved", moved), ("fewer", fewer)] {
            let refused = check_original(&release, &Dataset::from_records(changed), &());
            let error = refused.expect_err(written).to_string();
            assert!(error.contains("not made from this original"), "{name}, {written}: {error}");
        }
        // How many were left out is not known.
        let mut further = records(2);
        further.push(vec!["x".into()]);
        check_original(&release, &Dataset::from_records(further), &()).unwrap();
    }
}
