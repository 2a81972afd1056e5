//! Answers as files for other tools, and a release as flat tables.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Rule;
use crate::Result;
#[cfg(feature = "arrow")]
use crate::io::FlatFormat;
use crate::io::{self, Column, Table};
use crate::query::Answer;
#[cfg(feature = "arrow")]
use crate::{Progress, Release};

/// Writes answers to a file: CSV, JSON, JSON Lines or Parquet by its name.
///
/// # Errors
/// If the name stands for none of them, or the file cannot be written.
pub fn write_answers(answers: &[Answer], path: &Path, replace: bool) -> Result<()> {
    let table = Table::default()
        .column("itemset", itemsets(answers.iter().map(|a| &a.itemset)))
        .column("lower", Column::Whole(answers.iter().map(|a| Some(a.lower)).collect()))
        .column("expected", Column::Real(answers.iter().map(|a| Some(a.expected)).collect()))
        .column("upper", Column::Whole(answers.iter().map(|a| a.upper).collect()))
        .column("unknown", itemsets(answers.iter().map(|a| &a.unknown)));
    io::write_table(&table, path, replace)
}

/// Writes association rules to a file, as [`write_answers`].
///
/// # Errors
/// As [`write_answers`].
pub fn write_rules(rules: &[Rule], path: &Path, replace: bool) -> Result<()> {
    let real = |value: fn(&Rule) -> Option<f64>| Column::Real(rules.iter().map(value).collect());
    let consequents = rules.iter().map(|rule| vec![rule.consequent.clone()]);
    let table = Table::default()
        .column("antecedent", itemsets(rules.iter().map(|rule| &rule.antecedent)))
        .column("consequent", Column::Itemsets(consequents.collect()))
        .column("support", real(|rule| Some(rule.support)))
        .column("lower", real(|rule| Some(rule.lower)))
        .column("expected", real(|rule| Some(rule.expected)))
        .column("upper", real(|rule| rule.upper));
    io::write_table(&table, path, replace)
}

fn itemsets<'a>(sets: impl Iterator<Item = &'a Vec<String>>) -> Column {
    Column::Itemsets(sets.cloned().collect())
}

/// What was exported.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Exported {
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// How many rows the first of them has.
    pub rows: u64,
}

/// Writes a release as flat tables into the directory `output`.
///
/// # Errors
/// If something is in the way or cannot be written, or `progress` says stop.
#[cfg(feature = "arrow")]
pub fn export(
    release: &Release,
    format: FlatFormat,
    output: &Path,
    replace: bool,
    progress: &dyn Progress,
) -> Result<Exported> {
    let (files, rows) = io::write_tables(&release.body, output, format, replace, progress)?;
    Ok(Exported { files, rows })
}
