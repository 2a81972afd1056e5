//! What an expected support is multiplied by, beyond counting worlds.
//!
//! Counting takes every world for equally likely: a term of a term chunk is once in its
//! cluster, in a record that has nothing to do with the other terms. Real records differ in
//! length, and rare items gather in the long ones, so two terms of one term chunk meet more often
//! than that. [`Prior::Measured`] says how much more: one moderate setting among some thirty that
//! were tried on six public data sets, all of them in view, so none is an independent check; it makes
//! Quest data worse (docs/analyst.md, `experiments estimates`). Nothing of the release at hand decides
//! the factors: what its chunks show of pairs is cut off below k, and says nothing about rarer ones.

use serde::{Deserialize, Serialize};

/// How much more often rare items occur and meet than if all worlds were equally likely.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Factors {
    /// A term of a term chunk is in so many records of its cluster on average.
    pub occurrences: f64,
    /// Two terms of a term chunk meet so often, against two that ignore each other and
    /// are in one record each.
    pub two_terms: f64,
    /// A term meets what stands in a chunk so often, likewise.
    pub term_and_chunk: f64,
}

/// How likely the worlds of a release are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prior {
    /// As measured on other data: rare items of a cluster gather in few records.
    #[default]
    Measured,
    /// All equally.
    Worlds,
}

impl Prior {
    /// What is assumed.
    pub fn factors(self) -> Factors {
        match self {
            Self::Measured => Factors::MEASURED,
            Self::Worlds => Factors::WORLDS,
        }
    }
}

impl Factors {
    /// All worlds are equally likely.
    pub const WORLDS: Self = Self { occurrences: 1.0, two_terms: 1.0, term_and_chunk: 1.0 };
    /// As measured.
    pub const MEASURED: Self = Self { occurrences: 1.15, two_terms: 2.0, term_and_chunk: 1.3 };

    /// The expected support in one leaf of an itemset with items from so many
    /// chunks and so many terms of the term chunk, if all worlds were equally likely `mean`.
    /// No more than `most`, unless that mean is more.
    pub(super) fn expected(&self, chunks: usize, terms: usize, mean: f64, most: f64) -> f64 {
        if terms == 0 {
            return mean;
        }
        let Self { occurrences, two_terms, term_and_chunk } = self;
        let pairs = (terms * (terms - 1) / 2) as i32;
        let alone = occurrences.powi(terms as i32);
        let attraction = (two_terms / (occurrences * occurrences)).powi(pairs);
        let to_chunks = (term_and_chunk / occurrences).powi(terms as i32);
        let factor = alone * attraction * if chunks > 0 { to_chunks } else { 1.0 };
        // Nobody meets more often than the rarest occurs.
        let most = if chunks + terms > 1 { most.min(*occurrences) } else { most };
        (mean * factor).min(most).max(mean)
    }
}
