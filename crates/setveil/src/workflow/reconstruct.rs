//! Random data sets that a release could have come from.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::limits;
use crate::reconstruct::{self, TermOccurrences};
use crate::{Dataset, Progress, Release, Result, Stage};

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ReconstructOptions {
    /// How many data sets.
    pub n: NonZeroU32,
    /// Chooses the random numbers; no secret.
    pub seed: u64,
    /// How often a term of a term chunk is put into its cluster.
    pub terms: TermOccurrences,
}

impl Default for ReconstructOptions {
    fn default() -> Self {
        Self { n: NonZeroU32::MIN, seed: 0, terms: TermOccurrences::default() }
    }
}

setters!(ReconstructOptions {
    /// How many data sets.
    n: NonZeroU32,
    /// Chooses the random numbers; no secret.
    seed: u64,
    /// How often a term of a term chunk is put into its cluster.
    terms: TermOccurrences,
});

/// Draws data sets.
///
/// # Errors
/// If no data set fits the release, or `progress` says stop.
pub fn reconstruct(
    release: &Release,
    options: &ReconstructOptions,
    progress: &dyn Progress,
) -> Result<Vec<Dataset>> {
    let ReconstructOptions { n, seed, terms } = *options;
    limits::drawn(release, terms, n.get(), progress)?;
    let drawing = reconstruct::Options { seed, terms };
    reconstruct::reconstruct_many(release, drawing, n.get(), progress)
}

/// Draws data set number `number` alone, counted from 0: the same as among
/// many. For callers that look at one after the other.
///
/// # Errors
/// As `reconstruct`.
pub fn reconstruct_one(
    release: &Release,
    options: &ReconstructOptions,
    number: u32,
    progress: &dyn Progress,
) -> Result<Dataset> {
    let ReconstructOptions { seed, terms, .. } = *options;
    limits::drawn(release, terms, 1, progress)?;
    progress.stage(Stage::Reconstructing, Some(1));
    progress.step(0)?;
    reconstruct::reconstruct(release, reconstruct::Options { seed, terms }, number)
}
