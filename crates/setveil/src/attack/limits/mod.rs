//! What lies outside every promise, counted: the order of rows, several
//! releases of growing data, and knowledge of what somebody does not have
//! (`docs/known-limits.md`). For disassociated releases, and for those who
//! have the original: nothing here can be computed by an attacker alone, but
//! everything it counts is something that an attacker could do.

mod growing;
mod negative;
mod row_order;

pub use growing::{Growth, Increments, growth, increments};
pub use negative::{Negative, negative};
pub use row_order::{RowOrder, row_order};

use rand::RngExt;

use super::adversary::random_subset;
use super::targets::People;
use crate::data::ItemId;

/// Draws `targets` records with more than `known` items and that many of the
/// items of each; fewer only if there is no such record.
fn draw(
    people: &People,
    known: usize,
    targets: usize,
    rng: &mut impl RngExt,
) -> Vec<(usize, Vec<ItemId>)> {
    let long: Vec<usize> = (0..people.len()).filter(|&r| people.record(r).len() > known).collect();
    if long.is_empty() {
        return Vec::new();
    }
    let mut draw = |_| {
        let r = long[rng.random_range(0..long.len())];
        (r, random_subset(people.record(r), known, rng))
    };
    (0..targets).map(&mut draw).collect()
}

/// The share of the values that are true; 0 of none.
fn share(values: impl ExactSizeIterator<Item = bool>) -> f64 {
    let all = values.len().max(1) as f64;
    values.filter(|&holds| holds).count() as f64 / all
}
