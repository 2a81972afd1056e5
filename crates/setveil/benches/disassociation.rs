//! Disassociation, step by step, on market baskets of the Quest model.

use divan::Bencher;
use divan::counter::ItemsCount;
use setveil::data::{Dataset, ItemId, K, M};
use setveil::methods::disassociation::{
    Clusters, HorizontalPartitioning, Horpart, Parameters, anonymize, verpart,
};
use setveil::verify::verify;

fn main() {
    divan::main();
}

const RECORDS: u64 = 50_000;

fn quest() -> Dataset {
    testkit::random::quest(RECORDS, 2_000)
}

fn parameters(k: u32, m: u32) -> Parameters {
    Parameters::new(K::new(k).expect("valid"), M::new(m).expect("valid"))
}

fn clusters(data: &Dataset, k: u32) -> Clusters {
    let sizes = parameters(k, 2).sizes().expect("valid");
    Horpart.partition(data, &vec![true; data.item_count()], sizes, &()).expect("not stopped")
}

#[divan::bench(args = [5, 20])]
fn horpart(bencher: Bencher, k: u32) {
    let data = quest();
    bencher.counter(ItemsCount::new(RECORDS)).bench(|| clusters(&data, k));
}

#[divan::bench(args = [2, 3, 4])]
fn verpart_all_clusters(bencher: Bencher, m: u32) {
    let data = quest();
    let clusters = clusters(&data, 5);
    let (k, m) = (K::new(5).expect("valid"), M::new(m).expect("valid"));
    bencher.counter(ItemsCount::new(RECORDS)).bench(|| {
        (0..clusters.len())
            .map(|c| {
                let rows: Vec<&[ItemId]> = clusters.rows(c, &data);
                verpart(&rows, k, m).record_chunks.len()
            })
            .sum::<usize>()
    });
}

/// With and without REFINE: the difference is its cost.
#[divan::bench(args = [true, false])]
fn anonymize_with_refine(bencher: Bencher, refine: bool) {
    let data = quest();
    let parameters = parameters(5, 2).with_refine(refine);
    bencher
        .counter(ItemsCount::new(RECORDS))
        .bench(|| anonymize(&data, &parameters, &()).expect("feasible"));
}

#[divan::bench(args = [2, 3])]
fn verify_release(bencher: Bencher, m: u32) {
    let release = anonymize(&quest(), &parameters(5, m), &()).expect("feasible");
    bencher.counter(ItemsCount::new(RECORDS)).bench(|| verify(&release, &()).unwrap().holds);
}
