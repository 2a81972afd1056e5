//! The papers' evaluations redone on the data in `SETVEIL_DATA`: one
//! subcommand a paper, which writes a CSV table and an SVG plot per figure.

mod cahd_2008;
mod data;
mod disassociation_2012;
mod figure;

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
    #[command(name = "disassociation-2012")]
    Disassociation2012(disassociation_2012::Disassociation2012),
}

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    std::fs::create_dir_all(&cli.output)?;
    match cli.paper {
        Paper::Cahd2008(paper) => paper.run(&cli.output),
        Paper::Disassociation2012(paper) => paper.run(&cli.output),
    }
}
