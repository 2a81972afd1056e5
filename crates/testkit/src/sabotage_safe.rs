//! Safe releases that are broken on purpose, one way for every rule that
//! `verify` adds for them.

use setveil::data::ItemId;
use setveil::release::{Bag, Body, Cluster, Disassociated, JointCluster, Release, SimpleCluster};

use crate::sabotage::Saboteur;

/// All saboteurs of safe releases with m = 2.
pub const SAFE: &[Saboteur] = &[
    Saboteur { name: "terms that must meet are parted", rule: "safe-units", act: part_a_unit },
    Saboteur { name: "chunks are one without a link", rule: "safe-links", act: merge_unlinked },
    Saboteur { name: "chunks are one without a term of all", rule: "safe-units", act: merge_units },
    Saboteur { name: "a term of all records moves", rule: "safe-full", act: move_a_full_term },
    Saboteur { name: "a term chunk is shortened", rule: "safe-lemma-2", act: shorten_a_term_chunk },
    Saboteur { name: "two terms are shared as one", rule: "safe-refine", act: share_together },
    Saboteur { name: "a shared term is listed", rule: "safe-refine", act: list_a_shared_term },
    Saboteur { name: "a total is too large", rule: "safe-refine", act: raise_a_total },
    Saboteur { name: "a frequent term is not shared", rule: "safe-refine", act: keep_a_term_back },
    Saboteur { name: "an open leaf stays alone", rule: "safe-joins", act: leave_one_out },
    Saboteur { name: "a closed leaf joins", rule: "safe-joins", act: join_a_closed_leaf },
    Saboteur { name: "eta is too large", rule: "parameters", act: raise_eta },
];

fn body(release: &mut Release) -> &mut Disassociated {
    match &mut release.body {
        Body::Disassociated(body) => body,
        _ => panic!("a disassociated release"),
    }
}

fn k_of(release: &Release) -> u32 {
    release.manifest.guarantee.model.k().expect("a model with k")
}

fn in_order(release: &mut Release) {
    let body = body(release);
    body.clusters.iter_mut().for_each(Cluster::canonicalize);
    body.clusters.sort_unstable();
}

/// Changes the first leaf that can be, and restores the order.
fn first_leaf(release: &mut Release, change: impl Fn(&mut SimpleCluster, u32) -> bool) -> bool {
    let k = k_of(release);
    let done = body(release).clusters.iter_mut().any(|cluster| match cluster {
        Cluster::Simple(leaf) => change(leaf, k),
        Cluster::Joint(joint) => joint.children.iter_mut().any(|child| match child {
            Cluster::Simple(leaf) => change(leaf, k),
            Cluster::Joint(_) => false,
        }),
    });
    in_order(release);
    done
}

fn first_joint(release: &mut Release, change: impl Fn(&mut JointCluster, u32) -> bool) -> bool {
    let k = k_of(release);
    let done = body(release).clusters.iter_mut().any(|cluster| match cluster {
        Cluster::Joint(joint) => change(joint, k),
        Cluster::Simple(_) => false,
    });
    in_order(release);
    done
}

/// The terms with support, chunk and whether all records have them; by falling
/// support, ties by text.
fn terms(leaf: &SimpleCluster) -> Vec<(ItemId, u64, usize)> {
    let chunks = leaf.record_chunks.iter().enumerate();
    let mut terms: Vec<(ItemId, u64, usize)> = chunks
        .flat_map(|(c, chunk)| chunk.domain().into_iter().map(move |t| (t, chunk.support(&[t]), c)))
        .collect();
    terms.sort_by_key(|&(item, support, _)| (std::cmp::Reverse(support), item));
    terms
}

fn is_full(leaf: &SimpleCluster, support: u64) -> bool {
    support == u64::from(leaf.size)
}

/// The sub-records of a chunk one by one, without `but`.
fn rows(chunk: &Bag, but: Option<ItemId>) -> Vec<Vec<ItemId>> {
    let row = |items: &[ItemId]| items.iter().copied().filter(|&i| Some(i) != but).collect();
    chunk.iter().flat_map(|(items, count)| vec![row(items); count as usize]).collect()
}

fn bag(rows: &mut [Vec<ItemId>]) -> Bag {
    rows.iter_mut().for_each(|row| row.sort_unstable());
    Bag::from_itemsets(rows.iter().map(Vec::as_slice))
}

fn part_a_unit(release: &mut Release) -> bool {
    first_leaf(release, |leaf, k| {
        let terms = terms(leaf);
        let mut rest = terms.iter().filter(|t| !is_full(leaf, t.1));
        let (Some(a), Some(b)) = (rest.next(), rest.next()) else { return false };
        // The two most frequent ones are a unit if any are.
        if a.1 + b.1 < u64::from(leaf.size) + u64::from(k) || a.2 != b.2 {
            return false;
        }
        let chunk = &mut leaf.record_chunks[b.2];
        let alone = Bag::from_counted([(&[b.0][..], b.1 as u32)]);
        *chunk = bag(&mut rows(chunk, Some(b.0)));
        leaf.record_chunks.push(alone);
        true
    })
}

/// Merges two chunks of `leaf` so that their terms meet nowhere, if there is room.
fn merge(leaf: &mut SimpleCluster, full: bool) -> bool {
    let all = terms(leaf);
    let full_terms: Vec<ItemId> = all.iter().filter(|t| is_full(leaf, t.1)).map(|t| t.0).collect();
    if full_terms.is_empty() == full || leaf.record_chunks.len() < 2 {
        return false;
    }
    let holder = (0..leaf.record_chunks.len())
        .find(|&c| full_terms.iter().any(|t| leaf.record_chunks[c].support(&[*t]) > 0))
        .unwrap_or(0);
    let other = (holder + 1) % leaf.record_chunks.len();
    let mut into = rows(&leaf.record_chunks[holder], None);
    into.resize(leaf.size as usize, Vec::new());
    into.sort_by_key(Vec::len);
    let added = rows(&leaf.record_chunks[other], None);
    let bare = |row: &Vec<ItemId>| row.iter().all(|i| full_terms.contains(i));
    if into.iter().filter(|row| bare(row)).count() < added.len() {
        return false;
    }
    for (row, more) in into.iter_mut().zip(added) {
        row.extend(more);
    }
    leaf.record_chunks[holder] = bag(&mut into);
    leaf.record_chunks.remove(other);
    true
}

fn merge_unlinked(release: &mut Release) -> bool {
    first_leaf(release, |leaf, _| merge(leaf, true))
}

fn merge_units(release: &mut Release) -> bool {
    first_leaf(release, |leaf, _| merge(leaf, false))
}

fn move_a_full_term(release: &mut Release) -> bool {
    first_leaf(release, |leaf, _| {
        let Some(&(term, _, from)) = terms(leaf).iter().find(|t| is_full(leaf, t.1)) else {
            return false;
        };
        let Some(to) = (0..leaf.record_chunks.len()).find(|&c| c != from) else { return false };
        let mut there = rows(&leaf.record_chunks[to], None);
        there.resize(leaf.size as usize, Vec::new());
        there.iter_mut().for_each(|row| row.push(term));
        leaf.record_chunks[to] = bag(&mut there);
        leaf.record_chunks[from] = bag(&mut rows(&leaf.record_chunks[from], Some(term)));
        leaf.record_chunks.retain(|chunk| !chunk.is_empty());
        true
    })
}

fn shorten_a_term_chunk(release: &mut Release) -> bool {
    first_leaf(release, |leaf, k| {
        let subrecords: u64 = leaf.record_chunks.iter().map(Bag::total).sum();
        let needed = u64::from(leaf.size) + u64::from(k);
        let full = terms(leaf).iter().any(|t| is_full(leaf, t.1));
        let acts = !full
            && leaf.record_chunks.len() > 1
            && leaf.term_chunk.len() > 1
            && subrecords + 1 < needed;
        if acts {
            leaf.term_chunk.truncate(1);
        }
        acts
    })
}

fn share_together(release: &mut Release) -> bool {
    first_joint(release, |joint, _| {
        if joint.shared_chunks.len() < 2 {
            return false;
        }
        let last = joint.shared_chunks.pop().expect("two");
        let mut all = rows(&joint.shared_chunks[0], None);
        all.extend(rows(&last, None));
        joint.shared_chunks[0] = bag(&mut all);
        true
    })
}

/// A child that does not have the term.
fn child_without(joint: &mut JointCluster, term: ItemId) -> Option<&mut SimpleCluster> {
    joint.children.iter_mut().find_map(|child| match child {
        Cluster::Simple(leaf) if leaf.record_chunks.iter().all(|c| c.support(&[term]) == 0) => {
            Some(leaf)
        }
        _ => None,
    })
}

fn list(leaf: &mut SimpleCluster, term: ItemId) {
    leaf.term_chunk.push(term);
    leaf.term_chunk.sort_unstable();
    leaf.term_chunk.dedup();
}

fn list_a_shared_term(release: &mut Release) -> bool {
    first_joint(release, |joint, _| {
        let term = joint.shared_chunks[0].domain()[0];
        child_without(joint, term).map(|leaf| list(leaf, term)).is_some()
    })
}

fn raise_a_total(release: &mut Release) -> bool {
    first_joint(release, |joint, k| {
        let term = joint.shared_chunks[0].domain()[0];
        let total = joint.children.len() as u32 * (k - 1) + 1;
        joint.shared_chunks[0] = Bag::from_counted([(&[term][..], total)]);
        true
    })
}

fn keep_a_term_back(release: &mut Release) -> bool {
    first_joint(release, |joint, k| {
        if joint.shared_chunks.len() < 2 {
            return false;
        }
        let term = joint.shared_chunks[0].domain()[0];
        let mut listed = 0;
        for child in &mut joint.children {
            if let Cluster::Simple(leaf) = child
                && leaf.record_chunks.iter().all(|c| c.support(&[term]) == 0)
            {
                list(leaf, term);
                listed += 1;
            }
        }
        joint.shared_chunks.remove(0);
        listed >= k
    })
}

fn leave_one_out(release: &mut Release) -> bool {
    let body = body(release);
    let mut left = None;
    for cluster in &mut body.clusters {
        if let Cluster::Joint(joint) = cluster
            && joint.children.len() > 2
        {
            let child = joint.children.pop().expect("three");
            joint.size -= child.size();
            left = Some(child);
            break;
        }
    }
    let done = left.is_some();
    body.clusters.extend(left);
    in_order(release);
    done
}

fn join_a_closed_leaf(release: &mut Release) -> bool {
    let body = body(release);
    let joint = body.clusters.iter().position(|c| matches!(c, Cluster::Joint(_)));
    let simple = body.clusters.iter().position(|c| matches!(c, Cluster::Simple(_)));
    let (Some(joint), Some(simple)) = (joint, simple) else { return false };
    let leaf = body.clusters[simple].clone();
    if let Cluster::Joint(joint) = &mut body.clusters[joint] {
        joint.size += leaf.size();
        joint.children.push(leaf);
    }
    body.clusters.remove(simple);
    in_order(release);
    true
}

fn raise_eta(release: &mut Release) -> bool {
    release.manifest.parameters.insert("eta".into(), 0.75.into());
    true
}
