//! Releases that are broken on purpose: `verify` must find each with the
//! right rule, or its word is worth nothing.

use setveil::data::ItemId;
use setveil::release::{
    Bag, Body, Cluster, Disassociated, JointCluster, Model, Release, SimpleCluster, Supports,
};

/// What a saboteur does to a disassociated release, and the rule that must
/// catch it. Gives false where the release has nothing to break in this way.
pub struct Saboteur {
    /// What is done.
    pub name: &'static str,
    /// The rule that is broken.
    pub rule: &'static str,
    /// Does it.
    pub act: fn(&mut Release) -> bool,
}

/// All saboteurs of disassociated releases.
pub const DISASSOCIATED: &[Saboteur] = &[
    Saboteur { name: "a count falls below k", rule: "km", act: lower_a_count },
    Saboteur { name: "a rare term leaves the term chunk", rule: "km", act: expose_a_term },
    Saboteur { name: "a cluster says it is smaller than k", rule: "size", act: shrink_a_cluster },
    Saboteur { name: "a record disappears", rule: "totals", act: forget_a_record },
    Saboteur { name: "a term stands in two chunks", rule: "disjoint", act: repeat_a_term },
    Saboteur {
        name: "sub-records are in record order",
        rule: "canonical-order",
        act: leak_an_order,
    },
    Saboteur { name: "clusters are in another order", rule: "canonical-order", act: swap_clusters },
    Saboteur { name: "a needed term chunk is emptied", rule: "lemma-2", act: empty_a_term_chunk },
    Saboteur {
        name: "shared chunks with terms from below are merged",
        rule: "property-1",
        act: share_from_below,
    },
    Saboteur { name: "more sub-records than records", rule: "room", act: overfill },
    Saboteur { name: "a joint cluster has one child", rule: "children", act: adopt },
    Saboteur { name: "a joint cluster says another size", rule: "size", act: miscount_a_joint },
    Saboteur { name: "k is 1", rule: "manifest", act: promise_nothing },
    Saboteur { name: "l without sensitive terms", rule: "manifest", act: promise_l },
    Saboteur { name: "a parameter of its own", rule: "parameters", act: add_a_parameter },
    Saboteur { name: "a parameter is gone", rule: "parameters", act: lose_a_parameter },
    Saboteur { name: "parameters promise more", rule: "parameters", act: raise_k },
    Saboteur { name: "a parameter of another type", rule: "parameters", act: retype_a_parameter },
    Saboteur { name: "another method", rule: "method", act: rename_the_method },
    Saboteur { name: "a method of another kind", rule: "method", act: become_cahd },
    Saboteur { name: "supports of another method", rule: "method", act: exchange_the_supports },
    Saboteur { name: "a tool that says more", rule: "tool", act: sign },
];

fn body(release: &mut Release) -> &mut Disassociated {
    match &mut release.body {
        Body::Disassociated(body) => body,
        _ => panic!("a disassociated release"),
    }
}

fn leaves(cluster: &mut Cluster) -> Vec<&mut SimpleCluster> {
    match cluster {
        Cluster::Simple(leaf) => vec![leaf],
        Cluster::Joint(joint) => joint.children.iter_mut().flat_map(leaves).collect(),
    }
}

/// Applies `change` to the first leaf on which it works, and puts the whole in
/// canonical order again, so that only the intended rule is broken.
fn first_leaf(release: &mut Release, change: impl Fn(&mut SimpleCluster, u32) -> bool) -> bool {
    let k = release.manifest.guarantee.model.k().expect("a model with k");
    let body = body(release);
    let done = body.clusters.iter_mut().flat_map(leaves).any(|leaf| change(leaf, k));
    body.clusters.iter_mut().for_each(Cluster::canonicalize);
    body.clusters.sort_unstable();
    done
}

fn rebuild(chunk: &Bag, change: impl FnOnce(&mut Vec<(Vec<ItemId>, u32)>)) -> Bag {
    let mut all: Vec<(Vec<ItemId>, u32)> = chunk.iter().map(|(i, c)| (i.to_vec(), c)).collect();
    change(&mut all);
    Bag::from_counted(all.iter().map(|(i, c)| (&i[..], *c)))
}

fn lower_a_count(release: &mut Release) -> bool {
    first_leaf(release, |leaf, k| {
        let Some(chunk) = leaf.record_chunks.first_mut() else { return false };
        let term = chunk.domain()[0];
        // The sub-records with the term go until fewer than k are left.
        *chunk = rebuild(chunk, |all| {
            let mut keep = k - 1;
            for (items, count) in all.iter_mut().filter(|(items, _)| items.contains(&term)) {
                let kept = (*count).min(keep);
                keep -= kept;
                if kept == 0 {
                    items.retain(|&i| i != term);
                } else {
                    *count = kept;
                }
            }
        });
        true
    })
}

fn expose_a_term(release: &mut Release) -> bool {
    first_leaf(release, |leaf, _| {
        let Some(term) = leaf.term_chunk.pop() else { return false };
        leaf.record_chunks.push(Bag::from_counted([(&[term][..], 1)]));
        true
    })
}

fn shrink_a_cluster(release: &mut Release) -> bool {
    first_leaf(release, |leaf, k| {
        leaf.size = k - 1;
        true
    })
}

fn forget_a_record(release: &mut Release) -> bool {
    release.manifest.records += 1;
    true
}

fn repeat_a_term(release: &mut Release) -> bool {
    first_leaf(release, |leaf, _| {
        let Some(chunk) = leaf.record_chunks.first() else { return false };
        let term = chunk.domain()[0];
        leaf.term_chunk.push(term);
        leaf.term_chunk.sort_unstable();
        true
    })
}

fn leak_an_order(release: &mut Release) -> bool {
    for leaf in body(release).clusters.iter_mut().flat_map(leaves) {
        if let Some(chunk) = leaf.record_chunks.iter_mut().find(|chunk| chunk.len() > 1) {
            let mut reversed = Bag::default();
            for i in (0..chunk.len()).rev() {
                let (items, count) = chunk.get(i);
                reversed.push(items, count);
            }
            *chunk = reversed;
            return true;
        }
    }
    false
}

fn swap_clusters(release: &mut Release) -> bool {
    let clusters = &mut body(release).clusters;
    match clusters.windows(2).position(|pair| pair[0] != pair[1]) {
        Some(place) => {
            clusters.swap(place, place + 1);
            true
        }
        None => false,
    }
}

fn empty_a_term_chunk(release: &mut Release) -> bool {
    let model = release.manifest.guarantee.model.clone();
    let m = u64::from(model.m().expect("a model with m"));
    first_leaf(release, |leaf, k| {
        let h = m.min(leaf.record_chunks.len() as u64);
        let needed = u64::from(leaf.size) + u64::from(k) * h.saturating_sub(1);
        let short = leaf.record_chunks.iter().map(Bag::total).sum::<u64>() < needed;
        let acts = short && !leaf.term_chunk.is_empty();
        if acts {
            leaf.term_chunk.clear();
        }
        acts
    })
}

fn share_from_below(release: &mut Release) -> bool {
    let k = release.manifest.guarantee.model.k().expect("a model with k");
    let body = body(release);
    for cluster in &mut body.clusters {
        let Cluster::Joint(joint) = cluster else { continue };
        let Some(chunk) = joint.shared_chunks.first_mut() else { continue };
        let below = joint.children[0].leaves()[0].record_chunks.first().map(Bag::domain);
        let Some(term) = below.and_then(|domain| domain.first().copied()) else { continue };
        *chunk = rebuild(chunk, |all| all.push((vec![term], k)));
        cluster.canonicalize();
        body.clusters.sort_unstable();
        return true;
    }
    false
}

fn overfill(release: &mut Release) -> bool {
    first_leaf(release, |leaf, _| {
        let size = leaf.size;
        let Some(chunk) = leaf.record_chunks.first_mut() else { return false };
        *chunk = rebuild(chunk, |all| all.iter_mut().for_each(|(_, count)| *count += size));
        true
    })
}

/// Puts the first cluster under a joint cluster of its own.
fn adopt(release: &mut Release) -> bool {
    let clusters = &mut body(release).clusters;
    let child = clusters.remove(0);
    let size = child.size();
    let joint = JointCluster { size, shared_chunks: Vec::new(), children: vec![child] };
    clusters.push(Cluster::Joint(joint));
    clusters.sort_unstable();
    true
}

/// The manifest follows, so that only the sum of the children is wrong.
fn miscount_a_joint(release: &mut Release) -> bool {
    let body = body(release);
    let joint = body.clusters.iter_mut().find_map(|cluster| match cluster {
        Cluster::Joint(joint) => Some(joint),
        Cluster::Simple(_) => None,
    });
    let Some(joint) = joint else { return false };
    joint.size += 1;
    body.clusters.sort_unstable();
    release.manifest.records += 1;
    true
}

fn promise_nothing(release: &mut Release) -> bool {
    let Model::FormatKmAnonymity { m, l, .. } = release.manifest.guarantee.model else {
        return false;
    };
    release.manifest.guarantee.model = Model::FormatKmAnonymity { k: 1, m, l };
    release.manifest.parameters.insert("k".into(), 1.into());
    true
}

fn promise_l(release: &mut Release) -> bool {
    let Model::FormatKmAnonymity { k, m, l: None } = release.manifest.guarantee.model else {
        return false;
    };
    release.manifest.guarantee.model = Model::FormatKmAnonymity { k, m, l: Some(2) };
    release.manifest.parameters.insert("l".into(), 2.into());
    true
}

fn add_a_parameter(release: &mut Release) -> bool {
    release.manifest.parameters.insert("record_order".into(), vec![3, 1, 2].into());
    true
}

fn lose_a_parameter(release: &mut Release) -> bool {
    release.manifest.parameters.remove("refine").is_some()
}

fn raise_k(release: &mut Release) -> bool {
    release.manifest.parameters.insert("k".into(), 50.into());
    true
}

fn retype_a_parameter(release: &mut Release) -> bool {
    release.manifest.parameters.insert("refine".into(), "record 17 is first".into());
    true
}

fn rename_the_method(release: &mut Release) -> bool {
    release.manifest.method = "disassociation, seed 17".into();
    true
}

fn become_cahd(release: &mut Release) -> bool {
    release.manifest.method = "cahd".into();
    true
}

fn exchange_the_supports(release: &mut Release) -> bool {
    let supports = &mut release.manifest.guarantee.supports;
    *supports = match supports {
        Supports::Exact => Supports::LowerBound,
        _ => Supports::Exact,
    };
    true
}

fn sign(release: &mut Release) -> bool {
    release.manifest.tool += " from /home/alice";
    true
}
