//! The parameters of CAHD, and how they stand in a manifest.

use serde::{Deserialize, Serialize};

use crate::data::{Alpha, P};
use crate::methods::sensitive::{SensitiveOnly, ascending};
use crate::{Error, Result};

/// How records are put into groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Every step sees the non-sensitive items or who holds what, never both:
    /// knowing the method is of no use to an attacker. Needs secret randomness.
    Blind,
    /// Around sensitive records, as printed in cahd-2008. Whoever replays the
    /// method finds holders: for comparison only.
    AsPrinted {
        /// How far to look for similar records: alpha * p on either side.
        alpha: Alpha,
    },
}

impl Grouping {
    /// As printed, with the paper's alpha of 3.
    pub fn as_printed() -> Self {
        Self::AsPrinted { alpha: Alpha::new(3).expect("3 is in the range") }
    }
}

/// The parameters of [`anonymize`](super::anonymize).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
#[non_exhaustive]
pub struct Parameters {
    /// The privacy degree.
    pub p: P,
    /// The labels of the sensitive items.
    pub sensitive: Vec<String>,
    /// How records are put into groups.
    pub grouping: Grouping,
    /// What happens to records with sensitive items only.
    pub sensitive_only: SensitiveOnly,
}

impl Parameters {
    /// Degree `p` for these sensitive items, with the blind grouping.
    pub fn new<S: Into<String>>(p: P, sensitive: impl IntoIterator<Item = S>) -> Self {
        Self {
            p,
            sensitive: sensitive.into_iter().map(Into::into).collect(),
            grouping: Grouping::Blind,
            sensitive_only: SensitiveOnly::default(),
        }
    }

    /// How records are put into groups.
    pub fn grouping(self, grouping: Grouping) -> Self {
        Self { grouping, ..self }
    }

    /// What happens to records with sensitive items only.
    pub fn sensitive_only(self, sensitive_only: SensitiveOnly) -> Self {
        Self { sensitive_only, ..self }
    }
}

/// `grouping` in a manifest.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Name {
    Blind,
    AsPrinted,
}

/// The parameters as they are written: always `grouping`, and `alpha` if and
/// only if it is the printed one. Old manifests have `alpha` alone.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alpha: Option<Alpha>,
    #[serde(default)]
    grouping: Option<Name>,
    p: P,
    #[serde(serialize_with = "ascending")]
    sensitive: Vec<String>,
    #[serde(default, skip_serializing_if = "SensitiveOnly::is_default")]
    sensitive_only: SensitiveOnly,
}

impl From<Parameters> for Written {
    fn from(parameters: Parameters) -> Self {
        let Parameters { p, sensitive, grouping, sensitive_only } = parameters;
        let (grouping, alpha) = match grouping {
            Grouping::Blind => (Name::Blind, None),
            Grouping::AsPrinted { alpha } => (Name::AsPrinted, Some(alpha)),
        };
        Self { alpha, grouping: Some(grouping), p, sensitive, sensitive_only }
    }
}

impl TryFrom<Written> for Parameters {
    type Error = Error;
    fn try_from(written: Written) -> Result<Self> {
        let Written { alpha, grouping, p, sensitive, sensitive_only } = written;
        let grouping = match (grouping, alpha) {
            (Some(Name::Blind) | None, None) => Grouping::Blind,
            (Some(Name::AsPrinted), None) => Grouping::as_printed(),
            (Some(Name::AsPrinted) | None, Some(alpha)) => Grouping::AsPrinted { alpha },
            (Some(Name::Blind), Some(alpha)) => {
                return Err(Error::Parameter {
                    name: "alpha",
                    found: alpha.to_string(),
                    expected: "nothing: the blind grouping has no alpha",
                });
            }
        };
        Ok(Self { p, sensitive, grouping, sensitive_only })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_as_they_are_written_and_nothing_else_is() {
        let mut parameters = Parameters::new(P::new(4).unwrap(), ["x"]);
        let text = serde_json::to_string(&parameters).unwrap();
        assert_eq!(text, r#"{"grouping":"blind","p":4,"sensitive":["x"]}"#);
        assert_eq!(serde_json::from_str::<Parameters>(&text).unwrap(), parameters);
        parameters.grouping = Grouping::as_printed();
        parameters.sensitive_only = SensitiveOnly::Drop;
        let text = serde_json::to_string(&parameters).unwrap();
        assert_eq!(
            text,
            r#"{"alpha":3,"grouping":"as-printed","p":4,"sensitive":["x"],"sensitive_only":"drop"}"#
        );
        assert_eq!(serde_json::from_str::<Parameters>(&text).unwrap(), parameters);
        for wrong in [
            r#"{"alpha":3,"grouping":"blind","p":4,"sensitive":["x"]}"#,
            r#"{"grouping":"blind","p":1,"sensitive":["x"]}"#,
            r#"{"grouping":"blind","p":4,"seed":1,"sensitive":["x"]}"#,
        ] {
            assert!(serde_json::from_str::<Parameters>(wrong).is_err(), "{wrong}");
        }
        // Releases from before there was a choice are as printed.
        let old = r#"{"alpha":5,"p":4,"sensitive":["x"]}"#;
        let old: Parameters = serde_json::from_str(old).unwrap();
        assert_eq!(old.grouping, Grouping::AsPrinted { alpha: Alpha::new(5).unwrap() });
    }
}
