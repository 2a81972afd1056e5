//! What the methods that separate sensitive items share: which items are
//! sensitive, the records in two parts, whether a degree can be reached at
//! all, and the published form of groups (cahd-2008, section II).
//!
//! Invariant: everything here depends on the records as a bag, never on the
//! order of the rows.

mod bare;
mod publish;
mod rows;

use rand::{Rng, seq::IteratorRandom};
use serde::{Serialize, Serializer};

pub use bare::{SensitiveOnly, count_sensitive_only, settle_sensitive_only};
pub(super) use publish::{IN_WORDS, guarantee, publish};
pub use rows::{Rows, Split};

use crate::data::{Dataset, ItemId, P};
use crate::{Error, Result};

/// Writes a list of labels as a manifest has it: by text, each once.
pub(super) fn ascending<S: Serializer>(
    labels: &[String],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    labels.sort_unstable();
    labels.dedup();
    labels.serialize(serializer)
}

/// The ids of the sensitive `labels`, ascending; repeated ones count once.
///
/// Fails if there is none, or if one does not occur in `data`: a label that
/// was misspelt would otherwise stay in the open.
pub fn resolve<S: AsRef<str>>(data: &Dataset, labels: &[S]) -> Result<Vec<ItemId>> {
    let mut unknown: Vec<&str> = Vec::new();
    let mut items = Vec::with_capacity(labels.len());
    for label in labels.iter().map(AsRef::as_ref) {
        match data.vocabulary().id(label) {
            Some(item) => items.push(item),
            None => unknown.push(label),
        }
    }
    if let Some(first) = unknown.first() {
        let others = match unknown.len() - 1 {
            0 => String::new(),
            n => format!(" (and {n} more)"),
        };
        return Err(Error::Unknown {
            what: format!("the sensitive item {first:?}{others} does not occur in the data"),
            hint: "check the spelling, or take it off the list of sensitive items".into(),
        });
    }
    if items.is_empty() {
        return Err(Error::Unknown {
            what: "the list of sensitive items is empty".into(),
            hint: "name at least one sensitive item".into(),
        });
    }
    items.sort_unstable();
    items.dedup();
    Ok(items)
}

/// Draws the labels of `count` items uniformly among those that are rare
/// enough for degree `p`, as the evaluation of cahd-2008 (section V) chooses
/// its sensitive items. Ascending.
pub fn draw(data: &Dataset, count: usize, p: P, rng: &mut impl Rng) -> Result<Vec<String>> {
    let n = data.len() as u64;
    let supports = data.supports();
    let eligible = || {
        (0..data.item_count() as ItemId).filter(|&item| {
            let support = u64::from(supports[item as usize]);
            support > 0 && support * u64::from(p.get()) <= n
        })
    };
    let mut items = eligible().sample(rng, count);
    if count == 0 || items.len() < count {
        return Err(Error::Infeasible {
            what: format!(
                "{count} sensitive items were asked for; {} items are in at most 1/{p} of the \
                 records",
                eligible().count()
            ),
            hint: "ask for at least one and at most that many, or lower p".into(),
        });
    }
    items.sort_unstable();
    Ok(data.vocabulary().texts(&items))
}

/// Fails unless some grouping of `data` has degree `p`: every sensitive item
/// in at most 1/p of all records. That is enough, since all records together
/// are then such a group; and it is needed, since shares of groups add up.
pub fn check_feasible(data: &Dataset, sensitive: &[ItemId], p: P) -> Result<()> {
    let n = data.len() as u64;
    let degree = u64::from(p.get());
    let supports = data.supports();
    let support = |item: ItemId| u64::from(supports[item as usize]);
    let Some(&worst) = sensitive.iter().max_by_key(|&&s| (support(s), std::cmp::Reverse(s))) else {
        return Ok(());
    };
    let largest = n / support(worst).max(1);
    if degree <= largest {
        return Ok(());
    }
    let hint = match largest {
        0 | 1 => "no degree works while this item is on the list: leave it out of the data".into(),
        _ => format!("the largest p that works is {largest}"),
    };
    let label = data.vocabulary().label(worst);
    let others = match sensitive.iter().filter(|&&s| support(s) * degree > n).count() {
        0 | 1 => String::new(),
        k => format!("; {} other sensitive items are too frequent as well", k - 1),
    };
    Err(Error::Infeasible {
        what: format!(
            "p = {p} allows a sensitive item in at most {} of {n} records, but {label:?} is in {}\
             {others}",
            n / degree,
            support(worst)
        ),
        hint: hint.into(),
    })
}
