//! A release in several files, asked file by file: the same answers as of the whole.

use std::collections::{BTreeMap, BTreeSet};

use setveil::data::{K, M};
use setveil::io::{MemoryRelease, write_release_in_files};
use setveil::measure::{self, InChunks, pairs_of};
use setveil::methods::disassociation::{Parameters, anonymize};
use setveil::release::{Body, Disassociated, Manifest, Release};
use setveil::verify::Verdict;
use setveil::workflow::{self, CheckedFile};
use setveil::{Dataset, Result};

fn data(seed: u64) -> Dataset {
    Dataset::from_records(testkit::random::records(seed, 300, 14, 3.0))
}

fn release(data: &Dataset, safe: bool) -> Release {
    let mut parameters = Parameters::new(K::new(3).unwrap(), M::new(2).unwrap());
    parameters.max_cluster_size = 9;
    if safe {
        parameters.safe = Some(Default::default());
    }
    anonymize(data, &parameters, &()).unwrap()
}

fn written(release: &Release, bytes: u64) -> MemoryRelease {
    let mut memory = MemoryRelease::default();
    write_release_in_files(release, &mut memory, bytes, &()).unwrap();
    memory
}

/// Every file is checked where nothing else is but the manifest, and what was
/// found goes to another machine, which has none of the clusters.
fn on_machines(memory: &MemoryRelease) -> Result<Verdict> {
    let clusters = |name: &str| name.starts_with("clusters");
    let mut here = memory.clone();
    for (name, bytes) in &mut here.files {
        if clusters(name) {
            bytes.clear();
        }
    }
    let checked = |name: &str| {
        let wanted = |other: &String| other == name || other == "manifest.json";
        let files: BTreeMap<String, Vec<u8>> =
            memory.files.clone().into_iter().filter(|(other, _)| wanted(other)).collect();
        workflow::verify_file(&MemoryRelease::new(files), name, &())
    };
    let there = |manifest: &Manifest, name: &str| {
        CheckedFile::from_bytes(manifest, &checked(name)?.to_bytes()?)
    };
    let verdict = workflow::verify_files(&here, [], there, &())?;
    // The labels of all files may also come by themselves, once.
    let mut labels = BTreeSet::new();
    for name in memory.files.keys().filter(|name| clusters(name)) {
        labels.extend(checked(name)?.take_labels());
    }
    let without = |manifest: &Manifest, name: &str| {
        let mut checked = checked(name)?;
        checked.take_labels();
        CheckedFile::from_bytes(manifest, &checked.to_bytes()?)
    };
    assert_eq!(workflow::verify_files(&here, labels, without, &())?, verdict);
    Ok(verdict)
}

/// Changes the files of a release.
type Act<'a> = &'a dyn Fn(&mut BTreeMap<String, Vec<u8>>);

#[test]
fn files_that_are_checked_one_by_one_get_the_verdict_of_the_whole() {
    let memory = written(&release(&data(1), false), 1500);
    let last = memory.files.keys().rfind(|name| name.starts_with("clusters-")).unwrap().clone();
    assert!(last != "clusters-00000.jsonl", "several files");
    let change = |act: Act| {
        let mut changed = memory.clone();
        act(&mut changed.files);
        let whole = workflow::verify_from(&changed, &()).unwrap();
        assert_eq!(on_machines(&changed).unwrap(), whole);
        whole
    };
    assert!(change(&|_| ()).holds);
    let saboteurs: [Act; 6] = [
        &|files| files.get_mut(&last).unwrap().truncate(0),
        &|files| {
            let text = String::from_utf8(files[&last].clone()).unwrap();
            let first = text.lines().next().unwrap().to_owned() + "\n";
            files.insert(last.clone(), (text + &first).into_bytes());
        },
        &|files| {
            let (one, other) = (files["clusters-00000.jsonl"].clone(), files[&last].clone());
            files.insert(last.clone(), one);
            files.insert("clusters-00000.jsonl".into(), other);
        },
        &|files| {
            files.insert("notes.txt".into(), b"a note".to_vec());
        },
        &|files| files.get_mut("README.md").unwrap().extend(b"More.\n"),
        &|files| {
            let manifest = String::from_utf8(files["manifest.json"].clone()).unwrap();
            let changed = manifest.replace("\"k\": 3", "\"k\": 4");
            assert_ne!(changed, manifest);
            files.insert("manifest.json".into(), changed.into_bytes());
        },
    ];
    for (i, act) in saboteurs.into_iter().enumerate() {
        assert!(!change(act).holds, "{i}");
    }
}

#[test]
fn a_file_that_is_not_listed_is_refused() {
    let memory = written(&release(&data(2), false), 1500);
    assert!(workflow::verify_file(&memory, "README.md", &()).is_err());
    assert!(workflow::verify_file(&memory, "clusters-99999.jsonl", &()).is_err());
}

#[test]
fn a_safe_release_is_verified_as_a_whole() {
    let memory = written(&release(&data(3), true), 1500);
    assert!(workflow::verify_from(&memory, &()).unwrap().holds);
    let refused = on_machines(&memory).unwrap_err().to_string();
    assert!(refused.contains("safe"), "{refused}");
}

#[test]
fn measures_of_all_files_are_those_of_the_whole() {
    let data = data(4);
    let release = release(&data, false);
    let Body::Disassociated(body) = &release.body else { unreachable!() };
    let mut all = InChunks::default();
    for clusters in body.clusters.chunks(3) {
        let part = Disassociated { clusters: clusters.to_vec(), ..body.clone() };
        let part = Release { body: Body::Disassociated(part), manifest: release.manifest.clone() };
        let found = InChunks::of(&part).unwrap();
        all.pairs += found.pairs;
        all.items.extend(found.items);
    }
    let supports = data.supports().into_iter().map(u64::from);
    let supports = data.vocabulary().labels().zip(supports);
    let pairs = data.records().map(|record| pairs_of(record.len())).sum();
    let found = all.evaluation(supports, pairs, 3);
    let whole = workflow::evaluate(&release, &data, &measure::Options::default(), &()).unwrap();
    assert_eq!((found.tlost, found.pairs_kept), (whole.tlost, whole.pairs_kept));
    assert!(found.pairs_kept.unwrap() > 0.0);
}
