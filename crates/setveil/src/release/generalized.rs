//! Classes of equal generalised records (partition-2009).

use super::Bag;
use crate::data::{Hierarchy, Vocabulary};

/// The body of a generalised release: sets, not bags, of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Generalized {
    /// The labels of the nodes that occur in a class.
    pub vocabulary: Vocabulary,
    /// The classes in canonical order: their items and how many records they hold.
    pub classes: Bag,
    /// The hierarchy the labels come from; none where nothing was generalised.
    pub hierarchy: Option<Hierarchy>,
}
