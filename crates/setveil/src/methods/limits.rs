//! What the methods can count: records and occurrences have 32-bit numbers.

use crate::data::Dataset;
use crate::{Error, Result};

/// So many records, or occurrences of items in them, can be numbered.
pub(super) const MOST: u64 = u32::MAX as u64;

/// Fails unless the records and the occurrences of `data` can be numbered.
/// Whatever a method counts among them can be numbered as well then.
pub(super) fn check(data: &Dataset) -> Result<()> {
    records(data)?;
    number("occurrences of items", data.occurrences().len() as u64).map(|_| ())
}

/// Fails unless the records of `data` can be numbered.
pub(super) fn records(data: &Dataset) -> Result<()> {
    number("records", data.len() as u64).map(|_| ())
}

/// `found` as a number of 32 bits, if there is one.
pub(super) fn number(what: &'static str, found: u64) -> Result<u32> {
    u32::try_from(found).map_err(|_| Error::TooLarge {
        what,
        found,
        limit: MOST,
        hint: "anonymize the data in parts",
    })
}

/// So many records, for a message.
pub(super) fn there_are(records: usize) -> String {
    match records {
        1 => "there is 1 record".to_owned(),
        n => format!("there are {n} records"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_number_is_the_last() {
        assert_eq!(number("records", MOST).unwrap(), u32::MAX);
        let error = number("records", MOST + 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "records: 4294967296, at most 4294967295; anonymize the data in parts"
        );
        assert!(number("records", u64::MAX).is_err());
    }
}
