//! Parameters that are valid by construction: a function that takes a [`K`]
//! need not ask whether it is zero.

use crate::{Error, Result};

macro_rules! parameter {
    ($(#[$doc:meta])* $name:ident, $symbol:literal, $range:expr, $why:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

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
}
