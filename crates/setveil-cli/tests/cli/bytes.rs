//! Every single byte of a release counts: whatever is changed is found, or
//! what results is a release of its own, spelled in the only way there is.

use std::fs;
use std::path::{Path, PathBuf};

use setveil::io::{open_release, write_release};
use setveil::release::{Manifest, Release};
use setveil::verify::{Files, explained, text, verify};
use tempfile::TempDir;

use crate::{folder, setveil};

/// What each method is told; all work on the same few baskets.
const METHODS: &[(&str, &[&str])] = &[
    ("disassociation", &["-k", "2", "--max-cluster-size", "4"]),
    ("dls", &["-k", "2", "--max-cluster-size", "4"]),
    ("partition", &["-k", "2", "--hierarchy", "tree.csv"]),
    ("apriori", &["-k", "2", "-m", "2", "--hierarchy", "tree.csv"]),
    ("diffpart", &["--epsilon", "2.5", "--hierarchy", "tree.csv"]),
    ("suppress-rare", &["-k", "2"]),
    ("cahd", &["-p", "2", "--sensitive", "sensitive.txt"]),
    ("perm-mondrian", &["-p", "2", "--sensitive", "sensitive.txt"]),
    ("local-suppression", &["-k", "2", "--max-cluster-size", "4"]),
    ("local-suppression", &["-k", "2", "--max-cluster-size", "all"]),
    ("local-suppression", &["-k", "2", "--max-cluster-size", "4", "--sensitive", "sensitive.txt"]),
    ("local-suppression", &["-k", "2", "--max-cluster-size", "4", "--no-item-counts"]),
    ("local-suppression", &["-k", "2", "--only-combinations"]),
];

/// Parameters that a custodian chooses and that no guarantee depends on. They
/// are numbers in their range: another number makes another, equally
/// well-formed release, and says nothing about the data that its file does not.
const FREE: &[&str] = &["max_cluster_size", "alpha", "fanout"];

fn release_of(method: &str, args: &[&str]) -> (TempDir, PathBuf) {
    let dir = folder(&[
        ("baskets.dat", b"a b c\na b s\na b\nb c\nc d\nc d\na d\na b c d\n"),
        ("tree.csv", b"a;x;*\nb;x;*\nc;y;*\nd;y;*\ns;y;*\n"),
        ("sensitive.txt", b"s\n"),
    ]);
    let mut command = setveil(&["anonymize", method, "baskets.dat", "-o", "release"]);
    command.args(args).current_dir(dir.path()).assert().success();
    let release = dir.path().join("release");
    (dir, release)
}

/// What `setveil verify` decides on: the release, and whether it holds. None if it
/// cannot even be read, or if its files have faults and `checksums` count.
fn judge(dir: &Path, checksums: bool) -> Option<(Release, bool)> {
    let opened = open_release(dir).ok()?;
    if checksums && !opened.faults.is_empty() {
        return None;
    }
    let listed = opened.release.manifest.files.iter().map(|file| &file.name);
    let bodies: Vec<(&String, Vec<u8>)> = listed
        .filter(|name| name.ends_with(".jsonl"))
        .map(|name| Some((name, fs::read(dir.join(name)).ok()?)))
        .collect::<Option<_>>()?;
    let hierarchy = fs::read(dir.join("hierarchy.csv")).ok();
    let manifest = fs::read(dir.join("manifest.json")).ok()?;
    let body: Vec<(&str, &[u8])> = bodies.iter().map(|(name, b)| (name.as_str(), &b[..])).collect();
    let files = Files { manifest: &manifest, body: &body, hierarchy: hierarchy.as_deref() };
    let read = |name: &&str| Some(((*name).to_owned(), fs::read(dir.join(name)).ok()?));
    let others = SAME_FOR_ALL.iter().map(read).collect::<Option<_>>()?;
    let spelled = text(&opened.release, &files).is_empty()
        && explained(&opened.release.manifest, &others).is_empty();
    let holds = spelled && verify(&opened.release, &()).ok()?.holds;
    Some((opened.release, holds))
}

/// The files that are the same for all releases of a method.
const SAME_FOR_ALL: &[&str] = &["README.md", "schema.json"];

/// Of files that are known by a checksum, some bytes are enough.
fn step(path: &Path) -> usize {
    if SAME_FOR_ALL.iter().any(|name| path.ends_with(name)) { 211 } else { 1 }
}

/// Calls `each` with every change of one byte of a file: other bytes, bytes
/// put in, the byte left out.
fn each_change(original: &[u8], step: usize, each: &mut dyn FnMut(&[u8])) {
    for at in (0..original.len()).step_by(step) {
        let byte = original[at];
        for other in [byte ^ 1, byte ^ 0x20, byte.wrapping_add(2), b' ', b'0'] {
            if other != byte {
                let mut changed = original.to_vec();
                changed[at] = other;
                each(&changed);
            }
        }
        for new in [byte, b' ', b'\n', b'0', b'\\'] {
            let mut changed = original.to_vec();
            changed.insert(at, new);
            each(&changed);
        }
        let mut changed = original.to_vec();
        changed.remove(at);
        each(&changed);
    }
}

fn without_free(manifest: &Manifest) -> Manifest {
    let mut manifest = manifest.clone();
    FREE.iter().for_each(|name| drop(manifest.parameters.remove(*name)));
    manifest
}

fn every_change_is_found_or_harmless(method: &str, args: &[&str]) {
    let (_keep, dir) = release_of(method, args);
    let (original, holds) = judge(&dir, true).expect("a release");
    assert!(holds, "{method}");
    let (mut tried, mut harmless) = (0, 0);
    let mut names: Vec<PathBuf> = fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort_unstable();
    for path in names {
        let bytes = fs::read(&path).unwrap();
        each_change(&bytes, step(&path), &mut |changed| {
            tried += 1;
            fs::write(&path, changed).unwrap();
            let Some((release, true)) = judge(&dir, true) else { return };
            harmless += 1;
            assert!(path.ends_with("manifest.json"), "{method}: {}", path.display());
            assert_eq!(without_free(&release.manifest), without_free(&original.manifest));
            assert_eq!(release.body, original.body);
        });
        fs::write(&path, &bytes).unwrap();
    }
    assert!(tried > 5_000 && harmless < 40, "{method}: {tried} {harmless}");
}

/// Somebody who changes a file can change its checksum as well. What is then
/// accepted is what the program itself would write for the content: nothing
/// is carried beside it.
fn what_is_accepted_has_one_spelling(method: &str, args: &[&str]) {
    let (keep, dir) = release_of(method, args);
    let again = keep.path().join("again");
    let mut names: Vec<PathBuf> = fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort_unstable();
    let (mut found, mut accepted) = (0, 0);
    for path in names.iter().filter(|path| !path.ends_with("manifest.json")) {
        let bytes = fs::read(path).unwrap();
        each_change(&bytes, step(path), &mut |changed| {
            fs::write(path, changed).unwrap();
            let Some((release, true)) = judge(&dir, false) else {
                found += 1;
                return;
            };
            accepted += 1;
            write_release(&release, &again, true).unwrap();
            let name = path.file_name().unwrap();
            assert_eq!(fs::read(again.join(name)).unwrap(), changed, "{method}: {name:?}");
        });
        fs::write(path, &bytes).unwrap();
    }
    // Noise may have any count, so more of its changes are content.
    let least = if method == "diffpart" { accepted } else { 10 * accepted };
    assert!(found > least, "{method}: {found} {accepted}");
}

#[test]
fn every_byte_of_clusters_counts() {
    METHODS[..2].iter().for_each(|(method, args)| every_change_is_found_or_harmless(method, args));
}

#[test]
fn every_byte_of_generalised_classes_counts() {
    METHODS[2..4].iter().for_each(|(method, args)| every_change_is_found_or_harmless(method, args));
}

#[test]
fn every_byte_of_other_classes_counts() {
    METHODS[4..6].iter().for_each(|(method, args)| every_change_is_found_or_harmless(method, args));
}

#[test]
fn every_byte_of_groups_counts() {
    METHODS[6..8].iter().for_each(|(method, args)| every_change_is_found_or_harmless(method, args));
}

#[test]
fn every_byte_of_leaves_counts() {
    METHODS[8..].iter().for_each(|(method, args)| every_change_is_found_or_harmless(method, args));
}

#[test]
fn nothing_is_carried_beside_the_content() {
    for (method, args) in METHODS {
        what_is_accepted_has_one_spelling(method, args);
    }
}
