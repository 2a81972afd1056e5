//! The page and the schema of a release against the only ones that may be there.
//!
//! `README.md` and `schema.json` are the same for all releases of a method with
//! files of one kind, so they can tell nothing about the data, as long as they
//! are those. Here they are known by their checksums alone: this module shares
//! nothing with what writes them. When a text changes, its new checksum is
//! added, and the old one stays for the releases that have it. Releases of
//! before have neither file.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::{Findings, Violation};
use crate::release::Manifest;

const README: &str = "README.md";
const SCHEMA: &str = "schema.json";

// The schemas, by the kind of the files.
const CLUSTERS: &str = "0c9cc7be4fcb9d0e2c00713bbbc573b16fc4aa22a7bc86347177ddd175ab49c4";
const CLASSES: &str = "ec3337481e7bef60915ab007f89f7a63584ae86322f785621eb862207491e2f2";
const GROUPS: &str = "410869e5a4d3ed04ba68725134471089f1c2d726cf4d618497eda0059de5e1ff";
const LEAVES: &str = "4667f1737abb7ce57410d71e10cc858d826611712b883f3b6c4d46ad81d7c9d2";

/// The method, the files of its body, and the SHA-256 of page and schema.
const KNOWN: &[(&str, &str, &str, &str)] = &[
    (
        "disassociation",
        "clusters",
        "9c3b818dc0fe803c4d8b2f2b19ed132a8c88a594c583b4d384c9c169ba23245d",
        CLUSTERS,
    ),
    (
        "dls",
        "clusters",
        "542ac95aea51cc31c73be3e85eebcb4bb28ea9ebb766914545d447d675ffb06e",
        CLUSTERS,
    ),
    (
        "local-suppression",
        "leaves",
        "0ab5e348aedd8fd948f0a6e5d425a0e63ef2b101224a93dd36bbeaedc9398f78",
        LEAVES,
    ),
    (
        "local-suppression",
        "classes",
        "954e556a2c9c6e7e3409c307652c21dd385052605b402c30c7421fbb28b09c98",
        CLASSES,
    ),
    (
        "partition",
        "classes",
        "190a1501de834c332bc0d05467d3f49b29fab46ff1b486f0559e30530e430b03",
        CLASSES,
    ),
    (
        "apriori",
        "classes",
        "12cb527a55132cadddc1fca12bd3f311c33f6bdfbf493928918237a6e5b1355a",
        CLASSES,
    ),
    (
        "diffpart",
        "classes",
        "0f56ee3e93a72c3c824ed3bbddd5bf8bb23f9da75b2c2efbbc895dab863e8f48",
        CLASSES,
    ),
    (
        "suppress-rare",
        "classes",
        "3d512c685757d5316466c1834ffefb443ef1d539f693d785cb65724aa2561047",
        CLASSES,
    ),
    ("cahd", "groups", "064a16a3f95e5fcbc9e2bb137959d1c15c72e54446b81caef20076db222c3787", GROUPS),
    (
        "perm-mondrian",
        "groups",
        "6ea29935bf3f2c571a5bfe835ed4b298404e6969a3992bd6119f5e09daf34264",
        GROUPS,
    ),
];

/// What is wrong with the page and the schema among `files`, all by name.
pub fn explained(manifest: &Manifest, files: &BTreeMap<String, Vec<u8>>) -> Vec<Violation> {
    let listed = |name: &str| manifest.files.iter().any(|file| file.name == name);
    if !listed(README) && !listed(SCHEMA) {
        return Vec::new();
    }
    if !(listed(README) && listed(SCHEMA)) {
        let what = format!("manifest.json: {README} and {SCHEMA} come together");
        return vec![violation(what)];
    }
    let body = manifest.files.first().map_or("", |file| file.name.as_str());
    let known: Vec<_> = KNOWN
        .iter()
        .filter(|(method, kind, ..)| {
            let rest = body.strip_prefix(kind);
            manifest.method == *method && rest.is_some_and(|rest| rest.starts_with(['.', '-']))
        })
        .collect();
    let sum = |name: &str| files.get(name).map(|bytes| hex(bytes)).unwrap_or_default();
    let (readme, schema) = (sum(README), sum(SCHEMA));
    if known.iter().any(|(.., page, shape)| readme == *page && schema == *shape) {
        return Vec::new();
    }
    let other = |name: &str| {
        violation(format!("{name}: not the text that all releases of this method have"))
    };
    let mut found = Vec::new();
    found.extend((!known.iter().any(|known| readme == known.2)).then(|| other(README)));
    found.extend((!known.iter().any(|known| schema == known.3)).then(|| other(SCHEMA)));
    if found.is_empty() {
        found.push(violation(format!("{README} and {SCHEMA}: not of the same version")));
    }
    found
}

/// The files are listed in the order of the format: the body, what belongs to
/// it, the page, the schema. Another order could carry something.
pub(super) fn order(manifest: &Manifest, findings: &mut Findings) {
    let rank = |name: &str| match name {
        SCHEMA => 3,
        README => 2,
        "hierarchy.csv" | "totals.jsonl" => 1,
        _ => 0,
    };
    if !manifest.files.is_sorted_by_key(|file| rank(&file.name)) {
        let what = "files do not stand in the order of the format";
        findings.take(violation(format!("manifest.json: {what}")));
    }
}

fn violation(place: String) -> Violation {
    Violation { r#where: place, itemset: Vec::new(), support: 0, required: 0, rule: "explained" }
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
