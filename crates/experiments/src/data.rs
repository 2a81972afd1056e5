//! Where the data sets are.

use std::path::PathBuf;

use anyhow::Context;
use setveil::Dataset;
use setveil::io::{ReadOptions, read_dataset};

/// The folder of the public data sets: `SETVEIL_DATA`, or `../shared/data`.
pub fn folder() -> PathBuf {
    std::env::var_os("SETVEIL_DATA").map_or_else(|| "../shared/data".into(), PathBuf::from)
}

/// Reads `NAME.dat.gz`.
pub fn load(name: &str) -> anyhow::Result<Dataset> {
    let path = folder().join(format!("{name}.dat.gz"));
    let input = read_dataset(&path, &ReadOptions::default(), &())
        .with_context(|| "set SETVEIL_DATA to the folder with the data sets")?;
    Ok(input.dataset)
}
