//! Groups of records with their sensitive items taken out (cahd-2008).
//!
//! Canonical order: records by items; sensitive items by text; groups by
//! size, then records, then sensitive items. A record without any
//! non-sensitive item is published by the group's size alone.

use super::Bag;
use crate::data::{ItemId, Vocabulary};

/// The body of a grouped release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouped {
    /// The labels of all published items.
    pub vocabulary: Vocabulary,
    /// The groups in canonical order.
    pub groups: Vec<Group>,
}

/// Records of similar non-sensitive items and a summary of their sensitive ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    /// How many records the group holds.
    pub size: u32,
    /// The non-sensitive items of the records.
    pub records: Bag,
    /// Each sensitive item with the number of records that have it.
    pub sensitive: Vec<(ItemId, u32)>,
}
