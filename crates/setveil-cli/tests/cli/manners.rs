//! Manners: help, completions, manual pages, colours, pipes.

use std::process::{Command, Stdio};

use crate::{folder, setveil, stdout};

#[test]
fn help_shows_examples_and_exit_codes() {
    let text = stdout(&["--help"]);
    assert!(text.contains("setveil demo") && text.contains("Exit codes"), "{text}");
    let text = stdout(&["profile", "--help"]);
    for word in ["--format", "long-csv", "--skip-bad-lines", "Examples:", "--threads"] {
        assert!(text.contains(word), "{text}");
    }
    setveil(&[]).assert().code(2);
    setveil(&["profle"]).assert().code(2);
    setveil(&["profile", "x.dat", "--threads", "0"]).assert().code(2);
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(&["completions", shell]);
        assert!(script.contains("skip-bad-lines"), "{shell}");
    }
    let dir = folder(&[]);
    let pages = dir.path().join("man1");
    stdout(&["man", "-o", pages.to_str().unwrap()]);
    for page in ["setveil.1", "setveil-profile.1", "setveil-anonymize-disassociation.1"] {
        let text = std::fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
    assert!(stdout(&["man"]).contains("setveil"));
}

#[test]
fn there_are_no_colours_away_from_a_terminal() {
    assert!(!stdout(&["demo"]).contains('\u{1b}'));
    let output = setveil(&["profile", "none.dat"]).assert().code(2).get_output().clone();
    assert!(!output.stderr.contains(&0x1b));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("setveil"))
        .args(["generate", "quest", "--records", "100000", "-o", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success());
}

/// A release that breaks its promise.
fn broken() -> tempfile::TempDir {
    let dir = folder(&[("data.dat", b"a b\na b\na c\na c\n")]);
    let (data, release) = (dir.path().join("data.dat"), dir.path().join("release"));
    let (data, path) = (data.to_str().unwrap(), release.to_str().unwrap());
    setveil(&["anonymize", "disassociation", data, "-k", "2", "-o", path]).assert().success();
    std::fs::write(release.join("notes.txt"), "x").unwrap();
    dir
}

#[test]
fn the_exit_code_does_not_depend_on_the_reader() {
    let dir = broken();
    let program = assert_cmd::cargo::cargo_bin("setveil");
    let program = program.to_str().unwrap();
    for (line, expected) in [
        ("\"$0\" verify release", 1),
        ("\"$0\" verify release >&-", 1),
        ("\"$0\" verify release 2>&-", 1),
        ("\"$0\" verify release --json >&- 2>&-", 1),
        ("\"$0\" verify nothing 2>&-", 2),
        ("\"$0\" verify nothing >&- 2>&-", 2),
        ("\"$0\" profile data.dat 2>&- >&-", 0),
        ("\"$0\" profile data.dat >/dev/full", 2),
    ] {
        let output = Command::new("sh")
            .args(["-c", line, program])
            .current_dir(dir.path())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(expected), "{line}: {error}");
        assert!(!error.contains("panicked"), "{line}: {error}");
    }
    // A reader that leaves at once, often enough to meet the moment of writing.
    for _ in 0..10 {
        let mut child = Command::new(program)
            .args(["verify", "release", "--json"])
            .current_dir(dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(1));
    }
}

#[test]
fn items_and_names_do_not_steer_a_terminal() {
    let dir = folder(&[("\u{1b}[31m.jsonl", "[\"\u{9b}2J\", \"b\\n\u{202e}\"]\n".as_bytes())]);
    let data = dir.path().join("\u{1b}[31m.jsonl");
    let release = dir.path().join("\u{1b}release");
    let (data, release) = (data.to_str().unwrap(), release.to_str().unwrap());
    std::fs::write(data, "[\"\u{9b}2J\", \"b\\n\u{202e}\"]\n".repeat(6)).unwrap();
    let steering = |text: &str| text.chars().any(|c| c != '\n' && setveil::error::steers(c));
    for args in [
        &["anonymize", "disassociation", data, "-k", "2", "-o", release, "--as-baskets"][..],
        &["verify", release],
        &["query", release, "\u{9b}2J"],
        &["query", release, "\u{9b}2J", "--json"],
        &["profile", data],
        &["profile", data, "--json"],
        &["attack", release, "--original", data],
        &["attack", release, "--json"],
    ] {
        let output = crate::setveil(args).output().unwrap();
        for stream in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(stream);
            assert!(!steering(&text), "{args:?}: {text:?}");
        }
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {error}");
    }
    // Only what an item says is escaped, not cut: JSON gives it back as it was.
    let answer = crate::json(&["query", release, "\u{9b}2J", "--json"]);
    assert_eq!(answer["itemset"][0], "\u{9b}2J");
}
