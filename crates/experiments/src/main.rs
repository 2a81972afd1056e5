//! The papers' evaluations redone on the data in `SETVEIL_DATA`: one
//! subcommand a paper, which writes a CSV table and an SVG plot per figure; and
//! the numbers of `docs/known-limits.md` and `docs/local-suppression.md`.

mod algorithm_aware;
mod cahd_2008;
mod cover_problem_2016;
mod data;
mod disassociation_2012;
mod dls_2022;
mod estimates;
mod figure;
mod frontier;
mod hostile;
mod keep;
mod known_limits;
mod local_suppression;
mod pairs;
mod partition_2009;
mod parts;
mod safe;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Redo the evaluation of a paper: tables as CSV, figures as SVG
#[derive(Debug, Parser)]
struct Cli {
    /// The directory for tables and figures
    #[arg(long, short, default_value = "figures", global = true)]
    output: PathBuf,
    #[command(subcommand)]
    paper: Paper,
}

#[derive(Debug, Subcommand)]
enum Paper {
    #[command(name = "cahd-2008")]
    Cahd2008(cahd_2008::Cahd2008),
    #[command(name = "dls-2022")]
    Dls2022(dls_2022::Args),
    /// Figures 3 to 7: Partition and Apriori
    #[command(name = "partition-2009")]
    Partition2009(partition_2009::Args),
    /// Breaches for strong, moderate and weak attackers (section 6)
    #[command(name = "cover-problem-2016")]
    CoverProblem2016(cover_problem_2016::Args),
    #[command(name = "known-limits")]
    KnownLimits(known_limits::Args),
    #[command(name = "algorithm-aware")]
    AlgorithmAware(algorithm_aware::Args),
    #[command(name = "local-suppression")]
    LocalSuppression(local_suppression::Args),
    Keep(keep::Args),
    Estimates(estimates::Args),
    Frontier(frontier::Args),
    Hostile(hostile::Args),
    Parts(parts::Args),
    Safe(safe::Args),
    #[command(name = "disassociation-2012")]
    Disassociation2012(disassociation_2012::Disassociation2012),
}

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    std::fs::create_dir_all(&cli.output)?;
    match cli.paper {
        Paper::Cahd2008(paper) => paper.run(&cli.output),
        Paper::Dls2022(args) => dls_2022::run(&args, &cli.output),
        Paper::Partition2009(paper) => paper.run(&cli.output),
        Paper::CoverProblem2016(args) => args.run(&cli.output),
        Paper::KnownLimits(args) => args.run(&cli.output),
        Paper::AlgorithmAware(args) => args.run(&cli.output),
        Paper::LocalSuppression(args) => args.run(&cli.output),
        Paper::Keep(args) => args.run(&cli.output),
        Paper::Estimates(args) => args.run(&cli.output),
        Paper::Frontier(args) => args.run(&cli.output),
        Paper::Hostile(args) => args.run(&cli.output),
        Paper::Parts(args) => args.run(&cli.output),
        Paper::Safe(args) => args.run(&cli.output),
        Paper::Disassociation2012(paper) => paper.run(&cli.output),
    }
}
