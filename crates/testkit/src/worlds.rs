//! The possible worlds of a published cluster by brute force: every way to
//! put sub-records and terms into records, straight from the definition.

use std::collections::BTreeSet;

use setveil::data::ItemId;
use setveil::release::{Cluster, SimpleCluster};

/// A world: the records of all leaves, leaf after leaf.
pub type World = Vec<BTreeSet<ItemId>>;

/// Calls `each` with every world of `cluster`, each sequence of records once.
/// A term of a term chunk is in at most `most` records of its leaf.
pub fn each_world(cluster: &Cluster, most: usize, each: &mut dyn FnMut(&World)) {
    let mut leaves = Vec::new();
    collect_leaves(cluster, &mut Vec::new(), &mut leaves);
    let mut record_leaf = Vec::new();
    for (l, (leaf, _)) in leaves.iter().enumerate() {
        record_leaf.extend(std::iter::repeat_n(l, leaf.size as usize));
    }
    let mut jobs = Vec::new();
    for (l, (leaf, _)) in leaves.iter().enumerate() {
        let records: Vec<usize> = (0..record_leaf.len()).filter(|&r| record_leaf[r] == l).collect();
        for chunk in &leaf.record_chunks {
            let allowed = vec![records.clone(); chunk.len()];
            jobs.push(Job::chunk(chunk, allowed));
        }
        for &term in &leaf.term_chunk {
            jobs.push(Job::Term { term, records: records.clone() });
        }
    }
    collect_shared(cluster, &leaves, &record_leaf, &mut jobs);
    let mut world = vec![BTreeSet::new(); record_leaf.len()];
    place(&jobs, most, &mut world, each);
}

/// All worlds at once, for clusters with few of them.
pub fn worlds(cluster: &Cluster, most: usize) -> Vec<World> {
    let mut all = Vec::new();
    each_world(cluster, most, &mut |world| all.push(world.clone()));
    all
}

/// How many records contain `itemset`.
pub fn support(world: &World, itemset: &[ItemId]) -> u64 {
    world.iter().filter(|record| itemset.iter().all(|i| record.contains(i))).count() as u64
}

enum Job {
    /// Distinct sub-records with counts and the records each may go to.
    Chunk {
        sub_records: Vec<Vec<ItemId>>,
        counts: Vec<u32>,
        allowed: Vec<Vec<usize>>,
    },
    Term {
        term: ItemId,
        records: Vec<usize>,
    },
}

impl Job {
    fn chunk(bag: &setveil::release::Bag, allowed: Vec<Vec<usize>>) -> Self {
        Self::Chunk {
            sub_records: bag.iter().map(|(items, _)| items.to_vec()).collect(),
            counts: bag.iter().map(|(_, count)| count).collect(),
            allowed,
        }
    }
}

/// Leaves with the joint clusters above them, from the root down.
type Leaves<'a> = Vec<(&'a SimpleCluster, Vec<&'a Cluster>)>;

fn collect_leaves<'a>(cluster: &'a Cluster, above: &mut Vec<&'a Cluster>, out: &mut Leaves<'a>) {
    match cluster {
        Cluster::Simple(leaf) => out.push((leaf, above.clone())),
        Cluster::Joint(joint) => {
            above.push(cluster);
            for child in &joint.children {
                collect_leaves(child, above, out);
            }
            above.pop();
        }
    }
}

fn collect_shared(cluster: &Cluster, leaves: &Leaves, record_leaf: &[usize], jobs: &mut Vec<Job>) {
    let Cluster::Joint(joint) = cluster else { return };
    for chunk in &joint.shared_chunks {
        let allowed = chunk
            .iter()
            .map(|(items, _)| {
                let open = |r: &usize| may_take(&leaves[record_leaf[*r]], cluster, items);
                (0..record_leaf.len()).filter(open).collect()
            })
            .collect();
        jobs.push(Job::chunk(chunk, allowed));
    }
    for child in &joint.children {
        collect_shared(child, leaves, record_leaf, jobs);
    }
}

/// Whether a sub-record of a shared chunk of `joint` may go to the leaf.
fn may_take(leaf: &(&SimpleCluster, Vec<&Cluster>), joint: &Cluster, items: &[ItemId]) -> bool {
    let (simple, above) = leaf;
    let Some(position) = above.iter().position(|a| std::ptr::eq(*a, joint)) else { return false };
    items.iter().all(|item| {
        !simple.term_chunk.contains(item)
            && simple.record_chunks.iter().all(|c| !c.items().contains(item))
            && above[position + 1..]
                .iter()
                .all(|between| between.chunks().iter().all(|c| !c.items().contains(item)))
    })
}

fn place(jobs: &[Job], most: usize, world: &mut World, each: &mut dyn FnMut(&World)) {
    let Some((job, rest)) = jobs.split_first() else {
        if world.iter().all(|record| !record.is_empty()) {
            each(world);
        }
        return;
    };
    match job {
        Job::Term { term, records } => {
            for subset in 1..1u64 << records.len() {
                if subset.count_ones() as usize > most {
                    continue;
                }
                let chosen = || (0..records.len()).filter(|i| subset >> i & 1 == 1);
                chosen().for_each(|i| assert!(world[records[i]].insert(*term)));
                place(rest, most, world, each);
                chosen().for_each(|i| assert!(world[records[i]].remove(term)));
            }
        }
        Job::Chunk { counts, .. } => {
            let mut left = counts.clone();
            place_chunk(job, 0, &mut left, world, &mut |world| place(rest, most, world, each));
        }
    }
}

/// Gives record `r` and all later ones a sub-record or none.
fn place_chunk(
    job: &Job,
    r: usize,
    left: &mut Vec<u32>,
    world: &mut World,
    then: &mut dyn FnMut(&mut World),
) {
    let Job::Chunk { sub_records, allowed, .. } = job else { return };
    if r == world.len() {
        if left.iter().all(|&l| l == 0) {
            then(world);
        }
        return;
    }
    place_chunk(job, r + 1, left, world, then);
    for u in 0..sub_records.len() {
        if left[u] > 0 && allowed[u].contains(&r) {
            left[u] -= 1;
            for &item in &sub_records[u] {
                assert!(world[r].insert(item), "an item has one source in a leaf");
            }
            place_chunk(job, r + 1, left, world, then);
            for item in &sub_records[u] {
                world[r].remove(item);
            }
            left[u] += 1;
        }
    }
}
