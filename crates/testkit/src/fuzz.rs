//! What the fuzz targets run: plain functions of bytes that must not panic.
//!
//! `make fuzz` runs them with libFuzzer (`fuzz/`); the ordinary tests feed them
//! seeds, mutations of seeds and random bytes.

use std::path::Path;

use arrow_array::RecordBatchIterator;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use setveil::budget::Budget;
use setveil::data::ArrowOptions;
use setveil::io::{
    ClusterBlocks, Format, MemoryRelease, ReadOptions, open_release_from, parse_dataset,
    parse_hierarchy, read_dataset_from, read_release_from,
};
use setveil::reconstruct::TermOccurrences;
use setveil::release::{Body, Release};
use setveil::workflow::{self, QueryOptions, ReconstructOptions};
use setveil::{Dataset, attack};

use crate::{hostile, made_parquet, tables};

/// Memory that an input may take: little, so that a fuzzer sees who takes more.
const BUDGET: Budget = Budget::new(64 << 20);

/// A fuzz target: its name, and what it runs.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("fimi", fimi),
    ("spmf", spmf),
    ("basket_csv", basket_csv),
    ("long_csv", long_csv),
    ("jsonl", jsonl),
    ("json", json),
    ("parquet", parquet),
    ("release", release),
    ("hierarchy", hierarchy),
    ("arrow", arrow),
    ("verify", verify),
    ("query", query),
    ("attack", attack),
    ("reconstruct", reconstruct),
];

/// Reads `bytes` strictly and leniently; what is read keeps its promises.
fn read(bytes: &[u8], options: &ReadOptions) {
    let name = Path::new("fuzzed");
    let strict = parse_dataset(name, bytes, options);
    let lenient = options.clone().skip_bad_lines(true);
    let lenient = parse_dataset(name, bytes, &lenient);
    if let (Ok(strict), Ok(lenient)) = (&strict, &lenient) {
        assert_eq!(strict.dataset, lenient.dataset);
        assert_eq!(lenient.skipped_lines, 0, "a strict reading found nothing to skip");
    }
    for input in [strict, lenient].into_iter().flatten() {
        let findings = setveil::inspect::check(&input);
        findings.findings.iter().for_each(|f| assert!(!f.describe().contains('\n')));
        let data = input.dataset;
        assert!(data.records().all(|r| !r.is_empty() && r.is_sorted_by(|a, b| a < b)));
        assert!(data.supports().iter().all(|&s| s > 0), "every label occurs");
        assert!(data.vocabulary().labels().is_sorted_by(|a, b| a < b));
        assert!(data.vocabulary().labels().all(|l| !l.is_empty()));
    }
}

fn options(format: Format, id: Option<&str>, item: Option<&str>) -> ReadOptions {
    ReadOptions::default()
        .format(Some(format))
        .id(id.map(str::to_owned))
        .item(item.map(str::to_owned))
}

/// The FIMI reader.
pub fn fimi(bytes: &[u8]) {
    read(bytes, &options(Format::Fimi, None, None));
    for encoding in ["utf-16le", "windows-1252"] {
        let encoding = Some(encoding.parse().expect("a known encoding"));
        read(bytes, &options(Format::Fimi, None, None).encoding(encoding));
    }
}

/// The SPMF reader.
pub fn spmf(bytes: &[u8]) {
    read(bytes, &options(Format::Spmf, None, None));
}

/// The basket CSV reader.
pub fn basket_csv(bytes: &[u8]) {
    read(bytes, &options(Format::BasketCsv, None, None));
}

/// The long CSV reader.
pub fn long_csv(bytes: &[u8]) {
    read(bytes, &options(Format::LongCsv, Some("who"), Some("what")));
    // A wide table with several items in a cell, in one spelling.
    let wide = options(Format::LongCsv, Some("who"), None);
    let split = Some("t".to_owned());
    read(bytes, &wide.split(split).fold_case(true).normalize(true));
}

/// The JSON Lines reader, with arrays and with objects.
pub fn jsonl(bytes: &[u8]) {
    read(bytes, &options(Format::Jsonl, None, None));
    read(bytes, &options(Format::Jsonl, None, Some("what")));
}

/// The reader of one big JSON array, with arrays and with objects.
pub fn json(bytes: &[u8]) {
    read(bytes, &options(Format::Json, None, None));
    read(bytes, &options(Format::Json, None, Some("what")));
}

/// The Parquet reader, with lists and with a long table; then the bytes are the
/// pages of a column, so that more of them reach the headers of pages.
pub fn parquet(bytes: &[u8]) {
    let long = options(Format::Parquet, Some("who"), Some("what"));
    read(bytes, &options(Format::Parquet, None, None));
    read(bytes, &long);
    let pages = made_parquet::long_table(bytes);
    read(&pages, &long);
    for bytes in [bytes, &pages] {
        let _ = read_dataset_from(bytes, Path::new("fuzzed"), &long, &BUDGET);
    }
}

/// The release reader: the bytes are a file of the body, under each of its
/// names, and the manifest itself. Block by block the outcome is the same.
pub fn release(bytes: &[u8]) {
    for (version, names) in [
        (1, &["clusters.jsonl"][..]),
        (1, &["classes.jsonl"]),
        (1, &["groups.jsonl"]),
        (2, &["leaves.jsonl", "totals.jsonl"]),
    ] {
        let files: Vec<String> = names
            .iter()
            .map(|name| format!(r#"{{"name":"{name}","bytes":1,"lines":1,"sha256":""}}"#))
            .collect();
        let manifest = format!(
            r#"{{"format":"setveil-release","version":{version},"method":"m","parameters":{{}},
            "guarantee":{{"model":"k-anonymity","k":2,"supports":"exact"}},"records":1,"items":1,
            "files":[{}],"tool":"t"}}"#,
            files.join(",")
        );
        let mut memory = MemoryRelease::default();
        memory.files.insert("manifest.json".into(), manifest.into_bytes());
        for name in names {
            memory.files.insert((*name).into(), bytes.to_vec());
        }
        let whole = open_release_from(&memory, &BUDGET);
        if names[0] == "clusters.jsonl" {
            let blocks = ClusterBlocks::open(&memory, &BUDGET).expect("the manifest is read");
            let mut clusters = 0;
            let read = blocks
                .block_bytes(64)
                .try_for_each(|block| block.map(|block| clusters += block.body.clusters.len()));
            assert_eq!(whole.is_ok(), read.is_ok(), "{whole:?} {read:?}");
            if let Ok(Body::Disassociated(body)) = whole.map(|opened| opened.release.body) {
                assert_eq!(body.clusters.len(), clusters);
            }
        }
    }
    let mut memory = MemoryRelease::default();
    memory.files.insert("manifest.json".into(), bytes.to_vec());
    let _ = open_release_from(&memory, &BUDGET);
}

/// The hierarchy reader: what is read is a tree, and is read again the same.
pub fn hierarchy(bytes: &[u8]) {
    let name = Path::new("fuzzed");
    if let Ok(tree) = parse_hierarchy(name, bytes) {
        let leaves: Vec<u32> = tree.leaves(0).collect();
        assert!(leaves.iter().all(|&leaf| tree.is_leaf(leaf)));
        for &leaf in &leaves {
            let mut node = leaf;
            for _ in 0..=tree.len() {
                node = tree.parent(node);
            }
            assert_eq!(node, 0, "every way up ends at the root");
        }
    }
}

/// Arrow tables.
pub fn arrow(bytes: &[u8]) {
    let (schema, batches) = tables::batches(bytes);
    let names: Vec<Option<String>> =
        [None].into_iter().chain(schema.fields().iter().map(|f| Some(f.name().clone()))).collect();
    for id in &names {
        for item in &names {
            for skip_bad_rows in [false, true] {
                let options = ArrowOptions::default()
                    .id(id.clone())
                    .item(item.clone())
                    .skip_bad_rows(skip_bad_rows);
                let reader =
                    RecordBatchIterator::new(batches.clone().into_iter().map(Ok), schema.clone());
                if let Ok(input) = Dataset::from_arrow(reader, &options, &BUDGET) {
                    assert!(input.dataset.records().all(|r| !r.is_empty()));
                }
            }
        }
    }
}

/// A release that is read, or none where the writer refuses what the bytes say.
fn read_back(bytes: &[u8]) -> Option<(MemoryRelease, Release)> {
    let files = hostile::files(bytes)?;
    let opened = open_release_from(&files, &BUDGET).expect("what was written can be read");
    assert!(opened.faults.is_empty(), "{:?}", opened.faults);
    let release = read_release_from(&files, &BUDGET).ok()?;
    Some((files, release))
}

/// `verify`, and that its two ways to read a release agree.
pub fn verify(bytes: &[u8]) {
    let Some(files) = hostile::files(bytes) else { return };
    let opened = open_release_from(&files, &BUDGET).expect("what was written can be read");
    let whole = workflow::check(&opened, &BUDGET);
    let stream = workflow::verify_from(&files, &BUDGET);
    if let (Ok(whole), Ok(stream)) = (whole, stream) {
        assert_eq!((whole.holds, whole.violation_count), (stream.holds, stream.violation_count));
    }
}

/// `query`: bounds are in order, and the expectation is between them.
pub fn query(bytes: &[u8]) {
    let Some((_, release)) = read_back(bytes) else { return };
    let labels: Vec<&str> = release.body.vocabulary().labels().collect();
    let itemsets: Vec<Vec<&str>> = labels
        .iter()
        .map(|label| vec![*label])
        .chain(labels.windows(2).map(<[&str]>::to_vec))
        .chain([labels.clone(), vec!["nowhere"]])
        .collect();
    for terms in [TermOccurrences::Once, TermOccurrences::BelowK, TermOccurrences::Any] {
        let options = QueryOptions::default().terms(terms);
        let Ok(answers) = workflow::query(&release, &itemsets, &options, &BUDGET) else { return };
        for answer in answers {
            assert!(answer.expected.is_finite() && answer.expected >= 0.0, "{answer:?}");
            assert!(answer.upper.is_none_or(|upper| answer.lower <= upper), "{answer:?}");
        }
    }
}

/// `attack`, with little to draw.
pub fn attack(bytes: &[u8]) {
    let Some((_, release)) = read_back(bytes) else { return };
    let options = attack::Options::default().targets(3).worlds(6).clusters(2);
    let _ = workflow::attack(&release, None, &options, &BUDGET);
}

/// `reconstruct`: as many records as the release has.
pub fn reconstruct(bytes: &[u8]) {
    let Some((_, release)) = read_back(bytes) else { return };
    for terms in [TermOccurrences::Once, TermOccurrences::BelowK, TermOccurrences::Any] {
        let options = ReconstructOptions::default().terms(terms);
        if let Ok(sets) = workflow::reconstruct(&release, &options, &BUDGET) {
            assert_eq!(sets[0].len() as u64, release.body.extent().0);
        }
    }
}

/// Changes `bytes` a little: flips, removes, repeats, inserts, cuts off.
pub fn mutate(bytes: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    const SPECIAL: &[u8] = b"\0\n\r\t ,;\"'{}[]:-@=#\\\xff\xc3\x80PAR1";
    let mut bytes = bytes.to_vec();
    for _ in 0..rng.random_range(1..6) {
        let at = rng.random_range(0..=bytes.len());
        let length = rng.random_range(0..16).min(bytes.len() - at);
        match rng.random_range(0..6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
            1 => drop(bytes.drain(at..at + length)),
            2 => {
                let part = bytes[at..at + length].to_vec();
                let to = rng.random_range(0..=bytes.len());
                bytes.splice(to..to, part);
            }
            3 => bytes.insert(at, SPECIAL[rng.random_range(0..SPECIAL.len())]),
            4 if at < bytes.len() => bytes[at] = SPECIAL[rng.random_range(0..SPECIAL.len())],
            _ if rng.random_bool(0.2) => bytes.truncate(at),
            _ => {}
        }
    }
    bytes
}
