//! What local suppression can be told.

use serde::{Deserialize, Serialize};

use crate::data::{Dataset, K, Keep, M};
use crate::methods::disassociation::Sizes;
use crate::{Error, Result};

/// The largest leaf unless another is asked for, raised to 2k where k is
/// large. See `docs/local-suppression.md` for the measurement behind it.
pub const DEFAULT_MAX_CLUSTER_SIZE: usize = 100;

/// How large leaves may become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "LeafSizeText", into = "LeafSizeText")]
pub enum LeafSize {
    /// [`DEFAULT_MAX_CLUSTER_SIZE`], or 2k.
    #[default]
    Default,
    /// At most so many records.
    Max(usize),
    /// One leaf with all records.
    All,
}

/// As it stands in a manifest: a number or `"all"`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum LeafSizeText {
    Max(usize),
    Word(Word),
    None(()),
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    All,
}

impl From<LeafSizeText> for LeafSize {
    fn from(text: LeafSizeText) -> Self {
        match text {
            LeafSizeText::Max(max) => Self::Max(max),
            LeafSizeText::Word(Word::All) => Self::All,
            LeafSizeText::None(()) => Self::Default,
        }
    }
}

impl From<LeafSize> for LeafSizeText {
    fn from(size: LeafSize) -> Self {
        match size {
            LeafSize::Max(max) => Self::Max(max),
            LeafSize::All => Self::Word(Word::All),
            LeafSize::Default => Self::None(()),
        }
    }
}

impl LeafSize {
    fn is_default(&self) -> bool {
        *self == Self::Default
    }
}

impl std::str::FromStr for LeafSize {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "all" => Ok(Self::All),
            _ => text.parse().map(Self::Max).map_err(|_| Error::Parameter {
                name: "max-cluster-size",
                found: text.to_owned(),
                expected: "a whole number of at least 2k, or `all`",
            }),
        }
    }
}

/// The parameters of local suppression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Parameters {
    /// How many candidates must remain.
    pub k: K,
    /// How many items an attacker may know.
    pub m: M,
    /// The largest leaf.
    #[serde(default, skip_serializing_if = "LeafSize::is_default")]
    pub max_cluster_size: LeafSize,
    /// Say nothing about instances that are not kept but the names of items
    /// that are kept nowhere.
    #[serde(default)]
    pub no_item_counts: bool,
    /// Publish the kept sub-records alone, as classes.
    #[serde(default)]
    pub only_combinations: bool,
    /// Items that are never part of a kept sub-record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sensitive: Vec<String>,
    /// Sets of items that shall stay together. No manifest has them.
    #[serde(skip)]
    pub keep: Keep,
}

impl Parameters {
    /// The defaults for `k` and `m`.
    pub fn new(k: K, m: M) -> Self {
        Self {
            k,
            m,
            max_cluster_size: LeafSize::Default,
            no_item_counts: false,
            only_combinations: false,
            sensitive: Vec::new(),
            keep: Keep::default(),
        }
    }

    /// The sizes that leaves may have; none for one leaf with all records.
    pub fn sizes(&self) -> Result<Option<Sizes>> {
        let max = match self.max_cluster_size {
            _ if self.only_combinations => return Ok(None),
            LeafSize::All => return Ok(None),
            LeafSize::Max(max) => max,
            LeafSize::Default => DEFAULT_MAX_CLUSTER_SIZE.max(2 * self.k.get() as usize),
        };
        Sizes::new(self.k, max).map(Some)
    }

    /// As they stand in a manifest: every default filled in.
    pub(super) fn settled(&self) -> Result<Self> {
        let max_cluster_size = match self.sizes()? {
            Some(sizes) => LeafSize::Max(sizes.max()),
            None => LeafSize::All,
        };
        // Where nothing is published of them, not even that they occur.
        let mut sensitive =
            if self.only_combinations { Vec::new() } else { self.sensitive.clone() };
        sensitive.sort_unstable();
        sensitive.dedup();
        let no_item_counts = self.no_item_counts && !self.only_combinations;
        Ok(Self { max_cluster_size, no_item_counts, sensitive, ..self.clone() })
    }

    /// For every item of `data` whether it is sensitive; an unknown label is an error.
    pub(super) fn sensitive_items(&self, data: &Dataset) -> Result<Vec<bool>> {
        let mut marks = vec![false; data.item_count()];
        for label in &self.sensitive {
            let item = data.vocabulary().id(label).ok_or_else(|| Error::Unknown {
                what: format!("sensitive term `{label}` does not occur in the data"),
                hint: "check the spelling, or take it out of the list".into(),
            })?;
            marks[item as usize] = true;
        }
        Ok(marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_leaves_is_a_number_or_all() {
        let mut parameters = Parameters::new(K::new(5).unwrap(), M::new(2).unwrap());
        assert_eq!(parameters.sizes().unwrap().unwrap().max(), 100);
        for (size, json) in [(LeafSize::All, "\"all\""), (LeafSize::Max(60), "60")] {
            parameters.max_cluster_size = size;
            let text = serde_json::to_string(&parameters).unwrap();
            assert!(text.contains(&format!("\"max_cluster_size\":{json}")), "{text}");
            assert_eq!(serde_json::from_str::<Parameters>(&text).unwrap(), parameters);
        }
        assert_eq!("all".parse::<LeafSize>().unwrap(), LeafSize::All);
        assert!("most".parse::<LeafSize>().is_err());
        parameters.max_cluster_size = LeafSize::Max(9);
        assert!(parameters.sizes().is_err());
    }
}
