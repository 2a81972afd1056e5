//! Releases come back as they were written, and what was changed is seen.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::json;
use setveil::data::{Hierarchy, K, M, Vocabulary};
use setveil::io::{open_release, read_release, write_release};
use setveil::methods::disassociation;
use setveil::release::{
    Bag, Body, Cluster, Disassociated, Generalized, Group, Grouped, Guarantee, JointCluster,
    Manifest, Model, Release, SimpleCluster, Supports,
};
use setveil::{Dataset, Error};
use testkit::random;

/// Labels that could be mistaken for something else.
const ODD: [&str; 12] =
    [" ", "\"", "\\", "\n", "\u{0}", "a\tb", "null", "é", "日本", "\u{1f600}", "\u{2028}", "{}"];

pub(crate) fn manifest(items: usize) -> Manifest {
    let guarantee = Guarantee {
        model: Model::FormatKmAnonymity { k: 2, m: 2, l: Some(3) },
        supports: Supports::Exact,
    };
    let parameters = [("k", json!(2)), ("odd", json!({"x": ["\"", 1.5]}))];
    Manifest::new("made-up", parameters, guarantee, 10, items as u64)
}

fn simple(size: u32, chunk: &[u32], terms: &[u32]) -> SimpleCluster {
    SimpleCluster {
        size,
        record_chunks: vec![Bag::from_counted([(chunk, 2), (&chunk[..1], 1)])],
        term_chunk: terms.to_vec(),
    }
}

pub(crate) fn bodies() -> Vec<Body> {
    let vocabulary = Vocabulary::new(ODD);
    let joint = JointCluster {
        size: 7,
        shared_chunks: vec![Bag::from_counted([(&[0, 1][..], 2)])],
        children: vec![
            Cluster::Simple(simple(3, &[2, 3], &[4, 5])),
            Cluster::Simple(simple(4, &[6, 7], &[])),
        ],
    };
    let clusters = vec![Cluster::Simple(simple(3, &[8, 9], &[10, 11])), Cluster::Joint(joint)];
    let all: Vec<u32> = (0..ODD.len() as u32).collect();
    let paths: Vec<Vec<&str>> =
        ODD.iter().filter(|l| **l != "\u{0}").map(|l| vec![*l, "some; \"node\"", "*"]).collect();
    let used: Vec<&str> = vec!["é", "日本", "some; \"node\""];
    vec![
        Body::Disassociated(Disassociated { vocabulary: vocabulary.clone(), clusters }),
        Body::Generalized(Generalized {
            vocabulary: Vocabulary::new(used),
            classes: Bag::from_counted([(&[0][..], 3), (&[0, 1, 2], 2), (&[2], 4_000_000_000)]),
            hierarchy: Some(Hierarchy::from_paths(&paths).unwrap()),
        }),
        Body::Generalized(Generalized {
            vocabulary: vocabulary.clone(),
            classes: Bag::from_itemsets([&all[..], &all[..]]),
            hierarchy: None,
        }),
        Body::Grouped(Grouped {
            vocabulary,
            groups: vec![
                Group { size: 2, records: Bag::default(), sensitive: vec![(0, 1)] },
                Group {
                    size: 3,
                    records: Bag::from_itemsets([&all[1..], &[1, 2]]),
                    sensitive: vec![(0, 2)],
                },
            ],
        }),
    ]
}

#[test]
fn every_body_with_odd_labels_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    for (i, body) in bodies().into_iter().enumerate() {
        let target = dir.path().join(i.to_string());
        let mut release = Release { manifest: manifest(body.vocabulary().len()), body };
        release.manifest.files = write_release(&release, &target, false).unwrap().files;
        assert_eq!(read_release(&target).unwrap(), release);
        let opened = open_release(&target).unwrap();
        assert!(opened.faults.is_empty());
    }
}

proptest! {
    #![proptest_config(testkit::settings::cases(24))]

    #[test]
    fn real_releases_come_back_and_do_not_depend_on_threads_or_row_order(seed: u64) {
        let records = random::records(seed, 80, 14, 3.0);
        let mut reversed = records.clone();
        reversed.reverse();
        let parameters = disassociation::Parameters::new(K::new(3).unwrap(), M::new(2).unwrap());
        let dir = tempfile::tempdir().unwrap();
        let mut written: Vec<Vec<(String, Vec<u8>)>> = Vec::new();
        for (i, (rows, threads)) in [(&records, 1), (&records, 3), (&reversed, 2)].into_iter().enumerate() {
            let target = dir.path().join(i.to_string());
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let data = Dataset::from_records(rows);
                let mut release = disassociation::anonymize(&data, &parameters, &()).unwrap();
                release.manifest.files = write_release(&release, &target, false).unwrap().files;
                assert_eq!(read_release(&target).unwrap(), release);
            });
            written.push(files(&target));
        }
        prop_assert_eq!(&written[0], &written[1]);
        prop_assert_eq!(&written[0], &written[2]);
    }
}

/// The files of a directory with their content.
pub(crate) fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<(String, Vec<u8>)> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap())
        .map(|e| (e.file_name().to_string_lossy().into_owned(), fs::read(e.path()).unwrap()))
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn many_lines_are_written_the_same_on_any_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let clusters =
        (0..40_000).map(|i| Cluster::Simple(simple(3, &[i % 5, 5 + i % 7], &[]))).collect();
    let body = Body::Disassociated(Disassociated { vocabulary: Vocabulary::new(ODD), clusters });
    let release = Release { manifest: manifest(ODD.len()), body };
    let mut written = Vec::new();
    for threads in [1, 2, 7] {
        let target = dir.path().join(threads.to_string());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| write_release(&release, &target, false)).unwrap();
        written.push(files(&target));
    }
    assert!(written[0] == written[1] && written[0] == written[2]);
    let back = read_release(&dir.path().join("7")).unwrap();
    assert!(back.body == release.body);
}

fn written(dir: &Path) -> std::path::PathBuf {
    let target = dir.join("release");
    let body = bodies().swap_remove(0);
    write_release(&Release { manifest: manifest(12), body }, &target, false).unwrap();
    target
}

#[test]
fn what_was_changed_is_seen_and_refused() {
    let dir = tempfile::tempdir().unwrap();
    let target = written(dir.path());
    let body = target.join("clusters.jsonl");
    let original = fs::read_to_string(&body).unwrap();
    let faults = || open_release(&target).unwrap().faults;

    fs::write(&body, original.replacen("\"count\":2", "\"count\":3", 1)).unwrap();
    assert!(faults().iter().any(|f| f.file == "clusters.jsonl" && f.what.starts_with("sha256")));
    let error = read_release(&target).unwrap_err().to_string();
    assert!(error.contains("clusters.jsonl") && error.contains("changed after"), "{error}");

    let one_line: String = original.lines().take(1).map(|l| format!("{l}\n")).collect();
    fs::write(&body, one_line).unwrap();
    let kinds: Vec<String> =
        faults().iter().map(|f| f.what.split(':').next().unwrap().into()).collect();
    assert_eq!(kinds, ["bytes", "lines", "sha256"]);

    fs::write(&body, &original).unwrap();
    assert!(faults().is_empty());
    fs::write(target.join("notes.txt"), "the original is in /home").unwrap();
    assert_eq!(faults()[0].file, "notes.txt");
    assert!(read_release(&target).is_err());
    fs::remove_file(target.join("notes.txt")).unwrap();

    // A file that somebody put into the manifest as well.
    let path = target.join("manifest.json");
    let manifest = fs::read_to_string(&path).unwrap();
    let entry = "\"files\": [{\"name\":\"original.dat\",\"bytes\":1,\"lines\":0,\"sha256\":\"\"},";
    fs::write(&path, manifest.replacen("\"files\": [", entry, 1)).unwrap();
    fs::write(target.join("original.dat"), "x").unwrap();
    assert_eq!(faults().len(), 1);
    assert_eq!(faults()[0].file, "original.dat");
    fs::remove_file(target.join("original.dat")).unwrap();
    fs::write(&path, manifest).unwrap();

    fs::remove_file(&body).unwrap();
    let error = open_release(&target).unwrap_err().to_string();
    assert!(error.contains("clusters.jsonl"), "{error}");
}

#[test]
fn broken_lines_are_refused_with_their_number() {
    let dir = tempfile::tempdir().unwrap();
    let target = written(dir.path());
    let body = target.join("clusters.jsonl");
    let good = "{\"size\":2,\"record_chunks\":[],\"term_chunk\":[\"a\"]}\n";
    let joint = |inner: &str| format!("{{\"size\":2,\"shared_chunks\":[],\"children\":[{inner}]}}");
    let deep = (0..51).fold(good.trim().to_owned(), |inner, _| joint(&inner));
    let deeper = (0..100_000).fold(String::new(), |s, _| s + "{\"children\":[");
    for (bad, word) in [
        ("{", "EOF"),
        ("[]", "expected an object"),
        ("[2,[],[\"a\"],null,null]", "expected an object"),
        ("{\"size\":2}", "a cluster has either"),
        ("{\"size\":-2,\"record_chunks\":[],\"term_chunk\":[]}", "invalid value"),
        ("{\"size\":2,\"record_chunks\":[],\"term_chunk\":[],\"who\":1}", "unknown field `who`"),
        (
            "{\"size\":2,\"record_chunks\":[{\"subrecords\":[{\"items\":[1],\"count\":1}]}]}",
            "invalid type",
        ),
        (&deep, "nested more than 50 deep"),
        (&deeper, "recursion limit"),
    ] {
        fs::write(&body, format!("{good}{bad}\n")).unwrap();
        let error = open_release(&target).unwrap_err().to_string();
        assert!(error.contains("clusters.jsonl:2: ") && error.contains(word), "{error}");
    }
    let fifty = (0..50).fold(good.trim().to_owned(), |inner, _| joint(&inner));
    fs::write(&body, fifty).unwrap();
    assert_eq!(open_release(&target).unwrap().release.body.vocabulary().len(), 1);
    fs::write(&body, b"{\"size\":2,\"record_chunks\":[],\"term_chunk\":[\"\xff\"]}").unwrap();
    assert!(open_release(&target).unwrap_err().to_string().contains("invalid UTF-8"));
}

#[test]
fn only_an_earlier_release_is_replaced_and_only_when_asked() {
    let dir = tempfile::tempdir().unwrap();
    let target = written(dir.path());
    let release = Release { manifest: manifest(12), body: bodies().swap_remove(3) };
    let before = files(&target);
    let error = write_release(&release, &target, false).unwrap_err();
    assert!(matches!(error, Error::Exists { replaceable: true, .. }), "{error}");
    assert_eq!(files(&target), before);
    write_release(&release, &target, true).unwrap();
    assert!(matches!(read_release(&target).unwrap().body, Body::Grouped(_)));

    let other = dir.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("thesis.tex"), "years of work").unwrap();
    for force in [false, true] {
        let error = write_release(&release, &other, force).unwrap_err().to_string();
        assert!(error.contains("not a release"), "{error}");
    }
    assert_eq!(files(&other), [("thesis.tex".to_owned(), b"years of work".to_vec())]);
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    assert!(write_release(&release, &file, true).unwrap_err().to_string().contains("is a file"));
    // Nothing is left of the attempts.
    let mut names: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort_unstable();
    assert_eq!(names, ["file", "other", "release"]);
}

#[test]
fn a_release_that_no_reader_would_accept_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut cluster = Cluster::Simple(simple(3, &[0, 1], &[]));
    for _ in 0..51 {
        let size = cluster.size();
        cluster =
            Cluster::Joint(JointCluster { size, shared_chunks: vec![], children: vec![cluster] });
    }
    let body = Body::Disassociated(Disassociated {
        vocabulary: Vocabulary::new(["a", "b"]),
        clusters: vec![cluster],
    });
    let target = dir.path().join("r");
    let release = Release { manifest: manifest(2), body };
    let error = write_release(&release, &target, false).unwrap_err().to_string();
    assert!(error.contains("nested"), "{error}");
    assert!(fs::read_dir(dir.path()).unwrap().next().is_none());
}

#[test]
fn a_manifest_of_another_kind_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let target = written(dir.path());
    let path = target.join("manifest.json");
    let good = fs::read_to_string(&path).unwrap();
    for (from, to, word) in [
        ("\"version\": 1", "\"version\": 3", "version 3"),
        ("setveil-release", "other", "\"other\""),
        ("clusters.jsonl", "../../etc/passwd", "names none of"),
        ("\"records\": 10", "\"records\": 10, \"input\": \"/data\"", "unknown field"),
        ("{", "", "manifest.json"),
    ] {
        fs::write(&path, good.replacen(from, to, 1)).unwrap();
        let error = open_release(&target).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    // Nothing that helps an attacker stands in it.
    let keys: serde_json::Value = serde_json::from_str(&good).unwrap();
    let keys: Vec<&String> = keys.as_object().unwrap().keys().collect();
    let expected = [
        "files",
        "format",
        "guarantee",
        "items",
        "method",
        "parameters",
        "records",
        "tool",
        "version",
    ];
    assert_eq!(keys, expected);
}
