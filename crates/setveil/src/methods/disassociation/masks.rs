//! The greedy loop of VERPART where it runs most: on few records. A set of
//! records is then one word, and a combination of terms is an `&`.
//!
//! Does what [`TermMatrix`](super::chunking::TermMatrix) does; a property test
//! holds the two against each other.

use super::chunking::TermMatrix;
use crate::data::{ItemId, K, M};
use crate::release::Bag;

/// So many records fit.
pub(super) const MOST_RECORDS: usize = u64::BITS as usize;
/// With more terms than this, walking through sparse rows is quicker.
const MOST_TERMS: usize = 64;

/// A term with the set of records that have it.
pub(super) type Masked = (ItemId, u64);

/// Divides terms into chunks; its arrays are used again.
#[derive(Debug, Default)]
pub(super) struct Chunker {
    /// What is to be divided: terms of support >= k, by ascending text.
    pub(super) terms: Vec<Masked>,
    domains: Vec<Vec<Masked>>,
    prefix: Vec<ItemId>,
    bag: Bag,
}

impl Chunker {
    /// Divides the terms into k^m-anonymous chunks. Each goes to the first
    /// chunk that accepts it, in the order of falling support, ties by text.
    pub(super) fn chunks(&mut self, k: K, m: M) -> Vec<Bag> {
        if self.terms.len() > MOST_TERMS {
            sparse(&self.terms).chunks(k, m)
        } else {
            self.dense(k, m)
        }
    }

    fn dense(&mut self, k: K, m: M) -> Vec<Bag> {
        let Self { terms, domains, prefix, bag } = self;
        terms.sort_unstable_by_key(|&(item, mask)| (std::cmp::Reverse(mask.count_ones()), item));
        let mut count = 0;
        for &term in &*terms {
            let accepts = |d: &Vec<Masked>| !rare(term.1, d, k.get(), m.get() - 1);
            let chunk = domains[..count].iter().position(accepts).unwrap_or(count);
            if chunk == count {
                count += 1;
                if domains.len() < count {
                    domains.push(Vec::new());
                }
                domains[chunk].clear();
            }
            domains[chunk].push(term);
        }
        let project = |domain: &mut Vec<Masked>| {
            domain.sort_unstable_by_key(|term| term.0);
            bag.clear();
            project(domain, u64::MAX, prefix, bag);
            // Of the right size: there are very many.
            bag.clone()
        };
        domains[..count].iter_mut().map(project).collect()
    }
}

fn sparse(terms: &[Masked]) -> TermMatrix {
    let supports: Vec<(ItemId, u32)> = terms.iter().map(|t| (t.0, t.1.count_ones())).collect();
    let mut occurrences = Vec::new();
    for r in 0..u64::BITS {
        let with = terms.iter().enumerate().filter(|(_, t)| t.1 >> r & 1 == 1);
        occurrences.extend(with.map(|(i, _)| (r, i as u32)));
    }
    TermMatrix::new(&supports, MOST_RECORDS, &occurrences)
}

/// Whether `set`, intersected with at least one and at most `depth` of the
/// `partners`, gives a set that is not empty and smaller than k.
fn rare(set: u64, partners: &[Masked], k: u32, depth: u32) -> bool {
    depth > 0
        && partners.iter().enumerate().any(|(i, partner)| {
            let common = set & partner.1;
            // A partner that all of these records have changes no support: what
            // is rare with it is rare without it, and is found there.
            common != 0
                && (common.count_ones() < k
                    || common != set && rare(common, &partners[i + 1..], k, depth - 1))
        })
}

/// Adds what the records of `set` have of `terms`, which ascend, to the bag,
/// each after the items of `prefix`; canonical order needs no sorting.
fn project(terms: &[Masked], mut set: u64, prefix: &mut Vec<ItemId>, bag: &mut Bag) {
    let some = terms.iter().fold(0, |some, term| some | term.1);
    let none = (set & !some).count_ones();
    if none > 0 && !prefix.is_empty() {
        bag.push(prefix, none);
    }
    set &= some;
    for (i, &(item, mask)) in terms.iter().enumerate() {
        let with = set & mask;
        if with != 0 {
            prefix.push(item);
            project(&terms[i + 1..], with, prefix, bag);
            prefix.pop();
            set &= !with;
        }
        if set == 0 {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(testkit::settings::cases(256))]

        /// Words and sparse rows agree, and the bags are canonical.
        #[test]
        fn as_the_matrix_does(
            rows in prop::collection::vec(prop::collection::btree_set(0u32..9, 0..7), 0..=64),
            k in 2u32..7,
            m in 1u32..6,
        ) {
            let masked: Vec<Masked> = (0..9)
                .map(|item| {
                    let has = |r: &usize| rows[*r].contains(&item);
                    (item, (0..rows.len()).filter(has).fold(0, |mask, r| mask | 1 << r))
                })
                .filter(|(_, mask): &Masked| mask.count_ones() >= k)
                .collect();
            let (k, m) = (K::new(k).unwrap(), M::new(m).unwrap());
            let expected = sparse(&masked).chunks(k, m);
            let mut chunker = Chunker { terms: masked.clone(), ..Chunker::default() };
            let found = chunker.dense(k, m);
            // What is left of the last time does no harm.
            chunker.terms = masked;
            prop_assert_eq!(&found, &chunker.dense(k, m));
            prop_assert!(found.iter().all(|bag| bag.canonical_fault().is_none()));
            prop_assert_eq!(found, expected);
        }
    }
}
