//! Safe disassociation: a release that somebody who knows the program and its
//! parameters cannot invert, as far as `docs/safe.md` says.
//!
//! The three steps of disassociation-2012, each with a rule that shows nothing
//! hidden. Horizontally, a term splits a part only if both sides have k records:
//! counts decide. `vertical` brings terms together if their supports force it,
//! or if they meet far too often for chance. `refine` shares totals.
//!
//! Not covered: how often terms of term chunks occur, pairs with a shared term,
//! and attackers with other priors than the one that eta is for. Sensitive terms
//! are not offered: hiding them by l needs merges that depend on who holds them.

mod columns;
mod eta;
mod links;
mod parameters;
mod placement;
mod refine;
mod summary;
mod tails;
mod units;
mod vertical;
mod witness;

use rayon::prelude::*;

pub use eta::Eta;
pub use parameters::{JoinWidth, Safe};
pub use summary::Summary;
pub use vertical::Basis;

use super::scratch::ScratchPool;
use super::{
    ChunkedCluster, Chunking, Clustering, Clusters, CountOnly, HorizontalPartitioning, Parameters,
    Sizes, VerticalPartitioning,
};
use crate::data::{Dataset, ItemId, K, M};
use crate::methods::limits;
use crate::progress::{Progress, Stage};
use crate::release::{Cluster, Disassociated, SimpleCluster};
use crate::{Error, Result};

/// What decides about one cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rule {
    k: u32,
    m: u32,
    eta: Eta,
}

impl Rule {
    fn new(parameters: &Parameters, safe: &Safe) -> Self {
        Self { k: parameters.k.get(), m: parameters.m.get(), eta: safe.eta }
    }
}

/// Larger clusters are not asked for: distributions of meetings would be long.
const LARGEST_CLUSTER: usize = 5_000;

/// A safe release before the manifest, with what the custodian alone may know.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Which records each leaf is made of, in the order of `leaves`.
    pub clusters: Clusters,
    /// The chunks of each cluster before refining.
    pub leaves: Vec<ChunkedCluster>,
    /// What can be published, in canonical order.
    pub published: Vec<Cluster>,
    /// What happened.
    pub summary: Summary,
}

/// Anonymizes `data` by safe disassociation.
///
/// # Guarantee
/// The format guarantee of k^m-anonymity. Beyond it, against an attacker who
/// knows this program: for every set of at most m record-chunk terms of a
/// cluster that some input of the release has in this cluster, some input has it
/// k times there. Under a uniform prior over what the format leaves possible in a
/// cluster, at most a share eta of it would not have been published alike.
///
/// # Complexity
/// That of disassociation, and per cluster the square of its frequent terms.
///
/// # Deviations
/// From disassociation-2012: `docs/safe.md` says why each is needed.
///
/// # Errors
/// If there are fewer than k records, sizes are out of range, there are sensitive
/// terms, or `progress` says stop.
pub fn anonymize(
    data: &Dataset,
    parameters: &Parameters,
    safe: &Safe,
    progress: &dyn Progress,
) -> Result<(Disassociated, Summary)> {
    let dropped = safe.drop_below_k.then(|| without_rare(data, parameters.k));
    let data = dropped.as_ref().map_or(data, |dropped| &dropped.0);
    let Outcome { published, mut summary, .. } = disassociate(data, parameters, safe, progress)?;
    if let Some((_, items, records)) = dropped {
        (summary.dropped_items, summary.dropped_records) = (items, records);
    }
    Ok((Disassociated { vocabulary: data.vocabulary().clone(), clusters: published }, summary))
}

/// The three steps, without dropping anything.
pub fn disassociate(
    data: &Dataset,
    parameters: &Parameters,
    safe: &Safe,
    progress: &dyn Progress,
) -> Result<Outcome> {
    let sizes = parameters.sizes()?;
    let rule = Rule::new(parameters, safe);
    let clusters = cluster_records(data, parameters, progress)?;
    let split = split_all(&clusters, data, rule, progress)?;
    let mut summary = Summary::default();
    for (cluster, (split, basis)) in clusters.iter().zip(&split) {
        summary.clusters += 1;
        summary.oversized += u64::from(cluster.len() > sizes.max());
        summary.pairs += pairs_across(&split.cluster);
        *match basis {
            Basis::Supports => &mut summary.by_supports,
            Basis::Links => &mut summary.by_links,
            Basis::NoWitness => &mut summary.without_witness,
            Basis::OneChunk => &mut summary.one_chunk,
        } += 1;
    }
    let leaves: Vec<ChunkedCluster> = split.into_iter().map(|(split, _)| split).collect();
    let published = if parameters.refine {
        refine::refine(leaves.clone(), data.item_count(), rule, safe.join_width, progress)?
    } else {
        let mut all: Vec<Cluster> =
            leaves.iter().map(|split| Cluster::Simple(split.cluster.clone())).collect();
        all.iter_mut().for_each(Cluster::canonicalize);
        all.sort_unstable();
        all
    };
    Ok(Outcome { clusters, leaves, published, summary })
}

/// The first step alone.
pub(super) fn cluster_records(
    data: &Dataset,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Clusters> {
    let sizes = check(data, parameters)?;
    CountOnly.partition(data, &vec![true; data.item_count()], sizes, progress)
}

/// What cannot be done is refused before anything is.
fn check(data: &Dataset, parameters: &Parameters) -> Result<Sizes> {
    let sizes = parameters.sizes()?;
    if sizes.max() > LARGEST_CLUSTER {
        return Err(Error::Parameter {
            name: "max-cluster-size",
            found: sizes.max().to_string(),
            expected: "at most 5000 with safe",
        });
    }
    if parameters.sensitive.is_some() {
        return Err(Error::Parameter {
            name: "sensitive",
            found: "sensitive terms with safe".into(),
            expected: "one of the two: the merges that hide sensitive terms depend on who \
                       has them, and safe shows nothing of that kind",
        });
    }
    if parameters.clustering != Clustering::default() || parameters.chunking != Chunking::default()
    {
        return Err(Error::Parameter {
            name: "safe",
            found: "other partitionings".into(),
            expected: "disassociation with the steps of the safe method",
        });
    }
    limits::records(data)?;
    if data.len() < sizes.k() {
        return Err(Error::Infeasible {
            what: format!("there are {} records, fewer than k = {}", data.len(), sizes.k()),
            hint: "nobody can be hidden among fewer than k: choose a smaller k or release \
                   nothing"
                .into(),
        });
    }
    Ok(sizes)
}

/// What is published of one cluster before refining, for an attacker who
/// replays the program.
pub fn split_cluster(records: &[&[ItemId]], k: K, m: M, eta: Eta) -> (SimpleCluster, Basis) {
    let rule = Rule { k: k.get(), m: m.get(), eta };
    let split = vertical::split(&mut vertical::Scratch::default(), records, rule, &());
    let (chunked, basis) = split.expect("nobody says stop");
    (chunked.cluster, basis)
}

/// The vertical step alone, for comparisons.
#[derive(Clone, Copy, Debug)]
pub struct Linked {
    /// How many candidates must remain.
    pub k: K,
    /// How many terms an attacker may know.
    pub m: M,
    /// The share of possible data sets that may be ruled out.
    pub eta: Eta,
}

impl VerticalPartitioning for Linked {
    type Scratch = vertical::Scratch;

    fn name(&self) -> &str {
        "linked"
    }

    /// Nothing is hidden: there are no sensitive terms.
    fn partition(
        &self,
        scratch: &mut Self::Scratch,
        records: &[&[ItemId]],
        _hidden: &dyn Fn(ItemId) -> bool,
        progress: &dyn Progress,
    ) -> Result<ChunkedCluster> {
        let rule = Rule { k: self.k.get(), m: self.m.get(), eta: self.eta };
        Ok(vertical::split(scratch, records, rule, progress)?.0)
    }
}

/// Clusters are split in blocks of so many.
const BLOCK: usize = 32;

fn split_all(
    clusters: &Clusters,
    data: &Dataset,
    rule: Rule,
    progress: &dyn Progress,
) -> Result<Vec<(ChunkedCluster, Basis)>> {
    progress.stage(Stage::Splitting, Some(clusters.len() as u64));
    let scratch = ScratchPool::<vertical::Scratch>::default();
    let blocks: Vec<Vec<(ChunkedCluster, Basis)>> = (0..clusters.len().div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let numbers = block * BLOCK..((block + 1) * BLOCK).min(clusters.len());
            scratch.with(|scratch| {
                numbers
                    .map(|c| {
                        let rows = clusters.rows(c, data);
                        let split = vertical::split(scratch, &rows, rule, progress)?;
                        progress.step(1)?;
                        Ok(split)
                    })
                    .collect::<Result<Vec<_>>>()
            })
        })
        .collect::<Result<_>>()?;
    Ok(blocks.into_iter().flatten().collect())
}

fn pairs_across(cluster: &SimpleCluster) -> u64 {
    let sizes = cluster.record_chunks.iter().map(|chunk| chunk.domain().len() as u64);
    let (sum, squares) = sizes.fold((0, 0), |(sum, squares), s| (sum + s, squares + s * s));
    (sum * sum - squares) / 2
}

/// The data without terms of fewer than k records, with how many terms and
/// records are left out.
fn without_rare(data: &Dataset, k: K) -> (Dataset, u64, u64) {
    let supports = data.supports();
    let frequent = |item: &&ItemId| supports[**item as usize] >= k.get();
    let kept: Vec<Vec<&str>> = data
        .records()
        .map(|record| record.iter().filter(frequent).map(|&i| data.vocabulary().label(i)).collect())
        .filter(|record: &Vec<&str>| !record.is_empty())
        .collect();
    let rare = supports.iter().filter(|&&s| s < k.get()).count();
    let records = data.len() - kept.len();
    (Dataset::from_records(kept), rare as u64, records as u64)
}
