//! The papers' own worked examples, from `testdata/papers/*.json`.

use serde::Deserialize;
use setveil::release::{
    Body, Cluster, Disassociated, FileEntry, Guarantee, Manifest, Model, Release, Supports,
};

/// A worked example of disassociation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DisassociationCase {
    /// Where it stands in the paper.
    pub source: String,
    /// The parameters.
    pub k: u32,
    /// The parameters.
    pub m: u32,
    /// The original records, cluster by cluster; empty if only a release is given.
    #[serde(default)]
    pub clusters: Vec<Vec<Vec<String>>>,
    /// Whether refining belongs to the example.
    #[serde(default)]
    pub refine: bool,
    /// The lines of the release.
    pub release: Vec<serde_json::Value>,
    /// The rule that the release breaks, if it does.
    pub breaks: Option<String>,
}

/// All cases of `testdata/papers/<paper>.json`.
pub fn disassociation(paper: &str) -> Vec<DisassociationCase> {
    let path = format!("{}/../../testdata/papers/{paper}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

impl DisassociationCase {
    /// The release of the example, in canonical order.
    pub fn release(&self) -> Release {
        release(self.k, self.m, &self.release)
    }
}

/// A disassociated release with these lines, put in canonical order.
pub fn release(k: u32, m: u32, lines: &[serde_json::Value]) -> Release {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.path().join("clusters.jsonl"), text).expect("writing a case");
    let guarantee =
        Guarantee { model: Model::FormatKmAnonymity { k, m, l: None }, supports: Supports::Exact };
    let parameters = [
        ("k", k.into()),
        ("m", m.into()),
        ("max_cluster_size", 50.into()),
        ("refine", true.into()),
    ];
    let mut manifest = Manifest::new("disassociation", parameters, guarantee, 0, 0);
    let entry =
        FileEntry { name: "clusters.jsonl".into(), bytes: 0, lines: 0, sha256: String::new() };
    manifest.files.push(entry);
    let json = serde_json::to_string(&manifest).expect("a manifest is JSON");
    std::fs::write(folder.path().join("manifest.json"), json).expect("writing a case");
    let mut release = setveil::io::open_release(folder.path()).expect("a readable case").release;
    release.manifest.files.clear();
    if let Body::Disassociated(body) = &mut release.body {
        sort_bags(body);
        body.clusters.iter_mut().for_each(Cluster::canonicalize);
        body.clusters.sort_unstable();
        release.manifest.records = body.records();
        release.manifest.items = body.vocabulary.len() as u64;
    }
    release
}

/// Cases list items and sub-records in the paper's order.
fn sort_bags(body: &mut Disassociated) {
    let mut stack: Vec<&mut Cluster> = body.clusters.iter_mut().collect();
    while let Some(cluster) = stack.pop() {
        let chunks = match cluster {
            Cluster::Simple(leaf) => {
                leaf.term_chunk.sort_unstable();
                &mut leaf.record_chunks
            }
            Cluster::Joint(joint) => {
                stack.extend(joint.children.iter_mut());
                &mut joint.shared_chunks
            }
        };
        for chunk in chunks {
            let sorted: Vec<(Vec<u32>, u32)> = chunk
                .iter()
                .map(|(items, count)| {
                    let mut items = items.to_vec();
                    items.sort_unstable();
                    (items, count)
                })
                .collect();
            *chunk = setveil::release::Bag::from_counted(sorted.iter().map(|(i, c)| (&i[..], *c)));
        }
    }
}
