//! An attacker who knows the whole program, on all data sets of a few records:
//! of the data sets that fit a release, only those count that the program
//! would have published like this.
//!
//! A record is *breached* if it has a set of at most m items that some, but
//! never k, records have in the data sets that are left; it is *determined* if a
//! single data set is left.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use anyhow::ensure;
use setveil::Dataset;
use setveil::data::{K, Keep, M};
use setveil::methods::disassociation::{self, Clustering};
use setveil::methods::local_suppression::{self, LeafSize};
use setveil::release::Body;

/// Attack all data sets of a few records with the whole program (docs/known-limits.md)
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Records of a data set
    #[arg(long, default_value_t = 6)]
    records: usize,
    /// Items of all data sets
    #[arg(long, default_value_t = 4)]
    items: u32,
    /// How many candidates must remain
    #[arg(short, default_value_t = 2)]
    k: u32,
    /// How many items an attacker may know
    #[arg(short, default_value_t = 2)]
    m: u32,
}

/// More data sets than this are not tried.
const MOST: u64 = 1_000_000;

/// A data set as bits, a record each, ascending.
type Small = Vec<u32>;
type Publish = dyn Fn(&Dataset) -> anyhow::Result<Body>;

impl Args {
    /// On one thread: each data set is so small that handing work to others
    /// takes a hundred times as long as the work.
    pub fn run(&self, output: &Path) -> anyhow::Result<()> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        pool.install(|| self.attack_all(output))
    }

    fn attack_all(&self, output: &Path) -> anyhow::Result<()> {
        let count = data_sets(self.records, 1 << self.items.min(10));
        ensure!(count <= MOST, "{count} data sets are too many: choose fewer records or items");
        let mut all = Vec::new();
        multisets(self.records, 1, 1 << self.items, &mut Vec::new(), &mut all);
        let mut table = std::fs::File::create(output.join("algorithm-aware.csv"))?;
        writeln!(table, "method,data sets,releases,breached,determined")?;
        for (name, publish) in self.methods()? {
            let mut groups: HashMap<String, Vec<&Small>> = HashMap::new();
            for small in &all {
                // Where nothing would be published, nobody is breached.
                if let Ok(body) = publish(&self.dataset(small)) {
                    groups.entry(format!("{body:?}")).or_default().push(small);
                }
            }
            let (mut breached, mut determined) = (0, 0);
            for group in groups.values() {
                breached += self.breached(group);
                determined += if group.len() == 1 { self.records } else { 0 };
            }
            let records = (all.len() * self.records) as f64;
            writeln!(
                table,
                "\"{name}\",{},{},{:.3},{:.3}",
                all.len(),
                groups.len(),
                breached as f64 / records,
                determined as f64 / records
            )?;
        }
        Ok(())
    }

    /// How many records of the data sets that are published alike are breached.
    fn breached(&self, group: &[&Small]) -> usize {
        let sets: Vec<u32> =
            (1..1 << self.items).filter(|s: &u32| s.count_ones() <= self.m).collect();
        let support = |small: &Small, set: u32| small.iter().filter(|&r| r & set == set).count();
        let rare: Vec<u32> = sets
            .into_iter()
            .filter(|&set| {
                let most = group.iter().map(|small| support(small, set)).max().unwrap_or(0);
                most > 0 && most < self.k as usize
            })
            .collect();
        let hit = |record: &&u32| rare.iter().any(|set| *record & set == *set);
        group.iter().map(|small| small.iter().filter(hit).count()).sum()
    }

    fn dataset(&self, small: &Small) -> Dataset {
        let name = |i: u32| char::from(b'a' + i as u8).to_string();
        let record =
            |bits: &u32| (0..self.items).filter(|i| bits >> i & 1 == 1).map(name).collect();
        Dataset::from_records(small.iter().map(record).collect::<Vec<Vec<String>>>())
    }

    fn methods(&self) -> anyhow::Result<Vec<(&'static str, Box<Publish>)>> {
        let (k, m) = (K::new(self.k)?, M::new(self.m)?);
        let smallest = 2 * self.k as usize;
        let plain = disassociation::Parameters::new(k, m).with_max_cluster_size(smallest);
        let whole = plain.clone().with_clustering(Clustering::Whole);
        let leaves = move |size: LeafSize| {
            let mut parameters = local_suppression::Parameters::new(k, m);
            parameters.max_cluster_size = size;
            parameters
        };
        let mut uncounted = leaves(LeafSize::All);
        uncounted.no_item_counts = true;
        let mut alone = leaves(LeafSize::All);
        alone.only_combinations = true;
        // An attacker who knows the list of sets to keep as well.
        let keep = Keep::new([(["a", "b"], 1)])?;
        let kept = plain.clone().with_keep(keep.clone());
        let mut kept_leaves = leaves(LeafSize::Max(smallest));
        kept_leaves.keep = keep;
        let mut methods: Vec<(&'static str, Box<Publish>)> = Vec::new();
        for (name, parameters) in [
            ("disassociation", plain),
            ("disassociation whole", whole),
            ("disassociation --keep {a b}", kept),
        ] {
            methods.push((
                name,
                Box::new(move |data| Ok(disassociation::anonymize(data, &parameters, &())?.body)),
            ));
        }
        for (name, parameters) in [
            ("local-suppression, smallest leaves", leaves(LeafSize::Max(smallest))),
            ("local-suppression, smallest leaves, --keep {a b}", kept_leaves),
            ("local-suppression, one leaf", leaves(LeafSize::All)),
            ("local-suppression --no-item-counts", uncounted),
            ("local-suppression --only-combinations", alone),
        ] {
            methods.push((
                name,
                Box::new(
                    move |data| Ok(local_suppression::anonymize(data, &parameters, &())?.body),
                ),
            ));
        }
        Ok(methods)
    }
}

/// How many data sets of so many records there are over `sets` sets, the empty one left out.
fn data_sets(records: usize, sets: u64) -> u64 {
    // C(sets - 1 + records - 1, records), step by step.
    (0..records as u64).fold(1, |count: u64, i| count.saturating_mul(sets - 1 + i) / (i + 1))
}

/// All ascending lists of `left` numbers in `from..end`.
fn multisets(left: usize, from: u32, end: u32, now: &mut Small, all: &mut Vec<Small>) {
    if left == 0 {
        all.push(now.clone());
        return;
    }
    for next in from..end {
        now.push(next);
        multisets(left - 1, next, end, now, all);
        now.pop();
    }
}
