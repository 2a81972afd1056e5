//! From a data set to a release: horizontal partitioning, vertical
//! partitioning, refining. DLS goes the same way with another vertical step.

use rayon::prelude::*;

use super::diversity::diversify;
use super::recipe::Method;
use super::refine::{Block, Leaves, open_leaves, refine};
use super::safe;
use super::scratch::ScratchPool;
use super::together::{Ranked, Together};
use super::{
    ChunkedCluster, Chunking, Clustering, Clusters, HorizontalPartitioning, Horpart, Parameters,
    TermChunks, Verpart, VerticalPartitioning, Whole,
};
use crate::data::{Dataset, ItemId, Wanted};
use crate::methods::limits;
use crate::methods::recipe::Recipe;
use crate::progress::{Progress, Pulse, Stage};
use crate::release::{Body, Disassociated, Release};
use crate::{Error, Result};

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
/// a sensitive term does not occur, or is too frequent for l; if the
/// parameters name a partitioning that only code can plug in; if there is more
/// data than can be numbered; or if `progress` says stop.
pub fn anonymize(
    data: &Dataset,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Release> {
    Ok(publish(parameters, body(data, parameters, progress)?))
}

/// [`anonymize`] without a manifest.
pub(super) fn body(
    data: &Dataset,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Disassociated> {
    body_of(data, parameters, None, progress)
}

/// The same, where the clusters may have been made before; the safe method makes
/// them again.
pub(super) fn body_of(
    data: &Dataset,
    parameters: &Parameters,
    made: Option<&Clusters>,
    progress: &dyn Progress,
) -> Result<Disassociated> {
    if let Some(options) = &parameters.safe {
        return Ok(safe::anonymize(data, parameters, options, progress)?.0);
    }
    match &parameters.chunking {
        Chunking::Verpart => {
            let verpart = Verpart { k: parameters.k, m: parameters.m };
            let wanted = Wanted::new(&parameters.keep, data.vocabulary());
            if wanted.is_empty() {
                return disassociate(data, parameters, made, &verpart, progress);
            }
            disassociate(data, parameters, made, &Ranked { verpart, wanted: &wanted }, progress)
        }
        Chunking::TermChunks => disassociate(data, parameters, made, &TermChunks, progress),
        Chunking::Own(name) => Err(not_built_in("chunking", name)),
    }
}

/// [`anonymize`] with partitionings that are plugged in. Their names stand in
/// the manifest, whatever the parameters say.
///
/// # Guarantee
/// What the partitionings keep; `verify` tells.
///
/// # Errors
/// As for [`anonymize`].
pub fn anonymize_with<V: VerticalPartitioning>(
    data: &Dataset,
    parameters: &Parameters,
    horizontal: &dyn HorizontalPartitioning,
    vertical: &V,
    progress: &dyn Progress,
) -> Result<Release> {
    let parameters = parameters
        .clone()
        .with_clustering(horizontal.name().to_owned().into())
        .with_chunking(vertical.name().to_owned().into());
    let body = run(data, &parameters, horizontal, vertical, progress)?;
    Ok(publish(&parameters, body))
}

/// Runs the three steps with the chosen horizontal partitioning and any
/// vertical one; clusters that were made before are taken as they are.
///
/// # Errors
/// As for [`anonymize`].
pub(in crate::methods) fn disassociate<V: VerticalPartitioning>(
    data: &Dataset,
    parameters: &Parameters,
    made: Option<&Clusters>,
    vertical: &V,
    progress: &dyn Progress,
) -> Result<Disassociated> {
    match made {
        Some(clusters) => {
            let (sensitive, _) = parameters.sensitive_items(data);
            finish(data, parameters, (clusters, &sensitive), vertical, progress)
        }
        None => run(data, parameters, horizontal(&parameters.clustering)?, vertical, progress),
    }
}

fn run<V: VerticalPartitioning>(
    data: &Dataset,
    parameters: &Parameters,
    horizontal: &dyn HorizontalPartitioning,
    vertical: &V,
    progress: &dyn Progress,
) -> Result<Disassociated> {
    let (clusters, sensitive) = cluster(data, parameters, horizontal, progress)?;
    finish(data, parameters, (&clusters, &sensitive), vertical, progress)
}

/// The steps after the first.
fn finish<V: VerticalPartitioning>(
    data: &Dataset,
    parameters: &Parameters,
    (clusters, sensitive): (&Clusters, &[bool]),
    vertical: &V,
    progress: &dyn Progress,
) -> Result<Disassociated> {
    let blocks: Vec<Block> = chunk(clusters, data, vertical, sensitive, progress)?;
    let leaves = Leaves::new(blocks, clusters, data, sensitive);
    let refined = refine(leaves, sensitive, parameters, vertical, progress)?;
    Ok(Disassociated { vocabulary: data.vocabulary().clone(), clusters: refined })
}

/// The steps as far as a part alone can take them: clusters that may still
/// share terms with those of other parts, as bytes. Item `i` is written as `ids[i]`.
pub(super) fn open<V: VerticalPartitioning>(
    data: &Dataset,
    ids: &[ItemId],
    parameters: &Parameters,
    vertical: &V,
    progress: &dyn Progress,
) -> Result<Vec<Vec<u8>>> {
    let horizontal = horizontal(&parameters.clustering)?;
    let (clusters, sensitive) = cluster(data, parameters, horizontal, progress)?;
    let blocks: Vec<Block> = chunk(&clusters, data, vertical, &sensitive, progress)?;
    let leaves = Leaves::new(blocks, &clusters, data, &sensitive);
    open_leaves(&leaves, ids, parameters, vertical, progress)
}

/// The first step alone: which records come together. For the custodian, who may
/// know which records a published cluster is made of.
pub(in crate::methods) fn cluster_records(
    data: &Dataset,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Clusters> {
    Ok(cluster(data, parameters, horizontal(&parameters.clustering)?, progress)?.0)
}

/// The second step alone: the chunks of each cluster before refining.
pub(in crate::methods) fn chunk_clusters<V: VerticalPartitioning>(
    data: &Dataset,
    parameters: &Parameters,
    clusters: &Clusters,
    vertical: &V,
    progress: &dyn Progress,
) -> Result<Vec<ChunkedCluster>> {
    let (sensitive, _) = parameters.sensitive_items(data);
    let blocks: Vec<Vec<ChunkedCluster>> = chunk(clusters, data, vertical, &sensitive, progress)?;
    Ok(blocks.into_iter().flatten().collect())
}

/// The horizontal partitioning of this name.
fn horizontal(clustering: &Clustering) -> Result<&'static dyn HorizontalPartitioning> {
    match clustering {
        Clustering::Horpart => Ok(&Horpart),
        Clustering::Whole => Ok(&Whole),
        Clustering::Own(name) => Err(not_built_in("clustering", name)),
    }
}

/// Fails unless the parameters ask for the vertical partitioning of the paper,
/// because a method has its own in its place.
pub(in crate::methods) fn refuse_other_chunking(parameters: &Parameters) -> Result<()> {
    match &parameters.chunking {
        Chunking::Verpart => Ok(()),
        other => Err(not_built_in("chunking", &String::from(other.clone()))),
    }
}

fn not_built_in(name: &'static str, found: &str) -> Error {
    Error::Parameter {
        name,
        found: format!("`{found}`"),
        expected: "the name of a partitioning that this method has",
    }
}

/// The clusters, and which items are sensitive.
fn cluster(
    data: &Dataset,
    parameters: &Parameters,
    horizontal: &dyn HorizontalPartitioning,
    progress: &dyn Progress,
) -> Result<(Clusters, Vec<bool>)> {
    let sizes = parameters.sizes()?;
    limits::records(data)?;
    if parameters.safe.is_some() {
        return Err(Error::Parameter {
            name: "safe",
            found: "other partitionings".into(),
            expected: "disassociation with the steps of the safe method",
        });
    }
    if data.len() < sizes.k() {
        return Err(Error::Infeasible {
            what: format!("{}, fewer than k = {}", limits::there_are(data.len()), sizes.k()),
            hint: "nobody can be hidden among fewer than k: choose a smaller k or release \
                   nothing"
                .into(),
        });
    }
    let (sensitive, missing) = parameters.sensitive_items(data);
    if let Some(label) = missing.first() {
        return Err(Error::Unknown {
            what: format!("sensitive term `{label}` does not occur in the data"),
            hint: "check the spelling, or take it out of the list".into(),
        });
    }
    let may_split: Vec<bool> = sensitive.iter().map(|s| !s).collect();
    let wanted = Wanted::new(&parameters.keep, data.vocabulary());
    let mut clusters = if wanted.is_empty() || parameters.clustering == Clustering::Whole {
        horizontal.partition(data, &may_split, sizes, progress)?
    } else {
        Together { wanted: &wanted, other: horizontal }
            .partition(data, &may_split, sizes, progress)?
    };
    if let Some(terms) = &parameters.sensitive {
        clusters = diversify(clusters, data, &sensitive, (parameters.k, terms.l), progress)?;
    }
    Ok((clusters, sensitive))
}

/// Clusters are split in blocks of equal size: at least so many where there are
/// enough clusters, each of at most so many.
const BLOCKS: usize = 256;
const BLOCK: usize = 256;

/// Splits all clusters into chunks, block by block.
fn chunk<V: VerticalPartitioning, B: Default + Extend<ChunkedCluster> + Send>(
    clusters: &Clusters,
    data: &Dataset,
    vertical: &V,
    sensitive: &[bool],
    progress: &dyn Progress,
) -> Result<Vec<B>> {
    progress.stage(Stage::Splitting, Some(clusters.len() as u64));
    let block = (clusters.len() / BLOCKS).clamp(1, BLOCK);
    let scratch = ScratchPool::<V::Scratch>::default();
    let chunk_block = |b: usize| {
        scratch.with(|scratch| {
            let (mut chunked, mut pulse) = (B::default(), Pulse::new(progress));
            for c in b * block..((b + 1) * block).min(clusters.len()) {
                let rows = clusters.rows(c, data);
                let hidden = |item| sensitive[item as usize];
                chunked.extend([vertical.partition(scratch, &rows, &hidden, progress)?]);
                pulse.work(rows.len())?;
                pulse.done(1)?;
            }
            pulse.flush()?;
            Ok(chunked)
        })
    };
    (0..clusters.len().div_ceil(block)).into_par_iter().map(chunk_block).collect()
}

/// The release of a body that disassociation with these parameters made, or of
/// the bodies of parts that were put together by [`Disassociated::merge`].
pub fn publish(parameters: &Parameters, body: Disassociated) -> Release {
    release::<Method>(parameters, body)
}

/// Puts a manifest to a disassociated body.
pub(in crate::methods) fn release<R: Recipe<Parameters = Parameters>>(
    parameters: &Parameters,
    body: Disassociated,
) -> Release {
    let (records, items) = (body.records(), body.vocabulary.len() as u64);
    Release { manifest: R::manifest(parameters, records, items), body: Body::Disassociated(body) }
}
