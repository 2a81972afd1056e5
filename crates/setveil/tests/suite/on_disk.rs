//! Data that stays on disk: the same data whatever its layout, the same release
//! where it fits, and nothing left where it fails.

use std::fs;
use std::path::Path;

use setveil::budget::Budget;
use setveil::data::{ItemId, K, L, M};
use setveil::io::{self, DirectorySource, DiskShelves, Format, ReadOptions, Spooled};
use setveil::methods::disassociation::{Clustering, Parameters};
use setveil::methods::suppress_rare;
use setveil::workflow::files::{self, OnDisk, Original, Target};
use setveil::{Error, Method, workflow};
use testkit::{formats, random};

type Bag = Vec<Vec<ItemId>>;

/// Enough memory for about five thousand records a part, and less than anybody may ask for.
fn little() -> OnDisk {
    let mut on_disk = OnDisk::new(Budget::new(1 << 30)).unwrap();
    on_disk.memory = Budget::new(52 << 20);
    on_disk
}

fn plenty() -> OnDisk {
    OnDisk::new(Budget::new(1 << 30)).unwrap()
}

fn disassociation() -> Method {
    Method::Disassociation(Parameters::new(K::new(3).unwrap(), M::new(2).unwrap()))
}

/// A directory with `data` in it.
fn folder(name: &str, data: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(name), data).unwrap();
    dir
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|n| n.to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

fn bytes(dir: &Path) -> Vec<(String, Vec<u8>)> {
    names(dir).into_iter().map(|name| (name.clone(), fs::read(dir.join(name)).unwrap())).collect()
}

fn spooled(path: &Path, options: &ReadOptions, memory: u64) -> Spooled {
    let shelves = DiskShelves::new(&path.with_extension("out"), None, 1 << 14).unwrap();
    io::spool_dataset(path, options, &shelves, Budget::new(memory), &()).unwrap()
}

/// The records of `data`, ascending.
fn records(mut data: Spooled) -> Bag {
    let mut all = Bag::new();
    data.each_record(&(), &mut |record| {
        all.push(record.to_vec());
        Ok(())
    })
    .unwrap();
    all.sort_unstable();
    all
}

/// Reads a file both ways, with hardly any memory, and compares.
fn same_both_ways(name: &str, data: &[u8], options: &ReadOptions) {
    let dir = folder(name, data);
    let path = dir.path().join(name);
    let input = io::read_dataset(&path, options, &()).unwrap();
    let disk = spooled(&path, options, 1 << 20);
    assert_eq!(&disk.vocabulary, input.dataset.vocabulary(), "{name}");
    assert_eq!(disk.left_out(), input.left_out(), "{name}");
    assert_eq!((disk.format, disk.records), (input.format, input.dataset.len() as u64), "{name}");
    let supports: Vec<u64> = input.dataset.supports().into_iter().map(u64::from).collect();
    assert_eq!(disk.counts, supports, "{name}");
    assert_eq!(disk.occurrences, input.dataset.occurrences().len() as u64, "{name}");
    let mut expected: Bag = input.dataset.records().map(<[ItemId]>::to_vec).collect();
    expected.sort_unstable();
    assert_eq!(records(disk), expected, "{name}");
    assert_eq!(names(dir.path()), [name], "nothing is left");
}

#[test]
fn every_layout_is_read_to_disk_as_into_memory() {
    let mut records = random::records(5, 6000, 60, 4.0);
    // Items that stand twice, and records without any.
    records.iter_mut().step_by(7).for_each(|record| record.push(record[0].clone()));
    records.iter_mut().step_by(1000).for_each(Vec::clear);
    same_both_ways("data.dat", &formats::fimi(&records), &formats::as_format(Format::Fimi));
    for (name, data, options) in formats::every_layout(&records) {
        same_both_ways(name, &data, &options);
    }
}

#[test]
fn rows_of_a_person_need_not_stand_together() {
    let records = random::records(6, 5000, 60, 4.0);
    let far = |rows: &mut Vec<(usize, String)>| rows.sort_by_key(|row| row.1.clone());
    let options = ReadOptions::default().id(Some("who".into())).item(Some("what".into()));
    let mut text = formats::long_csv(&records, far);
    // Persons with blank items only, one of whom comes again later.
    text.extend(b"nobody,today,\np17,today, \nnobody,today,\n");
    same_both_ways("long.csv", &text, &options);
}

#[test]
fn a_query_log_is_read_to_disk() {
    let mut log = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n".to_owned();
    for row in 0..30_000 {
        log += &format!("{}\tQuery {}\t\t\t\n", row * 7919 % 4001, row % 83);
    }
    same_both_ways("log.txt", log.as_bytes(), &formats::as_format(Format::Aol));
}

#[test]
fn spellings_and_several_items_in_a_cell_are_the_same() {
    let mut text = String::new();
    for row in 0..9000 {
        text += &format!("Tea|tea|{},ITEM  {}\n", row % 9, row % 50);
        text += if row % 1000 == 0 { "|\n" } else { "" };
    }
    let options = ReadOptions::default().split(Some("|".into())).fold_case(true).normalize(true);
    same_both_ways("data.csv", text.as_bytes(), &options);
    // Cells that stand twice in a row, and blanks in them: each of their pieces counts.
    let options = ReadOptions::default().split(Some("|".into()));
    let cells = "[\"a|b\",\"a|b\",\"c\"]\n[\"a| \",\"a| \",\"c\"]\n".repeat(3000);
    same_both_ways("data.jsonl", cells.as_bytes(), &options);
    let rows: String = (0..9000).map(|row| format!("p{},a|b| |c\n", row * 7919 % 1009)).collect();
    let options = options.id(Some("who".into())).item(Some("what".into()));
    same_both_ways("long.csv", format!("who,what\n{rows}").as_bytes(), &options);
    let options = ReadOptions::default().normalize(true);
    let blank = "[\"a\",\"\u{200b}\",\"\u{200b}\"]\n".repeat(4000);
    same_both_ways("data.jsonl", blank.as_bytes(), &options);
}

#[test]
fn lines_that_cannot_be_read_are_errors_or_skipped_as_ever() {
    let mut text = b"[\"a\", \"b\"]\n".repeat(4000);
    text.extend(b"{broken\n");
    let options = ReadOptions::default().skip_bad_lines(true);
    same_both_ways("data.jsonl", &text, &options);
    let dir = folder("data.jsonl", &text);
    let path = dir.path().join("data.jsonl");
    let shelves = DiskShelves::new(&path.with_extension("out"), None, 1 << 14).unwrap();
    let read = io::read_dataset(&path, &Default::default(), &()).unwrap_err().to_string();
    let memory = Budget::new(1 << 20);
    let disk = io::spool_dataset(&path, &Default::default(), &shelves, memory, &()).err().unwrap();
    assert_eq!(disk.to_string(), read);
    drop(shelves);
    assert_eq!(names(dir.path()), ["data.jsonl"]);
}

#[test]
fn a_vocabulary_that_does_not_fit_is_an_error_with_the_number() {
    let labels: String = (0..20_000).map(|item| format!("a-rather-long-label-{item}\n")).collect();
    let dir = folder("data.dat", labels.as_bytes());
    let path = dir.path().join("data.dat");
    let shelves = DiskShelves::new(&path.with_extension("out"), None, 1 << 14).unwrap();
    let memory = Budget::new(1 << 20);
    let error = io::spool_dataset(&path, &Default::default(), &shelves, memory, &()).err().unwrap();
    let error = error.to_string();
    assert!(error.contains("20000 distinct items") && error.contains("memory"), "{error}");
}

/// Publishes the file in `dir` both ways.
fn publish(dir: &Path, name: &str, method: &Method, target: &Target, on_disk: Option<&OnDisk>) {
    let path = dir.join(name);
    let data = Original { path: &path, options: &Default::default() };
    let made = match on_disk {
        None => files::anonymize(data, method, target, &()).unwrap(),
        Some(on_disk) => files::anonymize_on_disk(data, method, target, on_disk, &()).unwrap(),
    };
    assert_eq!(made.release.as_ref(), Some(&target.output));
}

#[test]
fn data_that_fits_gives_the_ordinary_release_byte_for_byte() {
    let dir = folder("data.dat", &formats::fimi(&random::records(9, 3000, 80, 5.0)));
    for file_size in [None, Some(20_000)] {
        let target = |name: &str| Target::new(dir.path().join(name)).file_size(file_size);
        let (one, two) = (target("one").force(true), target("two").force(true));
        publish(dir.path(), "data.dat", &disassociation(), &one, None);
        publish(dir.path(), "data.dat", &disassociation(), &two, Some(&plenty()));
        assert_eq!(bytes(&dir.path().join("two")), bytes(&dir.path().join("one")));
    }
    assert_eq!(names(dir.path()), ["data.dat", "one", "two"]);
}

#[test]
fn several_parts_verify_and_neither_rows_nor_threads_nor_layout_change_a_byte() {
    let mut records = random::records(12, 30_000, 150, 5.0);
    let dir = folder("data.dat", &formats::fimi(&records));
    records.reverse();
    records.rotate_left(977);
    fs::write(dir.path().join("other.jsonl"), formats::jsonl(&records)).unwrap();
    let target = |name: &str| Target::new(dir.path().join(name)).file_size(Some(200_000));
    let release = |name: &str| dir.path().join(name);
    let method = disassociation();
    publish(dir.path(), "data.dat", &method, &target("one"), Some(&little()));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        publish(dir.path(), "other.jsonl", &method, &target("two"), Some(&little()));
    });
    assert_eq!(bytes(&release("two")), bytes(&release("one")));
    let verdict = workflow::verify_from(&DirectorySource::new(&release("one")), &()).unwrap();
    assert!(verdict.holds, "{:?}", verdict.violations);
    // Neither memory nor parts show: the manifest differs in its files alone.
    publish(dir.path(), "data.dat", &method, &target("ordinary"), None);
    let parts = files::read(&release("one"), &()).unwrap().manifest;
    let ordinary = files::read(&release("ordinary"), &()).unwrap().manifest;
    assert_ne!(parts.files, ordinary.files, "there were several parts");
    assert_eq!(setveil::release::Manifest { files: ordinary.files.clone(), ..parts }, ordinary);
}

#[test]
fn the_answer_says_what_the_ordinary_one_says() {
    // Everybody in a cluster has the same item.
    let lines: String = (0..200).map(|row| format!("x{} y{}\n", row / 10, row % 3)).collect();
    let dir = folder("data.dat", lines.as_bytes());
    let path = dir.path().join("data.dat");
    let data = Original { path: &path, options: &Default::default() };
    let target = |name: &str| {
        let folder = dir.path().join(format!("of-{name}"));
        fs::create_dir_all(&folder).unwrap();
        Target::new(dir.path().join(name)).receipt(Some(folder.join("receipt.json")))
    };
    let method = disassociation();
    let one = files::anonymize(data, &method, &target("one"), &()).unwrap();
    let two = files::anonymize_on_disk(data, &method, &target("two"), &plenty(), &()).unwrap();
    assert!(!one.cautions.is_empty());
    assert_eq!(two.cautions, one.cautions);
    assert_eq!((two.records, two.items, two.left_out), (one.records, one.items, one.left_out));
    assert_eq!((one.parts, two.parts), (None, Some(1)));
    let checksum = |name: &str| {
        let text = fs::read(target(name).receipt.unwrap()).unwrap();
        let receipt: serde_json::Value = serde_json::from_slice(&text).unwrap();
        receipt["data_sha256"].as_str().unwrap().to_owned()
    };
    assert_eq!(checksum("one"), checksum("two"));
    // The receipt tells of the earlier release.
    let again = target("two").force(true);
    let error = files::anonymize_on_disk(data, &method, &again, &plenty(), &()).unwrap_err();
    assert!(error.to_string().contains("published before"), "{error}");
}

#[test]
fn what_needs_all_data_at_once_is_refused_before_anything_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("there-is-no-such-file.dat");
    let data = Original { path: &path, options: &Default::default() };
    let target = Target::new(dir.path().join("release"));
    let (k, m) = (K::new(3).unwrap(), M::new(2).unwrap());
    let usual = Parameters::new(k, m);
    for (method, word) in [
        (Method::SuppressRare(suppress_rare::Parameters::new(k)), "disassociation"),
        (
            Method::Disassociation(usual.clone().with_sensitive(["a"], L::new(2).unwrap())),
            "sensitive",
        ),
        (Method::Disassociation(usual.with_clustering(Clustering::Whole)), "clustering"),
    ] {
        let error = files::anonymize_on_disk(data, &method, &target, &plenty(), &()).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
    assert!(matches!(OnDisk::new(Budget::new(1 << 20)), Err(Error::Setting { .. })));
    assert_eq!(names(dir.path()), Vec::<String>::new());
}

#[test]
fn identifiers_are_refused_and_nothing_is_left() {
    let rows: String = (0..100).map(|i| format!("patient-{i:05};flu;tea\n")).collect();
    let dir = folder("t.csv", rows.as_bytes());
    let path = dir.path().join("t.csv");
    let data = Original { path: &path, options: &Default::default() };
    let target = Target::new(dir.path().join("release"));
    let told = |on_disk: bool| {
        let made = match on_disk {
            true => files::anonymize_on_disk(data, &disassociation(), &target, &plenty(), &()),
            false => files::anonymize(data, &disassociation(), &target, &()),
        };
        made.unwrap_err().to_string()
    };
    assert!(told(true).contains("does not look like sets of items"), "{}", told(true));
    // A directory that is made for it goes as well.
    let deep = Target::new(dir.path().join("new/deep/release"));
    assert!(files::anonymize_on_disk(data, &disassociation(), &deep, &plenty(), &()).is_err());
    assert_eq!(told(true), told(false));
    assert_eq!(names(dir.path()), ["t.csv"]);
    let meant = target.as_baskets(true);
    files::anonymize_on_disk(data, &disassociation(), &meant, &plenty(), &()).unwrap();
    assert_eq!(names(dir.path()), ["release", "t.csv"]);
}

#[test]
fn nothing_is_published_if_a_record_was_lost_on_the_way() {
    let dir = folder("data.dat", &formats::fimi(&random::records(9, 3000, 80, 5.0)));
    let path = dir.path().join("data.dat");
    let target = Target::new(dir.path().join("release"));
    let publish = |lost: u64| {
        let data = Original { path: &path, options: &Default::default() };
        let mut data = files::spool(data, &target, &plenty(), &()).unwrap();
        data.records += lost;
        files::publish_spooled(data, &path, &disassociation(), &target, &())
    };
    let error = publish(1).unwrap_err().to_string();
    assert!(error.contains("does not hold what was written"), "{error}");
    assert_eq!(names(dir.path()), ["data.dat"]);
    publish(0).unwrap();
}
