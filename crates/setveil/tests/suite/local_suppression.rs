//! Local suppression: every release keeps its promise, has its original among
//! its worlds, and depends on the content of the data alone.

use proptest::prelude::*;
use setveil::data::{Dataset, ItemId, K, M};
use setveil::methods::local_suppression::{self, LeafSize, Parameters, anonymize, slots};
use setveil::release::{Body, Located, Model, Release, Supports};
use setveil::verify::verify;
use setveil::{Error, Method, Progress, Stage, query, reconstruct, workflow};
use testkit::located::{body, broken_itemset};
use testkit::possible::objection;
use testkit::random;
use testkit::sabotage_located::LOCATED;

fn parameters(k: u32, m: u32, size: LeafSize) -> Parameters {
    let mut parameters = Parameters::new(K::new(k).unwrap(), M::new(m).unwrap());
    parameters.max_cluster_size = size;
    parameters
}

/// The records of `data` in the order of the published leaves.
fn in_leaf_order(data: &Dataset, parameters: &Parameters) -> Dataset {
    let slots = slots(data, parameters, &()).unwrap();
    let mut order: Vec<usize> = (0..data.len()).collect();
    order.sort_by_key(|&r| slots.leaf[r]);
    data.with_records(order.iter().map(|&r| data.record(r)))
}

fn size() -> impl Strategy<Value = LeafSize> {
    prop_oneof![Just(LeafSize::All), (8_usize..20).prop_map(LeafSize::Max), Just(LeafSize::Default)]
}

proptest! {
    #![proptest_config(testkit::settings::cases(200))]

    /// The promise by the rules and by brute force; the original is a world.
    #[test]
    fn every_release_keeps_its_promise(
        data in random::dataset(24, 5), k in 2_u32..5, m in 1_u32..4, size in size(),
    ) {
        let parameters = parameters(k, m, size);
        let release = match anonymize(&data, &parameters, &()) {
            Ok(release) => release,
            Err(error) => {
                prop_assert!(data.len() < k as usize, "{}", error);
                return Ok(());
            }
        };
        let verdict = verify(&release, &()).unwrap();
        prop_assert!(verdict.holds, "{:?} {:?}", verdict.violations, release);
        prop_assert_eq!(objection(&release, &in_leaf_order(&data, &parameters)), None);
        if body(&release).leaves.len() < 3 {
            prop_assert_eq!(broken_itemset(body(&release), k.into(), m as usize), None);
        }
    }

    /// Without counts and with combinations alone.
    #[test]
    fn stricter_settings_keep_their_promise(
        data in random::dataset(24, 6), k in 2_u32..4, m in 1_u32..4, size in size(),
    ) {
        prop_assume!(data.len() >= k as usize);
        let mut parameters = parameters(k, m, size);
        parameters.no_item_counts = true;
        let release = anonymize(&data, &parameters, &()).unwrap();
        prop_assert!(verify(&release, &()).unwrap().holds, "{:?}", release);
        prop_assert_eq!(release.manifest.guarantee.supports, Supports::LowerBound);
        let Located { leaves, totals, .. } = body(&release);
        prop_assert!(totals.is_empty() && leaves.iter().all(|l| l.counted.is_empty()));
        prop_assert_eq!(release.manifest.records, data.len() as u64);
        prop_assert_eq!(release.manifest.items, data.item_count() as u64);
        let mut counting = release.clone();
        let Body::Located(counted) = &mut counting.body else { panic!() };
        counted.totals = vec![(0, 1_000)];
        let found = verify(&counting, &()).unwrap().violations;
        prop_assert!(found.iter().any(|v| v.rule == "parameters"), "{:?}", found);

        parameters.no_item_counts = false;
        parameters.only_combinations = true;
        if let Ok(release) = anonymize(&data, &parameters, &()) {
            prop_assert!(verify(&release, &()).unwrap().holds, "{:?}", release);
            let is_km = matches!(release.manifest.guarantee.model, Model::KmAnonymity { .. });
            prop_assert!(is_km && matches!(release.body, Body::Generalized(_)));
            let index = query::Index::new(release.clone(), reconstruct::TermOccurrences::Once);
            for item in data.vocabulary().labels() {
                let answer = index.ask(&[item]).unwrap();
                let id = data.vocabulary().id(item).unwrap();
                prop_assert!(answer.lower <= u64::from(data.supports()[id as usize]));
                prop_assert_eq!(answer.upper, None);
            }
        }
    }
}

fn shuffled(data: &Dataset, seed: u64) -> Dataset {
    use rand::seq::SliceRandom;
    let mut order: Vec<usize> = (0..data.len()).collect();
    order.shuffle(&mut random::rng(seed));
    data.with_records(order.iter().map(|&r| data.record(r)))
}

#[test]
fn row_order_and_threads_change_nothing() {
    let data = random::quest(3_000, 120);
    for (m, size) in [(2, LeafSize::Max(60)), (2, LeafSize::All), (3, LeafSize::Max(200))] {
        let parameters = parameters(4, m, size);
        let first = anonymize(&data, &parameters, &()).unwrap();
        for (seed, threads) in [(1, 1), (2, 3)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let other = shuffled(&data, seed);
            let again = pool.install(|| anonymize(&other, &parameters, &())).unwrap();
            assert_eq!(first, again, "m = {m}, {size:?}, {threads} threads");
        }
    }
}

#[test]
fn combinations_are_kept_and_everything_is_accounted_for() {
    let data = random::quest(3_000, 120);
    let mut kept = Vec::new();
    for size in [LeafSize::Max(20), LeafSize::Max(200), LeafSize::All] {
        let parameters = parameters(5, 2, size);
        let release = anonymize(&data, &parameters, &()).unwrap();
        assert!(verify(&release, &()).unwrap().holds);
        assert_eq!(objection(&release, &in_leaf_order(&data, &parameters)), None);
        let pairs = |n: u64| n * (n - 1) / 2;
        let bags = body(&release).leaves.iter().flat_map(|l| l.kept.iter());
        kept.push(bags.map(|(items, c)| pairs(items.len() as u64) * u64::from(c)).sum::<u64>());
    }
    assert!(kept[0] < kept[1] && kept[1] < kept[2], "larger leaves keep more: {kept:?}");
}

#[test]
fn slots_say_what_is_published() {
    let data = random::quest(800, 60);
    for size in [LeafSize::Max(40), LeafSize::All] {
        let parameters = parameters(3, 2, size);
        let release = anonymize(&data, &parameters, &()).unwrap();
        let slots = slots(&data, &parameters, &()).unwrap();
        for (l, leaf) in body(&release).leaves.iter().enumerate() {
            let members = (0..data.len()).filter(|&r| slots.leaf[r] == l as u32);
            let kept: Vec<&[ItemId]> = members.map(|r| slots.kept(r)).collect();
            assert_eq!(kept.len(), leaf.size as usize);
            assert_eq!(setveil::release::Bag::from_itemsets(kept), leaf.kept);
        }
        for r in 0..data.len() {
            assert!(slots.kept(r).iter().all(|item| data.record(r).contains(item)));
        }
    }
}

#[test]
fn sensitive_terms_are_kept_nowhere() {
    let data = random::quest(1_000, 60);
    let mut parameters = parameters(3, 2, LeafSize::Max(60));
    let label = data.vocabulary().label(data.record(0)[0]).to_owned();
    parameters.sensitive = vec![label.clone()];
    let mut release = anonymize(&data, &parameters, &()).unwrap();
    let item = data.vocabulary().id(&label).unwrap();
    assert!(body(&release).leaves.iter().all(|l| l.kept.support(&[item]) == 0));
    assert!(verify(&release, &()).unwrap().holds);
    assert_eq!(objection(&release, &in_leaf_order(&data, &parameters)), None);
    // Kept in secret, it is found.
    let Body::Located(body) = &mut release.body else { panic!() };
    let mut kept: Vec<(Vec<ItemId>, u32)> =
        body.leaves[0].kept.iter().map(|(items, c)| (items.to_vec(), c)).collect();
    kept[0].0 = vec![item];
    body.leaves[0].kept =
        setveil::release::Bag::from_counted(kept.iter().map(|(items, c)| (&items[..], *c)));
    assert!(verify(&release, &()).unwrap().violations.iter().any(|v| v.rule == "sensitive"));
    parameters.sensitive = vec!["nothing like it".into()];
    assert!(matches!(anonymize(&data, &parameters, &()), Err(Error::Unknown { .. })));
}

/// Long records are looked at in their most frequent items only; everything else
/// is counted.
#[test]
fn long_records_are_published_too() {
    let wide: Vec<Vec<String>> =
        (0..6).map(|_| (0..1_500).map(|i| format!("i{i:04}")).collect()).collect();
    let mut rows = wide;
    rows.extend((0..40).map(|i| vec!["i0000".to_owned(), format!("i{:04}", i % 3)]));
    let data = Dataset::from_records(&rows);
    for m in [2, 3] {
        let parameters = parameters(3, m, LeafSize::All);
        let release = anonymize(&data, &parameters, &()).unwrap();
        assert!(verify(&release, &()).unwrap().holds, "m = {m}");
        assert_eq!(objection(&release, &in_leaf_order(&data, &parameters)), None);
        let longest = body(&release).leaves[0].kept.iter().map(|(items, _)| items.len()).max();
        let most = if m == 2 { 400 } else { 78 };
        assert!((most / 2..=most).contains(&longest.unwrap()), "m = {m}: {longest:?}");
    }
}

#[test]
fn saboteurs_are_caught_by_the_right_rule() {
    let data = random::quest(2_000, 100);
    let release = anonymize(&data, &parameters(4, 2, LeafSize::Max(60)), &()).unwrap();
    assert!(verify(&release, &()).unwrap().holds);
    for saboteur in LOCATED {
        let mut broken = release.clone();
        assert!((saboteur.act)(&mut broken), "{}: nothing to break", saboteur.name);
        let verdict = verify(&broken, &()).unwrap();
        let found = verdict.violations.iter().any(|v| v.rule == saboteur.rule);
        assert!(!verdict.holds && found, "{}: {:?}", saboteur.name, verdict.violations);
    }
}

#[test]
fn the_manifest_tells_the_parameters() {
    let data = random::quest(300, 40);
    let parameters = parameters(3, 2, LeafSize::Default);
    let release = anonymize(&data, &parameters, &()).unwrap();
    assert_eq!(release.manifest.parameters["max_cluster_size"], 100);
    let method = Method::of(&release.manifest).unwrap();
    let again = method.run(&data, &()).unwrap().release;
    assert_eq!(again, release);
}

#[test]
fn too_little_data_is_refused() {
    let data = Dataset::from_records([["a"], ["b"]]);
    for size in [LeafSize::All, LeafSize::Default] {
        let refused = anonymize(&data, &parameters(3, 2, size), &());
        assert!(matches!(refused, Err(Error::Infeasible { .. })));
    }
    let mut alone = parameters(2, 2, LeafSize::All);
    alone.only_combinations = true;
    assert!(matches!(anonymize(&data, &alone, &()), Err(Error::Infeasible { .. })));
    let small = anonymize(&data, &parameters(2, 2, LeafSize::Max(3)), &());
    assert!(matches!(small, Err(Error::Parameter { .. })));
}

/// Says stop as soon as the solver asks.
struct Stop(std::sync::atomic::AtomicBool);

impl Progress for Stop {
    fn stage(&self, stage: Stage, _: Option<u64>) {
        let suppressing = stage == Stage::Suppressing;
        self.0.store(suppressing, std::sync::atomic::Ordering::Relaxed);
    }
    fn advance(&self, _: u64) -> std::ops::ControlFlow<()> {
        match self.0.load(std::sync::atomic::Ordering::Relaxed) {
            true => std::ops::ControlFlow::Break(()),
            false => std::ops::ControlFlow::Continue(()),
        }
    }
}

#[test]
fn it_stops_when_told() {
    let data = random::quest(500, 40);
    let stop = Stop(Default::default());
    let stopped = local_suppression::anonymize(&data, &parameters(3, 2, LeafSize::All), &stop);
    assert!(matches!(stopped, Err(Error::Cancelled)));
}

/// Attack, measures and reconstruction run on it.
#[test]
fn the_other_parts_take_it() {
    let data = random::quest(1_000, 80);
    let release: Release = anonymize(&data, &parameters(4, 2, LeafSize::Max(100)), &()).unwrap();
    let options = setveil::measure::Options::default();
    let measured = workflow::evaluate(&release, &data, &options, &()).unwrap();
    let (kept, limit) = (measured.pairs_kept.unwrap(), measured.pairs_limit.unwrap());
    assert!(kept > 0.05 && kept <= limit, "{kept} {limit}");
    assert!(measured.tkd.unwrap() < 0.9 && measured.tlost.unwrap() < 0.9);
    let attack = setveil::attack::Options::default().targets(50);
    let report = workflow::attack(&release, Some(&data), &attack, &()).unwrap().report;
    assert_eq!(report.levels[0].below_k, Some(0.0));
    assert!(report.notes.iter().any(|note| note.contains("rare")));
    let drawn = reconstruct::reconstruct_many(&release, Default::default(), 3, &()).unwrap();
    assert!(drawn.iter().all(|d| objection(&release, d).is_none()));
    assert_ne!(drawn[0], drawn[1]);
}

#[test]
fn a_sensitive_item_of_a_whole_leaf_is_said_although_no_record_keeps_it() {
    let few = (0..5).map(|_| vec!["x", "q"]);
    let data = Dataset::from_records(few.chain((0..60).map(|_| vec!["b", "c"])));
    let mut parameters = Parameters::new(K::new(2).unwrap(), M::new(2).unwrap());
    parameters.max_cluster_size = "10".parse().unwrap();
    let told = |parameters: &Parameters| {
        let method = setveil::Method::LocalSuppression(parameters.clone());
        let release = method.run(&data, &()).unwrap().release;
        assert!(setveil::verify::verify(&release, &()).unwrap().holds);
        let cautions = setveil::workflow::cautions(&release);
        let found = cautions.into_iter().find(|caution| caution.kind == "homogeneous");
        found.expect("all five have it")
    };
    assert_eq!(told(&parameters).severity, setveil::caution::Severity::Amber);
    parameters.sensitive = vec!["q".to_owned()];
    let red = told(&parameters);
    assert_eq!(red.severity, setveil::caution::Severity::Red);
    assert!(red.what.contains("all 5 have `q`"), "{}", red.what);
}
