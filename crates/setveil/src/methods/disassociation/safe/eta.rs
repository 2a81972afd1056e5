//! How much may be lost: the share of possible data sets that the program
//! would not have published alike, as an exact decimal.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// A share, in the millionths that were written down, so that two machines
/// decide alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Eta(u32);

impl Eta {
    /// Millionths in one.
    const PER_ONE: u32 = 1_000_000;
    /// The share unless another is asked for.
    pub const DEFAULT: Self = Self(50_000);

    /// Checks a number of millionths: more than none, at most a half.
    pub fn from_millionths(millionths: u32) -> Result<Self> {
        if (1..=Self::PER_ONE / 2).contains(&millionths) {
            Ok(Self(millionths))
        } else {
            Err(refused(f64::from(millionths) / f64::from(Self::PER_ONE)))
        }
    }

    /// The value in millionths.
    pub const fn millionths(self) -> u32 {
        self.0
    }

    /// The nearest floating point number, for people and files.
    pub fn get(self) -> f64 {
        f64::from(self.0) / f64::from(Self::PER_ONE)
    }
}

impl Default for Eta {
    fn default() -> Self {
        Self::DEFAULT
    }
}

fn refused(found: impl ToString) -> Error {
    Error::Parameter {
        name: "eta",
        found: found.to_string(),
        expected: "a decimal number from 0.000001 to 0.5 with at most six decimals",
    }
}

impl TryFrom<f64> for Eta {
    type Error = Error;
    fn try_from(value: f64) -> Result<Self> {
        // Only the number that the decimal is read as: 0.0500000001 is none.
        let millionths = (value * f64::from(Self::PER_ONE)).round();
        if !(1.0..=f64::from(Self::PER_ONE / 2)).contains(&millionths) {
            return Err(refused(value));
        }
        let eta = Self(millionths as u32);
        if eta.get() == value { Ok(eta) } else { Err(refused(value)) }
    }
}

impl From<Eta> for f64 {
    fn from(eta: Eta) -> f64 {
        eta.get()
    }
}

impl std::fmt::Display for Eta {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

impl std::str::FromStr for Eta {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let parse = || {
            let (whole, rest) = text.split_once('.')?;
            let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
            if !digits(whole) || !digits(rest) || rest.len() > 6 || whole.parse() != Ok(0u32) {
                return None;
            }
            format!("{rest:0<6}").parse().ok()
        };
        parse().and_then(|m| Self::from_millionths(m).ok()).ok_or_else(|| refused(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eta_is_the_decimal_that_was_written() {
        for (text, millionths) in [("0.05", 50_000), ("0.5", 500_000), ("0.000001", 1)] {
            let eta: Eta = text.parse().unwrap();
            assert_eq!(eta.millionths(), millionths);
            let json = serde_json::to_string(&eta).unwrap();
            assert_eq!(serde_json::from_str::<Eta>(&json).unwrap(), eta, "{json}");
        }
        for bad in ["", "0", "0.0", "1", "0.51", "-0.1", ".1", "0.", "0.0000001", "5e-2", "inf"] {
            assert!(bad.parse::<Eta>().is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<Eta>("0.0500001000001").is_err());
    }
}
