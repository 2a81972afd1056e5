//! A data set from arrays that a caller has already.

use super::limits::{check_items, check_records};
use super::{Dataset, ItemId, Vocabulary};
use crate::error::Hint;
use crate::{Error, Result};

impl Dataset {
    /// A data set from a vocabulary, where each record starts (with the end of
    /// the last), and the items of all records, one record after the other.
    ///
    /// Everything that the library relies on is checked: the offsets begin
    /// with 0, ascend and end with the number of items; the items of a record
    /// ascend; none is outside of the vocabulary, and each of it occurs.
    ///
    /// ```
    /// use setveil::{Dataset, data::Vocabulary};
    ///
    /// let vocabulary = Vocabulary::new(["bread", "milk"]);
    /// let data = Dataset::from_csr(vocabulary.clone(), vec![0, 2, 3], vec![0, 1, 1])?;
    /// assert_eq!(data.record(1), [1]);
    /// assert!(Dataset::from_csr(vocabulary, vec![0, 2], vec![1, 0]).is_err());
    /// # Ok::<(), setveil::Error>(())
    /// ```
    ///
    /// # Complexity
    /// One pass over offsets and items.
    pub fn from_csr(
        vocabulary: Vocabulary,
        offsets: Vec<usize>,
        items: Vec<ItemId>,
    ) -> Result<Self> {
        check_items(vocabulary.len() as u64)?;
        check_records(offsets.len().saturating_sub(1) as u64)?;
        let bad = |row: Option<usize>, found: String, hint: &str| {
            let row = row.map(|r| r as u64 + 1);
            Err(Error::Table { row, found, hint: Hint::from(hint) })
        };
        if offsets.first() != Some(&0) || offsets.last() != Some(&items.len()) {
            let found = format!(
                "the offsets run from {:?} to {:?}, there are {} items",
                offsets.first(),
                offsets.last(),
                items.len()
            );
            return bad(None, found, "begin with 0 and end with the number of items");
        }
        let mut used = vec![false; vocabulary.len()];
        for (r, ends) in offsets.windows(2).enumerate() {
            // Offsets that ascend up to the number of items cannot lie outside of them.
            let Some(record) = items.get(ends[0]..ends[1]).filter(|r| !r.is_empty()) else {
                let found = format!("the record stands at {} to {}", ends[0], ends[1]);
                return bad(Some(r), found, "let offsets ascend, and leave empty records out");
            };
            if !record.is_sorted_by(|a, b| a < b) {
                return bad(Some(r), "the items do not ascend".into(), "sort, each item once");
            }
            for &item in record {
                let Some(used) = used.get_mut(item as usize) else {
                    let found = format!("item {item} of {} labels", vocabulary.len());
                    return bad(Some(r), found, "number the items as the vocabulary does");
                };
                *used = true;
            }
        }
        if let Some(unused) = used.iter().position(|used| !used) {
            let found = format!("`{}` is in no record", vocabulary.label(unused as ItemId));
            return bad(None, found, "leave labels that do not occur out of the vocabulary");
        }
        Ok(Self::from_parts(vocabulary, offsets, items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_breaks_an_invariant_is_refused() {
        let make = |offsets: &[usize], items: &[ItemId]| {
            let vocabulary = Vocabulary::new(["a", "b", "c"]);
            Dataset::from_csr(vocabulary, offsets.to_vec(), items.to_vec())
        };
        let good = make(&[0, 2, 3], &[0, 2, 1]).unwrap();
        assert_eq!(good, Dataset::from_records([vec!["a", "c"], vec!["b"]]));
        for (offsets, items, word) in [
            (&[][..], &[][..], "run from None"),
            (&[1, 3], &[0, 1, 2], "begin with 0"),
            (&[0, 2], &[0, 1, 2], "number of items"),
            (&[0, 2, 2, 3], &[0, 1, 2], "row 2: the record stands at 2 to 2"),
            (&[0, 9, 3], &[0, 1, 2], "row 1: the record stands at 0 to 9"),
            (&[0, 2, 1, 3], &[0, 1, 2], "row 2: the record stands at 2 to 1"),
            (&[0, 3], &[0, 2, 1], "row 1: the items do not ascend"),
            (&[0, 3], &[0, 1, 1], "row 1: the items do not ascend"),
            (&[0, 3], &[0, 1, 3], "row 1: item 3 of 3 labels"),
            (&[0, 2], &[0, 1], "`c` is in no record"),
        ] {
            let error = make(offsets, items).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        let none = Dataset::from_csr(Vocabulary::default(), vec![0], vec![]).unwrap();
        assert!(none.is_empty());
    }
}
