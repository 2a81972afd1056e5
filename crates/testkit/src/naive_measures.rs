//! The measures by counting over texts: every definition once more, slowly.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use setveil::Dataset;
use setveil::release::{Body, Cluster, Release};

/// Itemsets of texts, each with how often it occurs.
pub type Counted = Vec<(BTreeSet<String>, u64)>;

/// The records of a data set.
pub fn records(data: &Dataset) -> Counted {
    let text = |r: &[u32]| data.vocabulary().texts(r).into_iter().collect();
    data.records().map(|r| (text(r), 1)).collect()
}

/// The sub-records of all record and shared chunks.
pub fn chunk_records(release: &Release) -> Counted {
    let Body::Disassociated(body) = &release.body else { return Vec::new() };
    fn collect(cluster: &Cluster, release: &Release, out: &mut Counted) {
        for chunk in cluster.chunks() {
            for (items, count) in chunk.iter() {
                let texts = release.body.vocabulary().texts(items).into_iter().collect();
                out.push((texts, count.into()));
            }
        }
        cluster.children().iter().for_each(|c| collect(c, release, out));
    }
    let mut out = Vec::new();
    body.clusters.iter().for_each(|c| collect(c, release, &mut out));
    out
}

/// How often all of `itemset` stands together.
pub fn support(records: &Counted, itemset: &[&str]) -> u64 {
    let all = |r: &BTreeSet<String>| itemset.iter().all(|i| r.contains(*i));
    records.iter().filter(|(r, _)| all(r)).map(|(_, c)| c).sum()
}

fn items(records: &Counted) -> BTreeSet<String> {
    records.iter().flat_map(|(r, _)| r.iter().cloned()).collect()
}

fn pairs_of(records: &Counted) -> BTreeMap<(String, String), u64> {
    let mut pairs = BTreeMap::new();
    for (record, count) in records {
        for a in record {
            for b in record.iter().filter(|b| a < *b) {
                *pairs.entry((a.clone(), b.clone())).or_insert(0) += count;
            }
        }
    }
    pairs
}

/// The share of terms with support k or more that stand in no chunk.
pub fn tlost(original: &Counted, chunks: &Counted, k: u64) -> f64 {
    let frequent: Vec<String> =
        items(original).into_iter().filter(|i| support(original, &[i]) >= k).collect();
    let lost = frequent.iter().filter(|i| !items(chunks).contains(*i)).count();
    if frequent.is_empty() { 0.0 } else { lost as f64 / frequent.len() as f64 }
}

/// Pair occurrences inside chunks over pair occurrences in the original.
pub fn pairs_kept(original: &Counted, chunks: &Counted) -> f64 {
    let all: u64 = pairs_of(original).values().sum();
    if all == 0 { 1.0 } else { pairs_of(chunks).values().sum::<u64>() as f64 / all as f64 }
}

/// Occurrences of pairs with support k or more over all pair occurrences.
pub fn pairs_limit(original: &Counted, k: u64) -> f64 {
    let pairs = pairs_of(original);
    let all: u64 = pairs.values().sum();
    let allowed: u64 = pairs.values().filter(|&&s| s >= k).sum();
    if all == 0 { 1.0 } else { allowed as f64 / all as f64 }
}

/// The mean relative error over the pairs of terms with ranks in `range`;
/// `sets` published sets were put together.
pub fn relative_error(
    original: &Counted,
    published: &Counted,
    sets: u32,
    range: Range<usize>,
) -> Option<f64> {
    let mut terms: Vec<(i64, String)> =
        items(original).into_iter().map(|i| (-(support(original, &[&i]) as i64), i)).collect();
    terms.sort();
    let terms: Vec<String> =
        terms.into_iter().skip(range.start).take(range.len()).map(|t| t.1).collect();
    let mut errors = Vec::new();
    for (i, a) in terms.iter().enumerate() {
        for b in &terms[i + 1..] {
            let so = support(original, &[a, b]) as f64;
            let sp = support(published, &[a, b]) as f64 / f64::from(sets);
            errors.push(if so + sp == 0.0 { 0.0 } else { (so - sp).abs() * 2.0 / (so + sp) });
        }
    }
    (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
}

/// The first `top` itemsets by support, size and text among all subsets of
/// all records, without those that `refuse`.
pub fn top_itemsets(
    records: &Counted,
    top: usize,
    refuse: &dyn Fn(&str, &str) -> bool,
) -> BTreeSet<Vec<String>> {
    let mut supports: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for (record, count) in records {
        let items: Vec<&String> = record.iter().collect();
        assert!(items.len() < 20, "too long for brute force");
        for mask in 1_u32..1 << items.len() {
            let subset: Vec<String> =
                (0..items.len()).filter(|i| mask >> i & 1 == 1).map(|i| items[i].clone()).collect();
            if !subset.iter().any(|a| subset.iter().any(|b| a != b && refuse(a, b))) {
                *supports.entry(subset).or_insert(0) += count;
            }
        }
    }
    let mut ranked: Vec<(i64, usize, Vec<String>)> =
        supports.into_iter().map(|(s, n)| (-(n as i64), s.len(), s)).collect();
    ranked.sort();
    ranked.into_iter().take(top).map(|r| r.2).collect()
}

/// The share of the original's top itemsets that the other's lack.
pub fn top_k_deviation(original: &BTreeSet<Vec<String>>, other: &BTreeSet<Vec<String>>) -> f64 {
    original.difference(other).count() as f64 / original.len() as f64
}
