//! Arguments that several commands take: the data, and where a release goes.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use setveil::data::Keep;
use setveil::error::plain;
use setveil::inspect::Findings;
use setveil::io::{self, Assumption, Encoding, Format, Input, LeftOut, ReadOptions, Spooled};
use setveil::methods::partition::Unknown;
use setveil::workflow::files::{self, OnDisk, Original, Target};
use setveil::{Hierarchy, inspect};

use crate::context::Context;
use crate::findings;
use crate::stdin::Stdin;
use crate::wording::flag;

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
    /// The columns of a wide table that hold items, such as `age,dx1..dx21` [default: all but --id]
    #[arg(long, value_name = "COLUMNS", conflicts_with = "item")]
    pub items: Option<String>,
    /// What separates several items in one cell, such as `|`
    #[arg(long, value_name = "TEXT")]
    pub split: Option<String>,
    /// How the text is encoded, such as windows-1252 [default: UTF-8, or UTF-16 with its mark]
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<Encoding>,
    /// Make all letters of items small
    #[arg(long)]
    pub fold_case: bool,
    /// Write accents and blanks inside items one way (NFC, single spaces)
    #[arg(long)]
    pub normalize: bool,
    /// Skip lines that cannot be read, and report how many
    #[arg(long)]
    pub skip_bad_lines: bool,
}

/// The formats by name, each with a few words.
fn formats() -> impl TypedValueParser<Value = Format> {
    let values =
        Format::ALL.iter().map(|f| PossibleValue::new(f.name()).help(f.layout().render(flag)));
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
        let options = self.options();
        let input = if path == Path::new("-") {
            io::read_dataset_from(standard_input(context)?, STDIN.as_ref(), &options, context)?
        } else {
            io::read_dataset(path, &options, context)?
        };
        remark(path, &input.assumed, input.left_out(), context);
        Ok(input)
    }

    fn options(&self) -> ReadOptions {
        ReadOptions::default()
            .format(self.format)
            .id(self.id.clone())
            .item(self.item.clone())
            .items(self.items.clone())
            .split(self.split.clone())
            .delimiter(self.delimiter)
            .wordnet(self.nouns.clone())
            .encoding(self.encoding)
            .fold_case(self.fold_case)
            .normalize(self.normalize)
            .skip_bad_lines(self.skip_bad_lines)
    }
}

/// Says what was taken for granted and what was left out.
fn remark(path: &Path, assumed: &[Assumption], left_out: LeftOut, context: &Context) {
    let path = plain(path.display());
    for assumption in assumed {
        context.remark(&format!("{path}: {assumption}"));
    }
    if let Some(text) = left_out.describe() {
        context.remark(&format!("{path}: {text}"));
    }
}

/// How `-` is called in messages.
const STDIN: &str = "(standard input)";

/// What `-` is; the library opens files and nothing else.
fn standard_input(context: &Context) -> anyhow::Result<Stdin<'_>> {
    if std::io::stdin().is_terminal() {
        let hint = "pipe the data in, or name a file";
        let name = Path::new(STDIN);
        return Err(setveil::Error::input(name, None, "this is a terminal", hint).into());
    }
    Ok(Stdin::new(context))
}

impl DataArgs {
    pub fn read(&self, context: &Context) -> anyhow::Result<Input> {
        self.layout.read(&self.data, context)
    }

    /// Reads data that is to be measured: what `anonymize` would refuse is said,
    /// because figures about a table that was misread mean nothing.
    pub fn read_to_measure(&self, context: &Context) -> anyhow::Result<Input> {
        let input = self.read(context)?;
        let findings = inspect::check(&input);
        if findings.refused() {
            context.remark(&findings::misread(&findings, &self.data));
        }
        Ok(input)
    }

    /// Reads data that is to be published: refuses what does not look like
    /// sets of items, unless it is meant so.
    pub fn read_to_publish(&self, target: &Target, context: &Context) -> anyhow::Result<Input> {
        let input = self.read(context)?;
        self.looked_at(&inspect::check(&input), target, context)?;
        Ok(input)
    }

    /// The same for data that goes to a disk.
    pub fn spool_to_publish(
        &self,
        target: &Target,
        on_disk: &OnDisk,
        context: &Context,
    ) -> anyhow::Result<Spooled> {
        let (path, options) = (self.data.as_path(), self.layout.options());
        let mut data = if path == Path::new("-") {
            let stream = standard_input(context)?;
            files::spool_from(stream, STDIN.as_ref(), &options, target, on_disk, context)?
        } else {
            let original = Original { path, options: &options };
            files::spool(original, target, on_disk, context)?
        };
        remark(path, &data.assumed, data.left_out(), context);
        self.looked_at(&inspect::check_spooled(&mut data, context)?, target, context)?;
        Ok(data)
    }

    fn looked_at(
        &self,
        findings: &Findings,
        target: &Target,
        context: &Context,
    ) -> anyhow::Result<()> {
        if findings.refused() && !target.as_baskets {
            anyhow::bail!(findings::refusal(findings, &self.data, context.words()));
        }
        for finding in &findings.findings {
            let path = plain(self.data.display());
            context.remark(&format!("{path}: {}", findings::remark(finding)));
        }
        Ok(())
    }
}

/// The list that a release was made with, for those who have it.
#[derive(Debug, Args)]
pub struct KeepArgs {
    /// The list of sets that the release was made to keep together, if there was one: no release
    /// tells, and without it nobody finds out which records went where
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
}

impl KeepArgs {
    pub fn read(&self) -> anyhow::Result<Keep> {
        Ok(self.keep.as_deref().map(io::read_keep).transpose()?.unwrap_or_default())
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
    /// Publish the data as it was read, even if it looks like a table or like identifiers
    #[arg(long)]
    pub as_baskets: bool,
    /// Put clusters into several files of at most this size, as 100M
    #[arg(long, value_name = "SIZE", value_parser = crate::memory::bytes)]
    pub file_size: Option<u64>,
    /// Write where the release came from to a private file outside of it; refuse data of which
    /// this file, or another receipt beside it, tells an earlier release
    #[arg(long, value_name = "FILE")]
    pub receipt: Option<PathBuf>,
    /// Publish the same data again, although a receipt tells of an earlier release
    #[arg(long, requires = "receipt")]
    pub again: bool,
}

impl TargetArgs {
    pub fn target(&self) -> Target {
        let target = Target::new(&self.output).force(self.force);
        let target = target.receipt(self.receipt.clone()).file_size(self.file_size);
        target.as_baskets(self.as_baskets).again(self.again)
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
