//! `anonymize diffpart`, and what every other command says about its release.

use std::path::{Path, PathBuf};

use crate::{failure, folder, json, setveil, stdout};

/// Baskets over a few items, and a public catalogue with more.
fn shop() -> (tempfile::TempDir, Vec<PathBuf>) {
    let rows = testkit::random::records(5, 2000, 8, 2.0);
    let baskets: String = rows.iter().map(|r| r.join(" ") + "\n").collect();
    let catalogue: String =
        (0..12).map(|i| format!("{};shelf-{};*\n", testkit::random::label(i), i / 4)).collect();
    let dir =
        folder(&[("baskets.dat", baskets.as_bytes()), ("catalogue.csv", catalogue.as_bytes())]);
    let paths = ["baskets.dat", "catalogue.csv", "release"].map(|n| dir.path().join(n)).into();
    (dir, paths)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is text")
}

#[test]
fn from_data_to_a_release_that_every_command_can_read() {
    let (dir, paths) = shop();
    let [baskets, catalogue, release] = [0, 1, 2].map(|i| text(&paths[i]));
    let args = ["anonymize", "diffpart", baskets, "--hierarchy", catalogue, "--epsilon", "1.5"];
    let made = json(&[&args[..], &["-o", release, "--json"]].concat());
    assert_eq!(made["parameters"]["epsilon"], 1.5);
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(paths[2].join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["guarantee"]["model"], "differential-privacy");
    assert_eq!(manifest["guarantee"]["universe"], "public");
    assert_eq!(manifest["guarantee"]["supports"], "noisy");
    let hierarchy = std::fs::read_to_string(paths[2].join("hierarchy.csv")).unwrap();
    assert_eq!(hierarchy.lines().count(), 12, "the whole catalogue");

    let verdict = stdout(&["verify", release]);
    assert!(verdict.contains("epsilon = 1.5: well-formed"), "{verdict}");
    assert!(verdict.contains("one release cannot show it"), "{verdict}");
    assert!(!verdict.contains("holds"), "{verdict}");
    let answer = json(&["query", release, "a", "--json"]);
    assert_eq!((&answer["lower"], &answer["upper"]), (&0.into(), &serde_json::Value::Null));
    let asked = setveil(&["query", release, "a"]).output().unwrap();
    assert!(String::from_utf8_lossy(&asked.stderr).contains("noisy"));
    let measured = json(&["evaluate", release, "--original", baskets, "--json"]);
    assert!(measured["tkd"].as_f64().unwrap() < 1.0 && measured["ncp"].is_null());
    let attacked = stdout(&["attack", release, "--original", baskets]);
    assert!(attacked.contains("well-formed") && attacked.contains("noisy"), "{attacked}");
    let worlds = dir.path().join("worlds");
    stdout(&["reconstruct", release, "-o", text(&worlds)]);
    let page = dir.path().join("page.html");
    stdout(&["report", release, "--original", baskets, "-o", text(&page)]);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("well-formed") && !page.contains("Risk before and after"));
}

#[test]
fn the_noise_is_fresh_every_time() {
    let (dir, paths) = shop();
    let [baskets, catalogue, _] = [0, 1, 2].map(|i| text(&paths[i]));
    let classes = |name: &str| {
        let release = dir.path().join(name);
        let args = ["anonymize", "diffpart", baskets, "--hierarchy", catalogue];
        stdout(&[&args[..], &["--epsilon", "0.1", "-o", text(&release)]].concat());
        std::fs::read(release.join("classes.jsonl")).unwrap()
    };
    // Seven runs alike are as unlikely as seven counts with a deviation of ten and more.
    let first = classes("0");
    assert!((1..7).any(|i| classes(&i.to_string()) != first));
}

#[test]
fn where_the_items_come_from_must_be_said() {
    let (_dir, paths) = shop();
    let [baskets, catalogue, release] = [0, 1, 2].map(|i| text(&paths[i]));
    let args = ["anonymize", "diffpart", baskets, "--epsilon", "1", "-o", release];
    let said = failure(&args);
    assert!(said.contains("--hierarchy") && said.contains("--universe-from-data"), "{said}");
    let both = ["--hierarchy", catalogue, "--universe-from-data"];
    assert!(failure(&[&args[..], &both].concat()).contains("cannot be used with"));
    let output = setveil(&[&args[..], &["--universe-from-data"]].concat()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("names of all items"), "{said}");
    let manifest = std::fs::read_to_string(paths[2].join("manifest.json")).unwrap();
    assert!(manifest.contains("\"universe\": \"data\""), "{manifest}");
}

#[test]
fn bad_parameters_and_foreign_items_are_refused() {
    let (dir, paths) = shop();
    let [baskets, catalogue, release] = [0, 1, 2].map(|i| text(&paths[i]));
    for (epsilon, fanout, word) in
        [("0", "10", "0.001"), ("1", "40", "2 to 16"), ("x", "4", "decimal")]
    {
        let args = ["anonymize", "diffpart", baskets, "--hierarchy", catalogue, "-o", release];
        let said = failure(&[&args[..], &["--epsilon", epsilon, "--fanout", fanout]].concat());
        assert!(said.contains(word), "{said}");
    }
    let short = dir.path().join("short.csv");
    std::fs::write(&short, "a;*\nb;*\n").unwrap();
    let args = ["anonymize", "diffpart", baskets, "--hierarchy", text(&short), "--epsilon", "1"];
    let args = [&args[..], &["-o", release]].concat();
    let said = failure(&args);
    assert!(said.contains("no leaf of the hierarchy") && said.contains("--drop-unknown"), "{said}");
    assert!(!paths[2].exists());
    stdout(&[&args[..], &["--drop-unknown"]].concat());
    assert!(paths[2].exists());
    // A seed would let anybody subtract the noise.
    assert!(failure(&[&args[..], &["--seed", "1"]].concat()).contains("--seed"));
}
