//! The format guarantee by brute force: every possible world of a tiny
//! disassociated release is made, and the supports are counted.
//!
//! The worlds follow `docs/release-format.md`: the sub-records of a chunk go to
//! distinct records; those of a shared chunk only to leaves in which none of
//! their terms stands already; no record stays empty. Terms of a term chunk are
//! put into every record of their leaf: that can only raise supports and fill
//! records, and the question is how high supports can be.
//!
//! [`worlds`](crate::worlds) lists every sequence of records with every
//! placement of terms, for means; here worlds that differ only by the order of
//! records are one, so that there are far fewer of them.

use std::collections::BTreeSet;

use setveil::data::ItemId;
use setveil::release::{Bag, Cluster, Disassociated};

/// The records of all leaves, each leaf sorted: records of a leaf are alike.
type World = Vec<Vec<u64>>;

struct Part {
    worlds: BTreeSet<World>,
    /// Per leaf: the terms that no shared chunk above may bring again.
    taken: Vec<u64>,
    /// Per leaf: the terms of its term chunk.
    term_chunks: Vec<u64>,
}

/// A set of at most `m` terms that some record could contain, but that never
/// more than the given number of records, fewer than `k`, contain at once.
pub fn broken_itemset(body: &Disassociated, k: u64, m: usize) -> Option<(Vec<ItemId>, u64)> {
    let parts: Vec<Part> = body.clusters.iter().map(part).collect();
    let items = body.vocabulary.len();
    assert!(items <= 64, "brute force is for tiny data");
    (1u64..1 << items).filter(|s| s.count_ones() as usize <= m).find_map(|itemset| {
        let most: u64 = parts.iter().map(|p| most(p, itemset)).sum();
        (most > 0 && most < k).then(|| {
            let ids = (0..items as ItemId).filter(|i| itemset >> i & 1 == 1).collect();
            (ids, most)
        })
    })
}

/// The same for somebody who believes that each sensitive term is in at most
/// 1/l of the records of every cluster: sensitive terms are put into every
/// choice of so many records, one after the other.
pub fn broken_for_believer(
    body: &Disassociated,
    k: u64,
    m: usize,
    l: usize,
    sensitive: &[ItemId],
) -> Option<(Vec<ItemId>, u64)> {
    let items = body.vocabulary.len();
    assert!(items <= 64, "brute force is for tiny data");
    let secret = mask(sensitive);
    let supports: Vec<Vec<u64>> = body
        .clusters
        .iter()
        .map(|cluster| {
            let mut most = vec![0; 1 << items];
            each_believed(&part(cluster), secret, l, &mut |records| {
                for itemset in (1u64..1 << items).filter(|s| s.count_ones() as usize <= m) {
                    let support = records.iter().filter(|&r| r & itemset == itemset).count();
                    let most: &mut u64 = &mut most[itemset as usize];
                    *most = (*most).max(support as u64);
                }
            });
            most
        })
        .collect();
    (1usize..1 << items).find_map(|itemset| {
        let most: u64 = supports.iter().map(|cluster| cluster[itemset]).sum();
        (most > 0 && most < k).then(|| {
            let ids = (0..items as ItemId).filter(|i| itemset >> i & 1 == 1).collect();
            (ids, most)
        })
    })
}

/// Every world of the cluster that a believer thinks possible, all leaves'
/// records together. Terms that are not sensitive are in every record of a
/// leaf that has them in its term chunk: that can only help.
fn each_believed(part: &Part, secret: u64, l: usize, each: &mut dyn FnMut(&[u64])) {
    for world in &part.worlds {
        let mut records: Vec<u64> = Vec::new();
        // Per sensitive term of a leaf: the term and the leaf's records.
        let mut open: Vec<(u64, std::ops::Range<usize>)> = Vec::new();
        for (leaf, &terms) in world.iter().zip(&part.term_chunks) {
            let start = records.len();
            records.extend(leaf.iter().map(|record| record | (terms & !secret)));
            let mine = (0..64).map(|i| 1u64 << i).filter(|bit| bit & terms & secret != 0);
            open.extend(mine.map(|bit| (bit, start..records.len())));
        }
        believe(&mut records, &open, l, each);
    }
}

fn believe(
    records: &mut Vec<u64>,
    open: &[(u64, std::ops::Range<usize>)],
    l: usize,
    each: &mut dyn FnMut(&[u64]),
) {
    let Some(((term, leaf), rest)) = open.split_first() else {
        if records.iter().all(|&record| record != 0) {
            each(records);
        }
        return;
    };
    for subset in (1u64..1 << leaf.len()).filter(|s| s.count_ones() as usize <= leaf.len() / l) {
        let chosen = || leaf.clone().filter(|r| subset >> (r - leaf.start) & 1 == 1);
        chosen().for_each(|r| records[r] |= term);
        believe(records, rest, l, each);
        chosen().for_each(|r| records[r] &= !term);
    }
}

/// How many worlds there are, up to the exchange of records of a leaf and with
/// term chunks left out of account.
pub fn world_count(cluster: &Cluster) -> usize {
    finished(&part(cluster)).count()
}

fn finished(part: &Part) -> impl Iterator<Item = World> + '_ {
    part.worlds.iter().filter_map(|world| {
        let mut world = world.clone();
        for (leaf, terms) in world.iter_mut().zip(&part.term_chunks) {
            leaf.iter_mut().for_each(|record| *record |= terms);
        }
        world.iter().flatten().all(|&record| record != 0).then_some(world)
    })
}

fn most(part: &Part, itemset: u64) -> u64 {
    let support = |world: World| world.iter().flatten().filter(|&r| r & itemset == itemset).count();
    finished(part).map(|world| support(world) as u64).max().unwrap_or(0)
}

fn mask(items: &[ItemId]) -> u64 {
    items.iter().map(|&i| 1u64 << i).fold(0, |a, b| a | b)
}

fn part(cluster: &Cluster) -> Part {
    match cluster {
        Cluster::Simple(leaf) => {
            let mut worlds = BTreeSet::from([vec![vec![0; leaf.size as usize]]]);
            for chunk in &leaf.record_chunks {
                worlds = place(&worlds, chunk, &[0]);
            }
            let term_chunk = mask(&leaf.term_chunk);
            let own = leaf.record_chunks.iter().map(|c| mask(&c.domain()));
            Part {
                worlds,
                taken: vec![own.fold(term_chunk, |a, b| a | b)],
                term_chunks: vec![term_chunk],
            }
        }
        Cluster::Joint(joint) => {
            let mut whole =
                Part { worlds: BTreeSet::from([vec![]]), taken: vec![], term_chunks: vec![] };
            for child in joint.children.iter().map(part) {
                let pairs = whole.worlds.iter().flat_map(|a| {
                    child.worlds.iter().map(move |b| [a.clone(), b.clone()].concat())
                });
                whole.worlds = pairs.collect();
                whole.taken.extend(child.taken);
                whole.term_chunks.extend(child.term_chunks);
            }
            for chunk in &joint.shared_chunks {
                whole.worlds = place(&whole.worlds, chunk, &whole.taken);
            }
            let shared =
                joint.shared_chunks.iter().map(|c| mask(&c.domain())).fold(0, |a, b| a | b);
            whole.taken.iter_mut().for_each(|t| *t |= shared);
            whole
        }
    }
}

/// All ways to put the sub-records of a chunk into distinct records of leaves
/// in which their terms are not taken.
fn place(worlds: &BTreeSet<World>, chunk: &Bag, taken: &[u64]) -> BTreeSet<World> {
    let subrecords: Vec<u64> = chunk
        .iter()
        .flat_map(|(items, count)| std::iter::repeat_n(mask(items), count as usize))
        .collect();
    let mut result = BTreeSet::new();
    for world in worlds {
        let mut used: Vec<Vec<bool>> = world.iter().map(|leaf| vec![false; leaf.len()]).collect();
        place_rest(&mut world.clone(), &mut used, &subrecords, taken, &mut result);
    }
    result
}

fn place_rest(
    world: &mut World,
    used: &mut Vec<Vec<bool>>,
    subrecords: &[u64],
    taken: &[u64],
    result: &mut BTreeSet<World>,
) {
    let Some((&first, rest)) = subrecords.split_first() else {
        let mut canonical = world.clone();
        canonical.iter_mut().for_each(|leaf| leaf.sort_unstable());
        result.insert(canonical);
        return;
    };
    for leaf in 0..world.len() {
        if taken[leaf] & first != 0 {
            continue;
        }
        let mut tried = BTreeSet::new();
        for r in 0..world[leaf].len() {
            // Equal records that are still free are interchangeable.
            if used[leaf][r] || !tried.insert(world[leaf][r]) {
                continue;
            }
            let before = world[leaf][r];
            world[leaf][r] |= first;
            used[leaf][r] = true;
            place_rest(world, used, rest, taken, result);
            world[leaf][r] = before;
            used[leaf][r] = false;
        }
    }
}
