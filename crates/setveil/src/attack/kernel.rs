//! The algorithm as the algorithm-aware attacker has it: a function from the
//! records of one cluster to what is published of them, and what is known
//! about sensitive terms.

use std::fmt;

use super::replay::Program;
use crate::Result;
use crate::data::{ItemId, L};
use crate::release::{Group, SimpleCluster};

/// Must be said where instances were suppressed.
pub(super) const SUPPRESSED: &str = "who has only the release of DLS cannot try its inputs: an \
    input need not be a possible data set, because instances were suppressed, and how many is not \
    published; with the original, inputs are replayed that have the suppressed instances";

/// Must be said about a release with sensitive terms.
pub(super) const SENSITIVE_TERMS: &str = "sensitive terms may be in k and more records of a \
    cluster: they are left out of the items in one term chunk only, and posteriors with terms \
    below k take them for rarer than they may be";

/// Records in, published cluster out, with the release's own parameters.
type Publish<'a> = dyn Fn(&[&[ItemId]]) -> SimpleCluster + Sync + 'a;
/// All records in, published groups out in canonical order.
type Regroup<'a> = dyn Fn(&[Vec<ItemId>]) -> Result<Vec<Group>> + Sync + 'a;

/// What an attacker knows of the method: the algorithm for one cluster or for
/// all records of a grouped release, why it keeps terms apart, and which terms are sensitive. Decided by whoever may
/// see the methods ([`workflow::attack`](crate::workflow::attack())).
///
/// An algorithm must publish what it is given: worlds are data sets that agree
/// with the release, so a method that suppresses instances (DLS) has inputs
/// that are no worlds, and this attack is wrong for it.
pub struct Kernel<'a> {
    publish: Option<Box<Publish<'a>>>,
    refusals: bool,
    regroup: Option<Box<Regroup<'a>>>,
    program: Option<Program<'a>>,
    /// Ascending.
    sensitive: Vec<ItemId>,
    l: u64,
}

impl<'a> Kernel<'a> {
    /// Nothing is known: the release is all there is.
    pub fn unknown() -> Self {
        Self {
            publish: None,
            refusals: false,
            regroup: None,
            program: None,
            sensitive: Vec::new(),
            l: 1,
        }
    }

    /// A method without sensitive terms.
    pub fn new(publish: impl Fn(&[&[ItemId]]) -> SimpleCluster + Sync + 'a) -> Self {
        Self { publish: Some(Box::new(publish)), ..Self::unknown() }
    }

    /// A method that publishes groups, with items numbered as in the release.
    pub fn grouped(regroup: impl Fn(&[Vec<ItemId>]) -> Result<Vec<Group>> + Sync + 'a) -> Self {
        Self { regroup: Some(Box::new(regroup)), ..Self::unknown() }
    }

    /// The whole program, and the original, for who knows all records but some.
    pub fn with_program(mut self, program: Program<'a>) -> Self {
        self.program = Some(program);
        self
    }

    /// The whole program, where it is known.
    pub(super) fn program(&self) -> Option<&Program<'a>> {
        self.program.as_ref()
    }

    /// A term is kept out of a chunk only where the chunk would not be
    /// k^m-anonymous with it (VERPART): covers can be looked for.
    pub fn with_refusals(mut self) -> Self {
        self.refusals = true;
        self
    }

    /// A method that hides sensitive items in term chunks, each in at most 1/l
    /// of the records of a cluster, however frequent they are otherwise.
    pub fn with_sensitive(mut self, mut items: Vec<ItemId>, l: L) -> Self {
        items.sort_unstable();
        (self.sensitive, self.l) = (items, u64::from(l.get()));
        self
    }

    pub(super) fn is_known(&self) -> bool {
        self.publish.is_some()
    }

    /// Whether the algorithm for all records is known.
    pub(super) fn is_grouped(&self) -> bool {
        self.regroup.is_some()
    }

    pub(super) fn refuses(&self) -> bool {
        self.refusals
    }

    /// The sensitive items, ascending.
    pub(super) fn sensitive(&self) -> &[ItemId] {
        &self.sensitive
    }

    /// What is published of these records; none if that is not known.
    pub(super) fn publish(&self, records: &[&[ItemId]]) -> Option<SimpleCluster> {
        self.publish.as_ref().map(|publish| publish(records))
    }

    /// The groups of `records`; none if that is not known.
    pub(super) fn regroup(&self, records: &[Vec<ItemId>]) -> Result<Option<Vec<Group>>> {
        self.regroup.as_ref().map(|regroup| regroup(records)).transpose()
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
        f.debug_struct("Kernel")
            .field("refusals", &self.refusals)
            .field("sensitive", &self.sensitive)
            .finish_non_exhaustive()
    }
}
