//! A release and its original over one numbering of the items: what all
//! measures start from.

use rayon::prelude::*;

use super::Options;
use crate::data::{Dataset, ItemId, Vocabulary};
use crate::mine::Transactions;
use crate::progress::{Progress, Pulse, Stage};
use crate::reconstruct::{self, reconstruct_many};
use crate::release::{Bag, Body, Cluster, Release};
use crate::{Error, Result};

/// Everything a measure may look at.
#[derive(Debug)]
pub struct Comparison<'a> {
    /// The release.
    pub release: &'a Release,
    /// The original.
    pub original: &'a Dataset,
    /// The settings.
    pub options: &'a Options,
    /// Every label of the original, the release and the reconstructions.
    pub vocabulary: Vocabulary,
    /// The original's records.
    pub originals: Transactions,
    /// The records of all reconstructions together: supports here are sums,
    /// `options.reconstructions` times their mean.
    pub reconstructed: Transactions,
    /// The sub-records of all record and shared chunks; none for a release
    /// without chunks.
    pub chunks: Option<Transactions>,
}

impl<'a> Comparison<'a> {
    /// Reconstructs and numbers.
    pub fn new(
        release: &'a Release,
        original: &'a Dataset,
        options: &'a Options,
        progress: &dyn Progress,
    ) -> Result<Self> {
        check_original(release, original)?;
        let drawing = reconstruct::Options { seed: options.seed, terms: options.terms };
        let drawn = reconstruct_many(release, drawing, options.reconstructions.get(), progress)?;
        progress.stage(Stage::Measuring, None);
        let published = release.body.vocabulary();
        let labels = original.vocabulary().labels().chain(published.labels());
        let labels = labels.chain(drawn.iter().flat_map(|d| d.vocabulary().labels()));
        let vocabulary = Vocabulary::new(labels);
        let ids = |from: &Vocabulary| -> Vec<ItemId> {
            from.labels().map(|l| vocabulary.id(l).expect("all labels are in it")).collect()
        };
        // One after the other: these are the largest things in memory.
        let numbered: Vec<(&Dataset, Vec<ItemId>)> =
            drawn.par_iter().map(|d| (d, ids(d.vocabulary()))).collect();
        let reconstructed = transactions(vocabulary.len(), &numbered, progress)?;
        drop(numbered);
        drop(drawn);
        let numbered = [(original, ids(original.vocabulary()))];
        let originals = transactions(vocabulary.len(), &numbered, progress)?;
        let chunks = chunk_transactions(release, vocabulary.len(), &ids(published), progress)?;
        Ok(Self { release, original, options, vocabulary, originals, reconstructed, chunks })
    }

    /// k, where the release's model has one.
    pub fn k(&self) -> Option<u32> {
        self.release.manifest.guarantee.model.k()
    }
}

/// A release of other data would give numbers that mean nothing.
fn check_original(release: &Release, original: &Dataset) -> Result<()> {
    if matches!(release.body, Body::Generalized(_)) {
        // Its labels may be inner nodes, or leaves that noise brought in.
        return Ok(());
    }
    let foreign: Vec<&str> = release
        .body
        .vocabulary()
        .labels()
        .filter(|label| original.vocabulary().id(label).is_none())
        .collect();
    if foreign.is_empty() {
        return Ok(());
    }
    Err(Error::Unknown {
        what: format!(
            "{} of the release's {} items are not in the original, the first: {}",
            foreign.len(),
            release.body.vocabulary().len(),
            foreign[..foreign.len().min(5)].join(", ")
        ),
        hint: "name the data that this release was made from".into(),
    })
}

fn transactions(
    items: usize,
    parts: &[(&Dataset, Vec<ItemId>)],
    progress: &dyn Progress,
) -> Result<Transactions> {
    if let [(data, ids)] = parts
        && ids.iter().copied().eq(0..ids.len() as ItemId)
    {
        return Transactions::renumbered(data, items, progress);
    }
    let mut pulse = Pulse::new(progress);
    let mut builder = Transactions::builder(items);
    let mut record = Vec::new();
    for (data, ids) in parts {
        for items in data.records() {
            pulse.work(items.len())?;
            record.clear();
            record.extend(items.iter().map(|&i| ids[i as usize]));
            builder.push(&record, 1);
        }
    }
    builder.build(progress)
}

fn chunk_transactions(
    release: &Release,
    items: usize,
    ids: &[ItemId],
    progress: &dyn Progress,
) -> Result<Option<Transactions>> {
    let Some(chunks) = chunks(release) else { return Ok(None) };
    let mut pulse = Pulse::new(progress);
    let mut builder = Transactions::builder(items);
    let mut itemset = Vec::new();
    for chunk in chunks {
        for (items, count) in chunk.iter() {
            pulse.work(items.len())?;
            itemset.clear();
            itemset.extend(items.iter().map(|&i| ids[i as usize]));
            builder.push(&itemset, count.into());
        }
    }
    builder.build(progress).map(Some)
}

/// All record and shared chunks, or the kept sub-records of every leaf; none for a release without chunks.
pub fn chunks(release: &Release) -> Option<Vec<&Bag>> {
    let body = match &release.body {
        Body::Disassociated(body) => body,
        Body::Located(body) => return Some(body.leaves.iter().map(|leaf| &leaf.kept).collect()),
        _ => return None,
    };
    let mut stack: Vec<&Cluster> = body.clusters.iter().collect();
    let mut chunks = Vec::new();
    while let Some(cluster) = stack.pop() {
        chunks.extend(cluster.chunks());
        stack.extend(cluster.children());
    }
    Some(chunks)
}
