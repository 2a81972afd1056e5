//! `Method`: one value a method, and what a manifest keeps of it.

use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::{Dataset, Method, verify};
use testkit::random;

pub fn data() -> Dataset {
    let mut records = random::records(7, 60, 6, 4.0);
    records[3].push("secret".into());
    records[40].push("secret".into());
    Dataset::from_records(records)
}

/// Every method with parameters as they stand in manifests.
pub const WRITTEN: [&str; 10] = [
    r#"{"method":"disassociation","parameters":{"k":3,"m":2,"max_cluster_size":50,"refine":true}}"#,
    r#"{"method":"disassociation","parameters":{"k":3,"l":2,"m":2,"max_cluster_size":9,"refine":false,"sensitive":["secret"]}}"#,
    r#"{"method":"dls","parameters":{"k":30,"m":2,"max_cluster_size":60,"refine":true}}"#,
    r#"{"method":"partition","parameters":{"hide_leaves":false,"k":3,"unknown_to_root":false}}"#,
    r#"{"method":"apriori","parameters":{"hide_leaves":true,"k":3,"m":2,"unknown_to_root":true}}"#,
    r#"{"method":"suppress-rare","parameters":{"k":3}}"#,
    r#"{"method":"cahd","parameters":{"grouping":"blind","p":4,"sensitive":["secret"]}}"#,
    r#"{"method":"cahd","parameters":{"alpha":3,"grouping":"as-printed","p":4,"sensitive":["secret"]}}"#,
    r#"{"method":"perm-mondrian","parameters":{"p":4,"sensitive":["secret"]}}"#,
    r#"{"method":"diffpart","parameters":{"drop_unknown":false,"epsilon":0.5,"fanout":10}}"#,
];

#[test]
fn a_manifest_holds_the_method_that_made_the_release() {
    let data = data();
    let tree = balanced(data.vocabulary(), 3, LeafOrder::Natural).unwrap();
    for written in WRITTEN {
        let method: Method = serde_json::from_str(written).unwrap();
        let method = method.with_hierarchy(tree.clone());
        let release = method.run(&data, &()).unwrap().release;
        let manifest = &release.manifest;
        assert_eq!(manifest.guarantee, method.guarantee());
        let parameters = serde_json::to_string(&manifest.parameters).unwrap();
        assert_eq!(
            format!(r#"{{"method":"{}","parameters":{parameters}}}"#, manifest.method),
            written
        );
        let found = Method::of(manifest).unwrap();
        assert_eq!(found.with_hierarchy(tree.clone()), method);
        assert!(verify::verify(&release, &()).unwrap().holds, "{written}");
    }
}

#[test]
fn a_manifest_that_was_changed_is_not_believed() {
    let data = data();
    let method: Method = serde_json::from_str(WRITTEN[0]).unwrap();
    let manifest = method.run(&data, &()).unwrap().release.manifest;
    for (key, value) in [("k", 0), ("k", 4), ("m", 1), ("max_cluster_size", 5), ("l", 2), ("x", 1)]
    {
        let mut changed = manifest.clone();
        changed.parameters.insert(key.into(), value.into());
        assert!(Method::of(&changed).is_err(), "{key} = {value}");
    }
    let mut other = manifest.clone();
    other.method = "dls".into();
    assert!(Method::of(&other).is_err(), "DLS promises lower bounds only");
    assert!(Method::of(&manifest).is_ok());
}

#[test]
fn a_method_without_its_hierarchy_says_so() {
    for name in ["partition", "diffpart"] {
        let written = WRITTEN.iter().find(|w| w.contains(name)).unwrap();
        let method: Method = serde_json::from_str(written).unwrap();
        assert!(method.needs_hierarchy());
        let error = method.run(&data(), &()).unwrap_err().to_string();
        assert!(error.contains("hierarchy"), "{error}");
    }
}
