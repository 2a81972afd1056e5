//! How many records an attacker who knows covers can say something new about: those that
//! contain the two items of a cover and fit into its cluster.
//!
//! There are as many questions as people times covers of their pairs, and hardly any record fits. So both
//! questions, whether a pair is covered and whether a record may fit, are first asked of small
//! tables of hashes that never say no where the answer is yes.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::Background;
use super::cover::Cover;
use super::targets::People;
use crate::data::ItemId;
use crate::release::{Cluster, Disassociated};
use crate::worlds::BodyWorlds;
use crate::{Progress, Result};

/// Records of the original that contain a breached pair of a cluster they fit
/// into, as far as the attacker knows their items.
pub(super) fn vulnerable_records(
    covers: &[Cover],
    body: &Disassociated,
    (people, background): (&People, &Background),
    worlds: &BodyWorlds,
    progress: &dyn Progress,
) -> Result<u64> {
    if covers.is_empty() {
        return Ok(0);
    }
    let covers = Covers::new(covers, body);
    let starts = alike(people, background);
    let vulnerable = |tried: &mut Vec<u32>, i: usize| {
        let start = starts[i] as usize;
        let count = starts.get(i + 1).map_or(people.len(), |&next| next as usize) - start;
        progress.step(count as u64)?;
        let record = people.record(start);
        covers.clusters(background.of_record(start, record), tried);
        let contents = Contents::of(record);
        let mut possible =
            tried.iter().filter(|&&c| covers.contents[c as usize].has_all(&contents));
        let found = possible.any(|&c| worlds.fits(covers.clusters[c as usize], record));
        Ok(if found { count as u64 } else { 0 })
    };
    (0..starts.len())
        .into_par_iter()
        .map_init(Vec::new, vulnerable)
        .try_reduce(|| 0, |a, b| Ok(a + b))
}

/// Where equal records begin of whom the same is known; records are sorted.
fn alike(people: &People, background: &Background) -> Vec<u32> {
    let own = matches!(background, Background::Records { .. });
    let begins = |&r: &u32| {
        let r = r as usize;
        own || r == 0 || people.record(r - 1) != people.record(r)
    };
    (0..people.len() as u32).filter(begins).collect()
}

/// Covers by pair.
struct Covers {
    /// The clusters with covers, ascending, and what is in them.
    clusters: Vec<usize>,
    contents: Vec<Contents>,
    /// Numbers of clusters, a range for every pair.
    of_pairs: Vec<u32>,
    pairs: FxHashMap<(ItemId, ItemId), std::ops::Range<usize>>,
    marks: Marks,
}

impl Covers {
    fn new(covers: &[Cover], body: &Disassociated) -> Self {
        let mut clusters: Vec<usize> = covers.iter().map(|cover| cover.cluster).collect();
        clusters.sort_unstable();
        clusters.dedup();
        let contents = clusters.par_iter().map(|&c| Contents::of_cluster(&body.clusters[c]));
        let contents = contents.collect();
        let number = |cluster| clusters.partition_point(|&c| c < cluster) as u32;
        let mut by_pair: Vec<(ItemId, ItemId, u32)> =
            covers.iter().map(|cover| (cover.a, cover.b, number(cover.cluster))).collect();
        by_pair.par_sort_unstable();
        let mut pairs = FxHashMap::default();
        let mut start = 0;
        for run in by_pair.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
            pairs.insert((run[0].0, run[0].1), start..start + run.len());
            start += run.len();
        }
        let marks = Marks::of(pairs.keys());
        let of_pairs = by_pair.into_iter().map(|(.., cluster)| cluster).collect();
        Self { clusters, contents, of_pairs, pairs, marks }
    }

    /// Finds the numbers of the clusters with a cover of two of the items, each once.
    fn clusters(&self, items: &[ItemId], found: &mut Vec<u32>) {
        found.clear();
        for (i, &a) in items.iter().enumerate() {
            let covered = items[i + 1..].iter().filter(|&&b| self.marks.has(a, b));
            for range in covered.filter_map(|&b| self.pairs.get(&(a, b))) {
                found.extend(&self.of_pairs[range.clone()]);
            }
        }
        found.sort_unstable();
        found.dedup();
    }
}

/// A small table that most pairs which are not covered are not in: it stays in the
/// fastest memory, and a record has dozens of pairs.
struct Marks(Vec<u64>);

impl Marks {
    const BITS: u32 = 18;

    fn of<'a>(pairs: impl Iterator<Item = &'a (ItemId, ItemId)>) -> Self {
        let mut marks = Self(vec![0; 1 << (Self::BITS - 6)]);
        for &(a, b) in pairs {
            let (word, bit) = Self::place(a, b);
            marks.0[word] |= bit;
        }
        marks
    }

    fn place(a: ItemId, b: ItemId) -> (usize, u64) {
        let hash = hash(u64::from(a) << 32 | u64::from(b), Self::BITS);
        (hash >> 6, 1 << (hash & 63))
    }

    fn has(&self, a: ItemId, b: ItemId) -> bool {
        let (word, bit) = Self::place(a, b);
        self.0[word] & bit != 0
    }
}

/// Hashes of items: one line of memory. What a cluster does not have, none of its records has.
#[derive(Default)]
struct Contents([u64; 8]);

impl Contents {
    const BITS: u32 = 9;

    fn of(items: &[ItemId]) -> Self {
        let mut contents = Self::default();
        contents.add(items);
        contents
    }

    fn of_cluster(cluster: &Cluster) -> Self {
        let mut contents = Self::default();
        let mut stack = vec![cluster];
        while let Some(cluster) = stack.pop() {
            cluster.chunks().iter().for_each(|chunk| contents.add(chunk.items()));
            if let Cluster::Simple(leaf) = cluster {
                contents.add(&leaf.term_chunk);
            }
            stack.extend(cluster.children());
        }
        contents
    }

    fn add(&mut self, items: &[ItemId]) {
        for &item in items {
            let hash = hash(item.into(), Self::BITS);
            self.0[hash >> 6] |= 1 << (hash & 63);
        }
    }

    fn has_all(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(mine, others)| others & !mine == 0)
    }
}

/// A number below 2 to the power of `bits`.
fn hash(key: u64, bits: u32) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - bits)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::{Bag, JointCluster, SimpleCluster};

    #[test]
    fn nothing_that_is_there_is_missed() {
        let items = |from: ItemId| -> Vec<ItemId> { (from..from + 40).collect() };
        let bag = |from| Bag::from_itemsets([items(from).as_slice()]);
        let leaf = |record_chunk, term_chunk| {
            let record_chunks = vec![bag(record_chunk)];
            Cluster::Simple(SimpleCluster { size: 4, record_chunks, term_chunk: items(term_chunk) })
        };
        let children = vec![leaf(1000, 2000), leaf(3000, 4000)];
        let joint = JointCluster { size: 8, shared_chunks: vec![bag(0)], children };
        let contents = Contents::of_cluster(&Cluster::Joint(joint));
        for from in [0, 1000, 2000, 3000, 4000] {
            for item in items(from) {
                assert!(contents.has_all(&Contents::of(&[item])), "{item}");
            }
        }
        assert!(contents.has_all(&Contents::of(&[])));
        // 200 items set at most 200 of 512 bits.
        let absent = (5000..6000).filter(|&item| contents.has_all(&Contents::of(&[item])));
        assert!(absent.count() < 500);
    }
}
