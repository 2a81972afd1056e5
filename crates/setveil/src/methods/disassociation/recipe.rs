//! Disassociation as a [`Method`](crate::methods::Method), and its parameters
//! as a manifest has them.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{
    Clusters, Horpart, Parameters, Sensitive, Split, Verpart, VerticalPartitioning, anonymize,
    partition,
};
use crate::data::{Dataset, ItemId, K, L, M, Vocabulary};
use crate::methods::recipe::{ClusterAlgorithm, Knob, Outcome, Recipe};
use crate::release::{Guarantee, Model, Supports};
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
        Ok(anonymize(data, parameters, progress)?.into())
    }

    fn sensitive(parameters: &Parameters) -> &[String] {
        parameters.sensitive.as_ref().map_or(&[], |s| &s.terms)
    }

    fn cluster_algorithm(
        parameters: &Parameters,
        vocabulary: &Vocabulary,
    ) -> Option<ClusterAlgorithm> {
        let verpart = Verpart { k: parameters.k, m: parameters.m };
        let hidden: Vec<ItemId> =
            Self::sensitive(parameters).iter().filter_map(|term| vocabulary.id(term)).collect();
        let publish = move |records: &[&[ItemId]]| {
            verpart
                .partition(&mut Default::default(), records, &|item| hidden.contains(&item))
                .cluster
        };
        Some(ClusterAlgorithm { publish: Box::new(publish), refusals: true })
    }

    fn clusters(
        parameters: &Parameters,
        data: &Dataset,
        progress: &dyn Progress,
    ) -> Result<Option<(Clusters, Vec<Split>)>> {
        let verpart = Verpart { k: parameters.k, m: parameters.m };
        partition(data, parameters, &Horpart, &verpart, progress).map(Some)
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

/// The parameters as they are written down.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    k: K,
    m: M,
    #[serde(default)]
    max_cluster_size: Option<usize>,
    #[serde(default = "refined")]
    refine: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sensitive: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    l: Option<L>,
}

fn refined() -> bool {
    true
}

/// With the largest cluster that is used, and the sensitive terms by text.
impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let sensitive = self.sensitive.as_ref().map(|sensitive| {
            let mut terms = sensitive.terms.clone();
            terms.sort_unstable();
            terms.dedup();
            terms
        });
        let written = Written {
            k: self.k,
            m: self.m,
            max_cluster_size: self.sizes().ok().map(super::Sizes::max).or(self.max_cluster_size),
            refine: self.refine,
            sensitive,
            l: self.sensitive.as_ref().map(|s| s.l),
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        let sensitive = match (written.sensitive, written.l) {
            (Some(terms), Some(l)) => Some(Sensitive { terms, l }),
            (None, None) => None,
            _ => return Err(de::Error::custom("`sensitive` and `l` belong together")),
        };
        let parameters = Self {
            max_cluster_size: written.max_cluster_size,
            refine: written.refine,
            sensitive,
            ..Self::new(written.k, written.m)
        };
        parameters.sizes().map_err(de::Error::custom)?;
        Ok(parameters)
    }
}
