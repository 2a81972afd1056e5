//! The release directory under attack: faults at every call, things that
//! appear at the wrong moment, several runs at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::faults::{Call, Faulty, listing};
use super::{DirectorySink, read_release, write_release, write_release_to};
use crate::data::Vocabulary;
use crate::release::{Bag, Body, Generalized, Guarantee, Manifest, Model, Release, Supports};
use crate::{Error, Hierarchy, Result};

/// A small release with two files beside the manifest; `count` tells one from another.
fn release(count: u32) -> Release {
    let guarantee = Guarantee { model: Model::KAnonymity { k: 2 }, supports: Supports::Exact };
    let body = Body::Generalized(Generalized {
        vocabulary: Vocabulary::new(["a", "b"]),
        classes: Bag::from_counted([(&[0, 1][..], count)]),
        hierarchy: Some(Hierarchy::from_paths(&[vec!["a", "*"], vec!["b", "*"]]).unwrap()),
    });
    let manifest = Manifest::new("partition", [], guarantee, count.into(), 2);
    Release { manifest, body }
}

fn count(dir: &Path) -> u64 {
    read_release(dir).unwrap().manifest.records
}

fn write_with(target: &Path, replace: bool, files: &Arc<Faulty>) -> Result<Manifest> {
    let sink = DirectorySink::with_files(target, replace, files.clone())?;
    write_release_to(&release(7), sink, &())
}

/// A directory with somebody's work in it.
fn thesis(dir: &Path) {
    fs::create_dir_all(dir).unwrap();
    fs::write(dir.join("thesis.tex"), "years of work").unwrap();
}

const THESIS: &[u8] = b"years of work";

fn names(dir: &Path) -> Vec<String> {
    listing(dir).into_iter().map(|f| f.0).collect()
}

#[test]
fn a_thesis_that_appears_between_the_check_and_the_rename_stays() {
    for old_system in [false, true] {
        for replace in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let target = dir.path().join("r");
            let appears = target.clone();
            let files = Faulty::hook(Call::RenameNew, move || thesis(&appears));
            let files = if old_system { files.without_renameat2() } else { files };
            let error = write_with(&target, replace, &Arc::new(files)).unwrap_err();
            assert!(matches!(error, Error::Exists { replaceable: false, .. }), "{error}");
            assert_eq!(listing(dir.path()), [("r/thesis.tex".to_owned(), THESIS.to_vec())]);
        }
    }
}

#[test]
fn a_thesis_that_takes_the_place_of_the_old_release_is_put_back() {
    for (call, old_system) in [(Call::Exchange, false), (Call::Exchange, true)] {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("r");
        write_release(&release(5), &target, false).unwrap();
        let changed = target.clone();
        let files = Faulty::hook(call, move || {
            fs::remove_dir_all(&changed).unwrap();
            thesis(&changed);
        });
        let files = if old_system { files.without_renameat2() } else { files };
        let error = write_with(&target, true, &Arc::new(files)).unwrap_err();
        assert!(matches!(error, Error::Exists { replaceable: false, .. }), "{error}");
        assert_eq!(listing(dir.path()), [("r/thesis.tex".to_owned(), THESIS.to_vec())]);
    }
}

#[test]
fn notes_inside_an_old_release_are_not_lost() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("r");
    write_release(&release(5), &target, false).unwrap();
    let before = listing(dir.path());
    // There before the run: refused at once.
    thesis(&target);
    let error = write_release(&release(7), &target, true).unwrap_err();
    assert!(error.to_string().contains("thesis.tex"), "{error}");
    fs::remove_file(target.join("thesis.tex")).unwrap();
    assert_eq!(listing(dir.path()), before);
    // There at the moment of the removal: the directory stays, and the error says where.
    let lands = dir.path().to_owned();
    let files = Faulty::hook(Call::RemoveDir, move || {
        let old = fs::read_dir(&lands).unwrap().map(|e| e.unwrap().path());
        thesis(&old.into_iter().find(|p| p.to_string_lossy().ends_with(".partial")).unwrap());
    });
    let error = write_with(&target, true, &Arc::new(files)).unwrap_err();
    assert!(matches!(&error, Error::Stands { .. }), "{error}");
    assert_eq!(count(&target), 7);
    let left: Vec<String> =
        names(dir.path()).into_iter().filter(|n| n.contains("partial")).collect();
    assert!(left.len() == 1 && left[0].ends_with("thesis.tex"), "{left:?}");
}

/// Runs with a fault at every call in turn; how many there were.
fn faults_at_every_call(replace: bool, old_system: bool, for_good: bool) -> usize {
    for at in 0.. {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("r");
        if replace {
            write_release(&release(5), &target, false).unwrap();
        }
        let files = if for_good { Faulty::fail_from(at) } else { Faulty::fail(at) };
        let files = Arc::new(if old_system { files.without_renameat2() } else { files });
        let done = write_with(&target, replace, &files);
        if files.calls() <= at {
            assert!(done.is_ok() && count(&target) == 7);
            return at;
        }
        let Err(error) = done else { panic!("the fault at call {at} was swallowed") };
        // Complete and new, complete and old, or not there at all.
        let stands = matches!(error, Error::Stands { .. });
        let found = target.exists().then(|| count(&target));
        let expected = if stands { Some(7) } else { replace.then_some(5) };
        let hidden: Vec<PathBuf> = fs::read_dir(dir.path())
            .unwrap()
            .map(|e| e.unwrap().path())
            .filter(|p| *p != target)
            .collect();
        if for_good && found.is_none() && replace {
            // The disk died between the two renames of an old system: the error says where the old one is.
            assert!(old_system && hidden.iter().any(|p| p.join("manifest.json").exists()));
            assert!(hidden.iter().any(|p| error.to_string().contains(&*p.to_string_lossy())));
            continue;
        }
        assert_eq!(found, expected, "call {at}: {error}");
        // A single fault leaves nothing hidden, but for an old release whose removal failed.
        assert!(for_good || stands || hidden.is_empty(), "call {at}: {error}: {hidden:?}");
    }
    unreachable!()
}

#[test]
fn every_single_fault_leaves_a_whole_release_or_none_and_nothing_hidden() {
    let mut faults = 0;
    for replace in [false, true] {
        for old_system in [false, true] {
            for for_good in [false, true] {
                faults += faults_at_every_call(replace, old_system, for_good);
            }
        }
    }
    assert!(faults > 100, "{faults}");
}

#[test]
fn everything_is_on_the_disk_before_the_name_is_given() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("r");
    for replace in [false, true] {
        let files = Arc::new(Faulty::default());
        write_with(&target, replace, &files).unwrap();
        let seen = files.seen();
        let last = |call: Call| seen.iter().rposition(|c| *c == call).unwrap();
        let first = |call: Call| seen.iter().position(|c| *c == call).unwrap();
        let files = |call: Call| seen.iter().filter(|c| **c == call).count();
        assert_eq!(files(Call::Sync), files(Call::CreateNew), "each file is waited for");
        assert!(last(Call::Write) < last(Call::Sync) && last(Call::Sync) < first(Call::SyncDir));
        assert!(first(Call::SyncDir) < first(Call::RenameNew));
        if replace {
            // The old one goes after the new one is in place for good.
            assert!(last(Call::Exchange) < last(Call::SyncDir));
            assert!(last(Call::SyncDir) < first(Call::RemoveFile));
        }
    }
}

#[test]
fn of_several_runs_at_once_exactly_one_is_done() {
    for round in 0..20 {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("r");
        let barrier = std::sync::Barrier::new(3);
        let run = |count: u32| {
            let sink = DirectorySink::new(&target, false).unwrap();
            barrier.wait();
            write_release_to(&release(count), sink, &()).is_ok()
        };
        let done: Vec<u32> = std::thread::scope(|scope| {
            let runs: Vec<_> = (2..5).map(|c| (c, scope.spawn(move || run(c)))).collect();
            runs.into_iter().filter_map(|(c, run)| run.join().unwrap().then_some(c)).collect()
        });
        assert_eq!(done.len(), 1, "round {round}");
        assert_eq!(count(&target), u64::from(done[0]));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}

#[test]
fn there_is_a_release_at_every_moment_of_a_replacement() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("r");
    write_release(&release(2), &target, false).unwrap();
    let done = AtomicBool::new(false);
    let manifest = target.join("manifest.json");
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut looks = 0u64;
            while !done.load(Ordering::SeqCst) {
                assert!(manifest.exists(), "after {looks} looks");
                looks += 1;
            }
            looks
        });
        let writers: Vec<_> = (0..2)
            .map(|_| {
                let target = &target;
                scope.spawn(move || {
                    for count in 2..40 {
                        write_release(&release(count), target, true).unwrap();
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|w| w.join().unwrap());
        done.store(true, Ordering::SeqCst);
        assert!(watch.join().unwrap() > 0);
    });
    assert_eq!(names(dir.path()).len(), 5, "{:?}", names(dir.path()));
}
