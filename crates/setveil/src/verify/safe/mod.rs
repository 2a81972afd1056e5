//! What a release of safe disassociation shows of its rules (`docs/safe.md`).
//!
//! The format guarantee does not need them. They are checked because the promise
//! against attackers who know the program does, as far as a release can show it:
//!
//! - `safe-units`: terms whose supports force them to meet stand in one chunk, and
//!   without a term of all records a chunk has no others;
//! - `safe-links`: a chunk of several units is held together by links;
//! - `safe-witness`: every set across the chunks of a linked leaf has a witness;
//! - `safe-full`: terms of all records stand where the rule puts them;
//! - `safe-lemma-2`: enough sub-records, with every term of a term chunk counted once;
//! - `safe-refine`: shared chunks of one term, with possible totals, and no term
//!   left in term chunks that must have been shared;
//! - `safe-joins`: who shares terms with whom follows from the record chunks.
//!
//! How records came into their clusters, and that links across chunks were too
//! few, cannot be seen. Nothing here is shared with the method.

mod chunks;
mod joins;
mod tails;
mod witness;
mod world;

use serde_json::Value;

pub(super) use joins::Joins;
pub(super) use tails::Tails;

use super::Findings;
use super::work::Meter;
use crate::Result;
use crate::release::{Cluster, Manifest, Model};

/// What the manifest says.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    k: u32,
    m: u32,
    /// In millionths.
    eta: u32,
    refine: bool,
    join_width: Option<u32>,
}

impl Rules {
    /// The rules of a release that says it is safe; none for others, and where
    /// the manifest is wrong in itself, which is found elsewhere.
    pub(super) fn of(manifest: &Manifest) -> Option<Self> {
        let get = |name: &str| manifest.parameters.get(name);
        let Model::FormatKmAnonymity { k, m, l: None } = manifest.guarantee.model else {
            return None;
        };
        let safe = get("safe") == Some(&Value::Bool(true));
        let eta = (get("eta")?.as_f64()? * 1e6).round();
        let refine = get("refine")?.as_bool()?;
        let join_width = match get("join_width") {
            None => None,
            Some(width) => Some(u32::try_from(width.as_u64()?).ok()?),
        };
        let valid = safe && k >= 2 && m >= 1 && (1.0..=500_000.0).contains(&eta);
        valid.then_some(Self { k, m, eta: eta as u32, refine, join_width })
    }
}

/// Checks the leaves of a cluster.
pub(super) fn cluster(
    cluster: &Cluster,
    rules: Rules,
    tails: &mut Tails,
    meter: &mut Meter,
    findings: &mut Findings,
) -> Result<()> {
    match cluster {
        Cluster::Simple(leaf) => {
            chunks::check(leaf, rules, tails, &String::new, meter, findings)?;
        }
        Cluster::Joint(joint) => {
            // Deeper leaves break a rule by being there.
            for (i, child) in joint.children.iter().enumerate() {
                if let Cluster::Simple(leaf) = child {
                    let place = || format!(" children[{i}]");
                    chunks::check(leaf, rules, tails, &place, meter, findings)?;
                }
            }
            joins::shared(joint, rules, findings);
        }
    }
    Ok(())
}
