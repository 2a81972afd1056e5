//! The house rules of ARCHITECTURE.md: which part of the library may use
//! which, what the command line may use, that only `io` touches files, that
//! nothing prints. A permission that nobody uses is an error as well: the
//! tables say what is, not what could be. And every property test has a fixed
//! seed.

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
    ("reconstruct", &["release"]),
    ("query", &["release", "reconstruct", "worlds"]),
    ("mine", &[]),
    ("attack", &["release", "reconstruct", "worlds"]),
    ("measure", &["release", "reconstruct", "query", "mine"]),
    ("profile", &[]),
    ("risk", &["release", "query", "reconstruct"]),
    ("generate", &[]),
    ("report", &["attack", "caution", "chart", "release", "verify", "measure", "risk"]),
    ("caution", &["release"]),
    ("chart", &[]),
    ("io", &["release", "generate"]),
    (
        "workflow",
        &[
            "attack",
            "caution",
            "chart",
            "inspect",
            "io",
            "measure",
            "methods",
            "mine",
            "profile",
            "query",
            "reconstruct",
            "release",
            "report",
            "risk",
            "verify",
        ],
    ),
    ("setters", &[]),
    ("inspect", &["io"]),
    ("error", &[]),
    ("budget", &[]),
    ("progress", &[]),
];
/// The parts of the library that the command line may use. The fewer the
/// better: what a command computes belongs into the library.
const COMMAND_LINE: &[&str] = &[
    "attack",
    "caution",
    "budget",
    "data",
    "error",
    "generate",
    "inspect",
    "io",
    "measure",
    "methods",
    "profile",
    "progress",
    "query",
    "reconstruct",
    "release",
    "report",
    "risk",
    "verify",
    "workflow",
];
/// The parts of the library that the page may use: results and their types. What
/// it shows is computed by `workflow`.
const PAGE: &[&str] = &[
    "budget",
    "caution",
    "data",
    "error",
    "inspect",
    "io",
    "measure",
    "methods",
    "profile",
    "query",
    "reconstruct",
    "report",
    "risk",
    "verify",
    "workflow",
];
/// What everything may use.
const FREE: &[&str] = &["error", "progress", "budget", "data"];
/// What only `io` may say, and `budget`, which asks the system for its memory.
const FILES: &[&str] = &["std::fs", "std::net", "File::open", "File::create"];
/// What nothing in the library may say.
const PRINTS: &[&str] = &["println!", "eprintln!", "print!(", "dbg!(", "std::process::exit"];

/// The parts that `source` names in paths that begin with `root`, tests and
/// comments left out.
fn used_parts(source: &str, root: &str) -> BTreeSet<String> {
    let mut parts = BTreeSet::new();
    for (at, _) in source.match_indices(root) {
        let rest = &source[at + root.len()..];
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

/// The module of the file at `path` inside `src`, from the root of the crate.
fn module(path: &Path) -> Vec<String> {
    let without = path.with_extension("");
    let mut names: Vec<String> =
        without.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect();
    names.pop_if(|last| last == "mod");
    names
}

/// The code with every path that climbs by `super` written from the root: a
/// path that leaves its part is seen like any other.
fn from_root(code: &str, module: &[String]) -> String {
    let (mut out, mut rest) = (String::new(), code);
    while let Some(at) = rest.find("super::") {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let climbs = from.split("super::").take_while(|between| between.is_empty()).count();
        out.push_str("crate::");
        for name in &module[..module.len().saturating_sub(climbs)] {
            out.push_str(&format!("{name}::"));
        }
        rest = &from[climbs * "super::".len()..];
    }
    out + rest
}

/// The rules that the file at `path` inside `src` breaks.
fn broken_rules(path: &Path, source: &str) -> Vec<String> {
    let first = path.components().next().expect("a file").as_os_str().to_string_lossy();
    let part = first.trim_end_matches(".rs");
    if part == "lib" {
        return Vec::new();
    }
    let code = from_root(&code(source), &module(path));
    let mut broken = Vec::new();
    let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == part) else {
        return vec![format!("{}: `{part}` has no place in the table", path.display())];
    };
    for used in used_parts(&code, "crate::") {
        let known = MAY_USE.iter().any(|(name, _)| *name == used);
        if known && used != part && !allowed.contains(&&*used) && !FREE.contains(&&*used) {
            broken.push(format!("{}: `{part}` must not use `{used}`", path.display()));
        }
    }
    for word in FILES.iter().filter(|_| part != "io" && part != "budget") {
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
    used_parts(code, "crate::methods::")
        .into_iter()
        .filter(|other| !SHARED_METHODS.contains(&other.as_str()) && other != own)
        .map(|other| format!("{}: `{own}` must not use `{other}`", path.display()))
        .collect()
}

/// What methods share: kernels on one cluster, the split by sensitive items,
/// rows and classes over a hierarchy, what can be numbered, and what every
/// method brings along.
const SHARED_METHODS: &[&str] =
    &["disassociation", "sensitive", "generalization", "limits", "recipe"];

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

/// The sources of a crate: paths inside its folder `inside`, and texts.
fn sources(name: &str, inside: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join(inside);
    let mut files = Vec::new();
    rust_files(&folder, &mut files);
    files.sort_unstable();
    let read = |file: &PathBuf| fs::read_to_string(file).unwrap();
    files.iter().map(|f| (f.strip_prefix(&folder).unwrap().to_owned(), read(f))).collect()
}

/// The permissions that no file uses.
fn unused(files: &[(PathBuf, String)]) -> Vec<String> {
    let mut used: BTreeSet<(String, String)> = BTreeSet::new();
    for (path, source) in files {
        let module = module(path);
        for part in used_parts(&from_root(&code(source), &module), "crate::") {
            used.insert((module[0].clone(), part));
        }
    }
    let all = MAY_USE.iter().flat_map(|(part, allowed)| allowed.iter().map(move |a| (*part, *a)));
    all.filter(|(part, other)| !used.contains(&((*part).to_owned(), (*other).to_owned())))
        .map(|(part, other)| format!("`{part}` may use `{other}`, but does not"))
        .collect()
}

#[test]
fn every_file_keeps_to_the_layers() {
    let files = sources("setveil", "src");
    assert!(files.len() > 20, "the sources are where they were");
    let mut broken = unused(&files);
    for (path, source) in &files {
        broken.extend(broken_rules(path, source));
    }
    assert!(broken.is_empty(), "ARCHITECTURE.md forbids:\n{}", broken.join("\n"));
}

/// Every part of the library that a front end uses is among `allowed`, and each of
/// those is used.
fn front_end(name: &str, allowed: &[&str]) {
    let mut files = sources(name, "src");
    assert!(files.len() > 20, "the sources are where they were");
    files.retain(|(path, _)| !path.starts_with("tests"));
    let mut used = BTreeSet::new();
    for (path, source) in &files {
        for part in used_parts(&code(source), "setveil::") {
            let known = MAY_USE.iter().any(|(name, _)| *name == part);
            let may = allowed.contains(&&*part);
            assert!(!known || may, "{name}: {} must not use `{part}`", path.display());
            used.insert(part);
        }
    }
    for part in allowed {
        assert!(used.contains(*part), "{name} may use `{part}`, but does not");
    }
}

#[test]
fn front_ends_use_what_they_may() {
    front_end("setveil-cli", COMMAND_LINE);
    front_end("setveil-web", PAGE);
}

#[test]
fn property_tests_have_fixed_seeds() {
    let seeded = |source: &str| {
        source.match_indices("proptest! {").all(|(at, _)| {
            let next = source[at..].lines().nth(1).unwrap_or("").trim();
            next.starts_with("#![proptest_config(testkit::settings::cases(")
        })
    };
    assert!(!seeded("proptest! {\n    #[test]"));
    let mut blocks = 0;
    for (name, inside) in [("setveil", "src"), ("setveil", "tests"), ("setveil-cli", ".")] {
        for (path, source) in sources(name, inside) {
            if !path.ends_with("layering.rs") {
                blocks += source.matches("proptest! {").count();
                assert!(seeded(&source), "{}: take testkit::settings::cases", path.display());
            }
        }
    }
    assert!(blocks > 5, "the tests are where they were");
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
        ("methods/dls/mpie.rs", "use super::super::super::verify::x;", "must not use `verify`"),
        ("methods/dls/mpie.rs", "use super::super::cahd::x;", "`dls` must not use `cahd`"),
        ("methods/dls/mod.rs", "use super::cahd::x;", "`dls` must not use `cahd`"),
        ("verify/km.rs", "use super::super::methods::{a, b};", "must not use `methods`"),
    ] {
        let broken = broken_rules(Path::new(path), source);
        assert!(broken.iter().any(|b| b.contains(word)), "{path}: {source}: {broken:?}");
    }
    for (path, source) in [
        (
            "methods/dls/mod.rs",
            "// use crate::verify;\nuse crate::{Error, data::K, release::{Bag}};",
        ),
        ("methods/dls/mpie.rs", "use super::super::disassociation::x; use super::{a, b};"),
        ("io/release/read.rs", "use super::super::json::x; pub(super) fn f() {}"),
        ("io/mod.rs", "use std::fs; use crate::release::Bag; use crate::generate::Quest;"),
        ("verify/mod.rs", "use crate::release;\n#[cfg(test)]\nmod tests { use crate::methods; }"),
    ] {
        assert_eq!(broken_rules(Path::new(path), source), Vec::<String>::new());
    }
    let one = [(PathBuf::from("verify/mod.rs"), "use super::release::Bag;".to_owned())];
    let missing = unused(&one);
    assert!(!missing.iter().any(|m| m.starts_with("`verify`")), "{missing:?}");
    assert!(missing.contains(&"`worlds` may use `release`, but does not".to_owned()));
}
