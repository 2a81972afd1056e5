//! Writes the releases of `testkit::traps`, one directory each. What the commands make of
//! them is measured by `benchmarks/hostile.py`.

use std::path::Path;

use setveil::io::write_release;
use testkit::traps;

/// Releases that are made to cost much, one directory each (SECURITY.md)
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Records of the traps that have many
    #[arg(long, default_value_t = 1_000_000)]
    records: u32,
}

impl Args {
    pub fn run(&self, output: &Path) -> anyhow::Result<()> {
        for (name, release) in traps::all(self.records) {
            write_release(&release, &output.join(name), true)?;
        }
        Ok(())
    }
}
