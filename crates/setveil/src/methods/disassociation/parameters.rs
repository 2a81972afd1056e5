//! What disassociation can be told. The parameters read and write themselves
//! as the `parameters` of a manifest.

use serde::{Deserialize, Serialize};

use super::partitioning::{Chunking, Clustering};
use super::safe::{Eta, JoinWidth, Safe};
use crate::data::{Dataset, K, Keep, L, M};
use crate::{Error, Result};

/// The largest cluster unless another is asked for, raised to 2k where k is
/// large. See `docs/disassociation.md` for the measurement behind it.
pub const DEFAULT_MAX_CLUSTER_SIZE: usize = 50;

fn default_max_cluster_size(k: K) -> usize {
    DEFAULT_MAX_CLUSTER_SIZE.max(2 * k.get() as usize)
}

/// How many records a cluster may hold: at least k, at most max >= 2k.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    k: K,
    max: usize,
}

impl Sizes {
    /// Checks that max >= 2k: with less, a part that is too large could not
    /// be cut into pieces that are large enough.
    pub fn new(k: K, max: usize) -> Result<Self> {
        if max < 2 * k.get() as usize {
            return Err(Error::Parameter {
                name: "max-cluster-size",
                found: max.to_string(),
                expected: "at least 2k",
            });
        }
        Ok(Self { k, max })
    }

    /// The fewest records of a cluster.
    pub fn k(self) -> usize {
        self.k.get() as usize
    }

    /// The most records of a cluster.
    pub fn max(self) -> usize {
        self.max
    }
}

/// Terms that are sensitive in themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensitive {
    /// Their labels.
    pub terms: Vec<String>,
    /// In every cluster, a sensitive term occurs in at most 1/l of the records.
    pub l: L,
}

/// The parameters of disassociation.
///
/// ```
/// use setveil::data::{K, M};
/// use setveil::methods::disassociation::{Clustering, Parameters};
///
/// let parameters = Parameters::new(K::new(5)?, M::new(2)?)
///     .with_max_cluster_size(80)
///     .with_clustering(Clustering::Whole);
/// let json = serde_json::to_value(&parameters).unwrap();
/// assert_eq!(json["clustering"], "whole");
/// assert_eq!(serde_json::from_value::<Parameters>(json).unwrap(), parameters);
/// # Ok::<(), setveil::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
#[non_exhaustive]
pub struct Parameters {
    /// How many candidates must remain.
    pub k: K,
    /// How many terms an attacker may know.
    pub m: M,
    /// The largest cluster.
    pub max_cluster_size: usize,
    /// Sensitive terms, if there are any.
    pub sensitive: Option<Sensitive>,
    /// Whether clusters may share chunks (REFINE).
    pub refine: bool,
    /// The horizontal partitioning.
    pub clustering: Clustering,
    /// The vertical partitioning.
    pub chunking: Chunking,
    /// Whether and how attackers who know the program are kept from undoing it.
    pub safe: Option<Safe>,
    /// Sets of terms that shall stay together. No manifest has them.
    pub keep: Keep,
}

impl Parameters {
    /// The defaults for `k` and `m`.
    pub fn new(k: K, m: M) -> Self {
        Self {
            k,
            m,
            max_cluster_size: default_max_cluster_size(k),
            sensitive: None,
            refine: true,
            clustering: Clustering::default(),
            chunking: Chunking::default(),
            safe: None,
            keep: Keep::default(),
        }
    }

    /// Clusters of at most so many records; at least 2k.
    #[must_use]
    pub fn with_max_cluster_size(self, max_cluster_size: usize) -> Self {
        Self { max_cluster_size, ..self }
    }

    /// Hides these terms in term chunks, each in at most 1/l of the records of
    /// a cluster.
    #[must_use]
    pub fn with_sensitive<S: Into<String>>(self, terms: impl IntoIterator<Item = S>, l: L) -> Self {
        let terms = terms.into_iter().map(Into::into).collect();
        Self { sensitive: Some(Sensitive { terms, l }), ..self }
    }

    /// Whether clusters may share chunks.
    #[must_use]
    pub fn with_refine(self, refine: bool) -> Self {
        Self { refine, ..self }
    }

    /// Another horizontal partitioning.
    #[must_use]
    pub fn with_clustering(self, clustering: Clustering) -> Self {
        Self { clustering, ..self }
    }

    /// Another vertical partitioning.
    #[must_use]
    pub fn with_chunking(self, chunking: Chunking) -> Self {
        Self { chunking, ..self }
    }

    /// Safe disassociation, with these options.
    #[must_use]
    pub fn with_safe(self, safe: Safe) -> Self {
        Self { safe: Some(safe), ..self }
    }

    /// Prefers to keep these sets of terms together.
    #[must_use]
    pub fn with_keep(self, keep: Keep) -> Self {
        Self { keep, ..self }
    }

    /// Fails if terms that shall stay together do not occur, or cannot be preferred.
    pub(in crate::methods) fn check_keep(&self, data: &Dataset) -> Result<()> {
        if !self.keep.is_empty() && self.safe.is_some() {
            return Err(Error::Parameter {
                name: "keep",
                found: "sets of terms together with `safe`".into(),
                expected: "one of them: safe clusters depend on counts alone",
            });
        }
        self.keep.check(data.vocabulary())
    }

    /// The sizes that clusters may have.
    pub fn sizes(&self) -> Result<Sizes> {
        Sizes::new(self.k, self.max_cluster_size)
    }

    /// For every item of `data` whether it is sensitive, and the labels that
    /// `data` does not have.
    pub(super) fn sensitive_items(&self, data: &Dataset) -> (Vec<bool>, Vec<&str>) {
        let (mut marks, mut missing) = (vec![false; data.item_count()], Vec::new());
        for label in self.sensitive.iter().flat_map(|s| &s.terms) {
            match data.vocabulary().id(label) {
                Some(item) => marks[item as usize] = true,
                None => missing.push(label.as_str()),
            }
        }
        (marks, missing)
    }
}

/// The parameters as a manifest has them.
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
    #[serde(default, skip_serializing_if = "is_default")]
    clustering: Clustering,
    #[serde(default, skip_serializing_if = "is_default")]
    chunking: Chunking,
    #[serde(default, skip_serializing_if = "is_default")]
    safe: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    eta: Option<Eta>,
    #[serde(default, skip_serializing_if = "is_default")]
    join_width: JoinWidth,
    #[serde(default, skip_serializing_if = "is_default")]
    drop_below_k: bool,
}

impl Written {
    /// The options of safe disassociation, which belong together.
    fn options(&self) -> Result<Option<Safe>> {
        let Self { safe, eta, join_width, drop_below_k, .. } = *self;
        if safe {
            return Ok(Some(Safe { eta: eta.unwrap_or_default(), join_width, drop_below_k }));
        }
        if eta.is_none() && join_width.is_all() && !drop_below_k {
            return Ok(None);
        }
        Err(Error::Parameter {
            name: "safe",
            found: "false, with options of it".into(),
            expected: "`true` where eta, join_width or drop_below_k is given",
        })
    }
}

fn refined() -> bool {
    true
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl From<Parameters> for Written {
    fn from(parameters: Parameters) -> Self {
        // What shall stay together is nobody's business.
        let Parameters { k, m, max_cluster_size, sensitive, refine, clustering, .. } = parameters;
        let Parameters { chunking, safe, .. } = parameters;
        let l = sensitive.as_ref().map(|s| s.l);
        let sensitive = sensitive.map(|Sensitive { mut terms, .. }| {
            terms.sort_unstable();
            terms.dedup();
            terms
        });
        let max_cluster_size = Some(max_cluster_size);
        let options = safe.unwrap_or_default();
        Self {
            k,
            m,
            max_cluster_size,
            refine,
            sensitive,
            l,
            clustering,
            chunking,
            safe: safe.is_some(),
            eta: safe.map(|safe| safe.eta),
            join_width: options.join_width,
            drop_below_k: options.drop_below_k,
        }
    }
}

impl TryFrom<Written> for Parameters {
    type Error = Error;

    fn try_from(written: Written) -> Result<Self> {
        let safe = written.options()?;
        let Written { k, m, max_cluster_size, refine, sensitive, l, clustering, chunking, .. } =
            written;
        let max_cluster_size = max_cluster_size.unwrap_or(default_max_cluster_size(k));
        Sizes::new(k, max_cluster_size)?;
        let sensitive = match (sensitive, l) {
            (Some(terms), Some(l)) => Some(Sensitive { terms, l }),
            (None, None) => None,
            (terms, _) => {
                return Err(Error::Parameter {
                    name: "l",
                    found: if terms.is_some() { "nothing" } else { "no sensitive terms" }.into(),
                    expected: "sensitive terms and l together, or neither",
                });
            }
        };
        let keep = Keep::default();
        Ok(Self { k, m, max_cluster_size, sensitive, refine, clustering, chunking, safe, keep })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn parameters() -> Parameters {
        Parameters::new(K::new(5).unwrap(), M::new(2).unwrap())
    }

    #[test]
    fn defaults_are_written_as_they_always_were() {
        let written = serde_json::to_value(parameters()).unwrap();
        assert_eq!(written, json!({"k": 5, "m": 2, "max_cluster_size": 50, "refine": true}));
        let large = Parameters::new(K::new(40).unwrap(), M::new(1).unwrap());
        assert_eq!(large.max_cluster_size, 80);
        let sensitive = parameters().with_sensitive(["b", "a", "b"], L::new(3).unwrap());
        let written = serde_json::to_value(sensitive).unwrap();
        assert_eq!((&written["sensitive"], &written["l"]), (&json!(["a", "b"]), &json!(3)));
    }

    #[test]
    fn what_is_written_is_read() {
        for parameters in [
            parameters(),
            parameters().with_refine(false).with_max_cluster_size(10),
            parameters().with_sensitive(["a", "b"], L::new(3).unwrap()),
            parameters().with_clustering(Clustering::Whole).with_chunking(Chunking::TermChunks),
            parameters().with_clustering(Clustering::Own("by-length".into())),
            parameters().with_safe(Safe::default()),
            parameters().with_safe(Safe {
                eta: "0.2".parse().unwrap(),
                join_width: "50".parse().unwrap(),
                drop_below_k: true,
            }),
        ] {
            let written = serde_json::to_value(&parameters).unwrap();
            assert_eq!(serde_json::from_value::<Parameters>(written).unwrap(), parameters);
        }
    }

    #[test]
    fn what_is_wrong_is_not_read() {
        let right = json!({"k": 5, "m": 2, "max_cluster_size": 50, "refine": true});
        assert!(serde_json::from_value::<Parameters>(right.clone()).is_ok());
        for (key, value) in [
            ("k", json!(0)),
            ("k", json!(26)),
            ("m", json!(17)),
            ("l", json!(2)),
            ("sensitive", json!(["a"])),
            ("clustering", json!(7)),
            ("eta", json!(0.05)),
            ("join_width", json!(5)),
            ("safe", json!(1)),
            ("unheard_of", Value::Null),
        ] {
            let mut wrong = right.clone();
            wrong[key] = value;
            assert!(serde_json::from_value::<Parameters>(wrong).is_err(), "{key}");
        }
    }
}
