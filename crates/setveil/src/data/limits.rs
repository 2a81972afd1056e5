//! How large data may be: one check where data enters.
//!
//! Items and records have numbers of 32 bits everywhere in this library, and
//! the highest number means "none". Nothing behind the entrance wraps or
//! checks again.

use crate::{Error, Result};

/// The most records.
pub const MAX_RECORDS: u64 = u32::MAX as u64;
/// The most distinct items, and the most persons of a long table.
pub const MAX_ITEMS: u64 = u32::MAX as u64;
/// The most items of one record as they come, duplicates included.
pub const MAX_LENGTH: u64 = u32::MAX as u64;

/// Refuses more records than can be numbered.
pub fn check_records(found: u64) -> Result<()> {
    let hint = "publish the data in parts of fewer records";
    check("records", found, MAX_RECORDS, hint)
}

/// Refuses more distinct items than can be numbered.
pub fn check_items(found: u64) -> Result<()> {
    let hint = "see whether the items are what they should be: identifiers or free text would \
                explain the number";
    check("distinct items", found, MAX_ITEMS, hint)
}

/// Refuses more persons than can be numbered.
pub fn check_persons(found: u64) -> Result<()> {
    check("persons", found, MAX_ITEMS, "publish the data in parts of fewer persons")
}

/// Refuses a record that is too long.
pub fn check_length(found: u64) -> Result<()> {
    let hint = "see whether line ends are missing, or whether one id stands in every row";
    check("items of one record", found, MAX_LENGTH, hint)
}

fn check(what: &'static str, found: u64, limit: u64, hint: &'static str) -> Result<()> {
    if found <= limit { Ok(()) } else { Err(Error::TooLarge { what, found, limit, hint }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_border_is_the_last_number_that_fits() {
        for check in [check_records, check_items, check_persons, check_length] {
            assert!(check(0).is_ok() && check(u64::from(u32::MAX)).is_ok());
            for found in [1 << 32, (1 << 32) + 1, u64::MAX] {
                let error = check(found).unwrap_err().to_string();
                assert!(error.contains("at most 4294967295; "), "{error}");
                assert!(error.contains(&found.to_string()), "{error}");
            }
        }
        // The highest number is none of an item's or a record's.
        assert_eq!(u32::try_from(MAX_ITEMS - 1).unwrap(), u32::MAX - 1);
    }
}
