//! The numbers of `docs/known-limits.md`: what the order of rows, knowledge of
//! the algorithm, several releases and negative knowledge give away, on
//! releases that keep their promise.

use std::fmt::Write;
use std::path::Path;

use anyhow::Context;
use setveil::Dataset;
use setveil::Method;
use setveil::attack::limits::{growth, increments, negative, row_order};
use setveil::attack::{Kernel, Options, attack};
use setveil::data::{ItemId, K, M};
use setveil::methods::disassociation::{Parameters, anonymize, verpart};
use setveil::release::{Body, Disassociated, Release};

use testkit::enumeration::{self, Program, Setting, Together};

use crate::data::load;

/// Measure what no method promises (docs/known-limits.md)
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many candidates must remain
    #[arg(short, default_value_t = 5)]
    k: u32,
    /// Targets to draw for each number
    #[arg(long, default_value_t = 5000)]
    targets: usize,
    /// Clusters to try the algorithm on
    #[arg(long, default_value_t = 400)]
    clusters: usize,
}

const DATA: [&str; 3] = ["bms-webview-1", "bms-webview-2", "groceries"];
/// Attackers know so many items, as many as the releases promise.
const KNOWN: u32 = 2;
const SEED: u64 = 1;

impl Args {
    pub fn run(&self, output: &Path) -> anyhow::Result<()> {
        let mut tables = [
            ("row-order", "data,records,in two chunks,pairs,certain,mean probability,below k\n"),
            (
                "algorithm",
                "data,k,largest cluster,enumerated,sampled,undecided,worlds,accepted,breached,\
                 breached and covered,suspected,suspected and covered,mean shift,largest shift\n",
            ),
            (
                "growing",
                "data,first,second,possible,possible in both,right,right with both,few,\
                 few with both,certainly few,itemsets,exact,below k,records with one,new records\n",
            ),
            (
                "negative",
                "data,targets,few,certainly few,few (random),certainly few (random),few (best),\
                 certainly few (best)\n",
            ),
        ]
        .map(|(name, head)| (name, head.to_owned()));
        for name in DATA {
            let data = load(name)?;
            self.row_order(name, &data, &mut tables[0].1)?;
            self.algorithm(name, &data, &mut tables[1].1)?;
            self.growing(name, &data, &mut tables[2].1)?;
            self.negative(name, &data, &mut tables[3].1)?;
        }
        let mut several = "records,terms,first,second,data sets,pairs,broken\n".to_owned();
        several_releases(&mut several)?;
        std::fs::write(output.join("known-limits-several.csv"), several)?;
        for (name, table) in tables {
            std::fs::write(output.join(format!("known-limits-{name}.csv")), table)?;
        }
        Ok(())
    }

    fn parameters(&self) -> anyhow::Result<Parameters> {
        Ok(Parameters::new(K::new(self.k)?, M::new(KNOWN)?))
    }

    fn row_order(&self, name: &str, data: &Dataset, table: &mut String) -> anyhow::Result<()> {
        // Rows of shared chunks would link several clusters: the plain case.
        let parameters = self.parameters()?.with_refine(false);
        let release = anonymize(data, &parameters, &())?;
        let members = Method::of(&release.manifest)?
            .members(&release, data, &())?
            .context("the clusters come out the same")?;
        let found = row_order(body(&release)?, data, &members, parameters.k);
        writeln!(
            table,
            "{name},{},{},{},{},{:.3},{}",
            found.records,
            found.records_in_chunks,
            found.pairs,
            found.certain,
            found.mean_probability,
            found.below_k
        )?;
        Ok(())
    }

    /// Clusters of at most four records, whose worlds can all be tried, small
    /// ones and the usual ones.
    fn algorithm(&self, name: &str, data: &Dataset, table: &mut String) -> anyhow::Result<()> {
        for (k, max) in [(2, 4), (self.k, 2 * self.k as usize), (self.k, 50)] {
            let parameters = Parameters::new(K::new(k)?, M::new(KNOWN)?)
                .with_refine(false)
                .with_max_cluster_size(max);
            let release = anonymize(data, &parameters, &())?;
            let (k, m) = (parameters.k, parameters.m);
            let kernel =
                Kernel::new(move |records: &[&[ItemId]]| verpart(records, k, m)).with_refusals();
            let options = Options::default().clusters(self.clusters).targets(1);
            let report = attack(&release, Some(data), &options, &kernel, &())?;
            let risk = report.algorithm.context("there is a kernel")?;
            writeln!(
                table,
                "{name},{k},{max},{},{},{},{},{},{},{},{},{},{:.3},{:.3}",
                risk.clusters_enumerated,
                risk.clusters_sampled,
                risk.clusters_undecided,
                risk.worlds_tried,
                risk.worlds_accepted,
                risk.breached_pairs,
                risk.breached_pairs_covered,
                risk.suspected_pairs,
                risk.suspected_pairs_covered,
                risk.mean_shift.unwrap_or(0.0),
                risk.max_shift.unwrap_or(0.0)
            )?;
        }
        Ok(())
    }

    /// The first half, three quarters and all of the file, each anonymized on
    /// its own.
    fn growing(&self, name: &str, data: &Dataset, table: &mut String) -> anyhow::Result<()> {
        let parameters = self.parameters()?;
        let until = |percent: usize| first(data, data.len() * percent / 100);
        let parts = [50, 75, 100].map(|percent| (percent, until(percent)));
        let releases: Vec<Release> = parts
            .iter()
            .map(|(_, part)| anonymize(part, &parameters, &()))
            .collect::<Result<_, _>>()?;
        for (a, b) in [(0, 1), (1, 2), (0, 2)] {
            let both = (body(&releases[a])?, body(&releases[b])?);
            let people = (&parts[b].1, parts[a].1.len());
            let attacker = (parameters.k, KNOWN as usize, self.targets, SEED);
            let found = growth(both, people, attacker);
            let more = increments(both, people, parameters.k);
            writeln!(
                table,
                "{name},{} %,{} %,{:.1},{:.1},{:.3},{:.3},{:.3},{:.3},{:.3},{},{},{},{},{}",
                parts[a].0,
                parts[b].0,
                found.possible,
                found.possible_in_both,
                found.right,
                found.right_with_both,
                found.few,
                found.few_with_both,
                found.certainly_few,
                more.itemsets,
                more.exact,
                more.below_k,
                more.records,
                more.newcomers
            )?;
        }
        Ok(())
    }

    fn negative(&self, name: &str, data: &Dataset, table: &mut String) -> anyhow::Result<()> {
        let parameters = self.parameters()?;
        let release = anonymize(data, &parameters, &())?;
        let attacker = (parameters.k, KNOWN as usize, self.targets, SEED);
        let found = negative(body(&release)?, data, attacker);
        writeln!(
            table,
            "{name},{},{:.3},{:.3},{:.3},{:.3},{:.3},{:.3}",
            found.targets,
            found.few,
            found.certainly_few,
            found.few_random,
            found.certainly_few_random,
            found.few_best,
            found.certainly_few_best
        )?;
        Ok(())
    }
}

/// Two releases of the same tiny data, over all data sets: what they tell
/// together that neither tells alone.
fn several_releases(table: &mut String) -> anyhow::Result<()> {
    let four = Setting { records: 6, terms: 4, k: 2, m: 2, max: 4, eta: 50_000 };
    let (eight, three) = (Setting { max: 8, ..four }, Setting { k: 3, max: 6, ..four });
    let plain = enumeration::pooled_plain as Program;
    for (name, first, other, second) in [
        ("clusters up to 4", (&four, plain), "clusters up to 8", (&eight, plain)),
        ("k = 2", (&four, plain), "k = 3", (&three, plain)),
        ("refined", (&four, enumeration::plain as Program), "not refined", (&four, plain)),
        ("safe", (&four, enumeration::safe as Program), "plain", (&four, plain)),
        (
            "safe, clusters up to 4",
            (&four, enumeration::safe),
            "safe, clusters up to 8",
            (&eight, enumeration::safe),
        ),
    ] {
        let Together { data_sets, pairs, broken } = enumeration::together(first, second);
        let Setting { records, terms, .. } = four;
        writeln!(table, "{records},{terms},{name},{other},{data_sets},{pairs},{broken}")?;
    }
    Ok(())
}

fn body(release: &Release) -> anyhow::Result<&Disassociated> {
    match &release.body {
        Body::Disassociated(body) => Ok(body),
        _ => anyhow::bail!("not a disassociated release"),
    }
}

/// The first `count` records, with a vocabulary of their own.
fn first(data: &Dataset, count: usize) -> Dataset {
    let records = data.records().take(count).map(|r| data.vocabulary().texts(r));
    Dataset::from_records(records)
}
