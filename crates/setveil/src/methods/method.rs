//! One value for "this method with these parameters": it names itself, runs
//! itself, and round-trips through a manifest.
//!
//! Everything that differs from method to method stands in the method's own
//! folder (`Recipe`); here is one line a method. Whoever has to decide
//! something by the method asks the value, and never compares names.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::disassociation::{ChunkedCluster, Clusters};
use super::members;
use super::recipe::{ClusterAlgorithm, Knob, Needs, Outcome, PublishCluster, Recipe};
use super::{
    apriori, cahd, diffpart, disassociation, dls, local_suppression, partition, perm_mondrian,
    suppress_rare,
};
use crate::data::{Dataset, Hierarchy, Keep, Vocabulary};
use crate::release::{Body, Guarantee, Manifest, Release};
use crate::{Error, Progress, Result};

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident($folder:ident)),+ $(,)?) => {
        /// A method with its parameters.
        ///
        /// As JSON, `{"method": NAME, "parameters": {...}}`: what stands in a
        /// manifest. Hierarchies are no part of that and are given with
        /// [`with_hierarchy`](Self::with_hierarchy).
        ///
        /// ```
        /// use setveil::{Dataset, Method};
        ///
        /// let json = r#"{"method": "disassociation", "parameters": {"k": 2, "m": 2}}"#;
        /// let method: Method = serde_json::from_str(json)?;
        /// let data = Dataset::from_records([["flu", "tea"], ["flu", "tea"], ["ham", "tea"]]);
        /// let release = method.run(&data, &())?.release;
        /// assert_eq!(Method::of(&release.manifest)?.name(), "disassociation");
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "method", content = "parameters", rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum Method {
            $($(#[$doc])* $name($folder::Parameters),)+
        }

        impl Method {
            /// The names of all methods.
            pub const NAMES: &[&str] = &[$(<$folder::Method as Recipe>::NAME,)+];

            /// The name in manifests and on the command line.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$name(_) => <$folder::Method as Recipe>::NAME,)+ }
            }

            /// What the method does, in words that a data protection officer can quote.
            pub const fn in_words(&self) -> &'static str {
                match self { $(Self::$name(_) => <$folder::Method as Recipe>::IN_WORDS,)+ }
            }

            /// What is promised with these parameters.
            pub fn guarantee(&self) -> Guarantee {
                match self { $(Self::$name(p) => <$folder::Method as Recipe>::guarantee(p),)+ }
            }

            /// Makes a release of `data`.
            ///
            /// # Errors
            /// If the data cannot satisfy the parameters, a hierarchy is
            /// needed and was not given, or `progress` says stop.
            pub fn run(&self, data: &Dataset, progress: &dyn Progress) -> Result<Outcome> {
                match self {
                    $(Self::$name(p) => <$folder::Method as Recipe>::run(p, data, progress),)+
                }
            }

            /// The labels of the sensitive items; none where the method has no such list.
            pub fn sensitive(&self) -> &[String] {
                match self { $(Self::$name(p) => <$folder::Method as Recipe>::sensitive(p),)+ }
            }

            /// Whether the names of leaves stay out of the published hierarchy.
            pub fn hides_leaves(&self) -> bool {
                match self { $(Self::$name(p) => <$folder::Method as Recipe>::hides_leaves(p),)+ }
            }

            /// What the method does with the records of one cluster; none where
            /// there are no clusters of chunks, or the input need not be a
            /// possible data set of the release (DLS).
            pub fn cluster_algorithm(&self, vocabulary: &Vocabulary) -> Option<ClusterAlgorithm> {
                match self {
                    $(Self::$name(p) => {
                        <$folder::Method as Recipe>::cluster_algorithm(p, vocabulary)
                    })+
                }
            }

            /// What the method does with the records of one cluster, suppressed
            /// instances included; none where there are no clusters of chunks.
            pub(crate) fn replay_cluster(&self, vocabulary: &Vocabulary) -> Option<PublishCluster> {
                match self {
                    $(Self::$name(p) => <$folder::Method as Recipe>::replay_cluster(p, vocabulary),)+
                }
            }

            /// Which records come together in clusters; none for methods without
            /// clusters of chunks.
            pub(crate) fn horizontal(
                &self,
                data: &Dataset,
                progress: &dyn Progress,
            ) -> Result<Option<Clusters>> {
                match self {
                    $(Self::$name(p) => <$folder::Method as Recipe>::horizontal(p, data, progress),)+
                }
            }

            /// The chunks of these clusters before refining.
            pub(crate) fn chunked(
                &self,
                data: &Dataset,
                clusters: &Clusters,
                progress: &dyn Progress,
            ) -> Result<Vec<ChunkedCluster>> {
                match self {
                    $(Self::$name(p) => {
                        <$folder::Method as Recipe>::chunked(p, data, clusters, progress)
                    })+
                }
            }

            /// What is published of `data` with these clusters.
            pub(crate) fn publish_clusters(
                &self,
                data: &Dataset,
                clusters: &Clusters,
                progress: &dyn Progress,
            ) -> Result<Body> {
                match self {
                    $(Self::$name(p) => {
                        <$folder::Method as Recipe>::publish_clusters(p, data, clusters, progress)
                    })+
                }
            }

            /// What every record of `original` keeps, and in which leaf; none for
            /// methods that do not suppress record by record. Only for those
            /// who have the original: no release tells.
            ///
            /// # Errors
            /// If the parameters cannot be used with `original`.
            pub fn kept(
                &self,
                original: &Dataset,
                progress: &dyn Progress,
            ) -> Result<Option<local_suppression::Slots>> {
                match self {
                    $(Self::$name(p) => <$folder::Method as Recipe>::kept(p, original, progress),)+
                }
            }

            fn keep_mut(&mut self) -> Option<&mut Keep> {
                match self { $(Self::$name(p) => <$folder::Method as Recipe>::keep(p),)+ }
            }

            fn needs(&mut self) -> Needs<'_> {
                match self { $(Self::$name(p) => <$folder::Method as Recipe>::needs(p),)+ }
            }

            fn promise(&mut self, guarantee: &Guarantee) {
                match self {
                    $(Self::$name(p) => <$folder::Method as Recipe>::promise(p, guarantee),)+
                }
            }

            /// What a comparison can vary of the method with this name; none
            /// for an unknown name.
            pub fn knobs(name: &str) -> Option<&'static [Knob]> {
                $(if name == <$folder::Method as Recipe>::NAME {
                    return Some(<$folder::Method as Recipe>::KNOBS);
                })+
                None
            }
        }
    };
}

methods! {
    /// disassociation-2012.
    Disassociation(disassociation),
    /// dls-2022.
    Dls(dls),
    /// `docs/local-suppression.md`.
    LocalSuppression(local_suppression),
    /// partition-2009.
    Partition(partition),
    /// The k^m-anonymity baseline of partition-2009.
    Apriori(apriori),
    /// Rare items are dropped.
    SuppressRare(suppress_rare),
    /// cahd-2008.
    Cahd(cahd),
    /// The baseline of cahd-2008.
    PermMondrian(perm_mondrian),
    /// diffpart-2011.
    Diffpart(diffpart),
}

impl Method {
    /// The method with this name and the values of its `parameters`; what is
    /// left out has its default.
    ///
    /// # Errors
    /// If there is no such method, or a value is missing, unknown or out of
    /// its range.
    pub fn named(name: &str, parameters: Map<String, Value>) -> Result<Self> {
        if Self::knobs(name).is_none() {
            return Err(Error::Unknown {
                what: format!("there is no method {name:?}"),
                hint: format!("the methods are {}", Self::NAMES.join(", ")).into(),
            });
        }
        serde_json::from_value(json!({ "method": name, "parameters": parameters })).map_err(|e| {
            Error::Unknown {
                what: format!("the parameters of {name}: {e}"),
                hint: "docs/release-format.md lists the parameters of every method".into(),
            }
        })
    }

    /// The method that a manifest names, with the manifest's parameters and
    /// without a hierarchy.
    ///
    /// # Errors
    /// As [`named`](Self::named), and if the manifest does not promise what
    /// the method promises with these parameters.
    pub fn of(manifest: &Manifest) -> Result<Self> {
        let parameters = manifest.parameters.clone().into_iter().collect();
        let mut method = Self::named(&manifest.method, parameters)?;
        method.promise(&manifest.guarantee);
        if method.guarantee() == manifest.guarantee {
            return Ok(method);
        }
        Err(Error::Unknown {
            what: format!("the manifest's guarantee is not that of {}", manifest.method),
            hint: "the manifest was changed after the release was made; verify tells what is wrong"
                .into(),
        })
    }

    /// The numbers of the records behind each simple cluster of `release`, in
    /// the order in which they are published. None for methods without clusters
    /// of chunks, and where `release` is not what this method makes of
    /// `original`. Only for those who have the original: no release tells.
    ///
    /// # Errors
    /// If the parameters cannot be used with `original`.
    pub fn members(
        &self,
        release: &Release,
        original: &Dataset,
        progress: &dyn Progress,
    ) -> Result<Option<Vec<Vec<u32>>>> {
        members::members(self, release, original, progress)
    }

    /// Whether sensitive items have to be listed before it can run.
    pub fn needs_sensitive(&self) -> bool {
        self.clone().needs().sensitive.is_some()
    }

    /// The sets of items that shall stay together.
    pub fn keep(&self) -> Keep {
        self.clone().keep_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The same method, which prefers to keep these sets of items together. No
    /// manifest says so.
    ///
    /// # Errors
    /// If the method cannot prefer any.
    pub fn with_keep(mut self, keep: Keep) -> Result<Self> {
        let name = self.name();
        match self.keep_mut() {
            Some(place) => *place = keep,
            None if keep.is_empty() => {}
            None => {
                return Err(Error::Parameter {
                    name: "keep",
                    found: format!("sets of items for {name}"),
                    expected: "local-suppression, disassociation or dls",
                });
            }
        }
        Ok(self)
    }

    /// Whether a hierarchy has to be given before it can run.
    pub fn needs_hierarchy(&self) -> bool {
        self.clone().needs().hierarchy.is_some()
    }

    /// The same method with this hierarchy; unchanged where it uses none.
    pub fn with_hierarchy(mut self, hierarchy: impl Into<Arc<Hierarchy>>) -> Self {
        if let Some(place) = self.needs().hierarchy {
            *place = Some(hierarchy.into());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(name: &str) -> Method {
        let values = [
            ("k", json!(3)),
            ("m", json!(2)),
            ("p", json!(4)),
            ("epsilon", json!(0.5)),
            ("sensitive", json!(["x"])),
        ];
        // What a method does not know is refused, so it gets its own keys only.
        let mut own: Vec<&str> = Method::knobs(name).unwrap().iter().map(|k| k.name()).collect();
        if own.contains(&"p") {
            own.push("sensitive");
        }
        let values = values.into_iter().filter(|(key, _)| own.contains(key));
        Method::named(name, values.map(|(k, v)| (k.to_owned(), v)).collect()).unwrap()
    }

    #[test]
    fn every_method_has_one_name_in_json_and_in_manifests() {
        for &name in Method::NAMES {
            let method = example(name);
            assert_eq!(method.name(), name);
            let json = serde_json::to_value(&method).unwrap();
            assert_eq!(json["method"], name);
            let again: Method = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(serde_json::to_value(again).unwrap(), json);
        }
    }

    #[test]
    fn what_is_not_known_or_not_promised_is_refused() {
        assert!(Method::named("magic", Map::new()).is_err());
        for &name in Method::NAMES {
            let Value::Object(mut values) = json!({ "surprise": 1, "k": 3, "m": 2 }) else {
                unreachable!("an object")
            };
            assert!(Method::named(name, values.clone()).is_err(), "{name}");
            values.remove("surprise");
            values.insert("k".into(), json!(0));
            assert!(Method::named(name, values).is_err(), "{name}");
        }
    }
}
