//! Where the data sets are, and those that are made up.

use std::path::PathBuf;

use anyhow::Context;
use setveil::generate::{Quest, QuestParameters};
use setveil::io::{ReadOptions, read_dataset, read_hierarchy};
use setveil::{Dataset, Hierarchy};

/// What is missing, if a file is.
const HINT: &str = "set SETVEIL_DATA to the folder with the data sets";

/// The folder of the public data sets: `SETVEIL_DATA`, or `../shared/data`.
pub fn folder() -> PathBuf {
    std::env::var_os("SETVEIL_DATA").map_or_else(|| "../shared/data".into(), PathBuf::from)
}

/// Reads `NAME.dat.gz`.
pub fn load(name: &str) -> anyhow::Result<Dataset> {
    let path = folder().join(format!("{name}.dat.gz"));
    let input = read_dataset(&path, &ReadOptions::default(), &()).context(HINT)?;
    Ok(input.dataset)
}

/// Reads `NAME-hierarchy.csv.gz`.
pub fn hierarchy(name: &str) -> anyhow::Result<Hierarchy> {
    read_hierarchy(&folder().join(format!("{name}-hierarchy.csv.gz"))).context(HINT)
}

/// Quest data, always the same for the same parameters.
pub fn quest(parameters: &QuestParameters) -> anyhow::Result<Dataset> {
    let mut quest = Quest::new(parameters, 1)?;
    Ok(Dataset::from_records(std::iter::from_fn(|| {
        quest.next_record().map(|record| record.iter().map(ToString::to_string).collect::<Vec<_>>())
    })))
}

/// Quest data with BMS-POS's number of records and items and mean length. Its
/// longest record has 26 items, that of BMS-POS 164.
pub fn pos_stand_in() -> anyhow::Result<Dataset> {
    quest(&QuestParameters::default().records(515_597).items(1_657).mean_length(6.5))
}
