//! `setveil hierarchy check`.

use std::fmt::Write;
use std::path::PathBuf;

use serde::Serialize;
use setveil::error::plain;
use setveil::io;

use crate::context::{Context, Exit};
use crate::inputs::LayoutArgs;

/// Check a hierarchy file, and whether it has a leaf for every item of the data
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  setveil hierarchy check hierarchy.csv baskets.dat\n\n\
    The exit code is 0 if the file is a hierarchy and no item is missing, 1 if items are missing, \n\
    and 2 if the file is no hierarchy.")]
pub struct Args {
    /// The hierarchy: one leaf a line, `leaf;parent;...;*`
    #[arg(value_name = "FILE")]
    hierarchy: PathBuf,
    /// The data whose items should be leaves
    #[arg(value_name = "DATA")]
    data: Option<PathBuf>,
    #[command(flatten)]
    layout: LayoutArgs,
}

#[derive(Serialize)]
struct Answer {
    nodes: usize,
    leaves: u32,
    min_depth: u32,
    max_depth: u32,
    min_fanout: usize,
    max_fanout: usize,
    mean_fanout: f64,
    /// None without data.
    missing: Option<usize>,
    /// The first few of them.
    missing_items: Vec<String>,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let tree = io::read_hierarchy(&self.hierarchy)?;
        let missing = match &self.data {
            None => None,
            Some(path) => {
                let input = self.layout.read(path, context)?;
                let is_leaf = |label: &str| tree.node(label).is_some_and(|n| tree.is_leaf(n));
                let labels = input.dataset.vocabulary().labels();
                Some(labels.filter(|l| !is_leaf(l)).map(str::to_owned).collect::<Vec<_>>())
            }
        };
        let depths = || tree.leaves(0).map(|leaf| tree.depth(leaf));
        let inner = || (0..tree.len() as u32).filter(|&n| !tree.is_leaf(n));
        let fanouts = || inner().map(|n| tree.children(n).len());
        let answer = Answer {
            nodes: tree.len(),
            leaves: tree.leaf_count(0),
            min_depth: depths().min().unwrap_or(0),
            max_depth: depths().max().unwrap_or(0),
            min_fanout: fanouts().min().unwrap_or(0),
            max_fanout: fanouts().max().unwrap_or(0),
            mean_fanout: fanouts().sum::<usize>() as f64 / inner().count().max(1) as f64,
            missing: missing.as_ref().map(Vec::len),
            missing_items: missing.unwrap_or_default().into_iter().take(20).collect(),
        };
        context.answer(&answer, || describe(&answer))?;
        Ok(if answer.missing.unwrap_or(0) == 0 { Exit::Done } else { Exit::Violated })
    }
}

fn describe(answer: &Answer) -> String {
    let mut text = format!(
        "{} leaves, {} nodes\ndepth {} to {}, fan-out {} to {}, mean {:.2}\n",
        answer.leaves,
        answer.nodes,
        answer.min_depth,
        answer.max_depth,
        answer.min_fanout,
        answer.max_fanout,
        answer.mean_fanout
    );
    match answer.missing {
        None => {}
        Some(0) => text += "every item of the data is a leaf\n",
        Some(missing) => {
            let first = plain(answer.missing_items.join(", "));
            let _ = writeln!(text, "{missing} items of the data are no leaf, the first: {first}");
        }
    }
    text
}
