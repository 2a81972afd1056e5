//! Safe disassociation: against an attacker who knows the program, by the
//! enumeration of every data set of a size; its rules in `verify`; its manners.

use setveil::data::{ItemId, K, L, M};
use setveil::methods::disassociation::safe::{Basis, Eta, JoinWidth, Safe, split_cluster};
use setveil::methods::disassociation::{Parameters, anonymize, anonymize_part};
use setveil::methods::dls;
use setveil::release::{Bag, Body, Cluster, Disassociated, Release, SimpleCluster};
use setveil::verify::verify;
use setveil::{Dataset, Method};
use testkit::enumeration::{self, Setting, attack};
use testkit::lost::lost;
use testkit::random;
use testkit::sabotage_safe::SAFE;

const ONE: Setting = Setting { records: 6, terms: 4, k: 2, m: 2, max: 6, eta: 200_000 };

fn parameters(k: u32, m: u32, max: usize, safe: Safe) -> Parameters {
    Parameters::new(K::new(k).unwrap(), M::new(m).unwrap())
        .with_max_cluster_size(max)
        .with_safe(safe)
}

fn holds(release: &Release) -> bool {
    verify(release, &()).unwrap().holds
}

fn body(release: &Release) -> &Disassociated {
    match &release.body {
        Body::Disassociated(body) => body,
        _ => panic!("a disassociated release"),
    }
}

/// One cluster: VERPART rules thousands of sets out, linked chunks none.
#[test]
fn one_cluster_rules_nothing_out() {
    for setting in [
        ONE,
        Setting { records: 10, terms: 3, k: 3, max: 10, ..ONE },
        Setting { terms: 4, m: 3, ..ONE },
    ] {
        let plain = attack(&setting, enumeration::pooled_plain);
        let safe = attack(&setting, enumeration::safe);
        assert!(plain.breached > 100, "{setting:?}: {plain:?}");
        assert!(safe.breached == 0 && safe.sets > 500, "{setting:?}: {safe:?}");
        assert_eq!(plain.data_sets, safe.data_sets);
    }
}

/// The whole program: every step of the paper rules sets out, the safe ones do not.
#[test]
fn the_whole_program_rules_nothing_out() {
    let setting = Setting { max: 4, ..ONE };
    for (name, program) in [
        ("pooled, plain", enumeration::pooled_plain as enumeration::Program),
        ("pooled, linked", enumeration::pooled_linked),
        ("count-only, plain", enumeration::count_only_plain),
        ("plain with refine", enumeration::plain),
    ] {
        let count = attack(&setting, program);
        assert!(count.breached > 50, "{name}: {count:?}");
    }
    for (name, program) in [
        ("safe without refine", enumeration::safe_unrefined as enumeration::Program),
        ("safe", enumeration::safe),
        ("safe in runs", enumeration::safe_in_runs),
    ] {
        let count = attack(&setting, program);
        assert!(count.breached == 0 && count.sets > 100, "{name}: {count:?}");
    }
}

/// Hidden counts matter from k = 3 on: Lemma 2 counts a term of a term chunk once.
#[test]
fn hidden_counts_rule_nothing_out() {
    let setting = Setting { records: 9, terms: 3, k: 3, max: 6, ..ONE };
    let (plain, safe) = (attack(&setting, enumeration::plain), attack(&setting, enumeration::safe));
    assert!(plain.breached > 10 && safe.breached == 0 && safe.sets > 50, "{plain:?} {safe:?}");
}

/// No more than eta of the worlds of a cluster is lost.
#[test]
fn little_is_lost() {
    for eta in [200_000, 50_000] {
        for m in [2, 3] {
            let setting = Setting { eta, m, ..ONE };
            let lost = lost(&setting);
            let bound = f64::from(eta) / 1e6 + 1e-12;
            assert!(lost.releases > 1000 && lost.largest <= bound, "{setting:?}: {lost:?}");
            assert!(lost.largest_shift <= bound, "{setting:?}: {lost:?}");
        }
    }
    assert!(lost(&ONE).largest > 0.05, "the bound is put to the test");
}

/// Safe alone is not safe together: other parameters, another cut.
#[test]
fn two_releases_of_the_same_data_tell_more_than_each() {
    let (four, six) =
        (Setting { records: 6, terms: 3, max: 4, ..ONE }, Setting { terms: 3, ..ONE });
    let plain = enumeration::pooled_plain as enumeration::Program;
    let found = enumeration::together((&four, plain), (&six, plain));
    assert!(found.broken > 0 && found.broken < found.pairs, "{found:?}");
    let same = enumeration::together((&four, plain), (&four, plain));
    assert_eq!(same.broken, 0, "the same release twice tells nothing more");
}

#[test]
fn every_release_verifies_whatever_the_order_of_rows() {
    for seed in 0..40u64 {
        let mut records = random::records(seed, 80, 10, 3.0);
        let width = if seed % 3 == 0 { JoinWidth::ALL } else { JoinWidth::new(2).unwrap() };
        let eta = Eta::from_millionths(if seed % 2 == 0 { 50_000 } else { 400_000 }).unwrap();
        let safe = Safe { eta, join_width: width, drop_below_k: seed % 5 == 0 };
        let parameters = parameters(2 + seed as u32 % 3, 1 + seed as u32 % 4, 12, safe);
        let release = anonymize(&Dataset::from_records(&records), &parameters, &()).unwrap();
        let verdict = verify(&release, &()).unwrap();
        assert!(verdict.holds, "seed {seed}: {verdict:?}");
        records.reverse();
        let again = anonymize(&Dataset::from_records(&records), &parameters, &()).unwrap();
        assert_eq!(release, again, "seed {seed}");
        let method = Method::of(&release.manifest).unwrap();
        assert_eq!(method, Method::Disassociation(parameters.clone()));
    }
}

#[test]
fn the_method_can_be_replayed() {
    let data = Dataset::from_records(random::records(3, 80, 10, 3.0));
    let parameters = parameters(3, 2, 12, Safe::default());
    let release = anonymize(&data, &parameters, &()).unwrap();
    let method = Method::of(&release.manifest).unwrap();
    let members = method.members(&release, &data, &()).unwrap().expect("they are known");
    let algorithm = method.cluster_algorithm(data.vocabulary()).expect("there is one");
    let leaves: Vec<&SimpleCluster> =
        body(&release).clusters.iter().flat_map(Cluster::leaves).collect();
    assert!(leaves.len() > 3 && leaves.len() == members.len());
    for (leaf, members) in leaves.into_iter().zip(members) {
        let rows: Vec<&[ItemId]> = members.iter().map(|&r| data.record(r as usize)).collect();
        let mut again = (algorithm.publish)(&rows);
        again.record_chunks.sort_unstable();
        assert_eq!(again.record_chunks, leaf.record_chunks);
    }
}

#[test]
fn saboteurs_are_caught_with_the_right_rule() {
    let mut caught = vec![0; SAFE.len()];
    for seed in 0..60 {
        let (k, max) = if seed % 2 == 0 { (3, 8) } else { (2, 10) };
        let data = Dataset::from_records(random::records(seed, 90, 9, 2.5));
        let release = anonymize(&data, &parameters(k, 2, max, Safe::default()), &()).unwrap();
        assert!(holds(&release));
        for (saboteur, caught) in SAFE.iter().zip(&mut caught) {
            let mut broken = release.clone();
            if (saboteur.act)(&mut broken) {
                let verdict = verify(&broken, &()).unwrap();
                let found = verdict.violations.iter().any(|v| v.rule == saboteur.rule);
                assert!(!verdict.holds && found, "{}: {verdict:?}", saboteur.name);
                *caught += 1;
            }
        }
    }
    for (saboteur, caught) in SAFE.iter().zip(caught) {
        assert!(caught > 0, "{} never acted", saboteur.name);
    }
}

/// Records in two families of terms, each with eight neighbours of a ring of 210:
/// neighbours are linked, and there are more sets of five than can be searched.
/// `x` is in all records.
fn two_rings() -> Dataset {
    let ring = |name: char, at: usize| (0..8).map(move |i| format!("{name}{:03}", (at + i) % 210));
    // 17 has no factor in common with 210: the second ring goes round another way.
    Dataset::from_records((0..420).map(|r| {
        let both = ring('a', r / 2).chain(ring('b', r * 17 % 210));
        both.chain(["x".to_owned()]).collect::<Vec<String>>()
    }))
}

/// Clusters whose links could rule sets out are published as units. Somebody who
/// publishes the linked chunks all the same is caught.
#[test]
fn chunks_without_a_witness_are_caught() {
    let data = two_rings();
    let rows: Vec<&[ItemId]> = data.records().collect();
    let (_, basis) = split_cluster(&rows, K::new(2).unwrap(), M::new(6).unwrap(), Eta::default());
    assert_eq!(basis, Basis::NoWitness);
    let six = parameters(2, 6, 420, Safe::default()).with_refine(false);
    let mut release = anonymize(&data, &six, &()).unwrap();
    assert!(holds(&release));
    let chunk = |names: &[char]| {
        let of = |item: &ItemId| data.vocabulary().label(*item).starts_with(names);
        let part = |row: &&[ItemId]| row.iter().copied().filter(of).collect();
        let parts: Vec<Vec<ItemId>> = rows.iter().map(part).collect();
        Bag::from_itemsets(parts.iter().map(Vec::as_slice))
    };
    let record_chunks = vec![chunk(&['a', 'x']), chunk(&['b'])];
    let linked = SimpleCluster { size: 420, record_chunks, term_chunk: Vec::new() };
    let Body::Disassociated(body) = &mut release.body else { unreachable!("of this method") };
    body.clusters = vec![Cluster::Simple(linked)];
    body.clusters[0].canonicalize();
    let verdict = verify(&release, &()).unwrap();
    let rules: Vec<&str> = verdict.violations.iter().map(|v| v.rule).collect();
    assert_eq!(rules, ["safe-witness"]);
}

#[test]
fn rare_terms_can_be_left_out() {
    let mut records = random::records(5, 60, 6, 2.5);
    records[0].push("unique".into());
    records.push(vec!["alone".into()]);
    let data = Dataset::from_records(&records);
    let safe = Safe { drop_below_k: true, ..Safe::default() };
    let method = Method::Disassociation(parameters(3, 2, 10, safe));
    let release = method.run(&data, &()).unwrap().release;
    let vocabulary = &body(&release).vocabulary;
    assert!(vocabulary.id("unique").is_none() && vocabulary.id("alone").is_none());
    assert_eq!(release.manifest.records, 60);
    assert!(holds(&release));
}

#[test]
fn what_is_not_offered_is_refused() {
    let data = Dataset::from_records(random::records(5, 60, 6, 2.5));
    let sensitive = parameters(3, 2, 10, Safe::default()).with_sensitive(["a"], L::new(2).unwrap());
    let error = anonymize(&data, &sensitive, &()).unwrap_err().to_string();
    assert!(error.contains("sensitive"), "{error}");
    let safe = parameters(3, 2, 10, Safe::default());
    assert!(dls::anonymize(&data, &safe, &()).is_err(), "DLS has no safe form");
    assert!(anonymize_part(&data, &safe, &()).is_err(), "clusters of all data are joined");
    assert!(anonymize(&data, &parameters(3, 2, 6_000, Safe::default()), &()).is_err());
    for wrong in [r#"{"k":3,"m":2,"eta":0.05}"#, r#"{"k":3,"m":2,"safe":true,"eta":0.7}"#] {
        assert!(serde_json::from_str::<Parameters>(wrong).is_err(), "{wrong}");
    }
}
