//! Random data sets that a release could have come from: the recipient's way
//! to ordinary mining tools (disassociation-2012, section 3).
//!
//! Every reconstruction obeys the whole release: cluster sizes, each chunk's
//! bag of sub-records, shared chunks only where they may go, at least one
//! occurrence of every term of a term chunk, no empty record. What is drawn:
//!
//! - **Simple clusters**: uniform over all placements of the sub-records (and
//!   of the terms, as often as [`TermOccurrences`] allows) that leave no
//!   record empty. Exact (`cover.rs` counts them).
//! - **Joint clusters**: each shared sub-record goes to a uniformly chosen
//!   free record of the leaves that may take it, one after the other; each
//!   leaf is then completed uniformly given what it received. Not uniform
//!   over the whole joint cluster: that asks for counting matchings.
//! - **Generalised classes**: for each node one leaf under it, uniformly. A
//!   node may stand for several leaves of a record; how many is not
//!   published, so a reconstruction has the fewest.
//! - **Classes with noise**: they are sets of leaves, and are taken as they
//!   are. No data set need have them, so this is no possible original.
//! - **Groups**: each sensitive item goes to uniformly chosen records of its
//!   group; a record without other items gets at least one. Exact.
//! - **Leaves of kept sub-records**: the further occurrences of every item go to
//!   uniformly chosen records of their leaf that do not keep it; `located.rs`
//!   says how totals are shared out and empty records filled. A possible
//!   original always, and uniform but for these two.
//!
//! The same release, seed and number give the same reconstruction whatever
//! the number of threads. Nothing here sees the original data.

mod assemble;
mod classes;
mod counted;
mod cover;
mod groups;
mod joint;
mod leaf;
mod located;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::Dataset;
use crate::release::{Body, Cluster, Disassociated, Manifest, Release};
use crate::{Progress, Result, Stage};
use assemble::{Dealt, Records, assemble};
use cover::Scratch;

/// How often a term of a term chunk may occur in its cluster.
///
/// The release says "at least once", and no more. All three give possible
/// data sets; they differ in how many phantom occurrences they add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TermOccurrences {
    /// Once, or as few times as it takes to leave no record empty: the lower
    /// bound that disassociation-2012 counts with (section 6).
    #[default]
    Once,
    /// At most k - 1 times: what puts most terms into a term chunk.
    BelowK,
    /// Any number of times: uniform over everything the format allows. A term
    /// then stands in half of its cluster's records on average.
    Any,
}

impl TermOccurrences {
    /// The largest number of occurrences in a cluster of `size` records, where
    /// `uncovered` of them can only be filled by one of `terms` terms.
    pub fn cap(self, k: Option<u32>, size: usize, uncovered: usize, terms: usize) -> usize {
        let cap = match self {
            Self::Once => 1,
            Self::BelowK => k.map_or(size, |k| (k as usize - 1).max(1)),
            Self::Any => size,
        };
        cap.max(uncovered.div_ceil(terms.max(1))).min(size)
    }
}

/// What a reconstruction depends on besides the release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Options {
    /// Chooses the random numbers. A reconstruction says nothing that the
    /// release does not say, so the seed is no secret.
    pub seed: u64,
    /// How often terms of term chunks occur.
    pub terms: TermOccurrences,
}

setters!(Options {
    /// Chooses the random numbers. A reconstruction says nothing that the
    /// release does not say, so the seed is no secret.
    seed: u64,
    /// How often terms of term chunks occur.
    terms: TermOccurrences,
});

/// Draws reconstruction number `number` of `release`.
///
/// # Errors
/// If no data set fits the release: it was changed, or not made by a method.
///
/// # Complexity
/// Linear in the result for most clusters; a cluster of s records whose
/// sub-records hardly suffice to fill it costs up to O(s^2) per chunk and term.
pub fn reconstruct(release: &Release, options: Options, number: u32) -> Result<Dataset> {
    match &release.body {
        Body::Disassociated(body) => disassociated(&release.manifest, body, options, number),
        Body::Generalized(body) => classes::reconstruct(body, options, number),
        Body::Grouped(body) => groups::reconstruct(body, options, number),
        Body::Located(body) => {
            let k = release.manifest.guarantee.model.k();
            located::reconstruct(body, k, options, number)
        }
    }
}

/// Draws the reconstructions 0 to `count - 1`, in parallel.
pub fn reconstruct_many(
    release: &Release,
    options: Options,
    count: u32,
    progress: &dyn Progress,
) -> Result<Vec<Dataset>> {
    progress.stage(Stage::Reconstructing, Some(count.into()));
    (0..count)
        .into_par_iter()
        .map(|number| {
            let drawn = reconstruct(release, options, number)?;
            progress.step(1)?;
            Ok(drawn)
        })
        .collect()
}

/// The random numbers of one part of one reconstruction: streams of one key,
/// so that neither the order nor the number of threads matters.
fn random(options: Options, number: u32, part: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    rng.set_stream(u64::from(number) << 32 | part as u64);
    rng
}

/// Clusters that one task deals with.
const PIECE: usize = 64;

fn disassociated(
    manifest: &Manifest,
    body: &Disassociated,
    options: Options,
    number: u32,
) -> Result<Dataset> {
    let terms = (options.terms, manifest.guarantee.model.k());
    let pieces: Vec<Records> = body
        .clusters
        .par_chunks(PIECE)
        .enumerate()
        .map_init(Scratch::default, |scratch, (piece, clusters)| {
            let mut records = Records::default();
            for (i, cluster) in clusters.iter().enumerate() {
                let mut rng = random(options, number, piece * PIECE + i);
                match cluster {
                    Cluster::Simple(leaf) => {
                        let mut dealt = Dealt::default();
                        leaf::place(leaf, &mut dealt, terms, scratch, &mut rng)?;
                        records.push_dealt(&mut dealt, leaf.size as usize);
                    }
                    Cluster::Joint(_) => {
                        joint::place(cluster, terms, scratch, &mut rng, &mut records)?;
                    }
                }
            }
            Ok(records)
        })
        .collect::<Result<_>>()?;
    Ok(assemble(&body.vocabulary, pieces))
}
