//! The algorithm as the algorithm-aware attacker has it: a function from the
//! records of one cluster to what is published of them, and what is known
//! about sensitive terms.

use std::fmt;

use serde_json::Value;

use crate::data::{ItemId, L};
use crate::release::{Model, Release, SimpleCluster};

/// Must be said where the attack is asked for on a release of DLS.
pub(super) const NOT_FOR_DLS: &str = "the algorithm-aware attacker is not offered for DLS: its \
    input need not be a possible data set of its release, because instances were suppressed, and \
    trying only possible data sets would call pairs breached that are not";

/// Must be said about a release with sensitive terms.
pub(super) const SENSITIVE_TERMS: &str = "sensitive terms may be in k and more records of a \
    cluster: they are left out of the items in one term chunk only, and posteriors with terms \
    below k take them for rarer than they may be";

/// Records in, published cluster out, with the release's own parameters.
type Publish<'a> = dyn Fn(&[&[ItemId]]) -> SimpleCluster + Sync + 'a;

/// The algorithm for one cluster.
///
/// It must publish what it is given: worlds are data sets that agree with the
/// release, so a method that suppresses instances (DLS) has inputs that are no
/// worlds, and this attack is wrong for it.
pub struct Kernel<'a> {
    publish: Box<Publish<'a>>,
    /// Ascending.
    sensitive: Vec<ItemId>,
    l: u64,
}

impl<'a> Kernel<'a> {
    /// A method without sensitive terms.
    pub fn new(publish: impl Fn(&[&[ItemId]]) -> SimpleCluster + Sync + 'a) -> Self {
        Self { publish: Box::new(publish), sensitive: Vec::new(), l: 1 }
    }

    /// A method that hides sensitive items in term chunks, each in at most 1/l
    /// of the records of a cluster, however frequent they are otherwise.
    pub fn with_sensitive(mut self, mut items: Vec<ItemId>, l: L) -> Self {
        items.sort_unstable();
        (self.sensitive, self.l) = (items, u64::from(l.get()));
        self
    }

    pub(super) fn publish(&self, records: &[&[ItemId]]) -> SimpleCluster {
        (self.publish)(records)
    }

    /// In how many of `size` records a term of the term chunk can be, if it can
    /// be in `otherwise` where it is not sensitive.
    pub(super) fn most(&self, term: ItemId, size: u64, otherwise: u64) -> u64 {
        match self.sensitive.binary_search(&term) {
            Ok(_) => size / self.l,
            Err(_) => otherwise,
        }
    }
}

impl fmt::Debug for Kernel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("sensitive", &self.sensitive).finish_non_exhaustive()
    }
}

/// The sensitive items that a manifest names, ascending.
pub(super) fn sensitive_items(release: &Release) -> Vec<ItemId> {
    let Model::FormatKmAnonymity { l: Some(_), .. } = release.manifest.guarantee.model else {
        return Vec::new();
    };
    let named = release.manifest.parameters.get("sensitive").and_then(Value::as_array);
    let labels = named.into_iter().flatten().filter_map(Value::as_str);
    let mut items: Vec<ItemId> =
        labels.filter_map(|label| release.body.vocabulary().id(label)).collect();
    items.sort_unstable();
    items
}
