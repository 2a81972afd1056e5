//! DiffPart: against the exact probabilities of all outputs on small trees,
//! against saboteurs, and on real data.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::data::{Epsilon, Hierarchy};
use setveil::io::{ReadOptions, read_dataset, read_hierarchy, read_release, write_release};
use setveil::methods::diffpart::{self, Parameters};
use setveil::release::{Bag, Body, Generalized, Model, Release, Supports, Universe};
use setveil::verify::verify;
use setveil::{Dataset, attack, query, reconstruct, workflow};
use testkit::diffpart::{Node, Oracle, Output, Set};
use testkit::random::{dataset, label};
use testkit::sabotage_generalized::{GENERALIZED, NOISY};

fn parameters(epsilon: &str) -> Parameters {
    Parameters::new(epsilon.parse::<Epsilon>().unwrap(), tree(&["none;*"]))
}

/// With this hierarchy in the place of the one in `parameters`.
fn anonymize<R: rand::CryptoRng>(
    data: &Dataset,
    hierarchy: Hierarchy,
    parameters: &Parameters,
    rng: &mut R,
    progress: &dyn setveil::Progress,
) -> setveil::Result<Release> {
    diffpart::anonymize(data, &parameters.clone().hierarchy(hierarchy), rng, progress)
}

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

fn tree(lines: &[impl AsRef<str>]) -> Hierarchy {
    let paths: Vec<Vec<&str>> = lines.iter().map(|l| l.as_ref().split(';').collect()).collect();
    Hierarchy::from_paths(&paths).unwrap()
}

fn body(release: &Release) -> &Generalized {
    match &release.body {
        Body::Generalized(body) => body,
        _ => panic!("a generalised release"),
    }
}

fn sets(text: &str) -> Vec<Set> {
    text.split_whitespace().map(|word| word.chars().collect()).collect()
}

fn data(records: &[Set]) -> Dataset {
    Dataset::from_records(records.iter().map(|r| r.iter().map(char::to_string)))
}

fn output(release: &Release) -> Output {
    let body = body(release);
    let set = |items: &[u32]| body.vocabulary.texts(items).concat().chars().collect();
    body.classes.iter().map(|(items, count)| (set(items), count)).collect()
}

/// The outputs of many runs, with how often each came.
fn sample(root: &str, epsilon: &str, records: &[Set], runs: u64, seed: u64) -> Vec<(Output, u64)> {
    let (hierarchy, data) = (tree(&Node::parse(root).lines()), data(records));
    let (parameters, mut rng) = (parameters(epsilon), rng(seed));
    let mut seen: BTreeMap<Output, u64> = BTreeMap::new();
    for _ in 0..runs {
        let release = anonymize(&data, hierarchy.clone(), &parameters, &mut rng, &()).unwrap();
        *seen.entry(output(&release)).or_default() += 1;
    }
    seen.into_iter().collect()
}

/// Pearson's statistic of the outputs that are expected ten times or more,
/// all others being one cell, and the limit that the right distribution
/// exceeds about once in a million seeds (this one is fixed).
fn chi_square(oracle: &Oracle, records: &[Set], seen: &[(Output, u64)], runs: u64) -> (f64, f64) {
    let (mut sum, mut cells, mut others, mut others_expected) = (0.0, 1.0, runs, runs as f64);
    for (output, count) in seen {
        let expected = oracle.probability(records, output) * runs as f64;
        if expected >= 10.0 {
            sum += (*count as f64 - expected).powi(2) / expected;
            cells += 1.0;
            others -= count;
            others_expected -= expected;
        }
    }
    sum += (others as f64 - others_expected).powi(2) / others_expected.max(1.0);
    (sum, cells + 6.0 * f64::sqrt(2.0 * cells) + 6.0)
}

/// Trees, one with leaves at different depths, and few records.
const SMALL: &[(&str, &str, &str)] = &[
    ("((ab)(cd))", "4", "ac ac ac ac ac ac a a a bd abcd abcd c cd"),
    ("((ab)c)", "3", "ac ac ac ac a a ab ab ab ab c c c bc"),
    ("(ab)", "1", "a a ab"),
    ("((ab)(cd))", "2", ""),
];

#[test]
fn outputs_have_exactly_the_probabilities_of_the_definition() {
    let runs = 40_000;
    for (seed, &(root, epsilon, records)) in SMALL.iter().enumerate() {
        let records = sets(records);
        let seen = sample(root, epsilon, &records, runs, seed as u64);
        let right = Oracle::new(root, epsilon.parse().unwrap());
        let (sum, limit) = chi_square(&right, &records, &seen, runs);
        assert!(sum < limit, "{root} {epsilon}: {sum} of {limit}");
        // The same test tells the mechanism from its saboteurs.
        let skips = Oracle { skips_empty: true, ..right.clone() };
        let wasteful = Oracle { spends: 1.2, ..right };
        for wrong in [skips, wasteful] {
            let (sum, limit) = chi_square(&wrong, &records, &seen, runs);
            assert!(sum > limit, "{root} {epsilon}: {sum} of {limit}, {wrong:?}");
        }
    }
}

/// The largest |ln P(output | data) - ln P(output | data and one record)|,
/// over one more record of any kind and outputs of up to two classes with
/// small counts.
fn largest_loss(oracle: &Oracle, records: &[Set]) -> f64 {
    let items: Vec<char> = oracle.root.items().into_iter().collect();
    let subset = |bits: u32| -> Set {
        (0..items.len()).filter(|i| bits >> i & 1 == 1).map(|i| items[i]).collect()
    };
    let all: Vec<Set> = (1..1u32 << items.len()).map(subset).collect();
    let counts = [1, 2, 3, 4, 5, 8];
    let one = all.iter().flat_map(|s| counts.map(|c| (s.clone(), c)));
    let one: Vec<Output> = one.map(|class| Output::from([class])).collect();
    let mut outputs = vec![Output::new()];
    for (i, first) in one.iter().enumerate() {
        outputs.push(first.clone());
        let second = one[i + 1..].iter().step_by(7).filter(|s| s.keys().ne(first.keys()));
        outputs
            .extend(second.map(|s| first.iter().chain(s).map(|(k, &v)| (k.clone(), v)).collect()));
    }
    let mut largest = 0.0_f64;
    let before: Vec<f64> = outputs.iter().map(|o| oracle.probability(records, o)).collect();
    for record in all {
        let more: Vec<Set> = records.iter().cloned().chain([record]).collect();
        for (output, &p) in outputs.iter().zip(&before) {
            let q = oracle.probability(&more, output);
            if p > 0.0 || q > 0.0 {
                largest = largest.max((p.ln() - q.ln()).abs());
            }
        }
    }
    largest
}

#[test]
fn one_record_changes_no_probability_by_more_than_e_to_the_epsilon() {
    for &(root, epsilon, records) in SMALL {
        let (records, epsilon) = (sets(records), epsilon.parse().unwrap());
        let right = Oracle::new(root, epsilon);
        let loss = largest_loss(&right, &records);
        // Close to the budget: the outputs that are looked at are those that matter.
        assert!(loss <= epsilon + 1e-9 && loss > 0.7 * epsilon, "{root}: {loss} of {epsilon}");
        let skips = Oracle { skips_empty: true, ..right.clone() };
        assert_eq!(largest_loss(&skips, &records), f64::INFINITY, "{root}");
        let wasteful = Oracle { spends: 1.5, ..right };
        assert!(largest_loss(&wasteful, &records) > epsilon, "{root}");
    }
}

/// The same without an oracle: how often classes are published for data sets
/// that differ by one record.
#[test]
fn neighbours_are_published_alike_and_forgetting_empty_partitions_would_show() {
    let (root, runs) = ("((ab)(cd))", 30_000u64);
    let records = sets("ac ac ac ac ac ac ac ac");
    let more: Vec<Set> = records.iter().cloned().chain(sets("bd")).collect();
    let published = |records: &[Set], seed, forget: bool| {
        let mut times: BTreeMap<Set, u64> = BTreeMap::new();
        for (output, count) in sample(root, "2", records, runs, seed) {
            // Without empty partitions nothing is published that no record is.
            for set in output.into_keys().filter(|s| !forget || records.contains(s)) {
                *times.entry(set).or_default() += count;
            }
        }
        times
    };
    // Whether a class is published is an event like any other. Five standard
    // deviations of either count are allowed.
    let excess = |forget: bool| {
        let (a, b) = (published(&records, 1, forget), published(&more, 2, forget));
        let times = |of: &BTreeMap<Set, u64>, set| *of.get(set).unwrap_or(&0) as f64;
        let excess = |set| {
            let (x, y) = (times(&a, set), times(&b, set));
            let bound = |y: f64| 2f64.exp() * (y + 5.0 * y.sqrt().max(1.0)) + 5.0 * y.sqrt();
            (x - bound(y)).max(y - bound(x))
        };
        a.keys().chain(b.keys()).map(excess).fold(f64::MIN, f64::max)
    };
    assert!(excess(false) <= 0.0, "{}", excess(false));
    assert!(excess(true) > 100.0, "{}", excess(true));
}

#[test]
fn no_record_is_data_too() {
    let hierarchy = tree(&["a;A;*", "b;A;*", "c;*"]);
    let empty = Dataset::default();
    for seed in 0..200 {
        let release =
            anonymize(&empty, hierarchy.clone(), &parameters("1"), &mut rng(seed), &()).unwrap();
        assert!(verify(&release, &()).unwrap().holds);
        assert_eq!(release.manifest.records, body(&release).classes.total());
    }
}

#[test]
fn nothing_exact_is_published() {
    let records = vec![vec!["a", "b"]; 500];
    let hierarchy = tree(&["a;A;*", "b;A;*", "c;C;*", "d;C;*", "never;*"]);
    let data = Dataset::from_records(&records);
    let mut totals = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let release =
            anonymize(&data, hierarchy.clone(), &parameters("0.5"), &mut rng(seed), &()).unwrap();
        // The hierarchy is the public one, whatever occurs in the data.
        assert_eq!(body(&release).hierarchy.as_ref(), Some(&hierarchy));
        assert_eq!(release.manifest.guarantee.supports, Supports::Noisy);
        totals.insert(release.manifest.records);
    }
    assert!(totals.len() > 5, "the number of records is noisy: {totals:?}");
}

#[test]
fn items_outside_of_the_hierarchy_are_refused_or_dropped() {
    let data = Dataset::from_records([vec!["a", "x"], vec!["y"], vec!["a"]]);
    let hierarchy = tree(&["a;*", "b;*"]);
    let run = |p: Parameters| anonymize(&data, hierarchy.clone(), &p, &mut rng(1), &());
    let error = run(parameters("1")).unwrap_err().to_string();
    assert!(error.contains("2 of 3") && error.contains("x, y"), "{error}");
    assert!(error.contains("drop_unknown"), "{error}");
    let dropped = run(parameters("1").drop_unknown(true)).unwrap();
    // As if the items had never been there.
    let without = Dataset::from_records([vec!["a"], vec!["a"]]);
    let same = anonymize(&without, hierarchy.clone(), &parameters("1"), &mut rng(1), &()).unwrap();
    assert_eq!(dropped.body, same.body);
    assert!(parameters("1").fanout(1).is_err() && parameters("1").fanout(17).is_err());
}

fn release_of_sample() -> (Dataset, Release) {
    let rows = testkit::random::records(3, 3000, 12, 2.0);
    let data = Dataset::from_records(&rows);
    let hierarchy = balanced(data.vocabulary(), 4, LeafOrder::Natural).unwrap();
    let release = anonymize(&data, hierarchy, &parameters("2"), &mut rng(5), &()).unwrap();
    assert!(body(&release).classes.len() > 10);
    (data, release)
}

#[test]
fn saboteurs_of_the_form_are_caught() {
    let (_, release) = release_of_sample();
    let mut caught = 0;
    for saboteur in GENERALIZED.iter().chain(NOISY) {
        // Rules about k do not apply; the rest does.
        if ["size", "km"].contains(&saboteur.rule) {
            continue;
        }
        let mut broken = release.clone();
        if (saboteur.act)(&mut broken) {
            let verdict = verify(&broken, &()).unwrap();
            let rules: Vec<&str> = verdict.violations.iter().map(|v| v.rule).collect();
            assert!(
                !verdict.holds && rules.contains(&saboteur.rule),
                "{}: {rules:?}",
                saboteur.name
            );
            caught += 1;
        }
    }
    assert!(caught >= 9, "{caught}");
    let verdict = verify(&release, &()).unwrap();
    assert!(verdict.holds && verdict.note.is_some_and(|n| n.contains("cannot show it")));
    assert_eq!(verdict.epsilon, Some(2.0));
}

/// Whatever takes a release takes this one, an empty one included.
#[test]
fn recipients_can_work_with_it() {
    let (data, release) = release_of_sample();
    let mut nothing = release.clone();
    (nothing.manifest.records, nothing.manifest.items) = (0, 0);
    let Body::Generalized(empty) = &mut nothing.body else { panic!("a generalised release") };
    empty.classes = Bag::default();
    empty.vocabulary = setveil::data::Vocabulary::default();
    for (release, full) in [(&release, true), (&nothing, false)] {
        let verdict = verify(release, &()).unwrap();
        assert!(verdict.holds, "{verdict:?}");
        let index = query::Index::new(release.clone(), Default::default());
        let answer = index.ask(&["a", "b"]).unwrap();
        assert_eq!((answer.lower, answer.upper), (0, None));
        assert_eq!(answer.expected > 0.0, full);
        let drawn = reconstruct::reconstruct(release, Default::default(), 0).unwrap();
        assert_eq!(drawn.len() as u64, release.manifest.records);
        let found = workflow::evaluate(release, &data, &Default::default(), &()).unwrap();
        assert!(found.tkd.is_some_and(|t| (t < 1.0) == full) && found.ncp.is_none(), "{found:?}");
        for level in workflow::risk(release, &data, &Default::default(), &()).unwrap() {
            assert!(level.linking.is_none() && level.candidates_format.is_none(), "{level:?}");
            assert!(level.disclosure.is_some_and(|d| (d > 0.0) == full), "{level:?}");
        }
        for original in [Some(&data), None] {
            let options = attack::Options::default().targets(50);
            let report = workflow::attack(release, original, &options, &()).unwrap().report;
            assert!(report.classes.is_none());
            assert!(report.notes.iter().any(|n| n.contains("noisy")), "{:?}", report.notes);
        }
        let page = report(release);
        assert!(page.contains("well-formed") && !page.contains("The promise holds"));
        assert_eq!(page.contains("Do not publish: there is nothing in it."), !full);
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("release");
        write_release(release, &dir, false).unwrap();
        let read = read_release(&dir).unwrap();
        assert_eq!(read.body, release.body);
        assert_eq!(read.manifest.guarantee, release.manifest.guarantee);
    }
}

fn report(release: &setveil::Release) -> String {
    let verdict = verify(release, &()).unwrap();
    let options = Default::default();
    workflow::report(release, &verdict, None, &Default::default(), &options, &()).unwrap().page
}

#[test]
fn the_manifest_says_whether_the_names_are_protected() {
    let data = Dataset::from_records([["a"], ["b"]]);
    for universe in [Universe::Public, Universe::Data] {
        let parameters = parameters("0.25").universe(universe);
        let release =
            anonymize(&data, tree(&["a;*", "b;*"]), &parameters, &mut rng(1), &()).unwrap();
        let model = Model::DifferentialPrivacy { epsilon: 0.25, universe };
        assert_eq!(release.manifest.guarantee.model, model);
        let note = verify(&release, &()).unwrap().note.unwrap();
        assert_eq!(note.contains("taken from the data"), universe == Universe::Data);
        let page = report(&release);
        assert_eq!(
            page.contains("that an item occurs is not protected"),
            universe == Universe::Data
        );
    }
}

/// Frequent sets survive, with counts near the original ones.
#[test]
fn real_baskets_with_a_public_hierarchy() {
    let Some(baskets) = testkit::real::data_file("groceries.dat.gz") else { return };
    let Some(names) = testkit::real::data_file("groceries-hierarchy.csv.gz") else { return };
    let data = read_dataset(&baskets, &ReadOptions::default(), &()).unwrap().dataset;
    let hierarchy = read_hierarchy(&names).unwrap();
    let parameters = parameters("2").drop_unknown(true);
    let release = anonymize(&data, hierarchy, &parameters, &mut rng(1), &()).unwrap();
    assert!(verify(&release, &()).unwrap().holds);
    let body = body(&release);
    assert!(body.classes.len() > 20, "{}", body.classes.len());
    let (items, count) = body.classes.iter().max_by_key(|c| c.1).expect("there are classes");
    let labels = body.vocabulary.texts(items);
    let same = |record: &[u32]| {
        record.len() == labels.len()
            && record.iter().zip(&labels).all(|(&i, l)| data.vocabulary().label(i) == l)
    };
    let original = data.records().filter(|r| same(r)).count() as f64;
    // The count had at least half of the budget: a standard deviation of at most 1.5.
    assert!((f64::from(count) - original).abs() < 15.0, "{labels:?}: {count} for {original}");
}

proptest! {
    #![proptest_config(testkit::settings::cases(64))]

    #[test]
    fn classes_are_sets_of_leaves_and_a_seed_gives_one_release(
        data in dataset(40, 9), epsilon in 1u32..9, tree in 2usize..6, fanout in 2usize..6, seed: u64,
    ) {
        let names: Vec<String> = (0..9).map(label).collect();
        let all = setveil::data::Vocabulary::new(names.iter().map(String::as_str));
        let hierarchy = balanced(&all, tree, LeafOrder::Natural).unwrap();
        let parameters = parameters(&epsilon.to_string()).fanout(fanout).unwrap();
        let run = |data: &Dataset| {
            anonymize(data, hierarchy.clone(), &parameters, &mut rng(seed), &()).unwrap()
        };
        let release = run(&data);
        let verdict = verify(&release, &()).unwrap();
        prop_assert!(verdict.holds, "{:?}", verdict.violations);
        for label in body(&release).vocabulary.labels() {
            prop_assert!(names.iter().any(|n| n == label));
        }
        let reversed: Vec<Vec<&str>> = (0..data.len())
            .rev()
            .map(|r| data.record(r).iter().map(|&i| data.vocabulary().label(i)).collect())
            .collect();
        prop_assert_eq!(run(&Dataset::from_records(&reversed)), release);
    }
}
