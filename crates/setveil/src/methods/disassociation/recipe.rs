//! Disassociation as a [`Method`](crate::methods::Method).

use super::pipeline::body_of;
use super::safe::{self, Linked, Safe};
use super::scratch::ScratchPool;
use super::together::Ranked;
use super::{
    ChunkedCluster, Chunking, Clustering, Clusters, Parameters, TermChunks, Verpart,
    VerticalPartitioning, anonymize, chunk_clusters, cluster_records, publish,
};
use crate::data::{Dataset, ItemId, Keep, Vocabulary, Wanted};
use crate::methods::recipe::{ClusterAlgorithm, Details, Knob, Outcome, Recipe};
use crate::release::{Body, Guarantee, Model, Supports};
use crate::{Progress, Result};

/// The method by its name.
pub(in crate::methods) struct Method;

/// What disassociation and DLS can be compared by.
pub(in crate::methods) const KNOBS: &[Knob] = &[Knob::K, Knob::M, Knob::MaxClusterSize];

impl Recipe for Method {
    type Parameters = Parameters;
    const NAME: &'static str = "disassociation";
    const IN_WORDS: &'static str = "Similar records were brought together in clusters. Inside each \
        cluster the records were cut into parts over separate sets of items (chunks), and the \
        parts of each chunk are published as an unordered list with counts. Every item is still \
        there; which parts belonged to the same person is not. Items that are too rare in their \
        cluster are only named (term chunk), without saying how often or with what they occurred.";
    const KNOBS: &'static [Knob] = KNOBS;

    fn guarantee(parameters: &Parameters) -> Guarantee {
        parameters.guarantee(Supports::Exact)
    }

    fn run(parameters: &Parameters, data: &Dataset, progress: &dyn Progress) -> Result<Outcome> {
        parameters.check_keep(data)?;
        let Some(options) = &parameters.safe else {
            return Ok(anonymize(data, parameters, progress)?.into());
        };
        let (body, summary) = safe::anonymize(data, parameters, options, progress)?;
        Ok(Outcome::new(publish(parameters, body), Details::Safe(summary)))
    }

    fn sensitive(parameters: &Parameters) -> &[String] {
        parameters.sensitive.as_ref().map_or(&[], |s| &s.terms)
    }

    fn keep(parameters: &mut Parameters) -> Option<&mut Keep> {
        Some(&mut parameters.keep)
    }

    fn cluster_algorithm(
        parameters: &Parameters,
        vocabulary: &Vocabulary,
    ) -> Option<ClusterAlgorithm> {
        if let Some(Safe { eta, .. }) = parameters.safe {
            let linked = Linked { k: parameters.k, m: parameters.m, eta };
            let pool = ScratchPool::default();
            let publish = move |records: &[&[ItemId]]| {
                let chunked = pool.with(|s| linked.partition(s, records, &|_| false, &()));
                chunked.expect("nobody says stop").cluster
            };
            return Some(ClusterAlgorithm { publish: Box::new(publish), refusals: false });
        }
        if parameters.chunking != Chunking::Verpart {
            return None;
        }
        let verpart = Verpart { k: parameters.k, m: parameters.m };
        let wanted = Wanted::new(&parameters.keep, vocabulary);
        let hidden: Vec<ItemId> =
            Self::sensitive(parameters).iter().filter_map(|term| vocabulary.id(term)).collect();
        let pool = ScratchPool::default();
        let publish = move |records: &[&[ItemId]]| {
            let hidden = |item| hidden.contains(&item);
            let ranked = Ranked { verpart, wanted: &wanted };
            let chunked = pool.with(|scratch| ranked.partition(scratch, records, &hidden, &()));
            chunked.expect("a published cluster is small, and nobody says stop").cluster
        };
        Some(ClusterAlgorithm { publish: Box::new(publish), refusals: true })
    }

    fn horizontal(
        parameters: &Parameters,
        data: &Dataset,
        progress: &dyn Progress,
    ) -> Result<Option<Clusters>> {
        if let Some(options) = &parameters.safe {
            // Where something is dropped, the clusters are of other data.
            let clusters = || safe::cluster_records(data, parameters, progress);
            return (!options.drop_below_k).then(clusters).transpose();
        }
        let own = matches!(parameters.clustering, Clustering::Own(_))
            || matches!(parameters.chunking, Chunking::Own(_));
        (!own).then(|| cluster_records(data, parameters, progress)).transpose()
    }

    fn chunked(
        parameters: &Parameters,
        data: &Dataset,
        clusters: &Clusters,
        progress: &dyn Progress,
    ) -> Result<Vec<ChunkedCluster>> {
        let Parameters { k, m, .. } = *parameters;
        if let Some(Safe { eta, .. }) = parameters.safe {
            return chunk_clusters(data, parameters, clusters, &Linked { k, m, eta }, progress);
        }
        if parameters.chunking == Chunking::TermChunks {
            return chunk_clusters(data, parameters, clusters, &TermChunks, progress);
        }
        let (verpart, wanted) =
            (Verpart { k, m }, Wanted::new(&parameters.keep, data.vocabulary()));
        let ranked = Ranked { verpart, wanted: &wanted };
        chunk_clusters(data, parameters, clusters, &ranked, progress)
    }

    fn publish_clusters(
        parameters: &Parameters,
        data: &Dataset,
        clusters: &Clusters,
        progress: &dyn Progress,
    ) -> Result<Body> {
        parameters.check_keep(data)?;
        Ok(Body::Disassociated(body_of(data, parameters, Some(clusters), progress)?))
    }
}

impl Parameters {
    /// What is promised, with published supports of this kind.
    pub(in crate::methods) fn guarantee(&self, supports: Supports) -> Guarantee {
        let l = self.sensitive.as_ref().map(|s| s.l.get());
        let model = Model::FormatKmAnonymity { k: self.k.get(), m: self.m.get(), l };
        Guarantee { model, supports }
    }
}
