//! Reading a release, and what is wrong with its files.

use std::fs;
use std::path::Path;

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::super::hierarchy::parse_hierarchy;
use super::super::json::LineReader;
use super::{HIERARCHY, MANIFEST, TOTALS, hex, read_manifest};
use crate::data::{ItemId, Vocabulary};
use crate::release::{
    Bag, Body, Cluster, Disassociated, Generalized, Grouped, Leaf, Located, Manifest, Release,
    VERSION_LOCATED,
};
use crate::{Error, Result};

/// A release as it was found, with what is wrong with its files.
#[derive(Debug)]
pub struct OpenedRelease {
    /// What the files say.
    pub release: Release,
    /// Where they differ from the manifest.
    pub faults: Vec<FileFault>,
}

/// A published file that is not what the manifest says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFault {
    /// The file's name in the release directory.
    pub file: String,
    /// What differs.
    pub what: String,
}

/// Reads a release and refuses one whose files differ from its manifest.
pub fn read_release(dir: &Path) -> Result<Release> {
    let opened = open_release(dir)?;
    match opened.faults.first() {
        None => {
            let Release { manifest, body } = opened.release;
            Ok(Release { manifest: manifest.checked()?, body })
        }
        Some(fault) => Err(Error::input(
            dir.join(&fault.file),
            None,
            fault.what.clone(),
            "the release was changed after it was written: get it again, or see `setveil verify`",
        )),
    }
}

/// Reads a release and lists what differs from the manifest instead of
/// refusing it; for `verify`.
pub fn open_release(dir: &Path) -> Result<OpenedRelease> {
    let manifest = read_manifest(dir)?;
    let mut faults = Vec::new();
    let listed = |name: &str| manifest.files.iter().any(|f| f.name == name);
    let names: &[&str] = match manifest.version {
        VERSION_LOCATED => &["leaves.jsonl"],
        _ => &["clusters.jsonl", "classes.jsonl", "groups.jsonl"],
    };
    let name = names.iter().copied().find(|n| listed(n)).ok_or_else(|| {
        Error::input(
            dir.join(MANIFEST),
            None,
            format!("`files` names none of {}", names.join(", ")),
            "a release has one of them",
        )
    })?;
    let hierarchy = if listed(HIERARCHY) {
        let bytes = read_checked(dir, HIERARCHY, &manifest, &mut faults)?;
        Some(parse_hierarchy(&dir.join(HIERARCHY), &bytes)?)
    } else {
        None
    };
    let bytes = read_checked(dir, name, &manifest, &mut faults)?;
    let path = dir.join(name);
    let text = std::str::from_utf8(&bytes).map_err(|e| {
        let line = memchr::memchr_iter(b'\n', &bytes[..e.valid_up_to()]).count() as u64 + 1;
        Error::input(&path, Some(line), "invalid UTF-8", "a release is UTF-8 text")
    })?;
    let body = match name {
        "clusters.jsonl" => {
            let (vocabulary, mut pieces) =
                read_lines(&path, text, Vec::new, |reader, line, list: &mut Vec<Cluster>| {
                    list.push(reader.cluster(line)?);
                    Ok(())
                })?;
            pieces.par_iter_mut().for_each(|(list, ids)| {
                list.iter_mut().for_each(|c| renumber_cluster(c, ids));
            });
            let clusters = pieces.into_iter().flat_map(|p| p.0).collect();
            Body::Disassociated(Disassociated { vocabulary, clusters })
        }
        "classes.jsonl" => {
            let (vocabulary, pieces) =
                read_lines(&path, text, Bag::default, |reader, line, bag| {
                    reader.class_into(line, bag)
                })?;
            let mut classes = Bag::default();
            for (mut bag, ids) in pieces {
                bag.renumber(&ids);
                bag.iter().try_for_each(|(items, count)| classes.try_push(items, count))?;
            }
            Body::Generalized(Generalized { vocabulary, classes, hierarchy })
        }
        "leaves.jsonl" => {
            let (vocabulary, mut pieces) =
                read_lines(&path, text, Vec::new, |reader, line, list: &mut Vec<Leaf>| {
                    list.push(reader.leaf(line)?);
                    Ok(())
                })?;
            pieces.par_iter_mut().for_each(|(list, ids)| {
                list.iter_mut().for_each(|leaf| leaf.renumber(ids));
            });
            let leaves = pieces.into_iter().flat_map(|p| p.0).collect();
            let totals = read_totals(dir, &manifest, &vocabulary, &mut faults)?;
            Body::Located(Located { vocabulary, leaves, totals })
        }
        _ => {
            let (vocabulary, mut pieces) =
                read_lines(&path, text, Vec::new, |reader, line, list| {
                    list.push(reader.group(line)?);
                    Ok(())
                })?;
            for (list, ids) in &mut pieces {
                for group in list {
                    group.records.renumber(ids);
                    group.sensitive.iter_mut().for_each(|s| s.0 = ids[s.0 as usize]);
                }
            }
            let groups = pieces.into_iter().flat_map(|p| p.0).collect();
            Body::Grouped(Grouped { vocabulary, groups })
        }
    };
    unlisted(dir, &manifest, &body, &mut faults)?;
    Ok(OpenedRelease { release: Release { manifest, body }, faults })
}

/// The totals of a release with leaves; each item must stand in a leaf.
fn read_totals(
    dir: &Path,
    manifest: &Manifest,
    vocabulary: &Vocabulary,
    faults: &mut Vec<FileFault>,
) -> Result<Vec<(ItemId, u64)>> {
    let path = dir.join(TOTALS);
    let hint = "expected one JSON object a line as described in docs/release-format.md";
    if !manifest.files.iter().any(|f| f.name == TOTALS) {
        let found = "`files` does not name totals.jsonl";
        return Err(Error::input(dir.join(MANIFEST), None, found, "a release with leaves has it"));
    }
    let bytes = read_checked(dir, TOTALS, manifest, faults)?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| Error::input(&path, None, "invalid UTF-8", "a release is UTF-8 text"))?;
    let mut reader = LineReader::default();
    let mut totals = Vec::new();
    for (line, number) in text.split_terminator('\n').zip(1..) {
        let fault = |found: String| Error::input(&path, Some(number), found, hint);
        let (item, total) = reader.total(line).map_err(fault)?;
        let label = reader.labels.label(item);
        let id = vocabulary.id(label).ok_or_else(|| fault(format!("no leaf has `{label}`")))?;
        totals.push((id, total));
    }
    Ok(totals)
}

/// Parses the lines in parallel, each piece with ids of its own, and merges
/// the labels: the vocabulary, and per piece its content and its ids' numbers there.
#[allow(clippy::type_complexity)]
fn read_lines<T: Send>(
    path: &Path,
    text: &str,
    empty: impl Fn() -> T + Sync,
    parse: impl Fn(&mut LineReader, &str, &mut T) -> Result<(), String> + Sync,
) -> Result<(Vocabulary, Vec<(T, Vec<ItemId>)>)> {
    let pieces = split_lines(text, rayon::current_num_threads() * 4);
    let mut read: Vec<(T, LineReader)> = pieces
        .into_par_iter()
        .map(|piece| {
            let (mut reader, mut content) = (LineReader::default(), empty());
            for line in piece.split_terminator('\n') {
                parse(&mut reader, line, &mut content).map_err(|e| {
                    let offset = line.as_ptr() as usize - text.as_ptr() as usize;
                    let number = memchr::memchr_iter(b'\n', &text.as_bytes()[..offset]).count();
                    let hint = "expected one JSON object as described in docs/release-format.md";
                    Error::input(path, Some(number as u64 + 1), e, hint)
                })?;
            }
            Ok((content, reader))
        })
        .collect::<Result<_>>()?;
    let labels =
        read.iter().flat_map(|(_, r)| (0..r.labels.len()).map(|i| r.labels.label(i as ItemId)));
    let vocabulary = Vocabulary::new(labels);
    let merged = read
        .par_drain(..)
        .map(|(content, reader)| {
            let ids = (0..reader.labels.len() as ItemId)
                .map(|i| vocabulary.id(reader.labels.label(i)).expect("every label was merged"))
                .collect();
            (content, ids)
        })
        .collect();
    Ok((vocabulary, merged))
}

/// Cuts `text` into about `pieces` parts at line ends.
fn split_lines(text: &str, pieces: usize) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    let step = text.len() / pieces.max(1) + 1;
    while rest.len() > step {
        let Some(end) = memchr::memchr(b'\n', &rest.as_bytes()[step..]) else { break };
        let (part, tail) = rest.split_at(step + end + 1);
        parts.push(part);
        rest = tail;
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

fn renumber_cluster(cluster: &mut Cluster, ids: &[ItemId]) {
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

/// Reads a listed file and compares it with its entry.
fn read_checked(
    dir: &Path,
    name: &str,
    manifest: &Manifest,
    faults: &mut Vec<FileFault>,
) -> Result<Vec<u8>> {
    let path = dir.join(name);
    let bytes = fs::read(&path).map_err(|e| Error::io(&path, e))?;
    let entry = manifest.files.iter().find(|f| f.name == name).expect("only listed files are read");
    let mut differ =
        |what: &str, expected: &dyn std::fmt::Display, found: &dyn std::fmt::Display| {
            let what = format!("{what}: the manifest says {expected}, the file has {found}");
            faults.push(FileFault { file: name.to_owned(), what });
        };
    let lines = memchr::memchr_iter(b'\n', &bytes).count() as u64;
    if entry.bytes != bytes.len() as u64 {
        differ("bytes", &entry.bytes, &bytes.len());
    }
    if entry.lines != lines {
        differ("lines", &entry.lines, &lines);
    }
    let hash = hex(&Sha256::digest(&bytes));
    if entry.sha256 != hash {
        differ("sha256", &entry.sha256, &hash);
    }
    Ok(bytes)
}

/// Files that the manifest does not list, in the directory, and files that it
/// lists beside those of the format: nobody has checked either.
fn unlisted(
    dir: &Path,
    manifest: &Manifest,
    body: &Body,
    faults: &mut Vec<FileFault>,
) -> Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).map_err(|e| Error::io(dir, e))? {
        let name = entry.map_err(|e| Error::io(dir, e))?.file_name().to_string_lossy().into_owned();
        if name != MANIFEST && !manifest.files.iter().any(|f| f.name == name) {
            names.push(name);
        }
    }
    names.sort_unstable();
    faults.extend(names.into_iter().map(|file| FileFault {
        file,
        what: "the manifest does not list this file, so nothing is known about it".into(),
    }));
    let generalized = matches!(body, Body::Generalized(_));
    let located = matches!(body, Body::Located(_));
    for (i, entry) in manifest.files.iter().enumerate() {
        let known = entry.name == body.file_name()
            || generalized && entry.name == HIERARCHY
            || located && entry.name == TOTALS;
        let again = manifest.files[..i].iter().any(|f| f.name == entry.name);
        if !known || again {
            let file = entry.name.clone();
            let what = "the manifest lists this file, but such a release has none of it".into();
            faults.push(FileFault { file, what });
        }
    }
    Ok(())
}
