//! Answers for simple clusters, from the places of the items and the sizes of
//! the chunks.
//!
//! Clusters with the same numbers have the same worlds up to the names of the
//! items, so they share one model and its sums: there are far fewer different
//! models than clusters.

use rand::RngExt;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::cluster::Assumptions;
use super::holders::Holder;
use super::model::SharedSums;
use super::parts::TERM;
use super::{Answer, ClusterModel, Factors, Room, bounds};
use crate::Result;
use crate::data::ItemId;
use crate::progress::{Progress, Pulse};
use crate::release::{Bag, Cluster, Disassociated, SimpleCluster};

/// The models of the simple clusters.
#[derive(Debug)]
pub(super) struct Models {
    models: Vec<ClusterModel>,
    /// By cluster; 0 for a joint one, which nobody asks for.
    of: Vec<u32>,
}

impl Models {
    pub(super) fn new(
        body: &Disassociated,
        assumptions: &Assumptions,
        sums: &SharedSums,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut numbers: FxHashMap<(u32, Vec<u64>, usize), u32> = FxHashMap::default();
        let (mut models, mut of) = (Vec::new(), Vec::with_capacity(body.clusters.len()));
        let mut pulse = Pulse::new(progress);
        for cluster in &body.clusters {
            pulse.work(1)?;
            let Cluster::Simple(leaf) = cluster else {
                of.push(0);
                continue;
            };
            let mut totals: Vec<u64> = leaf.record_chunks.iter().map(Bag::total).collect();
            totals.sort_unstable();
            let key = (leaf.size, totals, leaf.term_chunk.len());
            let number = match numbers.get(&key) {
                Some(&number) => number,
                None => {
                    models.push(model(&key, assumptions, sums));
                    let number = (models.len() - 1) as u32;
                    numbers.insert(key, number);
                    number
                }
            };
            of.push(number);
        }
        Ok(Self { models, of })
    }

    pub(super) fn of(&self, cluster: u32) -> &ClusterModel {
        &self.models[self.of[cluster as usize] as usize]
    }
}

fn model(
    key: &(u32, Vec<u64>, usize),
    assumptions: &Assumptions,
    sums: &SharedSums,
) -> ClusterModel {
    let (size, totals, terms) = key;
    let mut model = ClusterModel::from_totals((*size).into(), totals, *terms, assumptions.possible);
    let (size, terms) = (model.size(), *terms as u64);
    let uncovered = size.saturating_sub(totals.iter().sum());
    let likely = (assumptions.likely)(Room { size, uncovered, terms });
    if likely != assumptions.possible {
        model.expect(totals.clone(), likely, sums);
    }
    model
}

/// A record chunk with some items of an itemset: which, these items, and how
/// many sub-records have them.
type Part = (u32, SmallVec<[ItemId; 4]>, u64);

/// An itemset in a simple cluster, split by its chunks.
pub(super) struct Split {
    /// The record chunks with some of its items.
    pub(super) parts: SmallVec<[Part; 2]>,
    /// How many of its items are in the term chunk.
    pub(super) terms: usize,
}

impl Split {
    /// None if no sub-record has a part.
    pub(super) fn new(leaf: &SimpleCluster, itemset: &[ItemId], found: &[Holder]) -> Option<Self> {
        let mut split = Self { parts: SmallVec::new(), terms: 0 };
        for (&item, holder) in itemset.iter().zip(found) {
            if holder.source == TERM {
                split.terms += 1;
                continue;
            }
            match split.parts.iter_mut().find(|part| part.0 == holder.source) {
                Some(part) => part.1.push(item),
                None => {
                    let items = SmallVec::from_slice(&[item]);
                    split.parts.push((holder.source, items, holder.count.into()));
                }
            }
        }
        for (chunk, items, count) in split.parts.iter_mut().filter(|part| part.1.len() > 1) {
            *count = leaf.record_chunks[*chunk as usize].support(items);
        }
        split.parts.iter().all(|part| part.2 > 0).then_some(split)
    }

    fn counts(&self) -> SmallVec<[u64; 4]> {
        self.parts.iter().map(|part| part.2).collect()
    }

    pub(super) fn answer(&self, model: &ClusterModel, prior: Factors) -> Answer {
        let counts = self.counts();
        let answer = model.answer(&counts, self.terms);
        let most = counts.iter().copied().fold(model.size(), u64::min) as f64;
        let whole = |chunks, terms| chunks == counts.len() && terms == self.terms;
        let mean = |chunks, terms| match whole(chunks, terms) {
            true => answer.expected,
            false => model.expected_support(&counts[..chunks], terms),
        };
        let expected = prior.expected(counts.len(), self.terms, most, mean);
        let expected = expected.clamp(answer.lower as f64, answer.upper as f64);
        Answer { expected, ..answer }
    }

    pub(super) fn upper(&self, model: &ClusterModel) -> u64 {
        bounds::simple(model, &self.counts(), self.terms, 0).1
    }
}

/// Whether a record could be one of the cluster's.
pub(super) fn fits(leaf: &SimpleCluster, record: &[ItemId]) -> bool {
    let in_terms = record.iter().filter(|item| leaf.term_chunk.binary_search(item).is_ok());
    let mut found = in_terms.count();
    let whole = leaf.record_chunks.iter().all(|bag| {
        let has = |item: &&ItemId| bag.items().contains(item);
        let part: SmallVec<[ItemId; 8]> = record.iter().filter(has).copied().collect();
        found += part.len();
        part.is_empty() || bag.iter().any(|(items, _)| *items == part[..])
    });
    whole && found == record.len()
}

/// Draws a record as it could be; it may be empty.
pub(super) fn draw(
    leaf: &SimpleCluster,
    model: &ClusterModel,
    rng: &mut impl RngExt,
) -> Vec<ItemId> {
    let mut record = Vec::new();
    for bag in &leaf.record_chunks {
        draw_part(bag, model.size(), rng, &mut record);
    }
    draw_terms(&leaf.term_chunk, model, rng, &mut record);
    record.sort_unstable();
    record.dedup();
    record
}

/// What one of `size` records has of a chunk.
pub(super) fn draw_part(bag: &Bag, size: u64, rng: &mut impl RngExt, record: &mut Vec<ItemId>) {
    let mut place = rng.random_range(0..size.max(1));
    for (items, count) in bag.iter() {
        if place < u64::from(count) {
            record.extend_from_slice(items);
            return;
        }
        place -= u64::from(count);
    }
}

/// Each term by the share of the records that have it.
pub(super) fn draw_terms(
    terms: &[ItemId],
    model: &ClusterModel,
    rng: &mut impl RngExt,
    record: &mut Vec<ItemId>,
) {
    let share = (model.ratio(0, 1) / model.size() as f64).clamp(0.0, 1.0);
    record.extend(terms.iter().filter(|_| rng.random_bool(share)));
}
