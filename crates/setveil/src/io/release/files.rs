//! Which files a release has, and what is wrong with them.
//!
//! A body of clusters is one file, `clusters.jsonl`, or several,
//! `clusters-00000.jsonl`, `clusters-00001.jsonl`, ..., which are one after the
//! other what the one would be.

use std::collections::{HashMap, HashSet};

use super::explained::{README, SCHEMA};
use super::store::ReleaseSource;
use super::{HIERARCHY, MANIFEST, TOTALS};
use crate::release::{FileEntry, Manifest, VERSION_LOCATED};
use crate::{Error, Result};

/// A published file that is not what the manifest says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFault {
    /// The file's name in the release.
    pub file: String,
    /// What differs.
    pub what: String,
}

impl FileFault {
    pub(super) fn new(file: &str, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), what: what.into() }
    }
}

/// The kinds of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Clusters,
    Classes,
    Groups,
    Leaves,
}

/// The files that are read.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    pub(super) kind: Kind,
    /// The body's files in their order.
    pub(super) body: Vec<&'a FileEntry>,
    pub(super) hierarchy: Option<&'a FileEntry>,
    pub(super) totals: Option<&'a FileEntry>,
    /// What explains the release; earlier releases have none of it.
    pub(super) explained: Vec<&'a FileEntry>,
}

/// The name of file `number` of a body in several files.
pub(super) fn numbered(number: u64) -> String {
    format!("clusters-{number:05}.jsonl")
}

/// The number in the name of one of several files.
fn number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("clusters-")?.strip_suffix(".jsonl")?;
    let number = digits.parse().ok()?;
    (numbered(number) == name).then_some(number)
}

impl<'a> Layout<'a> {
    /// What the manifest lists, and what is wrong with the list.
    pub(super) fn of(
        manifest: &'a Manifest,
        source: &dyn ReleaseSource,
        faults: &mut Vec<FileFault>,
    ) -> Result<Self> {
        let mut first: HashMap<&str, &FileEntry> = HashMap::new();
        for entry in &manifest.files {
            first.entry(&entry.name).or_insert(entry);
        }
        let located = manifest.version == VERSION_LOCATED;
        let single: &[(&str, Kind)] = if located {
            &[("leaves.jsonl", Kind::Leaves)]
        } else {
            &[
                ("clusters.jsonl", Kind::Clusters),
                ("classes.jsonl", Kind::Classes),
                ("groups.jsonl", Kind::Groups),
            ]
        };
        let found = single.iter().find_map(|&(name, kind)| Some((*first.get(name)?, kind)));
        let (kind, body) = match found {
            Some((entry, kind)) => (kind, vec![entry]),
            None if located => (Kind::Leaves, Vec::new()),
            None => (Kind::Clusters, several(&first, manifest, faults)),
        };
        let (hierarchy, totals) = (first.get(HIERARCHY).copied(), first.get(TOTALS).copied());
        let refuse =
            |found: String, hint: &str| Err(Error::input(source.path(MANIFEST), None, found, hint));
        if body.is_empty() {
            let names: Vec<&str> = single.iter().map(|s| s.0).collect();
            let several = if located { "" } else { ", or clusters-00000.jsonl and following" };
            let hint = format!("a release of this version has one of them{several}");
            return refuse(format!("`files` names none of {}", names.join(", ")), &hint);
        }
        if located && totals.is_none() {
            let found = format!("`files` does not name {TOTALS}");
            return refuse(found, "a release with leaves has it");
        }
        let explained =
            [README, SCHEMA].iter().filter_map(|name| first.get(name).copied()).collect();
        Ok(Self { kind, body, hierarchy, totals, explained })
    }

    /// How many bytes the manifest says there are.
    pub(super) fn bytes(&self) -> u64 {
        let all =
            self.body.iter().chain(&self.hierarchy).chain(&self.totals).chain(&self.explained);
        all.fold(0, |sum, f| sum.saturating_add(f.bytes))
    }

    /// Adds the files that nobody has checked: those that the manifest does
    /// not list, and those that it lists beside the ones of the format.
    pub(super) fn unknown(
        &self,
        manifest: &Manifest,
        source: &dyn ReleaseSource,
        faults: &mut Vec<FileFault>,
    ) -> Result<()> {
        let listed: HashSet<&str> = manifest.files.iter().map(|f| f.name.as_str()).collect();
        let mut names = source.names()?;
        names.retain(|name| name != MANIFEST && !listed.contains(name.as_str()));
        names.sort_unstable();
        let what = "the manifest does not list this file, so nothing is known about it";
        faults.extend(names.iter().map(|name| FileFault::new(name, what)));
        let mut expected: HashSet<&str> = self.body.iter().map(|f| f.name.as_str()).collect();
        match self.kind {
            Kind::Classes => expected.extend([HIERARCHY]),
            Kind::Leaves => expected.extend([TOTALS]),
            Kind::Clusters | Kind::Groups => {}
        }
        expected.extend([README, SCHEMA]);
        for entry in &manifest.files {
            // The second of two equal names is not expected any more.
            if !expected.remove(entry.name.as_str()) {
                let what = "the manifest lists this file, but such a release has none of it";
                faults.push(FileFault::new(&entry.name, what));
            }
        }
        Ok(())
    }
}

/// The files of a body in several, in the order of their numbers.
fn several<'a>(
    first: &HashMap<&str, &'a FileEntry>,
    manifest: &'a Manifest,
    faults: &mut Vec<FileFault>,
) -> Vec<&'a FileEntry> {
    let mut order = Vec::new();
    for entry in &manifest.files {
        match number(&entry.name) {
            // The first of two equal names: the other one is a fault of its own.
            Some(number) if std::ptr::eq(first[entry.name.as_str()], entry) => {
                order.push((number, entry));
            }
            _ => {}
        }
    }
    if let Some(pair) = order.windows(2).find(|pair| pair[0].0 > pair[1].0) {
        let what = format!("the manifest lists it after {}", pair[0].1.name);
        faults.push(FileFault::new(&pair[1].1.name, what));
    }
    order.sort_unstable_by_key(|o| o.0);
    let missing = (0..).zip(&order).find(|(expected, (number, _))| expected != number);
    if let Some((expected, _)) = missing {
        let what = "the manifest does not list this file, but one with a higher number";
        faults.push(FileFault::new(&numbered(expected), what));
    }
    order.into_iter().map(|o| o.1).collect()
}
