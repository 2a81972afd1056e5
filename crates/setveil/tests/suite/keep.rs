//! Sets of items that shall stay together: they are preferred, no rule is
//! loosened for them, nothing published names them, and the maker is told
//! what became of each.

use proptest::prelude::*;
use setveil::data::{Dataset, K, Keep, M};
use setveil::methods::disassociation::safe::Safe;
use setveil::methods::local_suppression::LeafSize;
use setveil::methods::{disassociation, local_suppression, suppress_rare};
use setveil::release::Release;
use setveil::workflow::KeptSet;
use setveil::{Error, Method, risk, verify, workflow};
use testkit::random;

/// Every method that can prefer sets.
fn methods(k: u32, m: u32, leaf: usize) -> Vec<Method> {
    let (k, m) = (K::new(k).unwrap(), M::new(m).unwrap());
    let clusters = disassociation::Parameters::new(k, m).with_max_cluster_size(leaf);
    let mut located = local_suppression::Parameters::new(k, m);
    located.max_cluster_size = LeafSize::Max(leaf);
    let mut whole = located.clone();
    whole.max_cluster_size = LeafSize::All;
    let mut alone = whole.clone();
    alone.only_combinations = true;
    vec![
        Method::Disassociation(clusters.clone()),
        Method::Dls(clusters),
        Method::LocalSuppression(located),
        Method::LocalSuppression(whole),
        Method::LocalSuppression(alone),
    ]
}

fn support(data: &Dataset, labels: &[&str]) -> u64 {
    let ids: Vec<_> = labels.iter().map(|label| data.vocabulary().id(label).unwrap()).collect();
    let has = |record: &&[u32]| ids.iter().all(|id| record.contains(id));
    data.records().filter(has).count() as u64
}

/// What is told of each set agrees with counting in the data.
fn check_told(kept: &[KeptSet], keep: &Keep, data: &Dataset) {
    assert_eq!(kept.len(), keep.sets().len());
    for (set, asked) in kept.iter().zip(keep.sets()) {
        assert_eq!((&set.items, set.weight), (&asked.items, asked.weight));
        let labels: Vec<&str> = set.items.iter().map(String::as_str).collect();
        assert_eq!(set.records, support(data, &labels));
        assert!(set.lower <= set.records && set.upper.is_none_or(|upper| set.records <= upper));
        let (mut pairs, mut occurrences) = (0, 0);
        for (i, a) in labels.iter().enumerate() {
            for b in &labels[..i] {
                let support = support(data, &[a, b]);
                pairs += u64::from(support > 0);
                occurrences += support;
            }
        }
        assert_eq!((set.pairs, set.occurrences), (pairs, occurrences));
        assert_eq!(set.exact + set.bounded + set.not_at_all, pairs);
        assert!(set.occurrences_kept <= occurrences);
    }
}

proptest! {
    #![proptest_config(testkit::settings::cases(60))]

    /// Whatever is asked for, the promise holds, and the answer is true.
    #[test]
    fn preferring_loosens_no_rule(
        data in random::dataset(40, 6), k in 2_u32..4, m in 1_u32..4, first in 0_usize..5,
    ) {
        prop_assume!(data.len() >= k as usize && data.item_count() >= 3);
        let labels: Vec<&str> = data.vocabulary().labels().collect();
        let label = |i: usize| labels[i % labels.len()];
        let keep = Keep::new([
            (vec![label(first), label(first + 1)], 1),
            (vec![label(0), label(1), label(2)], 3),
        ]);
        let keep = keep.unwrap();
        for method in methods(k, m, 8) {
            let method = method.with_keep(keep.clone()).unwrap();
            let Ok((release, answer)) = workflow::anonymize(&data, &method, &()) else {
                // Nothing can be kept k times.
                prop_assert!(matches!(&method, Method::LocalSuppression(p) if p.only_combinations));
                continue;
            };
            let verdict = verify::verify(&release, &()).unwrap();
            prop_assert!(verdict.holds, "{}: {:?}", method.name(), verdict.violations);
            check_told(&answer.kept, &keep, &data);
        }
    }
}

/// Records with `x` and `y` together, which are rare among many others.
fn scattered() -> Dataset {
    let others = ["a", "b", "c", "d", "e", "f"];
    let mut records = Vec::new();
    for i in 0..240 {
        let mut record = vec![others[i % 6], others[(i / 6 + i) % 6]];
        if i % 12 == 0 {
            record.extend(["x", "y"]);
        }
        if i % 7 == 0 {
            record.push("z");
        }
        records.push(record);
    }
    Dataset::from_records(records)
}

fn made(data: &Dataset, method: &Method) -> (Release, Vec<KeptSet>) {
    let (release, answer) = workflow::anonymize(data, method, &()).unwrap();
    (release, answer.kept)
}

#[test]
fn more_of_a_set_is_shown_if_it_is_asked_for() {
    let data = random::quest(1_500, 300);
    let labels: Vec<&str> = data.vocabulary().labels().collect();
    let sets: Vec<(Vec<&str>, u32)> =
        labels.chunks(20).take(4).map(|set| (set.to_vec(), 2)).collect();
    let keep = Keep::new(sets).unwrap();
    for method in methods(5, 2, 50) {
        let (_, preferred) = made(&data, &method.clone().with_keep(keep.clone()).unwrap());
        let (plain, none) = made(&data, &method);
        assert!(none.is_empty());
        let index = setveil::query::Index::new(plain, Default::default());
        let mut without = 0;
        for set in keep.sets() {
            for (i, a) in set.items.iter().enumerate() {
                for b in &set.items[..i] {
                    without += index.ask(&[a, b]).unwrap().lower;
                }
            }
        }
        let with: u64 = preferred.iter().map(|set| set.occurrences_kept).sum();
        assert!(with > without, "{}: {with} and {without} without", method.name());
    }
}

#[test]
fn a_set_that_is_frequent_enough_is_told_exactly() {
    let data = scattered();
    let keep = Keep::new([(["x", "y"], 1)]).unwrap();
    for method in &methods(5, 2, 20)[..1] {
        let (_, kept) = made(&data, &method.clone().with_keep(keep.clone()).unwrap());
        assert_eq!((kept[0].records, kept[0].lower, kept[0].upper), (20, 20, Some(20)));
        assert_eq!((kept[0].exact, kept[0].not_at_all), (1, 0));
    }
}

#[test]
fn no_release_names_the_list_and_its_order_changes_nothing() {
    let data = random::quest(800, 40);
    let labels: Vec<&str> = data.vocabulary().labels().collect();
    let sets = [(vec![labels[0], labels[3]], 1), (vec![labels[1], labels[2], labels[5]], 1)];
    let keep = Keep::new(sets.clone()).unwrap();
    let turned = Keep::new(sets.into_iter().rev()).unwrap();
    for method in methods(3, 2, 20) {
        let first = made(&data, &method.clone().with_keep(keep.clone()).unwrap()).0;
        let json = serde_json::to_string(&first.manifest).unwrap();
        assert!(!json.contains("keep"), "{json}");
        assert_eq!(first.manifest.parameters, made(&data, &method).0.manifest.parameters);
        assert!(Method::of(&first.manifest).unwrap().keep().is_empty());
        let backwards = data.with_records((0..data.len()).rev().map(|r| data.record(r)));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let method = method.with_keep(turned.clone()).unwrap();
        assert!(pool.install(|| made(&backwards, &method).0) == first, "{}", method.name());
    }
}

#[test]
fn what_cannot_be_preferred_is_refused() {
    let data = scattered();
    let method = methods(5, 2, 20).remove(0);
    let unheard = Keep::new([(["x", "unheard of"], 1)]).unwrap();
    let error = method.clone().with_keep(unheard).unwrap().run(&data, &()).unwrap_err();
    assert!(matches!(&error, Error::Unknown { .. }), "{error}");
    let keep = Keep::new([(["x", "y"], 1)]).unwrap();
    let Method::Disassociation(parameters) = method else { panic!() };
    let safe = parameters.with_safe(Safe::default()).with_keep(keep.clone());
    assert!(matches!(
        Method::Disassociation(safe).run(&data, &()).unwrap_err(),
        Error::Parameter { name: "keep", .. }
    ));
    let rare = Method::SuppressRare(suppress_rare::Parameters::new(K::new(5).unwrap()));
    assert!(matches!(rare.with_keep(keep), Err(Error::Parameter { name: "keep", .. })));
}

/// Who has the list finds out which records went where; nobody guesses.
#[test]
fn linking_is_measured_with_the_list_alone() {
    let data = random::quest(600, 150);
    let labels: Vec<&str> = data.vocabulary().labels().collect();
    let keep = Keep::new([(labels[..30].to_vec(), 5)]).unwrap();
    for method in methods(3, 2, 20) {
        let (release, _) = made(&data, &method.clone().with_keep(keep.clone()).unwrap());
        assert!(release.body != made(&data, &method).0.body, "{}", method.name());
        let options = risk::Options::default().known(2).targets(50);
        let levels = |options: &risk::Options| workflow::risk(&release, &data, options, &());
        let without = levels(&options).unwrap();
        assert!(without.iter().all(|level| level.linking.is_none()), "{}", method.name());
        let with = levels(&options.clone().keep(keep.clone())).unwrap();
        assert!(with.iter().all(|level| level.linking.is_some()), "{}", method.name());
    }
}
