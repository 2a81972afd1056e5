//! The enumeration of `docs/safe.md`: every data set of a setting, published
//! with and without the rules of safe disassociation, and what somebody who
//! knows the program can rule out.

use std::fmt::Write;
use std::path::Path;

use testkit::enumeration::{
    Program, Setting, attack, count_only_plain, plain, pooled_linked, pooled_plain, safe,
    safe_in_runs, safe_unrefined,
};
use testkit::lost::lost;

/// Enumerate what an attacker who knows the program rules out (docs/safe.md)
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Settings with more than a million data sets too
    #[arg(long)]
    large: bool,
}

/// Records, terms, k, m, largest cluster, eta in millionths.
const ONE_CLUSTER: &[[u32; 6]] = &[
    [6, 4, 2, 2, 6, 200_000],
    [6, 4, 2, 2, 6, 50_000],
    [7, 4, 2, 2, 7, 200_000],
    [7, 4, 3, 2, 7, 200_000],
    [8, 4, 3, 2, 8, 200_000],
    [12, 3, 3, 2, 12, 200_000],
    [18, 3, 5, 2, 18, 200_000],
    [6, 4, 2, 3, 6, 200_000],
    [7, 4, 2, 3, 7, 200_000],
    [8, 4, 3, 3, 8, 200_000],
    [12, 3, 3, 3, 12, 200_000],
];
const SEVERAL: &[[u32; 6]] = &[
    [7, 4, 2, 2, 4, 200_000],
    [7, 4, 2, 2, 5, 200_000],
    [8, 4, 2, 2, 6, 200_000],
    [9, 3, 3, 2, 6, 200_000],
    [8, 4, 3, 2, 6, 200_000],
    [12, 3, 3, 2, 6, 200_000],
    [14, 3, 3, 2, 6, 200_000],
    [7, 4, 2, 3, 5, 200_000],
    [8, 4, 2, 3, 4, 200_000],
];
const LARGE: &[[u32; 6]] = &[[6, 5, 2, 2, 6, 200_000], [6, 5, 2, 3, 6, 200_000]];

const PROGRAMS: &[(&str, Program)] = &[
    ("pooled + plain", pooled_plain),
    ("pooled + linked", pooled_linked),
    ("count-only + plain", count_only_plain),
    ("plain with refine", plain),
    ("count-only + linked", safe_unrefined),
    ("safe", safe),
    ("safe in runs of 2", safe_in_runs),
];

fn setting([records, terms, k, m, max, eta]: [u32; 6]) -> Setting {
    Setting { records: records as usize, terms: terms as usize, k, m, max: max as usize, eta }
}

impl Args {
    pub fn run(&self, output: &Path) -> anyhow::Result<()> {
        let head =
            "records,terms,k,m,largest cluster,eta,program,data sets,releases,sets,breached\n";
        let (mut breaches, mut shares) = (head.to_owned(), String::new());
        shares += "records,terms,k,m,largest cluster,eta,releases,largest lost share,mean shift,\
                   largest shift\n";
        let large = LARGE.iter().filter(|_| self.large);
        for &numbers in ONE_CLUSTER.iter().chain(large) {
            let setting = setting(numbers);
            for (name, program) in [PROGRAMS[0], PROGRAMS[4]] {
                row(&mut breaches, &setting, name, program)?;
            }
            let lost = lost(&setting);
            let line = format!(
                "{},{},{:.4},{:.4},{:.4}",
                text(&setting),
                lost.releases,
                lost.largest,
                lost.mean_shift,
                lost.largest_shift
            );
            writeln!(shares, "{line}")?;
        }
        for &numbers in SEVERAL {
            for &(name, program) in PROGRAMS {
                row(&mut breaches, &setting(numbers), name, program)?;
            }
        }
        std::fs::write(output.join("safe-breaches.csv"), breaches)?;
        std::fs::write(output.join("safe-lost.csv"), shares)?;
        Ok(())
    }
}

fn text(setting: &Setting) -> String {
    let Setting { records, terms, k, m, max, eta } = setting;
    format!("{records},{terms},{k},{m},{max},{}", f64::from(*eta) / 1e6)
}

fn row(table: &mut String, setting: &Setting, name: &str, program: Program) -> anyhow::Result<()> {
    let count = attack(setting, program);
    let counts =
        [count.data_sets, count.releases, count.sets, count.breached].map(|c| c.to_string());
    writeln!(table, "{},{name},{}", text(setting), counts.join(","))?;
    Ok(())
}
