//! Clusters of record chunks, term chunks and shared chunks
//! (disassociation-2012, section 3).
//!
//! Canonical order: items by text; sub-records by items; chunks as their
//! sub-records compare; clusters by size, simple before joint, then by their
//! chunks, then by their term chunk or their children. Nothing in it depends
//! on the order of the records or on the order in which chunks were made.

use rayon::prelude::*;

use super::Bag;
use crate::data::{ItemId, Vocabulary};
use crate::{Error, Result};

/// The body of a disassociated release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disassociated {
    /// Every published term.
    pub vocabulary: Vocabulary,
    /// Simple and joint clusters, in canonical order.
    pub clusters: Vec<Cluster>,
}

/// A cluster, alone or joined with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cluster {
    /// One cluster with chunks of its own.
    Simple(SimpleCluster),
    /// Several clusters that share chunks.
    Joint(JointCluster),
}

/// `size` records, split into chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SimpleCluster {
    /// How many records the cluster holds.
    pub size: u32,
    /// Bags of sub-records over disjoint domains.
    pub record_chunks: Vec<Bag>,
    /// Terms that occur in the cluster, ascending; how often and where is hidden.
    pub term_chunk: Vec<ItemId>,
}

/// Clusters that share chunks over terms that left their term chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct JointCluster {
    /// The sum of the children's sizes.
    pub size: u32,
    /// Bags of sub-records that may belong to any leaf below.
    pub shared_chunks: Vec<Bag>,
    /// At least two.
    pub children: Vec<Cluster>,
}

impl Cluster {
    /// How many records the cluster holds.
    pub fn size(&self) -> u32 {
        match self {
            Self::Simple(cluster) => cluster.size,
            Self::Joint(cluster) => cluster.size,
        }
    }

    /// The record chunks of a simple or the shared chunks of a joint cluster.
    pub fn chunks(&self) -> &[Bag] {
        match self {
            Self::Simple(cluster) => &cluster.record_chunks,
            Self::Joint(cluster) => &cluster.shared_chunks,
        }
    }

    /// The clusters directly below; none for a simple cluster.
    pub fn children(&self) -> &[Cluster] {
        match self {
            Self::Simple(_) => &[],
            Self::Joint(cluster) => &cluster.children,
        }
    }

    /// The simple clusters at or below this one, in order.
    pub fn leaves(&self) -> Vec<&SimpleCluster> {
        let (mut leaves, mut stack) = (Vec::new(), vec![self]);
        while let Some(cluster) = stack.pop() {
            match cluster {
                Self::Simple(leaf) => leaves.push(leaf),
                Self::Joint(joint) => stack.extend(joint.children.iter().rev()),
            }
        }
        leaves
    }

    /// Where a cluster whose chunks are in order comes among others, as far as
    /// its size, whether it is joint, and the first two items of its first
    /// sub-record tell; those that are equal here need not be equal.
    fn sort_key(&self) -> u128 {
        let first = self.chunks().first().filter(|bag| !bag.is_empty());
        let items = first.map_or(&[][..], |bag| bag.get(0).0);
        // What has no such item comes first.
        let item = |i: usize| items.get(i).map_or(0, |&item| u128::from(item) + 1);
        let joint = u128::from(matches!(self, Self::Joint(_)));
        u128::from(self.size()) << 80 | joint << 79 | item(0) << 40 | item(1)
    }

    /// Gives every item another number; the order of the numbers must stay.
    pub(crate) fn renumber(&mut self, ids: &[ItemId]) {
        match self {
            Self::Simple(cluster) => {
                cluster.record_chunks.iter_mut().for_each(|chunk| chunk.renumber(ids));
                cluster.term_chunk.iter_mut().for_each(|item| *item = ids[*item as usize]);
            }
            Self::Joint(cluster) => {
                cluster.shared_chunks.iter_mut().for_each(|chunk| chunk.renumber(ids));
                cluster.children.iter_mut().for_each(|child| child.renumber(ids));
            }
        }
    }

    /// Puts chunks and children in canonical order. Bags are canonical by
    /// construction and stay as they are.
    pub fn canonicalize(&mut self) {
        match self {
            Self::Simple(cluster) => cluster.record_chunks.sort_unstable(),
            Self::Joint(cluster) => {
                cluster.shared_chunks.sort_unstable();
                cluster.children.iter_mut().for_each(Self::canonicalize);
                cluster.children.sort_unstable();
            }
        }
    }
}

/// Clusters with everything in them in canonical order.
pub(crate) fn in_canonical_order(clusters: Vec<Cluster>) -> Vec<Cluster> {
    // By keys: comparing clusters means looking into their chunks.
    let keyed = |mut cluster: Cluster| {
        cluster.canonicalize();
        (cluster.sort_key(), cluster)
    };
    let mut keyed: Vec<(u128, Cluster)> = clusters.into_par_iter().map(keyed).collect();
    keyed.par_sort_unstable_by(|(a, x), (b, y)| a.cmp(b).then_with(|| x.cmp(y)));
    keyed.into_iter().map(|(_, cluster)| cluster).collect()
}

impl Ord for Cluster {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let rank = |c: &Self| (c.size(), matches!(c, Self::Joint(_)));
        rank(self).cmp(&rank(other)).then_with(|| match (self, other) {
            (Self::Simple(a), Self::Simple(b)) => a.cmp(b),
            (Self::Joint(a), Self::Joint(b)) => a.cmp(b),
            _ => unreachable!("ranks differ"),
        })
    }
}

impl PartialOrd for Cluster {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Disassociated {
    /// Puts the bodies of parts together: one vocabulary of the terms that
    /// stand in some cluster, and all clusters in canonical order, as if they
    /// had been made together.
    ///
    /// # Errors
    /// If there are more terms than can be numbered.
    pub fn merge(parts: impl IntoIterator<Item = Self>) -> Result<Self> {
        let mut parts: Vec<Self> = parts.into_iter().collect();
        let published: Vec<Vec<bool>> = parts.iter().map(Self::published).collect();
        let labels = parts.iter().zip(&published).flat_map(|(part, published)| {
            part.vocabulary.labels().zip(published).filter(|(_, p)| **p).map(|(label, _)| label)
        });
        let mut labels: Vec<&str> = labels.collect();
        labels.par_sort_unstable();
        labels.dedup();
        if u32::try_from(labels.len()).is_err() {
            return Err(Error::TooLarge {
                what: "terms",
                found: labels.len() as u64,
                limit: u32::MAX.into(),
                hint: "publish several releases",
            });
        }
        let vocabulary = Vocabulary::from_sorted(labels);
        for (part, published) in parts.iter_mut().zip(&published) {
            // Both vocabularies ascend, so what was in order stays in order.
            let id = |(label, published): (&str, &bool)| match published {
                true => vocabulary.id(label).expect("a published label"),
                false => ItemId::MAX,
            };
            let ids: Vec<ItemId> = part.vocabulary.labels().zip(published).map(id).collect();
            part.clusters.par_iter_mut().for_each(|cluster| cluster.renumber(&ids));
        }
        let clusters = parts.into_iter().flat_map(|part| part.clusters).collect();
        Ok(Self { vocabulary, clusters: in_canonical_order(clusters) })
    }

    /// For every term whether it stands in some cluster.
    fn published(&self) -> Vec<bool> {
        let mut published = vec![false; self.vocabulary.len()];
        let mut stack: Vec<&Cluster> = self.clusters.iter().collect();
        while let Some(cluster) = stack.pop() {
            let chunks = cluster.chunks().iter().flat_map(Bag::items);
            let term_chunk = match cluster {
                Cluster::Simple(cluster) => &cluster.term_chunk[..],
                Cluster::Joint(_) => &[],
            };
            chunks.chain(term_chunk).for_each(|&item| published[item as usize] = true);
            stack.extend(cluster.children());
        }
        published
    }

    /// How many records the clusters hold together.
    pub fn records(&self) -> u64 {
        self.clusters.iter().map(|c| u64::from(c.size())).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cluster() -> impl Strategy<Value = Cluster> {
        let itemset = prop::collection::btree_set(0u32..3, 1..3);
        let chunk = prop::collection::vec(itemset, 0..3).prop_map(|sets| {
            let sets: Vec<Vec<ItemId>> =
                sets.into_iter().map(|s| s.into_iter().collect()).collect();
            Bag::from_itemsets(sets.iter().map(Vec::as_slice))
        });
        let chunks = prop::collection::vec(chunk, 0..3);
        (1u32..3, chunks, any::<bool>()).prop_map(|(size, chunks, joint)| {
            let (record_chunks, shared_chunks) = (chunks.clone(), chunks);
            if joint {
                Cluster::Joint(JointCluster { size, shared_chunks, children: Vec::new() })
            } else {
                Cluster::Simple(SimpleCluster { size, record_chunks, term_chunk: Vec::new() })
            }
        })
    }

    proptest! {
        #![proptest_config(testkit::settings::cases(256))]

        /// Keys never contradict the canonical order.
        #[test]
        fn keys_follow_the_canonical_order(a in cluster(), b in cluster()) {
            let keys = a.sort_key().cmp(&b.sort_key());
            prop_assert!(keys.is_eq() || keys == a.cmp(&b), "{:?} {:?}", a, b);
        }
    }
}
