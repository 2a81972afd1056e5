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
