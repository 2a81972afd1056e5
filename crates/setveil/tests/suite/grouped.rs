//! What CAHD and PermMondrian both promise: every tiny instance, the rows in
//! any order, any number of threads, and a verifier that sees every damage.

use setveil::data::P;
use setveil::methods::cahd::SensitiveOnly;
use setveil::methods::{cahd, perm_mondrian};
use setveil::verify::verify;
use setveil::{Dataset, Error, Release, Result, io};
use testkit::grouped::{Items, comes_from, degree_holds, grouping_exists, plain_groups, saboteurs};
use testkit::random::{self, label};

/// A release, the non-sensitive parts of its groups, and the two holders' groups.
type Seen = (Release, Vec<Vec<Items>>, [Option<usize>; 2]);

/// Every method that publishes groups.
pub const METHODS: [&str; 3] = ["cahd", "cahd as printed", "perm-mondrian"];

/// Runs a method by its name; records with sensitive items only are left out.
pub fn anonymize(method: &str, data: &Dataset, p: u32, sensitive: &[&str]) -> Result<Release> {
    anonymize_but(method, data, p, sensitive, SensitiveOnly::Drop)
}

fn anonymize_but(
    method: &str,
    data: &Dataset,
    p: u32,
    sensitive: &[&str],
    sensitive_only: SensitiveOnly,
) -> Result<Release> {
    let p = P::new(p)?;
    let labels = sensitive.iter().copied();
    if method == "perm-mondrian" {
        let parameters = perm_mondrian::Parameters::new(p, labels).sensitive_only(sensitive_only);
        return perm_mondrian::anonymize(data, &parameters, &());
    }
    let mut parameters = cahd::Parameters::new(p, labels).sensitive_only(sensitive_only);
    if method == "cahd as printed" {
        parameters = parameters.grouping(cahd::Grouping::as_printed());
    }
    cahd::anonymize(data, &parameters, &mut random::rng(8), &())
}

fn items(record: &[String]) -> Items {
    record.iter().cloned().collect()
}

/// Calls `check` with every bag of `n` non-empty records over `labels`.
fn every_bag(labels: &[&str], n: usize, check: &mut impl FnMut(&[Vec<String>])) {
    let kinds: Vec<Vec<String>> = (1..1usize << labels.len())
        .map(|set| {
            let chosen = labels.iter().enumerate().filter(|(i, _)| set & (1 << i) != 0);
            chosen.map(|(_, l)| (*l).to_owned()).collect()
        })
        .collect();
    let mut choice = vec![0; n];
    loop {
        let bag: Vec<Vec<String>> = choice.iter().map(|&k: &usize| kinds[k].clone()).collect();
        check(&bag);
        let Some(last) = choice.iter().rposition(|&k| k + 1 < kinds.len()) else { return };
        let next = choice[last] + 1;
        choice[last..].fill(next);
    }
}

/// Without records that hold sensitive items only, a release exists exactly
/// when each sensitive item is in at most 1/p of the records; then every method
/// publishes one that holds and that comes from the data. With such a record
/// nothing is published unless it may be left out.
fn every_tiny_instance(labels: &[&str], sensitive: &[&str], n: usize) {
    let secret: Items = sensitive.iter().map(|s| (*s).to_owned()).collect();
    let (mut published, mut refused) = (0, 0);
    every_bag(labels, n, &mut |bag| {
        let data = Dataset::from_records(bag);
        let records: Vec<Items> =
            bag.iter().map(|r| items(r)).filter(|r| !r.is_subset(&secret)).collect();
        let occurring: Vec<&str> =
            sensitive.iter().copied().filter(|s| data.vocabulary().id(s).is_some()).collect();
        if occurring.is_empty() {
            return;
        }
        let count = |s: &&&str| records.iter().filter(|r| r.contains(**s)).count();
        let left: Vec<&&str> = occurring.iter().filter(|s| count(s) > 0).collect();
        for p in 2..=(n as u32 + 1) {
            let allowed = left.iter().all(|s| count(s) * p as usize <= records.len());
            let exists = grouping_exists(&records, &secret, p as usize);
            assert_eq!(allowed && !left.is_empty(), exists && !left.is_empty(), "{bag:?}, {p}");
            for method in METHODS {
                if records.len() < n {
                    let kept = anonymize_but(method, &data, p, &occurring, SensitiveOnly::Refuse);
                    assert!(matches!(kept, Err(Error::Infeasible { .. })), "{method}: {bag:?}");
                }
                match anonymize(method, &data, p, &occurring) {
                    Ok(release) => {
                        assert!(allowed, "{method} published {bag:?} with p = {p}");
                        let verdict = verify(&release, &()).unwrap();
                        assert!(verdict.holds, "{method}, p = {p}: {bag:?}: {verdict:?}");
                        let groups = plain_groups(&release);
                        assert!(groups.iter().all(|g| degree_holds(g, p as usize)), "{groups:?}");
                        assert!(comes_from(&groups, &records, &secret), "{bag:?}: {groups:?}");
                        published += 1;
                    }
                    Err(Error::Infeasible { .. }) => {
                        assert!(!allowed || left.is_empty(), "{method} refused {bag:?} with {p}");
                        refused += 1;
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        }
    });
    assert!(published > 0 && refused > 0, "{published} published, {refused} refused");
}

#[test]
fn a_release_exists_for_every_tiny_instance_that_the_histogram_allows() {
    for n in 2..=4 {
        every_tiny_instance(&["a", "b", "x", "y"], &["x", "y"], n);
    }
    for n in 5..=7 {
        every_tiny_instance(&["a", "x", "y"], &["x", "y"], n);
    }
}

fn bytes(release: &Release) -> Vec<(String, Vec<u8>)> {
    let dir = tempfile::tempdir().unwrap();
    io::write_release(release, &dir.path().join("release"), false).unwrap();
    ["groups.jsonl", "manifest.json"]
        .map(|name| {
            (name.to_owned(), std::fs::read(dir.path().join("release").join(name)).unwrap())
        })
        .to_vec()
}

#[test]
fn row_order_and_threads_leave_no_trace() {
    let rows = random::records(7, 600, 30, 4.0);
    let sensitive = ["k", "p", "u", "z"];
    for method in METHODS {
        for p in [2, 5, 9] {
            let expected =
                bytes(&anonymize(method, &Dataset::from_records(&rows), p, &sensitive).unwrap());
            let mut shuffled = rows.clone();
            rand::seq::SliceRandom::shuffle(&mut shuffled[..], &mut random::rng(p.into()));
            shuffled[..300].reverse();
            let data = Dataset::from_records(&shuffled);
            for threads in [1, 4] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let found = pool.install(|| anonymize(method, &data, p, &sensitive).unwrap());
                assert_eq!(bytes(&found), expected, "{method}, p = {p}, {threads} threads");
            }
        }
    }
}

/// Whoever of a group has the sensitive item: as long as the groups are the
/// same, so is every published byte.
#[test]
fn no_published_order_tells_which_row_is_the_sensitive_one() {
    let qid = ["a b", "a c", "b c", "d e", "d f", "e f", "a d", "b e", "c f"];
    let release_with = |method: &str, holders: &[usize]| {
        let rows = qid.iter().enumerate().map(|(i, items)| {
            let secret = holders.iter().position(|&h| h == i).map(|h| ["x", "y"][h]);
            items.split(' ').chain(secret).collect::<Vec<_>>()
        });
        let release = anonymize(method, &Dataset::from_records(rows), 2, &["x", "y"]).unwrap();
        let groups: Vec<Vec<Items>> =
            plain_groups(&release).into_iter().map(|g| g.records).collect();
        (release, groups)
    };
    for method in METHODS {
        let mut same = 0;
        let mut seen: Vec<Seen> = Vec::new();
        for x in 0..qid.len() {
            for y in (0..qid.len()).filter(|&y| y != x) {
                let (release, groups) = release_with(method, &[x, y]);
                // The non-sensitive parts are distinct, so they say who is in which group.
                let group_of = |i: usize| {
                    let record: Items = qid[i].split(' ').map(str::to_owned).collect();
                    groups.iter().position(|g| g.contains(&record))
                };
                let homes = [group_of(x), group_of(y)];
                for (other, other_groups, other_homes) in &seen {
                    if *other_groups == groups && *other_homes == homes {
                        same += 1;
                        assert_eq!(bytes(other), bytes(&release), "{method}: {x}, {y}");
                    }
                }
                seen.push((release, groups, homes));
            }
        }
        assert!(same > 0, "{method}: no two holders share a grouping, so nothing was tested");
    }
}

#[test]
fn every_saboteur_is_caught_with_the_right_witness() {
    let rows = random::records(3, 200, 20, 4.0);
    let data = Dataset::from_records(&rows);
    for method in METHODS {
        let release = anonymize(method, &data, 4, &["m", "q", "t"]).unwrap();
        assert!(verify(&release, &()).unwrap().holds);
        for (name, rule, damage) in saboteurs() {
            let mut damaged = release.clone();
            damage(&mut damaged);
            let verdict = verify(&damaged, &()).unwrap();
            assert!(!verdict.holds, "{method}: {name} was not caught");
            assert!(
                verdict.violations.iter().any(|v| v.rule == rule),
                "{method}: {name}: expected {rule}, found {:?}",
                verdict.violations
            );
        }
    }
}

#[test]
fn a_witness_names_the_item_and_both_numbers() {
    let data = Dataset::from_records([vec!["a", "x"], vec!["a"], vec!["b"], vec!["b", "c"]]);
    let mut release = anonymize("cahd", &data, 2, &["x"]).unwrap();
    release.manifest.guarantee.model = setveil::release::Model::Association { p: 9 };
    release.manifest.parameters.insert("p".into(), 9.into());
    let verdict = verify(&release, &()).unwrap();
    let degree = verdict.violations.iter().find(|v| v.rule == "degree").unwrap();
    assert_eq!((degree.itemset.as_slice(), degree.required), (&["x".to_owned()][..], 9));
    assert!(degree.r#where.starts_with("groups.jsonl:"), "{degree:?}");
}

#[test]
fn a_release_survives_writing_and_reading() {
    let rows = random::records(11, 300, 25, 3.0);
    let release = anonymize("cahd", &Dataset::from_records(&rows), 5, &["j", "v"]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("release");
    io::write_release(&release, &path, false).unwrap();
    let read = io::read_release(&path).unwrap();
    assert_eq!(read.body, release.body);
    assert!(verify(&read, &()).unwrap().holds);
}

#[test]
fn too_frequent_items_are_named_with_the_largest_degree_that_works() {
    let rows = (0..10).map(|i| match i {
        0..3 => vec![label(i), "x".into()],
        3..5 => vec![label(i), "y".into()],
        _ => vec![label(i)],
    });
    let data = Dataset::from_records(rows);
    for method in METHODS {
        let error = anonymize(method, &data, 4, &["x", "y"]).unwrap_err().to_string();
        assert!(error.contains("\"x\"") && error.contains("largest p that works is 3"), "{error}");
        assert!(anonymize(method, &data, 3, &["x", "y"]).is_ok());
        let error = anonymize(method, &data, 11, &["y"]).unwrap_err().to_string();
        assert!(error.contains("largest p that works is 5"), "{error}");
        let error = anonymize(method, &data, 2, &["x", "nobody"]).unwrap_err();
        assert!(matches!(error, Error::Unknown { .. }));
        assert!(error.to_string().contains("\"nobody\""), "{error}");
        assert!(anonymize(method, &data, 2, &[]).is_err());
        assert!(anonymize(method, &Dataset::default(), 2, &["x"]).is_err());
    }
    let everybody = Dataset::from_records([vec!["a", "x"], vec!["b", "x"]]);
    let error = anonymize("cahd", &everybody, 2, &["x"]).unwrap_err().to_string();
    assert!(error.contains("no degree works"), "{error}");
}

#[test]
fn dense_sensitive_data_is_grouped_too() {
    // Every record is sensitive, some with several items, and p is as large as it can be.
    for seed in 0..40 {
        let rows = random::records(seed, 120, 12, 3.0);
        let data = Dataset::from_records(&rows);
        let sensitive = ["d", "e", "f", "g", "h", "i", "j", "k", "l"];
        // Records with sensitive items only are dropped, and the rest decides.
        let named: Vec<_> = sensitive.iter().filter_map(|s| data.vocabulary().id(s)).collect();
        let (data, _) = cahd::settle_sensitive_only(&data, named, SensitiveOnly::Drop).unwrap();
        let supports = data.supports();
        let most = sensitive.iter().filter_map(|s| data.vocabulary().id(s));
        let most = most.map(|i| supports[i as usize]).max().unwrap();
        let present: Vec<&str> =
            sensitive.iter().copied().filter(|s| data.vocabulary().id(s).is_some()).collect();
        for method in METHODS {
            for p in 2..=(data.len() as u32 / most) {
                let release = anonymize(method, &data, p, &present).unwrap();
                let verdict = verify(&release, &()).unwrap();
                assert!(verdict.holds, "{method}, seed {seed}, p = {p}: {verdict:?}");
            }
        }
    }
}
