//! What an expected support is multiplied by, beyond counting worlds.
//!
//! Counting takes every world for equally likely: a term of a term chunk is once in its
//! cluster, in a record that has nothing to do with the other terms. Real records differ in
//! length, and rare items gather in the long ones. If an item is in a record in proportion to that record's
//! length, two of them meet 1 + v times as often as if they ignored each other, v being the variance of
//! the lengths divided by the square of their mean. A release hides lengths, but it shows the mean lengths of
//! its leaves, and how much these differ ([`spread`]) is the part of v that can be seen. [`Prior::Measured`]
//! multiplies by more where they differ more; how much more was measured on six public data sets
//! (docs/analyst.md, `experiments estimates`). What chunks show of pairs is cut off below k, and says nothing
//! about rarer ones.

use serde::{Deserialize, Serialize};

use crate::release::{Bag, Body, Cluster, Leaf};

/// How many records of its leaf have a term of the term chunk, on average. It was 1.1 to 1.3 in the data sets.
const OCCURRENCES: f64 = 1.15;
/// Two terms meet 1 + this times the [`spread`] as often.
const TWO_TERMS: f64 = 2.0;
/// A term meets what stands in a chunk 1 + this times the [`spread`] as often: that depends less
/// on the length of a record.
const TERM_AND_CHUNK: f64 = 1.2;
/// Nothing was measured beyond this [`spread`].
const MOST_SPREAD: f64 = 2.0;
/// Two items of which a leaf does not keep one meet so often,
const NOT_KEPT: f64 = 1.4;
/// in full from this [`spread`] on,
const FULL_SPREAD: f64 = 0.2;
/// and up to this one not at all; in between, in proportion.
const NO_SPREAD: f64 = 0.1;
/// So many terms draw each other together.
const ATTRACTED: usize = 3;
/// How far what is seen of a pair is followed.
const SEEN: f64 = 0.5;

/// How much more often rare items occur and meet than if all worlds were equally likely.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Factors {
    /// A term of a term chunk is in so many records of its cluster on average.
    pub occurrences: f64,
    /// Two terms of a term chunk meet so often, against two that ignore each other and
    /// are in one record each.
    pub two_terms: f64,
    /// A term meets what stands in a chunk so often, likewise.
    pub term_and_chunk: f64,
    /// Two items of a leaf meet this many times as often where one of them is not kept.
    pub not_kept: f64,
    /// Pairs that are seen together more often than by chance are so elsewhere, by this power
    /// of how much more often: 0 for not at all, 1 for just as much.
    pub seen: f64,
    /// Two that are seen together once or twice say little: so much is added to both sides of
    /// that comparison.
    pub caution: f64,
}

/// How likely the worlds of a release are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prior {
    /// As measured on other data: rare items of a cluster gather in few records.
    #[default]
    Measured,
    /// All equally.
    Worlds,
}

impl Prior {
    /// What is assumed of a release.
    pub fn factors(self, body: &Body) -> Factors {
        match self {
            Self::Measured => Factors::measured(spread(body)),
            Self::Worlds => Factors::WORLDS,
        }
    }
}

impl Factors {
    /// All worlds are equally likely.
    pub const WORLDS: Self = Self {
        occurrences: 1.0,
        two_terms: 1.0,
        term_and_chunk: 1.0,
        not_kept: 1.0,
        seen: 0.0,
        caution: 2.0,
    };
    /// As measured where the lengths of records differ by this [`spread`].
    pub fn measured(spread: f64) -> Self {
        // Where there is nothing to compare, it is not a number.
        let share = (spread - NO_SPREAD) / (FULL_SPREAD - NO_SPREAD);
        let share = if share > 0.0 { share.min(1.0) } else { 0.0 };
        Self {
            occurrences: OCCURRENCES,
            not_kept: 1.0 + share * (NOT_KEPT - 1.0),
            seen: SEEN,
            ..Self::by_lengths(TWO_TERMS, TERM_AND_CHUNK, spread)
        }
    }

    /// Factors that grow with the [`spread`]: where the lengths of records differ more, rare items meet more
    /// often. Each factor is 1, plus the number given here times the spread.
    pub fn by_lengths(two_terms: f64, term_and_chunk: f64, spread: f64) -> Self {
        let spread = if spread > 0.0 { spread.min(MOST_SPREAD) } else { 0.0 };
        Self {
            two_terms: 1.0 + two_terms * spread,
            term_and_chunk: 1.0 + term_and_chunk * spread,
            ..Self::WORLDS
        }
    }

    /// The expected support in one leaf of an itemset with items from so many
    /// chunks and so many terms of the term chunk. `mean` says what it would be for
    /// some of these chunks and terms if all worlds were equally likely; of the chunks
    /// it is asked for all or none. No more than `most`, unless that mean is more.
    ///
    /// With one term more the factor can grow faster than the mean falls. But whoever has
    /// all has a part: a set is not expected more often than what it consists of.
    pub(super) fn expected(
        &self,
        chunks: usize,
        terms: usize,
        most: f64,
        mean: impl Fn(usize, usize) -> f64,
    ) -> f64 {
        let whole = mean(chunks, terms);
        if terms == 0 {
            return whole;
        }
        let mut expected = whole * self.factor(chunks, terms);
        if chunks + terms > 2 && expected > whole {
            let fewer = |terms| mean(chunks, terms) * self.factor(chunks, terms);
            let alone = |terms| mean(0, terms) * self.factor(0, terms);
            for terms in 1..=terms.min(ATTRACTED) {
                expected = expected.min(fewer(terms)).min(alone(terms));
            }
            expected = expected.min(alone(terms));
            if chunks > 0 {
                expected = expected.min(mean(chunks, 0));
            }
        }
        // Nobody meets more often than the rarest occurs.
        let most = if chunks + terms > 1 { most.min(self.occurrences) } else { most };
        expected.min(most).max(whole)
    }

    /// What the mean is multiplied by.
    fn factor(&self, chunks: usize, terms: usize) -> f64 {
        let Self { occurrences, two_terms, term_and_chunk, .. } = self;
        // More terms than that are not drawn together any further: the factor then stays, and the mean falls.
        let terms = terms.min(ATTRACTED);
        let pairs = (terms * terms.saturating_sub(1) / 2) as i32;
        let alone = occurrences.powi(terms as i32);
        let attraction = (two_terms / (occurrences * occurrences)).powi(pairs);
        let to_chunks = (term_and_chunk / occurrences).powi(terms as i32);
        alone * attraction * if chunks > 0 { to_chunks } else { 1.0 }
    }
}

/// How much the mean lengths of the records of leaves differ: their variance over
/// records, divided by the square of the mean. A term of a term chunk or a listed item counts
/// once, and what leaves share counts for each by its size. Not a number where there is nothing to compare.
pub fn spread(body: &Body) -> f64 {
    let mut sums = (0.0, 0.0, 0.0);
    let mut add = |size: u32, occurrences: f64| {
        let size = f64::from(size.max(1));
        sums = (sums.0 + size, sums.1 + occurrences, sums.2 + occurrences * occurrences / size);
    };
    match body {
        Body::Disassociated(body) => body.clusters.iter().for_each(|c| each_leaf(c, &mut add)),
        Body::Located(body) => body.leaves.iter().for_each(|l| add(l.size, of_leaf(l))),
        _ => {}
    }
    let (records, sum, squares) = sums;
    let mean = sum / records;
    squares / records / (mean * mean) - 1.0
}

/// Calls `add` for the leaves of a cluster with their size and how many items their records have.
fn each_leaf(cluster: &Cluster, add: &mut impl FnMut(u32, f64)) {
    // With what a record gets on average from the shared chunks above.
    let mut stack = vec![(cluster, 0.0)];
    while let Some((cluster, above)) = stack.pop() {
        let chunks: f64 = cluster.chunks().iter().map(in_bag).sum();
        let size = f64::from(cluster.size().max(1));
        if let Cluster::Simple(leaf) = cluster {
            add(leaf.size, chunks + leaf.term_chunk.len() as f64 + above * size);
        }
        stack.extend(cluster.children().iter().map(|child| (child, above + chunks / size)));
    }
}

/// How many items the records of a leaf have.
fn of_leaf(leaf: &Leaf) -> f64 {
    let counted: f64 = leaf.counted.iter().map(|&(_, count)| f64::from(count)).sum();
    in_bag(&leaf.kept) + counted + leaf.listed.len() as f64
}

fn in_bag(bag: &Bag) -> f64 {
    bag.iter().map(|(items, count)| items.len() as f64 * f64::from(count)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::{Disassociated, JointCluster, Located, SimpleCluster};

    fn body(lengths: &[u32]) -> Body {
        let cluster = |&length: &u32| {
            let items: Vec<u32> = (0..length).collect();
            let record_chunks = vec![Bag::from_counted([(&items[..], 4)])];
            Cluster::Simple(SimpleCluster { size: 4, record_chunks, term_chunk: Vec::new() })
        };
        let clusters = lengths.iter().map(cluster).collect();
        Body::Disassociated(Disassociated { clusters, ..Default::default() })
    }

    #[test]
    fn what_leaves_share_counts_for_each_of_them_by_its_size() {
        // Leaves of 4 records with 2 and 6 items each, and one more for half of all records.
        let Body::Disassociated(alone) = body(&[2, 6]) else { return };
        let shared_chunks = vec![Bag::from_counted([(&[9][..], 4)])];
        let joint = JointCluster { size: 8, shared_chunks, children: alone.clusters };
        let clusters = vec![Cluster::Joint(joint)];
        let joint = Body::Disassociated(Disassociated { clusters, ..Default::default() });
        // Lengths 2.5 and 6.5: mean 4.5, variance 4.
        assert!((spread(&joint) - 4.0 / 20.25).abs() < 1e-12);
    }

    #[test]
    fn rare_items_meet_the_more_often_the_more_lengths_differ() {
        assert!(spread(&body(&[3, 3, 3])).abs() < 1e-12);
        // Lengths 2 and 6: mean 4, variance 4.
        assert!((spread(&body(&[2, 6])) - 0.25).abs() < 1e-12);
        let factors = |lengths: &[u32]| Prior::Measured.factors(&body(lengths));
        let found = factors(&[2, 6]);
        assert!((found.two_terms - 1.0 - TWO_TERMS / 4.0).abs() < 1e-9);
        assert!((found.term_and_chunk - 1.0 - TERM_AND_CHUNK / 4.0).abs() < 1e-9);
        assert!((found.not_kept - NOT_KEPT).abs() < 1e-9);
        // What is seen of pairs, and how often a term occurs, count everywhere.
        let alike = Factors { occurrences: OCCURRENCES, seen: SEEN, ..Factors::WORLDS };
        assert_eq!([factors(&[3, 3, 3]), factors(&[])], [alike, alike]);
        // Lengths 9, 12 and 21: mean 14, variance 26, a third of the way.
        let share = (26.0 / 196.0 - 0.1) / 0.1;
        assert!((factors(&[9, 12, 21]).not_kept - 1.0 - share * 0.4).abs() < 1e-9);
        // One long record in very many: no more than was measured.
        assert_eq!(Factors::measured(50.0), Factors::measured(MOST_SPREAD));
        assert_eq!(Prior::Worlds.factors(&body(&[2, 6])), Factors::WORLDS);
    }

    #[test]
    fn leaves_have_what_they_keep_count_and_list() {
        let leaf = |kept: &[u32], count| Leaf {
            size: 4,
            kept: Bag::from_counted([(kept, 4)]),
            counted: vec![(9, count)],
            listed: vec![7, 8],
        };
        // Lengths (4 + 2 + 2) / 4 and (12 + 10 + 2) / 4: the same 2 and 6.
        let leaves = vec![leaf(&[0], 2), leaf(&[0, 1, 2], 10)];
        let located = Body::Located(Located { leaves, ..Default::default() });
        assert!((spread(&located) - 0.25).abs() < 1e-12);
    }
}
