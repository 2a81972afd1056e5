//! Oracles for releases in groups: brute force over labels, for a handful of
//! records.

use std::collections::{BTreeMap, BTreeSet};

use setveil::Release;
use setveil::release::{Bag, Body, Group, Model};

/// A set of labels.
pub type Items = BTreeSet<String>;

/// A group with every record written out, those without an item included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainGroup {
    /// The non-sensitive items of each record.
    pub records: Vec<Items>,
    /// How many records have each sensitive item.
    pub sensitive: BTreeMap<String, usize>,
}

/// The groups of a release, as a reader of the format understands them.
///
/// # Panics
/// If the release has no groups, or lists more records than a group's size.
pub fn plain_groups(release: &Release) -> Vec<PlainGroup> {
    let Body::Grouped(body) = &release.body else { panic!("not a grouped release") };
    let label = |item: u32| body.vocabulary.label(item).to_owned();
    let plain = |group: &Group| {
        let mut records = Vec::new();
        for (items, count) in group.records.iter() {
            for _ in 0..count {
                records.push(items.iter().map(|&i| label(i)).collect());
            }
        }
        assert!(records.len() <= group.size as usize, "more records than the size says");
        records.resize(group.size as usize, Items::new());
        let sensitive = group.sensitive.iter().map(|&(i, c)| (label(i), c as usize)).collect();
        PlainGroup { records, sensitive }
    };
    body.groups.iter().map(plain).collect()
}

/// Whether no record of a group can be linked to a sensitive item with more
/// than 1/p: counts, over every way to hand the item's occurrences to the
/// records, in how many each record gets one.
pub fn degree_holds(group: &PlainGroup, p: usize) -> bool {
    let size = group.records.len();
    group.sensitive.values().all(|&count| {
        let worlds: Vec<u32> =
            (0..1u32 << size).filter(|w| w.count_ones() as usize == count).collect();
        let with = |record: usize| worlds.iter().filter(|&&w| w & (1 << record) != 0).count();
        !worlds.is_empty() && (0..size).all(|record| with(record) * p <= worlds.len())
    })
}

/// Whether the groups are a grouping of `records`: every record is in exactly
/// one group, with its non-sensitive items there and its sensitive items counted.
pub fn comes_from(groups: &[PlainGroup], records: &[Items], sensitive: &Items) -> bool {
    fn place(groups: &mut [PlainGroup], records: &[Items], sensitive: &Items) -> bool {
        let Some((first, rest)) = records.split_first() else {
            return groups
                .iter()
                .all(|g| g.records.is_empty() && g.sensitive.values().all(|&count| count == 0));
        };
        let qid: Items = first.difference(sensitive).cloned().collect();
        let own: Vec<String> = first.intersection(sensitive).cloned().collect();
        for g in 0..groups.len() {
            let Some(at) = groups[g].records.iter().position(|r| *r == qid) else { continue };
            if !own.iter().all(|s| groups[g].sensitive.get(s).is_some_and(|&c| c > 0)) {
                continue;
            }
            let before = groups[g].clone();
            groups[g].records.remove(at);
            for s in &own {
                *groups[g].sensitive.get_mut(s).expect("it was looked up") -= 1;
            }
            if place(groups, rest, sensitive) {
                return true;
            }
            groups[g] = before;
        }
        false
    }
    place(&mut groups.to_vec(), records, sensitive)
}

/// Whether some grouping of `records` has degree `p` in groups of at least p:
/// tries all of them.
pub fn grouping_exists(records: &[Items], sensitive: &Items, p: usize) -> bool {
    fn good(block: &[usize], records: &[Items], sensitive: &Items, p: usize) -> bool {
        let count = |s: &String| block.iter().filter(|&&r| records[r].contains(s)).count();
        block.len() >= p && sensitive.iter().all(|s| count(s) * p <= block.len())
    }
    fn search(
        next: usize,
        blocks: &mut Vec<Vec<usize>>,
        records: &[Items],
        sensitive: &Items,
        p: usize,
    ) -> bool {
        if next == records.len() {
            return blocks.iter().all(|block| good(block, records, sensitive, p));
        }
        for b in 0..=blocks.len() {
            if b == blocks.len() {
                blocks.push(Vec::new());
            }
            blocks[b].push(next);
            if search(next + 1, blocks, records, sensitive, p) {
                return true;
            }
            blocks[b].pop();
            if blocks[b].is_empty() {
                blocks.pop();
            }
        }
        false
    }
    search(0, &mut Vec::new(), records, sensitive, p)
}

/// A saboteur's name, the rule that must catch it, and what it does.
pub type Saboteur = (&'static str, &'static str, fn(&mut Release));

/// Deliberate damage to a grouped release: a name, the rule that must catch
/// it, and what is done. Each expects a release with two different groups or
/// more, one of which has a sensitive item and two different records.
pub fn saboteurs() -> Vec<Saboteur> {
    [in_groups(), in_manifests()].concat()
}

fn in_groups() -> Vec<Saboteur> {
    vec![
        ("too few records in a group", "degree", |r| {
            let p = degree(r);
            let group = target(r);
            group.size = group.sensitive[0].1 * p - 1;
            group.records = bag(group.records.iter().take(1).map(|(items, _)| (items, 1)));
        }),
        ("a sensitive count raised", "degree", |r| {
            let p = degree(r);
            let group = target(r);
            group.sensitive[0].1 = group.size / p + 1;
        }),
        ("a group cut to one record", "group-size", |r| {
            let group = target(r);
            group.records = bag(group.records.iter().take(1));
            group.size = 1;
            group.sensitive.clear();
        }),
        ("a record listed twice", "group-records", |r| {
            let group = target(r);
            group.records = bag(group.records.iter().map(|(items, count)| (items, count * 9)));
        }),
        ("a holder without other items", "group-records", |r| {
            let group = target(r);
            group.records = bag(group.records.iter().skip(1));
        }),
        ("the holder's record kept whole", "sensitive-in-records", |r| {
            let group = target(r);
            let (s, (items, count)) = (group.sensitive[0].0, group.records.get(0));
            let mut whole = items.to_vec();
            whole.push(s);
            whole.sort_unstable();
            let rest: Vec<_> = group.records.iter().skip(1).collect();
            group.records = bag(rest.into_iter().chain([(&whole[..], count)]));
        }),
        ("an innocent item counted as sensitive", "sensitive-unlisted", |r| {
            let group = target(r);
            let innocent = group.records.items()[0];
            group.sensitive.push((innocent, 1));
            group.sensitive.sort_unstable();
        }),
        ("records in the order of the input", "canonical-order", |r| {
            let group = target(r);
            let all: Vec<_> = group.records.iter().collect();
            let mut reversed = Bag::default();
            all.iter().rev().for_each(|(items, count)| reversed.push(items, *count));
            group.records = reversed;
        }),
        ("groups in the order of their making", "canonical-order", |r| groups(r).reverse()),
        ("a sensitive item listed twice", "canonical-order", |r| {
            let group = target(r);
            group.sensitive.push(group.sensitive[0]);
        }),
        ("a sensitive count of zero", "canonical-order", |r| target(r).sensitive[0].1 = 0),
    ]
}

fn in_manifests() -> Vec<Saboteur> {
    vec![
        ("a group left out", "totals", |r| drop(groups(r).pop())),
        ("an item too many in the manifest", "totals", |r| r.manifest.items += 1),
        ("the list of sensitive items removed", "sensitive-list", |r| {
            r.manifest.parameters.remove("sensitive");
        }),
        ("the list of sensitive items shuffled", "sensitive-list", |r| {
            let list = r.manifest.parameters.get_mut("sensitive").and_then(|v| v.as_array_mut());
            list.expect("a list").reverse();
        }),
        ("a higher degree promised", "degree", |r| promise(r, 1000)),
        ("a degree of one promised", "parameters", |r| promise(r, 1)),
        ("another degree in the parameters", "parameters", |r| {
            r.manifest.parameters.insert("p".into(), 77.into());
        }),
        ("another promise altogether", "model", |r| {
            r.manifest.guarantee.model = Model::KAnonymity { k: 2 };
        }),
    ]
}

fn groups(release: &mut Release) -> &mut Vec<Group> {
    match &mut release.body {
        Body::Grouped(body) => &mut body.groups,
        _ => panic!("not a grouped release"),
    }
}

/// The group to damage: with a sensitive item and two different records.
fn target(release: &mut Release) -> &mut Group {
    let fits = |g: &&mut Group| g.records.len() > 1 && !g.sensitive.is_empty();
    groups(release).iter_mut().find(fits).expect("a group that can be damaged")
}

fn degree(release: &Release) -> u32 {
    match release.manifest.guarantee.model {
        Model::Association { p } => p,
        _ => panic!("not the promise of a grouped release"),
    }
}

fn promise(release: &mut Release, p: u32) {
    release.manifest.guarantee.model = Model::Association { p };
    release.manifest.parameters.insert("p".into(), p.into());
}

fn bag<'a>(itemsets: impl IntoIterator<Item = (&'a [u32], u32)>) -> Bag {
    Bag::from_counted(itemsets)
}
