//! The vertical partitioning of DLS beside that of disassociation, and the
//! search for minimal problematic itemsets, on the same random clusters.

use divan::Bencher;
use setveil::Dataset;
use setveil::data::{ItemId, K, M};
use setveil::methods::disassociation::verpart;
use setveil::methods::dls::{dls_cluster, mpii};
use setveil::release::SimpleCluster;

fn main() {
    divan::main();
}

/// k, m and the records of a cluster.
const CASES: [(u32, u32, usize); 6] =
    [(5, 2, 50), (10, 2, 50), (10, 2, 200), (10, 2, 1000), (10, 3, 200), (10, 5, 200)];

/// 50 clusters over 60 items with a skewed frequency.
fn clusters(records: usize) -> Vec<Dataset> {
    (0..50)
        .map(|seed| Dataset::from_records(testkit::random::records(seed, records, 60, 5.0)))
        .collect()
}

fn run(bencher: Bencher, case: (u32, u32, usize), kernel: fn(&[&[ItemId]], K, M) -> SimpleCluster) {
    let (k, m) = (K::new(case.0).expect("valid"), M::new(case.1).expect("valid"));
    let data = clusters(case.2);
    let rows: Vec<Vec<&[ItemId]>> = data.iter().map(|d| d.records().collect()).collect();
    bencher.bench(|| rows.iter().map(|r| kernel(r, k, m).record_chunks.len()).sum::<usize>());
}

#[divan::bench(args = CASES)]
fn dls(bencher: Bencher, case: (u32, u32, usize)) {
    run(bencher, case, dls_cluster);
}

#[divan::bench(args = CASES)]
fn disassociation(bencher: Bencher, case: (u32, u32, usize)) {
    run(bencher, case, verpart);
}

#[divan::bench(args = CASES)]
fn minimal_problematic_itemsets(bencher: Bencher, case: (u32, u32, usize)) {
    let (k, m) = (K::new(case.0).expect("valid"), M::new(case.1).expect("valid"));
    let data = clusters(case.2);
    let rows: Vec<Vec<&[ItemId]>> = data.iter().map(|d| d.records().collect()).collect();
    bencher.bench(|| rows.iter().map(|r| mpii(r, k, m).len()).sum::<usize>());
}
