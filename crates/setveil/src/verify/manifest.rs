//! The manifest against what methods write: the method, the shape of its
//! release, its promise and its parameters fit together, and nothing stands
//! there that could carry something else.
//!
//! The table is this module's own: it is written from `docs/release-format.md`
//! and shares nothing with the methods. A new method, or a new parameter, gets
//! a line here. What is not in the table is a violation:
//!
//! - `method`: an unknown method, or one with the body, model or supports of another;
//! - `parameters`: an unknown or missing parameter, one of another type or
//!   range, or one that differs from the guarantee's;
//! - `manifest`: sensitive terms that do not ascend or are not published, `l`
//!   without them;
//! - `tool`: anything but this program's name and one of its versions.

use serde_json::Value;

use super::Findings;
use crate::data::Vocabulary;
use crate::release::{Manifest, Model, Supports};

/// Versions of the program that wrote releases of this format, beside the
/// present one.
const VERSIONS: &[&str] = &[];

/// Which of the bodies, and whether a hierarchy is published with it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Clusters,
    Classes { hierarchy: bool },
    Groups,
    Leaves,
}

/// What a parameter's value may be.
#[derive(Clone, Copy)]
enum Type {
    Whole(u64, u64),
    /// A whole number or a word.
    WholeOr(u64, u64, &'static str),
    /// One of these words.
    Word(&'static [&'static str]),
    Flag,
    /// A decimal number with at most six decimals, in millionths.
    Decimal(u64, u64),
    /// Texts, ascending.
    Labels,
    /// The name of something that was chosen in code: up to 24 small letters
    /// and hyphens, too few to carry a record. The name that is the default is
    /// not written.
    Name(&'static str),
    /// `true`: where it is not, nothing is written.
    Yes,
}

/// Whether a parameter must be there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needed {
    Always,
    /// Where the model has `l`.
    WithL,
    /// Only if it is not the default.
    Sometimes,
    /// Where `safe` is there.
    WithSafe,
    /// Only where `safe` is there, and if it is not the default.
    SometimesWithSafe,
}

struct Method {
    name: &'static str,
    kind: Kind,
    model: &'static str,
    supports: &'static [Supports],
    parameters: &'static [(&'static str, Type, Needed)],
}

const LARGE: u64 = 1_000_000_000;
const K: (&str, Type, Needed) = ("k", Type::Whole(2, LARGE), Needed::Always);
const M: (&str, Type, Needed) = ("m", Type::Whole(1, 16), Needed::Always);
const P: (&str, Type, Needed) = ("p", Type::Whole(2, LARGE), Needed::Always);
const SENSITIVE: (&str, Type, Needed) = ("sensitive", Type::Labels, Needed::Always);
const HIDE_LEAVES: (&str, Type, Needed) = ("hide_leaves", Type::Flag, Needed::Always);
const UNKNOWN: (&str, Type, Needed) = ("unknown_to_root", Type::Flag, Needed::Always);
const MAX: (&str, Type, Needed) = ("max_cluster_size", Type::Whole(4, LARGE), Needed::Always);
const REFINE: (&str, Type, Needed) = ("refine", Type::Flag, Needed::Always);
const CLUSTERING: (&str, Type, Needed) = ("clustering", Type::Name("horpart"), Needed::Sometimes);
const CHUNKING: (&str, Type, Needed) = ("chunking", Type::Name("verpart"), Needed::Sometimes);
const TERMS: (&str, Type, Needed) = ("sensitive", Type::Labels, Needed::WithL);
const L: (&str, Type, Needed) = ("l", Type::Whole(2, LARGE), Needed::WithL);
const GROUPING: (&str, Type, Needed) =
    ("grouping", Type::Word(&["blind", "as-printed"]), Needed::Always);
const ALPHA: (&str, Type, Needed) = ("alpha", Type::Whole(1, 1_000_000), Needed::Sometimes);
/// To refuse such records is the default.
const SENSITIVE_ONLY: (&str, Type, Needed) =
    ("sensitive_only", Type::Word(&["drop"]), Needed::Sometimes);
const LEAF: (&str, Type, Needed) =
    ("max_cluster_size", Type::WholeOr(4, LARGE, "all"), Needed::Always);
const NO_COUNTS: (&str, Type, Needed) = ("no_item_counts", Type::Flag, Needed::Always);
const ONLY_COMBINATIONS: (&str, Type, Needed) = ("only_combinations", Type::Flag, Needed::Always);
const NEVER_KEPT: (&str, Type, Needed) = ("sensitive", Type::Labels, Needed::Sometimes);
const SAFE: (&str, Type, Needed) = ("safe", Type::Yes, Needed::Sometimes);
const ETA: (&str, Type, Needed) = ("eta", Type::Decimal(1, 500_000), Needed::WithSafe);
const JOIN_WIDTH: (&str, Type, Needed) =
    ("join_width", Type::Whole(2, u32::MAX as u64), Needed::SometimesWithSafe);
const DROP_BELOW_K: (&str, Type, Needed) = ("drop_below_k", Type::Yes, Needed::SometimesWithSafe);
const HIERARCHY: Kind = Kind::Classes { hierarchy: true };

const METHODS: &[Method] = &[
    Method {
        name: "disassociation",
        kind: Kind::Clusters,
        model: "format-km-anonymity",
        supports: &[Supports::Exact],
        parameters: &[
            K,
            M,
            MAX,
            REFINE,
            CLUSTERING,
            CHUNKING,
            TERMS,
            L,
            SAFE,
            ETA,
            JOIN_WIDTH,
            DROP_BELOW_K,
        ],
    },
    Method {
        name: "dls",
        kind: Kind::Clusters,
        model: "format-km-anonymity",
        supports: &[Supports::LowerBound],
        parameters: &[K, M, MAX, REFINE, CLUSTERING, TERMS, L],
    },
    Method {
        name: "partition",
        kind: HIERARCHY,
        model: "k-anonymity",
        supports: &[Supports::LowerBound],
        parameters: &[K, HIDE_LEAVES, UNKNOWN],
    },
    Method {
        name: "apriori",
        kind: HIERARCHY,
        model: "km-anonymity",
        supports: &[Supports::Exact],
        parameters: &[K, M, HIDE_LEAVES, UNKNOWN],
    },
    Method {
        name: "suppress-rare",
        kind: Kind::Classes { hierarchy: false },
        model: "km-anonymity",
        supports: &[Supports::Exact],
        parameters: &[K],
    },
    Method {
        name: "diffpart",
        kind: HIERARCHY,
        model: "differential-privacy",
        supports: &[Supports::Noisy],
        parameters: &[
            ("epsilon", Type::Decimal(1_000, 100_000_000), Needed::Always),
            ("fanout", Type::Whole(2, 16), Needed::Always),
            ("drop_unknown", Type::Flag, Needed::Always),
        ],
    },
    Method {
        name: "cahd",
        kind: Kind::Groups,
        model: "association",
        supports: &[Supports::Exact],
        parameters: &[P, SENSITIVE, GROUPING, ALPHA, SENSITIVE_ONLY],
    },
    Method {
        name: "perm-mondrian",
        kind: Kind::Groups,
        model: "association",
        supports: &[Supports::Exact],
        parameters: &[P, SENSITIVE, SENSITIVE_ONLY],
    },
    Method {
        name: "local-suppression",
        kind: Kind::Leaves,
        model: "format-km-anonymity",
        supports: &[Supports::Exact, Supports::LowerBound],
        parameters: &[K, M, LEAF, NO_COUNTS, ONLY_COMBINATIONS, NEVER_KEPT],
    },
    // The kept sub-records alone.
    Method {
        name: "local-suppression",
        kind: Kind::Classes { hierarchy: false },
        model: "km-anonymity",
        supports: &[Supports::LowerBound],
        parameters: &[K, M, LEAF, NO_COUNTS, ONLY_COMBINATIONS],
    },
];

/// Checks what the manifest says by itself. `published` tells whether a label
/// stands in the body.
pub(super) fn check(
    manifest: &Manifest,
    kind: Kind,
    published: &dyn Fn(&str) -> bool,
    findings: &mut Findings,
) {
    check_tool(&manifest.tool, findings);
    check_promise(&manifest.guarantee.model, findings);
    super::explained::order(manifest, findings);
    let mut named = METHODS.iter().filter(|method| method.name == manifest.method).peekable();
    let first = named.peek().copied();
    let Some(method) = named.find(|method| fits(kind, method.kind)).or(first) else {
        add(findings, "method", "method: unknown");
        return;
    };
    check_method(manifest, method, kind, findings);
    check_parameters(manifest, method, findings);
    check_choices(manifest, kind, findings);
    if matches!(kind, Kind::Clusters | Kind::Leaves) {
        check_sensitive(manifest, published, findings);
    }
}

fn add(findings: &mut Findings, rule: &'static str, what: &str) {
    findings.add(rule, || format!("manifest.json: {what}"), &[], 0, 1);
}

fn check_tool(tool: &str, findings: &mut Findings) {
    let version = tool.strip_prefix("setveil ").unwrap_or("");
    if version != env!("CARGO_PKG_VERSION") && !VERSIONS.contains(&version) {
        add(findings, "tool", "tool: not this program and one of its versions");
    }
}

/// Values that promise nothing.
fn check_promise(model: &Model, findings: &mut Findings) {
    let least = |name: &'static str, found: u32, needed: u32, findings: &mut Findings| {
        if found < needed {
            let place = || format!("manifest.json: guarantee.{name}");
            findings.add("manifest", place, &[], found.into(), needed.into());
        }
    };
    if let Model::FormatKmAnonymity { k, m, l } = *model {
        least("k", k, 2, findings);
        least("m", m, 1, findings);
        least("l", l.unwrap_or(2), 2, findings);
    }
}

fn fits(found: Kind, needed: Kind) -> bool {
    match (found, needed) {
        // That a hierarchy is missing has a rule of its own.
        (Kind::Classes { hierarchy }, Kind::Classes { hierarchy: needed }) => !hierarchy || needed,
        (found, needed) => found == needed,
    }
}

fn check_method(manifest: &Manifest, method: &Method, kind: Kind, findings: &mut Findings) {
    if !fits(kind, method.kind) {
        add(findings, "method", &format!("method {} has files of another kind", method.name));
    }
    let model = manifest.guarantee.model.name();
    if model != method.model {
        add(findings, "method", &format!("method {} promises {}", method.name, method.model));
    }
    if !method.supports.contains(&manifest.guarantee.supports) {
        add(findings, "method", &format!("method {} has other supports", method.name));
    }
    if method.name == "suppress-rare" && manifest.guarantee.model.m() != Some(1) {
        add(findings, "method", "method suppress-rare promises m = 1");
    }
}

fn check_parameters(manifest: &Manifest, method: &Method, findings: &mut Findings) {
    let with_l = matches!(manifest.guarantee.model, Model::FormatKmAnonymity { l: Some(_), .. });
    let safe = manifest.parameters.contains_key("safe");
    if safe && with_l {
        add(findings, "parameters", "parameters.safe with guarantee.l");
    }
    for &(name, kind, needed) in method.parameters {
        let (must, may, with) = match needed {
            Needed::Always => (true, true, ""),
            Needed::WithL => (with_l, with_l, "guarantee.l"),
            Needed::WithSafe => (safe, safe, "parameters.safe"),
            Needed::SometimesWithSafe => (false, safe, "parameters.safe"),
            Needed::Sometimes => (false, true, ""),
        };
        match manifest.parameters.get(name) {
            None if !must => {}
            None => add(findings, "parameters", &format!("parameters.{name} is missing")),
            Some(_) if !may => {
                add(findings, "parameters", &format!("parameters.{name} without {with}"));
            }
            Some(value) if !kind.allows(value) => {
                add(findings, "parameters", &format!("parameters.{name} is out of its range"));
            }
            Some(value) if !equals_promise(&manifest.guarantee.model, name, value) => {
                let what = format!("parameters.{name} differs from guarantee.{name}");
                add(findings, "parameters", &what);
            }
            Some(_) => {}
        }
    }
    let known = |name: &str| method.parameters.iter().any(|p| p.0 == name);
    for name in manifest.parameters.keys().filter(|name| !known(name)) {
        let what = format!("parameters.{name}: {} has no such parameter", method.name);
        add(findings, "parameters", &what);
    }
}

/// Parameters that say what the rest of the manifest says as well.
fn check_choices(manifest: &Manifest, kind: Kind, findings: &mut Findings) {
    let flag = |name: &str| manifest.parameters.get(name).and_then(Value::as_bool);
    let has = |name: &str, value: &str| {
        manifest.parameters.get(name).and_then(Value::as_str) == Some(value)
    };
    match manifest.method.as_str() {
        "disassociation" if flag("safe") == Some(true) => {
            for name in ["clustering", "chunking"] {
                if manifest.parameters.contains_key(name) {
                    let what = format!("parameters.{name} cannot be chosen with `safe`");
                    add(findings, "parameters", &what);
                }
            }
        }
        "cahd" if has("grouping", "as-printed") != manifest.parameters.contains_key("alpha") => {
            add(findings, "parameters", "parameters.alpha belongs to the printed grouping");
        }
        "local-suppression" => {
            let classes = kind != Kind::Leaves;
            let lower = manifest.guarantee.supports == Supports::LowerBound;
            if flag("only_combinations") != Some(classes) {
                add(findings, "parameters", "parameters.only_combinations and the files differ");
            } else if classes
                && (!has("max_cluster_size", "all") || flag("no_item_counts") != Some(false))
            {
                add(findings, "parameters", "combinations alone have neither leaves nor counts");
            } else if !classes && flag("no_item_counts") != Some(lower) {
                add(findings, "parameters", "parameters.no_item_counts and supports differ");
            }
        }
        _ => {}
    }
}

impl Type {
    fn allows(self, value: &Value) -> bool {
        match self {
            Self::Whole(least, most) => value.as_u64().is_some_and(|v| least <= v && v <= most),
            Self::WholeOr(least, most, word) => {
                value.as_str() == Some(word) || Self::Whole(least, most).allows(value)
            }
            Self::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Self::Flag => value.is_boolean(),
            Self::Yes => *value == Value::Bool(true),
            Self::Decimal(least, most) => value.as_f64().is_some_and(|v| {
                let millionths = (v * 1e6).round();
                value.is_f64()
                    && millionths / 1e6 == v
                    && least as f64 <= millionths
                    && millionths <= most as f64
            }),
            Self::Name(default) => value.as_str().is_some_and(|name| {
                let letter = |b: u8| b.is_ascii_lowercase() || b == b'-';
                (1..=24).contains(&name.len()) && name.bytes().all(letter) && name != default
            }),
            Self::Labels => {
                let labels = value
                    .as_array()
                    .map(|list| list.iter().map(Value::as_str).collect::<Option<Vec<&str>>>());
                labels.flatten().is_some_and(|l| !l.is_empty() && l.is_sorted_by(|a, b| a < b))
            }
        }
    }
}

/// Whether a parameter that the guarantee names as well is the same there.
fn equals_promise(model: &Model, name: &str, value: &Value) -> bool {
    let whole = match (name, model) {
        ("k", _) => model.k(),
        ("m", _) => model.m(),
        ("l", Model::FormatKmAnonymity { l, .. }) => *l,
        ("p", Model::Association { p }) => Some(*p),
        ("epsilon", Model::DifferentialPrivacy { epsilon, .. }) => {
            return value.as_f64() == Some(*epsilon);
        }
        _ => return true,
    };
    value.as_u64() == whole.map(u64::from)
}

/// The labels that the manifest lists as sensitive.
fn sensitive(manifest: &Manifest) -> impl Iterator<Item = &str> {
    let list = manifest.parameters.get("sensitive").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}

/// Which items of a vocabulary are sensitive; empty if the manifest lists none.
pub(super) fn sensitive_marks(manifest: &Manifest, vocabulary: &Vocabulary) -> Vec<bool> {
    let mut marks = Vec::new();
    for label in sensitive(manifest) {
        marks.resize(vocabulary.len(), false);
        if let Some(item) = vocabulary.id(label) {
            marks[item as usize] = true;
        }
    }
    marks
}

/// Terms that are promised to be hidden are published: otherwise the list
/// would say something that the body does not.
fn check_sensitive(manifest: &Manifest, published: &dyn Fn(&str) -> bool, findings: &mut Findings) {
    let promised = matches!(manifest.guarantee.model, Model::FormatKmAnonymity { l: Some(_), .. });
    if promised && sensitive(manifest).next().is_none() {
        add(findings, "manifest", "l without parameters.sensitive");
    }
    for label in sensitive(manifest).filter(|label| !published(label)) {
        add(findings, "manifest", &format!("sensitive term {label:?} is not published"));
    }
}
