//! The release directory: written under a temporary name and renamed when it
//! is complete, read back with its checksums compared.
//!
//! A crash never leaves something that looks like a release, and nothing that
//! is not a release is ever replaced. Details: `docs/release-format.md`.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::hierarchy::{hierarchy_bytes, parse_hierarchy};
use super::json::{Labels, LineReader, LineWriter};
use crate::data::{ItemId, Vocabulary};
use crate::release::{
    Bag, Body, Cluster, Disassociated, FORMAT, FileEntry, Generalized, Grouped, Manifest, Release,
    VERSION,
};
use crate::{Error, Result};

const MANIFEST: &str = "manifest.json";
const HIERARCHY: &str = "hierarchy.csv";
/// Elements (clusters, classes, groups) that are turned into text at once.
const BATCH: usize = 1 << 14;
/// How deep joint clusters may be nested. What reads JSON gives up at 128 levels of any kind, and
/// a cluster takes two: nobody's stack is at the mercy of a file.
pub(super) const MAX_DEPTH: usize = 50;
/// Elements that one task turns into text.
const PIECE: usize = 1 << 9;

/// Checks before any work that `dir` can become a release: it does not exist,
/// or it is an earlier release (or empty) and `force` is given.
pub fn check_target(dir: &Path, force: bool) -> Result<()> {
    let occupied = |found: &str, hint: &str| Err(Error::input(dir, None, found, hint));
    match fs::symlink_metadata(dir) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(Error::io(dir, e)),
        Ok(meta) if !meta.is_dir() => {
            occupied("this is a file", "a release is a directory: choose another name")
        }
        Ok(_) => {
            let empty = fs::read_dir(dir).map_err(|e| Error::io(dir, e))?.next().is_none();
            if empty {
                Ok(())
            } else if read_manifest(dir).is_err() {
                occupied(
                    "the directory exists and is not a release",
                    "choose another name; what is no release is never replaced",
                )
            } else if force {
                Ok(())
            } else {
                occupied("the release exists", "choose another name or replace it with --force")
            }
        }
    }
}

/// Writes `release` to the directory `dir` and returns its manifest, with the
/// files filled in.
pub fn write_release(release: &Release, dir: &Path, force: bool) -> Result<Manifest> {
    check_target(dir, force)?;
    check_depth(&release.body, dir)?;
    let partial = Partial::create(dir)?;
    let mut manifest = release.manifest.clone();
    manifest.files = vec![write_body(&release.body, &partial.path)?];
    if let Body::Generalized(Generalized { hierarchy: Some(hierarchy), .. }) = &release.body {
        let mut out = Checked::create(&partial.path, HIERARCHY)?;
        out.write(&hierarchy_bytes(hierarchy))?;
        manifest.files.push(out.finish()?);
    }
    let mut json = serde_json::to_vec_pretty(&manifest).expect("a manifest is always JSON");
    json.push(b'\n');
    let path = partial.path.join(MANIFEST);
    fs::write(&path, json).map_err(|e| Error::io(path, e))?;
    partial.publish(dir)?;
    Ok(manifest)
}

/// Refuses what the reader would refuse.
fn check_depth(body: &Body, dir: &Path) -> Result<()> {
    let Body::Disassociated(body) = body else { return Ok(()) };
    let mut stack: Vec<(&Cluster, usize)> = body.clusters.iter().map(|c| (c, 0)).collect();
    while let Some((cluster, depth)) = stack.pop() {
        if depth > MAX_DEPTH {
            let found = format!("joint clusters are nested more than {MAX_DEPTH} deep");
            return Err(Error::input(dir, None, found, "no reader would accept the release"));
        }
        stack.extend(cluster.children().iter().map(|child| (child, depth + 1)));
    }
    Ok(())
}

/// A directory beside the target that disappears unless it is published.
struct Partial {
    path: PathBuf,
    published: bool,
}

impl Partial {
    fn create(target: &Path) -> Result<Self> {
        let name = target.file_name().ok_or_else(|| {
            Error::input(target, None, "this is no name for a directory", "name the release")
        })?;
        let parent = match target.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        fs::create_dir_all(parent).map_err(|e| Error::io(parent, e))?;
        for attempt in 0.. {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{attempt}.partial", std::process::id()));
            let path = parent.join(hidden);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path, published: false }),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists && attempt < 100 => {}
                Err(e) => return Err(Error::io(path, e)),
            }
        }
        unreachable!("the loop ends by returning")
    }

    /// Renames the directory to `target`; an earlier release moves aside
    /// first and is removed after.
    fn publish(mut self, target: &Path) -> Result<()> {
        let aside = self.path.with_extension("replaced");
        let replaced = match fs::rename(target, &aside) {
            Ok(()) => true,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => false,
            Err(e) => return Err(Error::io(target, e)),
        };
        if let Err(e) = fs::rename(&self.path, target) {
            if replaced {
                // The earlier release goes back to its place.
                fs::rename(&aside, target).map_err(|e| Error::io(target, e))?;
            }
            return Err(Error::io(target, e));
        }
        self.published = true;
        if replaced {
            fs::remove_dir_all(&aside).map_err(|e| Error::io(aside, e))?;
        }
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.published {
            // Nothing more can be done if this fails, and the first error is the one to report.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// A file that is hashed and counted while it is written.
struct Checked {
    path: PathBuf,
    name: &'static str,
    file: BufWriter<File>,
    hash: Sha256,
    bytes: u64,
    lines: u64,
}

impl Checked {
    fn create(dir: &Path, name: &'static str) -> Result<Self> {
        let path = dir.join(name);
        let file = BufWriter::new(File::create(&path).map_err(|e| Error::io(&path, e))?);
        Ok(Self { path, name, file, hash: Sha256::new(), bytes: 0, lines: 0 })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.file.write_all(bytes).map_err(|e| Error::io(&self.path, e))
    }

    fn finish(mut self) -> Result<FileEntry> {
        self.file.flush().map_err(|e| Error::io(&self.path, e))?;
        Ok(FileEntry {
            name: self.name.to_owned(),
            bytes: self.bytes,
            lines: self.lines,
            sha256: hex(&self.hash.finalize()),
        })
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn write_body(body: &Body, dir: &Path) -> Result<FileEntry> {
    let labels = Labels::new(body.vocabulary());
    let mut out = Checked::create(dir, body.file_name())?;
    match body {
        Body::Disassociated(body) => {
            write_lines(body.clusters.len(), &labels, &mut out, |w, i| {
                w.cluster_line(&body.clusters[i]);
            })?;
        }
        Body::Generalized(body) => write_lines(body.classes.len(), &labels, &mut out, |w, i| {
            let (items, count) = body.classes.get(i);
            w.class_line(items, count);
        })?,
        Body::Grouped(body) => write_lines(body.groups.len(), &labels, &mut out, |w, i| {
            w.group_line(&body.groups[i]);
        })?,
    }
    out.finish()
}

/// Turns elements into lines on all threads and writes them in order, one
/// batch while the next is being made.
fn write_lines(
    len: usize,
    labels: &Labels,
    out: &mut Checked,
    line: impl Fn(&mut LineWriter, usize) + Sync,
) -> Result<()> {
    let make = |start: usize| -> Vec<Vec<u8>> {
        let end = (start + BATCH).min(len);
        (start..end)
            .into_par_iter()
            .step_by(PIECE)
            .map(|from| {
                let mut writer = LineWriter { labels, out: Vec::with_capacity(PIECE * 256) };
                (from..(from + PIECE).min(end)).for_each(|i| line(&mut writer, i));
                writer.out
            })
            .collect()
    };
    let mut ready = make(0);
    let mut next = BATCH;
    while !ready.is_empty() {
        let (written, made) = rayon::join(
            || ready.iter().try_for_each(|piece| out.write(piece)),
            || if next < len { make(next) } else { Vec::new() },
        );
        written?;
        ready = made;
        next += BATCH;
    }
    Ok(())
}

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
        None => Ok(opened.release),
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
    let name = ["clusters.jsonl", "classes.jsonl", "groups.jsonl"]
        .into_iter()
        .find(|n| listed(n))
        .ok_or_else(|| {
            Error::input(
                dir.join(MANIFEST),
                None,
                "`files` names none of clusters.jsonl, classes.jsonl, groups.jsonl",
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
                bag.iter().for_each(|(items, count)| classes.push(items, count));
            }
            Body::Generalized(Generalized { vocabulary, classes, hierarchy })
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
    unlisted(dir, &manifest, &mut faults)?;
    Ok(OpenedRelease { release: Release { manifest, body }, faults })
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

fn read_manifest(dir: &Path) -> Result<Manifest> {
    let path = dir.join(MANIFEST);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && dir.exists() => {
            return Err(Error::input(
                dir,
                None,
                "there is no manifest.json here",
                "name the directory that `setveil anonymize` wrote",
            ));
        }
        Err(_) if !dir.exists() => {
            let source = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(Error::io(dir, source));
        }
        Err(e) => return Err(Error::io(path, e)),
    };
    let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|e| {
        let hint = "expected the manifest of a Setveil release, see docs/release-format.md";
        Error::input(&path, Some(e.line() as u64), e.to_string(), hint)
    })?;
    if manifest.format != FORMAT || manifest.version != VERSION {
        return Err(Error::input(
            &path,
            None,
            format!("format {:?}, version {}", manifest.format, manifest.version),
            format!("this program reads {FORMAT:?}, version {VERSION}"),
        ));
    }
    Ok(manifest)
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

/// Files in the directory that the manifest does not list: nobody has checked them.
fn unlisted(dir: &Path, manifest: &Manifest, faults: &mut Vec<FileFault>) -> Result<()> {
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
    Ok(())
}
