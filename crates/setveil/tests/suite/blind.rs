//! The blind grouping against an attacker who has the whole program: every
//! placement of sensitive items on every path of the random choices, the
//! controls that must fail, and the library against a plain rewriting.
//!
//! `SETVEIL_BLIND_PATHS` sets how many runs of the program may be spent; the
//! default takes a few seconds.

use rand::RngExt;
use setveil::data::P;
use setveil::methods::cahd::{self, Rows, SensitiveOnly, Split, blind};
use setveil::{Dataset, Release};
use testkit::blind::{Found, Instance, Paths, Source, judge};
use testkit::blind_naive::{self, Record};
use testkit::grouped::{Items, plain_groups};
use testkit::random;

/// How many runs of the program may be spent.
fn budget() -> u64 {
    let given = std::env::var("SETVEIL_BLIND_PATHS").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(500_000)
}

/// A random instance: five to seven records, one or two sensitive items (two
/// only where all placements can be gone through), p of 2 or 3.
fn instance(rng: &mut impl rand::Rng) -> Instance {
    // Seven records have forty times as many orders as five.
    let n = [5, 5, 5, 5, 6, 6, 7][rng.random_range(0..7)];
    let sensitive = if n == 5 { rng.random_range(1..=2) } else { 1 };
    let mut record = || {
        let items: Vec<String> =
            (0..6).filter(|_| rng.random_bool(0.4)).map(random::label).collect();
        if items.is_empty() { vec![random::label(6)] } else { items }
    };
    let qid = (0..n).map(|_| record()).collect();
    Instance { qid, sensitive, p: rng.random_range(2..=3) }
}

/// Judges random instances until the budget is spent. One thread, so that paths
/// are gone through in order.
fn judge_all<S: Source>(
    seed: u64,
    budget: u64,
    source: impl Fn() -> S + Sync,
    group: impl Fn(&Instance, &Split, usize, &S) -> Rows + Sync,
) -> (Found, u64) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let mut rng = random::rng(seed);
        let (mut all, mut instances) = (Found::default(), 0);
        while all.paths < budget {
            let instance = instance(&mut rng);
            let run = |split: &Split, columns, source: &S| group(&instance, split, columns, source);
            all.add(judge(&instance, &source, run));
            instances += 1;
        }
        (all, instances)
    })
}

fn real<S: Source>(instance: &Instance, split: &Split, columns: usize, source: &S) -> Rows {
    let order = cahd::band_order(split, columns, &()).unwrap();
    blind::group(split, order, instance.p, columns, source, &()).unwrap()
}

#[test]
fn whoever_knows_the_program_learns_the_counts_of_the_groups_and_nothing_else() {
    let (found, instances) = judge_all(14, budget(), Paths::default, real);
    assert!(found.paths >= budget() && found.judged > 1_000, "{instances} instances: {found:?}");
    assert_eq!((found.above, found.unequal), (0, 0), "{instances} instances: {found:?}");
}

/// Control: the same grouping, but the attacker knows the seed.
#[test]
fn a_seed_that_the_attacker_knows_destroys_the_promise() {
    let known = || blind::Streams::new(&mut random::rng(3));
    let (found, instances) = judge_all(15, budget() / 100, known, real);
    assert!(found.above > 100 && found.unequal > found.above, "{instances} instances: {found:?}");
}

/// Control: a cut that is made whenever both halves have the degree looks at
/// the items and at who holds what at once.
#[test]
fn splitting_if_both_halves_hold_tells_who() {
    let halves = |instance: &Instance, split: &Split, columns: usize, _: &Paths| -> Rows {
        let (mut open, mut groups) =
            (vec![cahd::band_order(split, columns, &()).unwrap()], Rows::default());
        while let Some(part) = open.pop() {
            let (a, b) = part.split_at(part.len() / 2);
            let holds = |half: &[u32]| {
                let count = |s: u32| {
                    half.iter().filter(|&&r| split.sensitive.row(r as usize).contains(&s)).count()
                };
                half.len() >= instance.p && (0..2).all(|s| count(s) * instance.p <= half.len())
            };
            if holds(a) && holds(b) {
                open.extend([a.to_vec(), b.to_vec()]);
            } else {
                groups.push(part);
            }
        }
        groups
    };
    let (found, instances) = judge_all(16, budget() / 100, Paths::default, halves);
    assert!(found.above > 20 && found.unequal > found.above, "{instances} instances: {found:?}");
}

/// Control, and what the printed algorithm does: the holder is the one around
/// whom the group was formed.
#[test]
fn the_printed_grouping_tells_who() {
    let mut rng = random::rng(355);
    let (mut placements, mut certain, mut above) = (0, 0, 0);
    for _ in 0..200 {
        let instance = instance(&mut rng);
        let n = instance.qid.len();
        let releases: Vec<Release> =
            (0..n).map(|holder| printed(&instance.qid, holder, instance.p)).collect();
        for release in &releases {
            let same = releases.iter().filter(|other| *other == release).count();
            placements += 1;
            certain += usize::from(same == 1);
            above += usize::from(same < instance.p);
        }
    }
    assert!(certain * 4 > placements && above * 3 > placements, "{certain}, {above}, {placements}");
}

fn printed(qid: &[Vec<String>], holder: usize, p: usize) -> Release {
    let mut parameters = parameters(p);
    parameters.grouping = cahd::Grouping::as_printed();
    cahd::anonymize(&with_holder(qid, holder), &parameters, &mut random::rng(0), &()).unwrap()
}

fn parameters(p: usize) -> cahd::Parameters {
    cahd::Parameters::new(P::new(p as u32).unwrap(), ["x"])
}

fn with_holder(qid: &[Vec<String>], holder: usize) -> Dataset {
    let own = |r: usize| (r == holder).then(|| "x".to_owned());
    Dataset::from_records(
        qid.iter()
            .enumerate()
            .map(|(r, qid)| qid.iter().cloned().chain(own(r)).collect::<Vec<_>>()),
    )
}

/// Six records of which only `a d` gives the published groups. With the blind
/// grouping every member of a group gives them, and equally often.
#[test]
fn the_release_of_six_records_no_longer_names_the_holder() {
    let qid: Vec<Vec<String>> = ["e", "b e", "a d", "d e", "a b c", "b c d"]
        .map(|text| text.split(' ').map(str::to_owned).collect())
        .to_vec();
    let told = printed(&qid, 2, 3);
    let same: Vec<usize> = (0..6).filter(|&holder| printed(&qid, holder, 3) == told).collect();
    assert_eq!(same, [2], "the printed grouping names the holder");

    // How often each grouping comes out for each holder, over all shuffles.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let often = |holder: usize| {
        let (data, parameters) = (with_holder(&qid, holder), parameters(3));
        let mut seen = std::collections::BTreeMap::<Vec<(Vec<Items>, usize)>, u64>::new();
        let mut paths = Paths::default();
        loop {
            let release = cahd::anonymize_with(&data, &parameters, &paths, &()).unwrap();
            let groups = plain_groups(&release).into_iter();
            let groups = groups.map(|g| (g.records, g.sensitive.values().sum())).collect();
            *seen.entry(groups).or_default() += 1;
            if !paths.advance() {
                return seen;
            }
        }
    };
    let all: Vec<_> = pool.install(|| (0..6).map(often).collect());
    for (holder, seen) in all.iter().enumerate() {
        for (groups, times) in seen {
            let own = |(records, count): &&(Vec<Items>, usize)| {
                *count == 1 && records.contains(&qid[holder].iter().cloned().collect())
            };
            let (records, _) = groups.iter().find(own).unwrap();
            assert!(records.len() >= 3);
            for (other, items) in qid.iter().enumerate() {
                let member = records.contains(&items.iter().cloned().collect());
                let expected = member.then_some(times);
                assert_eq!(all[other].get(groups), expected, "{holder}, {other}: {groups:?}");
            }
        }
    }
}

/// The library with its queues and the plain rewriting give the same groups
/// from the same shuffles; the rewriting asserts the invariants on the way.
#[test]
fn the_library_agrees_with_a_plain_rewriting() {
    let mut rng = random::rng(77);
    let (mut peeled, mut cut) = (0, 0);
    for round in 0..400 {
        let n = rng.random_range(4..=if round % 8 == 0 { 400 } else { 60 });
        let dense = rng.random_range(0.05..0.5);
        let frequent = rng.random_range(0.1f64..0.65).powi(3);
        let rows: Vec<Vec<String>> = (0..n)
            .map(|_| {
                let mut items: Vec<String> =
                    (0..12).filter(|_| rng.random_bool(dense)).map(random::label).collect();
                items.push(random::label(rng.random_range(12..18)));
                items.extend(
                    ["x", "y", "z"].iter().filter(|_| rng.random_bool(frequent)).map(|&s| s.into()),
                );
                items
            })
            .collect();
        let data = Dataset::from_records(&rows);
        let items: Vec<u32> =
            ["x", "y", "z"].iter().filter_map(|s| data.vocabulary().id(s)).collect();
        let supports = data.supports();
        let Some(most) = items.iter().map(|&s| supports[s as usize] as usize).max() else {
            continue;
        };
        let split = Split::new(&data, &items, &()).unwrap();
        let order = cahd::band_order(&split, data.item_count(), &()).unwrap();
        for p in 2..=(n / most).min(7) {
            let secret = blind::Streams::new(&mut rng);
            let found = blind::group(&split, order.clone(), p, data.item_count(), &secret, &());
            let shuffled = blind::shuffled(&split.qid, order.clone(), &secret);
            let record = |&row: &u32| Record {
                qid: split.qid.row(row as usize).iter().copied().collect(),
                own: split.sensitive.row(row as usize).iter().copied().collect(),
            };
            let records: Vec<Record> = shuffled.iter().map(record).collect();
            let plain = blind_naive::groups(&records, p, &secret);
            assert_eq!(sets(found.unwrap().iter().map(<[u32]>::to_vec)), {
                sets(
                    plain.iter().map(|g| g.iter().map(|&place| shuffled[place as usize]).collect()),
                )
            });
            peeled += usize::from(n < 2 * p * most);
            cut += usize::from(n > 16 * p * most);
        }
    }
    assert!(peeled > 100 && cut > 20, "{peeled} began with an S-step, {cut} with a cut");
}

fn sets(groups: impl Iterator<Item = Vec<u32>>) -> Vec<Vec<u32>> {
    let mut groups: Vec<Vec<u32>> = groups
        .map(|mut group| {
            group.sort_unstable();
            group
        })
        .collect();
    groups.sort_unstable();
    groups
}

#[test]
fn another_key_gives_other_groups_and_the_same_key_the_same() {
    let data = Dataset::from_records(random::records(9, 500, 20, 4.0));
    let run = |seed| {
        let mut parameters = cahd::Parameters::new(P::new(4).unwrap(), ["m", "q", "t"]);
        parameters.sensitive_only = SensitiveOnly::Drop;
        cahd::anonymize(&data, &parameters, &mut random::rng(seed), &()).unwrap()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let manifest = run(1).manifest;
    let keys: Vec<&str> = manifest.parameters.keys().map(String::as_str).collect();
    assert_eq!(keys, ["grouping", "p", "sensitive", "sensitive_only"], "no seed");
}

#[test]
fn work_stops_when_it_is_told_to() {
    struct Stop;
    impl setveil::Progress for Stop {
        fn stage(&self, _: setveil::Stage, _: Option<u64>) {}
        fn advance(&self, _: u64) -> std::ops::ControlFlow<()> {
            std::ops::ControlFlow::Break(())
        }
    }
    let data = with_holder(&vec![vec!["a".to_owned()]; 9], 3);
    for grouping in [cahd::Grouping::Blind, cahd::Grouping::as_printed()] {
        let parameters = parameters(2).grouping(grouping);
        let stopped = cahd::anonymize(&data, &parameters, &mut random::rng(1), &Stop);
        assert!(matches!(stopped, Err(setveil::Error::Cancelled)));
    }
}
