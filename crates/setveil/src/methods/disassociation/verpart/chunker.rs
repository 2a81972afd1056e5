//! Divides terms into k^m-anonymous chunks: the greedy loop of VERPART, for
//! record chunks and for shared chunks alike.
//!
//! There are two forms of it, which give the same chunks: few records are sets
//! of bits ([`dense`](super::dense)), many are rows and lists
//! ([`sparse`](super::sparse)).

use super::dense::{Dense, MOST_RECORDS, Masked, most_terms};
use super::sparse::TermMatrix;
use crate::Result;
use crate::data::{ItemId, K, M};
use crate::progress::Progress;
use crate::release::Bag;

/// Some terms and the records that have them. It is filled, gives chunks, and
/// is filled again.
#[derive(Debug, Default)]
pub struct Chunker {
    /// The terms with their supports, and for each record, in order, which of
    /// them it has.
    terms: Vec<(ItemId, u32)>,
    occurrences: Vec<(u32, u32)>,
    records: u32,
    /// The same for few records: the terms with sets of records.
    masked: Vec<Masked>,
    dense: Dense,
}

impl Chunker {
    /// Up to so many records [`push_mask`](Self::push_mask) can be used.
    pub(super) const MOST_MASKED: usize = MOST_RECORDS;

    /// Forgets everything.
    pub(in crate::methods::disassociation) fn clear(&mut self) {
        self.terms.clear();
        self.occurrences.clear();
        self.records = 0;
        self.masked.clear();
    }

    /// Adds a term of support >= k with the set of records that have it; by
    /// ascending text, and for all terms or none.
    pub(super) fn push_mask(&mut self, item: ItemId, records: u64) {
        self.masked.push((item, records));
    }

    /// Adds a term of support >= k, in ascending order; gives its number. Its
    /// records come after all terms.
    pub(in crate::methods::disassociation) fn push_term(
        &mut self,
        item: ItemId,
        support: u32,
    ) -> u32 {
        self.terms.push((item, support));
        self.terms.len() as u32 - 1
    }

    /// Adds a record with the numbers of its terms, by ascending text; those
    /// without one are not counted.
    #[inline]
    pub(in crate::methods::disassociation) fn push_record(
        &mut self,
        terms: impl Iterator<Item = u32>,
    ) {
        let (before, record) = (self.occurrences.len(), self.records);
        self.occurrences.extend(terms.map(|term| (record, term)));
        self.records += u32::from(self.occurrences.len() > before);
    }

    /// Whether there is no term.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.masked.is_empty()
    }

    /// What every record has of the terms, for those who divide them otherwise.
    pub fn itemsets(&self) -> Vec<Vec<ItemId>> {
        let item = |&(_, term): &(u32, u32)| self.terms[term as usize].0;
        let records = self.occurrences.chunk_by(|a, b| a.0 == b.0);
        records.map(|record| record.iter().map(item).collect()).collect()
    }

    /// Divides the terms into k^m-anonymous chunks and projects the records on
    /// them (Alg. VERPART, lines 8 to 15). Each term goes to the first chunk
    /// that accepts it, in the order of falling support, ties by text.
    ///
    /// # Errors
    /// If `progress` says stop, or if there is more than can be numbered.
    pub fn chunks(&mut self, k: K, m: M, progress: &dyn Progress) -> Result<Vec<Bag>> {
        self.chunks_by(k, m, |_| 0, progress)
    }

    /// The same in the order of `rank`; falling support decides between equal ones.
    pub(in crate::methods::disassociation) fn chunks_by(
        &mut self,
        k: K,
        m: M,
        rank: impl Fn(ItemId) -> u32,
        progress: &dyn Progress,
    ) -> Result<Vec<Bag>> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let Self { terms, occurrences, records, masked, dense } = self;
        let few = *records as usize <= MOST_RECORDS && terms.len() <= most_terms(m);
        if masked.is_empty() && few {
            masked.extend(terms.iter().map(|&(item, _)| (item, 0)));
            occurrences.iter().for_each(|&(r, term)| masked[term as usize].1 |= 1 << r);
        }
        if masked.is_empty() {
            let matrix = TermMatrix::new(terms, rank, *records as usize, occurrences, progress)?;
            return matrix.chunks(k, m, progress);
        }
        if masked.len() <= most_terms(m) {
            return dense.chunks(masked, k, m, rank, progress);
        }
        unmask(masked, rank, progress)?.chunks(k, m, progress)
    }
}

/// Sets of records as rows and lists.
fn unmask(
    terms: &[Masked],
    rank: impl Fn(ItemId) -> u32,
    progress: &dyn Progress,
) -> Result<TermMatrix> {
    let supports: Vec<(ItemId, u32)> = terms.iter().map(|t| (t.0, t.1.count_ones())).collect();
    let mut occurrences = Vec::new();
    for r in 0..u64::BITS {
        let with = terms.iter().enumerate().filter(|(_, t)| t.1 >> r & 1 == 1);
        occurrences.extend(with.map(|(i, _)| (r, i as u32)));
    }
    TermMatrix::new(&supports, rank, MOST_RECORDS, &occurrences, progress)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Words and sparse rows agree on `terms`, and the bags are canonical.
    fn agree(terms: &[Masked], k: u32, m: u32, rank: impl Fn(ItemId) -> u32 + Copy) {
        let frequent = terms.iter().filter(|term| term.1.count_ones() >= k);
        let masked: Vec<Masked> = frequent.copied().collect();
        let (k, m) = (K::new(k).unwrap(), M::new(m).unwrap());
        let expected = unmask(&masked, rank, &()).unwrap().chunks(k, m, &()).unwrap();
        let mut chunker = Chunker::default();
        // What is left of the last time does no harm.
        for _ in 0..2 {
            chunker.clear();
            masked.iter().for_each(|&(item, mask)| chunker.push_mask(item, mask));
            let found = chunker.chunks_by(k, m, rank, &()).unwrap();
            assert!(found.iter().all(|bag| bag.canonical_fault().is_none()));
            assert_eq!(found, expected);
        }
        // As REFINE fills it.
        chunker.clear();
        for &(item, mask) in &masked {
            chunker.push_term(item, mask.count_ones());
        }
        for record in 0..u64::BITS {
            let with = masked.iter().enumerate().filter(|(_, term)| term.1 >> record & 1 == 1);
            chunker.push_record(with.map(|(number, _)| number as u32));
        }
        let total: usize = chunker.itemsets().iter().map(Vec::len).sum();
        assert_eq!(total as u32, masked.iter().map(|t| t.1.count_ones()).sum::<u32>());
        assert_eq!(chunker.chunks_by(k, m, rank, &()).unwrap(), expected);
    }

    proptest! {
        #![proptest_config(testkit::settings::cases(256))]

        #[test]
        fn few_records_are_divided_like_many(
            rows in prop::collection::vec(prop::collection::btree_set(0u32..9, 0..7), 0..=64),
            k in 2u32..7,
            m in 1u32..6,
            ranks in prop::collection::vec(0u32..3, 9),
        ) {
            let mask = |item: ItemId| {
                let with = (0..rows.len()).filter(|&record| rows[record].contains(&item));
                with.fold(0, |mask, record| mask | 1 << record)
            };
            let terms: Vec<Masked> = (0..9).map(|item| (item, mask(item))).collect();
            agree(&terms, k, m, |item| ranks[item as usize]);
        }
    }

    proptest! {
        #![proptest_config(testkit::settings::cases(24))]

        /// On both sides of the borders up to which the words are the quicker form.
        #[test]
        fn so_are_few_records_of_many_terms(
            // Items that mostly occur together, as otherwise every chunk has one.
            groups in prop::collection::vec(any::<u64>(), 6),
            items in prop::collection::vec((0usize..6, any::<u64>(), any::<u64>()), 300),
            terms in prop_oneof![60usize..=68, 252usize..=260, 60usize..=300],
            k in 2u32..5,
            m in 1u32..5,
        ) {
            let mask = |&(group, a, b): &(usize, u64, u64)| groups[group] & (a | b);
            let terms: Vec<Masked> = (0..).zip(items[..terms].iter().map(mask)).collect();
            agree(&terms, k, m, |item| item % 3);
        }
    }
}
