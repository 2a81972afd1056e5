//! The bytes of a release against the only ones that may be there.
//!
//! `docs/release-format.md` gives every release one spelling. Whatever has a
//! second one could carry something: a blank, a key of its own, another order
//! of keys, an escape that need not be. So the files are written once more,
//! from what was read of them, by a serialiser that shares nothing with the
//! writer of `io`, and compared byte by byte.
//!
//! What follows from it: a file is accepted if and only if it is what this
//! module writes for some content that the rules accept. Nothing stands in an
//! accepted release beside its content.

use std::fmt::Write;

use rayon::prelude::*;
use serde_json::{Number, Value};

use super::Violation;
use crate::data::{Hierarchy, ItemId, Vocabulary};
use crate::release::{
    Bag, Body, Cluster, Disassociated, Group, Leaf, Located, Manifest, Model, Release, Supports,
    Universe,
};

/// The files of a release as they are.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    /// `manifest.json`.
    pub manifest: &'a [u8],
    /// The files of the body with their names, in order.
    pub body: &'a [(&'a str, &'a [u8])],
    /// `hierarchy.csv`, where the release has one.
    pub hierarchy: Option<&'a [u8]>,
}

/// Where the files of `release` are not spelled as they must be. Files beyond
/// these are no part of a release: who reads it reports them.
pub fn text(release: &Release, files: &Files) -> Vec<Violation> {
    let mut found = manifest_text(&release.manifest, files.manifest);
    found.extend(body_text(&release.body, files.body));
    if let (Body::Generalized(body), Some(bytes)) = (&release.body, files.hierarchy) {
        found.extend(body.hierarchy.as_ref().and_then(|tree| hierarchy_text(tree, bytes)));
    }
    found
}

fn body_text(body: &Body, files: &[(&str, &[u8])]) -> Vec<Violation> {
    let lines: Vec<Line> = files.iter().flat_map(|&(name, bytes)| lines(name, bytes)).collect();
    let labels = body.vocabulary();
    match body {
        Body::Disassociated(body) => compare(body.clusters.len(), &lines, |i, out| {
            cluster(&body.clusters[i], labels, out);
        }),
        Body::Generalized(body) => compare(body.classes.len(), &lines, |i, out| {
            let (items, count) = body.classes.get(i);
            counted(items, count, labels, out);
        }),
        Body::Grouped(body) => compare(body.groups.len(), &lines, |i, out| {
            group(&body.groups[i], labels, out);
        }),
        Body::Located(body) => located_text(body, &lines),
    }
}

/// The leaves, and the totals in a file of their own.
fn located_text(body: &Located, lines: &[Line]) -> Vec<Violation> {
    let labels = &body.vocabulary;
    let totals = lines.iter().position(|line| line.file == "totals.jsonl").unwrap_or(lines.len());
    let (leaves, totals) = lines.split_at(totals);
    let mut found = compare(body.leaves.len(), leaves, |i, out| leaf(&body.leaves[i], labels, out));
    found.extend(compare(body.totals.len(), totals, |i, out| {
        item_count(body.totals[i], labels, out);
    }));
    found
}

/// Where `manifest.json` is not spelled as it must be.
pub fn manifest_text(manifest: &Manifest, bytes: &[u8]) -> Vec<Violation> {
    let mut expected = String::new();
    pretty(&manifest_tree(manifest), 0, &mut expected);
    expected.push('\n');
    first_difference("manifest.json", expected.as_bytes(), bytes).into_iter().collect()
}

/// Where `hierarchy.csv` is not spelled as it must be: a leaf a line with the
/// nodes above it, leaves in preorder.
pub fn hierarchy_text(tree: &Hierarchy, bytes: &[u8]) -> Option<Violation> {
    let mut expected = String::new();
    for leaf in tree.leaves(0) {
        let mut node = leaf;
        field(tree.label(node), &mut expected);
        while node != 0 {
            node = tree.parent(node);
            expected.push(';');
            field(tree.label(node), &mut expected);
        }
        expected.push('\n');
    }
    first_difference("hierarchy.csv", expected.as_bytes(), bytes)
}

fn field(label: &str, out: &mut String) {
    if label.contains([';', '"', '\n', '\r']) {
        out.push('"');
        out.push_str(&label.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(label);
    }
}

fn first_difference(file: &str, expected: &[u8], found: &[u8]) -> Option<Violation> {
    if expected == found {
        return None;
    }
    let same = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
    let line = 1 + expected[..same].iter().filter(|&&b| b == b'\n').count();
    Some(differs(format!("{file}:{line}: not the canonical bytes, from byte {same} on")))
}

fn differs(place: String) -> Violation {
    Violation { r#where: place, itemset: Vec::new(), support: 0, required: 0, rule: "text" }
}

/// A line with its line feed, and where it stands.
struct Line<'a> {
    file: &'a str,
    number: usize,
    bytes: &'a [u8],
}

fn lines<'a>(file: &'a str, bytes: &'a [u8]) -> impl Iterator<Item = Line<'a>> {
    let lines = bytes.split_inclusive(|&b| b == b'\n').enumerate();
    lines.map(move |(i, bytes)| Line { file, number: i + 1, bytes })
}

/// The lines of a block, counted from 0, that are not what they must be.
pub(super) fn clusters(block: &Disassociated, bytes: &[u8]) -> Vec<(u64, &'static str)> {
    let lines: Vec<Line> = lines("", bytes).collect();
    let len = block.clusters.len();
    let found = different(len, &lines, |i, out| {
        cluster(&block.clusters[i], &block.vocabulary, out);
    });
    let extra = (lines.len() != len).then(|| (lines.len().min(len) as u64, MORE));
    extra.into_iter().chain(found.into_iter().map(|i| (i as u64, BYTES))).collect()
}

const MORE: &str = "another number of lines";
const BYTES: &str = "not the canonical bytes";

fn compare(len: usize, lines: &[Line], line: impl Fn(usize, &mut String) + Sync) -> Vec<Violation> {
    let mut found = Vec::new();
    if lines.len() != len {
        let last = lines.last().map_or(("", 0), |line| (line.file, line.number));
        found.push(differs(format!("{}:{}: {MORE}", last.0, last.1)));
    }
    for i in different(len, lines, line) {
        found.push(differs(format!("{}:{}: {BYTES}", lines[i].file, lines[i].number)));
    }
    found
}

/// Which of the lines are not what `line` writes.
fn different(len: usize, lines: &[Line], line: impl Fn(usize, &mut String) + Sync) -> Vec<usize> {
    let differs = |i: usize, expected: &mut String| {
        expected.clear();
        line(i, expected);
        expected.push('\n');
        expected.as_bytes() != lines[i].bytes
    };
    (0..len.min(lines.len()))
        .into_par_iter()
        .map_init(String::new, |expected, i| (i, differs(i, expected)))
        .filter(|&(_, differs)| differs)
        .map(|(i, _)| i)
        .collect()
}

fn cluster(cluster: &Cluster, labels: &Vocabulary, out: &mut String) {
    let chunks = cluster.chunks();
    let _ = write!(out, "{{\"size\":{},", cluster.size());
    match cluster {
        Cluster::Simple(leaf) => {
            out.push_str("\"record_chunks\":");
            list(chunks, out, |chunk, out| sub_records(chunk, labels, out));
            out.push_str(",\"term_chunk\":");
            list(&leaf.term_chunk, out, |&item, out| quoted(labels.label(item), out));
        }
        Cluster::Joint(joint) => {
            out.push_str("\"shared_chunks\":");
            list(chunks, out, |chunk, out| sub_records(chunk, labels, out));
            out.push_str(",\"children\":");
            list(&joint.children, out, |child, out| self::cluster(child, labels, out));
        }
    }
    out.push('}');
}

fn sub_records(chunk: &Bag, labels: &Vocabulary, out: &mut String) {
    out.push_str("{\"subrecords\":");
    bag(chunk, labels, out);
    out.push('}');
}

fn bag(bag: &Bag, labels: &Vocabulary, out: &mut String) {
    let all: Vec<(&[ItemId], u32)> = bag.iter().collect();
    list(&all, out, |&(items, count), out| counted(items, count, labels, out));
}

fn counted(items: &[ItemId], count: u32, labels: &Vocabulary, out: &mut String) {
    out.push_str("{\"items\":");
    list(items, out, |&item, out| quoted(labels.label(item), out));
    let _ = write!(out, ",\"count\":{count}}}");
}

fn group(group: &Group, labels: &Vocabulary, out: &mut String) {
    let _ = write!(out, "{{\"size\":{},\"records\":", group.size);
    bag(&group.records, labels, out);
    out.push_str(",\"sensitive\":");
    list(&group.sensitive, out, |&counted, out| item_count(counted, labels, out));
    out.push('}');
}

fn leaf(leaf: &Leaf, labels: &Vocabulary, out: &mut String) {
    let _ = write!(out, "{{\"size\":{},\"kept\":", leaf.size);
    bag(&leaf.kept, labels, out);
    out.push_str(",\"counted\":");
    list(&leaf.counted, out, |&counted, out| item_count(counted, labels, out));
    out.push_str(",\"listed\":");
    list(&leaf.listed, out, |&item, out| quoted(labels.label(item), out));
    out.push('}');
}

fn item_count<N: Into<u64>>((item, count): (ItemId, N), labels: &Vocabulary, out: &mut String) {
    out.push_str("{\"item\":");
    quoted(labels.label(item), out);
    let _ = write!(out, ",\"count\":{}}}", count.into());
}

fn list<T>(elements: &[T], out: &mut String, mut each: impl FnMut(&T, &mut String)) {
    out.push('[');
    for (i, element) in elements.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        each(element, out);
    }
    out.push(']');
}

/// A JSON text with no escape but those that must be.
fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..'\u{20}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// JSON with the order of its keys.
enum Tree {
    Text(String),
    /// A number or a word, as it is spelled.
    Plain(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

fn text_of(text: &str) -> Tree {
    Tree::Text(text.to_owned())
}

fn number(number: impl std::fmt::Display) -> Tree {
    Tree::Plain(number.to_string())
}

fn object<const N: usize>(fields: [(&str, Tree); N]) -> Tree {
    Tree::Object(fields.into_iter().map(|(name, tree)| (name.to_owned(), tree)).collect())
}

fn manifest_tree(manifest: &Manifest) -> Tree {
    let parameters = manifest.parameters.iter().map(|(name, v)| (name.clone(), value(v)));
    let files = manifest.files.iter().map(|file| {
        object([
            ("name", text_of(&file.name)),
            ("bytes", number(file.bytes)),
            ("lines", number(file.lines)),
            ("sha256", text_of(&file.sha256)),
        ])
    });
    object([
        ("format", text_of(&manifest.format)),
        ("version", number(manifest.version)),
        ("method", text_of(&manifest.method)),
        ("parameters", Tree::Object(parameters.collect())),
        ("guarantee", guarantee(manifest)),
        ("records", number(manifest.records)),
        ("items", number(manifest.items)),
        ("files", Tree::List(files.collect())),
        ("tool", text_of(&manifest.tool)),
    ])
}

fn guarantee(manifest: &Manifest) -> Tree {
    let mut fields = vec![("model", text_of(manifest.guarantee.model.name()))];
    match manifest.guarantee.model {
        Model::FormatKmAnonymity { k, m, l } => {
            fields.extend([("k", number(k)), ("m", number(m))]);
            fields.extend(l.map(|l| ("l", number(l))));
        }
        Model::KmAnonymity { k, m } => fields.extend([("k", number(k)), ("m", number(m))]),
        Model::KAnonymity { k } => fields.push(("k", number(k))),
        Model::Association { p } => fields.push(("p", number(p))),
        Model::DifferentialPrivacy { epsilon, universe } => {
            let universe = match universe {
                Universe::Public => "public",
                Universe::Data => "data",
            };
            fields.extend([
                ("epsilon", Tree::Plain(format!("{epsilon:?}"))),
                ("universe", text_of(universe)),
            ]);
        }
    }
    let supports = match manifest.guarantee.supports {
        Supports::Exact => "exact",
        Supports::LowerBound => "lower-bound",
        Supports::Noisy => "noisy",
    };
    fields.push(("supports", text_of(supports)));
    Tree::Object(fields.into_iter().map(|(name, tree)| (name.to_owned(), tree)).collect())
}

fn value(value: &Value) -> Tree {
    match value {
        Value::Null => Tree::Plain("null".into()),
        Value::Bool(flag) => number(flag),
        Value::Number(n) => Tree::Plain(spelled(n)),
        Value::String(text) => text_of(text),
        Value::Array(list) => Tree::List(list.iter().map(self::value).collect()),
        Value::Object(fields) => {
            Tree::Object(fields.iter().map(|(n, v)| (n.clone(), self::value(v))).collect())
        }
    }
}

fn spelled(number: &Number) -> String {
    match (number.as_u64(), number.as_i64(), number.as_f64()) {
        (Some(whole), ..) => whole.to_string(),
        (_, Some(whole), _) => whole.to_string(),
        (_, _, decimal) => format!("{:?}", decimal.unwrap_or(f64::NAN)),
    }
}

/// Two blanks a level, a line for every element.
fn pretty(tree: &Tree, depth: usize, out: &mut String) {
    let line = |depth: usize, out: &mut String| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    match tree {
        Tree::Text(text) => quoted(text, out),
        Tree::Plain(word) => out.push_str(word),
        Tree::List(list) if list.is_empty() => out.push_str("[]"),
        Tree::Object(fields) if fields.is_empty() => out.push_str("{}"),
        Tree::List(list) => {
            out.push('[');
            for (i, element) in list.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                line(depth + 1, out);
                pretty(element, depth + 1, out);
            }
            line(depth, out);
            out.push(']');
        }
        Tree::Object(fields) => {
            out.push('{');
            for (i, (name, element)) in fields.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                line(depth + 1, out);
                quoted(name, out);
                out.push_str(": ");
                pretty(element, depth + 1, out);
            }
            line(depth, out);
            out.push('}');
        }
    }
}
