//! Partitionings that are chosen by name or plugged in, and data that is
//! anonymized in parts.

use proptest::prelude::*;
use setveil::data::{ItemId, K, L, M};
use setveil::methods::disassociation::{
    self, ChunkedCluster, Chunker, Chunking, Clustering, Horpart, Parameters, Verpart,
    VerticalPartitioning, anonymize, anonymize_part, anonymize_with, publish,
};
use setveil::methods::dls;
use setveil::release::{Bag, Body, Cluster, Disassociated};
use setveil::verify::verify;
use setveil::{Dataset, Error, Method, Progress, Release, Result, io};

#[path = "../../examples/own_partitioning.rs"]
mod own_partitioning;

fn parameters(k: u32, m: u32) -> Parameters {
    Parameters::new(K::new(k).unwrap(), M::new(m).unwrap())
}

fn body(release: &Release) -> &Disassociated {
    match &release.body {
        Body::Disassociated(body) => body,
        _ => panic!("a disassociated release"),
    }
}

fn sample(seed: u64) -> Vec<Vec<String>> {
    testkit::random::records(seed, 300, 25, 4.0)
}

#[test]
fn the_example_runs() {
    own_partitioning::main().unwrap();
}

#[test]
fn partitionings_are_chosen_by_name_and_stand_in_the_manifest() {
    let data = Dataset::from_records(sample(5));
    let whole = parameters(3, 2).with_clustering(Clustering::Whole);
    let release = anonymize(&data, &whole, &()).unwrap();
    assert!(verify(&release, &()).unwrap().holds);
    assert_eq!(body(&release).clusters.len(), 1);
    assert_eq!(body(&release).clusters[0].size(), 300);
    assert_eq!(release.manifest.parameters["clustering"], "whole");
    assert!(!release.manifest.parameters.contains_key("chunking"));

    let bare = parameters(3, 2).with_chunking(Chunking::TermChunks);
    let release = anonymize(&data, &bare, &()).unwrap();
    assert!(verify(&release, &()).unwrap().holds);
    let leaves = || body(&release).clusters.iter().flat_map(Cluster::leaves);
    assert!(leaves().all(|leaf| leaf.record_chunks.is_empty()));
    assert!(body(&release).clusters.iter().any(|c| !c.chunks().is_empty()), "terms are shared");
    assert_eq!(release.manifest.parameters["chunking"], "term-chunks");

    let usual = anonymize(&data, &parameters(3, 2), &()).unwrap();
    let keys: Vec<&str> = usual.manifest.parameters.keys().map(String::as_str).collect();
    assert_eq!(keys, ["k", "m", "max_cluster_size", "refine"], "as it always was");
    let named = parameters(3, 2).with_clustering(String::from("horpart").into());
    assert_eq!(anonymize(&data, &named, &()).unwrap(), usual);
    // By code with the same steps it is the same release.
    let (k, m) = (named.k, named.m);
    let plugged = anonymize_with(&data, &named, &Horpart, &Verpart { k, m }, &()).unwrap();
    assert_eq!(plugged, usual);
}

#[test]
fn what_the_manifest_names_is_found_again_or_refused() {
    let data = Dataset::from_records(sample(6));
    for chosen in [
        parameters(3, 2).with_clustering(Clustering::Whole),
        parameters(4, 2).with_chunking(Chunking::TermChunks),
        parameters(3, 3).with_refine(false),
    ] {
        let release = anonymize(&data, &chosen, &()).unwrap();
        let method = Method::of(&release.manifest).unwrap();
        assert_eq!(method, Method::Disassociation(chosen));
        assert_eq!(method.run(&data, &()).unwrap().release, release);
        let members = method.members(&release, &data, &()).unwrap().expect("the same clusters");
        assert_eq!(members.iter().map(Vec::len).sum::<usize>(), data.len());
    }
    // A name that is not built in can be read, but not run.
    let own = parameters(3, 2).with_clustering(Clustering::Own("mine".into()));
    let error = anonymize(&data, &own, &()).unwrap_err().to_string();
    assert!(error.contains("clustering = `mine`"), "{error}");
    let own = parameters(3, 2).with_chunking(Chunking::Own("mine".into()));
    assert!(anonymize(&data, &own, &()).unwrap_err().to_string().contains("chunking = `mine`"));
    // DLS has a vertical step of its own.
    let other = parameters(3, 2).with_chunking(Chunking::TermChunks);
    assert!(dls::anonymize(&data, &other, &()).is_err());
    let whole = parameters(3, 2).with_clustering(Clustering::Whole);
    assert!(verify(&dls::anonymize(&data, &whole, &()).unwrap(), &()).unwrap().holds);
}

/// VERPART for the clusters, and every shared term alone in its chunk.
struct SharesAlone(Verpart);

impl VerticalPartitioning for SharesAlone {
    type Scratch = <Verpart as VerticalPartitioning>::Scratch;

    fn name(&self) -> &str {
        "shares-alone"
    }

    fn partition(
        &self,
        scratch: &mut Self::Scratch,
        records: &[&[ItemId]],
        hidden: &dyn Fn(ItemId) -> bool,
        progress: &dyn Progress,
    ) -> Result<ChunkedCluster> {
        self.0.partition(scratch, records, hidden, progress)
    }

    fn share(&self, terms: &mut Chunker, _: K, _: M, _: &dyn Progress) -> Result<Vec<Bag>> {
        let itemsets = terms.itemsets();
        let mut items: Vec<ItemId> = itemsets.concat();
        items.sort_unstable();
        let alone = |run: &[ItemId]| Bag::from_counted([(&run[..1], run.len() as u32)]);
        Ok(items.chunk_by(|a, b| a == b).map(alone).collect())
    }
}

#[test]
fn refine_uses_the_chosen_vertical_step() {
    let data = Dataset::from_records(testkit::random::records(8, 600, 60, 4.0));
    let parameters = parameters(4, 2).with_max_cluster_size(8);
    let vertical = SharesAlone(Verpart { k: parameters.k, m: parameters.m });
    let release = anonymize_with(&data, &parameters, &Horpart, &vertical, &()).unwrap();
    assert!(verify(&release, &()).unwrap().holds);
    let shared = |release: &Release| -> Vec<usize> {
        fn collect(cluster: &Cluster, sizes: &mut Vec<usize>) {
            if let Cluster::Joint(joint) = cluster {
                sizes.extend(joint.shared_chunks.iter().map(|chunk| chunk.domain().len()));
                joint.children.iter().for_each(|child| collect(child, sizes));
            }
        }
        let mut sizes = Vec::new();
        body(release).clusters.iter().for_each(|cluster| collect(cluster, &mut sizes));
        sizes
    };
    assert!(!shared(&release).is_empty() && shared(&release).iter().all(|&size| size == 1));
    let usual = anonymize(&data, &parameters, &()).unwrap();
    assert!(shared(&usual).iter().any(|&size| size > 1), "VERPART's loop puts terms together");
}

/// The lines of `clusters.jsonl`.
fn lines(release: &Release) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("release");
    io::write_release(release, &path, false).unwrap();
    let text = std::fs::read_to_string(path.join("clusters.jsonl")).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn parts_are_put_together_in_canonical_order() {
    let records = testkit::random::records(21, 900, 40, 4.0);
    let parameters = parameters(3, 2);
    // Parts with vocabularies of their own: each leaves out other terms.
    let part = |p: usize| {
        let own = records.iter().skip(p).step_by(3);
        Dataset::from_records(own.map(move |r| {
            r.iter().filter(move |item| item.bytes().map(usize::from).sum::<usize>() % 4 != p)
        }))
    };
    let parts: Vec<Disassociated> =
        (0..3).map(|p| anonymize_part(&part(p), &parameters, &()).unwrap().body).collect();
    let total: u64 = parts.iter().map(Disassociated::records).sum();
    let merged = publish(&parameters, Disassociated::merge(parts.clone()).unwrap());
    assert_eq!(merged.manifest.records, total);
    assert!(verify(&merged, &()).unwrap().holds, "canonical order is one of the rules");
    // The order of the parts is gone, and merging twice is merging once.
    let mut turned = parts.clone();
    turned.rotate_left(1);
    assert_eq!(Disassociated::merge(turned).unwrap(), *body(&merged));
    let two = Disassociated::merge(parts[..2].iter().cloned()).unwrap();
    let again = Disassociated::merge([parts[2].clone(), two]).unwrap();
    assert_eq!(again, *body(&merged));
    // Line by line it is what the parts say, whatever the numbers of the items.
    let mut expected: Vec<String> =
        parts.iter().flat_map(|part| lines(&publish(&parameters, part.clone()))).collect();
    let mut found = lines(&merged);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn one_part_is_the_whole() {
    let data = Dataset::from_records(sample(9));
    let part = anonymize_part(&data, &parameters(3, 2), &()).unwrap();
    assert!(part.handed_back.is_empty());
    let merged = Disassociated::merge([part.body]).unwrap();
    let whole = anonymize(&data, &parameters(3, 2), &()).unwrap();
    assert_eq!(publish(&parameters(3, 2), merged), whole);
    assert_eq!(Disassociated::merge([]).unwrap(), Disassociated::default());
}

#[test]
fn a_part_that_is_too_small_is_handed_back_and_what_it_cannot_hide_is_an_error() {
    let l = L::new(2).unwrap();
    let sensitive = parameters(3, 2).with_sensitive(["flu", "hiv"], l);
    let data = |rows: &[&[&str]]| Dataset::from_records(rows.iter().map(|r| r.iter()));
    for anonymize_part in [disassociation::anonymize_part, dls::anonymize_part] {
        // Too few records.
        let few = data(&[&["a"], &["b"]]);
        let part = anonymize_part(&few, &sensitive, &()).unwrap();
        assert_eq!((part.handed_back, part.body.records()), (vec![0, 1], 0));
        // Neither sensitive term is there, or one of them, or both.
        let without = data(&[&["a"], &["a", "b"], &["a", "b"], &["b"]]);
        let ab: &[&str] = &["a", "b"];
        let with = data(&[&["a", "flu"], ab, ab, &["b"], ab, ab]);
        let both = data(&[&["a", "flu"], &["a", "b", "hiv"], ab, &["b"], ab, ab]);
        let mut bodies = Vec::new();
        for data in [without, with, both] {
            let part = anonymize_part(&data, &sensitive, &()).unwrap();
            assert_eq!((part.handed_back.len(), part.body.records()), (0, data.len() as u64));
            bodies.push(part.body);
        }
        // Fewer than k l records cannot hide a term, and l = 2 cannot be kept if most have it.
        // To put such records elsewhere would tell that they have the term: an error.
        let small = data(&[&["a", "flu"], ab, ab, ab, ab]);
        let most = data(&[&["a", "flu"], &["b", "flu"], &["a", "flu"], &["b"]]);
        for part in [small, most] {
            let error = anonymize_part(&part, &sensitive, &()).unwrap_err();
            assert!(matches!(error, Error::Infeasible { .. }), "{error}");
        }
        let merged = publish(&sensitive, Disassociated::merge(bodies).unwrap());
        assert_eq!(merged.manifest.records, 16);
        assert!(
            verify(&merged, &()).unwrap().holds,
            "{:?}",
            verify(&merged, &()).unwrap().violations
        );
        // Who does not speak of a part is told.
        let few = data(&[&["a"], &["b"]]);
        assert!(matches!(anonymize(&few, &sensitive, &()), Err(Error::Infeasible { .. })));
        // Wrong parameters are wrong for a part too.
        let wrong = parameters(3, 2).with_max_cluster_size(5);
        assert!(matches!(anonymize_part(&few, &wrong, &()), Err(Error::Parameter { .. })));
    }
}

proptest! {
    #![proptest_config(testkit::settings::cases(48))]

    /// However data is cut into parts, what is published together verifies,
    /// and every record is published or handed back.
    #[test]
    fn any_parts_verify_together(
        seed in 0u64..1000,
        cuts in prop::collection::vec(0usize..60, 0..4),
        k in 2u32..5,
        by_dls in any::<bool>(),
    ) {
        let records = testkit::random::records(seed, 60, 8, 3.0);
        let mut cuts = cuts;
        cuts.extend([0, 60]);
        cuts.sort_unstable();
        let parameters = parameters(k, 2).with_max_cluster_size(2 * k as usize + 2);
        let (mut bodies, mut back) = (Vec::new(), 0);
        for cut in cuts.windows(2) {
            let data = Dataset::from_records(&records[cut[0]..cut[1]]);
            let run = if by_dls { dls::anonymize_part } else { anonymize_part };
            let part = run(&data, &parameters, &()).unwrap();
            back += part.handed_back.len() as u64;
            bodies.push(part.body);
        }
        let merged = Disassociated::merge(bodies).unwrap();
        prop_assert_eq!(merged.records() + back, 60);
        if merged.records() > 0 {
            let release =
                if by_dls { dls::publish(&parameters, merged) } else { publish(&parameters, merged) };
            let verdict = verify(&release, &()).unwrap();
            prop_assert!(verdict.holds, "{:?}", verdict.violations);
        }
    }
}
