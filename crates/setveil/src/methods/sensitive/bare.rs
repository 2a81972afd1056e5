//! Records with sensitive items only. A record without any item is left out
//! when data is read, so whoever knows that a person has no other item knows
//! that the person has a sensitive one; in a group with few of them also which.
//! No grouping hides that: such records are refused or left out.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::data::{Dataset, ItemId};
use crate::error::{Hint, Setting};
use crate::{Error, Result};

/// What happens to records with sensitive items only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SensitiveOnly {
    /// Nothing is published while there is one.
    #[default]
    Refuse,
    /// They are left out of the release.
    Drop,
}

impl SensitiveOnly {
    /// Whether this is what happens unless something else is asked for.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How many records of `data` hold `sensitive` items (which must ascend) only.
pub fn count_sensitive_only(data: &Dataset, sensitive: &[ItemId]) -> usize {
    data.records().filter(|record| is_bare(record, sensitive)).count()
}

/// The records that can be grouped, and the sensitive items that they hold.
///
/// Fails if records have to be left out that the caller wants to keep, or if
/// nothing is left to hide.
pub fn settle_sensitive_only<'a>(
    data: &'a Dataset,
    sensitive: Vec<ItemId>,
    rule: SensitiveOnly,
) -> Result<(Cow<'a, Dataset>, Vec<ItemId>)> {
    let bare = count_sensitive_only(data, &sensitive);
    if bare == 0 {
        return Ok((Cow::Borrowed(data), sensitive));
    }
    if rule == SensitiveOnly::Refuse {
        return Err(Error::Infeasible {
            what: format!(
                "{bare} of {} records hold sensitive items only: whoever knows that a person has \
                 no other item would be certain that the person has a sensitive one",
                data.len()
            ),
            hint: Hint::of(
                "leave them out with {} drop, or take items off the list of sensitive ones",
                &[Setting::SensitiveOnly],
            ),
        });
    }
    let kept = data.with_records(data.records().filter(|record| !is_bare(record, &sensitive)));
    let supports = kept.supports();
    let left: Vec<ItemId> =
        sensitive.into_iter().filter(|&item| supports[item as usize] > 0).collect();
    if left.is_empty() {
        return Err(Error::Infeasible {
            what: format!(
                "without the {bare} records that hold sensitive items only, no record has a \
                 sensitive item"
            ),
            hint: "there is nothing left that groups could hide".into(),
        });
    }
    Ok((Cow::Owned(kept), left))
}

fn is_bare(record: &[ItemId], sensitive: &[ItemId]) -> bool {
    record.iter().all(|item| sensitive.binary_search(item).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_records_are_refused_with_their_number_or_left_out() {
        let data = Dataset::from_records([vec!["a", "x"], vec!["x", "y"], vec!["b"], vec!["y"]]);
        let items: Vec<ItemId> = ["x", "y"].map(|l| data.vocabulary().id(l).unwrap()).to_vec();
        assert_eq!(count_sensitive_only(&data, &items), 2);
        let refused =
            settle_sensitive_only(&data, items.clone(), SensitiveOnly::Refuse).unwrap_err();
        assert!(refused.to_string().contains("2 of 4 records"), "{refused}");
        assert!(refused.to_string().contains("`sensitive_only` drop"), "{refused}");
        let (kept, left) =
            settle_sensitive_only(&data, items.clone(), SensitiveOnly::Drop).unwrap();
        // `y` stood in nothing else, and is no longer listed.
        assert_eq!((kept.len(), &left[..]), (2, &items[..1]));
        let bare = Dataset::from_records([vec!["x"], vec!["a"]]);
        let x = vec![bare.vocabulary().id("x").unwrap()];
        let nothing = settle_sensitive_only(&bare, x, SensitiveOnly::Drop).unwrap_err();
        assert!(nothing.to_string().contains("nothing left"), "{nothing}");
    }
}
