//! What every method brings along, each in its own folder: its name, its
//! parameters, what it promises, and how it is run. [`Method`](super::Method)
//! is made from these.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::disassociation::safe::Summary;
use super::disassociation::{ChunkedCluster, Clusters};
use super::local_suppression::Slots as Kept;
use crate::data::{Dataset, Hierarchy, ItemId, Keep, Vocabulary};
use crate::release::{Body, Guarantee, Manifest, Release, SimpleCluster};
use crate::{Error, Progress, Result};

/// A release, and what only its maker can say about it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// What is published.
    pub release: Release,
    /// What was lost for it. Not published.
    pub details: Details,
}

impl Outcome {
    pub(super) fn new(release: Release, details: Details) -> Self {
        Self { release, details }
    }
}

impl From<Release> for Outcome {
    fn from(release: Release) -> Self {
        Self { release, details: Details::Nothing {} }
    }
}

/// What was lost, as far as the method counts it. Serialises to one flat object.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Details {
    /// Nothing to say.
    Nothing {},
    /// Items were replaced by more general ones.
    Generalized {
        /// The normalized certainty penalty over the original item instances
        /// (partition-2009, section 3.2).
        ncp: f64,
    },
    /// Records without anything to be known by were left out.
    SensitiveOnly {
        /// Records with sensitive items only; they are not published.
        dropped_sensitive_only: u64,
    },
    /// Safe disassociation: what happened, and what it promises.
    Safe(Summary),
    /// Items were left out.
    Dropped {
        /// Items that were dropped.
        items_dropped: u64,
        /// Their occurrences.
        occurrences_dropped: u64,
        /// Records that became empty; they are not published.
        records_dropped: u64,
    },
}

impl Details {
    /// Of a release of `records` records in which nothing was left out but
    /// records with sensitive items only.
    pub(super) fn sensitive_only(records: usize, release: &Release) -> Self {
        let dropped_sensitive_only = (records as u64).saturating_sub(release.manifest.records);
        Self::SensitiveOnly { dropped_sensitive_only }
    }
}

/// A parameter that methods have in common, so that a comparison can vary it.
/// Its name is its key in the manifest's `parameters`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Knob {
    /// How many candidates must remain.
    K,
    /// How many items an attacker may know.
    M,
    /// The largest cluster.
    MaxClusterSize,
    /// The privacy degree of the methods that separate sensitive items.
    P,
    /// The budget of differential privacy.
    Epsilon,
}

impl Knob {
    /// The key in the manifest.
    pub const fn name(self) -> &'static str {
        match self {
            Self::K => "k",
            Self::M => "m",
            Self::MaxClusterSize => "max_cluster_size",
            Self::P => "p",
            Self::Epsilon => "epsilon",
        }
    }
}

/// Records in, published cluster out.
pub type PublishCluster = Box<dyn Fn(&[&[ItemId]]) -> SimpleCluster + Send + Sync>;

/// What a method does with the records of one cluster, for whoever plays an
/// attacker who knows the program.
#[non_exhaustive]
pub struct ClusterAlgorithm {
    /// With the release's own parameters. It publishes what it is given:
    /// nothing is suppressed.
    pub publish: PublishCluster,
    /// Whether a term is kept out of a chunk for one reason only: with it, the
    /// chunk would not be k^m-anonymous. Covers speak of these refusals.
    pub refusals: bool,
}

impl std::fmt::Debug for ClusterAlgorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClusterAlgorithm").field("refusals", &self.refusals).finish_non_exhaustive()
    }
}

/// The labels of sensitive items, and the hierarchy, where parameters have
/// room for them.
#[derive(Debug, Default)]
pub(super) struct Needs<'a> {
    pub(super) sensitive: Option<&'a mut Vec<String>>,
    pub(super) hierarchy: Option<&'a mut Option<Arc<Hierarchy>>>,
}

/// A method, as [`Method`](super::Method) sees it.
pub(super) trait Recipe {
    /// What it can be told. Serialises to the manifest's `parameters`.
    type Parameters: Serialize;

    /// Its name in manifests and on the command line.
    const NAME: &'static str;

    /// What it does to the data, in words that a data protection officer can quote.
    const IN_WORDS: &'static str;

    /// What a comparison can vary.
    const KNOBS: &'static [Knob];

    /// What is promised with these parameters.
    fn guarantee(parameters: &Self::Parameters) -> Guarantee;

    /// Makes a release.
    fn run(
        parameters: &Self::Parameters,
        data: &Dataset,
        progress: &dyn Progress,
    ) -> Result<Outcome>;

    /// The labels of the sensitive items.
    fn sensitive(_parameters: &Self::Parameters) -> &[String] {
        &[]
    }

    /// Where sets of items that shall stay together are put; none where the
    /// method cannot prefer any.
    fn keep(_parameters: &mut Self::Parameters) -> Option<&mut Keep> {
        None
    }

    /// Whether the names of leaves stay out of the published hierarchy.
    fn hides_leaves(_parameters: &Self::Parameters) -> bool {
        false
    }

    /// What has to be given beside numbers before the method can run.
    fn needs(_parameters: &mut Self::Parameters) -> Needs<'_> {
        Needs::default()
    }

    /// What happens inside of one cluster; none for methods without clusters
    /// of chunks, and where the input need not be a possible data set of the
    /// release. Labels are looked up in the release's `vocabulary`.
    fn cluster_algorithm(
        _parameters: &Self::Parameters,
        _vocabulary: &Vocabulary,
    ) -> Option<ClusterAlgorithm> {
        None
    }

    /// The same for inputs of any kind: some instances may be suppressed.
    fn replay_cluster(
        parameters: &Self::Parameters,
        vocabulary: &Vocabulary,
    ) -> Option<PublishCluster> {
        Self::cluster_algorithm(parameters, vocabulary).map(|algorithm| algorithm.publish)
    }

    /// Which records come together in clusters, once more; none for methods
    /// without clusters of chunks.
    fn horizontal(
        _parameters: &Self::Parameters,
        _data: &Dataset,
        _progress: &dyn Progress,
    ) -> Result<Option<Clusters>> {
        Ok(None)
    }

    /// The chunks of these clusters before refining. What is made of a cluster
    /// depends on its own records alone, and not on their order.
    fn chunked(
        _parameters: &Self::Parameters,
        _data: &Dataset,
        _clusters: &Clusters,
        _progress: &dyn Progress,
    ) -> Result<Vec<ChunkedCluster>> {
        Ok(Vec::new())
    }

    /// What is published of `data`, whose clusters were made before.
    fn publish_clusters(
        parameters: &Self::Parameters,
        data: &Dataset,
        _clusters: &Clusters,
        progress: &dyn Progress,
    ) -> Result<Body> {
        Ok(Self::run(parameters, data, progress)?.release.body)
    }

    /// What every record of `data` keeps and in which leaf, once more; none for
    /// methods that do not suppress record by record.
    fn kept(
        _parameters: &Self::Parameters,
        _data: &Dataset,
        _progress: &dyn Progress,
    ) -> Result<Option<Kept>> {
        Ok(None)
    }

    /// Takes over what stands in the guarantee and not among the parameters.
    fn promise(_parameters: &mut Self::Parameters, _guarantee: &Guarantee) {}

    /// The manifest of a release of this method.
    fn manifest(parameters: &Self::Parameters, records: u64, items: u64) -> Manifest {
        let values = match serde_json::to_value(parameters) {
            Ok(Value::Object(values)) => values,
            _ => unreachable!("parameters are plain structures of numbers and texts"),
        };
        let guarantee = Self::guarantee(parameters);
        let mut manifest = Manifest::new(Self::NAME, [], guarantee, records, items);
        manifest.parameters = values.into_iter().collect();
        manifest
    }
}

/// The hierarchy of parameters that need one.
pub(super) fn given(hierarchy: &Option<Arc<Hierarchy>>) -> Result<&Hierarchy> {
    hierarchy.as_deref().ok_or_else(|| Error::Parameter {
        name: "hierarchy",
        found: "none".into(),
        expected: "the generalization hierarchy of the items",
    })
}
