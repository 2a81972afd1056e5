//! `setveil anonymize cahd` and `perm-mondrian`, with `verify` and `evaluate`.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// Runs `setveil` in `dir`.
pub fn setveil(dir: &Path, args: &[&str]) -> Output {
    Command::cargo_bin("setveil").unwrap().current_dir(dir).args(args).output().unwrap()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A directory with `baskets.dat` and `sensitive.txt`; nobody has sensitive items only.
fn baskets() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let rows = testkit::random::records(4, 300, 26, 4.0);
    let text: String = rows.iter().map(|r| format!("bag {}\n", r.join(" "))).collect();
    std::fs::write(dir.path().join("baskets.dat"), text).unwrap();
    std::fs::write(dir.path().join("sensitive.txt"), "x\r\n\n  t\nq\n").unwrap();
    let path = dir.path().to_owned();
    (dir, path)
}

#[test]
fn a_release_is_made_verified_and_measured() {
    let (_keep, dir) = baskets();
    for method in ["cahd", "perm-mondrian"] {
        let args = ["--json", "anonymize", method, "baskets.dat", "--sensitive", "sensitive.txt"];
        let made = setveil(&dir, &[&args[..], &["-p", "5", "-o", method]].concat());
        let answer = json(&made);
        assert_eq!(answer["method"], method);
        assert_eq!(answer["parameters"]["sensitive"], serde_json::json!(["q", "t", "x"]));
        let verdict = json(&setveil(&dir, &["--json", "verify", method]));
        assert_eq!((&verdict["holds"], &verdict["model"]), (&true.into(), &"association".into()));
        let base = ["--json", "evaluate", method, "--original", "baskets.dat"];
        let measured = json(&setveil(&dir, &base));
        assert!(measured["kl"].as_f64().unwrap() > 0.0, "{measured}");
        let options = ["--kl-queries", "7", "--kl-items", "2", "--kl-seed", "9"];
        let other = json(&setveil(&dir, &[&base[..], &options].concat()));
        assert_ne!(measured["kl"], other["kl"]);
    }
}

#[test]
fn what_cannot_be_done_is_said_and_nothing_is_published() {
    let (_keep, dir) = baskets();
    std::fs::write(dir.join("unknown.txt"), "x\nlettuce\n").unwrap();
    std::fs::write(dir.join("everywhere.txt"), "a\n").unwrap();
    std::fs::write(dir.join("frequent.txt"), "z\n").unwrap();
    std::fs::write(dir.join("empty.txt"), "\n").unwrap();
    for (file, p, words) in [
        ("unknown.txt", "2", &["\"lettuce\""][..]),
        ("everywhere.txt", "200", &["\"a\"", "no degree works"]),
        ("frequent.txt", "200", &["\"z\"", "largest p that works is"]),
        ("empty.txt", "2", &["empty.txt", "no item"]),
        ("absent.txt", "2", &["absent.txt"]),
        ("sensitive.txt", "1", &["at least 2"]),
    ] {
        let args = ["anonymize", "cahd", "baskets.dat", "--sensitive", file, "-p", p, "-o", "out"];
        let output = setveil(&dir, &args);
        assert_eq!(output.status.code(), Some(2), "{file}");
        for word in words {
            assert!(stderr(&output).contains(word), "{file}: {}", stderr(&output));
        }
        assert!(!dir.join("out").exists());
    }
    let neither = setveil(&dir, &["anonymize", "cahd", "baskets.dat", "-o", "out"]);
    assert_eq!(neither.status.code(), Some(2));
    assert!(stderr(&neither).contains("--sensitive"), "{}", stderr(&neither));
}

#[test]
fn drawn_items_are_listed_repeat_with_the_seed_and_the_seed_is_not_published() {
    let (_keep, dir) = baskets();
    let draw = |seed: &str, out: &str| {
        let args = ["--json", "anonymize", "cahd", "baskets.dat", "--random-sensitive", "3"];
        let output = setveil(&dir, &[&args[..], &["--seed", seed, "-p", "4", "-o", out]].concat());
        (json(&output)["parameters"]["sensitive"].clone(), stderr(&output))
    };
    let (first, remark) = draw("12345", "one");
    assert_eq!(first.as_array().unwrap().len(), 3);
    assert!(remark.contains("sensitive items: "), "{remark}");
    assert_eq!(first, draw("12345", "two").0);
    assert_ne!(first, draw("54321", "three").0);
    let manifest = std::fs::read_to_string(dir.join("one/manifest.json")).unwrap();
    assert!(!manifest.contains("12345") && !manifest.contains("baskets"), "{manifest}");
    let both = ["--sensitive", "sensitive.txt", "--random-sensitive", "3"];
    let args = [&["anonymize", "cahd", "baskets.dat", "-o", "four"][..], &both].concat();
    assert_eq!(setveil(&dir, &args).status.code(), Some(2));
}

#[test]
fn a_changed_group_is_reported_with_exit_code_1() {
    let (_keep, dir) = baskets();
    let args = ["anonymize", "cahd", "baskets.dat", "--sensitive", "sensitive.txt", "-o", "out"];
    // The printed grouping is the same every time, and its first group has a sensitive item.
    assert!(setveil(&dir, &[&args[..], &["-p", "3", "--as-printed"]].concat()).status.success());
    let path = dir.join("out/groups.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("\"size\":3", "\"size\":2", 1)).unwrap();
    let output = setveil(&dir, &["verify", "out"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("degree at groups.jsonl:1") && said.contains("group-size"), "{said}");
}

#[test]
fn the_limit_of_the_degree_stands_in_the_help() {
    let (_keep, dir) = baskets();
    for method in ["cahd", "perm-mondrian"] {
        let help = setveil(&dir, &["anonymize", method, "--help"]);
        let text = String::from_utf8_lossy(&help.stdout).into_owned();
        assert!(text.contains("per sensitive item") && text.contains("Example:"), "{text}");
    }
}

#[test]
fn who_has_sensitive_items_only_is_refused_or_left_out_and_counted() {
    let (_keep, dir) = baskets();
    let mut text = std::fs::read_to_string(dir.join("baskets.dat")).unwrap();
    text += "x\nx t\n";
    std::fs::write(dir.join("baskets.dat"), text).unwrap();
    for method in ["cahd", "perm-mondrian"] {
        let args = ["--json", "anonymize", method, "baskets.dat", "--sensitive", "sensitive.txt"];
        let args = [&args[..], &["-p", "4", "-o", method]].concat();
        let refused = setveil(&dir, &args);
        assert_eq!(refused.status.code(), Some(2));
        let said = stderr(&refused);
        assert!(said.contains("2 of 302 records hold sensitive items only"), "{said}");
        assert!(said.contains("--sensitive-only drop") && !dir.join(method).exists(), "{said}");
        let answer = json(&setveil(&dir, &[&args[..], &["--sensitive-only", "drop"]].concat()));
        assert_eq!(
            (&answer["dropped_sensitive_only"], &answer["records"]),
            (&2.into(), &300.into())
        );
        assert_eq!(answer["parameters"]["sensitive_only"], "drop");
        assert_eq!(json(&setveil(&dir, &["--json", "verify", method]))["holds"], true);
    }
}

#[test]
fn the_printed_grouping_warns_and_groups_are_secret_otherwise() {
    let (_keep, dir) = baskets();
    let base = ["--json", "anonymize", "cahd", "baskets.dat", "--sensitive", "sensitive.txt"];
    let run = |out: &str, more: &[&str]| {
        let output = setveil(&dir, &[&base[..], &["-p", "4", "-o", out], more].concat());
        let text = std::fs::read_to_string(dir.join(out).join("groups.jsonl")).unwrap();
        (json(&output), stderr(&output), text)
    };
    let (answer, said, printed) = run("printed", &["--as-printed", "--alpha", "2"]);
    assert!(said.contains("tells who") && said.contains("do not publish"), "{said}");
    let parameters = serde_json::json!({"alpha": 2, "grouping": "as-printed", "p": 4,
        "sensitive": ["q", "t", "x"]});
    assert_eq!(answer["parameters"], parameters);
    assert_eq!(run("again", &["--as-printed", "--alpha", "2"]).2, printed);
    let (answer, said, one) = run("one", &[]);
    assert!(said.contains("secret random numbers"), "{said}");
    let parameters = serde_json::json!({"grouping": "blind", "p": 4, "sensitive": ["q", "t", "x"]});
    assert_eq!(answer["parameters"], parameters);
    assert_eq!(answer["dropped_sensitive_only"], 0);
    assert_ne!(run("two", &[]).2, one, "not the same bytes twice");
    // Neither a seed nor alpha goes with it.
    for wrong in [&["--alpha", "2"][..], &["--seed", "1"]] {
        let output = setveil(&dir, &[&base[..], &["-o", "three"], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

/// Six records: only `a d` gives these groups as printed.
#[test]
fn attack_replays_both_groupings() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("c6.dat"), "e\nb e\na d x\nd e\na b c\nb c d\n").unwrap();
    std::fs::write(dir.join("s.txt"), "x\n").unwrap();
    let attack = |out: &str, more: &[&str]| {
        let args = ["anonymize", "cahd", "c6.dat", "--sensitive", "s.txt", "-p", "3", "-o", out];
        assert!(setveil(dir, &[&args[..], more].concat()).status.success());
        let args = ["attack", out, "--original", "c6.dat", "--worlds", "300"];
        let text = setveil(dir, &args);
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        assert!(text.contains("replayed on possible data sets"), "{text}");
        json(&setveil(dir, &[&["--json"][..], &args].concat()))["algorithm"].clone()
    };
    let printed = attack("printed", &["--as-printed"]);
    assert!(printed["worlds_accepted"].as_u64() < printed["worlds_tried"].as_u64(), "{printed}");
    assert_eq!(printed["groups"]["groups_out"], 1, "{printed}");
    assert_eq!(printed["groups"]["certain"], 1, "{printed}");
    assert_eq!(printed["groups"]["guess_right"], 1.0, "{printed}");
    let blind = attack("blind", &[]);
    assert_eq!(blind["groups"]["certain"], 0, "{blind}");
    let most = blind["groups"]["mean_posterior"].as_f64().unwrap();
    assert!((most - 1.0 / 3.0).abs() < 1e-9, "{blind}");
}
