//! `--memory`: data that stays on disk, within a limit that the system sets, and
//! with accidents.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use testkit::{random, settings};

use crate::{failure, folder, json, setveil as run, stdout};

fn data(records: usize, mean_length: f64) -> Vec<u8> {
    let records = random::records(21, records, 300, mean_length);
    records.iter().flat_map(|record| (record.join(" ") + "\n").into_bytes()).collect()
}

fn left(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name());
    let mut names: Vec<String> = names.map(|n| n.to_string_lossy().into_owned()).collect();
    names.retain(|name| name != "data.dat");
    names.sort_unstable();
    names
}

/// Runs the program from a shell after `before`.
fn shell(dir: &Path, before: &str, flags: &str) -> Output {
    let program = assert_cmd::cargo::cargo_bin("setveil");
    let program = program.display();
    let line =
        format!("{before}; '{program}' anonymize disassociation data.dat -k 3 -o release {flags}");
    // One arena, as each takes 64 megabytes of addresses and none of memory.
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(dir).env("MALLOC_ARENA_MAX", "1");
    command.output().unwrap()
}

/// The program ends with code 2 and an error that has these words, and leaves nothing.
fn refused(dir: &Path, before: &str, flags: &str, words: &[&str]) {
    let output = shell(dir, before, flags);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(words.iter().all(|word| error.contains(word)), "{error}");
    assert_eq!(left(dir), Vec::<String>::new());
}

#[test]
fn more_data_than_the_system_gives_memory() {
    let dir = folder(&[("data.dat", &data(100_000, 10.0).repeat(10))]);
    let limit = "ulimit -v 150000";
    let ordinary = shell(dir.path(), limit, "--threads 2");
    assert!(!ordinary.status.success(), "it fits: the limit must be lower");
    let output = shell(dir.path(), limit, "--threads 2 --memory 128M --json");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["records"], 1_000_000);
    assert!(answer["parts"].as_u64().unwrap() > 1, "{answer}");
    let release = dir.path().join("release");
    run(&["verify", release.to_str().unwrap()]).assert().success();
}

#[test]
fn more_memory_than_may_be_taken_is_refused() {
    let dir = folder(&[("data.dat", &data(500, 4.0))]);
    refused(dir.path(), ":", "--memory 256M --max-memory 200M", &["268435456", "--max-memory"]);
}

#[test]
fn standard_input_and_another_place_for_raw_data() {
    let dir = folder(&[("data.dat", &data(500, 4.0))]);
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (release, again) = (path("release"), path("again"));
    let usual = ["anonymize", "disassociation", &path("data.dat"), "-k", "3", "-o", &release];
    run(&usual).assert().success();
    let (raw, from) = (path("raw"), fs::read(path("data.dat")).unwrap());
    let words = ["anonymize", "disassociation", "-", "--format", "fimi", "-k", "3"];
    let more = ["--memory", "200M", "--temporary", &raw, "-o", &again];
    // A slip of the pen does not put raw data on another disk.
    let error = failure(&[&words[..], &more[..]].concat());
    assert!(error.contains("--temporary") && error.contains("a directory that exists"), "{error}");
    assert!(!Path::new(&raw).exists() && !Path::new(&again).exists());
    fs::create_dir(&raw).unwrap();
    run(&[&words[..], &more[..]].concat()).write_stdin(from).assert().success();
    for name in ["clusters.jsonl", "manifest.json"] {
        let file = |dir: &str| fs::read(Path::new(dir).join(name)).unwrap();
        assert_eq!(file(&release), file(&again));
    }
    assert_eq!(left(Path::new(&raw)), Vec::<String>::new());
    // What a killed run left there is remarked on.
    fs::create_dir(Path::new(&raw).join(".again.0badcafe.partial")).unwrap();
    let words = ["anonymize", "disassociation", &path("data.dat"), "-k", "3", "--force"];
    let output = run(&[&words[..], &more[..]].concat()).assert().success().get_output().clone();
    let remark = String::from_utf8(output.stderr).unwrap();
    assert!(remark.contains(".again.0badcafe.partial: left "), "{remark}");
}

/// The file that a process keeps raw data in, once there is some.
#[cfg(target_os = "linux")]
fn raw_file(child: &Child) -> Option<PathBuf> {
    let open = fs::read_dir(format!("/proc/{}/fd", child.id())).ok()?;
    open.flatten().map(|entry| entry.path()).find(|path| {
        let name = fs::read_link(path).unwrap_or_default();
        let name = name.to_string_lossy();
        let some = fs::metadata(path).is_ok_and(|meta| meta.len() > 0);
        name.contains(".release.") && name.ends_with(".partial (deleted)") && some
    })
}

/// A process whose input never ends is killed, which it cannot notice, or told to end.
#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_killed_leaves_no_raw_data() {
    use std::os::unix::fs::PermissionsExt;
    for (signal, expected) in [("-KILL", None), ("-TERM", Some(143)), ("-HUP", Some(129))] {
        let dir = folder(&[]);
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("setveil"));
        command.current_dir(dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.args(["anonymize", "disassociation", "-", "--format", "fimi"]);
        command.args(["--memory", "128M", "-o", "release"]).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let feed = std::thread::spawn(move || {
            let some = data(20_000, 6.0);
            while input.write_all(&some).is_ok() {}
        });
        let raw = loop {
            if let Some(raw) = raw_file(&child) {
                break raw;
            }
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            // For a moment there is an empty file.
            let named = fs::read_dir(dir.path()).unwrap().flatten();
            let mut named = named.filter_map(|entry| entry.metadata().ok());
            assert!(named.all(|meta| meta.is_file() && meta.len() == 0), "raw data has a name");
            std::thread::sleep(Duration::from_millis(2));
        };
        assert_eq!(fs::metadata(raw).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(left(dir.path()), Vec::<String>::new(), "raw data has a name");
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert_eq!(child.wait().unwrap().code(), expected, "{signal}");
        feed.join().unwrap();
        assert_eq!(left(dir.path()), Vec::<String>::new(), "{signal}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_leaves_no_raw_data() {
    let dir = folder(&[("data.dat", &data(60_000, 6.0))]);
    for round in 0..settings::rounds(6) {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("setveil"));
        command.current_dir(dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.args(["anonymize", "disassociation", "data.dat", "--memory", "128M"]);
        let mut child = command.args(["-o", "release"]).spawn().unwrap();
        while raw_file(&child).is_none() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(round * 37 % 200));
        let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let code = output.status.code();
        assert!(code == Some(143) || code == Some(0) || !sent.success(), "{code:?}");
        if code == Some(0) {
            fs::remove_dir_all(dir.path().join("release")).unwrap();
        }
        assert_eq!(left(dir.path()), Vec::<String>::new());
    }
}

#[test]
fn a_full_disk_is_an_error_and_no_raw_data_is_left() {
    // More than waits in memory for its file.
    let dir = folder(&[("data.dat", &data(80_000, 6.0))]);
    refused(dir.path(), "ulimit -f 4", "--memory 128M", &["no room", "large", "--temporary"]);
}

#[test]
fn what_needs_all_data_at_once_is_refused() {
    let dir = folder(&[
        ("data.dat", &data(100, 4.0)),
        ("list.txt", b"i001\n"),
        ("sets.txt", b"i001 i002\n"),
    ]);
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (data, list, release) = (path("data.dat"), path("list.txt"), path("release"));
    let sets = path("sets.txt");
    let refused = |flags: &[&str], word: &str| {
        let words = ["anonymize", "disassociation", &data, "-o", &release];
        let error = failure(&[&words[..], flags].concat());
        assert!(error.contains(word), "{error}");
    };
    refused(&["--memory", "1G", "--safe"], "all data at once");
    refused(&["--memory", "1G", "--clustering", "whole"], "horpart");
    refused(&["--memory", "1G", "--sensitive", &list, "-l", "2"], "all data at once");
    refused(&["--memory", "1G", "--keep", &sets], "all data at once");
    refused(&["--memory", "1M"], "--memory = 1048576: expected at least 128M");
    refused(&["--temporary", &release], "--memory");
    let error = failure(&["anonymize", "dls", &data, "--memory", "1G", "-o", &release]);
    assert!(error.contains("--memory"), "{error}");
    assert_eq!(left(dir.path()), ["list.txt", "sets.txt"]);
}

#[test]
fn the_answer_tells_the_parts_and_the_release_does_not() {
    let dir = folder(&[("data.dat", &data(200, 4.0))]);
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let words = ["anonymize", "disassociation", &path("data.dat"), "--memory", "128M", "-o"];
    let answer = json(&[&words[..], &[&path("one"), "--json"]].concat());
    assert_eq!(answer["parts"], 1);
    let text = stdout(&[&words[..], &[&path("two")]].concat());
    assert!(!text.contains("parts"), "one is no news: {text}");
    let manifest = fs::read_to_string(path("one/manifest.json")).unwrap();
    assert!(!manifest.contains("part") && !manifest.contains("memory"), "{manifest}");
}
