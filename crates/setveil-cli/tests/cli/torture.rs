//! The program under attack: killed and interrupted at any moment, run several
//! times at once, with full disks, and with releases that are traps.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rand::RngExt;
use setveil::data::Vocabulary;
use setveil::release::{Bag, Body, Generalized, Guarantee, Manifest, Model, Release, Supports};
use testkit::{formats, fuzz, hostile, random, settings};

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

/// On a busy machine a program that was started may not have begun yet.
fn wait_until_it_listens(child: &Child) {
    let caught = || -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    };
    // SIGINT is signal 2, bit 1. Where the system does not tell, nothing is waited for.
    while caught().is_some_and(|mask| mask & 2 == 0) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

#[test]
fn a_killed_run_leaves_no_half_release_and_the_next_one_remarks_on_what_is_left() {
    let dir = folder(&[("data.dat", &data(4000))]);
    let mut rng = random::rng(3);
    let mut killed = 0;
    for _ in 0..settings::rounds(12) {
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
        for _ in 0..settings::rounds(4) {
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
    for _ in 0..settings::rounds(3) {
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
    assert!(
        error.contains(
            "the reconstructed records: 592000000000 bytes of memory, at most 21474836480"
        ),
        "{error}"
    );
    let error = failure(&["verify", release, "--max-memory", "much"]);
    assert!(error.contains("such as 8"), "{error}");
}

/// Runs a command that must come to an end by itself, with an exit code of ours.
fn ends(args: &[&str], about: &str) -> i32 {
    let output = run(args).timeout(Duration::from_secs(120)).output().unwrap();
    let (code, error) = (code(&output), String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(matches!(code, Some(0..=2)), "{about}: {args:?} ended with {code:?}: {error}");
    assert!(!error.contains("panicked"), "{about}: {args:?}: {error}");
    assert_eq!(code == Some(2), error.starts_with("error: "), "{about}: {args:?}: {error}");
    code.unwrap()
}

/// Every command that takes a release.
fn with_release(release: &str, out: &Path, about: &str) -> Vec<i32> {
    let (worlds, page) = (out.join("worlds"), out.join("page.html"));
    let (worlds, page) = (worlds.to_str().unwrap(), page.to_str().unwrap());
    let memory = ["--max-memory", "100M", "-q"];
    let commands: [&[&str]; 5] = [
        &["verify", release],
        &["query", release, "a,b"],
        &["attack", release, "--targets", "4", "--worlds", "4", "--clusters", "2"],
        &["reconstruct", release, "-o", worlds, "--force"],
        &["report", release, "-o", page, "--force"],
    ];
    commands.iter().map(|args| ends(&[args, &memory[..]].concat(), about)).collect()
}

#[test]
fn hostile_releases_are_answered_or_refused_by_every_command() {
    let dir = folder(&[]);
    let release = dir.path().join("release");
    let mut rng = random::rng(20);
    let mut codes = [0; 3];
    for round in 0..settings::rounds(20) {
        let bytes: Vec<u8> = (0..rng.random_range(1..250)).map(|_| rng.random()).collect();
        let Some(files) = hostile::files(&bytes) else { continue };
        let _ = fs::remove_dir_all(&release);
        fs::create_dir(&release).unwrap();
        for (name, content) in &files.files {
            fs::write(release.join(name), content).unwrap();
        }
        let about = format!("round {round}");
        for code in with_release(release.to_str().unwrap(), dir.path(), &about) {
            codes[code as usize] += 1;
        }
    }
    assert!(codes.iter().all(|&count| count > 0), "0, 1 and 2 came out {codes:?} times");
}

#[test]
fn mutated_files_are_answered_or_refused_by_every_command() {
    let records = random::records(3, 40, 8, 3.0);
    let dir = folder(&[
        ("data.dat", &formats::fimi(&records)),
        ("hierarchy.csv", b"a;X;*\nb;X;*\nc;*\n"),
    ]);
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (data, release, copy) = (path("data.dat"), path("release"), path("copy"));
    run(&["anonymize", "disassociation", &data, "-k", "2", "-o", &release]).assert().success();
    let seeds: [(&str, Vec<u8>); 5] = [
        ("d.dat", formats::fimi(&records)),
        ("d.csv", formats::basket_csv(&records)),
        ("d.jsonl", formats::jsonl(&records)),
        ("d.spmf", formats::spmf(&records)),
        ("d.parquet", formats::parquet_lists(&records)),
    ];
    let mut rng = random::rng(21);
    for round in 0..settings::rounds(8) {
        let about = format!("round {round}");
        for (name, bytes) in &seeds {
            let mutated = path(name);
            fs::write(&mutated, fuzz::mutate(bytes, &mut rng)).unwrap();
            ends(&["profile", &mutated, "-q", "--samples", "50"], &about);
            ends(&["anonymize", "dls", &mutated, "-k", "2", "-o", &copy, "--force", "-q"], &about);
            ends(&["evaluate", &release, "--original", &mutated, "-q"], &about);
        }
        let hierarchy = path("h.csv");
        fs::write(&hierarchy, fuzz::mutate(b"a;X;*\nb;X;*\nc;*\n", &mut rng)).unwrap();
        ends(&["hierarchy", "check", &hierarchy], &about);
        let changed = path("changed");
        let _ = fs::remove_dir_all(&changed);
        fs::create_dir(&changed).unwrap();
        for entry in fs::read_dir(&release).unwrap() {
            let entry = entry.unwrap();
            let bytes = fs::read(entry.path()).unwrap();
            let bytes = if rng.random() { fuzz::mutate(&bytes, &mut rng) } else { bytes };
            fs::write(Path::new(&changed).join(entry.file_name()), bytes).unwrap();
        }
        with_release(&changed, dir.path(), &about);
    }
    let hidden = left(dir.path()).into_iter().filter(|name| name.starts_with('.'));
    assert_eq!(hidden.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn long_work_of_a_recipient_or_an_attacker_is_ended_by_ctrl_c() {
    // Too many combinations to look at all of them.
    let long = formats::fimi(&random::records(12, 2_000, 500, 60.0));
    let dir = folder(&[("data.dat", &data(20_000)), ("long.dat", &long)]);
    assert!(anonymize(dir.path(), &[]).wait().unwrap().success());
    for args in [
        &["profile", "long.dat", "--samples", "2000000000"][..],
        &["attack", "release", "--targets", "100000000", "--original", "data.dat"],
        &["attack", "release", "--targets", "10", "--worlds", "100000000"],
    ] {
        let child = program().current_dir(dir.path()).args(args).spawn().unwrap();
        wait_until_it_listens(&child);
        std::thread::sleep(Duration::from_millis(700));
        send("-INT", &child);
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(code(&output), Some(130), "{args:?}: {error}");
    }
}

#[test]
fn a_release_in_several_files_is_written_and_read_by_the_commands() {
    let dir = folder(&[("data.dat", &data(2000))]);
    let flags = ["--file-size", "20K"];
    assert!(anonymize(dir.path(), &flags).wait().unwrap().success());
    let release = dir.path().join("release");
    assert!(release.join("clusters-00001.jsonl").exists());
    verifies(dir.path());
    let path = release.to_str().unwrap();
    run(&["query", path, "1,2"]).assert().success();
    // What needs more memory than it may have is refused with the number.
    let error = failure(&["query", path, "1,2", "--max-memory", "1K"]);
    assert!(error.contains("--max-memory"), "{error}");
}
