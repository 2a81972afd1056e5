//! Whether a data set could be the original of a release, decided by
//! projecting it on every chunk: naive, and the opposite way to a
//! reconstruction.

use std::collections::{BTreeMap, BTreeSet};

use setveil::Dataset;
use setveil::data::ItemId;
use setveil::release::{Bag, Body, Cluster, Generalized, Group, Located, Release};

type Record = BTreeSet<String>;

/// What speaks against `data`, whose records stand in the order of the
/// release's clusters (leaf by leaf), classes or groups; none if it fits.
pub fn objection(release: &Release, data: &Dataset) -> Option<String> {
    let label = |i: &ItemId| data.vocabulary().label(*i).to_owned();
    let mut records: Vec<Record> = data.records().map(|r| r.iter().map(label).collect()).collect();
    if records.iter().any(BTreeSet::is_empty) {
        return Some("an empty record".into());
    }
    let text = |i: &ItemId| release.body.vocabulary().label(*i).to_owned();
    let found = match &release.body {
        Body::Disassociated(body) => clusters_objection(&body.clusters, &mut records, &text),
        Body::Generalized(body) => classes_objection(body, &mut records, &text),
        Body::Grouped(body) => {
            body.groups.iter().find_map(|group| group_objection(group, &mut records, &text))
        }
        Body::Located(body) => located_objection(body, &mut records, &text),
    };
    found.or_else(|| (!records.is_empty()).then(|| "too many records".into()))
}

fn clusters_objection(
    clusters: &[Cluster],
    records: &mut Vec<Record>,
    text: &dyn Fn(&ItemId) -> String,
) -> Option<String> {
    for cluster in clusters {
        if records.len() < cluster.size() as usize {
            return Some("too few records".into());
        }
        let rest = records.split_off(cluster.size() as usize);
        let mut leaves = Vec::new();
        cut(cluster, records, &mut Vec::new(), text, &mut leaves);
        if let Some(what) = cluster_objection(cluster, &leaves, text) {
            return Some(what);
        }
        *records = rest;
    }
    None
}

fn classes_objection(
    body: &Generalized,
    records: &mut Vec<Record>,
    text: &dyn Fn(&ItemId) -> String,
) -> Option<String> {
    let covers = |node: &String, item: &String| match &body.hierarchy {
        Some(tree) => tree.covers(tree.node(node).unwrap(), tree.node(item).unwrap()),
        None => node == item,
    };
    for (items, count) in body.classes.iter() {
        let nodes: Vec<String> = items.iter().map(text).collect();
        for record in records.drain(..count as usize) {
            if !nodes.iter().all(|n| record.iter().any(|i| covers(n, i)))
                || !record.iter().all(|i| nodes.iter().any(|n| covers(n, i)))
            {
                return Some(format!("{record:?} is not in the class {nodes:?}"));
            }
        }
    }
    None
}

fn group_objection(
    group: &Group,
    records: &mut Vec<Record>,
    text: &dyn Fn(&ItemId) -> String,
) -> Option<String> {
    let rows: Vec<Record> = records.drain(..group.size as usize).collect();
    let secret: BTreeSet<String> = group.sensitive.iter().map(|(s, _)| text(s)).collect();
    let open = |r: &Record| r.difference(&secret).cloned().collect::<Record>();
    if bag_of(rows.iter().map(open)) != texts(&group.records, text) {
        return Some("the records of a group differ".into());
    }
    group.sensitive.iter().find_map(|(item, count)| {
        let item = text(item);
        let differs = rows.iter().filter(|r| r.contains(&item)).count() != *count as usize;
        differs.then(|| format!("`{item}` has another count in a group"))
    })
}

/// Which sub-record a record keeps is not said, but that does not matter: an
/// item is in as many further records as records have it, less those that keep it.
fn located_objection(
    body: &Located,
    records: &mut Vec<Record>,
    text: &dyn Fn(&ItemId) -> String,
) -> Option<String> {
    let mut sums: BTreeMap<ItemId, u64> = BTreeMap::new();
    for leaf in &body.leaves {
        let rows: Vec<Record> = records.drain(..leaf.size as usize).collect();
        let subs: Vec<Record> = leaf
            .kept
            .iter()
            .flat_map(|(items, count)| {
                std::iter::repeat_n(items.iter().map(text).collect(), count as usize)
            })
            .collect();
        if !all_fit(&subs, &rows) {
            return Some("the kept sub-records of a leaf do not fit its records".into());
        }
        for item in 0..body.vocabulary.len() as ItemId {
            let name = text(&item);
            let have = rows.iter().filter(|r| r.contains(&name)).count() as u64;
            let further = have - leaf.kept.support(&[item]);
            let counted = leaf.counted.iter().find(|c| c.0 == item).map(|c| u64::from(c.1));
            let listed = leaf.listed.contains(&item);
            if listed {
                *sums.entry(item).or_default() += further;
            }
            let fits = match counted {
                Some(count) => further == count,
                None => (further > 0) == listed,
            };
            if !fits {
                return Some(format!("`{name}` is in {further} further records of a leaf"));
            }
        }
    }
    let wrong = body.totals.iter().find(|(item, total)| sums.get(item) != Some(total));
    wrong.map(|(item, total)| format!("`{}` has not the total {total}", text(item)))
}

/// Whether different records can keep the sub-records (augmenting paths).
fn all_fit(subs: &[Record], rows: &[Record]) -> bool {
    let mut owner: Vec<Option<usize>> = vec![None; rows.len()];
    (0..subs.len()).all(|s| seat(s, subs, rows, &mut owner, &mut vec![false; rows.len()]))
}

fn seat(
    s: usize,
    subs: &[Record],
    rows: &[Record],
    owner: &mut Vec<Option<usize>>,
    seen: &mut Vec<bool>,
) -> bool {
    for r in 0..rows.len() {
        if !seen[r] && subs[s].is_subset(&rows[r]) {
            seen[r] = true;
            if owner[r].is_none_or(|other| seat(other, subs, rows, owner, seen)) {
                owner[r] = Some(s);
                return true;
            }
        }
    }
    false
}

/// A leaf: its records, and where each item comes from. Sources are the
/// numbers of the clusters on the way down, counted in preorder.
struct Leaf {
    records: Vec<Record>,
    source: BTreeMap<String, usize>,
}

/// Cuts the records of a cluster into leaves, in order. `above` holds the
/// domains on the way down with their preorder numbers.
fn cut(
    cluster: &Cluster,
    records: &[Record],
    above: &mut Vec<(usize, BTreeSet<String>)>,
    text: &dyn Fn(&ItemId) -> String,
    leaves: &mut Vec<Leaf>,
) -> usize {
    let number = above.last().map_or(0, |a| a.0 + 1);
    cut_from(cluster, records, above, number, text, leaves)
}

fn cut_from(
    cluster: &Cluster,
    records: &[Record],
    above: &mut Vec<(usize, BTreeSet<String>)>,
    number: usize,
    text: &dyn Fn(&ItemId) -> String,
    leaves: &mut Vec<Leaf>,
) -> usize {
    let mut domain: BTreeSet<String> =
        cluster.chunks().iter().flat_map(|c| c.items()).map(text).collect();
    if let Cluster::Simple(leaf) = cluster {
        domain.extend(leaf.term_chunk.iter().map(text));
    }
    above.push((number, domain));
    let mut next = number + 1;
    if cluster.children().is_empty() {
        let mut source = BTreeMap::new();
        // From the top down, so that what is nearer to the leaf overwrites.
        for (n, domain) in above.iter() {
            source.extend(domain.iter().map(|item| (item.clone(), *n)));
        }
        leaves.push(Leaf { records: records.to_vec(), source });
    }
    let mut start = 0;
    for child in cluster.children() {
        let end = start + child.size() as usize;
        next = cut_from(child, &records[start..end], above, next, text, leaves);
        start = end;
    }
    above.pop();
    next
}

fn cluster_objection(
    cluster: &Cluster,
    leaves: &[Leaf],
    text: &dyn Fn(&ItemId) -> String,
) -> Option<String> {
    for leaf in leaves {
        for record in &leaf.records {
            if let Some(item) = record.iter().find(|i| !leaf.source.contains_key(*i)) {
                return Some(format!("`{item}` stands in a cluster that does not have it"));
            }
        }
    }
    let (mut number, mut leaf) = (0, 0);
    walk(cluster, leaves, &mut number, &mut leaf, text)
}

fn walk(
    cluster: &Cluster,
    leaves: &[Leaf],
    number: &mut usize,
    leaf: &mut usize,
    text: &dyn Fn(&ItemId) -> String,
) -> Option<String> {
    let (own, first) = (*number, *leaf);
    *number += 1;
    if let Cluster::Simple(simple) = cluster {
        for term in simple.term_chunk.iter().map(text) {
            if !leaves[first].records.iter().any(|r| r.contains(&term)) {
                return Some(format!("`{term}` of a term chunk does not occur"));
            }
        }
        *leaf += 1;
    }
    for child in cluster.children() {
        let found = walk(child, leaves, number, leaf, text);
        if found.is_some() {
            return found;
        }
    }
    for chunk in cluster.chunks() {
        let domain: BTreeSet<String> = chunk.items().iter().map(text).collect();
        let projected = leaves[first..*leaf].iter().flat_map(|l| {
            let of_chunk = |i: &&String| domain.contains(*i) && l.source[*i] == own;
            l.records.iter().map(move |r| r.iter().filter(of_chunk).cloned().collect::<Record>())
        });
        let projected: Vec<Record> = projected.collect();
        if bag_of(projected) != texts(chunk, text) {
            return Some(format!("the projection on a chunk over {domain:?} differs"));
        }
    }
    None
}

fn bag_of(records: impl IntoIterator<Item = Record>) -> BTreeMap<Record, u32> {
    let mut bag = BTreeMap::new();
    for record in records.into_iter().filter(|r| !r.is_empty()) {
        *bag.entry(record).or_insert(0) += 1;
    }
    bag
}

fn texts(bag: &Bag, text: &dyn Fn(&ItemId) -> String) -> BTreeMap<Record, u32> {
    bag.iter().map(|(items, count)| (items.iter().map(text).collect(), count)).collect()
}
