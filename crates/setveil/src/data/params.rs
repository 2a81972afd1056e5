//! Parameters that are valid by construction: a function that takes a [`K`]
//! need not ask whether it is zero.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

macro_rules! parameter {
    ($(#[$doc:meta])* $name:ident, $symbol:literal, $range:expr, $why:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "u32", into = "u32")]
        pub struct $name(u32);

        impl TryFrom<u32> for $name {
            type Error = Error;
            fn try_from(value: u32) -> Result<Self> {
                Self::new(value)
            }
        }

        impl From<$name> for u32 {
            fn from(value: $name) -> u32 {
                value.0
            }
        }

        impl $name {
            /// Checks the value and wraps it.
            pub fn new(value: u32) -> Result<Self> {
                if $range.contains(&value) {
                    Ok(Self(value))
                } else {
                    Err(Error::Parameter {
                        name: $symbol,
                        found: value.to_string(),
                        expected: $why,
                    })
                }
            }

            /// The value.
            pub const fn get(self) -> u32 {
                self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = Error;
            fn from_str(text: &str) -> Result<Self> {
                let value = text.parse().map_err(|_| Error::Parameter {
                    name: $symbol,
                    found: text.to_owned(),
                    expected: $why,
                })?;
                Self::new(value)
            }
        }
    };
}

parameter!(
    /// How many candidates must remain for whatever the attacker knows.
    K, "k", (2..=1_000_000_000), "a whole number of at least 2 (with 1, nobody is hidden)"
);
parameter!(
    /// How many items of a record the attacker may know.
    M, "m", (1..=M::MAX), "a whole number from 1 to 16"
);
parameter!(
    /// The l of l-diversity: a sensitive term occurs in at most 1/l of a cluster's records.
    L, "l", (2..=1_000_000_000), "a whole number of at least 2 (with 1, nothing is hidden)"
);
parameter!(
    /// The privacy degree of grouping: a sensitive item belongs to at most 1/p of a group's records.
    P, "p", (2..=1_000_000_000), "a whole number of at least 2 (with 1, nothing is hidden)"
);

parameter!(
    /// How far CAHD looks for similar records: alpha times p on either side.
    Alpha, "alpha", (1..=1_000_000), "a whole number of at least 1 (2 or 3 is usual)"
);

/// The budget of differential privacy, as the whole number of millionths that
/// was written down: what the noise is drawn with is what is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Epsilon(u64);

impl TryFrom<f64> for Epsilon {
    type Error = Error;
    /// By its shortest decimal notation, which is the one that was written down.
    fn try_from(value: f64) -> Result<Self> {
        value.to_string().parse()
    }
}

impl From<Epsilon> for f64 {
    fn from(value: Epsilon) -> f64 {
        value.get()
    }
}

impl Epsilon {
    /// Millionths in one.
    pub const PER_ONE: u64 = 1_000_000;

    /// The value in millionths.
    pub const fn millionths(self) -> u64 {
        self.0
    }

    /// The nearest floating point number, for people and files.
    pub fn get(self) -> f64 {
        self.0 as f64 / Self::PER_ONE as f64
    }
}

impl std::fmt::Display for Epsilon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

impl std::str::FromStr for Epsilon {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let parse = || {
            let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
            let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
            if !digits(whole) || !digits(rest) || rest.len() > 6 {
                return None;
            }
            let whole: u64 = whole.parse().ok()?;
            let rest: u64 = format!("{rest:0<6}").parse().ok()?;
            whole.checked_mul(Self::PER_ONE)?.checked_add(rest)
        };
        let found = parse().filter(|m| (1_000..=100 * Self::PER_ONE).contains(m));
        found.map(Self).ok_or_else(|| Error::Parameter {
            name: "epsilon",
            found: text.to_owned(),
            expected: "a decimal number from 0.001 to 100 with at most six decimals",
        })
    }
}

impl M {
    /// The largest m that can be asked for.
    pub const MAX: u32 = 16;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_values_cannot_be_built_and_the_reason_is_said() {
        for bad in ["0", "1", "-3", "many", "", "4294967296"] {
            let error = bad.parse::<K>().unwrap_err().to_string();
            assert!(error.contains("k") && error.contains("at least 2"), "{error}");
        }
        assert!(M::new(0).is_err() && M::new(17).is_err());
        assert_eq!("16".parse::<M>().unwrap().get(), 16);
        assert!(L::new(1).is_err() && P::new(1).is_err());
    }

    #[test]
    fn epsilon_is_the_decimal_that_was_written() {
        for (text, millionths) in
            [("0.5", 500_000), ("1", 1_000_000), ("0.001", 1_000), ("2.000001", 2_000_001)]
        {
            let epsilon: Epsilon = text.parse().unwrap();
            assert_eq!((epsilon.millionths(), epsilon.to_string()), (millionths, text.to_owned()));
        }
        for bad in ["", "0", "-1", ".5", "1.", "1e-3", "0.0001", "0.0000001", "101", "inf", "1,5"] {
            assert!(bad.parse::<Epsilon>().is_err(), "{bad}");
        }
    }
}
