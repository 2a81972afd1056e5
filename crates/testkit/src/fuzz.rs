//! What the fuzz targets run: plain functions of bytes that must not panic.
//!
//! `cargo fuzz` calls them from `fuzz/`; the ordinary tests feed them seeds,
//! mutations of seeds and random bytes.

use std::path::Path;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use setveil::io::{Format, ReadOptions, open_release, parse_dataset, read_hierarchy};

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
];

/// Reads `bytes` strictly and leniently; what is read keeps its promises.
fn read(bytes: &[u8], options: &ReadOptions) {
    let name = Path::new("fuzzed");
    let strict = parse_dataset(name, bytes, options);
    let lenient = ReadOptions { skip_bad_lines: true, ..options.clone() };
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
    ReadOptions {
        format: Some(format),
        id: id.map(str::to_owned),
        item: item.map(str::to_owned),
        ..ReadOptions::default()
    }
}

/// The FIMI reader.
pub fn fimi(bytes: &[u8]) {
    read(bytes, &options(Format::Fimi, None, None));
    for encoding in ["utf-16le", "windows-1252"] {
        let encoding = Some(encoding.parse().expect("a known encoding"));
        read(bytes, &ReadOptions { encoding, ..options(Format::Fimi, None, None) });
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
    read(bytes, &ReadOptions { split, fold_case: true, normalize: true, ..wide });
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

/// The Parquet reader, with lists and with a long table.
pub fn parquet(bytes: &[u8]) {
    read(bytes, &options(Format::Parquet, None, None));
    read(bytes, &options(Format::Parquet, Some("who"), Some("what")));
}

/// The release reader: the bytes are the body's file, under each of the three names.
pub fn release(bytes: &[u8]) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for name in ["clusters.jsonl", "classes.jsonl", "groups.jsonl"] {
        let manifest = format!(
            r#"{{"format":"setveil-release","version":1,"method":"m","parameters":{{}},
            "guarantee":{{"model":"k-anonymity","k":2,"supports":"exact"}},"records":1,"items":1,
            "files":[{{"name":"{name}","bytes":1,"lines":1,"sha256":""}}],"tool":"t"}}"#
        );
        std::fs::write(dir.path().join("manifest.json"), manifest).expect("a writable directory");
        std::fs::write(dir.path().join(name), bytes).expect("a writable directory");
        let _ = open_release(dir.path());
    }
    // And as the manifest itself.
    std::fs::write(dir.path().join("manifest.json"), bytes).expect("a writable directory");
    let _ = open_release(dir.path());
}

/// The hierarchy reader.
pub fn hierarchy(bytes: &[u8]) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("h.csv");
    std::fs::write(&path, bytes).expect("a writable directory");
    let _ = read_hierarchy(&path);
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
