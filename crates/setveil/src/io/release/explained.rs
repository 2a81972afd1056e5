//! What stands in a release beside its data: a page for whoever receives it,
//! and a JSON schema.
//!
//! Both follow from the method and the kind of its files alone, so they say
//! nothing about the data. They are put together as text and not by a JSON
//! library, whose order of keys is a matter of its features. `verify` knows
//! their checksums and shares nothing with this module: whoever changes a text
//! here adds the new checksums there, and leaves those that releases have.

use std::fmt::Write;

use crate::release::Manifest;

pub(super) const README: &str = "README.md";
pub(super) const SCHEMA: &str = "schema.json";

macro_rules! text {
    ($name:literal) => {
        include_str!(concat!("explained/", $name))
    };
}

/// What is said about one kind of files.
struct Kind {
    page: &'static [&'static str],
    /// What lines are, by their names in the schema.
    lines: &'static [&'static str],
    /// The definitions of the schema.
    definitions: &'static [(&'static str, &'static str)],
}

const MANIFEST: (&str, &str) = ("manifest", text!("schemas/manifest.json"));
const SET: (&str, &str) = ("set", text!("schemas/set.json"));
const COUNTED: (&str, &str) = ("counted", text!("schemas/counted.json"));

const CLUSTERS: Kind = Kind {
    page: &[text!("bodies/clusters.md")],
    lines: &["cluster"],
    definitions: &[
        MANIFEST,
        ("cluster", text!("schemas/cluster.json")),
        ("chunk", text!("schemas/chunk.json")),
        SET,
    ],
};
const CLASSES: Kind = Kind {
    page: &[text!("bodies/classes.md"), text!("bodies/classes-examples.md")],
    lines: &["set"],
    definitions: &[MANIFEST, SET],
};
const GENERALIZED: Kind = Kind {
    page: &[text!("bodies/generalized.md"), text!("bodies/classes-examples.md")],
    ..CLASSES
};
const GROUPS: Kind = Kind {
    page: &[text!("bodies/groups.md")],
    lines: &["group"],
    definitions: &[MANIFEST, ("group", text!("schemas/group.json")), SET, COUNTED],
};
const LEAVES: Kind = Kind {
    page: &[text!("bodies/leaves.md")],
    lines: &["leaf", "counted"],
    definitions: &[MANIFEST, ("leaf", text!("schemas/leaf.json")), SET, COUNTED],
};

/// The page and the schema for a release whose data files `manifest` lists;
/// none for a method that does not have such files.
pub(super) fn explained(manifest: &Manifest) -> Option<[(&'static str, String); 2]> {
    let first = manifest.files.first()?.name.as_str();
    let body = first.split(['-', '.']).next().unwrap_or_default();
    let (method, kind) = match (manifest.method.as_str(), body) {
        ("disassociation", "clusters") => (text!("methods/disassociation.md"), CLUSTERS),
        ("dls", "clusters") => (text!("methods/dls.md"), CLUSTERS),
        ("local-suppression", "leaves") => (text!("methods/local-suppression.md"), LEAVES),
        ("local-suppression", "classes") => {
            (text!("methods/local-suppression-combinations.md"), CLASSES)
        }
        ("partition", "classes") => (text!("methods/partition.md"), GENERALIZED),
        ("apriori", "classes") => (text!("methods/apriori.md"), GENERALIZED),
        ("diffpart", "classes") => (text!("methods/diffpart.md"), GENERALIZED),
        ("suppress-rare", "classes") => (text!("methods/suppress-rare.md"), CLASSES),
        ("cahd", "groups") => (text!("methods/cahd.md"), GROUPS),
        ("perm-mondrian", "groups") => (text!("methods/perm-mondrian.md"), GROUPS),
        _ => return None,
    };
    Some([(README, page(method, &kind)), (SCHEMA, schema(&kind))])
}

fn page(method: &str, kind: &Kind) -> String {
    let mut page = text!("opening.md").to_owned() + method;
    kind.page.iter().for_each(|part| page.push_str(part));
    page + text!("ending.md")
}

fn schema(kind: &Kind) -> String {
    let mut out = "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \
        \"title\": \"manifest.json and the lines of a release by Setveil\",\n  \"anyOf\": [\n"
        .to_owned();
    let all: Vec<&str> = ["manifest"].iter().chain(kind.lines).copied().collect();
    let reference = |name: &&str| format!("    {{ \"$ref\": \"#/$defs/{name}\" }}");
    out += &all.iter().map(reference).collect::<Vec<_>>().join(",\n");
    out += "\n  ],\n  \"$defs\": {\n";
    for (i, (name, definition)) in kind.definitions.iter().enumerate() {
        let indented = definition.trim_end().replace('\n', "\n    ");
        let comma = if i + 1 < kind.definitions.len() { "," } else { "" };
        let _ = writeln!(out, "    \"{name}\": {indented}{comma}");
    }
    out + "  }\n}\n"
}
