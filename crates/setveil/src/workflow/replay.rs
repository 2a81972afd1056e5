//! The whole program, for an attacker who knows all records of the original but
//! some and tries what it makes of others.
//!
//! What is made of a cluster depends on its own records alone, and not on their
//! order. So of other data only the clustering is made anew: clusters of the same records
//! have the same chunks, and only those that differ are split and compared.

use rayon::prelude::*;

use crate::attack::{Alike, Leaf, Program};
use crate::data::Keep;
use crate::methods::{Clusters, PublishCluster, match_up};
use crate::release::{Body, SimpleCluster};
use crate::{Dataset, Error, Method, Progress, Release, Result};

/// A program, and which records the published leaves are made of.
pub(super) struct Made<'a> {
    pub(super) program: Program<'a>,
    pub(super) members: Option<Vec<Vec<u32>>>,
}

/// The program of a release. None where the release is not what the program makes of the
/// original, as with secret randomness, and where the manifest does not tell all parameters.
pub(super) fn program<'a>(
    release: &'a Release,
    original: &'a Dataset,
    keep: &Keep,
    progress: &dyn Progress,
) -> Result<Option<Made<'a>>> {
    let Ok(method) = Method::of(&release.manifest) else { return Ok(None) };
    let mut method = method.with_keep(keep.clone())?;
    if let Body::Generalized(body) = &release.body
        && let Some(hierarchy) = &body.hierarchy
    {
        method = method.with_hierarchy(hierarchy.clone());
    }
    match made(method, release, original, progress) {
        // Other data, or another hierarchy.
        Err(Error::Cancelled) => Err(Error::Cancelled),
        made => Ok(made.unwrap_or(None)),
    }
}

fn made<'a>(
    method: Method,
    release: &'a Release,
    original: &'a Dataset,
    progress: &dyn Progress,
) -> Result<Option<Made<'a>>> {
    let body = &release.body;
    let whole = |method: &Method, data: &Dataset| Ok(method.run(data, &())?.release.body == *body);
    let clusters = method.horizontal(original, progress)?;
    let same = match &clusters {
        Some(clusters) => method.publish_clusters(original, clusters, progress)? == *body,
        None => whole(&method, original)?,
    };
    if !same {
        return Ok(None);
    }
    let (Some(clusters), Some(chunks)) = (clusters, method.replay_cluster(original.vocabulary()))
    else {
        let replay = move |data: &Dataset, _: &[u32]| {
            let same = whole(&method, data)?;
            Ok(Alike { clusters: same, release: same })
        };
        let chunks: PublishCluster = Box::new(|_| SimpleCluster::default());
        let program = Program { original, leaves: Vec::new(), chunks, replay: Box::new(replay) };
        return Ok(Some(Made { program, members: None }));
    };
    let chunked = method.chunked(original, &clusters, progress)?;
    let members = match body {
        Body::Disassociated(body) => match_up(body, &clusters, &chunked),
        _ => None,
    };
    let several = chunked.iter().map(|chunked| chunked.cluster.record_chunks.len() > 1);
    let leaves = clusters.iter().map(<[u32]>::to_vec).zip(several);
    let leaves = leaves.map(|(members, several)| Leaf { members, several }).collect();
    let before = Before::new(method, original, clusters);
    let replay = move |data: &Dataset, changed: &[u32]| before.replay(data, changed, body);
    let program = Program { original, leaves, chunks, replay: Box::new(replay) };
    Ok(Some(Made { program, members }))
}

/// The clusters of the original.
struct Before<'a> {
    method: Method,
    original: &'a Dataset,
    clusters: Clusters,
    /// By record.
    cluster_of: Vec<u32>,
}

impl<'a> Before<'a> {
    fn new(method: Method, original: &'a Dataset, clusters: Clusters) -> Self {
        let mut cluster_of = vec![0; original.len()];
        for (cluster, members) in (0..).zip(clusters.iter()) {
            members.iter().for_each(|&record| cluster_of[record as usize] = cluster);
        }
        Self { method, original, clusters, cluster_of }
    }

    fn replay(&self, data: &Dataset, changed: &[u32], body: &Body) -> Result<Alike> {
        let Some(found) = self.method.horizontal(data, &())? else { return Ok(Alike::default()) };
        if !self.same_clusters(&found, data, changed) {
            return Ok(Alike::default());
        }
        let release = self.method.publish_clusters(data, &found, &())? == *body;
        Ok(Alike { clusters: true, release })
    }

    /// Whether the same chunks are made of the clusters of `data`.
    fn same_clusters(&self, found: &Clusters, data: &Dataset, changed: &[u32]) -> bool {
        if found.len() != self.clusters.len() {
            return false;
        }
        let mut left = vec![true; self.clusters.len()];
        let mut others = Vec::new();
        for (number, members) in found.iter().enumerate() {
            let cluster = members.first().map_or(0, |&record| self.cluster_of[record as usize]);
            let here = |&record: &u32| {
                self.cluster_of[record as usize] == cluster
                    && changed.binary_search(&record).is_err()
            };
            let size = self.clusters.get(cluster as usize).len();
            if members.len() == size && members.iter().all(here) {
                left[cluster as usize] = false;
            } else {
                others.push(number);
            }
        }
        let before: Vec<usize> = (0..left.len()).filter(|&cluster| left[cluster]).collect();
        let sizes = |clusters: &Clusters, numbers: &[usize]| {
            let mut sizes: Vec<usize> = numbers.iter().map(|&c| clusters.get(c).len()).collect();
            sizes.sort_unstable();
            sizes
        };
        sizes(found, &others) == sizes(&self.clusters, &before)
            && self.chunks(found, &others, data)
                == self.chunks(&self.clusters, &before, self.original)
    }

    /// What is made of some clusters, in an order of its own.
    fn chunks(&self, clusters: &Clusters, numbers: &[usize], data: &Dataset) -> Vec<SimpleCluster> {
        let Some(publish) = self.method.replay_cluster(data.vocabulary()) else {
            return Vec::new();
        };
        let make = |&number: &usize| {
            let mut cluster = publish(&clusters.rows(number, data));
            cluster.record_chunks.sort_unstable();
            cluster
        };
        let mut made: Vec<SimpleCluster> = numbers.par_iter().map(make).collect();
        made.par_sort_unstable();
        made
    }
}
