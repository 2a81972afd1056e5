//! Which original records a published cluster is made of. Only for those who
//! have the original: no release tells.
//!
//! The clustering depends on nothing but the data and the parameters of the
//! manifest, so it can be repeated. The chunks that come out are compared with
//! the published ones; where a single one differs, the release is not what its
//! manifest says of this data, and there is no answer. Clusters with equal
//! chunks cannot be told apart and may be exchanged.

use serde_json::Value;

use super::disassociation::{Horpart, Parameters, Sensitive, Verpart, partition};
use super::dls::Dls;
use crate::data::{Dataset, K, L, M};
use crate::release::{Bag, Body, Manifest, Model, Release, SimpleCluster};
use crate::{Progress, Result};

/// The numbers of the records behind each simple cluster of `release`, in the
/// order in which they are published. None for methods without clusters of
/// chunks, and for a release that is not made from `original` with the
/// parameters of its manifest.
///
/// # Errors
/// If the manifest's parameters cannot be used with `original`.
pub fn members(
    release: &Release,
    original: &Dataset,
    progress: &dyn Progress,
) -> Result<Option<Vec<Vec<u32>>>> {
    let Body::Disassociated(body) = &release.body else { return Ok(None) };
    let Some(parameters) = parameters(&release.manifest) else { return Ok(None) };
    if body.vocabulary != *original.vocabulary() || body.records() != original.len() as u64 {
        return Ok(None);
    }
    let (k, m) = (parameters.k, parameters.m);
    let (clusters, leaves) = match release.manifest.method.as_str() {
        "disassociation" => {
            partition(original, &parameters, &Horpart, &Verpart { k, m }, progress)?
        }
        "dls" => partition(original, &parameters, &Horpart, &Dls { k, m }, progress)?,
        _ => return Ok(None),
    };
    let made = ranked(leaves.iter().map(|leaf| &leaf.cluster));
    let published = ranked(body.clusters.iter().flat_map(|c| c.leaves()));
    let same = made.len() == published.len()
        && made.iter().zip(&published).all(|(a, b)| (a.0, &a.1) == (b.0, &b.1));
    if !same {
        return Ok(None);
    }
    let mut members = vec![Vec::new(); published.len()];
    for (a, b) in made.iter().zip(&published) {
        members[b.2] = clusters.get(a.2).to_vec();
    }
    Ok(Some(members))
}

/// What refining leaves as it is, in an order of its own, with the position.
fn ranked<'a>(leaves: impl Iterator<Item = &'a SimpleCluster>) -> Vec<(u32, Vec<&'a Bag>, usize)> {
    let mut all: Vec<(u32, Vec<&Bag>, usize)> = leaves
        .enumerate()
        .map(|(position, leaf)| {
            let mut chunks: Vec<&Bag> = leaf.record_chunks.iter().collect();
            chunks.sort_unstable();
            (leaf.size, chunks, position)
        })
        .collect();
    all.sort_unstable();
    all
}

/// The parameters that a manifest names.
fn parameters(manifest: &Manifest) -> Option<Parameters> {
    let Model::FormatKmAnonymity { k, m, l } = manifest.guarantee.model else { return None };
    let mut parameters = Parameters::new(K::new(k).ok()?, M::new(m).ok()?);
    let max = manifest.parameters.get("max_cluster_size").and_then(Value::as_u64)?;
    parameters.max_cluster_size = usize::try_from(max).ok();
    if let Some(terms) = manifest.parameters.get("sensitive") {
        let terms: Option<Vec<String>> =
            terms.as_array()?.iter().map(|t| t.as_str().map(str::to_owned)).collect();
        parameters.sensitive = Some(Sensitive { terms: terms?, l: L::new(l?).ok()? });
    }
    Some(parameters)
}
