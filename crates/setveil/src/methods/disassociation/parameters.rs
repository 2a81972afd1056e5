//! What disassociation and DLS can be told.

use crate::data::{Dataset, ItemId, K, L, M};
use crate::{Error, Result};

/// The largest cluster unless another is asked for, raised to 2k where k is
/// large. See `docs/disassociation.md` for the measurement behind it.
pub const DEFAULT_MAX_CLUSTER_SIZE: usize = 50;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// How many candidates must remain.
    pub k: K,
    /// How many terms an attacker may know.
    pub m: M,
    /// The largest cluster; none for the default.
    pub max_cluster_size: Option<usize>,
    /// Sensitive terms, if there are any.
    pub sensitive: Option<Sensitive>,
    /// Whether clusters may share chunks (REFINE).
    pub refine: bool,
}

impl Parameters {
    /// The defaults for `k` and `m`.
    pub fn new(k: K, m: M) -> Self {
        Self { k, m, max_cluster_size: None, sensitive: None, refine: true }
    }

    /// The sizes that clusters may have.
    pub fn sizes(&self) -> Result<Sizes> {
        let default = DEFAULT_MAX_CLUSTER_SIZE.max(2 * self.k.get() as usize);
        Sizes::new(self.k, self.max_cluster_size.unwrap_or(default))
    }

    /// For every item of `data` whether it is sensitive; an unknown label is an error.
    pub(super) fn sensitive_items(&self, data: &Dataset) -> Result<Vec<bool>> {
        let mut marks = vec![false; data.item_count()];
        for label in self.sensitive.iter().flat_map(|s| &s.terms) {
            let item: ItemId = data.vocabulary().id(label).ok_or_else(|| Error::Unknown {
                what: format!("sensitive term `{label}` does not occur in the data"),
                hint: "check the spelling, or take it out of the list".into(),
            })?;
            marks[item as usize] = true;
        }
        Ok(marks)
    }
}
