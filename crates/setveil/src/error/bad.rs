//! Why a line or row cannot be read, before its place is known.

use super::Hint;

/// What was found, and what to do about it.
#[derive(Debug)]
pub(crate) struct Bad {
    pub(crate) found: String,
    pub(crate) hint: Hint,
}

impl Bad {
    pub(crate) fn new(found: impl Into<String>, hint: impl Into<Hint>) -> Self {
        Self { found: found.into(), hint: hint.into() }
    }
}
