//! Generalised releases (partition-2009 and its like): who can be found, and
//! what a class gives away about all its members.
//!
//! A class of `count` records with the nodes N stands for records that have,
//! for each node, some non-empty set of the leaves below it; all such sets are
//! taken as equally likely. A leaf that was not generalised is therefore known
//! of every member: k-anonymity hides who, not what.
//!
//! With noise ([`Supports::Noisy`]) a class may be made up. The probabilities
//! are then those of somebody who takes the release at its word; how often
//! such guesses are right takes the original.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::posterior::{Evaluation, examine_with};
use super::report::{Classes, NOT_REPLAYED, OTHER_KNOWLEDGE, Report};
use super::targets::People;
use super::{Background, Kernel, Options, replay};
use crate::data::{Dataset, ItemId, Vocabulary};
use crate::release::{Generalized, Release, Supports};
use crate::{Progress, Result};

/// Attacks a generalised release.
pub(super) fn attack(
    release: &Release,
    body: &Generalized,
    original: Option<&Dataset>,
    options: &Options,
    kernel: &Kernel,
    progress: &dyn Progress,
) -> Result<Report> {
    let model = &release.manifest.guarantee.model;
    let known = options.known.or(model.m()).unwrap_or(2);
    let index = Index::new(body, original);
    let people = match original {
        Some(data) => People::of(data, &index.items),
        None => index.draw_people(body, options),
    };
    let background = Background::new(&people, index.items.len(), known, options);
    let mut report = Report::new(release, options, original.is_some());
    let noisy = release.manifest.guarantee.supports == Supports::Noisy;
    report.classes = (!noisy).then(|| classes(body, &index));
    let evaluate = |set: &[ItemId]| index.evaluate(body, set);
    examine_with(
        &mut report,
        &index.items,
        (&people, &people, &background),
        model.k(),
        known,
        options,
        progress,
        &evaluate,
    )?;
    report.note(if noisy {
        "counts are noisy and classes can be made up: the probabilities take the release at its \
         word, which nobody can rely on; differential privacy bounds what being in the data adds \
         to them, not how well an item can be guessed"
    } else {
        "the probabilities take every non-empty set of leaves below a published node as equally \
         likely"
    });
    match kernel.program() {
        Some(program) if options.replays > 0 && !noisy => {
            let of = index.numbers_of(program.original);
            let below = |record: &[ItemId]| index.below(body, record, &of);
            let stages = replay::records(program, &below, options, progress)?;
            report.algorithm.get_or_insert_default().stages = stages;
        }
        _ => report.note(NOT_REPLAYED),
    }
    report.note(OTHER_KNOWLEDGE);
    Ok(report)
}

/// The items of a data set among all leaves, and back.
struct Numbers {
    here: Vec<ItemId>,
    there: Vec<Option<ItemId>>,
}

/// Items (leaves) and the published nodes above them.
struct Index {
    /// All leaves of the hierarchy, published labels and original items.
    items: Vocabulary,
    /// For each item the published nodes that stand for it.
    nodes_of: Vec<Vec<ItemId>>,
    /// For each published node its leaves.
    leaves_of: Vec<Vec<ItemId>>,
    /// For each published node the classes that have it, ascending.
    classes_of: Vec<Vec<u32>>,
}

impl Index {
    fn new(body: &Generalized, original: Option<&Dataset>) -> Self {
        let mut labels: Vec<&str> = body.vocabulary.labels().collect();
        if let Some(data) = original {
            labels.extend(data.vocabulary().labels());
        }
        if let Some(tree) = &body.hierarchy {
            labels.retain(|label| tree.node(label).is_none_or(|n| tree.is_leaf(n)));
            labels.extend(tree.leaves(0).map(|leaf| tree.label(leaf)));
        }
        let items = Vocabulary::new(labels);
        let mut nodes_of = vec![Vec::new(); items.len()];
        let mut leaves_of = vec![Vec::new(); body.vocabulary.len()];
        for (i, nodes) in nodes_of.iter_mut().enumerate() {
            let label = items.label(i as ItemId);
            let mut found: Vec<ItemId> = body.vocabulary.id(label).into_iter().collect();
            if let Some(tree) = &body.hierarchy {
                // An item that is no leaf was published as the root.
                let mut node = tree.node(label).unwrap_or(0);
                loop {
                    found.extend(body.vocabulary.id(tree.label(node)));
                    if node == 0 {
                        break;
                    }
                    node = tree.parent(node);
                }
            }
            found.sort_unstable();
            found.dedup();
            for &node in &found {
                leaves_of[node as usize].push(i as ItemId);
            }
            *nodes = found;
        }
        let mut classes_of = vec![Vec::new(); body.vocabulary.len()];
        for (c, (nodes, _)) in body.classes.iter().enumerate() {
            nodes.iter().for_each(|&n| classes_of[n as usize].push(c as u32));
        }
        Self { items, nodes_of, leaves_of, classes_of }
    }

    fn numbers_of(&self, data: &Dataset) -> Numbers {
        let here = data.vocabulary().labels().map(|label| self.items.id(label));
        let here = here.map(|id| id.expect("items of the original are leaves")).collect();
        let there = self.items.labels().map(|label| data.vocabulary().id(label)).collect();
        Numbers { here, there }
    }

    /// For the items of an original record: which others the node of a class
    /// stands for, in the first class that the record fits into.
    fn below(
        &self,
        body: &Generalized,
        record: &[ItemId],
        of: &Numbers,
    ) -> Option<Vec<Vec<ItemId>>> {
        let items: Vec<ItemId> = record.iter().map(|&i| of.here[i as usize]).collect();
        let has = |node: ItemId, item: ItemId| self.nodes_of[item as usize].contains(&node);
        let class = self.candidates(&items).into_iter().find(|&class| {
            let (nodes, _) = body.classes.get(class as usize);
            nodes.iter().all(|&node| items.iter().any(|&item| has(node, item)))
        })?;
        let (nodes, _) = body.classes.get(class as usize);
        let choices = |&item: &ItemId| -> Vec<ItemId> {
            let node = nodes.iter().find(|&&node| has(node, item));
            let leaves = node.map_or(&[][..], |&node| &self.leaves_of[node as usize][..]);
            leaves.iter().filter_map(|&leaf| of.there[leaf as usize]).collect()
        };
        Some(items.iter().map(choices).collect())
    }

    /// Without the original: a random class, for each node a random leaf.
    fn draw_people(&self, body: &Generalized, options: &Options) -> People<'static> {
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed ^ 0x7065_6f70_6c65);
        let total = body.classes.total();
        let count = total.min(4 * options.targets as u64);
        let mut draw = |_| {
            let mut place = rng.random_range(0..total);
            let class = body.classes.iter().find(|(_, count)| {
                let here = place < u64::from(*count);
                place = if here { place } else { place - u64::from(*count) };
                here
            });
            let nodes = class.map_or(&[][..], |(nodes, _)| nodes).iter();
            let leaves = nodes.map(|&n| &self.leaves_of[n as usize]).filter(|l| !l.is_empty());
            let mut record: Vec<ItemId> = leaves.map(|l| l[rng.random_range(0..l.len())]).collect();
            record.sort_unstable();
            record.dedup();
            record
        };
        People::from_records((0..count).map(&mut draw))
    }

    /// Classes in which every known item has a node.
    fn candidates(&self, known: &[ItemId]) -> Vec<u32> {
        let with = |item: ItemId| {
            let nodes = &self.nodes_of[item as usize];
            let mut classes: Vec<u32> =
                nodes.iter().flat_map(|&n| &self.classes_of[n as usize]).copied().collect();
            classes.sort_unstable();
            classes.dedup();
            classes
        };
        let lists = known.iter().map(|&item| with(item));
        lists
            .reduce(|a, b| a.into_iter().filter(|c| b.binary_search(c).is_ok()).collect())
            .unwrap_or_default()
    }

    fn evaluate(&self, body: &Generalized, known: &[ItemId]) -> Evaluation {
        let (mut upper, mut candidates) = (0, 0.0);
        // Weight of the candidates per published node, by whether a known item
        // is below it.
        let mut mass = vec![(0.0, 0.0); self.leaves_of.len()];
        for class in self.candidates(known) {
            let (nodes, count) = body.classes.get(class as usize);
            let known_below = |node: ItemId| {
                known.iter().filter(|&&i| self.nodes_of[i as usize].contains(&node)).count() as i32
            };
            let mut weight = f64::from(count);
            for &node in nodes {
                let below = known_below(node);
                if below > 0 {
                    weight *= share(self.leaves_of[node as usize].len(), below);
                }
            }
            for &node in nodes {
                let mass = &mut mass[node as usize];
                match known_below(node) {
                    0 => mass.0 += weight,
                    _ => mass.1 += weight,
                }
            }
            upper += u64::from(count);
            candidates += weight;
        }
        let mut of_item = vec![0.0; self.items.len()];
        for (leaves, (free, taken)) in self.leaves_of.iter().zip(mass) {
            let probability = free * share(leaves.len(), 1) + taken * 0.5;
            if probability > 0.0 {
                leaves.iter().for_each(|&l| of_item[l as usize] += probability);
            }
        }
        let further = of_item.into_iter().enumerate().map(|(i, p)| (i as ItemId, p / candidates));
        let best = further
            .filter(|(i, p)| *p > 0.0 && known.binary_search(i).is_err())
            .reduce(|a, b| if b.1 > a.1 { b } else { a });
        (candidates, upper, best.map(|(i, p)| (i, p.min(1.0))), None)
    }
}

/// Share of the non-empty sets of `leaves` leaves that have `known` given ones.
fn share(leaves: usize, known: i32) -> f64 {
    let leaves = i32::try_from(leaves).unwrap_or(i32::MAX);
    // 2^(n - j) / (2^n - 1), without large numbers.
    0.5f64.powi(known) / (1.0 - 0.5f64.powi(leaves))
}

fn classes(body: &Generalized, index: &Index) -> Classes {
    let (mut items, mut certain, mut homogeneous) = (0u64, 0u64, 0u64);
    for (nodes, count) in body.classes.iter() {
        let leaves = nodes.iter().filter(|&&n| index.leaves_of[n as usize].len() == 1).count();
        items += nodes.len() as u64 * u64::from(count);
        certain += leaves as u64 * u64::from(count);
        homogeneous += if leaves > 0 { u64::from(count) } else { 0 };
    }
    let (count, records) = (body.classes.len() as u64, body.classes.total());
    Classes {
        count,
        min_size: body.classes.iter().map(|(_, c)| u64::from(c)).min().unwrap_or(0),
        mean_size: records as f64 / count.max(1) as f64,
        certain_items: certain as f64 / items.max(1) as f64,
        homogeneous_records: homogeneous as f64 / records.max(1) as f64,
    }
}
