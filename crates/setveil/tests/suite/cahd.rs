//! CAHD on its paper's example and on the paper's data.

use std::collections::BTreeMap;

use serde::Deserialize;
use setveil::data::{Alpha, ItemId, P};
use setveil::measure::kl::{Queries, kl_divergence};
use setveil::methods::cahd::{Grouping, SensitiveOnly};
use setveil::methods::{cahd, perm_mondrian};
use setveil::release::{Bag, Body, Group, Grouped, Guarantee, Manifest, Model, Supports};
use setveil::verify::verify;
use setveil::{Dataset, Method, Release};
use testkit::grouped::{Items, comes_from, plain_groups};
use testkit::random;

/// `testdata/papers/cahd-2008-fig1.json`.
#[derive(Deserialize)]
pub struct Example {
    /// The degree of the published groups.
    pub p: u32,
    /// The sensitive items.
    pub sensitive: Vec<String>,
    /// Fig. 1a.
    pub records: Vec<Vec<String>>,
    groups: Vec<ExampleGroup>,
}

#[derive(Deserialize)]
struct ExampleGroup {
    size: u32,
    records: Vec<Vec<String>>,
    sensitive: BTreeMap<String, u32>,
}

impl Example {
    /// Reads Fig. 1.
    pub fn fig_1() -> Self {
        serde_json::from_str(include_str!("../../../../testdata/papers/cahd-2008-fig1.json"))
            .unwrap()
    }

    /// The published groups of Fig. 1c as a release of degree `p`.
    pub fn published(&self, p: u32) -> Release {
        let data = Dataset::from_records(&self.records);
        let vocabulary = data.vocabulary().clone();
        let id = |label: &String| vocabulary.id(label).unwrap();
        let group = |g: &ExampleGroup| {
            let records: Vec<Vec<ItemId>> =
                g.records.iter().map(|r| r.iter().map(id).collect()).collect();
            Group {
                size: g.size,
                records: Bag::from_itemsets(records.iter().map(Vec::as_slice)),
                sensitive: g.sensitive.iter().map(|(s, &count)| (id(s), count)).collect(),
            }
        };
        let groups = self.groups.iter().map(group).collect();
        let sensitive = self.sensitive.clone();
        let grouping = "as-printed";
        let parameters = [
            ("alpha", 3.into()),
            ("grouping", grouping.into()),
            ("p", p.into()),
            ("sensitive", sensitive.into()),
        ];
        let guarantee = Guarantee { model: Model::Association { p }, supports: Supports::Exact };
        Release {
            manifest: Manifest::new("cahd", parameters, guarantee, 5, 6),
            body: Body::Grouped(Grouped { vocabulary, groups }),
        }
    }
}

#[test]
fn fig_1_is_published_with_degree_2_and_no_more() {
    let example = Example::fig_1();
    assert!(verify(&example.published(example.p), &()).unwrap().holds);
    let verdict = verify(&example.published(3), &()).unwrap();
    assert!(!verdict.holds);
    let degree = verdict.violations.iter().find(|v| v.rule == "degree").unwrap();
    assert_eq!(degree.itemset, ["pregnancy test"]);
    assert_eq!((degree.support, degree.required), (2, 3));
}

/// The example is so small that one record is left over; it joins the last
/// group, on whichever side of the band it stands.
#[test]
fn fig_1_is_grouped_as_in_the_paper_up_to_the_record_in_the_middle() {
    let example = Example::fig_1();
    let data = Dataset::from_records(&example.records);
    let parameters = cahd::Parameters::new(P::new(example.p).unwrap(), example.sensitive.clone());
    let parameters = parameters.grouping(Grouping::as_printed());
    let release = cahd::anonymize(&data, &parameters, &mut random::rng(1), &()).unwrap();
    assert!(verify(&release, &()).unwrap().holds);
    let groups = plain_groups(&release);
    assert_eq!(groups.iter().map(|g| g.records.len()).collect::<Vec<_>>(), [2, 3]);
    assert!(groups.iter().all(|g| g.sensitive.len() == 1), "{groups:?}");
    let records: Vec<Items> = example.records.iter().map(|r| r.iter().cloned().collect()).collect();
    let secret: Items = example.sensitive.iter().cloned().collect();
    assert!(comes_from(&groups, &records, &secret));
    // Bob and David have the same non-sensitive items and belong together.
    let pair: Items = ["meat", "wine"].map(str::to_owned).into();
    assert!(groups.iter().any(|g| g.records.iter().filter(|r| **r == pair).count() == 2));
}

#[test]
fn the_band_of_fig_1_puts_equal_and_similar_records_side_by_side() {
    let example = Example::fig_1();
    let data = Dataset::from_records(&example.records);
    let secret = cahd::resolve(&data, &example.sensitive).unwrap();
    let split = cahd::Split::new(&data, &secret, &()).unwrap();
    let order = cahd::band_order(&split, data.item_count(), &()).unwrap();
    let names = ["Bob", "David", "Claire", "Andrea", "Ellen"];
    let line: Vec<&str> =
        order.iter().map(|&row| names[split.source[row as usize] as usize]).collect();
    let place = |name: &str| line.iter().position(|n| *n == name).unwrap();
    assert_eq!(place("Bob").abs_diff(place("David")), 1, "{line:?}");
    // Claire shares nothing with Bob and David; the band keeps her away from them.
    assert!(place("Claire").abs_diff(place("Bob")) > 1, "{line:?}");
    assert!(place("Claire").abs_diff(place("David")) > 1, "{line:?}");
}

/// p in 4..20, m in 5..20, r in 2..8: two corners, ends and middle of r, each the
/// mean over draws of sensitive items, on both data sets of the paper. Both
/// groupings are better than the competitor.
#[test]
fn utility_on_the_papers_data_is_better_than_perm_mondrians() {
    for name in ["bms-webview-1.dat.gz", "bms-webview-2.dat.gz"] {
        let Some(path) = testkit::real::data_file(name) else { return };
        let data = setveil::io::read_dataset(&path, &Default::default(), &()).unwrap().dataset;
        for (p, m) in [(4, 5), (20, 20)] {
            let p = P::new(p).unwrap();
            let mut sums = [[0.0; 3]; 3];
            for seed in 0..2 {
                let mut rng = random::rng(seed);
                let items = cahd::draw(&data, m, P::new(20).unwrap(), &mut rng).unwrap();
                let named = cahd::resolve(&data, &items).unwrap();
                let (data, _) =
                    cahd::settle_sensitive_only(&data, named, SensitiveOnly::Drop).unwrap();
                let ours = cahd::Parameters::new(p, items.clone());
                let printed = ours.clone().grouping(Grouping::as_printed());
                let [ours, printed] = [ours, printed]
                    .map(|parameters| cahd::anonymize(&data, &parameters, &mut rng, &()).unwrap());
                let parameters = perm_mondrian::Parameters::new(p, items);
                let theirs = perm_mondrian::anonymize(&data, &parameters, &()).unwrap();
                for (side, release) in [&ours, &printed, &theirs].into_iter().enumerate() {
                    assert!(verify(release, &()).unwrap().holds);
                    let Body::Grouped(body) = &release.body else { unreachable!() };
                    for (i, r) in [2, 4, 8].into_iter().enumerate() {
                        let queries = Queries { count: 300, r, seed };
                        let method = Method::of(&release.manifest).unwrap();
                        let kl = kl_divergence(method.sensitive(), body, &data, &queries, &());
                        sums[i][side] += kl.unwrap().unwrap();
                    }
                }
            }
            for [ours, printed, theirs] in sums {
                let all = format!("{name}, p = {p}, m = {m}: {ours}, {printed}, {theirs}");
                assert!(ours < theirs && printed < theirs, "{all}");
            }
        }
    }
}

#[test]
fn any_alpha_keeps_the_guarantee() {
    let data = Dataset::from_records(testkit::random::records(5, 400, 25, 4.0));
    for alpha in [1, 2, 7, 1_000_000] {
        let mut parameters = cahd::Parameters::new(P::new(6).unwrap(), ["j", "n", "s", "w"]);
        parameters.sensitive_only = SensitiveOnly::Drop;
        parameters.grouping = Grouping::AsPrinted { alpha: Alpha::new(alpha).unwrap() };
        let release = cahd::anonymize(&data, &parameters, &mut random::rng(1), &()).unwrap();
        assert!(verify(&release, &()).unwrap().holds, "{alpha}");
    }
}

#[test]
fn sensitive_items_are_drawn_among_those_rare_enough() {
    let data = Dataset::from_records(testkit::random::records(5, 400, 25, 4.0));
    let p = P::new(5).unwrap();
    let drawn = cahd::draw(&data, 6, p, &mut testkit::random::rng(1)).unwrap();
    assert_eq!(drawn, cahd::draw(&data, 6, p, &mut testkit::random::rng(1)).unwrap());
    assert_ne!(drawn, cahd::draw(&data, 6, p, &mut testkit::random::rng(2)).unwrap());
    assert_eq!(drawn.len(), 6);
    let mut parameters = cahd::Parameters::new(p, drawn);
    parameters.sensitive_only = SensitiveOnly::Drop;
    assert!(cahd::anonymize(&data, &parameters, &mut random::rng(1), &()).is_ok());
    let error = cahd::draw(&data, 26, p, &mut testkit::random::rng(1)).unwrap_err();
    assert!(error.to_string().contains("26 sensitive items"), "{error}");
}
