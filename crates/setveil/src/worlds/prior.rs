//! What an expected support is multiplied by, beyond counting worlds.
//!
//! Counting takes every world for equally likely: a term of a term chunk is once in its
//! cluster, in a record that has nothing to do with the other terms. Real records differ in
//! length, and rare items gather in the long ones, so two terms of one term chunk meet more often
//! than that. [`Prior::Measured`] says how much more: one moderate setting among some thirty that
//! were tried on six public data sets (docs/analyst.md, `experiments estimates`). What chunks show of
//! pairs is cut off below k, and says nothing about rarer ones. But a release shows how much the
//! mean lengths of records differ between clusters ([`spread`]): where they hardly do, as in Quest data,
//! there are no long records to gather in, and the factors are taken back.

use serde::{Deserialize, Serialize};

use crate::release::{Bag, Body, Cluster, Leaf};

/// From this [`spread`] on, the factors count in full. The five real data sets have more.
const FULL_SPREAD: f64 = 0.2;
/// Up to this one they do not count at all; in between, in proportion.
const NO_SPREAD: f64 = 0.1;

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
            Self::Measured => {
                Factors::MEASURED.scaled((spread(body) - NO_SPREAD) / (FULL_SPREAD - NO_SPREAD))
            }
            Self::Worlds => Factors::WORLDS,
        }
    }
}

impl Factors {
    /// All worlds are equally likely.
    pub const WORLDS: Self =
        Self { occurrences: 1.0, two_terms: 1.0, term_and_chunk: 1.0, not_kept: 1.0, seen: 0.0 };
    /// As measured.
    pub const MEASURED: Self =
        Self { occurrences: 1.15, two_terms: 2.0, term_and_chunk: 1.3, not_kept: 1.4, seen: 0.5 };

    /// As far away from equally likely worlds as `share` says, which counts between 0 and 1. What
    /// is seen of pairs counts as it did.
    pub fn scaled(self, share: f64) -> Self {
        // Where there is nothing to compare, `share` is not a number.
        let share = if share > 0.0 { share.min(1.0) } else { 0.0 };
        let scaled = |factor: f64| 1.0 + share * (factor - 1.0);
        Self {
            occurrences: scaled(self.occurrences),
            two_terms: scaled(self.two_terms),
            term_and_chunk: scaled(self.term_and_chunk),
            not_kept: scaled(self.not_kept),
            seen: self.seen,
        }
    }

    /// The expected support in one leaf of an itemset with items from so many
    /// chunks and so many terms of the term chunk, if all worlds were equally likely `mean`.
    /// No more than `most`, unless that mean is more.
    pub(super) fn expected(&self, chunks: usize, terms: usize, mean: f64, most: f64) -> f64 {
        if terms == 0 {
            return mean;
        }
        let Self { occurrences, two_terms, term_and_chunk, .. } = self;
        let pairs = (terms * (terms - 1) / 2) as i32;
        let alone = occurrences.powi(terms as i32);
        let attraction = (two_terms / (occurrences * occurrences)).powi(pairs);
        let to_chunks = (term_and_chunk / occurrences).powi(terms as i32);
        let factor = alone * attraction * if chunks > 0 { to_chunks } else { 1.0 };
        // Nobody meets more often than the rarest occurs.
        let most = if chunks + terms > 1 { most.min(*occurrences) } else { most };
        (mean * factor).min(most).max(mean)
    }
}

/// How much the mean lengths of the records of clusters, or leaves, differ: their variance over
/// records, divided by the square of the mean. A term of a term chunk or a listed item counts
/// once. Not a number where there is nothing to compare.
pub fn spread(body: &Body) -> f64 {
    let mut sums = (0.0, 0.0, 0.0);
    let mut add = |size: u32, occurrences: f64| {
        let size = f64::from(size.max(1));
        sums = (sums.0 + size, sums.1 + occurrences, sums.2 + occurrences * occurrences / size);
    };
    match body {
        Body::Disassociated(body) => {
            body.clusters.iter().for_each(|c| add(c.size(), occurrences(c)))
        }
        Body::Located(body) => body.leaves.iter().for_each(|l| add(l.size, of_leaf(l))),
        _ => {}
    }
    let (records, sum, squares) = sums;
    let mean = sum / records;
    squares / records / (mean * mean) - 1.0
}

/// How many items the records of a leaf have.
fn of_leaf(leaf: &Leaf) -> f64 {
    let counted: f64 = leaf.counted.iter().map(|&(_, count)| f64::from(count)).sum();
    in_bag(&leaf.kept) + counted + leaf.listed.len() as f64
}

fn in_bag(bag: &Bag) -> f64 {
    bag.iter().map(|(items, count)| items.len() as f64 * f64::from(count)).sum()
}

/// How many items the chunks of a cluster and of those below it have.
fn occurrences(cluster: &Cluster) -> f64 {
    let (mut all, mut stack) = (0.0, vec![cluster]);
    while let Some(cluster) = stack.pop() {
        all += cluster.chunks().iter().map(in_bag).sum::<f64>();
        if let Cluster::Simple(leaf) = cluster {
            all += leaf.term_chunk.len() as f64;
        }
        stack.extend(cluster.children());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::{Disassociated, Located, SimpleCluster};

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
    fn factors_are_taken_back_where_records_are_alike() {
        assert!(spread(&body(&[3, 3, 3])).abs() < 1e-12);
        // Lengths 2 and 6: mean 4, variance 4.
        assert!((spread(&body(&[2, 6])) - 0.25).abs() < 1e-12);
        let factors = |lengths: &[u32]| Prior::Measured.factors(&body(lengths));
        assert_eq!(factors(&[2, 6]), Factors::MEASURED);
        // What is seen of pairs counts everywhere.
        let alike = Factors { seen: Factors::MEASURED.seen, ..Factors::WORLDS };
        assert_eq!([factors(&[3, 3, 3]), factors(&[])], [alike, alike]);
        // Lengths 9, 12 and 21: mean 14, variance 26, a third of the way.
        let share = (26.0 / 196.0 - 0.1) / 0.1;
        assert!((factors(&[9, 12, 21]).two_terms - 1.0 - share).abs() < 1e-9);
        assert_eq!(Prior::Worlds.factors(&body(&[2, 6])), Factors::WORLDS);
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
