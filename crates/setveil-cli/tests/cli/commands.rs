//! What the commands do: profile, anonymize with a receipt, generate, demo.

use std::fs;

use testkit::formats;

use crate::{failure, folder, json, setveil, stdout};

fn baskets() -> Vec<u8> {
    formats::fimi(&testkit::random::records(4, 60, 10, 3.0))
}

#[test]
fn a_profile_has_the_documented_keys() {
    let dir = folder(&[("x.dat", b"a b\na b c\na\nc d a b\n")]);
    let path = dir.path().join("x.dat");
    let answer = json(&["profile", path.to_str().unwrap(), "--json"]);
    for (key, value) in [("records", 4), ("items", 4), ("occurrences", 10), ("max_length", 4)] {
        assert_eq!(answer[key], value);
    }
    assert_eq!(answer["mean_length"], 2.5);
    let rows = answer["reidentification"].as_array().unwrap();
    let known: Vec<u64> = rows.iter().map(|r| r["known"].as_u64().unwrap()).collect();
    assert_eq!(known, [1, 2, 3, 4]);
    assert_eq!((&rows[3]["probability"], &rows[3]["unique"]), (&1.0.into(), &1.0.into()));
    let text = stdout(&["profile", path.to_str().unwrap()]);
    assert!(text.contains("records") && text.contains("items known"), "{text}");
}

#[test]
fn standard_input_is_read_whatever_its_compression() {
    let bytes = baskets();
    let dir = folder(&[("x.dat", &bytes)]);
    let path = dir.path().join("x.dat");
    let expected = stdout(&["profile", path.to_str().unwrap(), "--json"]);
    for input in [bytes.clone(), formats::gzip(&bytes, 2), formats::zstd(&bytes)] {
        let output = setveil(&["profile", "-", "--format", "fimi", "--json"])
            .write_stdin(input)
            .assert()
            .success()
            .get_output()
            .clone();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    }
}

#[test]
fn anonymize_writes_a_release_that_verifies_and_a_receipt_beside_it() {
    let dir = folder(&[("x.dat", &baskets())]);
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (data, release, receipt) = (path("x.dat"), path("release"), path("receipt.json"));
    let anonymize = ["anonymize", "disassociation", &data, "-k", "3", "-o", &release];
    let with = |more: &[&'static str]| -> Vec<String> {
        anonymize.iter().chain(more).map(|s| (*s).to_owned()).collect()
    };
    let inside = path("release/receipt.json");
    let mut args: Vec<&str> = anonymize.to_vec();
    args.extend(["--receipt", &inside]);
    assert!(failure(&args).contains("inside the release"));
    assert!(!dir.path().join("release").exists());

    let mut args: Vec<&str> = anonymize.to_vec();
    args.extend(["--receipt", &receipt, "--json"]);
    let answer = json(&args);
    assert_eq!((&answer["records"], &answer["method"]), (&60.into(), &"disassociation".into()));
    let written: serde_json::Value = serde_json::from_slice(&fs::read(&receipt).unwrap()).unwrap();
    assert!(written["input"].as_str().unwrap().ends_with("x.dat"));
    assert_eq!(written["input_sha256"].as_str().unwrap().len(), 64);
    assert_eq!(written["parameters"]["k"], 3);
    assert!(written["time"].as_str().unwrap().ends_with('Z'));
    // None of it is in the release.
    let published = fs::read_to_string(dir.path().join("release/manifest.json")).unwrap();
    for private in
        [written["input"].as_str().unwrap(), written["input_sha256"].as_str().unwrap(), "x.dat"]
    {
        assert!(!published.contains(private));
    }
    assert_eq!(json(&["verify", &release, "--json"])["holds"], true);

    let owned = with(&[]);
    let again: Vec<&str> = owned.iter().map(String::as_str).collect();
    assert!(failure(&again).contains("replace it with --force"));
    let first = fs::read(dir.path().join("release/clusters.jsonl")).unwrap();
    let owned = with(&["--force", "--threads", "1"]);
    setveil(&owned.iter().map(String::as_str).collect::<Vec<_>>()).assert().success();
    assert_eq!(fs::read(dir.path().join("release/clusters.jsonl")).unwrap(), first);
}

#[test]
fn a_changed_release_is_a_verdict_with_exit_code_1() {
    let dir = folder(&[("x.dat", &baskets())]);
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    setveil(&["anonymize", "disassociation", &path("x.dat"), "-k", "3", "-o", &path("r")])
        .assert()
        .success();
    fs::write(dir.path().join("r/extra.txt"), "x").unwrap();
    let output = setveil(&["verify", &path("r")]).assert().code(1).get_output().clone();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("does NOT hold") && text.contains("extra.txt"), "{text}");
}

#[test]
fn generate_is_the_same_for_the_same_seed_and_streams() {
    let dir = folder(&[]);
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let quest = |seed: &str| {
        stdout(&[
            "generate",
            "quest",
            "--records",
            "200",
            "--items",
            "50",
            "--seed",
            seed,
            "-o",
            "-",
        ])
    };
    assert_eq!(quest("7"), quest("7"));
    assert_ne!(quest("7"), quest("8"));
    assert_eq!(quest("7").lines().count(), 200);
    let answer =
        json(&["generate", "query-log", "--users", "20", "-o", &path("log.tsv.gz"), "--json"]);
    let profile =
        json(&["profile", &path("log.tsv.gz"), "--id", "AnonID", "--item", "Query", "--json"]);
    assert_eq!(profile["records"], 20);
    assert!(answer["lines"].as_u64().unwrap() >= profile["occurrences"].as_u64().unwrap());
    let error = failure(&["generate", "query-log", "--users", "20", "-o", &path("log.tsv.gz")]);
    assert!(error.contains("the file exists"), "{error}");
    let error = failure(&["generate", "quest", "--items", "0", "-o", &path("q.dat")]);
    assert!(error.contains("items = 0: expected at least 1"), "{error}");
    assert!(!dir.path().join("q.dat").exists());
}

#[test]
fn the_demo_does_the_main_job_and_writes_only_when_asked() {
    let dir = folder(&[]);
    let output = setveil(&["demo"]).current_dir(dir.path()).assert().success().get_output().clone();
    let text = String::from_utf8(output.stdout).unwrap();
    for word in ["400 baskets", "k = 5, m = 2", "record chunk 1", "The guarantee holds."] {
        assert!(text.contains(word), "`{word}` is not in:\n{text}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    let release = dir.path().join("r");
    let release = release.to_str().unwrap();
    let answer = json(&["demo", "-o", release, "--json"]);
    assert_eq!(
        (&answer["verify"]["holds"], &answer["profile"]["records"]),
        (&true.into(), &400.into())
    );
    assert_eq!(json(&["verify", release, "--json"])["holds"], true);
}
