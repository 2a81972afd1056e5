//! Clusters: per leaf, where each item of the set can come from.
//!
//! In a given leaf every item has at most one source: one of the leaf's own
//! record chunks, its term chunk, or the nearest shared chunk above that has
//! it. The index lists for every item the leaves with their source, so a
//! question touches only leaves in which all of its items can be.
//!
//! - In a simple cluster, bounds and expectation are those of its possible
//!   worlds ([`ClusterModel`]).
//! - In a leaf below a joint cluster, parts overlap in at least their sum less
//!   (parts - 1) times the size and in at most the smallest of them. Leaves
//!   that draw the same parts from shared chunks together get no more than
//!   these have. An itemset inside one chunk has exactly its count there.
//!   Expectations send shared sub-records to the leaves that may take them in
//!   proportion to their sizes: an approximation.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::Estimate;
use crate::data::{ItemId, K};
use crate::reconstruct::TermOccurrences;
use crate::release::{Bag, Cluster, Disassociated, SimpleCluster};
use crate::worlds::{ClusterModel, Knowledge};

/// The source of a term of the term chunk; others are numbers of chunks.
const TERM: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Index<'a> {
    body: &'a Disassociated,
    leaves: Vec<Leaf>,
    chunks: Vec<Chunk<'a>>,
    /// Per item, the leaves that can have it with its source there, ascending.
    places: Vec<Vec<(u32, u32)>>,
}

#[derive(Debug)]
struct Leaf {
    /// The cluster at the top that the leaf belongs to.
    top: u32,
    size: u64,
    joint: bool,
    /// Whatever the format allows, for bounds; only for simple clusters.
    worlds: Option<ClusterModel>,
    /// With the term occurrences that were asked for, for expectations.
    likely: ClusterModel,
    /// Shared chunks with items that the leaf has from elsewhere: sub-records
    /// with one of these may not come. Ascending by chunk.
    blocked: Vec<(u32, Vec<ItemId>)>,
}

#[derive(Debug)]
struct Chunk<'a> {
    bag: &'a Bag,
    shared: bool,
    /// Ascending.
    domain: Vec<ItemId>,
    /// Per item of the domain.
    supports: Vec<u64>,
    /// Per sub-record of a shared chunk: the records that may take it.
    open: Vec<u64>,
}

impl<'a> Chunk<'a> {
    fn new(bag: &'a Bag, shared: bool) -> Self {
        let domain = bag.domain();
        let mut supports = vec![0; domain.len()];
        for (items, count) in bag.iter() {
            for item in items {
                let at = domain.binary_search(item).expect("the domain has it");
                supports[at] += u64::from(count);
            }
        }
        Self { bag, shared, domain, supports, open: Vec::new() }
    }

    fn at(&self, item: ItemId) -> usize {
        self.domain.binary_search(&item).expect("it is a source of the item")
    }

    fn support(&self, items: &[ItemId]) -> u64 {
        match items {
            [item] => self.supports[self.at(*item)],
            _ => self.bag.support(items),
        }
    }

    /// How many sub-records with all of `items` and none of `blocked` a record
    /// that may take them gets on average.
    fn density(&self, items: &[ItemId], blocked: &[ItemId]) -> f64 {
        let has = |set: &[ItemId], i: &ItemId| set.binary_search(i).is_ok();
        let sub_records = self.bag.iter().zip(&self.open);
        let coming = sub_records.filter(|((set, _), _)| {
            items.iter().all(|i| has(set, i)) && !blocked.iter().any(|i| has(set, i))
        });
        coming.map(|((_, count), &open)| f64::from(count) / open.max(1) as f64).sum()
    }
}

/// The leaves below a cluster while its places are collected.
struct Draft<'a> {
    leaf: &'a SimpleCluster,
    taken: FxHashSet<ItemId>,
    /// Mean numbers of sub-records from shared chunks.
    inflows: Vec<f64>,
    blocked: Vec<(u32, Vec<ItemId>)>,
}

impl<'a> Index<'a> {
    pub(super) fn new(body: &'a Disassociated, terms: TermOccurrences, k: Option<u32>) -> Self {
        let places = vec![Vec::new(); body.vocabulary.len()];
        let mut index = Self { body, leaves: Vec::new(), chunks: Vec::new(), places };
        let mut drafts: Vec<(u32, bool, Draft)> = Vec::new();
        for (top, cluster) in body.clusters.iter().enumerate() {
            let mut below = Vec::new();
            index.visit(cluster, drafts.len(), &mut below);
            let joint = below.len() > 1;
            drafts.extend(below.into_iter().map(|draft| (top as u32, joint, draft)));
        }
        index.places.par_iter_mut().for_each(|places| places.sort_unstable());
        index.leaves = drafts
            .into_par_iter()
            .map(|(top, joint, draft)| {
                let worlds = (!joint).then(|| ClusterModel::of(draft.leaf, Knowledge::Format));
                let likely = likely(&draft, terms, k);
                let size = draft.leaf.size.into();
                Leaf { top, size, joint, worlds, likely, blocked: draft.blocked }
            })
            .collect();
        index
    }

    /// Collects the chunks and places of a cluster; its leaves get numbers
    /// from `first` on.
    fn visit(&mut self, cluster: &'a Cluster, first: usize, drafts: &mut Vec<Draft<'a>>) {
        let start = drafts.len();
        cluster.children().iter().for_each(|child| self.visit(child, first, drafts));
        if let Cluster::Simple(leaf) = cluster {
            drafts.push(Draft {
                leaf,
                taken: FxHashSet::default(),
                inflows: Vec::new(),
                blocked: Vec::new(),
            });
            for &term in &leaf.term_chunk {
                self.places[term as usize].push(((first + start) as u32, TERM));
            }
            drafts[start].taken.extend(&leaf.term_chunk);
        }
        for bag in cluster.chunks() {
            let mut chunk = Chunk::new(bag, matches!(cluster, Cluster::Joint(_)));
            let number = self.chunks.len() as u32;
            for (l, draft) in drafts.iter_mut().enumerate().skip(start) {
                let mut elsewhere = Vec::new();
                for &item in &chunk.domain {
                    if draft.taken.insert(item) {
                        self.places[item as usize].push(((first + l) as u32, number));
                    } else {
                        elsewhere.push(item);
                    }
                }
                if chunk.shared && !elsewhere.is_empty() {
                    draft.blocked.push((number, elsewhere));
                }
            }
            if chunk.shared {
                receive(&mut chunk, number, &mut drafts[start..]);
            }
            self.chunks.push(chunk);
        }
    }

    pub(super) fn ask(&self, labels: &[&str]) -> Estimate {
        let ids = labels.iter().map(|label| self.body.vocabulary.id(label));
        let Some(itemset) = ids.collect::<Option<Vec<ItemId>>>() else {
            return Estimate::default();
        };
        let mut lists: Vec<(ItemId, &[(u32, u32)])> =
            itemset.iter().map(|&item| (item, &self.places[item as usize][..])).collect();
        lists.sort_unstable_by_key(|(_, list)| list.len());
        let mut sum = Sum::default();
        let mut sources: Vec<(u32, ItemId)> = Vec::with_capacity(lists.len());
        'leaves: for &(l, source) in lists[0].1 {
            sources.clear();
            sources.push((source, lists[0].0));
            for (item, list) in &mut lists[1..] {
                *list = &list[skip_to(list, l)..];
                match list.first() {
                    Some(&(at, source)) if at == l => sources.push((source, *item)),
                    Some(_) => continue 'leaves,
                    None => break 'leaves,
                }
            }
            sources.sort_unstable();
            self.add(l, &sources, &mut sum);
        }
        sum.flush();
        sum.total
    }

    /// Adds what one leaf can have of the itemset, given the items' sources.
    fn add(&self, l: u32, sources: &[(u32, ItemId)], sum: &mut Sum) {
        let leaf = &self.leaves[l as usize];
        sum.enter(leaf.top);
        let (mut counts, mut terms) = (Vec::new(), 0);
        let mut product = 1.0;
        let mut shared: Vec<(u32, Vec<ItemId>)> = Vec::new();
        let mut least_shared = u64::MAX;
        for run in sources.chunk_by(|a, b| a.0 == b.0) {
            let source = run[0].0;
            if source == TERM {
                terms = run.len();
                continue;
            }
            let items: Vec<ItemId> = run.iter().map(|r| r.1).collect();
            let chunk = &self.chunks[source as usize];
            let support = chunk.support(&items);
            if support == 0 {
                return;
            }
            if chunk.shared {
                let blocked = leaf.blocked.binary_search_by_key(&source, |b| b.0);
                let blocked = blocked.map_or(&[][..], |at| &leaf.blocked[at].1);
                product *= chunk.density(&items, blocked) * leaf.size as f64;
                least_shared = least_shared.min(support);
                shared.push((source, items));
            } else {
                product *= support as f64;
                counts.push(support);
            }
        }
        let parts = counts.len() + shared.len();
        if shared.len() == 1 && parts == 1 && terms == 0 {
            // Wherever they go: all of them go somewhere.
            sum.once(shared.remove(0).0, least_shared);
            return;
        }
        let expected = product * ratio(&leaf.likely, parts, terms);
        let (lower, upper) = match &leaf.worlds {
            Some(worlds) => worlds.bounds(&counts, terms),
            None => overlap(&counts, terms, leaf.size),
        };
        debug_assert!(leaf.joint || shared.is_empty());
        if shared.is_empty() {
            let expected = expected.clamp(lower as f64, upper as f64);
            sum.total = plus(sum.total, Estimate { lower, expected, upper });
        } else {
            sum.drawn(shared, least_shared, expected, upper.min(least_shared));
        }
    }
}

/// Finds out how many records may take each sub-record of a shared chunk, and
/// how many each leaf gets on average.
fn receive(chunk: &mut Chunk, number: u32, drafts: &mut [Draft]) {
    let takes = |draft: &Draft, items: &[ItemId]| match draft.blocked.last() {
        Some((chunk, blocked)) if *chunk == number => {
            !items.iter().any(|item| blocked.binary_search(item).is_ok())
        }
        _ => true,
    };
    let mut means = vec![0.0; drafts.len()];
    for (items, count) in chunk.bag.iter() {
        let sizes = drafts.iter().filter(|d| takes(d, items)).map(|d| u64::from(d.leaf.size));
        let open: u64 = sizes.sum();
        chunk.open.push(open);
        for (draft, mean) in drafts.iter().zip(&mut means).filter(|(d, _)| takes(d, items)) {
            *mean += f64::from(count) * f64::from(draft.leaf.size) / open as f64;
        }
    }
    for (draft, mean) in drafts.iter_mut().zip(means).filter(|(_, mean)| *mean > 0.0) {
        draft.inflows.push(mean);
    }
}

/// What parts of a joint cluster's leaf overlap in at least and at most.
fn overlap(counts: &[u64], terms: usize, size: u64) -> (u64, u64) {
    let parts = (counts.len() + terms) as u64;
    let all = counts.iter().sum::<u64>() + terms as u64;
    let lower = if parts == 0 { 0 } else { all.saturating_sub((parts - 1) * size) };
    (lower, counts.iter().copied().min().unwrap_or(size).min(size))
}

/// The model's factor; where its worlds are impossible (a joint cluster's
/// leaf that needs more shared sub-records than it gets on average), the one
/// without regard to empty records.
fn ratio(model: &ClusterModel, parts: usize, terms: usize) -> f64 {
    if model.possible() {
        model.ratio(parts, terms)
    } else {
        (model.size() as f64).powi(1 - (parts + terms) as i32)
    }
}

fn plus(a: Estimate, b: Estimate) -> Estimate {
    Estimate {
        lower: a.lower + b.lower,
        expected: a.expected + b.expected,
        upper: a.upper + b.upper,
    }
}

/// The sum over leaves; what leaves of one joint cluster draw from the same
/// shared chunks is held back until the cluster is left.
#[derive(Default)]
struct Sum {
    total: Estimate,
    top: Option<u32>,
    /// Shared chunks that hold the whole itemset, and were counted.
    counted: Vec<u32>,
    groups: Vec<Group>,
}

/// Leaves that draw the same parts from shared chunks.
struct Group {
    drawn: Vec<(u32, Vec<ItemId>)>,
    most: u64,
    upper: u64,
    expected: f64,
}

impl Sum {
    fn enter(&mut self, top: u32) {
        if self.top != Some(top) {
            self.flush();
            self.top = Some(top);
        }
    }

    fn once(&mut self, chunk: u32, support: u64) {
        if !self.counted.contains(&chunk) {
            self.counted.push(chunk);
            let exact = Estimate { lower: support, expected: support as f64, upper: support };
            self.total = plus(self.total, exact);
        }
    }

    fn drawn(&mut self, drawn: Vec<(u32, Vec<ItemId>)>, most: u64, expected: f64, upper: u64) {
        match self.groups.iter_mut().find(|g| g.drawn == drawn) {
            Some(group) => {
                group.upper += upper;
                group.expected += expected;
            }
            None => self.groups.push(Group { drawn, most, upper, expected }),
        }
    }

    fn flush(&mut self) {
        for group in self.groups.drain(..) {
            let upper = group.upper.min(group.most);
            let expected = group.expected.min(upper as f64);
            self.total = plus(self.total, Estimate { lower: 0, expected, upper });
        }
        self.counted.clear();
    }
}

/// The first position whose leaf is not below `leaf`.
fn skip_to(list: &[(u32, u32)], leaf: u32) -> usize {
    let mut step = 1;
    while step < list.len() && list[step].0 < leaf {
        step *= 2;
    }
    let end = (step + 1).min(list.len());
    step / 2 + list[step / 2..end].partition_point(|p| p.0 < leaf)
}

/// The model for expectations: own chunks, what shared chunks bring on
/// average, and as many occurrences of terms as a reconstruction gives them.
fn likely(draft: &Draft, terms: TermOccurrences, k: Option<u32>) -> ClusterModel {
    let leaf = draft.leaf;
    let size = u64::from(leaf.size);
    let mut totals: Vec<u64> = leaf.record_chunks.iter().map(Bag::total).collect();
    totals.extend(draft.inflows.iter().map(|mean| (mean.round() as u64).min(size)));
    let uncovered = size.saturating_sub(totals.iter().sum()) as usize;
    let tau = leaf.term_chunk.len();
    if tau == 0 && !draft.inflows.is_empty() {
        // What the leaf cannot do without, it gets.
        totals.push(uncovered as u64);
    }
    let cap = terms.cap(k, leaf.size as usize, uncovered, tau) as u32;
    let knowledge = match terms {
        TermOccurrences::Any => Knowledge::Format,
        _ => K::new(cap.saturating_add(1)).map_or(Knowledge::Format, Knowledge::Algorithm),
    };
    ClusterModel::from_totals(size, &totals, tau, knowledge)
}
