//! Arguments that several commands take: the data, and where a release goes.

use std::path::{Path, PathBuf};

use clap::Args;
use setveil::io::{self, Input, ReadOptions};

use crate::context::Context;

/// How the data is laid out.
#[derive(Debug, Args)]
pub struct LayoutArgs {
    /// Skip lines that cannot be read, and report how many
    #[arg(long)]
    pub skip_bad_lines: bool,
}

/// The data to read.
#[derive(Debug, Args)]
pub struct DataArgs {
    /// The data: one record of items per person
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    #[command(flatten)]
    pub layout: LayoutArgs,
}

/// The original data of a release.
#[derive(Debug, Args)]
pub struct OriginalArgs {
    /// The original data
    #[arg(long, value_name = "DATA")]
    pub original: PathBuf,
    #[command(flatten)]
    pub layout: LayoutArgs,
}

impl LayoutArgs {
    /// Reads the data and remarks on what was left out.
    pub fn read(&self, path: &Path, context: &Context) -> anyhow::Result<Input> {
        let options = ReadOptions { skip_bad_lines: self.skip_bad_lines, ..ReadOptions::default() };
        Ok(io::read_dataset(path, &options, context)?)
    }
}

impl DataArgs {
    pub fn read(&self, context: &Context) -> anyhow::Result<Input> {
        self.layout.read(&self.data, context)
    }
}

impl OriginalArgs {
    pub fn read(&self, context: &Context) -> anyhow::Result<Input> {
        self.layout.read(&self.original, context)
    }
}

/// Where a release goes.
#[derive(Debug, Args)]
pub struct TargetArgs {
    /// The directory to write the release to
    #[arg(long, short, value_name = "RELEASE")]
    pub output: PathBuf,
    /// Replace an earlier release of that name
    #[arg(long)]
    pub force: bool,
}
