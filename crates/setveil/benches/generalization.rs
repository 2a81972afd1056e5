//! Partition, Apriori, rare-item removal, DiffPart, and the verification of their
//! releases, on made-up data and, where it is present, on BMS-WebView-2.

use divan::Bencher;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::data::{Hierarchy, K, M};
use setveil::io::{ReadOptions, read_dataset};
use setveil::methods::{apriori, diffpart, partition, suppress_rare};
use setveil::{Dataset, Release, verify};

fn main() {
    divan::main();
}

const DATA: [&str; 2] = ["made-up-20k", "bms-webview-2"];

fn data(name: &str) -> Option<(Dataset, Hierarchy)> {
    let data = match name {
        "bms-webview-2" => {
            let path = testkit::real::data_file("bms-webview-2.dat.gz")?;
            read_dataset(&path, &ReadOptions::default(), &()).ok()?.dataset
        }
        _ => Dataset::from_records(testkit::random::records(1, 20_000, 400, 5.0)),
    };
    let tree = balanced(data.vocabulary(), 5, LeafOrder::Natural).ok()?;
    Some((data, tree))
}

fn k() -> K {
    K::new(10).expect("valid")
}

fn run_partition(data: &Dataset, tree: Hierarchy) -> Release {
    partition::anonymize(data, &partition::Parameters::new(k(), tree), &()).expect("feasible")
}

fn run_apriori(data: &Dataset, tree: Hierarchy) -> Release {
    let parameters = apriori::Parameters::new(k(), M::new(2).expect("valid"), tree);
    apriori::anonymize(data, &parameters, &()).expect("feasible")
}

#[divan::bench(args = DATA)]
fn partition_k10(bencher: Bencher, name: &str) {
    let Some((data, tree)) = data(name) else { return };
    bencher.with_inputs(|| tree.clone()).bench_values(|tree| run_partition(&data, tree));
}

#[divan::bench(args = DATA)]
fn apriori_k10_m2(bencher: Bencher, name: &str) {
    let Some((data, tree)) = data(name) else { return };
    bencher.with_inputs(|| tree.clone()).bench_values(|tree| run_apriori(&data, tree));
}

#[divan::bench(args = DATA)]
fn suppress_rare_k10(bencher: Bencher, name: &str) {
    let Some((data, _)) = data(name) else { return };
    bencher.bench(|| suppress_rare::anonymize(&data, &suppress_rare::Parameters::new(k()), &()));
}

#[divan::bench(args = DATA)]
fn diffpart_epsilon_1(bencher: Bencher, name: &str) {
    let Some((data, tree)) = data(name) else { return };
    let parameters = diffpart::Parameters::new("1".parse().expect("valid"), tree);
    bencher
        .with_inputs(|| ChaCha20Rng::seed_from_u64(1))
        .bench_values(|mut rng| diffpart::anonymize(&data, &parameters, &mut rng, &()));
}

#[divan::bench(args = DATA)]
fn verify_partition_k10(bencher: Bencher, name: &str) {
    let Some((data, tree)) = data(name) else { return };
    let release = run_partition(&data, tree);
    bencher.bench(|| verify::verify(&release, &()).unwrap());
}

#[divan::bench(args = DATA)]
fn verify_apriori_k10_m2(bencher: Bencher, name: &str) {
    let Some((data, tree)) = data(name) else { return };
    let release = run_apriori(&data, tree);
    bencher.bench(|| verify::verify(&release, &()).unwrap());
}
