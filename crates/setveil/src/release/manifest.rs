//! The manifest: what was done, what is promised, and the checksums of the
//! published files.
//!
//! Never in a manifest: the input's path or checksum, identifiers of
//! records, a random seed, the time. All of these help an attacker to test a
//! guess about the original.
//!
//! A manifest that was read says what its file says, whatever that is, and
//! `verify` judges it so. Everybody else takes a manifest that was
//! [`checked`](Manifest::checked): nobody computes with k = 0.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::{Epsilon, K, L, M, P};
use crate::{Error, Result};

/// The value of `format` in every manifest.
pub const FORMAT: &str = "setveil-release";
/// The version of the release format.
pub const VERSION: u32 = 1;
/// The version of the release format with leaves of kept sub-records.
pub const VERSION_LOCATED: u32 = 2;

/// `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Always [`FORMAT`].
    pub format: String,
    /// [`VERSION`], or [`VERSION_LOCATED`] for leaves.
    pub version: u32,
    /// The method's name on the command line.
    pub method: String,
    /// The method's parameters, defaults included.
    pub parameters: BTreeMap<String, Value>,
    /// What is promised.
    pub guarantee: Guarantee,
    /// How many records are published.
    pub records: u64,
    /// How many distinct items are published.
    pub items: u64,
    /// The published files; filled in by the writer.
    pub files: Vec<FileEntry>,
    /// The program that made the release.
    pub tool: String,
}

/// What a release promises.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guarantee {
    /// The privacy model with its parameters.
    #[serde(flatten)]
    pub model: Model,
    /// What the published supports are, compared with the original's.
    pub supports: Supports,
}

/// The privacy models. Names that could be confused are kept apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case")]
pub enum Model {
    /// For every set of at most m terms that some record could contain, some
    /// data set consistent with the published format has k records with it.
    FormatKmAnonymity {
        /// How many records.
        k: u32,
        /// How many known terms.
        m: u32,
        /// If there are sensitive terms: each is in at most 1/l of the
        /// records of every cluster that has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        l: Option<u32>,
    },
    /// Every set of at most m items that occurs, occurs in k records.
    KmAnonymity {
        /// How many records.
        k: u32,
        /// How many known items.
        m: u32,
    },
    /// Every record equals at least k - 1 others.
    KAnonymity {
        /// How many records.
        k: u32,
    },
    /// Each sensitive item belongs to at most 1/p of the records of its group.
    Association {
        /// The privacy degree.
        p: u32,
    },
    /// Adding or removing one record changes the odds of any output by at most e^epsilon.
    DifferentialPrivacy {
        /// The privacy budget.
        epsilon: f64,
        /// Whether the names of the items are protected too.
        universe: Universe,
    },
}

/// Where the names of the items that could be published come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Universe {
    /// From a public list: that a name is published says nothing.
    Public,
    /// From the data: every name tells that some record has the item, and no
    /// noise protects that.
    Data,
}

/// What the supports counted in a release are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Supports {
    /// Each published count is the original's.
    Exact,
    /// Instances were suppressed: the original has at least this many.
    LowerBound,
    /// Noise was added.
    Noisy,
}

/// One published file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// The name inside the release directory.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its number of lines.
    pub lines: u64,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

impl Manifest {
    /// A manifest for a body that is not written yet.
    pub fn new(
        method: &str,
        parameters: impl IntoIterator<Item = (&'static str, Value)>,
        guarantee: Guarantee,
        records: u64,
        items: u64,
    ) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            method: method.to_owned(),
            parameters: parameters.into_iter().map(|(k, v)| (k.to_owned(), v)).collect(),
            guarantee,
            records,
            items,
            files: Vec::new(),
            tool: concat!("setveil ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

impl Manifest {
    /// The manifest, if the values of its guarantee are ones that a method
    /// could have been given.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first value that is out of its range.
    pub fn checked(self) -> Result<Self> {
        self.guarantee.model.check()?;
        Ok(self)
    }
}

impl Model {
    /// Fails on the first value that is out of its range.
    fn check(&self) -> Result<()> {
        match *self {
            Self::FormatKmAnonymity { k, m, l } => {
                l.map(L::new).transpose()?;
                K::new(k).and(M::new(m)).map(|_| ())
            }
            Self::KmAnonymity { k, m } => K::new(k).and(M::new(m)).map(|_| ()),
            Self::KAnonymity { k } => K::new(k).map(|_| ()),
            Self::Association { p } => P::new(p).map(|_| ()),
            Self::DifferentialPrivacy { epsilon, .. } => {
                // What was written down as a decimal is printed as that decimal.
                let read = epsilon.to_string().parse::<Epsilon>();
                read.map(|_| ()).map_err(|_| Error::Parameter {
                    name: "epsilon",
                    found: epsilon.to_string(),
                    expected: "a decimal number from 0.001 to 100 with at most six decimals",
                })
            }
        }
    }

    /// The name as it stands in the manifest.
    pub fn name(&self) -> &'static str {
        match self {
            Self::FormatKmAnonymity { .. } => "format-km-anonymity",
            Self::KmAnonymity { .. } => "km-anonymity",
            Self::KAnonymity { .. } => "k-anonymity",
            Self::Association { .. } => "association",
            Self::DifferentialPrivacy { .. } => "differential-privacy",
        }
    }

    /// k, where the model has one.
    pub fn k(&self) -> Option<u32> {
        match *self {
            Self::FormatKmAnonymity { k, .. }
            | Self::KmAnonymity { k, .. }
            | Self::KAnonymity { k } => Some(k),
            _ => None,
        }
    }

    /// m, where the model has one.
    pub fn m(&self) -> Option<u32> {
        match *self {
            Self::FormatKmAnonymity { m, .. } | Self::KmAnonymity { m, .. } => Some(m),
            _ => None,
        }
    }

    /// epsilon, where the model has one.
    pub fn epsilon(&self) -> Option<f64> {
        match *self {
            Self::DifferentialPrivacy { epsilon, .. } => Some(epsilon),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_that_a_method_takes_are_checked() {
        let made = |model: Model| {
            let guarantee = Guarantee { model, supports: Supports::Exact };
            Manifest::new("made-up", [], guarantee, 1, 1).checked()
        };
        let universe = Universe::Public;
        for good in [
            Model::FormatKmAnonymity { k: 2, m: 16, l: Some(2) },
            Model::KmAnonymity { k: 2, m: 1 },
            Model::KAnonymity { k: 1_000_000_000 },
            Model::Association { p: 2 },
            Model::DifferentialPrivacy { epsilon: 2.000001, universe },
        ] {
            assert!(made(good.clone()).is_ok(), "{good:?}");
        }
        for (bad, name) in [
            (Model::FormatKmAnonymity { k: 0, m: 2, l: None }, "k = 0"),
            (Model::FormatKmAnonymity { k: 2, m: 17, l: None }, "m = 17"),
            (Model::FormatKmAnonymity { k: 2, m: 2, l: Some(1) }, "l = 1"),
            (Model::KmAnonymity { k: 0, m: 1 }, "k = 0"),
            (Model::KmAnonymity { k: 2, m: 0 }, "m = 0"),
            (Model::KAnonymity { k: 1 }, "k = 1"),
            (Model::Association { p: 1 }, "p = 1"),
            (Model::DifferentialPrivacy { epsilon: 0.0, universe }, "epsilon = 0"),
            (Model::DifferentialPrivacy { epsilon: f64::INFINITY, universe }, "epsilon = inf"),
        ] {
            let error = made(bad).unwrap_err().to_string();
            assert!(error.starts_with(name), "{error}");
        }
    }

    #[test]
    fn the_guarantee_is_one_flat_object_with_the_documented_keys() {
        let guarantee = Guarantee {
            model: Model::FormatKmAnonymity { k: 5, m: 2, l: None },
            supports: Supports::LowerBound,
        };
        let json = serde_json::to_string(&guarantee).unwrap();
        assert_eq!(json, r#"{"model":"format-km-anonymity","k":5,"m":2,"supports":"lower-bound"}"#);
        assert_eq!(serde_json::from_str::<Guarantee>(&json).unwrap(), guarantee);
        for model in [
            Model::KmAnonymity { k: 5, m: 2 },
            Model::KAnonymity { k: 5 },
            Model::Association { p: 4 },
            Model::DifferentialPrivacy { epsilon: 0.5, universe: Universe::Public },
        ] {
            let json = serde_json::to_value(&model).unwrap();
            assert_eq!(json["model"], model.name());
        }
    }
}
