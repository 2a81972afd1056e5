//! Attacks against exhaustive enumeration, the paper's figures, and cases
//! that fit on a page.

use std::collections::{BTreeMap, BTreeSet};

use setveil::attack::{Adversary, Kernel, Options, Report, algorithm, attack, cover};
use setveil::data::hierarchy::Hierarchy;
use setveil::data::{Dataset, ItemId, K, L, M, Vocabulary};
use setveil::methods::disassociation::{
    Parameters, Sensitive, Verpart, VerticalPartitioning, anonymize, verpart,
};
use setveil::methods::dls::{self, dls_cluster};
use setveil::release::{
    Bag, Body, Cluster, Disassociated, Generalized, Group, Grouped, Guarantee, Manifest, Model,
    Release, SimpleCluster, Supports,
};
use setveil::{Method, workflow};
use testkit::inputs::{greatest_by_output, inputs_by_output};
use testkit::worlds::{support, worlds};

fn disassociated(release: &Release) -> &Disassociated {
    match &release.body {
        Body::Disassociated(body) => body,
        _ => panic!("not a disassociated release"),
    }
}

fn leaf(cluster: &Cluster) -> &SimpleCluster {
    match cluster {
        Cluster::Simple(leaf) => leaf,
        Cluster::Joint(_) => panic!("not a simple cluster"),
    }
}

fn method(k: u32, m: u32) -> impl Fn(&[&[ItemId]]) -> SimpleCluster + Sync {
    let (k, m) = (K::new(k).unwrap(), M::new(m).unwrap());
    move |records| verpart(records, k, m)
}

fn kernel(k: u32, m: u32) -> Kernel<'static> {
    Kernel::new(method(k, m))
}

fn options(adversary: Adversary) -> Options {
    Options::default().adversary(adversary).targets(100_000)
}

fn run(release: &Release, original: Option<&Dataset>, options: &Options) -> Report {
    // Made-up releases name no parameters.
    if Method::of(&release.manifest).is_err() {
        let refusals = Kernel::unknown().with_refusals();
        return attack(release, original, options, &refusals, &()).unwrap();
    }
    workflow::attack(release, original, &options.clone().worlds(0), &()).unwrap().report
}

/// The labels of the covered pairs, each pair and the list ascending.
fn covers(release: &Release, k: u32, m: u32) -> Vec<[String; 2]> {
    let body = disassociated(release);
    let label = |i| body.vocabulary.label(i).to_owned();
    let covers = cover::find(body, K::new(k).unwrap(), m, &()).unwrap();
    covers.iter().map(|c| [label(c.a), label(c.b)]).collect()
}

#[test]
fn the_papers_figures() {
    let expected = [
        (vec![["cancer", "side effects"], ["cancer", "surgery"]], 2, 1),
        // The text says {c, b}; it means {c, e}.
        (vec![["c", "e"]], 1, 1),
    ];
    let cases = testkit::cases::disassociation("cover-problem-2016");
    assert_eq!(cases.len(), expected.len());
    for (case, (pairs, vulnerable, printed)) in cases.iter().zip(expected) {
        let release = case.release();
        assert_eq!(covers(&release, case.k, case.m), pairs, "{}", case.source);
        let data = Dataset::from_records(&case.clusters[0]);
        let report = run(&release, Some(&data), &options(Adversary::Strong));
        assert_eq!(report.printed_total, Some(printed), "{}", case.source);
        assert_eq!(report.breached_pairs, Some(pairs.len() as u64));
        assert_eq!(report.breached_pairs_release, Some(pairs.len() as u64));
        assert_eq!(report.vulnerable_records, Some(vulnerable), "{}", case.source);
        assert!(report.notes.iter().any(|n| n.contains("absence of a cover is not safety")));
        // The figure's own output is what the algorithm publishes.
        let rows: Vec<&[ItemId]> = data.records().collect();
        let mut output = Cluster::Simple(method(case.k, case.m)(&rows));
        output.canonicalize();
        assert_eq!(vec![output], disassociated(&release).clusters, "{}", case.source);
    }
    // Figure 3b: six worlds, of which the algorithm would publish five like this.
    let body = cases[1].release();
    let cluster = &disassociated(&body).clusters[0];
    let k = K::new(2).unwrap();
    let finding = algorithm::of_leaf(leaf(cluster), false, k, 200, 1, &kernel(2, 2));
    assert_eq!((finding.tried, finding.accepted, finding.enumerated), (6, 5, true));
    let label = |i: ItemId| disassociated(&body).vocabulary.label(i);
    let breached: Vec<_> = finding.breached.iter().map(|&(a, b)| [label(a), label(b)]).collect();
    assert_eq!(breached, [["c", "e"]]);
}

#[test]
fn viagra_is_in_fewer_than_k_records_of_every_input_that_gives_figure_2b() {
    let case = &testkit::cases::disassociation("disassociation-2012")[0];
    let report = run(&case.release(), None, &options(Adversary::Strong));
    // viagra, panic disorder and playboy; ikea and ruby are in two term chunks.
    assert_eq!(report.items_below_k, Some(3));
}

/// Greatest support of every pair of record-chunk items of different chunks,
/// over all worlds and over those that would be published like this.
fn greatest_supports(
    cluster: &Cluster,
    method: &dyn Fn(&[&[ItemId]]) -> SimpleCluster,
) -> BTreeMap<(ItemId, ItemId), (u64, u64)> {
    let published = leaf(cluster);
    let mut most = BTreeMap::new();
    for world in worlds(cluster, published.size as usize) {
        let records: Vec<Vec<ItemId>> = world.iter().map(|r| r.iter().copied().collect()).collect();
        let rows: Vec<&[ItemId]> = records.iter().map(Vec::as_slice).collect();
        let mut output = Cluster::Simple(method(&rows));
        output.canonicalize();
        let accepted = output == *cluster;
        for (i, a) in published.record_chunks.iter().enumerate() {
            for b in &published.record_chunks[i + 1..] {
                for x in a.domain() {
                    for y in b.domain() {
                        let pair = (x.min(y), x.max(y));
                        let most = most.entry(pair).or_insert((0, 0));
                        let here = support(&world, &[pair.0, pair.1]);
                        most.0 = here.max(most.0);
                        most.1 = if accepted { here.max(most.1) } else { most.1 };
                    }
                }
            }
        }
    }
    most
}

#[test]
fn covers_and_the_algorithm_aware_attacker_agree_with_enumeration() {
    let k = K::new(2).unwrap();
    let (kernel, method) = (kernel(2, 2), method(2, 2));
    let (mut clusters, mut breached, mut found) = (0, 0, 0);
    for seed in 0..900 {
        let records = testkit::random::records(seed, 4 + seed as usize % 2, 5, 2.3);
        let data = Dataset::from_records(&records);
        let rows: Vec<&[ItemId]> = data.records().collect();
        let mut cluster = Cluster::Simple(method(&rows));
        cluster.canonicalize();
        let published = leaf(&cluster);
        if published.record_chunks.len() < 2 || published.term_chunk.len() > 1 {
            continue;
        }
        let most = greatest_supports(&cluster, &method);
        clusters += 1;
        let covers: BTreeSet<(ItemId, ItemId)> = cover::of_leaf(published, k, 2)
            .into_iter()
            .map(|(a, b)| (a.min(b), a.max(b)))
            .collect();
        for pair in &covers {
            assert!(most[pair].1 < 2, "false alarm for {pair:?} in {cluster:?}");
        }
        // Pairs that a record of some world has, but never two.
        let narrowed: BTreeSet<(ItemId, ItemId)> =
            most.iter().filter(|(_, n)| n.1 == 1).map(|(&pair, _)| pair).collect();
        breached += narrowed.len();
        found += narrowed.intersection(&covers).count();
        // The library's own enumeration, up to the order of records.
        let finding = algorithm::of_leaf(published, false, k, 100_000, seed, &kernel);
        assert!(finding.enumerated);
        let expected: Vec<_> = narrowed.into_iter().filter(|pair| most[pair].0 >= 2).collect();
        assert_eq!(finding.breached, expected, "{cluster:?}");
    }
    assert!(clusters >= 200 && breached >= 100, "{clusters} clusters, {breached} pairs");
    assert!(found * 2 > breached, "covers find {found} of {breached}");
    assert!(found < breached, "absence of a cover would be safety");
}

/// Every data set of four records over four items is given to the method, with
/// and without a sensitive item; what is true of all inputs of an output is
/// what the attacker must find out from the output alone.
#[test]
fn the_algorithm_aware_attacker_finds_what_all_inputs_have_in_common() {
    let (k, m, size, secret) = (K::new(2).unwrap(), M::new(2).unwrap(), 4, 3);
    let (mut outputs, mut breached) = ([0; 2], [0; 2]);
    for (run, l) in [None, Some(L::new(2).unwrap())].into_iter().enumerate() {
        let hidden = move |item: ItemId| l.is_some() && item == secret;
        let publish = move |records: &[&[ItemId]]| {
            Verpart { k, m }
                .partition(&mut Default::default(), records, &hidden, &())
                .unwrap()
                .cluster
        };
        let kernel = match l {
            Some(l) => Kernel::new(publish).with_sensitive(vec![secret], l),
            None => Kernel::new(publish),
        };
        // A cluster with a sensitive item in more than 1/l of it is never made.
        let diverse = |world: &testkit::worlds::World| {
            l.is_none_or(|l| support(world, &[secret]) * u64::from(l.get()) <= size as u64)
        };
        for (cluster, inputs) in inputs_by_output(size, 4, &publish, &diverse) {
            let published = leaf(&cluster);
            if published.record_chunks.len() < 2 {
                continue;
            }
            outputs[run] += 1;
            let format = greatest_supports(&cluster, &publish);
            let expected: Vec<(ItemId, ItemId)> = greatest_by_output(published, &inputs)
                .into_iter()
                .filter(|(pair, most)| *most == 1 && format[pair].0 >= 2)
                .map(|(pair, _)| pair)
                .collect();
            let finding = algorithm::of_leaf(published, false, k, 1_000_000, 1, &kernel);
            assert!(finding.enumerated && finding.accepted > 0);
            assert_eq!(finding.breached, expected, "l {l:?}: {cluster:?}");
            breached[run] += expected.len();
        }
    }
    assert!(
        outputs.iter().all(|&n| n > 20) && breached.iter().all(|&n| n > 20),
        "{outputs:?} {breached:?}"
    );
    // The saboteur: an attacker who does not know the list takes the hidden
    // item for one that VERPART would have put into a chunk.
    let publish = move |records: &[&[ItemId]]| {
        Verpart { k, m }
            .partition(&mut Default::default(), records, &|item| item == secret, &())
            .unwrap()
            .cluster
    };
    let rows: [&[ItemId]; 4] = [&[0, 3], &[0, 1, 3], &[0, 1], &[1]];
    let output = publish(&rows);
    let blind = algorithm::of_leaf(&output, false, k, 1000, 1, &kernel_of(k, m));
    let aware = Kernel::new(publish).with_sensitive(vec![secret], L::new(2).unwrap());
    let aware = algorithm::of_leaf(&output, false, k, 1000, 1, &aware);
    assert!(aware.accepted > blind.accepted, "{} {}", aware.accepted, blind.accepted);
}

fn kernel_of(k: K, m: M) -> Kernel<'static> {
    Kernel::new(move |records: &[&[ItemId]]| verpart(records, k, m))
}

/// Why the attack is not offered for DLS: of all data sets that it publishes
/// like this, only some are possible data sets of the release, and what those
/// have in common is not true of the others.
#[test]
fn possible_data_sets_mislead_about_the_inputs_of_dls() {
    let (k, m) = (K::new(2).unwrap(), M::new(2).unwrap());
    let publish = move |records: &[&[ItemId]]| dls_cluster(records, k, m);
    let mut wrong = 0;
    for (cluster, inputs) in inputs_by_output(5, 4, &publish, &|_| true) {
        let published = leaf(&cluster);
        if published.record_chunks.len() < 2 {
            continue;
        }
        let most: BTreeMap<_, _> = greatest_by_output(published, &inputs).into_iter().collect();
        let finding = algorithm::of_leaf(published, false, k, 1_000_000, 1, &Kernel::new(publish));
        wrong += finding.breached.iter().filter(|pair| most[pair] >= 2).count();
    }
    assert!(wrong > 0, "the attack could be offered after all");

    let data = Dataset::from_records(testkit::random::records(3, 200, 10, 3.0));
    let release = dls::anonymize(&data, &dls::Parameters::new(k, m), &()).unwrap();
    let report = run(&release, Some(&data), &options(Adversary::Strong));
    assert!(report.notes.iter().any(|n| n.contains("cannot try its inputs")), "{:?}", report.notes);
}

#[test]
fn sensitive_terms_are_not_taken_for_rare_ones() {
    let mut records = testkit::random::records(9, 300, 10, 3.0);
    (0..30).for_each(|r| records[10 * r].push("secret".into()));
    let data = Dataset::from_records(&records);
    let mut parameters = Parameters::new(K::new(3).unwrap(), M::new(2).unwrap());
    // One cluster, so that the term stands in one term chunk only.
    parameters.max_cluster_size = 300;
    let report = |parameters: &Parameters| {
        let release = anonymize(&data, parameters, &()).unwrap();
        run(&release, Some(&data), &options(Adversary::Weak))
    };
    let open = report(&parameters);
    let terms = vec!["secret".to_owned()];
    parameters.sensitive = Some(Sensitive { terms, l: L::new(3).unwrap() });
    let hidden = report(&parameters);
    assert_eq!(open.items_below_k, hidden.items_below_k);
    assert!(hidden.notes.iter().any(|n| n.contains("sensitive terms may be in k")));
}

#[test]
fn random_worlds_are_accepted_as_often_as_enumeration_says() {
    let k = K::new(2).unwrap();
    let (kernel, method) = (kernel(2, 2), method(2, 2));
    let mut compared = 0;
    for seed in 0..400 {
        let data = Dataset::from_records(testkit::random::records(seed, 6, 4, 2.0));
        let rows: Vec<&[ItemId]> = data.records().collect();
        let mut cluster = Cluster::Simple(method(&rows));
        cluster.canonicalize();
        let published = leaf(&cluster);
        if published.record_chunks.len() < 2 || !published.term_chunk.is_empty() {
            continue;
        }
        let all = algorithm::of_leaf(published, false, k, 100_000, 0, &kernel);
        // A budget of 2 draws twice; ten of those are too few to enumerate.
        let mut drawn = (0, 0);
        for repeat in 0..400 {
            let some = algorithm::of_leaf(published, false, k, 1, repeat, &kernel);
            if some.enumerated {
                break;
            }
            drawn = (drawn.0 + some.tried, drawn.1 + some.accepted);
        }
        if drawn.0 == 0 {
            continue;
        }
        let share = all.accepted as f64 / all.tried as f64;
        let error = (share * (1.0 - share) / drawn.0 as f64).sqrt();
        let found = drawn.1 as f64 / drawn.0 as f64;
        // Six standard errors: a false alarm in fewer than one of 10^7 runs.
        assert!((found - share).abs() <= 6.0 * error + 1e-12, "{share} {found} {cluster:?}");
        compared += 1;
    }
    assert!(compared >= 30, "{compared}");
}

#[test]
fn posteriors_of_the_report_agree_with_enumeration() {
    for seed in 0..40 {
        let data = Dataset::from_records(testkit::random::records(seed, 5, 5, 2.4));
        let rows: Vec<&[ItemId]> = data.records().collect();
        let cluster = Cluster::Simple(method(2, 2)(&rows));
        if leaf(&cluster).term_chunk.len() > 2 {
            continue; // Too many worlds.
        }
        let body = Disassociated { vocabulary: data.vocabulary().clone(), clusters: vec![cluster] };
        let all = worlds(&body.clusters[0], 5);
        let mean = |set: &[ItemId]| all.iter().map(|w| support(w, set)).sum::<u64>() as f64;
        let (mut max, mut sum, mut people) = (0.0f64, 0.0, 0.0);
        for record in data.records().filter(|r| r.len() > 2) {
            people += 1.0;
            let pairs: Vec<[ItemId; 2]> = (0..record.len())
                .flat_map(|i| (i + 1..record.len()).map(move |j| [record[i], record[j]]))
                .collect();
            for known in &pairs {
                let further = (0..data.item_count() as ItemId).filter(|y| !known.contains(y));
                let best = further
                    .map(|y| mean(&[known[0], known[1], y]) / mean(known))
                    .fold(0.0, f64::max);
                max = max.max(best);
                sum += best / pairs.len() as f64;
            }
        }
        let release = km_release(Body::Disassociated(body), 2, 2);
        let report = run(&release, Some(&data), &options(Adversary::Strong));
        if people > 0.0 {
            assert!(!report.levels[0].sampled);
            assert!((report.max_posterior.unwrap() - max).abs() < 1e-8, "{seed}");
            assert!((report.mean_posterior.unwrap() - sum / people).abs() < 1e-8, "{seed}");
            assert!(report.worst_targets[0].posterior == report.max_posterior.unwrap());
        } else {
            assert_eq!(report.max_posterior, None);
        }
    }
}

fn km_release(body: Body, k: u32, m: u32) -> Release {
    let model = Model::FormatKmAnonymity { k, m, l: None };
    let guarantee = Guarantee { model, supports: Supports::Exact };
    Release { manifest: Manifest::new("disassociation", [], guarantee, 0, 0), body }
}

#[test]
fn attackers_differ_in_what_they_know_and_nothing_depends_on_row_order() {
    let records = testkit::random::records(5, 400, 12, 3.0);
    let data = Dataset::from_records(&records);
    let parameters = Parameters::new(K::new(3).unwrap(), M::new(2).unwrap());
    let release = anonymize(&data, &parameters, &()).unwrap();
    let report = |adversary| {
        let options = options(adversary).share(0.3).targets(200);
        run(&release, Some(&data), &options)
    };
    let (strong, moderate, weak) =
        (report(Adversary::Strong), report(Adversary::Moderate), report(Adversary::Weak));
    assert!(strong.breached_pairs >= moderate.breached_pairs);
    assert!(strong.breached_pairs >= weak.breached_pairs && strong.breached_pairs > Some(0));
    assert!(strong.vulnerable_records > moderate.vulnerable_records);
    assert!(strong.printed_total >= moderate.printed_total);
    assert!(strong.levels[0].sampled && strong.levels.len() == 3);
    // Whoever knows more items has fewer candidates.
    let below = |i: usize| strong.levels[i].expected_below_k.unwrap();
    assert!(below(0) <= below(1) && below(1) <= below(2) && below(0) < below(2));

    let reversed = Dataset::from_records(records.iter().rev());
    for adversary in [Adversary::Strong, Adversary::Moderate, Adversary::Weak] {
        let options = options(adversary).targets(200);
        let one = rayon_pool(1, || run(&release, Some(&data), &options));
        let two = rayon_pool(2, || run(&release, Some(&reversed), &options));
        assert_eq!(one, two);
    }
}

fn rayon_pool<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
}

#[test]
fn the_release_alone_says_something_too() {
    let data = Dataset::from_records(testkit::random::records(6, 300, 10, 3.0));
    let parameters = Parameters::new(K::new(3).unwrap(), M::new(2).unwrap());
    let release = anonymize(&data, &parameters, &()).unwrap();
    let kernel = kernel(3, 2);
    let options = Options::default().targets(100).clusters(5).worlds(20);
    let report = attack(&release, None, &options, &kernel.with_refusals(), &()).unwrap();
    assert!(!report.original && report.vulnerable_records.is_none());
    assert!(report.levels[0].targets > 0 && report.levels[0].posterior.guess_right.is_none());
    assert!(report.max_posterior.is_some() && report.breached_pairs.is_some());
    let algorithm = report.algorithm.unwrap();
    assert!(algorithm.worlds_accepted > 0 && algorithm.worlds_accepted <= algorithm.worlds_tried);
    assert!(report.notes.iter().any(|n| n.contains("anybody")));
    let share = Options::default().share(1.5);
    let error = attack(&release, None, &share, &Kernel::unknown(), &()).unwrap_err().to_string();
    assert!(error.contains("share") && error.contains("1.5"), "{error}");
}

#[test]
fn classes_tell_what_their_members_have_in_common() {
    let paths = [["a1", "A", "*"], ["a2", "A", "*"]].map(|p| p.to_vec());
    let paths: Vec<Vec<&str>> = paths.into_iter().chain([vec!["b", "*"]]).collect();
    let body = Generalized {
        vocabulary: Vocabulary::new(["A", "b"]),
        classes: Bag::from_counted([(&[0, 1][..], 2), (&[0], 2)]),
        hierarchy: Some(Hierarchy::from_paths(&paths).unwrap()),
    };
    let guarantee = Guarantee { model: Model::KAnonymity { k: 2 }, supports: Supports::Exact };
    let manifest = Manifest::new("partition", [], guarantee, 4, 2);
    let release = Release { manifest, body: Body::Generalized(body) };
    let data =
        Dataset::from_records([vec!["a1", "b"], vec!["a2", "b"], vec!["a1"], vec!["a1", "a2"]]);
    let options = options(Adversary::Strong).known(Some(1));
    let report = run(&release, Some(&data), &options);
    // {b}: of the three non-empty sets below A, two have a1.
    assert!((report.max_posterior.unwrap() - 2.0 / 3.0).abs() < 1e-12);
    // {a1} or {a2}: b with one half, and so the other leaf.
    // Targets: a1|b, b|a1, a2|b, b|a2, a1|a2, a2|a1, two per record of two items.
    let mean = (2.0 * (2.0 / 3.0 + 0.5) / 2.0 + 0.5) / 3.0;
    assert!((report.mean_posterior.unwrap() - mean).abs() < 1e-12);
    let classes = report.classes.unwrap();
    assert_eq!((classes.count, classes.min_size, classes.mean_size), (2, 2, 2.0));
    assert_eq!((classes.certain_items, classes.homogeneous_records), (2.0 / 6.0, 0.5));
    assert_eq!(report.levels[0].below_k, Some(0.0));
    assert_eq!(report.printed_total, None);
}

#[test]
fn groups_promise_nothing_about_any_sensitive_item() {
    // Items: 0 beer, 1 meat, 2 pills, 3 test, 4 viagra, 5 wine.
    let body = Grouped {
        vocabulary: Vocabulary::new(["beer", "meat", "pills", "test", "viagra", "wine"]),
        groups: vec![Group {
            size: 3,
            records: Bag::from_counted([(&[1, 5][..], 2), (&[0, 1], 1)]),
            sensitive: vec![(2, 1), (3, 1), (4, 1)],
        }],
    };
    let guarantee = Guarantee { model: Model::Association { p: 3 }, supports: Supports::Exact };
    let manifest = Manifest::new("cahd", [], guarantee, 3, 6);
    let release = Release { manifest, body: Body::Grouped(body) };
    let options = options(Adversary::Strong).known(Some(1));
    let report = run(&release, None, &options);
    let groups = report.association.unwrap();
    assert_eq!((groups.groups, groups.min_size, groups.possibly_all_sensitive), (1, 3, 3));
    assert!((groups.max_item - 1.0 / 3.0).abs() < 1e-12);
    // Three different items in a group of three: 1 - (2/3)^3.
    assert!((groups.max_any - 19.0 / 27.0).abs() < 1e-12);
    assert!((report.max_posterior.unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(report.levels[0].min_candidates, Some(1.0));
    assert!(report.notes.iter().any(|n| n.contains("per sensitive item")));
}
