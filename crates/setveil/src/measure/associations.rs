//! ANR and ARE: what the record chunks keep of the pairs of their own
//! cluster (dls-2022, equations 2 and 3).
//!
//! Both are means over clusters of original records. A release does not tell
//! which records a published cluster is made of, so whoever has the original
//! has to say it: [`Method::members`](crate::Method::members) makes the
//! clustering again and compares every chunk. Nothing is estimated.
//!
//! Only items with at least k records in the cluster count, in pairs that
//! occur in it. Clusters without such a pair have nothing to keep and are left
//! out. Shared chunks do not belong to a cluster and do not count.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::data::{Dataset, ItemId, K};
use crate::release::{Bag, Body, Release, SimpleCluster};
use crate::{Progress, Result};

/// Which pairs are looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// For ARE: the share of the pairs of a cluster, the most frequent first;
    /// at least one pair, ties by text.
    pub top_pairs: f64,
    /// The share of the items of a cluster, the most frequent first, that
    /// pairs are made of.
    pub top_items: f64,
}

impl Default for Question {
    fn default() -> Self {
        Self { top_pairs: 0.2, top_items: 1.0 }
    }
}

/// What is kept, as a mean over the clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Associations {
    /// The share of the distinct pairs that stand together in a record chunk.
    pub anr: f64,
    /// By how much the support of the most frequent pairs falls, as a share.
    pub are: f64,
    /// The share of the pairs with at least k records: no chunk that is
    /// k^m-anonymous, m > 1, has others, so no release has a larger ANR.
    pub anr_limit: f64,
    /// The clusters that have a pair.
    pub clusters: usize,
}

/// Compares the record chunks of a disassociated release with the records
/// they are made from; `members` are those of each simple cluster in order.
/// None for other releases, and where no cluster has a pair.
///
/// # Errors
/// If `progress` says stop.
pub fn associations(
    release: &Release,
    original: &Dataset,
    members: &[Vec<u32>],
    question: &Question,
    progress: &dyn Progress,
) -> Result<Option<Associations>> {
    let Body::Disassociated(body) = &release.body else { return Ok(None) };
    let k = release.manifest.guarantee.model.k();
    let Some(k) = k.and_then(|k| K::new(k).ok()) else { return Ok(None) };
    let leaves: Vec<&SimpleCluster> = body.clusters.iter().flat_map(|c| c.leaves()).collect();
    let each: Vec<[f64; 3]> = leaves
        .par_iter()
        .zip(members)
        .filter_map(|(leaf, members)| {
            let rows: Vec<&[ItemId]> =
                members.iter().map(|&r| original.record(r as usize)).collect();
            match progress.step(0) {
                Ok(()) => kept(&rows, leaf, k, question).map(Ok),
                Err(stopped) => Some(Err(stopped)),
            }
        })
        .collect::<Result<_>>()?;
    let mean = |i: usize| each.iter().map(|e| e[i]).sum::<f64>() / each.len() as f64;
    Ok((!each.is_empty()).then(|| Associations {
        anr: mean(0),
        are: mean(1),
        anr_limit: mean(2),
        clusters: each.len(),
    }))
}

/// ANR, ARE and the limit of ANR for one cluster; none if it has no pair.
fn kept(
    records: &[&[ItemId]],
    leaf: &SimpleCluster,
    k: K,
    question: &Question,
) -> Option<[f64; 3]> {
    let items = top_items(records, k, question.top_items);
    let mut original = Pairs::default();
    records.iter().for_each(|record| count_pairs(record, 1, &items, &mut original));
    if original.is_empty() {
        return None;
    }
    let mut published = Pairs::default();
    for (subrecord, count) in leaf.record_chunks.iter().flat_map(Bag::iter) {
        count_pairs(subrecord, count, &items, &mut published);
    }
    let mut ranked: Vec<((ItemId, ItemId), u32)> = original.into_iter().collect();
    ranked.sort_unstable_by_key(|&(pair, support)| (std::cmp::Reverse(support), pair));
    let all = ranked.len() as f64;
    let top = &ranked[..ranked.len().min((all * question.top_pairs).ceil().max(1.0) as usize)];
    let error = |&(pair, support): &((ItemId, ItemId), u32)| {
        let left = published.get(&pair).copied().unwrap_or(0);
        f64::from(support.saturating_sub(left)) / f64::from(support)
    };
    let frequent = ranked.iter().filter(|(_, support)| *support >= k.get()).count();
    Some([
        published.len() as f64 / all,
        top.iter().map(error).sum::<f64>() / top.len() as f64,
        frequent as f64 / all,
    ])
}

type Pairs = FxHashMap<(ItemId, ItemId), u32>;

/// The items with at least k records among the most frequent, ascending.
fn top_items(records: &[&[ItemId]], k: K, share: f64) -> Vec<ItemId> {
    let mut occurrences: Vec<ItemId> = records.iter().copied().flatten().copied().collect();
    occurrences.sort_unstable();
    let runs = occurrences.chunk_by(|a, b| a == b);
    let mut supports: Vec<(ItemId, usize)> = runs.map(|run| (run[0], run.len())).collect();
    supports.sort_unstable_by_key(|&(item, support)| (std::cmp::Reverse(support), item));
    supports.truncate((supports.len() as f64 * share).ceil() as usize);
    supports.retain(|&(_, support)| support >= k.get() as usize);
    let mut items: Vec<ItemId> = supports.into_iter().map(|(item, _)| item).collect();
    items.sort_unstable();
    items
}

fn count_pairs(itemset: &[ItemId], count: u32, items: &[ItemId], pairs: &mut Pairs) {
    let known: Vec<ItemId> =
        itemset.iter().copied().filter(|i| items.binary_search(i).is_ok()).collect();
    for (i, &a) in known.iter().enumerate() {
        for &b in &known[i + 1..] {
            *pairs.entry((a, b)).or_default() += count;
        }
    }
}
