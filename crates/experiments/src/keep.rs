//! What a list of sets that shall stay together (`--keep`) gives, and what it
//! takes from the rest: the table of `docs/keep.md`.
//!
//! The sets are groups of a public hierarchy, not of the data: those nodes with
//! 3 to 60 items of the data whose pairs occur most often.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;
use setveil::data::{ItemId, Keep};
use setveil::methods::Method;
use setveil::verify::verify;
use setveil::workflow::{self, QueryOptions};
use setveil::{Dataset, Hierarchy, measure};

use crate::data::{hierarchy, load};

/// Measure what sets that shall stay together gain, and what others lose (docs/keep.md)
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many sets
    #[arg(long, default_value_t = 5)]
    sets: usize,
    #[arg(short, default_value_t = 5)]
    k: u32,
    #[arg(short, default_value_t = 2)]
    m: u32,
}

const DATA: [&str; 3] = ["groceries", "mdcr-icd9", "fruithut"];
const METHODS: [&str; 3] = ["disassociation", "dls", "local-suppression"];

/// Pairs of items with the number of records that have them.
type Pairs = BTreeMap<(ItemId, ItemId), u64>;

impl Args {
    pub fn run(&self, output: &Path) -> anyhow::Result<()> {
        let mut table = csv::Writer::from_path(output.join("keep.csv"))?;
        table.write_record(["data", "method", "list", "of the sets", "of all pairs", "tkd"])?;
        for name in DATA {
            let (data, tree) = (load(name)?, hierarchy(name)?);
            let (keep, pairs) = self.sets(&data, &tree)?;
            for method in METHODS {
                for list in [Keep::default(), keep.clone()] {
                    let with = if list.is_empty() { "no" } else { "yes" };
                    let figures = self.row(&data, &pairs, method, list)?;
                    let figures = figures.map(|f| format!("{f:.3}"));
                    let row = [name, method, with].map(str::to_owned).into_iter().chain(figures);
                    table.write_record(row)?;
                }
            }
            table.flush()?;
        }
        Ok(())
    }

    /// The sets, and their pairs.
    fn sets(&self, data: &Dataset, tree: &Hierarchy) -> anyhow::Result<(Keep, Pairs)> {
        let inner = (1..tree.len() as u32).filter(|&node| !tree.is_leaf(node));
        let items = |node: u32| -> Vec<ItemId> {
            let labels = tree.leaves(node).map(|leaf| tree.label(leaf));
            let mut items: Vec<ItemId> =
                labels.filter_map(|label| data.vocabulary().id(label)).collect();
            items.sort_unstable();
            items
        };
        let mut groups: Vec<(u64, Vec<ItemId>, Pairs)> = inner
            .map(items)
            .filter(|items| (3..=60).contains(&items.len()))
            .map(|items| {
                let pairs = pairs_of(data, &items);
                (pairs.values().sum(), items, pairs)
            })
            .collect();
        groups.sort_by(|a, b| (b.0, &a.1).cmp(&(a.0, &b.1)));
        // A group and one above it would be the same set twice.
        let mut chosen: Vec<(u64, Vec<ItemId>, Pairs)> = Vec::new();
        for group in groups {
            let apart = chosen.iter().all(|other| !other.1.iter().any(|i| group.1.contains(i)));
            if apart && chosen.len() < self.sets {
                chosen.push(group);
            }
        }
        let label = |&item: &ItemId| data.vocabulary().label(item).to_owned();
        let sets = chosen.iter().map(|c| (c.1.iter().map(label).collect::<Vec<String>>(), 1));
        let keep = Keep::new(sets.collect::<Vec<_>>())?;
        Ok((keep, chosen.into_iter().flat_map(|c| c.2).collect()))
    }

    /// Which shares of the occurrences of pairs a release shows, of the sets and
    /// of all; and `tkd`.
    fn row(
        &self,
        data: &Dataset,
        pairs: &Pairs,
        method: &str,
        keep: Keep,
    ) -> anyhow::Result<[f64; 3]> {
        let values = json!({"k": self.k, "m": self.m});
        let method = Method::named(method, values.as_object().cloned().unwrap_or_default())?;
        let method = method.with_keep(keep)?;
        let release = method.run(data, &())?.release;
        anyhow::ensure!(verify(&release, &())?.holds, "a release does not hold");
        let label = |item: ItemId| data.vocabulary().label(item);
        let asked: Vec<Vec<&str>> = pairs.keys().map(|&(a, b)| vec![label(a), label(b)]).collect();
        let answers = workflow::query(&release, &asked, &QueryOptions::default(), &())?;
        let shown = |(answer, &support): (&setveil::query::Answer, &u64)| answer.lower.min(support);
        let kept: u64 = answers.iter().zip(pairs.values()).map(shown).sum();
        let options = measure::Options::default();
        let comparison = measure::Comparison::new(&release, data, &options, &())?;
        let all = measure::pairs_kept(&comparison).unwrap_or(f64::NAN);
        let tkd = measure::tkd(&comparison, &())?.0.unwrap_or(f64::NAN);
        Ok([kept as f64 / pairs.values().sum::<u64>().max(1) as f64, all, tkd])
    }
}

fn pairs_of(data: &Dataset, items: &[ItemId]) -> Pairs {
    let mut pairs = Pairs::new();
    for record in data.records() {
        let own: Vec<ItemId> =
            record.iter().copied().filter(|item| items.binary_search(item).is_ok()).collect();
        for (i, &b) in own.iter().enumerate() {
            own[..i].iter().for_each(|&a| *pairs.entry((a, b)).or_default() += 1);
        }
    }
    pairs
}
