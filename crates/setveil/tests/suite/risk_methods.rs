//! The attacker who is played out, for every kind of release: against one who
//! tries everything, and what every method must give.

use std::collections::BTreeSet;

use serde_json::json;
use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::data::{Hierarchy, Vocabulary};
use setveil::release::{
    Bag, Body, Cluster, Disassociated, Generalized, Group, Grouped, JointCluster, Leaf, Located,
    Release, SimpleCluster,
};
use setveil::risk::{Level, Options, Slots, play};
use setveil::{Dataset, Method, workflow};
use testkit::{cases, random};

type Record = BTreeSet<u32>;

fn original(records: &[&str]) -> Dataset {
    Dataset::from_records(records.iter().map(|r| r.split(' ').collect::<Vec<_>>()))
}

fn bag(sets: &[&[u32]]) -> Bag {
    Bag::from_itemsets(sets.iter().copied())
}

fn release(records: u64, body: Body) -> Release {
    let mut release = cases::release(2, 2, &[]);
    release.manifest.records = records;
    release.body = body;
    release
}

/// All subsets of `size` items.
fn subsets(record: &Record, size: usize) -> Vec<Record> {
    let items: Vec<u32> = record.iter().copied().collect();
    (0u32..1 << items.len())
        .filter(|mask| mask.count_ones() as usize == size)
        .map(|mask| (0..items.len()).filter(|i| mask >> i & 1 == 1).map(|i| items[i]).collect())
        .collect()
}

/// How often somebody who tries every world and picks every holder has the
/// target's slot: one of the positions `own` of the target, all equal.
fn linking(truth: &Dataset, worlds: &[Vec<Record>], own: &[&[usize]], known: usize) -> f64 {
    let (mut hits, mut people) = (0.0, 0.0);
    for (t, record) in truth.records().enumerate() {
        let record: Record = record.iter().copied().collect();
        let sets = subsets(&record, known);
        if sets.is_empty() {
            continue;
        }
        people += 1.0;
        for set in &sets {
            for world in worlds {
                let overlap = |at: &usize| world[*at].intersection(set).count();
                let most = (0..world.len()).map(|at| overlap(&at)).max().unwrap();
                let holders: Vec<usize> =
                    (0..world.len()).filter(|at| overlap(at) == most).collect();
                let found = holders.iter().filter(|at| own[t].contains(at)).count() as f64;
                let share = found / holders.len() as f64 / own[t].len() as f64;
                hits += share / (sets.len() * worlds.len()) as f64;
            }
        }
    }
    hits / people
}

/// `a` with every element, `b` with every element, ...: all ways to choose one each.
fn product(choices: &[Vec<Vec<Record>>]) -> Vec<Vec<Record>> {
    choices.iter().fold(vec![Vec::new()], |all, next| {
        let longer = |done: &Vec<Record>| {
            next.iter().map(|n| [done.clone(), n.clone()].concat()).collect::<Vec<_>>()
        };
        all.iter().flat_map(longer).collect()
    })
}

/// The records with `item` added to `count` of the positions in `open`, in every way.
fn dealt(worlds: &[Vec<Record>], item: u32, open: &[usize], count: usize) -> Vec<Vec<Record>> {
    let places: Record = open.iter().map(|&at| at as u32).collect();
    let mut all = Vec::new();
    for world in worlds {
        for chosen in subsets(&places, count) {
            let mut world = world.clone();
            for at in chosen {
                world[at as usize].insert(item);
            }
            all.push(world);
        }
    }
    all
}

fn records(sets: &[&[u32]]) -> Vec<Vec<Record>> {
    vec![sets.iter().map(|s| s.iter().copied().collect()).collect()]
}

fn agrees(truth: &Dataset, release: &Release, slots: &Slots, expected: impl Fn(usize) -> f64) {
    let options = Options::default().known(2).targets(2000).worlds(400);
    for level in play(release, truth, slots, &options, &()).unwrap() {
        let expected = expected(level.known as usize);
        let found = level.linking.unwrap();
        // Four errors of the draw of people, and what 400 worlds leave open.
        let allowed = 4.0 * level.linking_error.unwrap() + 0.01;
        assert!((found - expected).abs() < allowed, "{level:?}: expected {expected}");
    }
}

#[test]
fn leaves_as_by_trying_everything() {
    // a b c e are 0 1 2 3. The first leaf keeps {a, b} twice and lists e; the
    // second keeps {a}, {a, b} twice and {c} twice, has two further c, lists e.
    let truth = original(&["a b e", "a b", "a b c", "a b", "a c e", "c", "c"]);
    let vocabulary = truth.vocabulary().clone();
    let first = Leaf { size: 2, kept: bag(&[&[0, 1], &[0, 1]]), counted: vec![], listed: vec![3] };
    let second = Leaf {
        size: 5,
        kept: bag(&[&[0], &[0, 1], &[0, 1], &[2], &[2]]),
        counted: vec![(2, 2)],
        listed: vec![3],
    };
    let body = Located { vocabulary, leaves: vec![first, second], totals: vec![] };
    let kept: [&[u32]; 7] = [&[0, 1], &[0, 1], &[0, 1], &[0, 1], &[0], &[2], &[2]];
    let places = kept.iter().zip([0, 0, 1, 1, 1, 1, 1]).map(|(k, leaf)| (leaf, k.to_vec()));
    let slots = Slots::Leaves(places.collect());
    let one = dealt(&records(&[&[0, 1], &[0, 1]]), 3, &[0, 1], 1);
    let two = dealt(&records(&[&[0], &[0, 1], &[0, 1], &[2], &[2]]), 2, &[0, 1, 2], 2);
    let two = dealt(&two, 3, &[0, 1, 2, 3, 4], 1);
    let worlds = product(&[one, two]);
    assert_eq!(worlds.len(), 30);
    let own: [&[usize]; 7] = [&[0, 1], &[0, 1], &[3, 4], &[3, 4], &[2], &[5, 6], &[5, 6]];
    agrees(&truth, &release(7, Body::Located(body)), &slots, |n| linking(&truth, &worlds, &own, n));
}

#[test]
fn groups_as_by_trying_everything() {
    // a b c are 0 1 2; x y, which are sensitive, 3 4.
    let truth = original(&["a b x", "a", "a", "a b y", "c x"]);
    let first = Group { size: 3, records: bag(&[&[0], &[0], &[0, 1]]), sensitive: vec![(3, 1)] };
    let second = Group { size: 2, records: bag(&[&[0, 1], &[2]]), sensitive: vec![(3, 1), (4, 1)] };
    let body = Grouped { vocabulary: truth.vocabulary().clone(), groups: vec![second, first] };
    let second = dealt(&records(&[&[0, 1], &[2]]), 3, &[0, 1], 1);
    let second = dealt(&second, 4, &[0, 1], 1);
    let first = dealt(&records(&[&[0], &[0], &[0, 1]]), 3, &[0, 1, 2], 1);
    let worlds = product(&[second, first]);
    assert_eq!(worlds.len(), 12);
    // Both groups have {a, b} and x; only the group that comes first has y.
    let own: [&[usize]; 5] = [&[0, 4], &[2, 3], &[2, 3], &[0], &[1]];
    let release = release(5, Body::Grouped(body));
    agrees(&truth, &release, &Slots::Rows, |n| linking(&truth, &worlds, &own, n));
}

#[test]
fn classes_as_by_trying_everything() {
    let tree = ["a;X;*", "b;X;*", "c;Y;*", "d;Y;*"];
    let paths: Vec<Vec<&str>> = tree.iter().map(|l| l.split(';').collect()).collect();
    let truth = original(&["a", "b", "a c", "b d"]);
    let body = Generalized {
        vocabulary: Vocabulary::new(["X", "Y"]),
        classes: Bag::from_counted([(&[0][..], 2), (&[0, 1][..], 2)]),
        hierarchy: Some(Hierarchy::from_paths(&paths).unwrap()),
    };
    let x = vec![records(&[&[0]])[0].clone(), records(&[&[1]])[0].clone()];
    let xy: Vec<Vec<Record>> =
        [[0, 2], [0, 3], [1, 2], [1, 3]].iter().map(|pair| records(&[pair])[0].clone()).collect();
    let worlds = product(&[x.clone(), x, xy.clone(), xy]);
    assert_eq!(worlds.len(), 64);
    let own: [&[usize]; 4] = [&[0, 1], &[0, 1], &[2, 3], &[2, 3]];
    let mut release = release(4, Body::Generalized(body));
    release.manifest.guarantee.supports = setveil::release::Supports::LowerBound;
    let slots = Slots::Classes(vec![0, 0, 1, 1]);
    agrees(&truth, &release, &slots, |n| linking(&truth, &worlds, &own, n));
}

#[test]
fn what_stands_in_a_shared_chunk_is_found_there() {
    // a b c d are 0 1 2 3. Both leaves have {a} everywhere and share {c, d} twice, {c}.
    let leaf = |items: &[&[u32]]| {
        let chunk = bag(items);
        let size = chunk.total() as u32;
        Cluster::Simple(SimpleCluster { size, record_chunks: vec![chunk], term_chunk: vec![] })
    };
    let joint = JointCluster {
        size: 4,
        shared_chunks: vec![bag(&[&[2, 3], &[2, 3], &[2]])],
        children: vec![leaf(&[&[0], &[0]]), leaf(&[&[0, 1], &[0, 1]])],
    };
    let truth = original(&["a c d", "a c", "a b c d", "a b"]);
    let body = Disassociated {
        vocabulary: truth.vocabulary().clone(),
        clusters: vec![Cluster::Joint(joint)],
    };
    let release = release(4, Body::Disassociated(body));
    let slots = Slots::Clusters(vec![0, 0, 1, 1]);
    let options = Options::default().known(2).targets(4000).worlds(1);
    let levels = play(&release, &truth, &slots, &options, &()).unwrap();
    // Two known: {a, b} finds one of two; {c, d} one of two; {a, c} with two
    // items of different chunks finds {a} in the person's own leaf; and so on.
    // One known: d is one of two places of {c, d}, whichever is picked.
    let by_d = levels[0].linking.unwrap();
    // a: a fourth, as in the raw data (all have it; two of four are in the own
    // leaf, one half each). b: a half. c: for {c, d} one of three holders has
    // the slot with 1/2 twice, a third; for {c} a third. d: a half.
    let people = [
        (0.25 + 1.0 / 3.0 + 0.5) / 3.0,
        (0.25 + 1.0 / 3.0) / 2.0,
        (0.25 + 0.5 + 1.0 / 3.0 + 0.5) / 4.0,
        (0.25 + 0.5) / 2.0,
    ];
    let expected = people.iter().sum::<f64>() / 4.0;
    let allowed = 4.0 * levels[0].linking_error.unwrap();
    assert!((by_d - expected).abs() < allowed, "{by_d}, expected {expected}");
}

fn played(data: &Dataset, name: &str, strength: u32) -> Vec<Level> {
    let mut parameters = match name {
        "cahd" | "perm-mondrian" => {
            // The rarest item, so that every degree is possible.
            let supports = data.supports();
            let rarest = (0..data.item_count()).min_by_key(|&i| supports[i]).unwrap();
            let label = data.vocabulary().label(rarest as u32);
            json!({ "p": strength, "sensitive": [label], "sensitive_only": "drop" })
        }
        "suppress-rare" | "partition" => json!({ "k": strength }),
        _ => json!({ "k": strength, "m": 2 }),
    };
    if name == "suppress-rare" {
        parameters["k"] = json!(5 * strength);
    }
    let parameters = parameters.as_object().unwrap().clone();
    let mut method = Method::named(name, parameters).unwrap();
    if method.needs_hierarchy() {
        method = method.with_hierarchy(balanced(data.vocabulary(), 5, LeafOrder::Natural).unwrap());
    }
    let release = method.run(data, &()).unwrap().release;
    let options = Options::default().known(3).targets(600).worlds(2);
    workflow::risk(&release, data, &options, &()).unwrap()
}

/// No release makes people easier to find, and a stricter one makes them harder.
#[test]
fn every_method_links_at_most_as_often_as_raw_data_does() {
    let data = random::quest(2000, 120);
    for &name in Method::NAMES.iter().filter(|name| **name != "diffpart") {
        let by_strength: Vec<Vec<Level>> = [3, 10, 24].map(|s| played(&data, name, s)).into();
        for level in by_strength.iter().flatten() {
            let linking = level.linking.unwrap_or_else(|| panic!("{name}: {level:?}"));
            let error = level.raw_error.unwrap().hypot(level.linking_error.unwrap());
            assert!(linking <= level.raw.unwrap() + 3.0 * error + 1e-9, "{name}: {level:?}");
            assert!(level.linking_p95.unwrap() >= 0.0 && level.disclosure.unwrap() <= 1.0);
        }
        for pair in by_strength.windows(2) {
            for (low, high) in pair[0].iter().zip(&pair[1]) {
                let error = low.linking_error.unwrap().hypot(high.linking_error.unwrap());
                let (low, high) = (low.linking.unwrap(), high.linking.unwrap());
                assert!(high <= low + 3.0 * error + 1e-9, "{name}: {low} {high}");
            }
        }
    }
}
