//! Located releases by brute force: random ones whose original is known, all
//! their worlds, the greatest supports, and saboteurs.
//!
//! Everything follows the meaning of the format in `docs/release-format.md`.
//! Records of a leaf are told apart by position: the kept sub-records in their
//! order, then the records that keep nothing. What differs from world to world is
//! where the further occurrences of items are.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use setveil::Dataset;
use setveil::data::{ItemId, Vocabulary};
use setveil::release::{
    Bag, Body, Guarantee, Leaf, Located, Manifest, Model, Release, Supports, VERSION_LOCATED,
};

use crate::random::label;

/// A world: per leaf the records, as sets of bits.
pub type World = Vec<Vec<u32>>;

/// A random small located release with its original, leaf by leaf. It follows
/// the format, whether or not that protects anybody.
pub fn random_release(rng: &mut ChaCha8Rng, k: u32, m: u32, extra: u32) -> (Dataset, Release) {
    let bare = rng.random_range(0.0..0.4);
    release_with(rng, (k, m), extra, bare)
}

/// The same, with a share of about `bare` records that keep nothing.
pub fn release_with(
    rng: &mut ChaCha8Rng,
    (k, m): (u32, u32),
    extra: u32,
    bare: f64,
) -> (Dataset, Release) {
    let items = rng.random_range(3..=5_usize);
    let templates: Vec<u32> =
        (0..rng.random_range(1..=3)).map(|_| rng.random_range(1..1 << items)).collect();
    let further = rng.random_range(0.05..0.5);
    let leaves: Vec<Vec<(u32, u32)>> = (0..rng.random_range(1..=2))
        .map(|_| {
            let one = rng.random_bool(0.4).then(|| templates[rng.random_range(0..templates.len())]);
            let size = rng.random_range(k..=k + extra);
            (0..size).map(|_| draft(rng, items, &templates, one, (bare, further))).collect()
        })
        .collect();
    publish(rng, items, leaves, k, m)
}

/// What a record keeps, and what else it has.
fn draft(
    rng: &mut ChaCha8Rng,
    items: usize,
    templates: &[u32],
    one: Option<u32>,
    (bare, further): (f64, f64),
) -> (u32, u32) {
    let template = one.unwrap_or_else(|| templates[rng.random_range(0..templates.len())]);
    let kept = if rng.random_bool(bare) { 0 } else { template };
    let mut rest = 0;
    for item in 0..items {
        if rng.random_bool(further) {
            rest |= 1 << item;
        }
    }
    if kept | rest == 0 {
        rest = 1 << rng.random_range(0..items);
    }
    (kept, rest & !kept)
}

fn publish(
    rng: &mut ChaCha8Rng,
    items: usize,
    leaves: Vec<Vec<(u32, u32)>>,
    k: u32,
    m: u32,
) -> (Dataset, Release) {
    let text = |bits: u32| (0..items).filter(move |i| bits >> i & 1 == 1).map(label);
    // Items that nobody has are no part of the vocabulary.
    let used = leaves.iter().flatten().fold(0, |all, (kept, rest)| all | kept | rest);
    let vocabulary = Vocabulary::new(text(used));
    let id = |i: usize| vocabulary.id(&label(i)).expect("it occurs");
    let set =
        |bits: u32| -> Vec<ItemId> { (0..items).filter(|i| bits >> i & 1 == 1).map(id).collect() };
    // Some items are counted wherever they can be, others hardly ever.
    let counts: Vec<f64> = (0..items).map(|_| rng.random_range(0.0..1.0)).collect();
    let mut sums = vec![0_u64; items];
    let mut drafts: Vec<(Leaf, Vec<(u32, u32)>)> = Vec::new();
    for records in leaves {
        let kept: Vec<Vec<ItemId>> = records.iter().map(|r| set(r.0)).collect();
        let mut leaf = Leaf {
            size: records.len() as u32,
            kept: Bag::from_itemsets(kept.iter().map(|s| &s[..])),
            ..Leaf::default()
        };
        for item in (0..items).filter(|i| used >> i & 1 == 1) {
            let n = records.iter().filter(|r| r.1 >> item & 1 == 1).count() as u32;
            if n > 0 && (n >= k || rng.random_bool(0.02)) && rng.random_bool(counts[item]) {
                leaf.counted.push((id(item), n));
            } else if n > 0 {
                leaf.listed.push(id(item));
                sums[item] += u64::from(n);
            }
        }
        drafts.push((leaf, records));
    }
    drafts.sort();
    let totals = (0..items)
        .filter(|&item| sums[item] > 0)
        .filter(|_| rng.random_bool(0.7))
        .map(|item| (id(item), sums[item]))
        .collect();
    let order = drafts.iter().flat_map(|d| d.1.iter().map(|(kept, rest)| text(kept | rest)));
    let truth = Dataset::from_records(order);
    let leaves = drafts.into_iter().map(|d| d.0).collect();
    let body = Located { vocabulary, leaves, totals };
    let release = release(body, k, m);
    (truth, release)
}

/// A manifest for a body.
pub fn release(body: Located, k: u32, m: u32) -> Release {
    let guarantee =
        Guarantee { model: Model::FormatKmAnonymity { k, m, l: None }, supports: Supports::Exact };
    let (records, items) = (body.records(), body.vocabulary.len() as u64);
    let parameters = [
        ("k", k.into()),
        ("m", m.into()),
        ("max_cluster_size", "all".into()),
        ("no_item_counts", false.into()),
        ("only_combinations", false.into()),
    ];
    let mut manifest = Manifest::new("local-suppression", parameters, guarantee, records, items);
    manifest.version = VERSION_LOCATED;
    Release { manifest, body: Body::Located(body) }
}

/// The body of a located release.
pub fn body(release: &Release) -> &Located {
    match &release.body {
        Body::Located(body) => body,
        _ => panic!("a located release"),
    }
}

fn kept_bits(leaf: &Leaf) -> Vec<u32> {
    let bits = |items: &[ItemId]| items.iter().fold(0, |all, item| all | 1 << item);
    let mut kept: Vec<u32> = leaf
        .kept
        .iter()
        .flat_map(|(items, count)| std::iter::repeat_n(bits(items), count as usize))
        .collect();
    kept.resize(leaf.size as usize, 0);
    kept
}

/// In how many ways the further occurrences can be dealt; no release has more
/// worlds.
pub fn ways(body: &Located) -> f64 {
    let mut ways = 1.0;
    for leaf in &body.leaves {
        let room = |item: ItemId| u64::from(leaf.size) - leaf.kept.support(&[item]);
        for &(item, count) in &leaf.counted {
            let (n, r) = (room(item), u64::from(count));
            ways *= (0..r).map(|i| n.saturating_sub(i) as f64 / (i + 1) as f64).product::<f64>();
        }
        for &item in &leaf.listed {
            ways *= (room(item) as f64).exp2() - 1.0;
        }
    }
    ways
}

/// Per record in how many worlds it has each content, kept sub-records before
/// those that keep nothing, leaf by leaf.
pub fn contents(body: &Located) -> Vec<Vec<u64>> {
    let records = body.records() as usize;
    let mut times = vec![vec![0; 1 << body.vocabulary.len()]; records];
    each_world(body, &mut |world| {
        for (record, times) in world.iter().flatten().zip(&mut times) {
            times[*record as usize] += 1;
        }
    });
    times
}

/// Calls `each` with every world.
pub fn each_world(body: &Located, each: &mut dyn FnMut(&World)) {
    // One job a leaf and item: which records get it, and how many there may be.
    let mut jobs = Vec::new();
    for (l, leaf) in body.leaves.iter().enumerate() {
        jobs.extend(leaf.counted.iter().map(|&(item, count)| (l, item, Some(count))));
        jobs.extend(leaf.listed.iter().map(|&item| (l, item, None)));
    }
    let mut world: World = body.leaves.iter().map(kept_bits).collect();
    let mut left: Vec<Option<i64>> = (0..body.vocabulary.len() as ItemId)
        .map(|item| body.total(item).map(|total| total as i64))
        .collect();
    place(&jobs, &mut left, &mut world, each);
}

fn place(
    jobs: &[(usize, ItemId, Option<u32>)],
    left: &mut [Option<i64>],
    world: &mut World,
    each: &mut dyn FnMut(&World),
) {
    let Some((&(l, item, count), rest)) = jobs.split_first() else {
        let complete = left.iter().all(|l| l.is_none_or(|l| l == 0));
        if complete && world.iter().flatten().all(|record| *record != 0) {
            each(world);
        }
        return;
    };
    let open: Vec<usize> = (0..world[l].len()).filter(|&r| world[l][r] >> item & 1 == 0).collect();
    for subset in 1_u32..1 << open.len() {
        let size = subset.count_ones();
        if count.is_some_and(|count| count != size) {
            continue;
        }
        let own = if count.is_none() { left[item as usize] } else { None };
        if own.is_some_and(|own| own < i64::from(size)) {
            continue;
        }
        let chosen = || (0..open.len()).filter(|i| subset >> i & 1 == 1).map(|i| open[i]);
        chosen().for_each(|r| world[l][r] |= 1 << item);
        if let Some(own) = own {
            left[item as usize] = Some(own - i64::from(size));
        }
        place(rest, left, world, each);
        if own.is_some() {
            left[item as usize] = own;
        }
        chosen().for_each(|r| world[l][r] &= !(1 << item));
    }
}

/// The records of a world with all items of `set`.
pub fn support(world: &World, set: u32) -> u64 {
    world.iter().flatten().filter(|&&record| record & set == set).count() as u64
}

/// A set of at most `m` items that some record could contain, but that never
/// more than the given number of records, fewer than `k`, contain at once.
pub fn broken_itemset(body: &Located, k: u64, m: usize) -> Option<(u32, u64)> {
    let items = body.vocabulary.len();
    (1_u32..1 << items).filter(|s| s.count_ones() as usize <= m).find_map(|set| {
        let most = most(body, set);
        (most > 0 && most < k).then_some((set, most))
    })
}

/// The greatest support of `set` in any world. Not every world is made: given
/// how often each item occurs further in each leaf, what is left of a leaf is how
/// many records of each kind have all of the set, and whether the rest can fill
/// the records that keep nothing.
pub fn most(body: &Located, set: u32) -> u64 {
    let summed: Vec<ItemId> = body.totals.iter().map(|t| t.0).collect();
    let mut shares = vec![vec![0_u64; body.vocabulary.len()]; body.leaves.len()];
    best_share(body, set, &summed, 0, 0, 0, &mut shares).unwrap_or(0)
}

/// Tries every way to share out the totals.
fn best_share(
    body: &Located,
    set: u32,
    summed: &[ItemId],
    at: usize,
    l: usize,
    given: u64,
    shares: &mut Vec<Vec<u64>>,
) -> Option<u64> {
    let Some(&item) = summed.get(at) else {
        let each = body.leaves.iter().zip(&*shares);
        return each.map(|(leaf, share)| most_in_leaf(leaf, share, set)).sum();
    };
    let total = body.total(item).expect("it is summed");
    if l == body.leaves.len() {
        return (given == total)
            .then(|| best_share(body, set, summed, at + 1, 0, 0, shares))
            .flatten();
    }
    if !body.leaves[l].listed.contains(&item) {
        return best_share(body, set, summed, at, l + 1, given, shares);
    }
    let room = u64::from(body.leaves[l].size) - body.leaves[l].kept.support(&[item]);
    // An item that is not asked for, where no record can stay empty: one way to
    // share it out is as good as any.
    let lists = |leaf: &&Leaf| leaf.listed.contains(&item);
    let any = set >> item & 1 == 0 && body.leaves.iter().filter(lists).all(|leaf| leaf.bare() == 0);
    let mut best = None;
    for share in 1..=room.min(total - given.min(total)) {
        shares[l][item as usize] = share;
        best = best.max(best_share(body, set, summed, at, l + 1, given + share, shares));
        if any && best.is_some() {
            break;
        }
    }
    shares[l][item as usize] = 0;
    best
}

/// The most records of a leaf with all of `set`, none if the leaf cannot be
/// filled. `shares` has the items with a total; other listed ones are free.
fn most_in_leaf(leaf: &Leaf, shares: &[u64], set: u32) -> Option<u64> {
    let kept = kept_bits(leaf);
    // Per item: its further occurrences, and whether there may be more.
    let mut copies: Vec<(u64, bool)> = shares.iter().map(|&s| (s, false)).collect();
    for &(item, count) in &leaf.counted {
        copies[item as usize] = (count.into(), false);
    }
    for &item in leaf.listed.iter().filter(|&&item| shares[item as usize] == 0) {
        copies[item as usize] = (1, true);
    }
    let rooms: Vec<u64> = (0..copies.len())
        .map(|i| kept.iter().filter(|&&r| r >> i & 1 == 0).count() as u64)
        .collect();
    if copies.iter().zip(&rooms).any(|((n, _), room)| n > room) {
        return None;
    }
    // Records by what they lack of the set; those that keep nothing apart.
    let mut kinds: Vec<(u32, bool, u64)> = Vec::new();
    for &record in &kept {
        let kind = (set & !record, record == 0);
        match kinds.iter_mut().find(|k| (k.0, k.1) == kind) {
            Some(found) => found.2 += 1,
            None => kinds.push((kind.0, kind.1, 1)),
        }
    }
    let bare = kept.iter().filter(|&&r| r == 0).count() as u64;
    best_kinds(&kinds, 0, 0, bare, &copies)
}

/// Chooses how many records of each kind get what they lack.
fn best_kinds(
    kinds: &[(u32, bool, u64)],
    holders: u64,
    filled: u64,
    bare: u64,
    copies: &[(u64, bool)],
) -> Option<u64> {
    let Some((&(lacks, empty, count), rest)) = kinds.split_first() else {
        let open = bare - filled;
        let reach = |&(n, free): &(u64, bool)| if free { open } else { n.min(open) };
        return (copies.iter().map(reach).sum::<u64>() >= open).then_some(holders);
    };
    let mut best = None;
    for chosen in 0..=count {
        let mut left = copies.to_vec();
        let mut fits = true;
        for (item, (n, free)) in left.iter_mut().enumerate() {
            if lacks >> item & 1 == 1 {
                fits &= *free || *n >= chosen;
                *n = n.saturating_sub(chosen);
            }
        }
        if !fits {
            break;
        }
        let filled = filled + if empty && lacks != 0 { chosen } else { 0 };
        best = best.max(best_kinds(rest, holders + chosen, filled, bare, &left));
    }
    best
}
