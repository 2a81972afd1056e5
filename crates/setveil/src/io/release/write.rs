//! Writing a release: the lines are made on all threads, and come in order.

use rayon::prelude::*;

use super::super::hierarchy::each_chunk;
use super::super::json::{Labels, LineWriter};
use super::explained::explained;
use super::store::{Checked, ReleaseSink};
use super::{HIERARCHY, MANIFEST, MAX_DEPTH, TOTALS};
use crate::release::{
    Bag, Body, Cluster, Disassociated, FileEntry, Generalized, Leaf, Located, Manifest, Release,
};
use crate::{Error, Progress, Result, Stage};

/// Elements (clusters, classes, groups) that are turned into text at once.
const BATCH: usize = 1 << 11;
/// Elements that one task turns into text.
const PIECE: usize = 1 << 7;

/// Writes `release` to `sink` and returns its manifest, with the files filled
/// in. A stopped run ([`Error::Cancelled`]) publishes nothing.
pub fn write_release_to(
    release: &Release,
    mut sink: impl ReleaseSink,
    progress: &dyn Progress,
) -> Result<Manifest> {
    check_body(&release.body)?;
    let mut manifest = release.manifest.clone();
    manifest.files = vec![write_body(&release.body, &mut sink, progress)?];
    if let Body::Generalized(Generalized { hierarchy: Some(hierarchy), .. }) = &release.body {
        let mut out = Checked::create(&mut sink, HIERARCHY)?;
        each_chunk(hierarchy, |chunk| {
            progress.step(0)?;
            out.write(&mut sink, chunk)
        })?;
        manifest.files.push(out.finish());
    }
    if let Body::Located(body) = &release.body {
        let labels = Labels::new(&body.vocabulary);
        let mut out = Checked::create(&mut sink, TOTALS)?;
        let line = |w: &mut LineWriter, i: usize| w.total_line(body.totals[i].0, body.totals[i].1);
        let emit = |piece: &[u8]| out.write(&mut sink, piece);
        write_lines(body.totals.len(), &labels, progress, emit, line)?;
        manifest.files.push(out.finish());
    }
    publish(manifest, &mut sink, progress)
}

/// Ends a release whose files are written, by whomever: `manifest` lists them,
/// with the numbers of records and items. Writes what explains the release and
/// the manifest to `sink`, and publishes. The manifest with all files.
///
/// # Errors
/// If `sink` cannot be written to, or `progress` says stop.
pub fn end_release(
    manifest: Manifest,
    mut sink: impl ReleaseSink,
    progress: &dyn Progress,
) -> Result<Manifest> {
    publish(manifest, &mut sink, progress)
}

/// Writes what explains the release and the manifest, which comes last, and
/// publishes. The manifest with all files.
pub(super) fn publish(
    mut manifest: Manifest,
    sink: &mut dyn ReleaseSink,
    progress: &dyn Progress,
) -> Result<Manifest> {
    for (name, text) in explained(&manifest).into_iter().flatten() {
        let mut out = Checked::create(sink, name)?;
        out.write(sink, text.as_bytes())?;
        manifest.files.push(out.finish());
    }
    let mut json = serde_json::to_vec_pretty(&manifest).expect("a manifest is always JSON");
    json.push(b'\n');
    sink.create(MANIFEST)?;
    sink.write(&json)?;
    progress.step(0)?;
    sink.publish()?;
    Ok(manifest)
}

/// Refuses what the reader would refuse.
fn check_body(body: &Body) -> Result<()> {
    let wrong = match body {
        Body::Disassociated(body) => cluster_fault(body),
        Body::Generalized(body) => bag_fault(&body.classes),
        Body::Grouped(body) => body.groups.iter().find_map(|group| {
            let zero = group.size == 0 || group.sensitive.iter().any(|s| s.1 == 0);
            bag_fault(&group.records).or(zero.then(|| ZERO.into()))
        }),
        Body::Located(body) => {
            let zero = body.totals.iter().any(|t| t.1 == 0).then(|| ZERO.into());
            let fault = zero.or_else(|| body.leaves.iter().find_map(leaf_fault));
            fault.or_else(|| total_fault(body))
        }
    };
    match wrong {
        None => Ok(()),
        Some(what) => {
            Err(Error::Infeasible { what, hint: "no reader would accept the release".into() })
        }
    }
}

pub(super) fn cluster_fault(body: &Disassociated) -> Option<String> {
    let mut stack: Vec<(&Cluster, usize)> = body.clusters.iter().map(|c| (c, 0)).collect();
    while let Some((cluster, depth)) = stack.pop() {
        if depth > MAX_DEPTH {
            return Some(format!("joint clusters are nested more than {MAX_DEPTH} deep"));
        }
        if cluster.size() == 0 {
            return Some("a cluster of size 0".into());
        }
        for chunk in cluster.chunks() {
            if chunk.is_empty() {
                return Some("an empty chunk".into());
            }
            if let Some(fault) = bag_fault(chunk) {
                return Some(fault);
            }
        }
        stack.extend(cluster.children().iter().map(|child| (child, depth + 1)));
    }
    None
}

const ZERO: &str = "a size or count of 0";

fn leaf_fault(leaf: &Leaf) -> Option<String> {
    let zero = leaf.size == 0 || leaf.counted.iter().any(|c| c.1 == 0);
    bag_fault(&leaf.kept).or(zero.then(|| ZERO.into()))
}

/// A total of an item that no leaf has.
fn total_fault(body: &Located) -> Option<String> {
    let mut used = vec![false; body.vocabulary.len()];
    for leaf in &body.leaves {
        let counted = leaf.counted.iter().map(|c| &c.0);
        let all = leaf.kept.items().iter().chain(counted).chain(&leaf.listed);
        all.for_each(|&item| used[item as usize] = true);
    }
    let missing = body.totals.iter().any(|t| !used[t.0 as usize]);
    missing.then(|| "a total of an item that no leaf has".into())
}

fn bag_fault(bag: &Bag) -> Option<String> {
    bag.iter().find_map(|(items, count)| {
        if items.is_empty() {
            Some("an empty itemset".into())
        } else if count == 0 {
            Some("a count of 0".into())
        } else {
            None
        }
    })
}

fn write_body(
    body: &Body,
    sink: &mut dyn ReleaseSink,
    progress: &dyn Progress,
) -> Result<FileEntry> {
    let labels = Labels::new(body.vocabulary());
    let mut out = Checked::create(sink, body.file_name())?;
    let len = match body {
        Body::Disassociated(body) => body.clusters.len(),
        Body::Generalized(body) => body.classes.len(),
        Body::Grouped(body) => body.groups.len(),
        Body::Located(body) => body.leaves.len(),
    };
    progress.stage(Stage::Writing, Some(len as u64));
    let emit = |piece: &[u8]| out.write(sink, piece);
    match body {
        Body::Disassociated(body) => {
            let line = |w: &mut LineWriter, i: usize| w.cluster_line(&body.clusters[i]);
            write_lines(len, &labels, progress, emit, line)?;
        }
        Body::Generalized(body) => {
            let line = |w: &mut LineWriter, i: usize| {
                let (items, count) = body.classes.get(i);
                w.class_line(items, count);
            };
            write_lines(len, &labels, progress, emit, line)?;
        }
        Body::Grouped(body) => {
            let line = |w: &mut LineWriter, i: usize| w.group_line(&body.groups[i]);
            write_lines(len, &labels, progress, emit, line)?;
        }
        Body::Located(body) => {
            let line = |w: &mut LineWriter, i: usize| w.leaf_line(&body.leaves[i]);
            write_lines(len, &labels, progress, emit, line)?;
        }
    }
    Ok(out.finish())
}

/// Turns elements into lines on all threads and hands them on in order, one
/// batch while the next is being made.
pub(super) fn write_lines(
    len: usize,
    labels: &Labels,
    progress: &dyn Progress,
    mut emit: impl FnMut(&[u8]) -> Result<()> + Send,
    line: impl Fn(&mut LineWriter, usize) + Sync,
) -> Result<()> {
    let make = |start: usize| -> Result<Vec<Vec<u8>>> {
        let end = (start + BATCH).min(len);
        (start..end)
            .into_par_iter()
            .step_by(PIECE)
            .map(|from| {
                let to = (from + PIECE).min(end);
                let mut writer = LineWriter { labels, out: Vec::with_capacity(PIECE * 256) };
                (from..to).for_each(|i| line(&mut writer, i));
                progress.step((to - from) as u64)?;
                Ok(writer.out)
            })
            .collect()
    };
    let mut ready = make(0)?;
    let mut next = BATCH;
    while !ready.is_empty() {
        let (written, made) = rayon::join(
            || ready.iter().try_for_each(|piece| emit(piece)),
            || if next < len { make(next) } else { Ok(Vec::new()) },
        );
        written?;
        ready = made?;
        next += BATCH;
    }
    Ok(())
}
