//! Arguments that several commands take: the data, and where a release goes.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use setveil::Hierarchy;
use setveil::io::{self, Format, Input, ReadOptions};
use setveil::methods::partition::Unknown;
use setveil::workflow::files::Target;

use crate::context::Context;

/// How the data is laid out.
#[derive(Debug, Args)]
#[command(next_help_heading = "Layout of the data")]
pub struct LayoutArgs {
    /// The format [default: by extension, .gz and .zst aside]
    #[arg(long, value_parser = formats())]
    pub format: Option<Format>,
    /// The column that says whose row it is, in a long table (CSV, TSV, Parquet)
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,
    /// The column with the item, or the column or JSON field with the list of items
    #[arg(long, value_name = "COLUMN")]
    pub item: Option<String>,
    /// What separates the fields of a CSV file: one character, or `tab`
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// In a query log, read the nouns of the queries: the directory of WordNet's database files
    #[arg(long = "nouns", value_name = "WORDNET")]
    pub nouns: Option<PathBuf>,
    /// Skip lines that cannot be read, and report how many
    #[arg(long)]
    pub skip_bad_lines: bool,
}

/// The formats by name, each with a few words.
fn formats() -> impl TypedValueParser<Value = Format> {
    let values = Format::ALL.iter().map(|f| PossibleValue::new(f.name()).help(f.layout()));
    PossibleValuesParser::new(values).map(|name| {
        let found = Format::ALL.iter().find(|f| f.name() == name);
        *found.expect("only the possible values get here")
    })
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [one] if one.is_ascii() && !matches!(one, b'"' | b'\n' | b'\r') => Ok(*one),
        _ => Err("expected one ASCII character that is no quote, or `tab`".into()),
    }
}

/// The data to read.
#[derive(Debug, Args)]
pub struct DataArgs {
    /// The data, one record of items per person; `-` is standard input
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    #[command(flatten)]
    pub layout: LayoutArgs,
}

/// The original data of a release.
#[derive(Debug, Args)]
pub struct OriginalArgs {
    /// The original data; `-` is standard input
    #[arg(long, value_name = "DATA")]
    pub original: PathBuf,
    #[command(flatten)]
    pub layout: LayoutArgs,
}

impl LayoutArgs {
    /// Reads the data and remarks on what was left out.
    pub fn read(&self, path: &Path, context: &Context) -> anyhow::Result<Input> {
        let options = ReadOptions {
            format: self.format,
            id: self.id.clone(),
            item: self.item.clone(),
            delimiter: self.delimiter,
            wordnet: self.nouns.clone(),
            skip_bad_lines: self.skip_bad_lines,
        };
        let input = io::read_dataset(path, &options, context)?;
        if let Some(text) = input.left_out().describe() {
            context.remark(&format!("{}: {text}", path.display()));
        }
        Ok(input)
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
    /// Replace an earlier release (and receipt) of that name
    #[arg(long)]
    pub force: bool,
    /// Write where the release came from to a private file outside of it
    #[arg(long, value_name = "FILE")]
    pub receipt: Option<PathBuf>,
}

impl TargetArgs {
    pub fn target(&self) -> Target {
        Target::new(&self.output).force(self.force).receipt(self.receipt.clone())
    }
}

/// The hierarchy of a generalizing method.
#[derive(Debug, Args)]
pub struct HierarchyArgs {
    /// The generalization hierarchy: one leaf a line, `leaf;parent;...;*`
    #[arg(long, value_name = "FILE")]
    pub hierarchy: PathBuf,
    /// Put items that are missing from the hierarchy directly below its root instead of failing
    #[arg(long)]
    pub unknown_to_root: bool,
    /// Publish the hierarchy without the names of leaves that the release does not show
    #[arg(long)]
    pub hide_leaves: bool,
}

impl HierarchyArgs {
    pub fn read(&self) -> anyhow::Result<Hierarchy> {
        Ok(io::read_hierarchy(&self.hierarchy)?)
    }

    pub fn unknown(&self) -> Unknown {
        if self.unknown_to_root { Unknown::ToRoot } else { Unknown::Refuse }
    }
}
