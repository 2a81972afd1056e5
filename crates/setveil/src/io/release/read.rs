//! Reading a whole release, and what is wrong with its files.

use std::io::ErrorKind;

use rayon::prelude::*;

use super::super::hierarchy::parse_hierarchy;
use super::super::json::LineReader;
use super::MANIFEST;
use super::files::{FileFault, Kind, Layout};
use super::store::ReleaseSource;
use super::text::{Observed, Origin, STEP, as_text, fill, merge, parse_lines, read_whole};
use crate::data::{ItemId, Vocabulary};
use crate::release::{
    Bag, Body, Cluster, Disassociated, FORMAT, FileEntry, Generalized, Group, Grouped, Leaf,
    Located, Manifest, Release, VERSION, VERSION_LOCATED,
};
use crate::{Error, Hierarchy, Progress, Result, Stage};

/// A release as it was found, with what is wrong with its files.
#[derive(Debug)]
pub struct OpenedRelease {
    /// What the files say.
    pub release: Release,
    /// Where they differ from the manifest.
    pub faults: Vec<FileFault>,
}

/// Reads a release and refuses one whose files differ from its manifest.
pub fn read_release_from(source: &dyn ReleaseSource, progress: &dyn Progress) -> Result<Release> {
    let opened = open_release_from(source, progress)?;
    match opened.faults.first() {
        None => {
            let Release { manifest, body } = opened.release;
            if let Some(found) = body.nonsense() {
                let hint = "no data set fits such a release; verify tells what is wrong";
                return Err(Error::input(source.path(""), None, found, hint));
            }
            Ok(Release { manifest: manifest.checked()?, body })
        }
        Some(fault) => Err(refuse(source, fault)),
    }
}

/// The error for a file that is not as it was written.
pub(super) fn refuse(source: &dyn ReleaseSource, fault: &FileFault) -> Error {
    Error::input(
        source.path(&fault.file),
        None,
        fault.what.clone(),
        "the release was changed after it was written: get it again; verify tells what is wrong",
    )
}

/// Reads a release and lists what differs from the manifest instead of
/// refusing it; for `verify`.
pub fn open_release_from(
    source: &dyn ReleaseSource,
    progress: &dyn Progress,
) -> Result<OpenedRelease> {
    let manifest = read_manifest(source, progress)?;
    let mut faults = Vec::new();
    let layout = Layout::of(&manifest, source, &mut faults)?;
    progress.stage(Stage::Reading, Some(layout.bytes()));
    let mut files = Files { source, progress, faults };
    let hierarchy = layout.hierarchy.map(|entry| files.hierarchy(entry)).transpose()?;
    let body = match layout.kind {
        Kind::Clusters => Body::Disassociated(files.clusters(&layout.body)?),
        Kind::Classes => {
            let (vocabulary, classes) = files.classes(&layout.body)?;
            Body::Generalized(Generalized { vocabulary, classes, hierarchy })
        }
        Kind::Groups => Body::Grouped(files.groups(&layout.body)?),
        Kind::Leaves => {
            let (vocabulary, leaves) = files.leaves(&layout.body)?;
            let totals = layout.totals.map(|entry| files.totals(entry, &vocabulary)).transpose()?;
            Body::Located(Located { vocabulary, leaves, totals: totals.unwrap_or_default() })
        }
    };
    layout.explained.iter().try_for_each(|entry| files.look_at(entry))?;
    let mut faults = files.faults;
    layout.unknown(&manifest, source, &mut faults)?;
    Ok(OpenedRelease { release: Release { manifest, body }, faults })
}

/// Reads the manifest of a release.
pub(super) fn read_manifest(
    source: &dyn ReleaseSource,
    progress: &dyn Progress,
) -> Result<Manifest> {
    let bytes = match read_whole(source, MANIFEST, progress) {
        Err(Error::Io { source: reason, .. }) if reason.kind() == ErrorKind::NotFound => {
            // A directory that is not there is another mistake than one without a manifest.
            let found = match source.names() {
                Ok(_) => "there is no manifest.json here",
                Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                    "there is no such directory"
                }
                Err(other) => return Err(other),
            };
            let hint = "name the directory of a release";
            return Err(Error::input(source.path(""), None, found, hint));
        }
        bytes => bytes?,
    };
    let path = source.path(MANIFEST);
    let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|e| {
        let hint = "expected the manifest of a Setveil release, see docs/release-format.md";
        Error::input(&path, Some(e.line() as u64), e.to_string(), hint)
    })?;
    if manifest.format != FORMAT || ![VERSION, VERSION_LOCATED].contains(&manifest.version) {
        return Err(Error::input(
            &path,
            None,
            format!("format {:?}, version {}", manifest.format, manifest.version),
            format!("this program reads {FORMAT:?}, versions {VERSION} and {VERSION_LOCATED}"),
        ));
    }
    Ok(manifest)
}

/// Reads listed files and notes what is wrong with them.
pub(super) struct Files<'a> {
    pub(super) source: &'a dyn ReleaseSource,
    pub(super) progress: &'a dyn Progress,
    pub(super) faults: Vec<FileFault>,
}

impl Files<'_> {
    /// The bytes of a file, compared with its entry.
    fn bytes(&mut self, entry: &FileEntry, lines: bool) -> Result<Vec<u8>> {
        let bytes = read_whole(self.source, &entry.name, self.progress)?;
        let mut observed = Observed::default();
        observed.add(&bytes);
        observed.compare(entry, lines, &mut self.faults);
        Ok(bytes)
    }

    /// Compares a file that says nothing about the data with its entry, in
    /// little memory, and no further than it may go.
    pub(super) fn look_at(&mut self, entry: &FileEntry) -> Result<()> {
        let (mut file, _) = self.source.open(&entry.name)?;
        let fail = |e| Error::io(self.source.path(&entry.name), e);
        let mut observed = Observed::default();
        let mut some = Vec::new();
        while observed.bytes <= entry.bytes {
            some.clear();
            let read = fill(&mut *file, &mut some, STEP, fail)?;
            observed.add(&some);
            self.progress.step(read as u64)?;
            if read < STEP {
                break;
            }
        }
        observed.compare(entry, true, &mut self.faults);
        Ok(())
    }

    fn hierarchy(&mut self, entry: &FileEntry) -> Result<Hierarchy> {
        let bytes = self.bytes(entry, false)?;
        parse_hierarchy(&self.source.path(&entry.name), &bytes)
    }

    /// The lines of all `entries`, in pieces, and their common vocabulary.
    #[allow(clippy::type_complexity)]
    fn lines<T: Send>(
        &mut self,
        entries: &[&FileEntry],
        empty: impl Fn() -> T + Sync,
        parse: impl Fn(&mut LineReader, &str, &mut T) -> Result<(), String> + Sync,
    ) -> Result<(Vocabulary, Vec<(T, Vec<ItemId>)>)> {
        let mut pieces = Vec::new();
        for entry in entries {
            let path = self.source.path(&entry.name);
            let bytes = self.bytes(entry, true)?;
            let text = as_text(&path, &bytes, 1)?;
            let origin = Origin { path: &path, first_line: 1 };
            pieces.append(&mut parse_lines(origin, text, self.progress, &empty, &parse)?);
        }
        Ok(merge(pieces))
    }

    fn clusters(&mut self, entries: &[&FileEntry]) -> Result<Disassociated> {
        let (vocabulary, pieces) = self.lines(entries, Vec::new, parse_cluster)?;
        Ok(Disassociated { vocabulary, clusters: number_clusters(pieces) })
    }

    fn classes(&mut self, entries: &[&FileEntry]) -> Result<(Vocabulary, Bag)> {
        let parse =
            |reader: &mut LineReader, line: &str, bag: &mut Bag| reader.class_into(line, bag);
        let (vocabulary, pieces) = self.lines(entries, Bag::default, parse)?;
        let mut classes = Bag::default();
        for (mut bag, ids) in pieces {
            bag.renumber(&ids);
            bag.iter().try_for_each(|(items, count)| classes.try_push(items, count))?;
        }
        Ok((vocabulary, classes))
    }

    fn groups(&mut self, entries: &[&FileEntry]) -> Result<Grouped> {
        let parse = |reader: &mut LineReader, line: &str, list: &mut Vec<Group>| {
            list.push(reader.group(line)?);
            Ok(())
        };
        let (vocabulary, mut pieces) = self.lines(entries, Vec::new, parse)?;
        for (list, ids) in &mut pieces {
            for group in list {
                group.records.renumber(ids);
                group.sensitive.iter_mut().for_each(|s| s.0 = ids[s.0 as usize]);
            }
        }
        Ok(Grouped { vocabulary, groups: pieces.into_iter().flat_map(|p| p.0).collect() })
    }

    fn leaves(&mut self, entries: &[&FileEntry]) -> Result<(Vocabulary, Vec<Leaf>)> {
        let parse = |reader: &mut LineReader, line: &str, list: &mut Vec<Leaf>| {
            list.push(reader.leaf(line)?);
            Ok(())
        };
        let (vocabulary, mut pieces) = self.lines(entries, Vec::new, parse)?;
        pieces.par_iter_mut().for_each(|(list, ids)| {
            list.iter_mut().for_each(|leaf| leaf.renumber(ids));
        });
        Ok((vocabulary, pieces.into_iter().flat_map(|p| p.0).collect()))
    }

    /// The totals of a release with leaves; each item must stand in a leaf.
    fn totals(&mut self, entry: &FileEntry, leaves: &Vocabulary) -> Result<Vec<(ItemId, u64)>> {
        let parse = |reader: &mut LineReader, line: &str, list: &mut Vec<(ItemId, u64)>| {
            let (item, total) = reader.total(line)?;
            let label = reader.labels.label(item);
            let id = leaves.id(label).ok_or_else(|| format!("no leaf has `{label}`"))?;
            list.push((id, total));
            Ok(())
        };
        let (_, pieces) = self.lines(&[entry], Vec::new, parse)?;
        Ok(pieces.into_iter().flat_map(|p| p.0).collect())
    }
}

/// Parses one line of clusters into a list.
pub(super) fn parse_cluster(
    reader: &mut LineReader,
    line: &str,
    list: &mut Vec<Cluster>,
) -> Result<(), String> {
    list.push(reader.cluster(line)?);
    Ok(())
}

/// The clusters of all pieces with the numbers of the common vocabulary.
pub(super) fn number_clusters(mut pieces: Vec<(Vec<Cluster>, Vec<ItemId>)>) -> Vec<Cluster> {
    pieces.par_iter_mut().for_each(|(list, ids)| {
        list.iter_mut().for_each(|c| renumber_cluster(c, ids));
    });
    pieces.into_iter().flat_map(|p| p.0).collect()
}

pub(super) fn renumber_cluster(cluster: &mut Cluster, ids: &[ItemId]) {
    match cluster {
        Cluster::Simple(simple) => {
            simple.record_chunks.iter_mut().for_each(|bag| bag.renumber(ids));
            simple.term_chunk.iter_mut().for_each(|t| *t = ids[*t as usize]);
        }
        Cluster::Joint(joint) => {
            joint.shared_chunks.iter_mut().for_each(|bag| bag.renumber(ids));
            joint.children.iter_mut().for_each(|child| renumber_cluster(child, ids));
        }
    }
}
