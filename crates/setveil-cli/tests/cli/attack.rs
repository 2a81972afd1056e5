//! `setveil attack`.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

fn setveil(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::cargo_bin("setveil").unwrap();
    command.args(arguments).current_dir(folder);
    command
}

fn release(folder: &Path) {
    let mut data = String::new();
    for i in 0..60 {
        data += ["a b c\n", "a b\n", "a c d\n", "e f\n", "e f a\n", "e g\n"][i % 6];
    }
    std::fs::write(folder.join("data.dat"), data).unwrap();
    let arguments =
        ["anonymize", "disassociation", "data.dat", "-k", "3", "-m", "2", "-o", "release"];
    setveil(&arguments, folder).assert().success();
}

fn json(arguments: &[&str], folder: &Path) -> Value {
    let output = setveil(arguments, folder).arg("--json").assert().success();
    serde_json::from_slice(&output.get_output().stdout).unwrap()
}

#[test]
fn the_documented_keys_are_there() {
    let folder = tempfile::tempdir().unwrap();
    release(folder.path());
    for adversary in ["strong", "moderate", "weak"] {
        let arguments = ["attack", "release", "--original", "data.dat", "--adversary", adversary];
        let report = json(&arguments, folder.path());
        assert_eq!(report["adversary"], adversary);
        for key in ["printed_total", "vulnerable_records", "breached_pairs"] {
            assert!(report[key].is_u64(), "{adversary} {key}: {report}");
        }
        for key in ["max_posterior", "mean_posterior"] {
            assert!(report.get(key).is_some(), "{adversary} {key}");
        }
        assert_eq!(report["format"]["holds"], true);
    }
    let alone = json(&["attack", "release"], folder.path());
    assert!(alone["vulnerable_records"].is_null() && alone["max_posterior"].is_f64());
    assert!(alone["algorithm"].is_object());
}

#[test]
fn the_text_keeps_the_three_promises_apart_and_does_not_claim_safety() {
    let folder = tempfile::tempdir().unwrap();
    release(folder.path());
    let output = setveil(&["attack", "release", "--original", "data.dat"], folder.path()).assert();
    let text = String::from_utf8(output.success().get_output().stdout.clone()).unwrap();
    for word in ["format ", "algorithm ", "posterior ", "absence of a cover is not safety"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn a_bad_share_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    release(folder.path());
    let output = setveil(&["attack", "release", "--share", "0"], folder.path()).assert().code(2);
    let text = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(text.contains("share = 0"), "{text}");
}
