//! A whole release: clusters added up.
//!
//! Which clusters have an item, and where, is known from the start, and so is all
//! that simple clusters need. A joint cluster is prepared when a question first
//! comes to it.

use std::sync::OnceLock;

use rand::RngExt;
use smallvec::SmallVec;

use super::chunk::lets_in;
use super::cluster::{Assumptions, ClusterWorlds};
use super::holders::Holders;
use super::model::SharedSums;
use super::parts::{Items, TERM};
use super::posterior::{Posterior, Sum};
use super::simple::{self, Models, Split};
use super::{Answer, ClusterModel, Factors, Knowledge, Room};
use crate::Result;
use crate::data::ItemId;
use crate::progress::{Progress, Stage};
use crate::release::{Cluster, Disassociated, SimpleCluster};

/// The worlds of a disassociated body that somebody else owns.
#[derive(Debug)]
pub(crate) struct BodyWorlds<'a> {
    body: &'a Disassociated,
    assumptions: Assumptions,
    sums: SharedSums,
    models: Models,
    /// By cluster; those of simple ones stay empty.
    joint: Box<[OnceLock<Box<ClusterWorlds<'a>>>]>,
    holders: Holders,
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
        let assumptions = Assumptions { possible, likely, prior: Factors::WORLDS };
        Self::about(body, assumptions, None, progress)
    }

    /// The same for any assumptions, and for questions about `wanted` items only: others
    /// seem to be nowhere.
    pub(crate) fn about(
        body: &'a Disassociated,
        assumptions: Assumptions,
        wanted: Option<&[bool]>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        progress.stage(Stage::Worlds, Some(2 * body.clusters.len() as u64));
        let holders = Holders::new(body, wanted, progress)?;
        let mut records = 0;
        let ends = body.clusters.iter().map(|cluster| {
            records += cluster.leaves().iter().map(|leaf| u64::from(leaf.size)).sum::<u64>();
            records
        });
        let sums = SharedSums::default();
        Ok(Self {
            body,
            models: Models::new(body, &assumptions, &sums, progress)?,
            sums,
            assumptions,
            joint: body.clusters.iter().map(|_| OnceLock::new()).collect(),
            ends: ends.collect(),
            holders,
            singles: (0..body.vocabulary.len()).map(|_| OnceLock::new()).collect(),
        })
    }

    fn joint(&self, c: usize) -> &ClusterWorlds<'a> {
        let cluster = &self.body.clusters[c];
        let prepare = || Box::new(ClusterWorlds::new(cluster, &self.assumptions, &self.sums));
        self.joint[c].get_or_init(prepare)
    }

    /// Calls `each` for the clusters, ascending, that have all items
    /// of a non-empty itemset; for a simple one only if a record can.
    fn each(&self, itemset: &[ItemId], mut each: impl FnMut(usize, Where<'_, 'a>)) {
        self.until(itemset, |c, place| {
            each(c, place);
            false
        });
    }

    /// The same until `enough` says yes.
    fn until(&self, itemset: &[ItemId], mut enough: impl FnMut(usize, Where<'_, 'a>) -> bool) {
        self.holders.until(itemset, |found| {
            let c = found[0].cluster;
            match &self.body.clusters[c as usize] {
                Cluster::Simple(leaf) => Split::new(leaf, itemset, found).is_some_and(|split| {
                    enough(c as usize, Where::Simple(leaf, self.models.of(c), split))
                }),
                Cluster::Joint(_) => enough(c as usize, Where::Joint(self.joint(c as usize))),
            }
        });
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
        let mut sum = Answer::NONE;
        self.each(itemset, |_, place| {
            sum = sum.plus(match place {
                Where::Simple(_, model, split) => split.answer(model, self.assumptions.prior),
                Where::Joint(cluster) => cluster.answer(itemset),
            });
        });
        sum
    }

    /// See [`ReleaseWorlds::upper_bound`](super::ReleaseWorlds::upper_bound).
    pub(crate) fn upper_bound(&self, itemset: &[ItemId]) -> u64 {
        self.upper_bounds(itemset).iter().map(|(_, upper)| upper).sum()
    }

    /// See [`ReleaseWorlds::upper_bounds`](super::ReleaseWorlds::upper_bounds).
    pub(crate) fn upper_bounds(&self, itemset: &[ItemId]) -> Vec<(usize, u64)> {
        let mut bounds = Vec::new();
        self.upper_bounds_until(itemset, |c, upper| {
            bounds.push((c, upper));
            false
        });
        bounds
    }

    /// Shows cluster after cluster with its bound to `enough`, until it says yes.
    pub(crate) fn upper_bounds_until(
        &self,
        itemset: &[ItemId],
        mut enough: impl FnMut(usize, u64) -> bool,
    ) {
        self.until(itemset, |c, place| {
            let upper = match place {
                Where::Simple(_, model, split) => split.upper(model),
                Where::Joint(cluster) => cluster.upper_bound(itemset),
            };
            upper > 0 && enough(c, upper)
        });
    }

    /// See [`ReleaseWorlds::draw`](super::ReleaseWorlds::draw).
    pub(crate) fn draw(&self, rng: &mut impl RngExt) -> Vec<ItemId> {
        let total = self.ends.last().copied().unwrap_or(0);
        if total == 0 {
            return Vec::new();
        }
        let place = rng.random_range(0..total);
        let c = self.ends.partition_point(|&end| end <= place);
        let place = place - if c == 0 { 0 } else { self.ends[c - 1] };
        for _ in 0..100 {
            let record = match &self.body.clusters[c] {
                Cluster::Simple(leaf) => simple::draw(leaf, self.models.of(c as u32), rng),
                Cluster::Joint(_) => draw_joint(self.joint(c), place, rng),
            };
            if !record.is_empty() {
                return record;
            }
        }
        Vec::new()
    }

    /// See [`ReleaseWorlds::fits`](super::ReleaseWorlds::fits).
    pub(crate) fn fits(&self, cluster: usize, record: &[ItemId]) -> bool {
        if let Cluster::Simple(leaf) = &self.body.clusters[cluster] {
            return simple::fits(leaf, record);
        }
        let cluster = self.joint(cluster);
        cluster.any_site(record, |_, sources| {
            // What a leaf has from one source must be a whole sub-record there. One that comes
            // from a shared chunk has no item that the leaf has from nearer by: it may come.
            let mut parts: SmallVec<[(u32, Items); 4]> = SmallVec::new();
            for (&item, source) in record.iter().zip(sources).filter(|(_, s)| s.chunk != TERM) {
                match parts.iter_mut().find(|part| part.0 == source.chunk) {
                    Some(part) => part.1.push(item),
                    None => parts.push((source.chunk, Items::from_slice(&[item]))),
                }
            }
            parts.iter().all(|(chunk, items)| cluster.chunks[*chunk as usize].has_whole(items))
        })
    }

    /// See [`ReleaseWorlds::posterior`](super::ReleaseWorlds::posterior).
    pub(crate) fn posterior(&self, known: &[ItemId]) -> Posterior {
        let mut sum = Sum::new(self.body.vocabulary.len());
        self.each(known, |_, place| match place {
            Where::Simple(leaf, model, split) => sum.add_simple(leaf, model, &split),
            Where::Joint(cluster) => sum.add_joint(cluster, known),
        });
        sum.into_posterior(known)
    }
}

/// A cluster that has all items of an itemset.
enum Where<'s, 'a> {
    Simple(&'a SimpleCluster, &'s ClusterModel, Split),
    Joint(&'s ClusterWorlds<'a>),
}

/// Draws the record at a place of a joint cluster; it may be empty.
fn draw_joint(cluster: &ClusterWorlds, mut place: u64, rng: &mut impl RngExt) -> Vec<ItemId> {
    let leaf = cluster.leaves.iter().find(|leaf| {
        let here = place < leaf.model.size();
        place = if here { place } else { place - leaf.model.size() };
        here
    });
    let Some(leaf) = leaf else { return Vec::new() };
    let mut record = Vec::new();
    for c in leaf.own.clone() {
        simple::draw_part(cluster.chunks[c].bag, leaf.model.size(), rng, &mut record);
    }
    for (chunk, blocked) in cluster.inflows(leaf) {
        let chunk = &cluster.chunks[chunk];
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
    simple::draw_terms(leaf.term_chunk, &leaf.model, rng, &mut record);
    record.sort_unstable();
    record.dedup();
    record
}
