//! `items`, `itemsets`, `export`, answers in files and the layouts of
//! `reconstruct`, from outside.

use crate::{failure, folder, json, setveil, stdout};

/// A directory with data and a release of it, by their paths. Some items have
/// commas and blanks.
fn prepared() -> (tempfile::TempDir, String, String) {
    let mut text = String::new();
    for i in 0..80 {
        text += &format!("[\"a\",\"b, {}\",\"c{}\",\"d {}\"]\n", i % 3, i % 7, i % 2);
    }
    let dir = folder(&[("data.jsonl", text.as_bytes())]);
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (data, release) = (path("data.jsonl"), path("release"));
    setveil(&["anonymize", "disassociation", &data, "-k", "3", "-o", &release]).assert().success();
    (dir, data, release)
}

fn read(dir: &tempfile::TempDir, name: &str) -> String {
    std::fs::read_to_string(dir.path().join(name)).expect("it was written")
}

#[test]
fn items_are_listed_with_bounds() {
    let (dir, _, release) = prepared();
    let found = json(&["items", &release, "--json"]);
    let items = found["items"].as_array().unwrap();
    assert_eq!(items.len(), 13);
    assert_eq!(items[0]["itemset"][0], "a");
    assert_eq!((&items[0]["lower"], &items[0]["upper"]), (&80.into(), &80.into()));
    let output = dir.path().join("items.csv").display().to_string();
    setveil(&["items", &release, "--output", &output]).assert().success();
    let text = read(&dir, "items.csv");
    assert_eq!(text.lines().next(), Some("itemset,lower,expected,upper,unknown"));
    assert_eq!(text.lines().count(), 14);
    assert!(failure(&["items", &release, "--output", &output]).contains("--force"));
    setveil(&["items", &release, "--output", &output, "--force"]).assert().success();
}

#[test]
fn itemsets_and_rules_have_bounds() {
    let (dir, _, release) = prepared();
    let args = ["itemsets", &release, "-n", "20", "--at-least", "2", "--rules", "0.2", "--json"];
    let found = json(&args);
    let itemsets = found["itemsets"].as_array().unwrap();
    assert!(!itemsets.is_empty() && itemsets.len() <= 20);
    for set in itemsets {
        assert!(set["itemset"].as_array().unwrap().len() >= 2);
        let number = |key: &str| set[key].as_f64().unwrap();
        assert!(number("lower") <= number("expected") && number("expected") <= number("upper"));
    }
    let rules = found["rules"].as_array().unwrap();
    assert!(!rules.is_empty());
    for rule in rules {
        let number = |key: &str| rule[key].as_f64().unwrap();
        assert!(number("lower") <= number("expected") && number("expected") <= number("upper"));
        assert!(number("expected") >= 0.2);
    }
    let rules = dir.path().join("rules.jsonl").display().to_string();
    let args = ["itemsets", &release, "--rules", "0.2", "--rules-output", &rules];
    assert!(!stdout(&args).contains("=>"));
    assert!(read(&dir, "rules.jsonl").lines().all(|line| line.contains("\"antecedent\":[")));
    assert!(failure(&["itemsets", &release, "--rules", "2"]).contains("from 0 to 1"));
}

#[test]
fn many_itemsets_come_from_a_file_and_go_to_one() {
    let (dir, _, release) = prepared();
    std::fs::write(dir.path().join("asked.txt"), "a,\"b, 1\"\nnowhere,a\n").unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (asked, answers) = (path("asked.txt"), path("answers.csv"));
    let output = setveil(&["query", &release, "--file", &asked, "--output", &answers])
        .assert()
        .success()
        .get_output()
        .clone();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("1 item is not in the release: \"nowhere\""), "{said}");
    let text = read(&dir, "answers.csv");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].starts_with("\"a,\"\"b, 1\"\"\",27,27,27,"), "{text}");
    assert_eq!(lines[2], "\"a,nowhere\",0,0,0,nowhere");
    let parquet = path("answers.parquet");
    setveil(&["query", &release, "--file", &asked, "--output", &parquet]).assert().success();
    assert!(std::fs::read(&parquet).unwrap().starts_with(b"PAR1"));
    let named = failure(&["query", &release, "a", "--output", &path("answers.xls")]);
    assert!(named.contains(".parquet"), "{named}");
}

#[test]
fn an_exported_release_has_everything_in_it() {
    let (dir, _, release) = prepared();
    let tables = dir.path().join("tables").display().to_string();
    let found = json(&["export", &release, "-o", &tables, "--json"]);
    let rows = read(&dir, "tables/rows.csv");
    assert_eq!(rows.lines().next(), Some("row,cluster,path,size,kind,chunk,count"));
    assert_eq!(rows.lines().count() as u64 - 1, found["rows"].as_u64().unwrap());
    let items = read(&dir, "tables/items.csv");
    // Every occurrence of `a` stands in a chunk: the counts add up.
    let counts: std::collections::HashMap<&str, u64> = rows
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|cells| (cells[0], cells[6].parse().unwrap_or(0)))
        .collect();
    let of_a = items.lines().filter_map(|line| line.strip_suffix(",a"));
    assert_eq!(of_a.map(|row| counts[row]).sum::<u64>(), 80);
    assert!(items.contains(",\"b, 2\"\n"));
    assert!(failure(&["export", &release, "-o", &tables]).contains("--force"));
    let args = ["export", &release, "-o", &tables, "--force", "--format", "parquet"];
    setveil(&args).assert().success();
    assert_eq!(std::fs::read_dir(&tables).unwrap().count(), 1);
}

#[test]
fn reconstructions_in_every_layout_are_the_same_data() {
    let (dir, _, release) = prepared();
    let mut profiles = Vec::new();
    for (layout, extension) in
        [("jsonl", "jsonl"), ("csv", "csv"), ("long-csv", "csv"), ("parquet", "parquet")]
    {
        let worlds = dir.path().join(layout).display().to_string();
        let args = ["reconstruct", &release, "-o", &worlds, "--format", layout];
        setveil(&args).assert().success();
        let file = format!("{worlds}/reconstruction-1.{extension}");
        let mut args = vec!["profile", &file, "--json"];
        if layout == "long-csv" {
            args.extend(["--id", "record", "--item", "item", "--format", "long-csv"]);
        }
        if layout == "csv" {
            args.extend(["--format", "basket-csv"]);
        }
        let found = json(&args);
        profiles.push((layout, found["records"].clone(), found["occurrences"].clone()));
    }
    assert!(
        profiles.iter().all(|p| (&p.1, &p.2) == (&profiles[0].1, &profiles[0].2)),
        "{profiles:?}"
    );
}
