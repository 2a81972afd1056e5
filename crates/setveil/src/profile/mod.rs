//! What the raw data is like: size, shape, and how identifying it is.

mod postings;
mod reidentification;

use serde::{Deserialize, Serialize};

pub use reidentification::{MOST_KNOWN, Reidentification, Sampling, reidentification};

use crate::{Dataset, Progress, Result};

/// The profile of a data set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Profile {
    /// How many records there are.
    pub records: u64,
    /// How many distinct items.
    pub items: u64,
    /// How many items in all records together.
    pub occurrences: u64,
    /// The number of items in the longest record.
    pub max_length: u64,
    /// The mean number of items in a record.
    pub mean_length: f64,
    /// How surely a person is found by 1..4 known items.
    pub reidentification: Vec<Reidentification>,
}

/// What a profile needs to know beside the data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Options {
    /// How to sample known items where they are too many to look at all.
    pub sampling: Sampling,
}

setters!(Options {
    /// How to sample known items where they are too many to look at all.
    sampling: Sampling,
});

/// Profiles `data`.
///
/// # Errors
/// If `progress` says stop.
pub fn profile(data: &Dataset, options: &Options, progress: &dyn Progress) -> Result<Profile> {
    Ok(Profile {
        records: data.len() as u64,
        items: data.item_count() as u64,
        occurrences: data.occurrences().len() as u64,
        max_length: data.max_length() as u64,
        mean_length: data.mean_length(),
        reidentification: reidentification(data, &options.sampling, progress)?,
    })
}
