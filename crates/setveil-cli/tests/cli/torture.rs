//! The program under attack: killed and interrupted at any moment, run several
//! times at once, with full disks, and with releases that are traps.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rand::RngExt;
use setveil::data::Vocabulary;
use setveil::release::{Bag, Body, Generalized, Guarantee, Manifest, Model, Release, Supports};
use testkit::random;

use crate::{failure, folder, setveil as run};

fn program() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("setveil"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts an anonymization of `data.dat` in `dir` to `release`.
fn anonymize(dir: &Path, flags: &[&str]) -> Child {
    let mut command = program();
    command.current_dir(dir);
    command.args(["anonymize", "disassociation", "data.dat", "-k", "3", "-o", "release"]);
    command.args(flags).spawn().unwrap()
}

fn data(records: usize) -> Vec<u8> {
    let records = random::records(11, records, 200, 6.0);
    records.iter().flat_map(|record| (record.join(" ") + "\n").into_bytes()).collect()
}

/// The names in `dir` beside the data.
fn left(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name());
    let mut names: Vec<String> = names.map(|n| n.to_string_lossy().into_owned()).collect();
    names.retain(|name| name != "data.dat");
    names.sort_unstable();
    names
}

fn verifies(dir: &Path) {
    let release = dir.join("release");
    run(&["verify", release.to_str().unwrap()]).assert().success();
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success() || !Path::new(&format!("/proc/{}", child.id())).exists());
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

#[test]
fn a_killed_run_leaves_no_half_release_and_the_next_one_remarks_on_what_is_left() {
    let dir = folder(&[("data.dat", &data(4000))]);
    let mut rng = random::rng(3);
    let mut killed = 0;
    for _ in 0..12 {
        let mut child = anonymize(dir.path(), &["--force"]);
        std::thread::sleep(Duration::from_millis(rng.random_range(0..120)));
        killed += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        if dir.path().join("release").exists() {
            verifies(dir.path());
        }
    }
    // A run that is killed while it writes leaves this.
    fs::create_dir(dir.path().join(".release.0badcafe.partial")).unwrap();
    let output = anonymize(dir.path(), &["--force"]).wait_with_output().unwrap();
    let remark = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{remark} ({killed} were killed)");
    assert!(remark.contains(".release.0badcafe.partial: left "), "{remark}");
    assert!(remark.contains("remove it with `rm -r "), "{remark}");
    verifies(dir.path());
    assert!(
        left(dir.path()).contains(&".release.0badcafe.partial".to_owned()),
        "nobody removes it"
    );
}

#[test]
fn a_signal_ends_the_program_with_its_code_and_nothing_is_left() {
    let dir = folder(&[("data.dat", &data(4000))]);
    let mut rng = random::rng(4);
    for (signal, expected) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        for _ in 0..4 {
            let child = anonymize(dir.path(), &[]);
            // Before the program listens, the system's way to end it is as good.
            std::thread::sleep(Duration::from_millis(rng.random_range(0..150)));
            send(signal, &child);
            let output = child.wait_with_output().unwrap();
            let ended = code(&output);
            assert!(ended.is_none() || ended == Some(expected) || ended == Some(0), "{ended:?}");
            if ended == Some(expected) {
                let error = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(error.is_empty() || error.contains("stopped"), "{error}");
            }
            if ended == Some(0) {
                verifies(dir.path());
                fs::remove_dir_all(dir.path().join("release")).unwrap();
            }
            assert_eq!(left(dir.path()), Vec::<String>::new(), "{signal}");
        }
    }
}

#[test]
fn of_three_runs_at_once_exactly_one_is_done() {
    for _ in 0..3 {
        let dir = folder(&[("data.dat", &data(500))]);
        let runs: Vec<Child> = (0..3).map(|_| anonymize(dir.path(), &[])).collect();
        let ended: Vec<Output> = runs.into_iter().map(|r| r.wait_with_output().unwrap()).collect();
        let mut codes: Vec<_> = ended.iter().map(code).collect();
        codes.sort_unstable();
        assert_eq!(codes, [Some(0), Some(2), Some(2)]);
        for output in ended.iter().filter(|o| code(o) == Some(2)) {
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(error.contains("the release exists") && error.contains("--force"), "{error}");
        }
        assert_eq!(left(dir.path()), ["release"]);
        verifies(dir.path());
    }
}

#[test]
fn a_full_disk_is_an_error_and_nothing_is_left() {
    let dir = folder(&[("data.dat", &data(4000))]);
    // The shell limits the size of files (a few kilobytes at most): SIGXFSZ.
    let program = assert_cmd::cargo::cargo_bin("setveil");
    let line = format!(
        "ulimit -f 4; '{}' anonymize disassociation data.dat -k 3 -o release",
        program.display()
    );
    let output = Command::new("sh").args(["-c", &line]).current_dir(dir.path()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(code(&output), Some(2), "{error}");
    assert!(error.contains("release/clusters.jsonl") && error.contains("large"), "{error}");
    assert_eq!(left(dir.path()), Vec::<String>::new());
}

#[test]
fn a_failed_receipt_says_that_the_release_stands() {
    let dir = folder(&[("data.dat", &data(100))]);
    let receipt = "r".repeat(300);
    let output = anonymize(dir.path(), &["--receipt", &receipt]).wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(code(&output), Some(2), "{error}");
    assert!(error.contains("the release release is complete and stands"), "{error}");
    verifies(dir.path());
    assert_eq!(left(dir.path()), ["release"]);
}

#[test]
fn pipes_and_links_in_a_release_are_refused_by_every_command() {
    let dir = folder(&[("data.dat", &data(100))]);
    assert!(anonymize(dir.path(), &[]).wait().unwrap().success());
    let release = dir.path().join("release");
    let (path, outside) = (release.join("clusters.jsonl"), dir.path().join("outside"));
    fs::rename(&path, &outside).unwrap();
    let (release, original) = (release.to_str().unwrap(), dir.path().join("data.dat"));
    let original = original.to_str().unwrap();
    let worlds = dir.path().join("worlds");
    let refused = |word: &str| {
        for args in [
            vec!["verify", release],
            vec!["query", release, "x"],
            vec!["evaluate", release, "--original", original],
            vec!["reconstruct", release, "-o", worlds.to_str().unwrap()],
        ] {
            let error = failure(&args);
            assert!(error.contains(word) && error.contains("regular files only"), "{error}");
        }
    };
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    refused("this is a pipe");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&outside, &path).unwrap();
    refused("this is a link");
}

#[test]
fn what_does_not_fit_the_budget_is_refused_with_the_number() {
    let dir = folder(&[("data.dat", &data(1000))]);
    assert!(anonymize(dir.path(), &[]).wait().unwrap().success());
    let release = dir.path().join("release");
    let release = release.to_str().unwrap();
    let error = failure(&["verify", release, "--max-memory", "2K"]);
    assert!(error.contains("at most 2048") && error.contains("--max-memory"), "{error}");
    run(&["verify", release, "--max-memory", "1G"]).assert().success();
    // A few bytes that speak of four billion records.
    let guarantee = Guarantee { model: Model::KAnonymity { k: 2 }, supports: Supports::Exact };
    let body = Body::Generalized(Generalized {
        vocabulary: Vocabulary::new(["a"]),
        classes: Bag::from_counted([(&[0][..], 4_000_000_000)]),
        hierarchy: None,
    });
    let manifest = Manifest::new("suppress-rare", [], guarantee, 4_000_000_000, 1);
    let large = dir.path().join("large");
    setveil::io::write_release(&Release { manifest, body }, &large, false).unwrap();
    let (large, worlds) = (large.to_str().unwrap(), dir.path().join("worlds"));
    let worlds = worlds.to_str().unwrap();
    let error = failure(&["reconstruct", large, "-o", worlds, "--max-memory", "20G"]);
    assert!(error.contains("96000000000 bytes of memory, at most 21474836480"), "{error}");
    let error = failure(&["verify", release, "--max-memory", "much"]);
    assert!(error.contains("such as 8"), "{error}");
}
