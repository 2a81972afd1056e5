//! Releases that nobody would make: sizes that fit nothing, counts of
//! billions, items in several chunks, joint clusters of joint clusters. Some of
//! them verify, and all can be read, so whatever takes a release must stand them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use setveil::data::{ItemId, Vocabulary};
use setveil::io::{MemoryRelease, write_release_to};
use setveil::release::{
    Bag, Body, Cluster, Disassociated, Generalized, Group, Grouped, Guarantee, JointCluster, Leaf,
    Located, Manifest, Model, Release, SimpleCluster, Supports, VERSION_LOCATED,
};
use setveil::{Hierarchy, Method};

use crate::choices::Choices;

/// Items that the releases speak of.
const LABELS: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "=j\u{1b}\""];

/// A release that `bytes` choose.
pub fn release(bytes: &[u8]) -> Release {
    let choices = &mut Choices::new(bytes);
    let vocabulary = Vocabulary::new(LABELS);
    let (name, body) = match choices.below(9) {
        0..=3 => {
            let name = if choices.once_in(4) { "dls" } else { "disassociation" };
            let clusters = several(choices, 1, |c| cluster(c, 0));
            (name, Body::Disassociated(Disassociated { vocabulary, clusters }))
        }
        4 | 5 => {
            let hierarchy = choices.once_in(2).then(|| hierarchy(choices));
            let name = match (&hierarchy, choices.below(2)) {
                (None, _) => "suppress-rare",
                (_, 0) => "partition",
                (_, _) => "apriori",
            };
            let classes = bag(choices, ALL);
            (name, Body::Generalized(Generalized { vocabulary, classes, hierarchy }))
        }
        6 => {
            let groups = several(choices, 1, group);
            ("cahd", Body::Grouped(Grouped { vocabulary, groups }))
        }
        _ => {
            let leaves = several(choices, 1, leaf);
            let totals = several(choices, 0, |c| (item(c, ALL), u64::from(c.number())));
            ("local-suppression", Body::Located(Located { vocabulary, leaves, totals }))
        }
    };
    let (records, items) = (body.extent().0, body.vocabulary().len() as u64);
    let mut manifest = manifest(name, choices, records, items);
    if matches!(body, Body::Located(_)) {
        manifest.version = VERSION_LOCATED;
    }
    Release { manifest, body }
}

/// The files of a release that `bytes` choose; none if the writer refuses it.
pub fn files(bytes: &[u8]) -> Option<MemoryRelease> {
    let mut memory = MemoryRelease::default();
    write_release_to(&release(bytes), &mut memory, &()).ok()?;
    Some(memory)
}

/// The manifest of a method with parameters that it accepts, or others.
fn manifest(name: &str, choices: &mut Choices, records: u64, items: u64) -> Manifest {
    let (k, m) = (2 + choices.below(4) as u32, 1 + choices.below(4) as u32);
    let k = if choices.once_in(30) { choices.number() } else { k };
    let m = if choices.once_in(30) { choices.number() } else { m };
    let sensitive: Vec<&str> = LABELS[..choices.below(3)].to_vec();
    let parameters = match name {
        "cahd" => json!({"p": k, "sensitive": ["a"], "grouping": "blind"}),
        "partition" | "suppress-rare" => json!({"k": k}),
        "disassociation" if !sensitive.is_empty() => {
            json!({"k": k, "m": m, "sensitive": sensitive, "l": k})
        }
        _ => json!({"k": k, "m": m}),
    };
    let Value::Object(parameters) = parameters else { unreachable!("it is an object") };
    let guarantee = match Method::named(name, parameters.clone()) {
        Ok(method) if !choices.once_in(20) => method.guarantee(),
        _ => Guarantee {
            model: Model::FormatKmAnonymity { k, m, l: None },
            supports: Supports::Exact,
        },
    };
    let parameters: Map<String, Value> = parameters;
    let parameters: BTreeMap<String, Value> = parameters.into_iter().collect();
    let mut manifest = Manifest::new(name, [], guarantee, records, items);
    manifest.parameters = parameters;
    manifest
}

/// A few of something.
fn several<T>(
    choices: &mut Choices,
    least: usize,
    mut make: impl FnMut(&mut Choices) -> T,
) -> Vec<T> {
    let count = least + choices.below(4);
    (0..count).map(|_| make(choices)).collect()
}

/// Some of the items: number `part` of `of` parts that have no item in common,
/// or all of them.
#[derive(Clone, Copy)]
struct Domain {
    part: usize,
    of: usize,
}

const ALL: Domain = Domain { part: 0, of: 1 };

fn item(choices: &mut Choices, domain: Domain) -> ItemId {
    let size = (LABELS.len() - domain.part).div_ceil(domain.of);
    (domain.part + domain.of * choices.below(size)) as ItemId
}

/// Items, in order as a rule.
fn items(choices: &mut Choices, least: usize, domain: Domain) -> Vec<ItemId> {
    let mut items = several(choices, least, |c| item(c, domain));
    if !choices.once_in(32) {
        items.sort_unstable();
        items.dedup();
    }
    items
}

fn bag(choices: &mut Choices, domain: Domain) -> Bag {
    let mut bag = Bag::default();
    for (items, count) in several(choices, 1, |c| (items(c, 1, domain), c.number())) {
        bag.push(&items, count);
    }
    bag
}

/// Parts without a common item, as a rule.
fn domains(choices: &mut Choices, of: usize) -> Vec<Domain> {
    let mixed = choices.once_in(16);
    (0..of).map(|part| if mixed { ALL } else { Domain { part, of } }).collect()
}

/// A size that chunks of these totals can have, as a rule.
fn size(choices: &mut Choices, totals: impl Iterator<Item = u64> + Clone) -> u32 {
    let (most, sum) = (totals.clone().max().unwrap_or(1), totals.sum::<u64>());
    let size = match choices.below(8) {
        0..=2 => most,
        3..=5 => sum,
        6 => most.saturating_add(u64::from(choices.byte())),
        _ => choices.number().into(),
    };
    u32::try_from(size).unwrap_or(u32::MAX)
}

fn cluster(choices: &mut Choices, depth: usize) -> Cluster {
    if depth < 4 && choices.once_in(3) {
        let children = several(choices, 1, |c| cluster(c, depth + 1));
        let sizes = children.iter().map(|child| u64::from(child.size()));
        let size = if choices.once_in(16) { choices.number().into() } else { sizes.sum::<u64>() };
        return Cluster::Joint(JointCluster {
            size: u32::try_from(size).unwrap_or(u32::MAX),
            shared_chunks: several(choices, 0, |c| bag(c, ALL)),
            children,
        });
    }
    let chunks = choices.below(4);
    let domains = domains(choices, chunks + 1);
    let record_chunks: Vec<Bag> = domains[1..].iter().map(|&d| bag(choices, d)).collect();
    let size = size(choices, record_chunks.iter().map(Bag::total));
    let term_chunk = items(choices, 0, domains[0]);
    Cluster::Simple(SimpleCluster { size, record_chunks, term_chunk })
}

fn group(choices: &mut Choices) -> Group {
    let domains = domains(choices, 2);
    let records = if choices.once_in(8) { Bag::default() } else { bag(choices, domains[1]) };
    let sensitive = several(choices, 0, |c| (item(c, domains[0]), c.number()));
    let size = size(choices, [records.total()].into_iter());
    Group { size, records, sensitive }
}

fn leaf(choices: &mut Choices) -> Leaf {
    let domains = domains(choices, 3);
    let kept = if choices.once_in(8) { Bag::default() } else { bag(choices, ALL) };
    let counted = several(choices, 0, |c| (item(c, domains[1]), c.number()));
    let listed = items(choices, 0, domains[2]);
    let size = size(choices, [kept.total()].into_iter());
    Leaf { size, kept, counted, listed }
}

/// The labels below one, two or more nodes.
fn hierarchy(choices: &mut Choices) -> Hierarchy {
    let paths: Vec<Vec<String>> = LABELS
        .iter()
        .map(|label| {
            let depth = choices.below(3);
            let nodes = (0..depth).map(|level| format!("n{level}")).collect::<Vec<_>>();
            let mut path = vec![(*label).to_owned()];
            path.extend(nodes);
            path.push("*".into());
            path
        })
        .collect();
    let paths: Vec<Vec<&str>> =
        paths.iter().map(|path| path.iter().map(String::as_str).collect()).collect();
    Hierarchy::from_paths(&paths).unwrap_or_else(|_| {
        let flat: Vec<Vec<&str>> = LABELS.iter().map(|label| vec![*label, "*"]).collect();
        Hierarchy::from_paths(&flat).expect("a tree of one level")
    })
}
