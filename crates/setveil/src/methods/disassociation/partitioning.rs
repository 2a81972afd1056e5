//! The two partitionings as interfaces, and those that can be chosen by name.
//!
//! Another one is plugged in by code: see `examples/own_partitioning.rs`. Its
//! name then stands in the manifest, so that nobody takes the release for one
//! of the paper's.

use serde::{Deserialize, Serialize};

use super::{ChunkedCluster, Chunker, Clusters, Sizes};
use crate::Result;
use crate::data::{Dataset, ItemId, K, M};
use crate::progress::{Progress, Stage};
use crate::release::{Bag, SimpleCluster};

/// Brings similar records together in clusters of at least k records.
pub trait HorizontalPartitioning: Sync {
    /// What the manifest calls it.
    fn name(&self) -> &str;

    /// Divides all records of `data`, at least k, into clusters. Only items
    /// with `may_split` may decide who comes together. The clusters must not
    /// depend on the order of the records.
    ///
    /// # Errors
    /// If `progress` says stop, which long loops ask; or if the data is too large.
    fn partition(
        &self,
        data: &Dataset,
        may_split: &[bool],
        sizes: Sizes,
        progress: &dyn Progress,
    ) -> Result<Clusters>;
}

/// Splits the records of one cluster into chunks.
pub trait VerticalPartitioning: Sync {
    /// Arrays that are used again from cluster to cluster.
    type Scratch: Default + Send;

    /// What the manifest calls it.
    fn name(&self) -> &str;

    /// Splits the records of a cluster into record chunks that are
    /// k^m-anonymous and a term chunk that takes all terms that are `hidden`;
    /// Lemma 2 must hold. The term chunk ascends, and each of its terms has a
    /// support of at least 1.
    ///
    /// # Errors
    /// If `progress` says stop, which long loops ask; or if the cluster is too large.
    fn partition(
        &self,
        scratch: &mut Self::Scratch,
        records: &[&[ItemId]],
        hidden: &dyn Fn(ItemId) -> bool,
        progress: &dyn Progress,
    ) -> Result<ChunkedCluster>;

    /// Divides the terms that clusters are about to share, each in at least k
    /// of the records that `terms` has, into k^m-anonymous shared chunks:
    /// every term in one, and no record with more than it has. Unless there is
    /// something better, the greedy loop of VERPART does it.
    ///
    /// # Errors
    /// As for [`partition`](Self::partition).
    fn share(&self, terms: &mut Chunker, k: K, m: M, progress: &dyn Progress) -> Result<Vec<Bag>> {
        terms.chunks(k, m, progress)
    }
}

/// The horizontal partitionings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum Clustering {
    /// The paper's: [`Horpart`](super::Horpart).
    #[default]
    Horpart,
    /// All records are one cluster, however many: [`Whole`].
    Whole,
    /// One that was plugged in, by its name.
    Own(String),
}

impl From<String> for Clustering {
    fn from(name: String) -> Self {
        match name.as_str() {
            "horpart" => Self::Horpart,
            "whole" => Self::Whole,
            _ => Self::Own(name),
        }
    }
}

impl From<Clustering> for String {
    fn from(clustering: Clustering) -> Self {
        match clustering {
            Clustering::Horpart => "horpart".into(),
            Clustering::Whole => "whole".into(),
            Clustering::Own(name) => name,
        }
    }
}

/// The vertical partitionings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum Chunking {
    /// The paper's: [`Verpart`](super::Verpart).
    #[default]
    Verpart,
    /// No record chunks: [`TermChunks`].
    TermChunks,
    /// One that was plugged in, by its name.
    Own(String),
}

impl From<String> for Chunking {
    fn from(name: String) -> Self {
        match name.as_str() {
            "verpart" => Self::Verpart,
            "term-chunks" => Self::TermChunks,
            _ => Self::Own(name),
        }
    }
}

impl From<Chunking> for String {
    fn from(chunking: Chunking) -> Self {
        match chunking {
            Chunking::Verpart => "verpart".into(),
            Chunking::TermChunks => "term-chunks".into(),
            Chunking::Own(name) => name,
        }
    }
}

/// All records in one cluster, whatever the largest cluster may be: what the
/// vertical partitioning alone does to the data.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whole;

impl HorizontalPartitioning for Whole {
    fn name(&self) -> &str {
        "whole"
    }

    fn partition(
        &self,
        data: &Dataset,
        _may_split: &[bool],
        _sizes: Sizes,
        progress: &dyn Progress,
    ) -> Result<Clusters> {
        progress.stage(Stage::Clustering, Some(data.len() as u64));
        let mut clusters = Clusters::default();
        clusters.push(0..data.len() as u32);
        progress.step(data.len() as u64)?;
        Ok(clusters)
    }
}

/// All terms in the term chunk: which terms a cluster has is published, and no
/// combination of them, but for those that clusters share.
#[derive(Clone, Copy, Debug, Default)]
pub struct TermChunks;

impl VerticalPartitioning for TermChunks {
    type Scratch = ();

    fn name(&self) -> &str {
        "term-chunks"
    }

    fn partition(
        &self,
        _scratch: &mut (),
        records: &[&[ItemId]],
        _hidden: &dyn Fn(ItemId) -> bool,
        progress: &dyn Progress,
    ) -> Result<ChunkedCluster> {
        let mut terms: Vec<ItemId> = records.concat();
        progress.step(0)?;
        terms.sort_unstable();
        progress.step(0)?;
        let (mut term_chunk, mut supports) = (Vec::new(), Vec::new());
        for run in terms.chunk_by(|a, b| a == b) {
            term_chunk.push(run[0]);
            supports.push(run.len() as u32);
        }
        let size = records.len() as u32;
        let cluster = SimpleCluster { size, record_chunks: Vec::new(), term_chunk };
        Ok(ChunkedCluster { cluster, supports })
    }
}
