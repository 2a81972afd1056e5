//! The house rules of ARCHITECTURE.md: which part of the library may use
//! which, that only `io` touches files, that nothing prints.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What each part may use beside itself, `error`, `progress` and `data`. A
/// part that is not listed here is an error: whoever adds one says where it stands.
const MAY_USE: &[(&str, &[&str])] = &[
    ("data", &[]),
    ("release", &[]),
    ("verify", &["release"]),
    ("methods", &["release"]),
    ("worlds", &["release"]),
    ("reconstruct", &["release", "worlds"]),
    ("query", &["release", "reconstruct", "worlds"]),
    ("mine", &[]),
    ("attack", &["release", "query", "reconstruct", "worlds"]),
    ("measure", &["release", "reconstruct", "query", "mine"]),
    ("profile", &[]),
    ("risk", &["release", "query", "reconstruct"]),
    ("generate", &[]),
    ("report", &["release", "verify", "attack", "measure", "profile", "query", "reconstruct"]),
    ("io", &["release", "generate"]),
    ("error", &[]),
    ("progress", &[]),
];
/// What everything may use.
const FREE: &[&str] = &["error", "progress", "data"];
/// What only `io` may say.
const FILES: &[&str] = &["std::fs", "std::net", "File::open", "File::create", "memmap2"];
/// What nothing in the library may say.
const PRINTS: &[&str] = &["println!", "eprintln!", "print!(", "dbg!(", "std::process::exit"];

/// The parts that `source` names in paths of this crate, tests and comments left out.
fn used_parts(source: &str) -> BTreeSet<String> {
    let mut parts = BTreeSet::new();
    for (at, _) in source.match_indices("crate::") {
        let rest = &source[at + "crate::".len()..];
        let words = match rest.strip_prefix('{') {
            // `use crate::{data::K, release::{Bag, Body}}`: the first words at the outer level.
            Some(list) => outer_words(list),
            None => vec![word(rest)],
        };
        parts.extend(words.into_iter().filter(|w| w.starts_with(char::is_lowercase)));
    }
    parts
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

fn outer_words(list: &str) -> Vec<String> {
    let (mut words, mut depth, mut start) = (Vec::new(), 0, true);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => start = true,
            c if depth == 0 && start && !c.is_whitespace() => {
                words.push(word(&list[at..]));
                start = false;
            }
            _ => {}
        }
    }
    words
}

/// The code without comments and without the unit tests at the end of the file.
fn code(source: &str) -> String {
    let source = source.split("#[cfg(test)]\nmod tests").next().unwrap_or(source);
    let line = |l: &str| l.split("//").next().unwrap_or(l).to_owned() + "\n";
    source.lines().map(line).collect()
}

/// The rules that the file at `path` inside `src` breaks.
fn broken_rules(path: &Path, source: &str) -> Vec<String> {
    let first = path.components().next().expect("a file").as_os_str().to_string_lossy();
    let part = first.trim_end_matches(".rs");
    if part == "lib" {
        return Vec::new();
    }
    let code = code(source);
    let mut broken = Vec::new();
    let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == part) else {
        return vec![format!("{}: `{part}` has no place in the table", path.display())];
    };
    for used in used_parts(&code) {
        let known = MAY_USE.iter().any(|(name, _)| *name == used);
        if known && used != part && !allowed.contains(&&*used) && !FREE.contains(&&*used) {
            broken.push(format!("{}: `{part}` must not use `{used}`", path.display()));
        }
    }
    for word in FILES.iter().filter(|_| part != "io") {
        if code.contains(word) {
            broken.push(format!("{}: only `io` touches files: {word}", path.display()));
        }
    }
    for word in PRINTS {
        if code.contains(word) {
            broken.push(format!("{}: the library prints nothing: {word}", path.display()));
        }
    }
    broken.extend(other_methods(path, &code));
    broken
}

/// A method must not reach into another one.
fn other_methods(path: &Path, code: &str) -> Vec<String> {
    let names: Vec<String> =
        path.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect();
    let [first, own, ..] = &names[..] else { return Vec::new() };
    if first != "methods" || own.ends_with(".rs") {
        return Vec::new();
    }
    code.match_indices("crate::methods::")
        .map(|(at, found)| word(&code[at + found.len()..]))
        .filter(|other| !SHARED_METHODS.contains(&other.as_str()) && other != own)
        .map(|other| format!("{}: `{own}` must not use `{other}`", path.display()))
        .collect()
}

/// What methods share: kernels on one cluster, the split by sensitive items,
/// rows and classes over a hierarchy, and what every method brings along.
const SHARED_METHODS: &[&str] = &["disassociation", "sensitive", "generalization", "recipe"];

fn rust_files(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn every_file_keeps_to_the_layers() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    assert!(files.len() > 20, "the sources are where they were");
    let mut broken = Vec::new();
    for file in &files {
        let source = fs::read_to_string(file).unwrap();
        broken.extend(broken_rules(file.strip_prefix(&src).unwrap(), &source));
    }
    assert!(broken.is_empty(), "ARCHITECTURE.md forbids:\n{}", broken.join("\n"));
}

#[test]
fn the_checker_sees_every_kind_of_violation() {
    for (path, source, word) in [
        ("methods/dls/mod.rs", "use crate::verify::verify;", "must not use `verify`"),
        ("methods/dls/mod.rs", "use crate::{Dataset, verify::{a, b}};", "must not use `verify`"),
        ("methods/dls/mod.rs", "fn f() { crate::io::read_dataset() }", "must not use `io`"),
        ("methods/dls/mod.rs", "use crate::methods::cahd::x;", "`dls` must not use `cahd`"),
        ("verify/km.rs", "use crate::methods::disassociation;", "must not use `methods`"),
        ("release/mod.rs", "use crate::io;", "must not use `io`"),
        ("data/mod.rs", "use std::fs::File;", "only `io` touches files"),
        ("query/mod.rs", "fn f() { println!(\"x\"); }", "prints nothing"),
        ("cleverness/mod.rs", "", "no place in the table"),
    ] {
        let broken = broken_rules(Path::new(path), source);
        assert!(broken.iter().any(|b| b.contains(word)), "{path}: {source}: {broken:?}");
    }
    for (path, source) in [
        (
            "methods/dls/mod.rs",
            "// use crate::verify;\nuse crate::{Error, data::K, release::{Bag}};",
        ),
        ("io/mod.rs", "use std::fs; use crate::release::Bag; use crate::generate::Quest;"),
        ("verify/mod.rs", "use crate::release;\n#[cfg(test)]\nmod tests { use crate::methods; }"),
    ] {
        assert_eq!(broken_rules(Path::new(path), source), Vec::<String>::new());
    }
}
