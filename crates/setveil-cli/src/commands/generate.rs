//! `setveil generate`: made-up data for tests of scale.

use std::path::PathBuf;

use clap::Subcommand;
use serde::Serialize;
use setveil::Progress;
use setveil::generate::{DEFAULT_SEED, QueryLog, QueryLogParameters, Quest, QuestParameters};
use setveil::io;

use crate::context::{Context, Exit};

/// Make up data for experiments: no real person's
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    setveil generate quest --records 1000000 --items 5000 -o baskets.dat\n  \
    setveil generate query-log --users 1000 -o log.tsv.gz")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Quest(QuestArgs),
    QueryLog(QueryLogArgs),
}

/// Where made-up data goes.
#[derive(Debug, clap::Args)]
struct FileArgs {
    /// The file to write, compressed if it ends in .gz or .zst; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Replace an earlier file of that name
    #[arg(long)]
    force: bool,
    /// The random seed: the same seed and flags give the same file
    #[arg(long, default_value_t = DEFAULT_SEED)]
    seed: u64,
}

/// Market baskets after the IBM Quest model, one record a line (FIMI)
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    setveil generate quest --records 100000 --items 1000 --mean-length 10 -o t10i4d100k.dat")]
struct QuestArgs {
    /// How many records
    #[arg(long, default_value_t = QuestParameters::default().records)]
    records: u64,
    /// How many different items
    #[arg(long, default_value_t = QuestParameters::default().items)]
    items: u32,
    /// The mean number of items in a record
    #[arg(long, default_value_t = QuestParameters::default().mean_length)]
    mean_length: f64,
    /// How many patterns: itemsets that tend to occur together
    #[arg(long, default_value_t = QuestParameters::default().patterns)]
    patterns: u32,
    /// The mean number of items in a pattern
    #[arg(long, default_value_t = QuestParameters::default().pattern_length)]
    pattern_length: f64,
    /// The mean share of its items that a pattern has from the one before
    #[arg(long, default_value_t = QuestParameters::default().correlation)]
    correlation: f64,
    #[command(flatten)]
    file: FileArgs,
}

/// A query log with AOL's columns: AnonID, Query, QueryTime, ItemRank, ClickURL
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    setveil generate query-log --users 1000 -o log.tsv\n  \
    setveil generate query-log --users 650000 --distinct-queries 10000000 -o aol-like.tsv.zst")]
struct QueryLogArgs {
    /// How many users
    #[arg(long, default_value_t = QueryLogParameters::default().users)]
    users: u64,
    /// The mean number of queries of a user
    #[arg(long, default_value_t = QueryLogParameters::default().mean_queries)]
    mean_queries: f64,
    /// How many different queries there are to choose from
    #[arg(long, default_value_t = QueryLogParameters::default().distinct_queries)]
    distinct_queries: u64,
    /// The exponent of Zipf's law: how much more popular the popular queries are
    #[arg(long, default_value_t = QueryLogParameters::default().skew)]
    skew: f64,
    #[command(flatten)]
    file: FileArgs,
}

#[derive(Serialize)]
struct Answer<'a> {
    file: &'a std::path::Path,
    lines: u64,
    seed: u64,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let (file, lines) = match &self.what {
            What::Quest(args) => (&args.file, args.run(context)),
            What::QueryLog(args) => (&args.file, args.run(context)),
        };
        let lines = match lines {
            // Whoever reads standard output has seen enough.
            Err(e) if file.output.as_os_str() == "-" && broken_pipe(&e) => return Ok(Exit::Done),
            lines => lines?,
        };
        // On standard output the data is the answer.
        if file.output.as_os_str() != "-" {
            let answer = Answer { file: &file.output, lines, seed: file.seed };
            context.answer(&answer, || format!("{}: {lines} lines\n", file.output.display()))?;
        }
        Ok(Exit::Done)
    }
}

fn broken_pipe(error: &setveil::Error) -> bool {
    let kind = std::io::ErrorKind::BrokenPipe;
    matches!(error, setveil::Error::Io { source, .. } if source.kind() == kind)
}

impl QuestArgs {
    fn run(&self, context: &Context) -> setveil::Result<u64> {
        let parameters = QuestParameters::default()
            .records(self.records)
            .items(self.items)
            .mean_length(self.mean_length)
            .patterns(self.patterns)
            .pattern_length(self.pattern_length)
            .correlation(self.correlation);
        let mut quest = Quest::new(&parameters, self.file.seed)?;
        context.stage(setveil::progress::Stage::Generating, Some(self.records));
        io::write_quest(&mut quest, &self.file.output, self.file.force, context)
    }
}

impl QueryLogArgs {
    fn run(&self, context: &Context) -> setveil::Result<u64> {
        let parameters = QueryLogParameters::default()
            .users(self.users)
            .mean_queries(self.mean_queries)
            .distinct_queries(self.distinct_queries)
            .skew(self.skew);
        let mut log = QueryLog::new(&parameters, self.file.seed)?;
        context.stage(setveil::progress::Stage::Generating, Some(self.users));
        io::write_query_log(&mut log, &self.file.output, self.file.force, context)
    }
}
