//! Size, shape and risk of raw data.

use serde::Serialize;

use crate::inspect::Findings;
use crate::io::LeftOut;
use crate::methods::dls::{Problematic, problematic};
use crate::profile::{self, Options, Profile};
use crate::{Dataset, Progress, Result};

/// The profile of a data set, and how much of it a method has to hide.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Profiled {
    /// Size, shape, and how surely people are found.
    #[serde(flatten)]
    pub profile: Profile,
    /// Among similar records, itemsets that give fewer than k records away
    /// (dls-2022, Fig. 5).
    pub problematic: Vec<Problematic>,
    /// What was left out when the data was read; none for data that was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// What to look at before publishing; none for data that was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<Findings>,
}

setters!(Profiled {
    /// What was left out when the data was read.
    left_out: Option<LeftOut>,
    /// What to look at before publishing.
    findings: Option<Findings>,
});

/// Profiles `data`.
///
/// # Errors
/// If `progress` says stop.
pub fn profile(data: &Dataset, options: &Options, progress: &dyn Progress) -> Result<Profiled> {
    let profile = profile::profile(data, options, progress)?;
    let problematic = problematic(data, progress)?;
    Ok(Profiled { profile, problematic, left_out: None, findings: None })
}
