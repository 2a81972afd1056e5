//! What is expected of data in which a few records are very long.

use rand::RngExt;
use rand::seq::index::sample;
use setveil::Dataset;
use setveil::data::{K, M};
use setveil::methods::disassociation;
use setveil::query::{Answer, Prior};
use setveil::release::Release;
use setveil::workflow::{self, QueryOptions};
use testkit::random;

const ITEMS: usize = 60;

/// Nineteen records of one to three items, then one of 20 to 40, and so on.
fn uneven(seed: u64) -> Dataset {
    let mut rng = random::rng(seed);
    let record = |r: usize| {
        let length =
            if r.is_multiple_of(20) { rng.random_range(20..=40) } else { rng.random_range(1..=3) };
        sample(&mut rng, ITEMS, length).into_iter().map(random::label).collect::<Vec<_>>()
    };
    Dataset::from_records((0..600).map(record))
}

fn pairs_and_triples() -> Vec<Vec<String>> {
    let pairs = (0..ITEMS).flat_map(|a| (a + 1..ITEMS).map(move |b| vec![a, b]));
    let triples = (0..ITEMS - 2).map(|a| vec![a, a + 1, a + 2]);
    let labels = |items: Vec<usize>| items.into_iter().map(random::label).collect();
    pairs.chain(triples).map(labels).collect()
}

fn ask(release: &Release, prior: Prior, threads: usize) -> Vec<Answer> {
    let options = QueryOptions::default().prior(prior);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| workflow::query(release, &pairs_and_triples(), &options, &()).unwrap())
}

#[test]
fn rare_pairs_of_long_records_are_expected_more_often_inside_the_bounds() {
    for seed in 0..4 {
        let data = uneven(seed);
        let parameters = disassociation::Parameters::new(K::new(3).unwrap(), M::new(2).unwrap());
        let release = disassociation::anonymize(&data, &parameters, &()).unwrap();
        let [worlds, measured] = [Prior::Worlds, Prior::Measured].map(|p| ask(&release, p, 1));
        assert_eq!(measured, ask(&release, Prior::Measured, 4), "threads make no difference");
        let (mut off_worlds, mut off_measured) = (0.0, 0.0);
        for (plain, found) in worlds.iter().zip(&measured) {
            let (lower, upper) = (found.lower as f64, found.upper.unwrap() as f64);
            assert!(lower <= found.expected && found.expected <= upper, "{found:?}");
            assert_eq!((plain.lower, plain.upper), (found.lower, found.upper));
            let ids: Vec<_> =
                found.itemset.iter().filter_map(|label| data.vocabulary().id(label)).collect();
            let all = |record: &&[u32]| ids.iter().all(|id| record.contains(id));
            let truth = data.records().filter(all).count() as f64;
            off_worlds += (plain.expected - truth).abs();
            off_measured += (found.expected - truth).abs();
        }
        assert!(off_measured < off_worlds, "{seed}: {off_measured} {off_worlds}");
    }
}

/// Items that only long records have, so that many are terms of one term chunk: more of them
/// together are not expected more often than fewer.
#[test]
fn a_set_is_not_expected_more_often_than_a_part_of_it() {
    let mut rng = random::rng(5);
    let short = (0..2000).map(|_| (1, 0..30)).chain((0..60).map(|_| (30, 200..500)));
    let rows: Vec<Vec<String>> = short
        .map(|(length, items)| {
            let chosen = sample(&mut rng, items.len(), length);
            let mut row: Vec<_> = chosen.iter().map(|i| random::label(items.start + i)).collect();
            row.extend((length > 1).then(|| random::label(100)));
            row
        })
        .collect();
    let original = Dataset::from_records(rows);
    let (k, m) = (K::new(5).unwrap(), M::new(2).unwrap());
    let plain = disassociation::Parameters::new(k, m);
    let (mut compared, mut less) = (0, 0);
    for parameters in [plain.clone().with_refine(false), plain] {
        let release = disassociation::anonymize(&original, &parameters, &()).unwrap();
        for record in original.records().filter(|r| r.len() > 10).take(20) {
            let labels: Vec<&str> =
                record.iter().map(|&i| original.vocabulary().label(i)).collect();
            let sets: Vec<Vec<&str>> = (1..=7).map(|n| labels[..n].to_vec()).collect();
            let answers = workflow::query(&release, &sets, &QueryOptions::default(), &()).unwrap();
            for (fewer, more) in answers.iter().zip(&answers[1..]) {
                assert!(more.expected <= fewer.expected + 1e-9, "{fewer:?} {more:?}");
                compared += 1;
                less += u32::from(more.expected < fewer.expected);
            }
        }
    }
    assert!(compared == 240 && less > 100, "{less} of {compared}");
}

/// Short records with two items together, and long ones with the same two, where nobody sees them
/// together: most of what is not seen is expected there, but not more often than each of them.
#[test]
fn a_pair_is_not_expected_more_often_than_its_items() {
    let (mut closest, mut pairs) = (f64::INFINITY, 0);
    for seed in 0..4 {
        let mut rng = random::rng(seed);
        let [a, b, frequent] = [ITEMS, ITEMS + 1, ITEMS + 2];
        let together = std::iter::repeat_n(vec![a, b], 150);
        let mut others: Vec<Vec<usize>> =
            (0..400).map(|_| vec![frequent, rng.random_range(0..ITEMS)]).collect();
        for long in 0..40 {
            let mut record: Vec<usize> = sample(&mut rng, ITEMS, 30).into_vec();
            record.push(frequent);
            record.extend((long % 8 == 0).then_some(a));
            record.extend((long % 8 == 1).then_some(b));
            others.push(record);
        }
        let rows = together.chain(others);
        let data = Dataset::from_records(rows.map(|row| row.into_iter().map(random::label)));
        let (k, m) = (K::new(3).unwrap(), M::new(2).unwrap());
        let parameters = disassociation::Parameters::new(k, m).with_max_cluster_size(8);
        let release = disassociation::anonymize(&data, &parameters, &()).unwrap();
        let sets: Vec<Vec<String>> = (0..ITEMS + 3)
            .flat_map(|x| (x..ITEMS + 3).map(move |y| [x, y]))
            .map(|pair| pair.map(random::label).to_vec())
            .collect();
        let answers = workflow::query(&release, &sets, &QueryOptions::default(), &()).unwrap();
        let alone = |label: &String| {
            answers.iter().find(|answer| answer.itemset == [label.clone()]).unwrap().expected
        };
        for pair in answers.iter().filter(|answer| answer.itemset.len() == 2) {
            let least = pair.itemset.iter().map(alone).fold(f64::INFINITY, f64::min);
            assert!(pair.expected <= least + 1e-9, "{seed} {pair:?} {least}");
            closest = closest.min(least - pair.expected);
            pairs += 1;
        }
    }
    assert!(pairs > 7000 && closest < 1e-9, "{closest}");
}
