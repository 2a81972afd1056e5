//! What an attacker and a recipient ask of a release of Quest baskets.

use std::sync::Arc;

use divan::Bencher;
use divan::counter::ItemsCount;
use setveil::attack::{Kernel, Options, attack};
use setveil::data::{Dataset, ItemId, K, M};
use setveil::methods::disassociation::{Parameters, anonymize};
use setveil::query::Index;
use setveil::reconstruct::TermOccurrences;
use setveil::release::{Body, Release};
use setveil::worlds::{Knowledge, ReleaseWorlds};

fn main() {
    divan::main();
}

const QUESTIONS: usize = 1000;

fn quest(records: u64) -> Dataset {
    testkit::random::quest(records, 2_000)
}

fn release(data: &Dataset) -> Release {
    let parameters = Parameters::new(K::new(5).expect("valid"), M::new(2).expect("valid"));
    anonymize(data, &parameters, &()).expect("feasible")
}

/// The first items of records that are spread over the data.
fn itemsets(data: &Dataset, size: usize) -> Vec<Vec<ItemId>> {
    let long: Vec<&[ItemId]> = data.records().filter(|r| r.len() >= size).collect();
    let step = (long.len() / QUESTIONS).max(1);
    long.iter().step_by(step).take(QUESTIONS).map(|r| r[..size].to_vec()).collect()
}

/// Covers, posteriors of 400 targets: everything but the algorithm itself.
#[divan::bench(args = [10_000, 50_000])]
fn strong_attacker(bencher: Bencher, records: u64) {
    let data = quest(records);
    let release = release(&data);
    let (options, kernel) = (Options::default().worlds(0), Kernel::unknown().with_refusals());
    bencher.bench(|| attack(&release, Some(&data), &options, &kernel, &()).expect("valid options"));
}

#[divan::bench(args = [1, 2, 3])]
fn posterior(bencher: Bencher, known: usize) {
    let data = quest(50_000);
    let release = release(&data);
    let Body::Disassociated(body) = &release.body else { return };
    let worlds = ReleaseWorlds::new(body.clone(), Knowledge::Format);
    let sets = itemsets(&data, known);
    bencher
        .counter(ItemsCount::new(sets.len()))
        .bench(|| sets.iter().map(|set| worlds.posterior(set).items.len()).sum::<usize>());
}

#[divan::bench(args = [10_000, 50_000])]
fn index(bencher: Bencher, records: u64) {
    let release = Arc::new(release(&quest(records)));
    bencher.bench(|| Index::new(release.clone(), TermOccurrences::Once));
}

#[divan::bench(args = [1, 2, 3])]
fn query(bencher: Bencher, items: usize) {
    let data = quest(50_000);
    let release = release(&data);
    let index = Index::new(release, TermOccurrences::Once);
    let sets: Vec<Vec<String>> =
        itemsets(&data, items).iter().map(|set| data.vocabulary().texts(set)).collect();
    bencher
        .counter(ItemsCount::new(sets.len()))
        .bench(|| index.ask_all(&sets, &()).expect("no itemset is empty").len());
}
