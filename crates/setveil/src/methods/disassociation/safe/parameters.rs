//! What safe disassociation can be told beside what disassociation is told.

use serde::{Deserialize, Serialize};

use super::Eta;
use crate::{Error, Result};

/// The options of safe disassociation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Safe {
    /// The share of possible data sets that the program may rule out.
    pub eta: Eta,
    /// How many clusters share terms.
    pub join_width: JoinWidth,
    /// Whether terms of fewer than k records are left out.
    pub drop_below_k: bool,
}

/// How many clusters at least share terms with each other; none for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Option<u32>", into = "Option<u32>")]
pub struct JoinWidth(Option<u32>);

impl JoinWidth {
    /// All clusters.
    pub const ALL: Self = Self(None);

    /// So many at least, two or more.
    pub fn new(leaves: u32) -> Result<Self> {
        if leaves < 2 { Err(refused(leaves)) } else { Ok(Self(Some(leaves))) }
    }

    /// Whether all clusters are joined.
    pub fn is_all(&self) -> bool {
        self.0.is_none()
    }

    /// Whether so many leaves are enough for a run.
    pub(super) fn is_reached(self, leaves: usize) -> bool {
        self.0.is_some_and(|width| leaves >= width as usize)
    }
}

fn refused(found: impl ToString) -> Error {
    Error::Parameter {
        name: "join-width",
        found: found.to_string(),
        expected: "a whole number of at least 2, or `all`",
    }
}

impl TryFrom<Option<u32>> for JoinWidth {
    type Error = Error;
    fn try_from(value: Option<u32>) -> Result<Self> {
        value.map_or(Ok(Self::ALL), Self::new)
    }
}

impl From<JoinWidth> for Option<u32> {
    fn from(width: JoinWidth) -> Self {
        width.0
    }
}

impl std::fmt::Display for JoinWidth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            None => f.write_str("all"),
            Some(width) => width.fmt(f),
        }
    }
}

impl std::str::FromStr for JoinWidth {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "all" => Ok(Self::ALL),
            _ => text.parse().map_err(|_| refused(text)).and_then(Self::new),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_is_two_or_more_or_all() {
        assert!("all".parse::<JoinWidth>().unwrap().is_all());
        assert_eq!("50".parse::<JoinWidth>().unwrap(), JoinWidth::new(50).unwrap());
        for bad in ["", "0", "1", "-2", "some"] {
            assert!(bad.parse::<JoinWidth>().is_err(), "{bad}");
        }
    }
}
