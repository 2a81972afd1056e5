//! `hierarchy`, `anonymize partition|apriori|suppress-rare`, and what follows.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn run(dir: &Path, line: &str) -> Output {
    let mut command = Command::cargo_bin("setveil").unwrap();
    command.current_dir(dir).args(line.split(' ')).output().unwrap()
}

fn json(dir: &Path, line: &str) -> (i32, Value) {
    let output = run(dir, &format!("{line} --json"));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{line}: {text}"));
    (output.status.code().unwrap(), value)
}

fn baskets() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let rows = testkit::random::records(5, 300, 30, 3.0);
    let text: String = rows.iter().map(|r| r.join(" ") + "\n").collect();
    std::fs::write(dir.path().join("baskets.dat"), text).unwrap();
    dir
}

#[test]
fn a_hierarchy_made_by_hand_is_not_replaced_by_accident() {
    let dir = baskets();
    let file = dir.path().join("tree.csv");
    std::fs::write(&file, "by hand").unwrap();
    for kind in ["balanced", "alphabetical"] {
        let line = format!("hierarchy {kind} baskets.dat -o tree.csv");
        let refused = run(dir.path(), &line);
        let error = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2));
        assert!(error.contains("the file exists"), "{error}");
        assert_eq!(std::fs::read(&file).unwrap(), b"by hand");
    }
    assert_eq!(json(dir.path(), "hierarchy balanced baskets.dat -o tree.csv --force").0, 0);
    assert_ne!(std::fs::read(&file).unwrap(), b"by hand");
}

#[test]
fn from_data_to_a_measured_release() {
    let dir = baskets();
    let dir = dir.path();
    let made = json(dir, "hierarchy balanced baskets.dat --fanout 4 -o tree.csv").1;
    assert!(made["leaves"].as_u64().unwrap() <= 30);
    let (code, checked) = json(dir, "hierarchy check tree.csv baskets.dat");
    assert_eq!((code, &checked["missing"]), (0, &Value::from(0)));
    for method in ["partition -k 5", "apriori -k 5 -m 2"] {
        let line = format!("anonymize {method} baskets.dat --hierarchy tree.csv -o out --force");
        let (code, answer) = json(dir, &line);
        assert_eq!(code, 0, "{answer}");
        let (code, verdict) = json(dir, "verify out");
        assert_eq!((code, &verdict["holds"]), (0, &Value::from(true)), "{verdict}");
        let measured = json(dir, "evaluate out --original baskets.dat").1;
        let (a, b) = (answer["ncp"].as_f64().unwrap(), measured["ncp"].as_f64().unwrap());
        assert!((a - b).abs() < 0.02, "{a} {b}");
    }
    let answer = json(dir, "anonymize suppress-rare baskets.dat -k 5 -o rare").1;
    assert!(answer["records_dropped"].is_u64() && answer["items_dropped"].is_u64());
    assert_eq!(json(dir, "verify rare").0, 0);
}

#[test]
fn missing_items_are_named_and_nothing_is_published() {
    let dir = baskets();
    let dir = dir.path();
    std::fs::write(dir.join("short.csv"), "a;A;*\nb;A;*\n").unwrap();
    let output = run(dir, "anonymize partition baskets.dat --hierarchy short.csv -k 5 -o out");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && text.contains("no leaf of the hierarchy"), "{text}");
    assert!(text.contains("--unknown-to-root") && !dir.join("out").exists(), "{text}");
    assert_eq!(json(dir, "hierarchy check short.csv baskets.dat").0, 1);
    let line =
        "anonymize partition baskets.dat --hierarchy short.csv --unknown-to-root -k 5 -o out";
    assert_eq!(json(dir, line).0, 0);
    assert_eq!(json(dir, "verify out").0, 0);
    assert!(json(dir, "evaluate out --original baskets.dat").1["ncp"].is_f64());
    std::fs::write(dir.join("bad.csv"), "a;A;*\nb;A;B;*\n").unwrap();
    let output = run(dir, "hierarchy check bad.csv");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && text.contains("bad.csv:2"), "{text}");
}

#[test]
fn a_query_log_goes_all_the_way() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let mut log = String::from("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n");
    for user in 0..40 {
        for word in ["corgi", "dogs", "flat bread"].iter().take(1 + user % 3) {
            log += &format!("{user}\t{word} {}\t\t\t\n", user % 4);
        }
    }
    std::fs::write(dir.join("log.txt"), log).unwrap();
    let wordnet = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/wordnet");
    for (layout, tree) in [
        ("--format aol".to_owned(), "hierarchy alphabetical log.txt --format aol".to_owned()),
        (
            format!("--format aol --nouns {wordnet}"),
            format!("hierarchy wordnet --wordnet {wordnet}"),
        ),
    ] {
        assert_eq!(json(dir, &format!("{tree} -o tree.csv --force")).0, 0);
        let line = format!(
            "anonymize partition log.txt {layout} --hierarchy tree.csv --hide-leaves -k 3 -o out \
             --force"
        );
        assert_eq!(json(dir, &line).0, 0);
        assert_eq!(json(dir, "verify out").0, 0);
        let line = format!("evaluate out --original log.txt {layout} --hierarchy tree.csv");
        assert!(json(dir, &line).1["ncp"].is_f64());
    }
}
