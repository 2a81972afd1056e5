//! Generalised releases that are broken on purpose.

use setveil::release::{Bag, Body, Generalized, Release};

use crate::sabotage::Saboteur;

/// All saboteurs of generalised releases.
pub const GENERALIZED: &[Saboteur] = &[
    Saboteur { name: "a class falls below k", rule: "size", act: shrink_a_class },
    Saboteur { name: "an itemset becomes rare", rule: "km", act: add_a_rare_pair },
    Saboteur { name: "a record disappears", rule: "totals", act: drop_a_record },
    Saboteur { name: "a label is not counted", rule: "totals", act: miscount_items },
    Saboteur { name: "classes stand in another order", rule: "canonical-order", act: swap },
    Saboteur { name: "a set becomes a bag", rule: "canonical-order", act: repeat_an_item },
    Saboteur { name: "a label is made up", rule: "unknown-label", act: forget_a_leaf },
    Saboteur { name: "the root stands beside a label", rule: "ancestor", act: add_the_root },
    Saboteur { name: "the hierarchy is gone", rule: "hierarchy", act: lose_the_hierarchy },
    Saboteur { name: "k is 1", rule: "parameter", act: promise_nothing },
];

/// Saboteurs of releases with noise.
pub const NOISY: &[Saboteur] = &[
    Saboteur { name: "an inner node is published", rule: "leaf", act: publish_an_inner_node },
    Saboteur { name: "counts are called exact", rule: "model", act: deny_the_noise },
    Saboteur { name: "the budget is 0", rule: "parameter", act: spend_nothing },
    Saboteur { name: "the budget is no number", rule: "parameter", act: spend_everything },
];

fn body(release: &mut Release) -> &mut Generalized {
    match &mut release.body {
        Body::Generalized(body) => body,
        _ => panic!("a generalised release"),
    }
}

type Classes = Vec<(Vec<u32>, u32)>;

fn change(release: &mut Release, change: impl FnOnce(&mut Classes) -> bool) -> bool {
    let body = body(release);
    let mut classes: Classes = body.classes.iter().map(|(i, c)| (i.to_vec(), c)).collect();
    let done = change(&mut classes);
    body.classes = Bag::default();
    classes.iter().for_each(|(items, count)| body.classes.push(items, *count));
    done
}

fn shrink_a_class(release: &mut Release) -> bool {
    if release.manifest.guarantee.model.m().is_some() {
        return false;
    }
    let k = release.manifest.guarantee.model.k().expect("a model with k");
    let mut gone = 0;
    let done = change(release, |classes| {
        gone = classes[0].1 - (k - 1);
        classes[0].1 = k - 1;
        true
    });
    release.manifest.records -= u64::from(gone);
    done
}

/// One more record with everything: its pairs may be new.
fn add_a_rare_pair(release: &mut Release) -> bool {
    let Some(m) = release.manifest.guarantee.model.m().filter(|&m| m > 1) else { return false };
    let k = u64::from(release.manifest.guarantee.model.k().expect("a model with k"));
    let all = body(release).classes.domain();
    let pairs = all.iter().flat_map(|&a| all.iter().map(move |&b| [a, b]));
    let rare = pairs
        .filter(|[a, b]| a < b)
        .find(|pair| body(release).classes.support(pair) + 1 < k && m > 1);
    let Some(pair) = rare else { return false };
    let body = body(release);
    let one: &[u32] = &pair;
    body.classes = Bag::from_counted(body.classes.clone().iter().chain([(one, 1)]));
    release.manifest.records += 1;
    true
}

fn drop_a_record(release: &mut Release) -> bool {
    change(release, |classes| {
        classes[0].1 -= 1;
        true
    })
}

fn miscount_items(release: &mut Release) -> bool {
    release.manifest.items += 1;
    true
}

fn swap(release: &mut Release) -> bool {
    change(release, |classes| {
        classes.reverse();
        classes.len() > 1
    })
}

fn repeat_an_item(release: &mut Release) -> bool {
    change(release, |classes| {
        let item = classes[0].0[0];
        classes[0].0.insert(0, item);
        true
    })
}

fn forget_a_leaf(release: &mut Release) -> bool {
    let body = body(release);
    let first = body.vocabulary.label(0).to_owned();
    let Some(tree) = &body.hierarchy else { return false };
    let paths: Vec<Vec<String>> = tree
        .paths()
        .map(|p| p.into_iter().map(str::to_owned).collect::<Vec<_>>())
        .filter(|p| !p.contains(&first))
        .collect();
    match setveil::Hierarchy::from_paths(&paths) {
        Ok(tree) => body.hierarchy = Some(tree),
        Err(_) => return false,
    }
    true
}

fn add_the_root(release: &mut Release) -> bool {
    if body(release).vocabulary.id("*") == Some(0) {
        return false;
    }
    // `*` comes before every letter, so its number is 0 and all others move up.
    let body = body(release);
    let labels: Vec<String> = body.vocabulary.labels().map(str::to_owned).collect();
    body.vocabulary =
        setveil::data::Vocabulary::new(labels.iter().map(String::as_str).chain(["*"]));
    if body.vocabulary.id("*") != Some(0) {
        return false;
    }
    release.manifest.items += 1;
    change(release, |classes| {
        classes.iter_mut().for_each(|c| c.0.iter_mut().for_each(|i| *i += 1));
        classes[0].0.insert(0, 0);
        true
    })
}

fn lose_the_hierarchy(release: &mut Release) -> bool {
    body(release).hierarchy.take().is_some()
}

fn promise_nothing(release: &mut Release) -> bool {
    use setveil::release::Model;
    match &mut release.manifest.guarantee.model {
        Model::KAnonymity { k } | Model::KmAnonymity { k, .. } => *k = 1,
        _ => return false,
    }
    true
}

/// The first label becomes the name of its parent.
fn publish_an_inner_node(release: &mut Release) -> bool {
    let body = body(release);
    let Some(tree) = &body.hierarchy else { return false };
    let labels: Vec<String> = body.vocabulary.labels().map(str::to_owned).collect();
    let leaf = tree.node(&labels[0]).expect("a label of the hierarchy");
    let inner = tree.label(tree.parent(leaf)).to_owned();
    let renamed = std::iter::once(inner.as_str()).chain(labels[1..].iter().map(String::as_str));
    body.vocabulary = setveil::data::Vocabulary::new(renamed);
    body.vocabulary.len() == labels.len()
}

fn deny_the_noise(release: &mut Release) -> bool {
    release.manifest.guarantee.supports = setveil::release::Supports::Exact;
    true
}

fn budget(release: &mut Release, value: f64) -> bool {
    use setveil::release::Model;
    match &mut release.manifest.guarantee.model {
        Model::DifferentialPrivacy { epsilon, .. } => *epsilon = value,
        _ => return false,
    }
    true
}

fn spend_nothing(release: &mut Release) -> bool {
    budget(release, 0.0)
}

fn spend_everything(release: &mut Release) -> bool {
    budget(release, f64::INFINITY)
}
