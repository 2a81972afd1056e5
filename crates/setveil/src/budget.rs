//! How much memory the work may take.
//!
//! A few hundred bytes of a release can speak of billions of records. Whoever
//! is about to make something as large as a file says asks first, and refuses
//! with the number instead of filling the machine. A caller sets the budget in
//! its [`Progress`](crate::Progress), which reaches all long work.

use crate::{Error, Result};

/// Bytes that may be allocated for one thing; without a limit by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    bytes: u64,
}

impl Budget {
    /// No limit.
    pub const UNLIMITED: Self = Self { bytes: u64::MAX };
    /// The hint of the errors, by which a caller can tell them from other sizes.
    pub const HINT: &'static str = "allow more memory, or take a smaller release";

    /// At most `bytes`.
    pub const fn new(bytes: u64) -> Self {
        Self { bytes }
    }

    /// The limit in bytes.
    pub const fn bytes(self) -> u64 {
        self.bytes
    }

    /// Fails with [`Error::TooLarge`] if `what` needs more than there may be.
    /// `needed` is none if the number of bytes cannot even be written down.
    pub fn check(self, what: &'static str, needed: impl Into<Option<u64>>) -> Result<()> {
        let found = needed.into().unwrap_or(u64::MAX);
        if found <= self.bytes && found != u64::MAX {
            return Ok(());
        }
        Err(Error::TooLarge { what, found, limit: self.bytes, hint: Self::HINT })
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::UNLIMITED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_border_is_allowed_and_one_more_is_not() {
        let budget = Budget::new(1000);
        assert!(budget.check("bytes", 1000).is_ok());
        let error = budget.check("bytes", 1001).unwrap_err().to_string();
        assert!(error.contains("1001") && error.contains("1000"), "{error}");
        assert!(budget.check("bytes", u64::MAX.checked_add(1)).is_err());
        assert!(Budget::default().check("bytes", u64::MAX - 1).is_ok());
        assert!(Budget::default().check("bytes", None).is_err());
    }
}
