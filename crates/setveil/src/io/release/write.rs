//! Writing a release: the lines are made on all threads, and come in order.

use std::fs;
use std::path::Path;

use rayon::prelude::*;

use super::super::hierarchy::each_chunk;
use super::super::json::{Labels, LineWriter};
use super::partial::{Checked, Partial};
use super::{HIERARCHY, MANIFEST, MAX_DEPTH, TOTALS, check_target};
use crate::release::{Body, Cluster, FileEntry, Generalized, Manifest, Release};
use crate::{Error, Result};

/// Elements (clusters, classes, groups) that are turned into text at once.
const BATCH: usize = 1 << 11;
/// Elements that one task turns into text.
const PIECE: usize = 1 << 7;

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
        each_chunk(hierarchy, |chunk| out.write(chunk))?;
        manifest.files.push(out.finish()?);
    }
    if let Body::Located(body) = &release.body {
        let labels = Labels::new(&body.vocabulary);
        let mut out = Checked::create(&partial.path, TOTALS)?;
        write_lines(body.totals.len(), &labels, &mut out, |w, i| {
            let (item, total) = body.totals[i];
            w.total_line(item, total);
        })?;
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
        Body::Located(body) => write_lines(body.leaves.len(), &labels, &mut out, |w, i| {
            w.leaf_line(&body.leaves[i]);
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
