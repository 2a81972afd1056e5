//! DLS: disassociation with local suppression (dls-2022).
//!
//! The vertical partitioning of a cluster: [`mpii`] finds the minimal
//! problematic itemsets, MPIE eliminates them by suppressing instances where
//! that harms nothing else and by partitioning items otherwise, RRCC builds
//! chunks from the partitioned items, and Lemma 2 of disassociation-2012 is
//! checked and repaired. Horizontal partitioning, refining, release format and
//! verification are those of disassociation; refining only moves terms of term
//! chunks, with their original records.
//!
//! What a release of DLS means: every published count is a lower bound. The
//! original itself need not be a possible data set of the release, but the
//! suppressed one always is, and it has every original record with some of its
//! items missing and at least one item left. How many instances were
//! suppressed is not published. `docs/dls.md` says what follows from this.

mod columns;
mod mpie;
mod mpii;
mod problematic;
mod recipe;
mod rrcc;

pub use mpii::{mpii, mpii_counts};
pub use problematic::{MOST_ITEMS, PROBLEMATIC_K, Problematic, problematic};

use self::columns::Columns;
pub(super) use self::recipe::Method;
use super::limits;
use crate::data::{Dataset, ItemId, K, M, Wanted};
/// Those of disassociation, but for the vertical partitioning, which is its own.
pub use crate::methods::disassociation::Parameters;
use crate::methods::disassociation::{
    ChunkedCluster, Clustering, Clusters, Part, VerticalPartitioning, disassociate, lemma2, part,
    refuse_other_chunking, release,
};
use crate::progress::Progress;
use crate::release::{Disassociated, Release, SimpleCluster};
use crate::{Error, Result};

/// The vertical partitioning of DLS.
#[derive(Clone, Copy, Debug)]
pub struct Dls {
    /// How many candidates must remain.
    pub k: K,
    /// How many terms an attacker may know.
    pub m: M,
}

/// The same, in which terms that shall stay together enter the first chunk
/// first, set after set.
struct Ranked<'a> {
    dls: Dls,
    wanted: &'a Wanted,
}

impl VerticalPartitioning for Ranked<'_> {
    type Scratch = ();

    fn name(&self) -> &str {
        self.dls.name()
    }

    fn partition(
        &self,
        _scratch: &mut (),
        records: &[&[ItemId]],
        hidden: &dyn Fn(ItemId) -> bool,
        progress: &dyn Progress,
    ) -> Result<ChunkedCluster> {
        let rank = |item| self.wanted.rank(item);
        partition(records, (self.dls.k, self.dls.m), hidden, &rank, progress)
    }
}

/// What clusters share is divided by the greedy loop of VERPART, without
/// suppression: these are terms of term chunks, with their original records.
impl VerticalPartitioning for Dls {
    type Scratch = ();

    fn name(&self) -> &str {
        "dls"
    }

    fn partition(
        &self,
        _scratch: &mut (),
        records: &[&[ItemId]],
        hidden: &dyn Fn(ItemId) -> bool,
        progress: &dyn Progress,
    ) -> Result<ChunkedCluster> {
        partition(records, (self.k, self.m), hidden, &|_| 0, progress)
    }
}

/// Anonymizes `data` by DLS.
///
/// # Guarantee
/// The format guarantee of k^m-anonymity, as for disassociation. Supports
/// that are counted in the release are lower bounds of the original's.
///
/// # Errors
/// As for [disassociation](crate::methods::disassociation::anonymize), and if
/// clusters may have more than [`LARGEST_CLUSTER`] records.
///
/// ```
/// use setveil::{Dataset, data::{K, M}, methods::dls, verify};
///
/// let data = Dataset::from_records([
///     vec!["a", "d", "e", "f"], vec!["a", "c", "f"], vec!["c", "e", "f"],
///     vec!["a", "c", "d", "f"], vec!["c", "d", "e"], vec!["a", "d"],
/// ]);
/// let release = dls::anonymize(&data, &dls::Parameters::new(K::new(2)?, M::new(2)?), &())?;
/// assert!(verify::verify(&release, &())?.holds);
/// # Ok::<(), setveil::Error>(())
/// ```
pub fn anonymize(
    data: &Dataset,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Release> {
    Ok(publish(parameters, body(data, parameters, None, progress)?))
}

/// Anonymizes a part of a data set by DLS; see
/// [disassociation](crate::methods::disassociation::anonymize_part).
///
/// # Errors
/// As there.
pub fn anonymize_part(
    data: &Dataset,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Part> {
    part(data, parameters, |parameters| body(data, parameters, None, progress))
}

/// The release of a body that DLS with these parameters made, or of the bodies
/// of parts that were put together by [`Disassociated::merge`].
pub fn publish(parameters: &Parameters, body: Disassociated) -> Release {
    release::<Method>(parameters, body)
}

/// The most records of a cluster. MPIE compares items pair by pair, and its time
/// explodes: BMS-WebView-2 takes 0.5 s with clusters of 5,000 records, 1.7 s
/// with 10,000 and 18 s with 20,000.
pub const LARGEST_CLUSTER: usize = 20_000;

/// Fails at once where a cluster could become so large that it has no end.
fn refuse_large_clusters(data: &Dataset, parameters: &Parameters) -> Result<()> {
    let largest = match parameters.clustering {
        Clustering::Whole => data.len(),
        _ => parameters.max_cluster_size.min(data.len()),
    };
    if largest <= LARGEST_CLUSTER {
        return Ok(());
    }
    Err(Error::TooLarge {
        what: "records in a cluster of dls",
        found: largest as u64,
        limit: LARGEST_CLUSTER as u64,
        hint: "choose smaller clusters, or `local-suppression`, which takes any number",
    })
}

/// What is published, of clusters that may have been made before.
fn body(
    data: &Dataset,
    parameters: &Parameters,
    made: Option<&Clusters>,
    progress: &dyn Progress,
) -> Result<Disassociated> {
    refuse_other_chunking(parameters)?;
    refuse_large_clusters(data, parameters)?;
    let wanted = Wanted::new(&parameters.keep, data.vocabulary());
    let dls = Dls { k: parameters.k, m: parameters.m };
    disassociate(data, parameters, made, &Ranked { dls, wanted: &wanted }, progress)
}

/// Splits the records of a cluster into k^m-anonymous record chunks, the
/// first of suppressed records, and a term chunk.
///
/// # Guarantee
/// Every combination of 1..m terms that is present in a record chunk is
/// present at least k times there; the domains are disjoint; every term is in
/// exactly one chunk; no count exceeds the cluster's own; Lemma 2 holds,
/// provided that there are at least k records.
///
/// # Panics
/// With 2^32 records: [`Dls`] gives an error then.
///
/// # Deviations
/// DLS has no check of Lemma 2; it is that of disassociation. See the steps
/// for the rest.
///
/// ```
/// use setveil::data::{K, M};
/// use setveil::methods::dls::dls_cluster;
/// // Fig. 3: a, c, d, e, f are 0, 1, 2, 3, 4. Item a leaves the first record only.
/// let records: [&[u32]; 6] =
///     [&[0, 2, 3, 4], &[0, 1, 4], &[1, 3, 4], &[0, 1, 2, 4], &[1, 2, 3], &[0, 2]];
/// let cluster = dls_cluster(&records, K::new(2)?, M::new(2)?);
/// assert_eq!(cluster.record_chunks.len(), 1);
/// assert_eq!(cluster.record_chunks[0].support(&[0]), 3);
/// # Ok::<(), setveil::Error>(())
/// ```
pub fn dls_cluster(records: &[&[ItemId]], k: K, m: M) -> SimpleCluster {
    let chunked = partition(records, (k, m), &|_| false, &|_| 0, &());
    chunked.expect("fewer than 2^32 records, and nobody says stop").cluster
}

fn partition(
    records: &[&[ItemId]],
    (k, m): (K, M),
    hidden: &dyn Fn(ItemId) -> bool,
    rank: &dyn Fn(ItemId) -> u32,
    progress: &dyn Progress,
) -> Result<ChunkedCluster> {
    let size = limits::number("records in one cluster", records.len() as u64)?;
    // Algorithm 2, lines 1 to 5.
    let (original, term_chunk, supports) = Columns::split(records, k.get(), hidden, progress)?;
    let first = mpie::mpie(&original, (k, m), rank, progress)?;
    let mut record_chunks = Vec::new();
    if !first.domain.is_empty() {
        record_chunks.push(first.suppressed.select(&first.domain).chunk(progress)?);
    }
    let rest = original.select(&first.partitioned);
    for domain in rrcc::rrcc(&rest, k, m, progress)? {
        record_chunks.push(rest.select(&domain).chunk(progress)?);
    }
    let cluster = SimpleCluster { size, record_chunks, term_chunk };
    let mut chunked = ChunkedCluster { cluster, supports };
    lemma2::repair(&mut chunked, records, k, m, hidden);
    Ok(chunked)
}
