//! Releases and tables that somebody made to do harm: whatever takes them must
//! answer or refuse, within bounds of memory and work.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::RngExt;
use setveil::budget::Budget;
use setveil::data::{K, M, Vocabulary};
use setveil::io::{
    DirectorySource, MemoryRelease, open_release_from, read_release_from, write_release,
    write_release_in_files, write_release_to,
};
use setveil::methods::disassociation;
use setveil::release::{
    Bag, Body, Cluster, Disassociated, Generalized, Group, Grouped, Guarantee, JointCluster,
    Manifest, Model, Release, SimpleCluster, Supports,
};
use setveil::{Dataset, Error, Progress, Stage, attack, measure, report, workflow};
use testkit::{fuzz, hostile, random, settings};

/// Targets that take choices, and so mean something whatever the bytes.
const TARGETS: [&str; 5] = ["arrow", "verify", "query", "attack", "reconstruct"];

#[test]
fn torture_made_up_releases_are_answered_or_refused() {
    let mut rng = random::rng(18);
    let mut read = 0;
    for _ in 0..settings::rounds(150) {
        let length = rng.random_range(1..300);
        let bytes: Vec<u8> = (0..length).map(|_| rng.random()).collect();
        for (_, target) in fuzz::TARGETS.iter().filter(|t| TARGETS.contains(&t.0)) {
            target(&bytes);
        }
        let files = hostile::files(&bytes);
        read += u32::from(files.is_some_and(|f| read_release_from(&f, &()).is_ok()));
    }
    assert!(read > 20, "{read} of the releases are such that a recipient reads them");
}

fn clusters(clusters: Vec<Cluster>, items: usize) -> Release {
    let labels: Vec<String> = (0..items).map(|i| format!("{i:06}")).collect();
    let body = Disassociated { vocabulary: Vocabulary::new(&labels), clusters };
    let records = body.records();
    let model = Model::FormatKmAnonymity { k: 2, m: 2, l: None };
    let guarantee = Guarantee { model, supports: Supports::Exact };
    let parameters = [("k", 2.into()), ("m", 2.into())];
    let manifest = Manifest::new("disassociation", parameters, guarantee, records, items as u64);
    Release { manifest, body: Body::Disassociated(body) }
}

fn groups(records: &[(&[u32], u32)], sensitive: &[(u32, u32)]) -> Release {
    let records = Bag::from_counted(records.iter().copied());
    let groups = vec![Group { size: 2, records, sensitive: sensitive.to_vec() }];
    let vocabulary = Vocabulary::new(["a", "b", "s"]);
    let guarantee = Guarantee { model: Model::Association { p: 2 }, supports: Supports::Exact };
    let parameters =
        [("p", 2.into()), ("sensitive", vec!["s"].into()), ("grouping", "blind".into())];
    let manifest = Manifest::new("cahd", parameters, guarantee, 2, 3);
    Release { manifest, body: Body::Grouped(Grouped { vocabulary, groups }) }
}

fn leaf(size: u32, chunks: &[(&[u32], u32)], term_chunk: &[u32]) -> Cluster {
    let chunk = |&(items, count): &(&[u32], u32)| Bag::from_counted([(items, count)]);
    let record_chunks = chunks.iter().map(chunk).collect();
    Cluster::Simple(SimpleCluster { size, record_chunks, term_chunk: term_chunk.to_vec() })
}

const SMALL: Budget = Budget::new(64 << 20);

/// Sizes are believed nowhere: neither sums nor tables are as long as a file says.
#[test]
fn a_cluster_of_billions_of_records_is_asked_and_attacked_in_little_time_and_memory() {
    for (size, first, second) in [
        (u32::MAX, u32::MAX / 2, u32::MAX / 2 + 1),
        (u32::MAX, u32::MAX, u32::MAX),
        (4_000_000_000, 5, 7),
        (100_000, 50_000, 50_000),
    ] {
        for terms in [&[][..], &[2, 3]] {
            let release = clusters(vec![leaf(size, &[(&[0], first), (&[1], second)], terms)], 4);
            let pair = vec![vec!["000000", "000001"]];
            for answer in workflow::query(&release, &pair, &Default::default(), &SMALL).unwrap() {
                let (lower, upper) = (answer.lower as f64, answer.upper.unwrap() as f64);
                assert!(lower <= answer.expected && answer.expected <= upper, "{answer:?}");
            }
            let options = attack::Options::default().targets(3).worlds(6);
            match workflow::attack(&release, None, &options, &SMALL) {
                Ok(_) | Err(Error::Memory { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn reconstructions_that_do_not_fit_are_refused_before_they_are_made() {
    let guarantee = Guarantee { model: Model::KAnonymity { k: 2 }, supports: Supports::Exact };
    let body = Body::Generalized(Generalized {
        vocabulary: Vocabulary::new(["a"]),
        classes: Bag::from_counted([(&[0][..], 4_000_000_000)]),
        hierarchy: None,
    });
    let manifest = Manifest::new("suppress-rare", [], guarantee, 4_000_000_000, 1);
    let release = Release { manifest, body };
    let drawn = workflow::reconstruct(&release, &Default::default(), &Budget::new(20 << 30));
    assert!(matches!(drawn, Err(Error::Memory { needed, .. }) if needed > 20 << 30));
    // Terms in any number of records: few bytes, many occurrences.
    let terms: Vec<u32> = (0..1_000).collect();
    let release = clusters(vec![leaf(1 << 20, &[], &terms)], 1_000);
    let any =
        workflow::ReconstructOptions::default().terms(setveil::reconstruct::TermOccurrences::Any);
    let drawn = workflow::reconstruct(&release, &any, &Budget::new(1 << 30));
    assert!(matches!(drawn, Err(Error::Memory { .. })));
}

/// Inputs that are kept for the fuzzer, those among them that once failed.
#[test]
fn what_fuzzing_found_is_answered() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut files = 0;
    for (name, target) in fuzz::TARGETS {
        let Ok(folder) = std::fs::read_dir(corpus.join(name)) else { continue };
        for file in folder {
            target(&std::fs::read(file.unwrap().path()).unwrap());
            files += 1;
        }
    }
    assert!(files > 30, "{files} files in {}", corpus.display());
}

/// What no method writes is refused by everybody but `verify`, which says why.
#[test]
fn nonsense_is_refused_on_reading() {
    for (release, word) in [
        (clusters(vec![leaf(2, &[(&[0], 3)], &[])], 1), "3 sub-records in 2 records"),
        (clusters(vec![leaf(2, &[(&[0], 2), (&[0], 2)], &[])], 1), "two chunks"),
        (clusters(vec![leaf(2, &[(&[0], 2)], &[0])], 1), "two chunks"),
        (clusters(vec![leaf(2, &[(&[1, 0], 2)], &[])], 2), "do not ascend"),
        (
            clusters(
                vec![Cluster::Joint(JointCluster {
                    size: 9,
                    shared_chunks: vec![],
                    children: vec![leaf(2, &[(&[0], 2)], &[]), leaf(2, &[(&[0], 2)], &[])],
                })],
                1,
            ),
            "its size is 9",
        ),
        (
            clusters(
                vec![Cluster::Joint(JointCluster {
                    size: 4,
                    shared_chunks: vec![
                        Bag::from_counted([(&[0][..], 2)]),
                        Bag::from_counted([(&[0][..], 2)]),
                    ],
                    children: vec![leaf(2, &[(&[1], 2)], &[]), leaf(2, &[(&[1], 2)], &[])],
                })],
                2,
            ),
            "two chunks",
        ),
        (groups(&[(&[0], 2)], &[(0, 1)]), "a sensitive item stands twice"),
        (groups(&[(&[1, 0], 2)], &[(2, 1)]), "do not ascend"),
    ] {
        let mut memory = MemoryRelease::default();
        write_release_to(&release, &mut memory, &()).unwrap();
        let error = read_release_from(&memory, &()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
        let opened = open_release_from(&memory, &()).unwrap();
        let verdict = workflow::check(&opened, &()).unwrap();
        assert!(!verdict.holds);
        // A report begins as verify does, and then attacks what it has read.
        let (about, options) = (report::About::default(), measure::Options::default());
        let error = workflow::report(&opened.release, &verdict, None, &about, &options, &());
        let error = error.unwrap_err().to_string();
        assert!(error.contains("no data set fits") && error.contains(word), "{error}");
    }
}

/// Names in a manifest cost the square of their number no more.
#[test]
fn a_hundred_thousand_names_in_a_manifest() {
    let release = clusters(vec![leaf(2, &[(&[0], 2)], &[])], 1);
    let mut memory = MemoryRelease::default();
    write_release_to(&release, &mut memory, &()).unwrap();
    let mut manifest: serde_json::Value =
        serde_json::from_slice(&memory.files["manifest.json"]).unwrap();
    let files = manifest["files"].as_array_mut().unwrap();
    for i in 0..100_000 {
        let mut entry = files[0].clone();
        entry["name"] = format!("file-{i}").into();
        files.push(entry);
    }
    memory.files.insert("manifest.json".into(), serde_json::to_vec(&manifest).unwrap());
    assert_eq!(open_release_from(&memory, &()).unwrap().faults.len(), 100_000);
    // Each of them, the spelling of the manifest, and what else follows from them.
    assert!(workflow::verify_from(&memory, &()).unwrap().violation_count > 100_000);
}

fn disassociated() -> Release {
    let records = random::records(5, 3_000, 400, 5.0);
    let parameters = disassociation::Parameters::new(K::new(3).unwrap(), M::new(2).unwrap());
    disassociation::anonymize(&Dataset::from_records(&records), &parameters, &()).unwrap()
}

#[test]
fn a_release_in_several_files_is_verified_in_less_memory_than_it_takes() {
    let release = disassociated();
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("release");
    let sink = setveil::io::DirectorySink::new(&target, false).unwrap();
    let manifest = write_release_in_files(&release, sink, 20_000, &()).unwrap();
    assert!(manifest.files.len() > 3, "{}", manifest.files.len());
    let all: u64 = manifest.files.iter().map(|f| f.bytes).sum();
    let longest = manifest.files.iter().map(|f| f.bytes).max().unwrap();
    let source = DirectorySource::new(&target);
    let budget = Budget::new(longest.max(manifest.files.len() as u64 * 200 + 2_000));
    assert!(budget.bytes() < all / 2, "{budget:?} {all}");
    let verdict = workflow::verify_from(&source, &budget).unwrap();
    assert!(verdict.holds, "{verdict:?}");
    // A changed line is found in its file, whatever the way of reading.
    let name = &manifest.files[2].name;
    let path = target.join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("\"count\":", "\"count\": ", 1)).unwrap();
    let stream = workflow::verify_from(&source, &budget).unwrap();
    let opened = open_release_from(&source, &()).unwrap();
    let files = setveil::io::read_listed(&source, &opened.release.manifest, &()).unwrap();
    let spelling = workflow::spelling(&opened.release, &files);
    let whole = workflow::check(&opened, &()).unwrap().with_violations(spelling);
    assert_eq!(stream.violation_count, whole.violation_count);
    assert!(stream.violations.iter().any(|v| v.rule == "text" && v.r#where.contains(name)));
    assert!(stream.violations.iter().any(|v| v.rule == "file" && v.r#where.contains(name)));
}

/// Says stop at the question after so many.
struct StopAfter(u64, AtomicU64);

impl Progress for StopAfter {
    fn stage(&self, _: Stage, _: Option<u64>) {}
    fn advance(&self, _: u64) -> ControlFlow<()> {
        if self.1.fetch_add(1, Ordering::Relaxed) < self.0 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

/// What a recipient, an attacker or a custodian runs can be stopped, wherever it is.
#[test]
fn workflows_stop_when_they_are_told_to() {
    let release = disassociated();
    let records = random::records(5, 3_000, 400, 5.0);
    let data = Dataset::from_records(&records);
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("release");
    write_release(&release, &target, false).unwrap();
    let source = DirectorySource::new(&target);
    let itemsets: Vec<Vec<String>> = (0..40).map(|i| vec![records[i][0].clone()]).collect();
    let options = attack::Options::default().targets(200).worlds(5).clusters(20);
    type Run<'a> = Box<dyn Fn(&dyn Progress) -> setveil::Result<()> + 'a>;
    let runs: [(&str, Run); 5] = [
        ("verify", Box::new(|p| workflow::verify_from(&source, p).map(drop))),
        ("attack", Box::new(|p| workflow::attack(&release, Some(&data), &options, p).map(drop))),
        (
            "query",
            Box::new(|p| workflow::query(&release, &itemsets, &Default::default(), p).map(drop)),
        ),
        (
            "reconstruct",
            Box::new(|p| workflow::reconstruct(&release, &Default::default(), p).map(drop)),
        ),
        ("profile", Box::new(|p| workflow::profile(&data, &Default::default(), p).map(drop))),
    ];
    for (name, run) in runs {
        let all = StopAfter(u64::MAX, AtomicU64::new(0));
        run(&all).unwrap();
        let asked = all.1.into_inner();
        assert!(asked > 0, "{name} never asks");
        for questions in (0..asked).step_by((asked / 12).max(1) as usize) {
            let stopped = run(&StopAfter(questions, AtomicU64::new(0)));
            assert!(
                matches!(stopped, Err(Error::Cancelled)),
                "{name} after {questions} of {asked}"
            );
        }
    }
}

/// Traps that once had no end: thousands of chunks, whose covers are as many as the square of the
/// chunks, and a class of billions, of which itemsets were mined.
#[test]
fn traps_are_answered_or_refused_in_little_work() {
    for (name, release) in testkit::traps::all(1000) {
        let billions = ["one class of 2^32", "sizes of 2^32"].contains(&name);
        if name == testkit::traps::TOO_LARGE {
            continue;
        }
        let options = attack::Options::default().targets(20).worlds(2).clusters(2);
        match workflow::attack(&release, None, &options, &SMALL) {
            Ok(attacked) => {
                let limited = attacked.report.notes.iter().any(|note| note.contains("2048 items"));
                assert_eq!(limited, name == "5,000 chunks", "{name}: {:?}", attacked.report.notes);
            }
            Err(error) => {
                assert!(billions && matches!(error, Error::Memory { .. }), "{name}: {error}")
            }
        }
        match workflow::itemsets(&release, &Default::default(), &SMALL) {
            Ok(_) => assert!(!billions, "{name}"),
            Err(error) => {
                assert!(billions && matches!(error, Error::Memory { .. }), "{name}: {error}")
            }
        }
    }
}
