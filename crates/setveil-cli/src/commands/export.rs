//! `setveil export`.

use std::path::PathBuf;

use clap::ValueEnum;
use setveil::io::FlatFormat;
use setveil::workflow::files;

use crate::context::{Context, Exit};

/// Write a release as flat tables, for data frames and databases
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  setveil export release -o tables\n  \
    setveil export release -o tables --format parquet\n\n\
    One row is one sub-record or term chunk of a cluster, one class, one record or sensitive item of a group, or one sub-record or \
    count of a leaf. docs/analyst.md says what the columns mean and how to load them.")]
pub struct Args {
    /// The release directory
    #[arg(value_name = "RELEASE")]
    release: PathBuf,
    /// The directory to write the tables to
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// Replace earlier tables in that directory
    #[arg(long)]
    force: bool,
    /// The format of the tables
    #[arg(long, default_value = "csv")]
    format: Tables,
}

/// The formats of tables.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Tables {
    /// rows.csv, and items.csv with one line for every row and item
    Csv,
    /// rows.parquet, with lists of items
    Parquet,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let release = files::read(&self.release, context)?;
        let format = match self.format {
            Tables::Csv => FlatFormat::Csv,
            Tables::Parquet => FlatFormat::Parquet,
        };
        let exported = files::export(&release, format, &self.output, self.force, context)?;
        context.answer(&exported, || {
            exported.files.iter().map(|file| format!("{}\n", file.display())).collect()
        })?;
        Ok(Exit::Done)
    }
}
