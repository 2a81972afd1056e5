//! How surely a person is found by a few known items (cahd-2008, Table II).

use serde::Serialize;

use crate::{Dataset, Progress};

/// The risk for one number of known items.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reidentification {
    /// How many items are known.
    pub known: u32,
    /// The mean of 1 / support.
    pub probability: f64,
    /// The share of targets that nobody else matches.
    pub unique: f64,
}

/// The risk for 1..4 known items.
pub fn reidentification(_data: &Dataset, _progress: &dyn Progress) -> Vec<Reidentification> {
    Vec::new()
}
