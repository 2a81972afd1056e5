//! From a data set to a release: horizontal partitioning, vertical
//! partitioning, refining. DLS goes the same way with another vertical step.

use rayon::prelude::*;

use super::diversity::diversify;
use super::leaves::Leaves;
use super::recipe::Method;
use super::refine::refine;
use super::spare::Spare;
use super::verpart::{self, Split};
use super::{Clusters, HorizontalPartitioning, Horpart, Parameters};
use crate::data::{Dataset, ItemId, K, M};
use crate::methods::recipe::Recipe;
use crate::progress::{Progress, Stage};
use crate::release::{Body, Disassociated, Release};
use crate::{Error, Result};

/// Splits the records of one cluster into chunks.
pub trait VerticalPartitioning: Sync {
    /// Arrays that are used again from cluster to cluster.
    type Scratch: Default + Send;

    /// Splits the records of a cluster into record chunks that are
    /// k^m-anonymous and a term chunk that takes all terms that are `hidden`;
    /// Lemma 2 must hold. The term chunk ascends, and each of its terms has a
    /// support of at least 1.
    fn partition(
        &self,
        scratch: &mut Self::Scratch,
        records: &[&[ItemId]],
        hidden: &dyn Fn(ItemId) -> bool,
    ) -> Split;
}

/// The paper's vertical partitioning.
#[derive(Clone, Copy, Debug)]
pub struct Verpart {
    /// How many candidates must remain.
    pub k: K,
    /// How many terms an attacker may know.
    pub m: M,
}

impl VerticalPartitioning for Verpart {
    type Scratch = verpart::Scratch;

    fn partition(
        &self,
        scratch: &mut Self::Scratch,
        records: &[&[ItemId]],
        hidden: &dyn Fn(ItemId) -> bool,
    ) -> Split {
        verpart::split(scratch, records, self.k, self.m, hidden)
    }
}

/// Anonymizes `data` by disassociation.
///
/// # Guarantee
/// The format guarantee of k^m-anonymity: for every set of at most m terms
/// that some record could contain, some data set that is consistent with the
/// release has k records which contain it. With sensitive terms, each occurs
/// in at most 1/l of the records of every cluster. `docs/guarantees.md` says
/// what this does not promise.
///
/// # Errors
/// If there are fewer than k records, the largest cluster is smaller than 2k,
/// a sensitive term does not occur, or is too frequent for l.
pub fn anonymize(
    data: &Dataset,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Release> {
    let vertical = Verpart { k: parameters.k, m: parameters.m };
    let body = disassociate(data, parameters, &Horpart, &vertical, progress)?;
    Ok(release::<Method>(parameters, body))
}

/// Runs the three steps with any horizontal and vertical partitioning.
pub fn disassociate<V: VerticalPartitioning>(
    data: &Dataset,
    parameters: &Parameters,
    horizontal: &dyn HorizontalPartitioning,
    vertical: &V,
    progress: &dyn Progress,
) -> Result<Disassociated> {
    let (clusters, sensitive) = cluster(data, parameters, horizontal, progress)?;
    let blocks = split(&clusters, data, vertical, &sensitive, progress);
    let leaves = Leaves::new(blocks, &clusters, data, &sensitive);
    let refined = refine(leaves, &sensitive, parameters, progress);
    Ok(Disassociated { vocabulary: data.vocabulary().clone(), clusters: refined })
}

/// The first two steps: the clusters and, in the same order, their chunks
/// before refining. For the custodian, who may know which records a published
/// cluster is made of.
pub fn partition<V: VerticalPartitioning>(
    data: &Dataset,
    parameters: &Parameters,
    horizontal: &dyn HorizontalPartitioning,
    vertical: &V,
    progress: &dyn Progress,
) -> Result<(Clusters, Vec<Split>)> {
    let (clusters, sensitive) = cluster(data, parameters, horizontal, progress)?;
    let blocks: Vec<Vec<Split>> = split(&clusters, data, vertical, &sensitive, progress);
    Ok((clusters, blocks.into_iter().flatten().collect()))
}

/// The clusters, and which items are sensitive.
fn cluster(
    data: &Dataset,
    parameters: &Parameters,
    horizontal: &dyn HorizontalPartitioning,
    progress: &dyn Progress,
) -> Result<(Clusters, Vec<bool>)> {
    let sizes = parameters.sizes()?;
    if data.len() < sizes.k() {
        return Err(Error::Infeasible {
            what: format!("there are {} records, fewer than k = {}", data.len(), sizes.k()),
            hint: "nobody can be hidden among fewer than k: choose a smaller k or release \
                   nothing"
                .into(),
        });
    }
    let sensitive = parameters.sensitive_items(data)?;
    let may_split: Vec<bool> = sensitive.iter().map(|s| !s).collect();
    let mut clusters = horizontal.partition(data, &may_split, sizes, progress);
    if let Some(terms) = &parameters.sensitive {
        clusters = diversify(clusters, data, &sensitive, terms.l)?;
    }
    Ok((clusters, sensitive))
}

/// Clusters are split in blocks of equal size: at least so many where there are
/// enough clusters, each of at most so many.
const BLOCKS: usize = 256;
const BLOCK: usize = 256;

/// Splits all clusters into chunks, block by block.
fn split<V: VerticalPartitioning, B: Default + Extend<Split> + Send>(
    clusters: &Clusters,
    data: &Dataset,
    vertical: &V,
    sensitive: &[bool],
    progress: &dyn Progress,
) -> Vec<B> {
    progress.stage(Stage::Splitting, Some(clusters.len() as u64));
    let block = (clusters.len() / BLOCKS).clamp(1, BLOCK);
    let blocks = (0..clusters.len().div_ceil(block)).into_par_iter();
    let spare = Spare::<V::Scratch>::default();
    let split = |b: usize| {
        let mut leaves = B::default();
        let numbers = b * block..((b + 1) * block).min(clusters.len());
        let count = numbers.len() as u64;
        spare.with(|scratch| {
            leaves.extend(numbers.map(|c| {
                let rows = clusters.rows(c, data);
                vertical.partition(scratch, &rows, &|item| sensitive[item as usize])
            }));
        });
        progress.advance(count);
        leaves
    };
    blocks.map(split).collect()
}

/// Puts a manifest to a disassociated body.
pub(in crate::methods) fn release<R: Recipe<Parameters = Parameters>>(
    parameters: &Parameters,
    body: Disassociated,
) -> Release {
    let (records, items) = (body.records(), body.vocabulary.len() as u64);
    Release { manifest: R::manifest(parameters, records, items), body: Body::Disassociated(body) }
}
