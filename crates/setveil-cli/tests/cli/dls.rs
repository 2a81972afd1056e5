//! `anonymize dls`, and what `verify`, `evaluate` and `profile` say about it.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

fn setveil(arguments: &[&str], folder: &Path) -> (i32, Value, String) {
    let mut command = Command::cargo_bin("setveil").expect("the binary is built");
    let output = command.args(arguments).arg("--json").current_dir(folder).output().expect("runs");
    let json = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().expect("an exit code"), json, errors)
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let records = testkit::random::records(3, 300, 30, 4.0);
    let text: String = records.iter().map(|r| r.join(" ") + "\n").collect();
    std::fs::write(folder.path().join("data.dat"), text).expect("a file can be written");
    folder
}

#[test]
fn a_release_is_made_verified_and_measured() {
    let folder = folder();
    let run = |arguments: &[&str]| setveil(arguments, folder.path());
    let (code, made, errors) = run(&[
        "anonymize",
        "dls",
        "data.dat",
        "-k",
        "4",
        "-m",
        "2",
        "--max-cluster-size",
        "100",
        "-o",
        "r",
    ]);
    assert_eq!(
        (code, &made["method"], &made["records"]),
        (0, &"dls".into(), &300.into()),
        "{errors}"
    );
    let manifest = std::fs::read_to_string(folder.path().join("r/manifest.json")).expect("written");
    assert!(manifest.contains("\"lower-bound\""), "{manifest}");

    let (code, verdict, _) = run(&["verify", "r"]);
    assert_eq!((code, &verdict["holds"]), (0, &true.into()), "{verdict}");

    let (code, measures, errors) = run(&["evaluate", "r", "--original", "data.dat"]);
    assert_eq!(code, 0, "{errors}");
    let (anr, are) =
        (measures["anr"].as_f64().expect("anr"), measures["are"].as_f64().expect("are"));
    assert!(anr > 0.0 && anr <= 1.0 && (0.0..1.0).contains(&are), "{measures}");
}

#[test]
fn bad_parameters_publish_nothing() {
    let folder = folder();
    for (flag, value, word) in
        [("-k", "301", "fewer than k"), ("-m", "0", "m"), ("--max-cluster-size", "5", "2k")]
    {
        let (code, _, errors) =
            setveil(&["anonymize", "dls", "data.dat", flag, value, "-o", "r"], folder.path());
        assert!(code == 2 && errors.contains(word), "{flag} {value}: {code} {errors}");
        assert!(!folder.path().join("r").exists());
    }
}

/// What would have no end is said before it begins.
#[test]
fn large_clusters_are_refused_at_once() {
    let folder = folder();
    std::fs::write(folder.path().join("large.dat"), "a b\n".repeat(20_001)).expect("written");
    for arguments in [["--clustering", "whole"], ["--max-cluster-size", "30000"]] {
        let mut all = vec!["anonymize", "dls", "large.dat", "-o", "r"];
        all.extend(arguments);
        let (code, _, errors) = setveil(&all, folder.path());
        assert!(code == 2 && errors.contains("20000"), "{code} {errors}");
        assert!(errors.contains("local-suppression"), "{errors}");
    }
    let whole = ["anonymize", "disassociation", "large.dat", "--clustering", "whole", "-o", "r"];
    assert_eq!(setveil(&whole, folder.path()).0, 0);
    let manifest = std::fs::read_to_string(folder.path().join("r/manifest.json")).expect("written");
    assert!(manifest.contains("\"clustering\": \"whole\""), "{manifest}");
    assert_eq!(setveil(&["verify", "r"], folder.path()).0, 0);
}

#[test]
fn the_profile_has_the_problematic_table() {
    let folder = folder();
    let (code, profile, errors) = setveil(&["profile", "data.dat"], folder.path());
    assert_eq!(code, 0, "{errors}");
    let table = profile["problematic"].as_array().expect("a table");
    assert_eq!(table.len(), 30, "sizes 1..5, six values of k");
    assert_eq!((&table[0]["size"], &table[0]["k"]), (&1.into(), &2.into()));
    assert!(table.iter().all(|row| (0.0..=1.0).contains(&row["share"].as_f64().expect("a share"))));
}
