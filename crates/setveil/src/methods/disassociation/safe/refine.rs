//! A REFINE that shows nothing but totals.
//!
//! Leaves that need their term chunk to fill their records keep it. All others,
//! the *open* leaves, are joined in runs, by an order of their record chunks
//! alone; a term that k records of a run's term chunks have leaves these and is
//! published as a shared chunk of its own, with its total. Who joins whom and
//! which terms are shared depends on record chunks and on supports in the
//! leaves, and these are the same however the records of a leaf are put together.

use crate::data::ItemId;
use crate::methods::disassociation::ChunkedCluster;
use crate::progress::{Progress, Stage};
use crate::release::{Bag, Cluster, JointCluster, SimpleCluster};
use crate::{Error, Result};

use super::{JoinWidth, Rule};

/// Whether a leaf can do without its term chunk: some term is in all records, or
/// the record chunks alone satisfy Lemma 2. Record chunks decide.
fn is_open(leaf: &SimpleCluster, rule: Rule) -> bool {
    let full = |chunk: &Bag| {
        chunk.total() == u64::from(leaf.size)
            && chunk.domain().iter().any(|&t| chunk.support(&[t]) == u64::from(leaf.size))
    };
    let chunks = &leaf.record_chunks;
    let together = (chunks.len() as u64).min(rule.m.into()).saturating_sub(1);
    let subrecords: u64 = chunks.iter().map(Bag::total).sum();
    chunks.iter().any(full)
        || together > 0 && subrecords >= u64::from(leaf.size) + u64::from(rule.k) * together
}

/// Joins the open leaves in runs of about `width` and puts all in canonical order.
///
/// # Guarantee
/// Shared chunks have one term, with a count of at least k; no open leaf below
/// keeps it in its term chunk; the terms that stay total fewer than k in the
/// open leaves of the run.
///
/// # Complexity
/// Linear in the terms of the term chunks, but for the sort.
pub(super) fn refine(
    splits: Vec<ChunkedCluster>,
    items: usize,
    rule: Rule,
    width: JoinWidth,
    progress: &dyn Progress,
) -> Result<Vec<Cluster>> {
    progress.stage(Stage::Refining, Some(splits.len() as u64));
    let (mut open, closed): (Vec<ChunkedCluster>, Vec<_>) = splits
        .into_iter()
        .map(|mut split| {
            split.cluster.record_chunks.sort_unstable();
            split
        })
        .partition(|split| is_open(&split.cluster, rule));
    open.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut clusters: Vec<Cluster> =
        closed.into_iter().map(|split| Cluster::Simple(split.cluster)).collect();
    progress.step(clusters.len() as u64)?;
    let mut totals = vec![0u64; items];
    let mut open = open.into_iter();
    for run in runs(open.as_slice(), width) {
        let run: Vec<ChunkedCluster> = open.by_ref().take(run).collect();
        progress.step(run.len() as u64)?;
        join(run, rule.k, &mut totals, &mut clusters)?;
    }
    clusters.iter_mut().for_each(Cluster::canonicalize);
    clusters.sort_unstable();
    Ok(clusters)
}

/// What a leaf's place in the order depends on.
fn key(split: &ChunkedCluster) -> (&[Bag], u32) {
    (&split.cluster.record_chunks, split.cluster.size)
}

/// How many leaves each run has. Leaves that look alike are never in different
/// runs, as something hidden would have to tell them apart; a last run that is
/// too short belongs to the one before.
fn runs(open: &[ChunkedCluster], width: JoinWidth) -> Vec<usize> {
    let mut runs: Vec<usize> = Vec::new();
    let mut current = 0;
    for alike in open.chunk_by(|a, b| key(a) == key(b)) {
        current += alike.len();
        if width.is_reached(current) {
            runs.push(std::mem::take(&mut current));
        }
    }
    match runs.last_mut() {
        Some(last) => *last += current,
        None => runs.push(current),
    }
    runs
}

/// Shares what a run has often enough. `totals`, per item, is clean again after.
fn join(
    mut run: Vec<ChunkedCluster>,
    k: u32,
    totals: &mut [u64],
    clusters: &mut Vec<Cluster>,
) -> Result<()> {
    let mut met: Vec<ItemId> = Vec::new();
    for split in &run {
        for (&term, &support) in split.cluster.term_chunk.iter().zip(&split.supports) {
            if totals[term as usize] == 0 {
                met.push(term);
            }
            totals[term as usize] += u64::from(support);
        }
    }
    let mut shared_chunks = Vec::new();
    // A joint cluster has two children at least.
    if run.len() > 1 {
        for &term in met.iter().filter(|&&t| totals[t as usize] >= u64::from(k)) {
            shared_chunks.push(Bag::from_counted([(&[term][..], fits(totals[term as usize])?)]));
        }
        for split in &mut run {
            split.cluster.term_chunk.retain(|&t| totals[t as usize] < u64::from(k));
        }
    }
    met.into_iter().for_each(|term| totals[term as usize] = 0);
    let size = fits(run.iter().map(|split| u64::from(split.cluster.size)).sum())?;
    let children = run.into_iter().map(|split| Cluster::Simple(split.cluster));
    if shared_chunks.is_empty() {
        clusters.extend(children);
    } else {
        let children = children.collect();
        clusters.push(Cluster::Joint(JointCluster { size, shared_chunks, children }));
    }
    Ok(())
}

/// Counts are published in 32 bits.
fn fits(count: u64) -> Result<u32> {
    u32::try_from(count).map_err(|_| Error::TooLarge {
        what: "records of joined clusters",
        found: count,
        limit: u32::MAX.into(),
        hint: "join fewer clusters",
    })
}
