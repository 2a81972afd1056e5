//! Reading data, writing and reading releases: bytes a second. Data is made
//! up outside of the timer, with fixed sizes and seeds.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use setveil::Release;
use setveil::data::{K, M};
use setveil::generate::{Quest, QuestParameters};
use setveil::io::{self, ReadOptions, parse_dataset, read_dataset};
use setveil::methods::disassociation;

const RECORDS: [u64; 2] = [10_000, 200_000];

fn main() {
    divan::main();
}

/// A directory for this run.
static FOLDER: LazyLock<tempfile::TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a temporary directory"));

/// Quest baskets of mean length 10 over 5,000 items.
fn baskets(records: u64, extension: &str) -> PathBuf {
    let path = FOLDER.path().join(format!("{records}.{extension}"));
    if !path.exists() {
        let parameters = QuestParameters::default().records(records).items(5_000);
        let mut quest = Quest::new(&parameters, 1).expect("valid parameters");
        io::write_quest(&mut quest, &path, false, &()).expect("a writable directory");
    }
    path
}

fn size(path: &Path) -> u64 {
    path.metadata().expect("the file is there").len()
}

#[divan::bench(args = RECORDS)]
fn read_fimi(bencher: Bencher, records: u64) {
    let path = baskets(records, "dat");
    let read = || read_dataset(black_box(&path), &ReadOptions::default(), &()).expect("good data");
    bencher.counter(BytesCount::new(size(&path))).bench(read);
}

#[divan::bench(args = RECORDS)]
fn read_fimi_gz(bencher: Bencher, records: u64) {
    let path = baskets(records, "dat.gz");
    let read = || read_dataset(black_box(&path), &ReadOptions::default(), &()).expect("good data");
    bencher.counter(BytesCount::new(size(&baskets(records, "dat")))).bench(read);
}

#[divan::bench(args = ["spmf", "csv", "jsonl", "long", "parquet"])]
fn read_other(bencher: Bencher, format: &str) {
    let data = read_dataset(&baskets(RECORDS[0], "dat"), &ReadOptions::default(), &())
        .expect("good data")
        .dataset;
    let records: Vec<Vec<String>> = data.records().map(|r| data.vocabulary().texts(r)).collect();
    let layouts = testkit::formats::every_layout(&records);
    let found = layouts.into_iter().find(|(name, ..)| name.contains(format));
    let (name, bytes, options) = found.expect("a layout of that name");
    let name = Path::new(name);
    let parse = || parse_dataset(name, black_box(&bytes), &options).expect("good data");
    bencher.counter(BytesCount::new(bytes.len())).bench(parse);
}

/// A disassociated release of the baskets.
fn release(records: u64) -> Release {
    let path = baskets(records, "dat");
    let data = read_dataset(&path, &ReadOptions::default(), &()).expect("good data").dataset;
    let (k, m) = (K::new(5).expect("valid"), M::new(2).expect("valid"));
    disassociation::anonymize(&data, &disassociation::Parameters::new(k, m), &())
        .expect("enough records")
}

fn written(release: &Release, name: &str) -> (PathBuf, u64) {
    let dir = FOLDER.path().join(name);
    let manifest = io::write_release(release, &dir, true).expect("a writable directory");
    let bytes = manifest.files.iter().map(|f| f.bytes).sum();
    (dir, bytes)
}

#[divan::bench(args = RECORDS)]
fn write_release(bencher: Bencher, records: u64) {
    let release = release(records);
    let name = format!("write-{records}");
    let (_, bytes) = written(&release, &name);
    bencher.counter(BytesCount::new(bytes)).bench(|| written(black_box(&release), &name));
}

#[divan::bench(args = RECORDS)]
fn read_release(bencher: Bencher, records: u64) {
    let (dir, bytes) = written(&release(records), &format!("read-{records}"));
    let read = || io::read_release(black_box(&dir)).expect("a good release");
    bencher.counter(BytesCount::new(bytes)).bench(read);
}
