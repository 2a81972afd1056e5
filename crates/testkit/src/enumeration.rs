//! An attacker who knows the program: every data set of a size, grouped by
//! what the program publishes of it.
//!
//! The data sets that end in the same release are all that such an attacker
//! still takes for possible. A set of at most m terms that stand in different
//! record chunks of a cluster is *breached* if some of these data sets have it in
//! the cluster, and none has it k times. The program is called as it is; nothing
//! is assumed about how it works.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use setveil::Dataset;
use setveil::data::{ItemId, K, M};
use setveil::methods::disassociation::safe::{self, Eta, JoinWidth, Linked, Safe};
use setveil::methods::disassociation::{
    CountOnly, HorizontalPartitioning, Horpart, Parameters, Sizes, Verpart, VerticalPartitioning,
    anonymize,
};
use setveil::release::{Bag, Body, Cluster, SimpleCluster};

/// Which data sets, and with which parameters they are published.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// How many records a data set has.
    pub records: usize,
    /// Over how many terms.
    pub terms: usize,
    /// How many candidates must remain.
    pub k: u32,
    /// How many terms are known.
    pub m: u32,
    /// The largest cluster.
    pub max: usize,
    /// The share that may be lost, in millionths.
    pub eta: u32,
}

/// What is published of a data set, and which records each simple cluster is
/// made of.
pub struct Publication {
    /// In canonical order.
    pub clusters: Vec<Cluster>,
    /// The clusters of the first two steps with their records.
    pub leaves: Vec<(SimpleCluster, Vec<u32>)>,
}

/// A program, as everybody knows it.
pub type Program = fn(&Dataset, &Setting) -> Publication;

/// What the attacker finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Data sets.
    pub data_sets: u64,
    /// Different releases.
    pub releases: u64,
    /// Sets of terms across record chunks that occur, over all releases.
    pub sets: u64,
    /// Those that no data set has k times.
    pub breached: u64,
}

/// Calls `visit` with every multiset of `records` non-empty sets over `terms`
/// terms, as bit masks that do not fall.
pub fn each_multiset(records: usize, terms: usize, visit: &mut dyn FnMut(&[u32])) {
    let most = (1u32 << terms) - 1;
    let mut masks = vec![1; records];
    loop {
        visit(&masks);
        let Some(place) = masks.iter().rposition(|&mask| mask < most) else { return };
        let next = masks[place] + 1;
        masks[place..].fill(next);
    }
}

/// The items of every mask over `terms` terms.
pub fn itemsets(terms: usize) -> Vec<Vec<ItemId>> {
    let items = |mask: u32| (0..terms as u32).filter(|i| mask >> i & 1 == 1).collect();
    (0..1u32 << terms).map(items).collect()
}

/// Plays the attacker on every data set of a setting.
pub fn attack(setting: &Setting, program: Program) -> Count {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    one.install(|| attack_here(setting, program))
}

fn attack_here(setting: &Setting, program: Program) -> Count {
    let sets = itemsets(setting.terms);
    let all: Vec<String> = (0..setting.terms).map(crate::random::label).collect();
    let frame = Dataset::from_records([all]);
    let mut count = Count::default();
    let (mut releases, mut best) = (BTreeSet::new(), HashMap::<u128, u32>::new());
    each_multiset(setting.records, setting.terms, &mut |masks| {
        let data = frame.with_records(masks.iter().map(|&mask| &sets[mask as usize][..]));
        let published = program(&data, setting);
        let release = digest(&published.clusters.iter().map(fingerprint).collect::<Vec<_>>());
        releases.insert(release);
        count.data_sets += 1;
        let places = places(&published);
        for ((leaf, records), place) in published.leaves.iter().zip(places) {
            across(leaf, setting.m, &mut |set| {
                let has = |r: &&u32| set & !masks[**r as usize] == 0;
                let support = records.iter().filter(has).count() as u32;
                let most = best.entry(digest(&(release, place, set))).or_default();
                *most = support.max(*most);
            });
        }
    });
    count.releases = releases.len() as u64;
    count.sets = best.values().filter(|&&most| most > 0).count() as u64;
    count.breached = best.values().filter(|&&most| most > 0 && most < setting.k).count() as u64;
    count
}

/// What two releases of the same data tell together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Together {
    /// Data sets.
    pub data_sets: u64,
    /// Different pairs of releases.
    pub pairs: u64,
    /// Pairs of releases with a set of at most m terms that some data set of the
    /// pair has and none has k times, although each release alone leaves one.
    pub broken: u64,
}

/// Publishes every data set twice. k and m are those of the first setting.
pub fn together(first: (&Setting, Program), second: (&Setting, Program)) -> Together {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    one.install(|| together_here(first, second))
}

fn together_here(first: (&Setting, Program), second: (&Setting, Program)) -> Together {
    let (setting, sets) = (first.0, itemsets(first.0.terms));
    let all: Vec<String> = (0..setting.terms).map(crate::random::label).collect();
    let frame = Dataset::from_records([all]);
    let known: Vec<u32> =
        (1..1u32 << setting.terms).filter(|set| set.count_ones() <= setting.m).collect();
    // The largest support of each known set, per release and per pair.
    let mut most: [HashMap<u128, Vec<u32>>; 2] = Default::default();
    let mut pairs: HashMap<(u128, u128), Vec<u32>> = HashMap::new();
    let mut result = Together::default();
    each_multiset(setting.records, setting.terms, &mut |masks| {
        let data = frame.with_records(masks.iter().map(|&mask| &sets[mask as usize][..]));
        let release = |(setting, program): (&Setting, Program)| {
            let clusters = program(&data, setting).clusters;
            digest(&clusters.iter().map(fingerprint).collect::<Vec<_>>())
        };
        let (a, b) = (release(first), release(second));
        let supports: Vec<u32> = known
            .iter()
            .map(|set| masks.iter().filter(|&&mask| set & !mask == 0).count() as u32)
            .collect();
        let raise = |best: &mut Vec<u32>| {
            best.resize(known.len(), 0);
            best.iter_mut().zip(&supports).for_each(|(best, &s)| *best = s.max(*best));
        };
        raise(most[0].entry(a).or_default());
        raise(most[1].entry(b).or_default());
        raise(pairs.entry((a, b)).or_default());
        result.data_sets += 1;
    });
    result.pairs = pairs.len() as u64;
    let is_broken = |((a, b), best): (&(u128, u128), &Vec<u32>)| {
        let alone = most[0][a].iter().zip(&most[1][b]).map(|(a, b)| *a.min(b));
        best.iter()
            .zip(alone)
            .any(|(&both, alone)| (1..setting.k).contains(&both) && alone >= setting.k)
    };
    result.broken = pairs.iter().filter(|pair| is_broken(*pair)).count() as u64;
    result
}

/// Calls `visit` with every set of 2..m terms, as a mask, that stand in two or
/// more record chunks of a cluster.
fn across(leaf: &SimpleCluster, m: u32, visit: &mut dyn FnMut(u32)) {
    let chunks: Vec<u32> = leaf.record_chunks.iter().map(mask).collect();
    let all = chunks.iter().fold(0, |all, chunk| all | chunk);
    if chunks.len() < 2 {
        return;
    }
    for set in (1..=all).filter(|set| set & !all == 0 && (2..=m).contains(&set.count_ones())) {
        if chunks.iter().all(|chunk| set & !chunk != 0) {
            visit(set);
        }
    }
}

fn mask(chunk: &Bag) -> u32 {
    chunk.items().iter().fold(0, |mask, item| mask | 1 << item)
}

/// For every leaf what the release shows of it: leaves that look alike are one.
fn places(published: &Publication) -> Vec<u128> {
    let mut shown: Vec<(&SimpleCluster, BTreeSet<ItemId>)> = Vec::new();
    for cluster in &published.clusters {
        visible(cluster, &BTreeSet::new(), &mut shown);
    }
    let find = |(leaf, _): &(SimpleCluster, Vec<u32>)| {
        let same = |(seen, shared): &&(&SimpleCluster, BTreeSet<ItemId>)| {
            let left = leaf
                .term_chunk
                .iter()
                .filter(|t| !shared.contains(t) || seen.term_chunk.contains(t));
            seen.size == leaf.size
                && sorted(&seen.record_chunks) == sorted(&leaf.record_chunks)
                && left.eq(seen.term_chunk.iter())
        };
        let (seen, shared) = shown.iter().find(same).expect("every leaf is published");
        digest(&(fingerprint(&Cluster::Simple((*seen).clone())), shared))
    };
    published.leaves.iter().map(find).collect()
}

fn sorted(chunks: &[Bag]) -> Vec<&Bag> {
    let mut chunks: Vec<&Bag> = chunks.iter().collect();
    chunks.sort_unstable();
    chunks
}

/// The leaves with the terms that are shared above them.
fn visible<'c>(
    cluster: &'c Cluster,
    above: &BTreeSet<ItemId>,
    shown: &mut Vec<(&'c SimpleCluster, BTreeSet<ItemId>)>,
) {
    match cluster {
        Cluster::Simple(leaf) => shown.push((leaf, above.clone())),
        Cluster::Joint(joint) => {
            let mut above = above.clone();
            above.extend(joint.shared_chunks.iter().flat_map(|chunk| chunk.items()));
            joint.children.iter().for_each(|child| visible(child, &above, shown));
        }
    }
}

/// Everything that a published cluster shows.
fn fingerprint(cluster: &Cluster) -> u128 {
    let chunks = sorted(cluster.chunks());
    let children: Vec<u128> = cluster.children().iter().map(fingerprint).collect();
    let terms = match cluster {
        Cluster::Simple(leaf) => &leaf.term_chunk[..],
        Cluster::Joint(_) => &[],
    };
    digest(&(cluster.size(), chunks, terms, children))
}

/// Two hashes of 64 bits: among millions of values none are equal by chance.
fn digest(value: &impl Hash) -> u128 {
    let half = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        (salt, value).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(1) << 64 | half(2)
}

impl Setting {
    fn k(&self) -> K {
        K::new(self.k).expect("a valid k")
    }

    fn m(&self) -> M {
        M::new(self.m).expect("a valid m")
    }

    fn eta(&self) -> Eta {
        Eta::from_millionths(self.eta).expect("a valid eta")
    }

    fn linked(&self) -> Linked {
        Linked { k: self.k(), m: self.m(), eta: self.eta() }
    }

    fn verpart(&self) -> Verpart {
        Verpart { k: self.k(), m: self.m() }
    }

    fn parameters(&self) -> Parameters {
        Parameters::new(self.k(), self.m()).with_max_cluster_size(self.max)
    }
}

type Leaves = Vec<(SimpleCluster, Vec<u32>)>;

/// The first two steps.
fn steps<V: VerticalPartitioning>(
    data: &Dataset,
    setting: &Setting,
    horizontal: &dyn HorizontalPartitioning,
    vertical: &V,
) -> Leaves {
    let sizes = Sizes::new(setting.k(), setting.max).expect("clusters of 2k at least");
    let may_split = vec![true; data.item_count()];
    let clusters = horizontal.partition(data, &may_split, sizes, &()).expect("enough records");
    let mut scratch = V::Scratch::default();
    let mut chunk = |records: &[u32]| {
        let rows: Vec<&[ItemId]> = records.iter().map(|&r| data.record(r as usize)).collect();
        let chunked = vertical.partition(&mut scratch, &rows, &|_| false, &());
        (chunked.expect("nobody says stop").cluster, records.to_vec())
    };
    clusters.iter().map(&mut chunk).collect()
}

/// Publishes the outcome of the first two steps.
fn unrefined(leaves: Leaves) -> Publication {
    let mut clusters: Vec<Cluster> =
        leaves.iter().map(|(leaf, _)| Cluster::Simple(leaf.clone())).collect();
    clusters.iter_mut().for_each(Cluster::canonicalize);
    clusters.sort_unstable();
    Publication { clusters, leaves }
}

/// The paper's first two steps.
pub fn pooled_plain(data: &Dataset, setting: &Setting) -> Publication {
    unrefined(steps(data, setting, &Horpart, &setting.verpart()))
}

/// The paper's clusters, linked chunks.
pub fn pooled_linked(data: &Dataset, setting: &Setting) -> Publication {
    unrefined(steps(data, setting, &Horpart, &setting.linked()))
}

/// Clusters by counts alone, the paper's chunks.
pub fn count_only_plain(data: &Dataset, setting: &Setting) -> Publication {
    unrefined(steps(data, setting, &CountOnly, &setting.verpart()))
}

/// The whole of the paper's method.
pub fn plain(data: &Dataset, setting: &Setting) -> Publication {
    let release = anonymize(data, &setting.parameters(), &()).expect("enough records");
    let Body::Disassociated(body) = release.body else { unreachable!("of this method") };
    let leaves = steps(data, setting, &Horpart, &setting.verpart());
    Publication { clusters: body.clusters, leaves }
}

fn safe_with(data: &Dataset, setting: &Setting, refine: bool, width: JoinWidth) -> Publication {
    let options = Safe { eta: setting.eta(), join_width: width, ..Safe::default() };
    let parameters = setting.parameters().with_refine(refine);
    let outcome = safe::disassociate(data, &parameters, &options, &()).expect("enough records");
    let records = outcome.clusters.iter().map(<[u32]>::to_vec);
    let leaves = outcome.leaves.into_iter().map(|leaf| leaf.cluster).zip(records).collect();
    Publication { clusters: outcome.published, leaves }
}

/// Clusters by counts alone and linked chunks.
pub fn safe_unrefined(data: &Dataset, setting: &Setting) -> Publication {
    safe_with(data, setting, false, JoinWidth::ALL)
}

/// The whole of safe disassociation, all clusters joined.
pub fn safe(data: &Dataset, setting: &Setting) -> Publication {
    safe_with(data, setting, true, JoinWidth::ALL)
}

/// The whole of safe disassociation, clusters joined in runs of two.
pub fn safe_in_runs(data: &Dataset, setting: &Setting) -> Publication {
    safe_with(data, setting, true, JoinWidth::new(2).expect("a valid width"))
}
