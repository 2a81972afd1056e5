//! The possible worlds of a disassociated release: how many data sets agree
//! with what is published, and how many of their records contain an itemset
//! (disassociation-2012, sections 3 and 5).
//!
//! A world of a simple cluster of `s` records puts the sub-records of each
//! record chunk into distinct records, every term of the term chunk into at
//! least one record, and leaves no record empty. A sub-record of a shared
//! chunk goes to a record of a leaf below its joint cluster, but only to a leaf
//! where none of its items stands in the record chunks, in the term chunk or
//! in a shared chunk in between: for a given leaf, every item has one source.
//! All worlds, as sequences of records, are taken as equally likely.
//!
//! - [`ClusterModel`] counts the worlds of a simple cluster **exactly**, from
//!   the sizes of its chunks alone.
//! - [`ReleaseWorlds`] answers for a whole release: bounds that always hold, an
//!   expected support that is exact for simple clusters and for itemsets inside
//!   one chunk and an approximation otherwise (`answers.rs` says what is
//!   neglected), and the posterior of every further item for somebody of whom
//!   some are known. Attackers and recipients are served by the same answers.
//! - [`LocatedWorlds`] does the same for leaves of kept sub-records.
//!
//! [`Knowledge`] keeps two attackers apart. What follows from the published
//! *format* holds for every release. What follows from knowing the
//! *algorithm* is narrower and holds only where the algorithm really left
//! nothing else in the term chunk.
//!
//! This module does not see any original data.

mod answers;
mod bounds;
mod chunk;
mod cluster;
mod complex;
mod contour;
mod holders;
mod inflow;
mod items;
mod least;
mod located;
mod model;
mod owned;
mod pair;
mod partly;
mod parts;
mod places;
mod posterior;
mod prior;
mod release;
mod simple;
mod sums;

pub(crate) use cluster::Assumptions;
pub(crate) use items::item_bounds;
pub use located::{Further, LocatedWorlds};
pub use model::ClusterModel;
pub use owned::ReleaseWorlds;
pub use posterior::Posterior;
pub use prior::{Factors, Prior, spread};
pub(crate) use release::BodyWorlds;

use crate::data::K;

/// What is known about the terms of a term chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// The published format: each term is in 1 to `size` records.
    Format,
    /// The algorithm: VERPART leaves a term in the term chunk only if fewer
    /// than k records have it.
    ///
    /// This does not hold for a term that was moved there to repair Lemma 2 or
    /// because it is sensitive, nor for suppressed instances (DLS): use it to
    /// play an attacker, not to bound the truth.
    Algorithm(K),
}

impl Knowledge {
    /// In how many of `size` records a term of the term chunk can be.
    pub fn max_occurrences(self, size: u64) -> u64 {
        match self {
            Self::Format => size,
            Self::Algorithm(k) => size.min(u64::from(k.get()) - 1),
        }
    }
}

/// What a leaf offers to the terms of its term chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Its records.
    pub size: u64,
    /// So many of them at least get nothing from chunks (on average, where
    /// chunks are shared).
    pub uncovered: u64,
    /// The terms of its term chunk.
    pub terms: u64,
}

/// What the worlds say about the number of records that contain an itemset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// No world has fewer.
    pub lower: u64,
    /// The mean over all worlds, or what a [`Prior`] makes of it.
    pub expected: f64,
    /// No world has more.
    pub upper: u64,
    /// Whether `expected` is exact (up to [`RELATIVE_ERROR`]) or an approximation.
    pub exact: bool,
}

impl Answer {
    /// No record, for certain.
    pub const NONE: Self = Self { lower: 0, expected: 0.0, upper: 0, exact: true };

    /// The answer for two clusters together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            lower: self.lower + other.lower,
            expected: self.expected + other.expected,
            upper: self.upper + other.upper,
            exact: self.exact && other.exact,
        }
    }
}

/// The greatest relative error of an expected support of a [`ClusterModel`] with
/// up to a million records. Rounding grows with the size: 1e-4 for 2^32.
pub const RELATIVE_ERROR: f64 = 1e-8;
