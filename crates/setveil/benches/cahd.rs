//! CAHD and PermMondrian: the band matrix, the groups and everything, on the
//! paper's data where it is present and on random data of a fixed size.

use divan::{Bencher, counter::ItemsCount};
use setveil::data::P;
use setveil::methods::cahd::SensitiveOnly;
use setveil::methods::{cahd, perm_mondrian};
use setveil::{Dataset, io};
use testkit::random;

fn main() {
    divan::main();
}

const DATA: [&str; 4] = ["random-20k", "bms-webview-1", "bms-webview-2", "t10i4d100k"];

/// The data, or none where the file is absent.
fn load(name: &str) -> Option<Dataset> {
    if name == "random-20k" {
        return Some(Dataset::from_records(testkit::random::records(1, 20_000, 500, 6.0)));
    }
    let path = testkit::real::data_file(&format!("{name}.dat.gz"))?;
    Some(io::read_dataset(&path, &Default::default(), &()).expect("the file is good").dataset)
}

/// Without the records that hold nothing but sensitive items.
fn load_for(name: &str) -> Option<(Dataset, Vec<String>)> {
    let data = load(name)?;
    let labels = draw(&data);
    let items = cahd::resolve(&data, &labels).unwrap();
    let kept = cahd::settle_sensitive_only(&data, items, SensitiveOnly::Drop).unwrap().0;
    Some((kept.into_owned(), labels))
}

fn draw(data: &Dataset) -> Vec<String> {
    cahd::draw(data, 10, P::new(20).unwrap(), &mut testkit::random::rng(1)).unwrap()
}

#[divan::bench(args = DATA, sample_count = 10)]
fn rcm(bencher: Bencher, name: &str) {
    let Some(data) = load(name) else { return };
    let items = cahd::resolve(&data, &draw(&data)).unwrap();
    bencher.counter(ItemsCount::new(data.len())).bench(|| {
        let split = cahd::Split::new(&data, &items, &()).unwrap();
        cahd::band_order(&split, data.item_count(), &()).unwrap()
    });
}

#[divan::bench(args = DATA, consts = [4, 10, 20], sample_count = 10)]
fn blind<const DEGREE: u32>(bencher: Bencher, name: &str) {
    let Some((data, labels)) = load_for(name) else { return };
    let parameters = cahd::Parameters::new(P::new(DEGREE).unwrap(), labels);
    bencher
        .counter(ItemsCount::new(data.len()))
        .bench(|| cahd::anonymize(&data, &parameters, &mut random::rng(1), &()).unwrap());
}

#[divan::bench(args = DATA, consts = [4, 10, 20], sample_count = 10)]
fn as_printed<const DEGREE: u32>(bencher: Bencher, name: &str) {
    let Some((data, labels)) = load_for(name) else { return };
    let mut parameters = cahd::Parameters::new(P::new(DEGREE).unwrap(), labels);
    parameters.grouping = cahd::Grouping::as_printed();
    bencher
        .counter(ItemsCount::new(data.len()))
        .bench(|| cahd::anonymize(&data, &parameters, &mut random::rng(1), &()).unwrap());
}

#[divan::bench(args = DATA, sample_count = 5)]
fn perm_mondrian_all(bencher: Bencher, name: &str) {
    let Some((data, labels)) = load_for(name) else { return };
    let parameters = perm_mondrian::Parameters::new(P::new(10).unwrap(), labels);
    bencher
        .counter(ItemsCount::new(data.len()))
        .bench(|| perm_mondrian::anonymize(&data, &parameters, &()).unwrap());
}

#[divan::bench(args = DATA, sample_count = 10)]
fn verify(bencher: Bencher, name: &str) {
    let Some((data, labels)) = load_for(name) else { return };
    let parameters = cahd::Parameters::new(P::new(10).unwrap(), labels);
    let release = cahd::anonymize(&data, &parameters, &mut random::rng(1), &()).unwrap();
    bencher
        .counter(ItemsCount::new(data.len()))
        .bench(|| setveil::verify::verify(&release, &()).unwrap());
}
