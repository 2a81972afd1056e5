//! Located releases that are broken on purpose, a saboteur a rule.

use setveil::data::ItemId;
use setveil::release::{Bag, Body, Leaf, Located, Release};

use crate::sabotage::Saboteur;

/// All saboteurs of located releases.
pub const LOCATED: &[Saboteur] = &[
    Saboteur { name: "a rare pair is kept together", rule: "G", act: join_a_rare_pair },
    Saboteur { name: "an item is kept once in its leaf", rule: "L", act: keep_an_item_once },
    Saboteur { name: "a count falls below k", rule: "C", act: lower_a_count },
    Saboteur { name: "an item is counted too often", rule: "C", act: raise_a_count },
    Saboteur { name: "a total is hardly more than one a leaf", rule: "T", act: lower_a_total },
    Saboteur { name: "records have nothing at all", rule: "N", act: empty_records },
    Saboteur { name: "one record alone keeps nothing", rule: "B", act: add_a_bare_record },
    Saboteur { name: "a record disappears", rule: "totals", act: forget_a_record },
    Saboteur { name: "leaves stand in another order", rule: "canonical-order", act: swap_leaves },
    Saboteur { name: "more sub-records than records", rule: "size", act: overfill },
    Saboteur { name: "an item is counted and listed", rule: "twice", act: say_twice },
];

fn k(release: &Release) -> u64 {
    release.manifest.guarantee.model.k().expect("a model with k").into()
}

fn body(release: &mut Release) -> &mut Located {
    match &mut release.body {
        Body::Located(body) => body,
        _ => panic!("a located release"),
    }
}

/// Applies `change` to the first leaf on which it works; the order of the leaves
/// is mended, so that only the intended rule is broken.
fn first_leaf(release: &mut Release, mut change: impl FnMut(&mut Leaf) -> bool) -> bool {
    let leaves = &mut body(release).leaves;
    let done = leaves.iter_mut().any(&mut change);
    leaves.sort_unstable();
    done
}

fn rebuild(kept: &Bag, change: impl FnOnce(&mut Vec<(Vec<ItemId>, u32)>)) -> Bag {
    let mut all: Vec<(Vec<ItemId>, u32)> = kept.iter().map(|(i, c)| (i.to_vec(), c)).collect();
    change(&mut all);
    Bag::from_counted(all.iter().map(|(i, c)| (&i[..], *c)))
}

fn together(body: &Located, itemset: &[ItemId]) -> u64 {
    body.leaves.iter().map(|leaf| leaf.kept.support(itemset)).sum()
}

fn join_a_rare_pair(release: &mut Release) -> bool {
    let k = k(release);
    let before = body(release).clone();
    first_leaf(release, |leaf| {
        let domain = leaf.kept.domain();
        let found = leaf.kept.iter().enumerate().find_map(|(at, (items, _))| {
            let with = domain.iter().copied().find(|item| {
                let mut pair = [items[0].min(*item), items[0].max(*item)];
                pair.sort_unstable();
                !items.contains(item) && together(&before, &pair) + 1 < k
            });
            with.map(|item| (at, item))
        });
        let Some((at, item)) = found else { return false };
        leaf.kept = rebuild(&leaf.kept, |all| {
            let mut joined = all[at].0.clone();
            joined.push(item);
            joined.sort_unstable();
            all[at].1 -= 1;
            all.push((joined, 1));
        });
        true
    })
}

fn keep_an_item_once(release: &mut Release) -> bool {
    let k = k(release);
    let before = body(release).clone();
    let everywhere: Vec<ItemId> = (0..before.vocabulary.len() as ItemId)
        .filter(|&item| together(&before, &[item]) >= k)
        .collect();
    first_leaf(release, |leaf| {
        let kept = leaf.kept.domain();
        let new = everywhere.iter().find(|item| kept.binary_search(item).is_err());
        let (Some(&new), true) = (new, leaf.bare() > 0 && !leaf.listed.is_empty()) else {
            return false;
        };
        leaf.kept = rebuild(&leaf.kept, |all| all.push((vec![new], 1)));
        true
    })
}

fn lower_a_count(release: &mut Release) -> bool {
    let k = k(release);
    first_leaf(release, |leaf| {
        leaf.counted.first_mut().map(|counted| counted.1 = k as u32 - 1).is_some()
    })
}

fn raise_a_count(release: &mut Release) -> bool {
    first_leaf(release, |leaf| {
        let size = leaf.size;
        leaf.counted.first_mut().map(|counted| counted.1 = size + 1).is_some()
    })
}

fn lower_a_total(release: &mut Release) -> bool {
    let k = k(release);
    let body = body(release);
    let Some(&(item, _)) = body.totals.first() else { return false };
    let leaves = body.leaves.iter().filter(|leaf| leaf.listed.contains(&item)).count() as u64;
    body.totals[0].1 = k + leaves - 2;
    true
}

fn empty_records(release: &mut Release) -> bool {
    first_leaf(release, |leaf| {
        let bare = leaf.bare() > 0;
        if bare {
            leaf.counted.clear();
            leaf.listed.clear();
        }
        bare
    })
}

fn add_a_bare_record(release: &mut Release) -> bool {
    first_leaf(release, |leaf| {
        let full = leaf.bare() == 0;
        leaf.size += u32::from(full);
        full
    })
}

fn forget_a_record(release: &mut Release) -> bool {
    let large = |leaf: &mut Leaf| leaf.bare() > 0;
    first_leaf(release, |leaf| {
        let can = large(leaf);
        leaf.size -= u32::from(can);
        can
    })
}

fn swap_leaves(release: &mut Release) -> bool {
    let leaves = &mut body(release).leaves;
    let Some(at) = leaves.windows(2).position(|w| w[0] != w[1]) else { return false };
    leaves.swap(at, at + 1);
    true
}

fn overfill(release: &mut Release) -> bool {
    first_leaf(release, |leaf| {
        let some = !leaf.kept.is_empty();
        let more = leaf.size;
        leaf.kept = rebuild(&leaf.kept, |all| {
            if let Some(first) = all.first_mut() {
                first.1 += more;
            }
        });
        some
    })
}

fn say_twice(release: &mut Release) -> bool {
    first_leaf(release, |leaf| {
        let Some(&(item, _)) = leaf.counted.first() else { return false };
        leaf.listed.push(item);
        leaf.listed.sort_unstable();
        true
    })
}
