//! A whole release: clusters added up.
//!
//! A cluster is prepared when a question first comes to it. Which clusters have
//! an item is known from the start.

use std::sync::OnceLock;

use rand::RngExt;

use super::chunk::lets_in;
use super::cluster::{Assumptions, ClusterWorlds, Leaf};
use super::parts::Asked;
use super::posterior::{Posterior, Sum};
use super::{Answer, Knowledge, Room};
use crate::Result;
use crate::data::ItemId;
use crate::progress::{Progress, Pulse, Stage};
use crate::release::{Cluster, Disassociated};

/// The worlds of a disassociated body that somebody else owns.
#[derive(Debug)]
pub(crate) struct BodyWorlds<'a> {
    body: &'a Disassociated,
    assumptions: Assumptions,
    clusters: Box<[OnceLock<Box<ClusterWorlds<'a>>>]>,
    /// The clusters with item `i` are `holders[starts[i]..starts[i + 1]]`.
    starts: Vec<usize>,
    holders: Vec<u32>,
    /// How many records there are up to the end of each cluster.
    ends: Vec<u64>,
    /// Answers for single items that have been asked for: frequent items are
    /// in most leaves, and everybody asks about them.
    singles: Box<[OnceLock<Answer>]>,
}

impl<'a> BodyWorlds<'a> {
    /// Bounds and expectations over the same worlds.
    pub(crate) fn new(
        body: &'a Disassociated,
        knowledge: Knowledge,
        progress: &dyn Progress,
    ) -> Result<Self> {
        Self::expecting(body, knowledge, Box::new(move |_| knowledge), progress)
    }

    /// See [`ReleaseWorlds::expecting`](super::ReleaseWorlds::expecting).
    pub(crate) fn expecting(
        body: &'a Disassociated,
        possible: Knowledge,
        likely: Box<dyn Fn(Room) -> Knowledge + Send + Sync>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        progress.stage(Stage::Worlds, Some(2 * body.clusters.len() as u64));
        let items = body.vocabulary.len();
        let mut starts = vec![0; items + 1];
        each_holding(body, items, progress, |item, _| starts[item as usize + 1] += 1)?;
        for i in 0..items {
            starts[i + 1] += starts[i];
        }
        let (mut next, mut holders) = (starts.clone(), vec![0; starts[items]]);
        each_holding(body, items, progress, |item, cluster| {
            holders[next[item as usize]] = cluster;
            next[item as usize] += 1;
        })?;
        let mut records = 0;
        let ends = body.clusters.iter().map(|cluster| {
            records += cluster.leaves().iter().map(|leaf| u64::from(leaf.size)).sum::<u64>();
            records
        });
        Ok(Self {
            body,
            assumptions: Assumptions { possible, likely },
            clusters: body.clusters.iter().map(|_| OnceLock::new()).collect(),
            ends: ends.collect(),
            starts,
            holders,
            singles: (0..items).map(|_| OnceLock::new()).collect(),
        })
    }

    fn cluster(&self, c: usize) -> &ClusterWorlds<'a> {
        let prepare = || Box::new(ClusterWorlds::new(&self.body.clusters[c], &self.assumptions));
        self.clusters[c].get_or_init(prepare)
    }

    /// The clusters that have all items of a non-empty itemset somewhere.
    fn holding(&self, itemset: &[ItemId]) -> Vec<u32> {
        let list = |&item: &ItemId| match self.starts.get(item as usize + 1) {
            Some(&end) => &self.holders[self.starts[item as usize]..end],
            None => &[],
        };
        let mut lists: Vec<&[u32]> = itemset.iter().map(list).collect();
        lists.sort_unstable_by_key(|l| l.len());
        let Some((first, others)) = lists.split_first() else { return Vec::new() };
        let mut found = first.to_vec();
        for other in others {
            let mut rest = *other;
            found.retain(|c| {
                rest = &rest[skip_to(rest, *c)..];
                rest.first() == Some(c)
            });
        }
        found
    }

    /// See [`ReleaseWorlds::answer`](super::ReleaseWorlds::answer).
    pub(crate) fn answer(&self, itemset: &[ItemId]) -> Answer {
        if itemset.is_empty() {
            let all = self.ends.last().copied().unwrap_or(0);
            return Answer { lower: all, expected: all as f64, upper: all, exact: true };
        }
        if let [item] = itemset
            && let Some(known) = self.singles.get(*item as usize)
        {
            return *known.get_or_init(|| self.add_up(itemset));
        }
        self.add_up(itemset)
    }

    fn add_up(&self, itemset: &[ItemId]) -> Answer {
        let answers =
            self.holding(itemset).into_iter().map(|c| self.cluster(c as usize).answer(itemset));
        answers.fold(Answer::NONE, Answer::plus)
    }

    /// See [`ReleaseWorlds::upper_bound`](super::ReleaseWorlds::upper_bound).
    pub(crate) fn upper_bound(&self, itemset: &[ItemId]) -> u64 {
        self.upper_bounds(itemset).iter().map(|(_, upper)| upper).sum()
    }

    /// See [`ReleaseWorlds::upper_bounds`](super::ReleaseWorlds::upper_bounds).
    pub(crate) fn upper_bounds(&self, itemset: &[ItemId]) -> Vec<(usize, u64)> {
        let bound = |c: u32| (c as usize, self.cluster(c as usize).upper_bound(itemset));
        self.holding(itemset).into_iter().map(bound).filter(|(_, upper)| *upper > 0).collect()
    }

    /// See [`ReleaseWorlds::draw`](super::ReleaseWorlds::draw).
    pub(crate) fn draw(&self, rng: &mut impl RngExt) -> Vec<ItemId> {
        let total = self.ends.last().copied().unwrap_or(0);
        if total == 0 {
            return Vec::new();
        }
        let place = rng.random_range(0..total);
        let c = self.ends.partition_point(|&end| end <= place);
        let mut place = place - if c == 0 { 0 } else { self.ends[c - 1] };
        let cluster = self.cluster(c);
        let leaf = cluster.leaves.iter().find(|leaf| {
            let here = place < leaf.model.size();
            place = if here { place } else { place - leaf.model.size() };
            here
        });
        let leaf = leaf.expect("the place is below the cluster's size");
        for _ in 0..100 {
            let record = draw_in(cluster, leaf, rng);
            if !record.is_empty() {
                return record;
            }
        }
        Vec::new()
    }

    /// See [`ReleaseWorlds::fits`](super::ReleaseWorlds::fits).
    pub(crate) fn fits(&self, cluster: usize, record: &[ItemId]) -> bool {
        let cluster = self.cluster(cluster);
        cluster.sites(record).iter().any(|(l, sources)| {
            let parts = cluster.parts(&cluster.leaves[l], record, sources, &mut Asked::default());
            parts.is_some_and(|parts| {
                let own = parts.own.iter().map(|p| (p.chunk, &p.items));
                let shared = parts.shared.iter().map(|p| (p.chunk, &p.items));
                own.chain(shared).all(|(chunk, items)| {
                    let mut whole = false;
                    cluster.chunks[chunk].each_with(items, |_, sub_record, _| {
                        whole |= sub_record.len() == items.len();
                    });
                    whole
                })
            })
        })
    }

    /// See [`ReleaseWorlds::posterior`](super::ReleaseWorlds::posterior).
    pub(crate) fn posterior(&self, known: &[ItemId]) -> Posterior {
        let mut sum = Sum::new(self.body.vocabulary.len());
        for c in self.holding(known) {
            sum.add_cluster(self.cluster(c as usize), known);
        }
        sum.into_posterior(known)
    }
}

/// Calls `each` once for every item of every cluster, clusters in order.
fn each_holding(
    body: &Disassociated,
    items: usize,
    progress: &dyn Progress,
    mut each: impl FnMut(ItemId, u32),
) -> Result<()> {
    let mut last = vec![u32::MAX; items];
    let mut pulse = Pulse::new(progress);
    for (c, cluster) in body.clusters.iter().enumerate() {
        let c = c as u32;
        pulse.done(1)?;
        let mut add = |found: &[ItemId]| {
            for &item in found {
                if let Some(seen) = last.get_mut(item as usize).filter(|seen| **seen != c) {
                    *seen = c;
                    each(item, c);
                }
            }
            pulse.work(found.len())
        };
        let mut stack = vec![cluster];
        while let Some(cluster) = stack.pop() {
            cluster.chunks().iter().try_for_each(|bag| add(bag.items()))?;
            match cluster {
                Cluster::Simple(leaf) => add(&leaf.term_chunk)?,
                Cluster::Joint(joint) => stack.extend(&joint.children),
            }
        }
    }
    pulse.flush()
}

/// The first position that is not below `target`. Galloping pays where one list
/// is much longer than the other.
fn skip_to(list: &[u32], target: u32) -> usize {
    let mut step = 1;
    while step < list.len() && list[step] < target {
        step *= 2;
    }
    let end = (step + 1).min(list.len());
    step / 2 + list[step / 2..end].partition_point(|&c| c < target)
}

fn draw_in(cluster: &ClusterWorlds, leaf: &Leaf, rng: &mut impl RngExt) -> Vec<ItemId> {
    let size = leaf.model.size() as f64;
    let mut record = Vec::new();
    for &c in &leaf.own {
        let mut place = rng.random_range(0..leaf.model.size());
        for (items, count) in cluster.chunks[c].bag.iter() {
            if place < u64::from(count) {
                record.extend_from_slice(items);
                break;
            }
            place -= u64::from(count);
        }
    }
    for (chunk, partly) in cluster.inflows(leaf) {
        let chunk = &cluster.chunks[chunk];
        let blocked = partly.map_or(&[][..], |p| &p.blocked);
        let mut place: f64 = rng.random();
        // Few records have something from a shared chunk.
        if place >= chunk.coming(&[], &[]).1 {
            continue;
        }
        for (u, (items, count)) in chunk.bag.iter().enumerate() {
            place -= if lets_in(blocked, items) { f64::from(count) / chunk.open(u) } else { 0.0 };
            if place < 0.0 {
                record.extend_from_slice(items);
                break;
            }
        }
    }
    let share = (leaf.model.ratio(0, 1) / size).clamp(0.0, 1.0);
    record.extend(leaf.term_chunk.iter().filter(|_| rng.random_bool(share)));
    record.sort_unstable();
    record.dedup();
    record
}
