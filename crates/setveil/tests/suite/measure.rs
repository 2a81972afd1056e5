//! Every measure against a naive count over texts.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use setveil::data::Vocabulary;
use setveil::measure::Options;
use setveil::mine::{Transactions, top_k};
use setveil::reconstruct::{self, reconstruct};
use setveil::release::{Body, Release};
use setveil::{Dataset, Hierarchy, workflow};
use testkit::naive_measures::{self as naive, Counted};
use testkit::{random, releases};

fn close(found: Option<f64>, expected: f64, what: &str) {
    let found = found.unwrap_or_else(|| panic!("{what} is missing"));
    assert!((found - expected).abs() < 1e-12, "{what}: {found} instead of {expected}");
}

fn reconstructed(release: &Release, options: &Options) -> Counted {
    let drawing = reconstruct::Options::default().seed(options.seed).terms(options.terms);
    let sets = 0..options.reconstructions.get();
    sets.flat_map(|n| naive::records(&reconstruct(release, drawing, n).unwrap())).collect()
}

fn tree() -> Hierarchy {
    let paths: Vec<Vec<String>> = (0..9)
        .map(|i| {
            let parent = format!("{}", char::from(b'A' + i as u8 / 3));
            vec![random::label(i), parent, "*".into()]
        })
        .collect();
    Hierarchy::from_paths(&paths).unwrap()
}

#[test]
fn all_measures_of_a_disassociated_release_agree_with_a_naive_count() {
    let none = |_: &str, _: &str| false;
    for seed in 0..60 {
        let records = random::records(seed, 40, 9, 2.5);
        let (truth, release) = releases::disassociated(seed, &records, 12, seed % 2 == 0);
        let options = Options::default()
            .top(5 + seed as usize)
            .re_range(1..6)
            .reconstructions(NonZeroU32::new(1 + seed as u32 % 3).unwrap())
            .seed(seed);
        let found = workflow::evaluate(&release, &truth, &options, &()).unwrap();
        let (original, chunks) = (naive::records(&truth), naive::chunk_records(&release));
        let sets = options.reconstructions.get();
        let worlds = reconstructed(&release, &options);
        close(found.tlost, naive::tlost(&original, &chunks, 2), "tlost");
        close(found.pairs_kept, naive::pairs_kept(&original, &chunks), "pairs_kept");
        close(found.pairs_limit, naive::pairs_limit(&original, 2), "pairs_limit");
        let re = |sp, n| naive::relative_error(&original, sp, n, 1..6).unwrap();
        close(found.re, re(&worlds, sets), "re");
        close(found.re_a, re(&chunks, 1), "re_a");
        let top = |records| naive::top_itemsets(records, options.top, &none);
        let deviation = |other| naive::top_k_deviation(&top(&original), &top(other));
        close(found.tkd, deviation(&worlds), "tkd");
        close(found.tkd_a, deviation(&chunks), "tkd_a");
        assert_eq!(found.tkd_ml2, None);
        assert!(found.pairs_kept.unwrap() <= 1.0 && found.tlost.unwrap() <= 1.0);
    }
}

/// Records with the ancestors of their items, without the root.
fn extended(records: &Counted, tree: &Hierarchy) -> Counted {
    let up = |label: &String| {
        let node = tree.node(label).unwrap();
        let parent = tree.parent(node);
        let labels = [node, parent].map(|n| tree.label(n).to_owned());
        labels.into_iter().filter(|l| l != "*")
    };
    records.iter().map(|(r, c)| (r.iter().flat_map(up).collect(), *c)).collect()
}

fn related(tree: &Hierarchy, a: &str, b: &str) -> bool {
    let (a, b) = (tree.node(a).unwrap(), tree.node(b).unwrap());
    tree.parent(a) == b || tree.parent(b) == a
}

#[test]
fn the_multi_level_deviation_agrees_with_a_naive_count() {
    let tree = tree();
    for seed in 0..25 {
        let records = random::records(seed, 30, 9, 2.0);
        let refuse = |a: &str, b: &str| related(&tree, a, b);
        let options =
            Options::default().top(4 + seed as usize).hierarchy(Some(tree.clone().into()));
        let top = |records: &Counted| {
            naive::top_itemsets(&extended(records, &tree), options.top, &refuse)
        };
        let (truth, release) = releases::disassociated(seed, &records, 10, true);
        let found = workflow::evaluate(&release, &truth, &options, &()).unwrap();
        let original = top(&naive::records(&truth));
        let expected = naive::top_k_deviation(&original, &top(&reconstructed(&release, &options)));
        close(found.tkd_ml2, expected, "tkd_ml2 of chunks");

        let (truth, release) = releases::generalized(seed, &records, &tree);
        let found = workflow::evaluate(&release, &truth, &options, &()).unwrap();
        let Body::Generalized(body) = &release.body else { panic!() };
        let text = |items: &[u32]| body.vocabulary.texts(items).into_iter().collect();
        let classes: Counted =
            body.classes.iter().map(|(items, count)| (text(items), count.into())).collect();
        let expected = naive::top_k_deviation(&original, &top(&classes));
        close(found.tkd_ml2, expected, "tkd_ml2 of classes");
        assert_eq!(
            (found.tlost, found.tkd_a, found.re_a, found.pairs_kept),
            (None, None, None, None)
        );
    }
}

#[test]
fn grouped_releases_have_supports_and_no_chunks() {
    let records = random::records(3, 60, 8, 3.0);
    let (truth, release) = releases::grouped(3, &records, 10, &["b", "e"]);
    let options = Options::default().re_range(0..8).top(50);
    let found = workflow::evaluate(&release, &truth, &options, &()).unwrap();
    let worlds = reconstructed(&release, &options);
    let original = naive::records(&truth);
    close(found.re, naive::relative_error(&original, &worlds, 1, 0..8).unwrap(), "re");
    assert_eq!((found.pairs_limit, found.pairs_kept, found.tlost), (None, None, None));
}

#[test]
fn the_original_of_another_release_is_refused() {
    let (_, release) = releases::disassociated(1, &random::records(1, 20, 6, 2.0), 8, true);
    let other = Dataset::from_records([["x", "y"]]);
    let error =
        workflow::evaluate(&release, &other, &Options::default(), &()).unwrap_err().to_string();
    assert!(error.contains("not in the original"), "{error}");
}

/// A record of 267 items: 2^267 itemsets of support 1, of which the smallest
/// come first and no more than the top are touched.
#[test]
fn long_records_do_not_explode() {
    let mut transactions = Transactions::builder(300);
    transactions.push(&(0..267).collect::<Vec<_>>(), 1);
    transactions.push(&[280, 281], 3);
    let top = top_k(&transactions.build(&()).unwrap(), 1000, &|_, _| true, &()).unwrap();
    let sets: Vec<(usize, u64)> = top.iter().map(|f| (f.items.len(), f.support)).collect();
    assert_eq!(sets[..4], [(1, 3), (1, 3), (2, 3), (1, 1)]);
    assert_eq!(sets.iter().filter(|s| **s == (1, 1)).count(), 267);
    assert_eq!(sets.len(), 1000);
    // 3 + 267 sets come before the pairs, {0, _} are 266 and {1, _} are 265 of these.
    assert_eq!(top[999].items, [2, 2 + 1000 - (3 + 267 + 266 + 265)]);
}

#[test]
fn the_miner_agrees_with_brute_force_ties_included() {
    for seed in 0..40 {
        let records = random::records(seed, 25, 10, 3.5);
        let data = Dataset::from_records(&records);
        let k = 1 + seed as usize * 7;
        let transactions = Transactions::from_dataset(&data, &()).unwrap();
        let found = top_k(&transactions, k, &|_, _| true, &()).unwrap();
        let texts = |v: &Vocabulary| -> BTreeSet<Vec<String>> {
            found.iter().map(|f| v.texts(&f.items)).collect()
        };
        let expected = naive::top_itemsets(&naive::records(&data), k, &|_, _| false);
        assert_eq!(texts(data.vocabulary()), expected);
    }
}
