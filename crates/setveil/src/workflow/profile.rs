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
    /// Where to begin; none if there are too few records to hide anybody.
    pub suggestion: Option<Suggestion>,
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

/// A setting to begin with, from the raw data alone. [`recommend`](super::recommend())
/// measures instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Suggestion {
    /// The method's name.
    pub method: &'static str,
    /// How many candidates must remain.
    pub k: u32,
    /// How many items an attacker may know.
    pub m: u32,
    /// Why.
    pub reason: String,
}

/// From this probability on, knowing so many items is dangerous.
const DANGEROUS: f64 = 0.1;

/// m is the number of known items that makes guessing dangerous, 2 at least
/// and 3 at most; k is the usual 5, less where there are few records.
fn suggestion(profile: &Profile) -> Option<Suggestion> {
    let k: u32 = match profile.records {
        0..=3 => return None,
        4..=49 => 2,
        50..=199 => 3,
        _ => 5,
    };
    let dangerous = profile.reidentification.iter().find(|row| row.probability >= DANGEROUS);
    let m = dangerous.map_or(2, |row| row.known.clamp(2, 3));
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let mut reason = match dangerous {
        Some(row) => format!(
            "who knows {} of a person {} the person in {} of the cases; m = {m} protects against \
             that",
            items(row.known),
            if row.known == 1 { "guesses already" } else { "guesses" },
            percent(row.probability)
        ),
        None => format!(
            "even {} are seldom enough to guess a person; m = {m} is the usual protection",
            items(profile.reidentification.last().map_or(m, |row| row.known))
        ),
    };
    reason += &match k {
        5 => "; k = 5 is the usual number of candidates".to_owned(),
        k => format!("; k = {k} because there are only {} records", profile.records),
    };
    Some(Suggestion { method: "disassociation", k, m, reason })
}

fn items(n: u32) -> String {
    if n == 1 { "1 item".to_owned() } else { format!("{n} items") }
}

/// Profiles `data`.
///
/// # Errors
/// If `progress` says stop.
pub fn profile(data: &Dataset, options: &Options, progress: &dyn Progress) -> Result<Profiled> {
    let profile = profile::profile(data, options, progress)?;
    let problematic = problematic(data, progress)?;
    let suggestion = suggestion(&profile);
    Ok(Profiled { profile, problematic, suggestion, left_out: None, findings: None })
}
