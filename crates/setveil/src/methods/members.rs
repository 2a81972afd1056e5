//! Which original records a published cluster is made of. Only for those who
//! have the original: no release tells.
//!
//! The clustering depends on nothing but the data and the parameters of the
//! manifest, so it can be repeated. The chunks that come out are compared with
//! the published ones; where a single one differs, the release is not what its
//! manifest says of this data, and there is no answer. Clusters with equal
//! chunks cannot be told apart and may be exchanged.

use super::Method;
use super::disassociation::{ChunkedCluster, Clusters};
use crate::data::Dataset;
use crate::release::{Bag, Body, Disassociated, Release, SimpleCluster};
use crate::{Progress, Result};

/// See [`Method::members`].
pub(super) fn members(
    method: &Method,
    release: &Release,
    original: &Dataset,
    progress: &dyn Progress,
) -> Result<Option<Vec<Vec<u32>>>> {
    let Body::Disassociated(body) = &release.body else { return Ok(None) };
    if body.vocabulary != *original.vocabulary() || body.records() != original.len() as u64 {
        return Ok(None);
    }
    let Some(clusters) = method.horizontal(original, progress)? else { return Ok(None) };
    let leaves = method.chunked(original, &clusters, progress)?;
    Ok(match_up(body, &clusters, &leaves))
}

/// The records of each published leaf; none if a leaf differs from what was made.
pub(crate) fn match_up(
    body: &Disassociated,
    clusters: &Clusters,
    leaves: &[ChunkedCluster],
) -> Option<Vec<Vec<u32>>> {
    let made = ranked(leaves.iter().map(|leaf| &leaf.cluster));
    let published = ranked(body.clusters.iter().flat_map(|c| c.leaves()));
    let same = made.len() == published.len()
        && made.iter().zip(&published).all(|(a, b)| (a.0, &a.1) == (b.0, &b.1));
    if !same {
        return None;
    }
    let mut members = vec![Vec::new(); published.len()];
    for (a, b) in made.iter().zip(&published) {
        members[b.2] = clusters.get(a.2).to_vec();
    }
    Some(members)
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
