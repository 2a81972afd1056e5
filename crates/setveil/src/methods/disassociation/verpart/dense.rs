//! The greedy loop of VERPART where it runs most: on few records. A set of
//! records is then one word, and a combination of terms is an `&`.
//!
//! Does what [`TermMatrix`](super::sparse::TermMatrix) does; a property test
//! of [`Chunker`](super::Chunker) holds the two against each other.

use crate::Result;
use crate::data::{ItemId, K, M};
use crate::progress::{Progress, Pulse};
use crate::release::Bag;

/// So many records fit.
pub(super) const MOST_RECORDS: usize = u64::BITS as usize;
/// With more terms than this, walking through sparse rows is quicker.
const MOST_TERMS: usize = 64;
/// For pairs it is not: a chunk looks at each of its terms once, and rows at all pairs in them.
const MOST_TERMS_PAIRS: usize = 256;

/// Up to how many terms this form is the quicker one.
pub(super) fn most_terms(m: M) -> usize {
    if m.get() <= 2 { MOST_TERMS_PAIRS } else { MOST_TERMS }
}

/// A term with the set of records that have it.
pub(super) type Masked = (ItemId, u64);

/// Arrays that are used again from cluster to cluster.
#[derive(Debug, Default)]
pub(super) struct Dense {
    /// The terms after rank and support in one number, which falls with the support.
    order: Vec<(u64, ItemId, u64)>,
    domains: Vec<Vec<Masked>>,
    prefix: Vec<ItemId>,
    bag: Bag,
}

impl Dense {
    /// Divides the terms, each of support >= k, into k^m-anonymous chunks. Each
    /// goes to the first chunk that accepts it, in the order of `rank`, then of
    /// falling support, ties by text.
    pub(super) fn chunks(
        &mut self,
        terms: &[Masked],
        k: K,
        m: M,
        rank: impl Fn(ItemId) -> u32,
        progress: &dyn Progress,
    ) -> Result<Vec<Bag>> {
        let Self { order, domains, prefix, bag } = self;
        order.clear();
        order.extend(terms.iter().map(|&(item, mask)| {
            (u64::from(rank(item)) << 32 | u64::from(mask.count_zeros()), item, mask)
        }));
        order.sort_unstable_by_key(|term| (term.0, term.1));
        let (k, depth) = (k.get(), m.get() - 1);
        let mut count = 0;
        for term in order.iter().map(|term| (term.1, term.2)) {
            let chunk = if depth <= SHALLOW {
                let accepts = |d: &Vec<Masked>| !rare(term.1, d, k, depth);
                domains[..count].iter().position(accepts).unwrap_or(count)
            } else {
                first_chunk(term.1, &domains[..count], k, depth, progress)?
            };
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
        Ok(domains[..count].iter_mut().map(project).collect())
    }
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

/// Combinations of so many partners are few enough not to ask on the way.
const SHALLOW: u32 = 3;

/// The first of the `domains` that accepts a term with these records. Asks on
/// the way.
fn first_chunk(
    set: u64,
    domains: &[Vec<Masked>],
    k: u32,
    depth: u32,
    progress: &dyn Progress,
) -> Result<usize> {
    let mut pulse = Pulse::new(progress);
    for (chunk, domain) in domains.iter().enumerate() {
        if !rare_deep(set, domain, k, depth, &mut pulse)? {
            return Ok(chunk);
        }
    }
    Ok(domains.len())
}

/// [`rare`] that asks on the way.
fn rare_deep(set: u64, partners: &[Masked], k: u32, depth: u32, pulse: &mut Pulse) -> Result<bool> {
    if depth <= SHALLOW {
        pulse.work(partners.len().pow(depth.min(2)))?;
        return Ok(rare(set, partners, k, depth));
    }
    for (i, partner) in partners.iter().enumerate() {
        let (common, rest) = (set & partner.1, &partners[i + 1..]);
        if common != 0
            && (common.count_ones() < k
                || common != set && rare_deep(common, rest, k, depth - 1, pulse)?)
        {
            return Ok(true);
        }
    }
    Ok(false)
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
