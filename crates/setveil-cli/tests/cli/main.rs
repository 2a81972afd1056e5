//! The command line from outside: one module a command.

mod analyst;
mod bad_input;
mod band;
mod browser;
mod bytes;
mod cahd;
mod commands;
mod diffpart;
mod dls;
mod explained;
mod generalization;
mod inspect;
mod manners;
#[cfg(unix)]
mod on_disk;
mod risk;
#[cfg(unix)]
mod torture;
mod utility;
mod verdicts;

use assert_cmd::Command;

/// The program, away from any terminal.
pub fn setveil(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("setveil").expect("the program is built");
    command.args(args);
    command
}

/// What it says on standard output.
pub fn stdout(args: &[&str]) -> String {
    let output = setveil(args).assert().success().get_output().clone();
    String::from_utf8(output.stdout).expect("text")
}

/// What it answers as JSON.
pub fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&stdout(args)).expect("one JSON object")
}

/// What it says on standard error when it fails with exit code 2.
pub fn failure(args: &[&str]) -> String {
    let output = setveil(args).assert().code(2).get_output().clone();
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).expect("text")
}

/// A directory with files in it.
pub fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (name, content) in files {
        std::fs::write(dir.path().join(name), content).expect("a writable directory");
    }
    dir
}
mod attack;
