//! DLS as a [`Method`](crate::methods::Method).

use super::{Dls, Ranked, anonymize, body};
use crate::data::{Dataset, ItemId, Keep, Vocabulary, Wanted};
use crate::methods::disassociation::{
    self, ChunkedCluster, Chunking, Clustering, Clusters, Parameters, VerticalPartitioning,
    chunk_clusters, cluster_records,
};
use crate::methods::recipe::{Knob, Outcome, PublishCluster, Recipe};
use crate::release::{Body, Guarantee, Supports};
use crate::{Progress, Result};

/// The method by its name.
pub(in crate::methods) struct Method;

impl Recipe for Method {
    type Parameters = Parameters;
    const NAME: &'static str = "dls";
    const IN_WORDS: &'static str = "As in disassociation, records were clustered and cut into \
        chunks; in addition single instances of items were suppressed where this keeps more items \
        together. Supports in the release are therefore lower bounds.";
    const KNOBS: &'static [Knob] = disassociation::KNOBS;

    fn guarantee(parameters: &Parameters) -> Guarantee {
        parameters.guarantee(Supports::LowerBound)
    }

    fn run(parameters: &Parameters, data: &Dataset, progress: &dyn Progress) -> Result<Outcome> {
        parameters.check_keep(data)?;
        Ok(anonymize(data, parameters, progress)?.into())
    }

    fn sensitive(parameters: &Parameters) -> &[String] {
        <disassociation::Method as Recipe>::sensitive(parameters)
    }

    fn keep(parameters: &mut Parameters) -> Option<&mut Keep> {
        Some(&mut parameters.keep)
    }

    fn replay_cluster(parameters: &Parameters, vocabulary: &Vocabulary) -> Option<PublishCluster> {
        let dls = Dls { k: parameters.k, m: parameters.m };
        let wanted = Wanted::new(&parameters.keep, vocabulary);
        let hidden: Vec<ItemId> =
            Self::sensitive(parameters).iter().filter_map(|term| vocabulary.id(term)).collect();
        Some(Box::new(move |records: &[&[ItemId]]| {
            let hidden = |item| hidden.contains(&item);
            let ranked = Ranked { dls, wanted: &wanted };
            let chunked = ranked.partition(&mut Default::default(), records, &hidden, &());
            chunked.expect("a published cluster is small, and nobody says stop").cluster
        }))
    }

    fn horizontal(
        parameters: &Parameters,
        data: &Dataset,
        progress: &dyn Progress,
    ) -> Result<Option<Clusters>> {
        let own = matches!(parameters.clustering, Clustering::Own(_))
            || parameters.chunking != Chunking::Verpart;
        (!own).then(|| cluster_records(data, parameters, progress)).transpose()
    }

    fn chunked(
        parameters: &Parameters,
        data: &Dataset,
        clusters: &Clusters,
        progress: &dyn Progress,
    ) -> Result<Vec<ChunkedCluster>> {
        let dls = Dls { k: parameters.k, m: parameters.m };
        let wanted = Wanted::new(&parameters.keep, data.vocabulary());
        chunk_clusters(data, parameters, clusters, &Ranked { dls, wanted: &wanted }, progress)
    }

    fn publish_clusters(
        parameters: &Parameters,
        data: &Dataset,
        clusters: &Clusters,
        progress: &dyn Progress,
    ) -> Result<Body> {
        parameters.check_keep(data)?;
        Ok(Body::Disassociated(body(data, parameters, Some(clusters), progress)?))
    }
}
