//! Releases in memory and in several files, read and written block by block,
//! stopped in the middle, and with files that are not as they should be.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use setveil::budget::Budget;
use setveil::data::{K, M, Vocabulary};
use setveil::io::{
    ClusterBlocks, ClusterWriter, DirectorySink, DirectorySource, MemoryRelease, open_release_from,
    read_release_from, write_release, write_release_in_files, write_release_to,
};
use setveil::methods::disassociation;
use setveil::progress::{Progress, Stage};
use setveil::release::{Bag, Body, Cluster, Disassociated, Release, SimpleCluster};
use setveil::{Dataset, Error};
use testkit::random;

use crate::release_directory::{bodies, files, manifest};

fn in_memory(release: &Release) -> MemoryRelease {
    let mut memory = MemoryRelease::default();
    write_release_to(release, &mut memory, &()).unwrap();
    memory
}

/// A release of real clusters, some of them joint.
fn disassociated(seed: u64) -> Release {
    let records = random::records(seed, 1500, 400, 4.0);
    let parameters = disassociation::Parameters::new(K::new(3).unwrap(), M::new(2).unwrap());
    disassociation::anonymize(&Dataset::from_records(&records), &parameters, &()).unwrap()
}

#[test]
fn memory_holds_the_bytes_of_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    for (i, body) in bodies().into_iter().enumerate() {
        let mut release = Release { manifest: manifest(body.vocabulary().len()), body };
        let memory = in_memory(&release);
        let target = dir.path().join(i.to_string());
        release.manifest.files = write_release(&release, &target, false).unwrap().files;
        let on_disk: BTreeMap<String, Vec<u8>> = files(&target).into_iter().collect();
        assert_eq!(memory.files, on_disk);
        assert_eq!(read_release_from(&memory, &()).unwrap(), release);
    }
}

#[test]
fn files_are_cut_at_lines_and_are_together_what_one_would_be() {
    let release = disassociated(3);
    let whole = in_memory(&release).files["clusters.jsonl"].clone();
    let longest = whole.split_inclusive(|b| *b == b'\n').map(<[u8]>::len).max().unwrap();
    for limit in [1, 100, longest as u64, 3000, 1 << 30] {
        let mut memory = MemoryRelease::default();
        let written = write_release_in_files(&release, &mut memory, limit, &()).unwrap();
        let names: Vec<&String> = memory.files.keys().filter(|n| n.ends_with(".jsonl")).collect();
        let expected: Vec<String> =
            (0..names.len()).map(|i| format!("clusters-{i:05}.jsonl")).collect();
        assert_eq!(names, expected.iter().collect::<Vec<_>>());
        let mut together = Vec::new();
        for name in &expected {
            let file = &memory.files[name];
            let lines = file.iter().filter(|b| **b == b'\n').count();
            assert!(file.ends_with(b"\n") && (file.len() as u64 <= limit || lines == 1));
            together.extend_from_slice(file);
        }
        // As many lines as fit: the first line of a file did not fit into the one before.
        for pair in expected.windows(2) {
            let first = memory.files[&pair[1]].split_inclusive(|b| *b == b'\n').next().unwrap();
            assert!((memory.files[&pair[0]].len() + first.len()) as u64 > limit);
        }
        assert_eq!(together, whole);
        assert_eq!(names.len() == 1, limit == 1 << 30);
        let read = read_release_from(&memory, &()).unwrap();
        assert_eq!(read.body, release.body);
        assert_eq!((written.records, written.items), (read.manifest.records, read.manifest.items));
        assert_eq!(read.manifest.records, release.manifest.records);
        assert_eq!(read.manifest.items, release.manifest.items);
    }
}

#[test]
fn blocks_are_the_text_and_the_clusters_in_order() {
    let release = disassociated(5);
    let Body::Disassociated(body) = &release.body else { unreachable!() };
    let whole = in_memory(&release).files["clusters.jsonl"].clone();
    let dir = tempfile::tempdir().unwrap();
    for limit in [500, 1 << 30] {
        let target = dir.path().join(limit.to_string());
        let sink = DirectorySink::new(&target, false).unwrap();
        write_release_in_files(&release, sink, limit, &()).unwrap();
        let source = DirectorySource::new(&target);
        for bytes in [1, 300, 10_000, 1 << 22] {
            let mut blocks = ClusterBlocks::open(&source, &()).unwrap().block_bytes(bytes);
            let (mut text, mut clusters, mut copy) = (Vec::new(), 0, MemoryRelease::default());
            let mut writer = ClusterWriter::one_file(&mut copy, &());
            for block in &mut blocks {
                let block = block.unwrap();
                assert_eq!(block.first_cluster, clusters);
                clusters += block.body.clusters.len() as u64;
                // Each label of the block's own vocabulary occurs.
                let one = block.body.vocabulary.label(0);
                assert!(String::from_utf8(block.text.clone()).unwrap().contains(one));
                writer.add(&block.body).unwrap();
                text.extend_from_slice(&block.text);
            }
            assert_eq!(clusters, body.clusters.len() as u64);
            assert_eq!(blocks.manifest().method, "disassociation");
            assert_eq!(blocks.finish().unwrap(), []);
            assert_eq!(text, whole);
            // Written again from blocks, it is the same release.
            writer.finish(&release.manifest).unwrap();
            assert_eq!(copy, in_memory(&release));
        }
    }
}

#[test]
fn a_writer_refuses_what_is_not_in_order() {
    let cluster = |label: u32| {
        Cluster::Simple(SimpleCluster {
            size: 3,
            record_chunks: vec![Bag::from_counted([(&[label][..], 3)])],
            term_chunk: vec![],
        })
    };
    let block = |labels: &[&str], order: &[u32]| Disassociated {
        vocabulary: Vocabulary::new(labels),
        clusters: order.iter().map(|&i| cluster(i)).collect(),
    };
    let mut memory = MemoryRelease::default();
    let mut writer = ClusterWriter::one_file(&mut memory, &());
    assert!(writer.add(&block(&["a", "b"], &[1, 0])).is_err());
    writer.add(&block(&["b", "c"], &[0, 0, 1])).unwrap();
    // Number 0 again, but "a" comes before "c"; equal clusters may follow each other.
    assert!(writer.add(&block(&["a"], &[0])).is_err());
    writer.add(&block(&["c"], &[0])).unwrap();
    drop(writer);
    assert_eq!(memory.files.len(), 0, "nothing is published");
}

/// An observer that says stop after some steps.
struct StopAfter(AtomicU64);

impl Progress for StopAfter {
    fn stage(&self, _stage: Stage, _total: Option<u64>) {}

    fn advance(&self, _steps: u64) -> ControlFlow<()> {
        let left = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if left.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

#[test]
fn a_stopped_run_leaves_nothing_wherever_it_is_stopped() {
    let dir = tempfile::tempdir().unwrap();
    for body in bodies() {
        let release = Release { manifest: manifest(body.vocabulary().len()), body };
        let memory = in_memory(&release);
        for steps in 0.. {
            let target = dir.path().join("r");
            let sink = DirectorySink::new(&target, false).unwrap();
            match write_release_to(&release, sink, &StopAfter(steps.into())) {
                Ok(_) => {
                    assert!(steps > 1, "it asked at least twice");
                    std::fs::remove_dir_all(&target).unwrap();
                    break;
                }
                Err(error) => assert!(matches!(error, Error::Cancelled), "{error}"),
            }
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        }
        for steps in 0.. {
            match read_release_from(&memory, &StopAfter(steps.into())) {
                Ok(_) => break,
                Err(error) => assert!(matches!(error, Error::Cancelled), "{error}"),
            }
        }
        assert!(read_release_from(&memory, &StopAfter(0.into())).is_err());
    }
}

#[test]
fn a_file_that_does_not_fit_the_budget_is_refused_with_the_number() {
    let memory = in_memory(&disassociated(1));
    let largest = memory.files.values().map(Vec::len).max().unwrap() as u64;
    let read = |bytes: u64| read_release_from(&memory, &Budget::new(bytes));
    assert!(read(largest).is_ok());
    match read(largest - 1) {
        Err(Error::Memory { needed, limit, .. }) => {
            assert_eq!((needed, limit), (largest, largest - 1))
        }
        other => panic!("{other:?}"),
    }
    let budget = Budget::new(memory.files["manifest.json"].len() as u64);
    let mut blocks = ClusterBlocks::open(&memory, &budget).unwrap();
    assert!(blocks.any(|block| matches!(block, Err(Error::Memory { .. }))));
}

/// The faults of `memory` with `file` replaced by `content`.
fn faults(memory: &MemoryRelease, file: &str, content: &str) -> Vec<String> {
    let mut changed = memory.clone();
    changed.files.insert(file.to_owned(), content.as_bytes().to_vec());
    let whole: Vec<String> =
        open_release_from(&changed, &()).unwrap().faults.into_iter().map(|f| f.what).collect();
    let blocks = ClusterBlocks::open(&changed, &()).unwrap().finish().unwrap();
    assert_eq!(blocks.into_iter().map(|f| f.what).collect::<Vec<_>>(), whole);
    whole
}

#[test]
fn line_ends_are_called_by_their_names() {
    let memory = in_memory(&disassociated(2));
    let name = "clusters.jsonl";
    let text = String::from_utf8(memory.files[name].clone()).unwrap();
    assert_eq!(faults(&memory, name, &text), Vec::<String>::new());
    let said = |text: &str, word: &str| {
        let faults = faults(&memory, name, text);
        assert!(
            faults.iter().any(|f| f.contains(word) && f.contains("line feed (LF)")),
            "{faults:?}"
        );
    };
    said(text.trim_end(), "the last line has no line feed");
    said(&text.replace('\n', "\r\n"), "line 1 has a carriage return and a line feed (CR LF)");
    said(&text.replacen("\n{", "\r\n{", 1), "(CR LF)");
    let mut cr = memory.clone();
    cr.files.insert(name.into(), text.replace('\n', "\r").into_bytes());
    let error = open_release_from(&cr, &()).unwrap_err().to_string();
    assert!(error.contains("clusters.jsonl:1: a carriage return (CR)"), "{error}");
}

#[test]
fn what_says_nothing_is_refused_with_its_line() {
    let memory = in_memory(&disassociated(2));
    let good = "{\"size\":2,\"record_chunks\":[],\"term_chunk\":[\"a\"]}\n";
    let simple =
        |chunk: &str| format!("{{\"size\":2,\"record_chunks\":[{chunk}],\"term_chunk\":[]}}");
    for (bad, word) in [
        ("{\"size\":0,\"record_chunks\":[],\"term_chunk\":[\"a\"]}".to_owned(), "`size` is 0"),
        (simple("{\"subrecords\":[]}"), "an empty chunk"),
        (simple("{\"subrecords\":[{\"items\":[],\"count\":1}]}"), "an empty itemset"),
        (simple("{\"subrecords\":[{\"items\":[\"a\"],\"count\":0}]}"), "`count` is 0"),
        (
            format!(
                "{{\"size\":2,\"shared_chunks\":[{{\"subrecords\":[]}}],\"children\":[{0},{0}]}}",
                good.trim()
            ),
            "an empty chunk",
        ),
    ] {
        let mut changed = memory.clone();
        let text = format!("{good}{bad}\n");
        changed.files.insert("clusters.jsonl".into(), text.into_bytes());
        let error = open_release_from(&changed, &()).unwrap_err().to_string();
        assert!(error.contains("clusters.jsonl:2: ") && error.contains(word), "{error}");
    }
    let groups = in_memory(&Release { manifest: manifest(12), body: bodies().swap_remove(3) });
    for (from, to, word) in [
        ("\"size\":3", "\"size\":0", "groups.jsonl:2: `size` is 0"),
        (
            "\"sensitive\":[{\"item\":\"\\u0000\",\"count\":1}",
            "\"sensitive\":[{\"item\":\"x\",\"count\":0}",
            "groups.jsonl:1: `count` is 0",
        ),
    ] {
        let mut changed = groups.clone();
        let text = String::from_utf8(groups.files["groups.jsonl"].clone()).unwrap();
        assert!(text.contains(from), "{text}");
        changed.files.insert("groups.jsonl".into(), text.replacen(from, to, 1).into_bytes());
        let error = open_release_from(&changed, &()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn a_gap_or_another_order_among_several_files_is_a_fault() {
    let mut memory = MemoryRelease::default();
    write_release_in_files(&disassociated(4), &mut memory, 2000, &()).unwrap();
    assert!(memory.files.len() > 4);
    let manifest = String::from_utf8(memory.files["manifest.json"].clone()).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let change = |change: &dyn Fn(&mut Vec<serde_json::Value>)| {
        let mut parsed = parsed.clone();
        change(parsed["files"].as_array_mut().unwrap());
        let whole = faults(&memory, "manifest.json", &parsed.to_string());
        assert!(!whole.is_empty());
        whole
    };
    let gap = change(&|files| drop(files.remove(1)));
    assert!(gap.iter().any(|f| f.contains("one with a higher number")), "{gap:?}");
    assert!(gap.iter().any(|f| f.contains("does not list this file, so")), "{gap:?}");
    let order = change(&|files| files.swap(1, 2));
    assert!(order[0].contains("the manifest lists it after clusters-00002.jsonl"), "{order:?}");
    let twice = change(&|files| files.push(files[0].clone()));
    assert!(twice[0].contains("such a release has none of it"), "{twice:?}");
    let mut gone = memory.clone();
    gone.files.remove("clusters-00001.jsonl");
    assert!(
        open_release_from(&gone, &()).unwrap_err().to_string().contains("clusters-00001.jsonl")
    );
}

#[test]
fn a_hundred_thousand_names_are_looked_at_once_each() {
    let memory = in_memory(&disassociated(2));
    let manifest = String::from_utf8(memory.files["manifest.json"].clone()).unwrap();
    let mut parsed: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let files = parsed["files"].as_array_mut().unwrap();
    for i in 0..100_000 {
        let mut entry = files[0].clone();
        entry["name"] = format!("clusters-{i:05}.jsonl").into();
        files.push(entry);
    }
    assert_eq!(faults(&memory, "manifest.json", &parsed.to_string()).len(), 100_000);
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("r");
    write_release(&disassociated(2), &target, false).unwrap();
    for name in ["clusters.jsonl", "manifest.json"] {
        let (path, outside) = (target.join(name), dir.path().join("outside"));
        std::fs::rename(&path, &outside).unwrap();
        let refused = |word: &str| {
            let error =
                open_release_from(&DirectorySource::new(&target), &()).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(word), "{error}");
        };
        std::os::unix::fs::symlink(&outside, &path).unwrap();
        refused("this is a link; a release holds regular files only");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        refused("this is a directory");
        std::fs::remove_dir(&path).unwrap();
        // Nobody ever writes to this pipe: a reader that opens it waits for ever.
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        refused("this is a pipe");
        std::fs::remove_file(&path).unwrap();
        std::fs::rename(&outside, &path).unwrap();
    }
}
