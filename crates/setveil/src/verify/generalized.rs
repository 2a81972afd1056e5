//! Classes of generalised records (partition-2009; the k^m baselines).
//!
//! k-anonymity: every class holds at least k records. k^m-anonymity: every
//! set of 1 to m labels that a class shows is shown by classes of at least k
//! records together. Only sets inside a class with fewer than k records need
//! counting: a larger class supports all its subsets by itself.
//!
//! Also checked: canonical order, sets and not bags, totals, labels that
//! exist in the hierarchy, and that no class shows a node with its ancestor.
//! Differential privacy is a property of the method and cannot be seen in a
//! release: there, only the form is checked. Sets of leaves of a published
//! hierarchy with noisy counts are what a release without further leaks can
//! consist of.

use super::everywhere::{Class, Search};
use super::work::Work;
use super::{Findings, manifest, order};
use crate::data::ItemId;
use crate::data::hierarchy::NodeId;
use crate::release::{Generalized, Manifest, Model, Supports};
use crate::{Progress, Result};

pub(super) fn check(
    manifest: &Manifest,
    body: &Generalized,
    progress: &dyn Progress,
    findings: &mut Findings,
) -> Result<()> {
    let kind = manifest::Kind::Classes { hierarchy: body.hierarchy.is_some() };
    manifest::check(manifest, kind, &|label| body.vocabulary.id(label).is_some(), findings);
    check_form(manifest, body, findings);
    check_labels(manifest, body, findings);
    match manifest.guarantee.model {
        Model::KAnonymity { k } => {
            check_parameters(k, 1, findings);
            for (i, (items, count)) in body.classes.iter().enumerate() {
                if count < k {
                    findings.add("size", || line(i), items, count.into(), k.into());
                }
            }
        }
        Model::KmAnonymity { k, m } => {
            check_parameters(k, m, findings);
            if k >= 1 && m >= 1 {
                let rule =
                    Search { k: k.into(), m: m as usize, rule: "km", place: "classes.jsonl" };
                check_km(body, rule, progress, findings)?;
            }
        }
        Model::DifferentialPrivacy { epsilon, .. } => {
            check_noisy(manifest, body, epsilon, findings);
        }
        _ => {
            let place = || format!("manifest.json: {}", manifest.guarantee.model.name());
            findings.add("model", place, &[], 0, 0);
        }
    }
    progress.step(0)
}

fn line(class: usize) -> String {
    format!("classes.jsonl:{}", class + 1)
}

/// k = 1 and m = 0 promise nothing.
fn check_parameters(k: u32, m: u32, findings: &mut Findings) {
    if k < 2 {
        findings.add("parameter", || "manifest.json: k".into(), &[], k.into(), 2);
    }
    if m < 1 {
        findings.add("parameter", || "manifest.json: m".into(), &[], m.into(), 1);
    }
}

/// A budget that means something, counts that are declared noisy, and no
/// label but leaves: an inner node would say that something was not counted.
fn check_noisy(manifest: &Manifest, body: &Generalized, epsilon: f64, findings: &mut Findings) {
    if !(epsilon.is_finite() && epsilon > 0.0) {
        findings.add("parameter", || format!("manifest.json: epsilon {epsilon}"), &[], 0, 1);
    }
    if manifest.guarantee.supports != Supports::Noisy {
        let place = || "manifest.json: supports are not noisy".into();
        findings.add("model", place, &[], 0, 0);
    }
    let Some(tree) = &body.hierarchy else { return };
    for item in 0..body.vocabulary.len() as ItemId {
        let node = tree.node(body.vocabulary.label(item));
        if node.is_some_and(|n| !tree.is_leaf(n)) {
            findings.add("leaf", || "hierarchy.csv".into(), &[item], 0, 1);
        }
    }
}

fn check_form(manifest: &Manifest, body: &Generalized, findings: &mut Findings) {
    if let Some((class, what)) = order::bag_fault(&body.classes) {
        let items = body.classes.get(class).0;
        findings.add("canonical-order", || format!("{}: {what}", line(class)), items, 0, 0);
    }
    let records = body.classes.total();
    if records != manifest.records {
        let place = || "manifest.json: records".into();
        findings.add("totals", place, &[], records, manifest.records);
    }
    let items = body.classes.domain().len() as u64;
    if items != manifest.items {
        findings.add("totals", || "manifest.json: items".into(), &[], items, manifest.items);
    }
}

/// Every label is a node, and no class shows a node above another.
fn check_labels(manifest: &Manifest, body: &Generalized, findings: &mut Findings) {
    let Some(tree) = &body.hierarchy else {
        if ["partition", "apriori", "diffpart"].contains(&manifest.method.as_str()) {
            findings.add("hierarchy", || "hierarchy.csv is missing".into(), &[], 0, 1);
        }
        return;
    };
    let nodes: Vec<Option<NodeId>> = body.vocabulary.labels().map(|l| tree.node(l)).collect();
    for item in (0..nodes.len() as ItemId).filter(|&i| nodes[i as usize].is_none()) {
        findings.add("unknown-label", || "hierarchy.csv".into(), &[item], 0, 1);
    }
    for (i, (items, _)) in body.classes.iter().enumerate() {
        let mut shown: Vec<(NodeId, ItemId)> =
            items.iter().filter_map(|&item| Some((nodes[item as usize]?, item))).collect();
        shown.sort_unstable();
        shown.dedup();
        // In preorder whatever is below a node follows it directly.
        if let Some(w) = shown.windows(2).find(|w| tree.covers(w[0].0, w[1].0)) {
            findings.add("ancestor", || line(i), &[w[0].1, w[1].1], 1, 0);
        }
    }
}

fn check_km(
    body: &Generalized,
    search: Search,
    progress: &dyn Progress,
    findings: &mut Findings,
) -> Result<()> {
    // Whatever the file's order is, count sets.
    let classes: Vec<(Vec<ItemId>, u64)> = body
        .classes
        .iter()
        .map(|(items, count)| {
            let mut items = items.to_vec();
            items.sort_unstable();
            items.dedup();
            (items, count.into())
        })
        .collect();
    let classes: Vec<Class> = classes.iter().map(|(items, count)| (&items[..], *count)).collect();
    let work = Work::new(body.classes.items().len() as u64, progress);
    search.check(&classes, &work, findings)
}
