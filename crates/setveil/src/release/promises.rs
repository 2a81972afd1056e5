//! What a release promises against whom, side by side, where it promises more
//! than its format: releases of safe disassociation (`docs/safe.md`).
//!
//! One text for everybody who prints it. It is made from the manifest alone and
//! says what the method promises; whether the release keeps it is for `verify`.

use serde::Serialize;
use serde_json::Value;

use super::{Manifest, Model};

/// The promises, and what is not promised. None is ever merged with another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Promises {
    /// What holds whatever made the release.
    pub format: String,
    /// What holds against somebody who knows the program, for which prior.
    pub algorithm: String,
    /// What is not promised about terms of term chunks.
    pub term_chunks: String,
    /// What is not promised about shared terms.
    pub shared_terms: String,
    /// What becomes of probabilities.
    pub posterior: String,
}

impl Promises {
    /// Each with what it is about, for people.
    pub fn in_words(&self) -> [(&'static str, &str); 5] {
        [
            ("format guarantee", &self.format),
            ("algorithm guarantee", &self.algorithm),
            ("term chunks", &self.term_chunks),
            ("shared terms", &self.shared_terms),
            ("posterior", &self.posterior),
        ]
    }
}

impl Manifest {
    /// What is promised beyond the format; none for releases that are not safe
    /// in this sense.
    pub fn promises(&self) -> Option<Promises> {
        let Model::FormatKmAnonymity { k, m, l } = self.guarantee.model else { return None };
        if self.parameters.get("safe") != Some(&Value::Bool(true)) {
            return None;
        }
        let eta = self.parameters.get("eta")?.as_f64()?;
        let rare = if self.parameters.contains_key("drop_below_k") {
            format!("terms of fewer than {k} records of all were left out")
        } else {
            format!(
                "elsewhere, a term that stands in one term chunk only is in fewer than {k} records of \
                 all, unless it is left out"
            )
        };
        let sensitive = l.map_or(String::new(), |l| {
            format!("; a sensitive term is in at most 1/{l} of a cluster's records")
        });
        Some(Promises {
            format: format!(
                "k = {k}, m = {m}: whoever knows up to {m} terms is left with {k} candidates in \
                 some data set that fits the release; verify decides it"
            ),
            algorithm: format!(
                "terms of record chunks, inside of a cluster: no set of up to {m} is ruled out by \
                 knowing the program, for any prior; at most {eta} of the data sets that fit a \
                 cluster with a term of all its records are ruled out, for a uniform prior and NOT \
                 for others, and not where one of several chunks had to be chosen; how chunks and \
                 joins were made is checked from the release, how clusters were made cannot be"
            ),
            term_chunks: format!(
                "NOT covered: a term there is in fewer than {k} records of its cluster, unless \
                 the cluster has a single record chunk and no term of all its records; \
                 {rare}{sensitive}"
            ),
            shared_terms: "NOT covered: a shared term together with a term of a record chunk"
                .into(),
            posterior: format!(
                "inside of a cluster with a term of all its records P(y|x) differs from the format's by at most {eta}, for a \
                 uniform prior; the format's own can be 1"
            ),
        })
    }
}
