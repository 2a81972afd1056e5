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

use rayon::prelude::*;

use super::rows::Rows;
use super::work::{Meter, Work};
use super::{Findings, manifest, order};
use crate::data::ItemId;
use crate::data::hierarchy::NodeId;
use crate::release::{Generalized, Manifest, Model, Supports};
use crate::{Progress, Result};

/// Steps of the search behind one item before classes are asked one by one,
/// and as many more for every class with it.
const BEHIND: u64 = 1 << 21;
const BEHIND_PER_CLASS: u64 = 1 << 11;
/// How long an itemset becomes before classes are asked one by one.
const LONGEST: usize = 128;

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
                check_km(body, k, m, progress, findings)?;
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

/// A class as it stands in a list: its items from the next one on.
type Rest<'a> = (&'a [ItemId], u64);

fn check_km(
    body: &Generalized,
    k: u32,
    m: u32,
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
    let classes: Vec<Rest> = classes.iter().map(|(items, count)| (&items[..], *count)).collect();
    let work = Work::new(body.classes.items().len() as u64, progress);
    let search = Search { k: k.into(), m: m as usize };
    match search.all(&classes, findings, &work)? {
        Some(found) => found.into_iter().for_each(|f| findings.append(f)),
        None => search.each_class(&classes, findings, &work)?,
    }
    Ok(())
}

struct Search {
    k: u64,
    m: usize,
}

/// Room to count the items that follow an itemset.
struct Counter {
    support: Vec<u64>,
    /// Whether a class below k shows the item.
    rare: Vec<bool>,
    /// Steps that are left for the present first item.
    left: u64,
}

impl Search {
    /// The rare itemsets by their first item; none if the search was too long.
    fn all<'a>(
        &self,
        classes: &[Rest],
        findings: &Findings<'a>,
        work: &Work,
    ) -> Result<Option<Vec<Findings<'a>>>> {
        let vocabulary = findings.vocabulary;
        let mut with: Vec<Vec<Rest>> = vec![Vec::new(); vocabulary.len()];
        for (items, count) in classes {
            for (at, &item) in items.iter().enumerate() {
                with[item as usize].push((&items[at + 1..], *count));
            }
        }
        let empty = || Counter {
            support: vec![0; vocabulary.len()],
            rare: vec![false; vocabulary.len()],
            left: 0,
        };
        with.par_iter()
            .enumerate()
            .filter(|(_, classes)| classes.iter().any(|c| c.1 < self.k))
            .map_init(empty, |counter, (item, classes)| {
                let mut findings = Findings::new(vocabulary);
                let mut itemset = vec![item as ItemId];
                let mut meter = work.meter();
                counter.left = BEHIND + BEHIND_PER_CLASS * classes.len() as u64;
                let done =
                    self.descend(counter, &mut itemset, classes, &mut findings, &mut meter)?;
                meter.flush()?;
                Ok(done.then_some(findings))
            })
            .collect()
    }

    /// Asks every class below k by itself for a rare itemset.
    fn each_class(&self, classes: &[Rest], findings: &mut Findings, work: &Work) -> Result<()> {
        let rows = Rows::new(classes);
        let found: Result<Vec<_>> = (0..classes.len())
            .into_par_iter()
            .map(|class| {
                let mut meter = work.meter();
                let found = rows.rare_subset(class, self.k, self.m, &mut meter)?;
                meter.flush()?;
                Ok(found)
            })
            .collect();
        for (itemset, support) in found?.into_iter().flatten() {
            findings.add("km", || "classes.jsonl".into(), &itemset, support, self.k);
        }
        Ok(())
    }

    /// Reports `itemset` if it is rare, and otherwise looks at what extends
    /// it. `classes` are all that show it. False if the search was too long.
    fn descend(
        &self,
        counter: &mut Counter,
        itemset: &mut Vec<ItemId>,
        classes: &[Rest],
        findings: &mut Findings,
        meter: &mut Meter,
    ) -> Result<bool> {
        let support: u64 = classes.iter().map(|c| c.1).sum();
        if support < self.k {
            findings.add("km", || "classes.jsonl".into(), itemset, support, self.k);
            return Ok(true);
        }
        if itemset.len() == self.m {
            return Ok(true);
        }
        let steps = classes.iter().map(|c| c.0.len() as u64).sum::<u64>() + 1;
        meter.step(steps)?;
        if steps > counter.left || itemset.len() > LONGEST {
            return Ok(false);
        }
        counter.left -= steps;
        for (item, support) in self.extensions(counter, classes) {
            itemset.push(item);
            if support < self.k {
                findings.add("km", || "classes.jsonl".into(), itemset, support, self.k);
            } else if itemset.len() < self.m {
                let narrowed: Vec<Rest> = classes
                    .iter()
                    .filter_map(|(rest, count)| {
                        let at = rest.binary_search(&item).ok()?;
                        Some((&rest[at + 1..], *count))
                    })
                    .collect();
                if !self.descend(counter, itemset, &narrowed, findings, meter)? {
                    return Ok(false);
                }
            }
            itemset.pop();
        }
        Ok(true)
    }

    /// The items that follow in a class below k, with their support in all classes.
    fn extensions(&self, counter: &mut Counter, classes: &[Rest]) -> Vec<(ItemId, u64)> {
        let mut items = Vec::new();
        for (rest, _) in classes.iter().filter(|c| c.1 < self.k) {
            for &item in *rest {
                if !std::mem::replace(&mut counter.rare[item as usize], true) {
                    items.push(item);
                }
            }
        }
        if !items.is_empty() {
            for (rest, count) in classes {
                for &item in *rest {
                    if counter.rare[item as usize] {
                        counter.support[item as usize] += count;
                    }
                }
            }
        }
        items.sort_unstable();
        items
            .into_iter()
            .map(|item| {
                counter.rare[item as usize] = false;
                (item, std::mem::take(&mut counter.support[item as usize]))
            })
            .collect()
    }
}
