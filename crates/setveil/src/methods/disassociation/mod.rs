//! Disassociation (disassociation-2012).

use crate::data::{K, M};
use crate::release::{Body, Disassociated, Guarantee, Manifest, Model, Release, Supports};
use crate::{Dataset, Progress, Result};

/// The parameters.
#[derive(Clone, Debug)]
pub struct Parameters {
    k: K,
    m: M,
}

impl Parameters {
    /// Defaults.
    pub fn new(k: K, m: M) -> Self {
        Self { k, m }
    }
}

/// Anonymizes.
pub fn anonymize(
    data: &Dataset,
    parameters: &Parameters,
    _progress: &dyn Progress,
) -> Result<Release> {
    let guarantee = Guarantee {
        model: Model::FormatKmAnonymity { k: parameters.k.get(), m: parameters.m.get(), l: None },
        supports: Supports::Exact,
    };
    let body = Disassociated { vocabulary: data.vocabulary().clone(), clusters: vec![] };
    Ok(Release {
        manifest: Manifest::new(
            "disassociation",
            [],
            guarantee,
            data.len() as u64,
            data.item_count() as u64,
        ),
        body: Body::Disassociated(body),
    })
}
