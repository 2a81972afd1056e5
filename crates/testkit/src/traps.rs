//! Releases that are made to cost more than they are worth: numbers of 2^32 in a tiny
//! file, joint clusters of hundreds of leaves, one cluster of a million records. All but one
//! can be read; `benchmarks/hostile.py` measures what every command makes of them.

use serde_json::{Value, json};
use setveil::data::{ItemId, Vocabulary};
use setveil::release::{
    Bag, Body, Cluster, Disassociated, Generalized, Group, Grouped, JointCluster, Leaf, Located,
    Manifest, Model, Release, SimpleCluster, VERSION_LOCATED,
};
use setveil::{Hierarchy, Method};

/// A trap that no reader takes: no method has such an m.
pub const TOO_LARGE: &str = "m = 50";

/// Every trap by its name. Those with many records have `records` of them.
pub fn all(records: u32) -> Vec<(&'static str, Release)> {
    let km = |m: u32| ("disassociation", json!({"k": 3, "m": m}));
    vec![
        ("sizes of 2^32", clusters(km(2), 8, vec![billions()])),
        ("joint of 500 leaves", clusters(km(2), 2000, vec![joint(500, 20, 100)])),
        ("joint, 40 deep", clusters(km(2), 400, vec![deep(40)])),
        ("one large cluster", clusters(km(2), 2000, vec![large(records)])),
        ("m = 16", clusters(km(16), 60, vec![wide(60)])),
        (TOO_LARGE, with_m(50, clusters(km(16), 60, vec![wide(60)]))),
        ("5,000 chunks", clusters(km(2), 5000, vec![many_chunks(5000)])),
        ("100,000 terms", clusters(km(2), 100_000, vec![terms(100_000)])),
        ("one class of 2^32", classes(100_000)),
        ("one large group", groups(records)),
        ("one large leaf", located(records)),
    ]
}

fn vocabulary(items: usize) -> Vocabulary {
    let labels: Vec<String> = (0..items).map(|i| format!("i{i:06}")).collect();
    Vocabulary::new(labels.iter().map(String::as_str))
}

fn release((name, parameters): (&str, Value), body: Body) -> Release {
    let Value::Object(parameters) = parameters else { unreachable!("it is an object") };
    let method = Method::named(name, parameters.clone()).expect("a method with its parameters");
    let (records, items) = (body.extent().0, body.vocabulary().len() as u64);
    let mut manifest = Manifest::new(name, [], method.guarantee(), records, items);
    manifest.parameters = parameters.into_iter().collect();
    if matches!(body, Body::Located(_)) {
        manifest.version = VERSION_LOCATED;
    }
    Release { manifest, body }
}

/// The same with another m, which the method need not have.
fn with_m(m: u32, mut release: Release) -> Release {
    if let Model::FormatKmAnonymity { m: promised, .. } = &mut release.manifest.guarantee.model {
        *promised = m;
    }
    release.manifest.parameters.insert("m".into(), json!(m));
    release
}

fn clusters(method: (&str, Value), items: usize, clusters: Vec<Cluster>) -> Release {
    release(method, Body::Disassociated(Disassociated { vocabulary: vocabulary(items), clusters }))
}

fn bag<'a>(counted: impl IntoIterator<Item = (&'a [ItemId], u32)>) -> Bag {
    Bag::from_counted(counted)
}

/// Numbers as large as a file can say.
fn billions() -> Cluster {
    let many = u32::MAX / 2;
    let record_chunks =
        vec![bag([(&[0, 1][..], many), (&[0][..], many)]), bag([(&[2][..], many), (&[3][..], 5)])];
    Cluster::Simple(SimpleCluster { size: u32::MAX, record_chunks, term_chunk: vec![4, 5, 6, 7] })
}

/// One joint cluster: every leaf has terms of its own, every shared chunk is open to most.
fn joint(leaves: u32, chunks: u32, sub_records: u32) -> Cluster {
    let leaf = |l: u32| {
        let own = [1000 + l, 1500 + l % 500];
        let record_chunks = vec![bag([(&own[..1], 3), (&own[1..], 4)])];
        let mut term_chunk: Vec<ItemId> = (0..20).map(|t| (l * 7 + t * 37) % 1000).collect();
        term_chunk.sort_unstable();
        term_chunk.dedup();
        Cluster::Simple(SimpleCluster { size: 10, record_chunks, term_chunk })
    };
    let shared = |c: u32| {
        // Fifty items for each chunk.
        let pair = |s: u32| vec![c * 50 + s % 49, c * 50 + (s % 49 + 1 + s / 49) % 50];
        let sorted: Vec<Vec<ItemId>> = (0..sub_records).map(pair).map(sorted).collect();
        bag(sorted.iter().map(|set| (&set[..], 3)))
    };
    Cluster::Joint(JointCluster {
        size: 10 * leaves,
        shared_chunks: (0..chunks).map(shared).collect(),
        children: (0..leaves).map(leaf).collect(),
    })
}

fn sorted(mut items: Vec<ItemId>) -> Vec<ItemId> {
    items.sort_unstable();
    items.dedup();
    items
}

/// Joint clusters inside of joint clusters, each with a shared chunk of its own.
fn deep(depth: u32) -> Cluster {
    let leaf = |at: u32| {
        let chunk = bag([(&[100 + at][..], 5)]);
        let term_chunk = vec![200 + at, 250 + at];
        Cluster::Simple(SimpleCluster { size: 6, record_chunks: vec![chunk], term_chunk })
    };
    (0..depth).fold(leaf(depth), |below, at| {
        let size = below.size() + 6;
        let shared_chunks = vec![bag([(&[at][..], 3), (&[at, 300 + at][..], 3)])];
        Cluster::Joint(JointCluster { size, shared_chunks, children: vec![below, leaf(at)] })
    })
}

/// As many different sub-records as there are records.
fn large(records: u32) -> Cluster {
    let sets: Vec<[ItemId; 2]> =
        (0..records).map(|r| [r % 1000, 1000 + (r / 1000 + r) % 900]).collect();
    let record_chunks = vec![bag(sets.iter().map(|set| (&set[..], 1)))];
    let term_chunk = (1900..2000).collect();
    Cluster::Simple(SimpleCluster { size: records, record_chunks, term_chunk })
}

/// One chunk of records that all have the same items: every combination is there.
fn wide(items: u32) -> Cluster {
    let all: Vec<ItemId> = (0..items).collect();
    let record_chunks = vec![bag([(&all[..], 5)])];
    Cluster::Simple(SimpleCluster { size: 5, record_chunks, term_chunk: Vec::new() })
}

fn many_chunks(chunks: u32) -> Cluster {
    let record_chunks = (0..chunks).map(|c| bag([(&[c][..], 5)])).collect();
    Cluster::Simple(SimpleCluster { size: 10, record_chunks, term_chunk: Vec::new() })
}

fn terms(terms: u32) -> Cluster {
    let term_chunk = (0..terms).collect();
    Cluster::Simple(SimpleCluster { size: 10, record_chunks: Vec::new(), term_chunk })
}

/// Everybody is in one class, whose only node has all items below it.
fn classes(items: usize) -> Release {
    let labels: Vec<String> = (0..items).map(|i| format!("i{i:06}")).collect();
    let paths: Vec<[&str; 2]> = labels.iter().map(|label| [label.as_str(), "*"]).collect();
    let paths: Vec<Vec<&str>> = paths.iter().map(|path| path.to_vec()).collect();
    let hierarchy = Some(Hierarchy::from_paths(&paths).expect("a tree of one level"));
    let classes = bag([(&[0][..], u32::MAX - 1)]);
    let body = Generalized { vocabulary: Vocabulary::new(["*"]), classes, hierarchy };
    release(("partition", json!({"k": 3})), Body::Generalized(body))
}

fn groups(records: u32) -> Release {
    let sets: Vec<[ItemId; 2]> =
        (0..records).map(|r| [1 + r % 900, 901 + r / 900 % 1000]).collect();
    let group = Group {
        size: records,
        records: bag(sets.iter().map(|set| (&set[..], 1))),
        sensitive: vec![(0, records / 4)],
    };
    let body = Grouped { vocabulary: vocabulary(2000), groups: vec![group] };
    release(("cahd", json!({"p": 3, "sensitive": ["i000000"]})), Body::Grouped(body))
}

fn located(records: u32) -> Release {
    let sets: Vec<[ItemId; 2]> =
        (0..records).map(|r| [r % 1000, 1000 + (r / 1000 + r) % 900]).collect();
    let leaf = Leaf {
        size: records,
        kept: bag(sets.iter().map(|set| (&set[..], 1))),
        counted: (1900..1950).map(|item| (item, records / 2)).collect(),
        listed: (1950..2000).collect(),
    };
    let totals = Vec::new();
    let body = Located { vocabulary: vocabulary(2000), leaves: vec![leaf], totals };
    release(("local-suppression", json!({"k": 3, "m": 2})), Body::Located(body))
}

#[cfg(test)]
mod tests {
    use setveil::io::{MemoryRelease, read_release_from, write_release_to};

    #[test]
    fn every_trap_can_be_written_and_read_or_is_refused() {
        for (name, release) in super::all(1000) {
            let mut memory = MemoryRelease::default();
            write_release_to(&release, &mut memory, &()).unwrap_or_else(|e| panic!("{name}: {e}"));
            let read = read_release_from(&memory, &());
            if name == super::TOO_LARGE {
                assert!(read.is_err_and(|e| e.to_string().contains("50")), "{name}");
                continue;
            }
            let read = read.unwrap_or_else(|e| panic!("{name}: {e}"));
            // Labels that nothing has get lost.
            assert_eq!(read.body.extent(), release.body.extent(), "{name}");
        }
    }
}
