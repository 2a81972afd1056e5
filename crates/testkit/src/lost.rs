//! How much of what the format leaves possible in one cluster the program would
//! not have published alike.
//!
//! A world is a sequence of records; all that agree with the published chunks,
//! with every term of the term chunk in 1..k-1 records and no record empty, are
//! equally likely. They are counted by inclusion and exclusion over empty
//! records, and compared with the data sets that do give the release.

use std::collections::HashMap;

use setveil::data::{ItemId, K, M};
use setveil::methods::disassociation::safe::{Eta, split_cluster};
use setveil::release::{Bag, SimpleCluster};

use crate::enumeration::{Setting, each_multiset, itemsets};

/// What is lost, over the releases of a setting.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lost {
    /// Releases.
    pub releases: u64,
    /// The largest share of a release's worlds that is not published alike.
    pub largest: f64,
    /// The largest change of a probability of a term given another one, over
    /// clusters in which some term is in all records.
    pub largest_shift: f64,
    /// The mean of these changes.
    pub mean_shift: f64,
}

/// What is known of a release.
struct Inputs {
    cluster: SimpleCluster,
    /// The worlds that are published like this and in which no term of the term
    /// chunk is in k records.
    worlds: i128,
    /// Per pair of terms: how often they meet in these worlds together.
    meetings: HashMap<(ItemId, ItemId), i128>,
}

/// Publishes every cluster of `setting.records` records.
pub fn lost(setting: &Setting) -> Lost {
    let (k, m) = (K::new(setting.k).expect("k"), M::new(setting.m).expect("m"));
    let eta = Eta::from_millionths(setting.eta).expect("eta");
    let sets = itemsets(setting.terms);
    let mut releases: HashMap<Chunks, Inputs> = HashMap::new();
    each_multiset(setting.records, setting.terms, &mut |masks| {
        let rows: Vec<&[ItemId]> = masks.iter().map(|&mask| &sets[mask as usize][..]).collect();
        let (mut cluster, _) = split_cluster(&rows, k, m, eta);
        cluster.record_chunks.sort_unstable();
        let support = |set: u32| masks.iter().filter(|&&mask| set & !mask == 0).count();
        if cluster.term_chunk.iter().any(|&t| support(1 << t) >= setting.k as usize) {
            return;
        }
        let same = masks.chunk_by(|a, b| a == b).map(|run| factorial(run.len()));
        let worlds = factorial(masks.len()) / same.product::<i128>();
        let key = (cluster.record_chunks.clone(), cluster.term_chunk.clone());
        let inputs = releases.entry(key).or_insert_with(|| Inputs {
            cluster,
            worlds: 0,
            meetings: HashMap::new(),
        });
        inputs.worlds += worlds;
        for (x, y) in pairs(&inputs.cluster) {
            let times = support(1 << x | 1 << y) as i128;
            *inputs.meetings.entry((x, y)).or_default() += worlds * times;
        }
    });
    summary(&releases, setting)
}

type Chunks = (Vec<Bag>, Vec<ItemId>);

fn summary(releases: &HashMap<Chunks, Inputs>, setting: &Setting) -> Lost {
    let mut lost = Lost { releases: releases.len() as u64, ..Lost::default() };
    let (mut sum, mut count) = (0.0, 0u64);
    for inputs in releases.values() {
        let all = worlds(&inputs.cluster, setting.k as usize);
        assert!(inputs.worlds <= all, "more inputs than worlds: {:?}", inputs.cluster);
        lost.largest = lost.largest.max(1.0 - inputs.worlds as f64 / all as f64);
        let n = f64::from(inputs.cluster.size);
        let support = |t: ItemId| {
            inputs.cluster.record_chunks.iter().map(|c| c.support(&[t])).sum::<u64>() as f64
        };
        let terms = inputs.cluster.record_chunks.iter().flat_map(Bag::domain);
        if !terms.into_iter().any(|t| support(t) == n) {
            continue;
        }
        for (&(x, y), &meetings) in &inputs.meetings {
            let now = meetings as f64 / inputs.worlds as f64;
            let shift = (now - support(x) * support(y) / n).abs() / support(x).min(support(y));
            lost.largest_shift = lost.largest_shift.max(shift);
            (sum, count) = (sum + shift, count + 1);
        }
    }
    lost.mean_shift = if count > 0 { sum / count as f64 } else { 0.0 };
    lost
}

/// Pairs of terms in different record chunks.
fn pairs(cluster: &SimpleCluster) -> Vec<(ItemId, ItemId)> {
    let domains: Vec<Vec<ItemId>> = cluster.record_chunks.iter().map(Bag::domain).collect();
    let mut pairs = Vec::new();
    for (i, one) in domains.iter().enumerate() {
        for other in &domains[i + 1..] {
            pairs.extend(one.iter().flat_map(|&x| other.iter().map(move |&y| (x, y))));
        }
    }
    pairs
}

/// How many worlds agree with a cluster.
fn worlds(cluster: &SimpleCluster, k: usize) -> i128 {
    let n = cluster.size as usize;
    let with = |records: usize| -> i128 {
        let chunk = |chunk: &Bag| {
            let total = chunk.total() as usize;
            if total > records {
                return 0;
            }
            let same: i128 = chunk.iter().map(|(_, count)| factorial(count as usize)).product();
            choose(records, total) * factorial(total) / same
        };
        let term: i128 = (1..k).map(|c| choose(records, c)).sum();
        let chunks: i128 = cluster.record_chunks.iter().map(chunk).product();
        chunks * term.pow(cluster.term_chunk.len() as u32)
    };
    (0..n)
        .map(|empty| if empty % 2 == 0 { 1 } else { -1 } * choose(n, empty) * with(n - empty))
        .sum()
}

fn factorial(n: usize) -> i128 {
    (1..=n as i128).product()
}

fn choose(n: usize, i: usize) -> i128 {
    if i > n { 0 } else { (0..i as i128).fold(1, |c, j| c * (n as i128 - j) / (j + 1)) }
}
