//! `setveil hierarchy balanced` and `alphabetical`.

use std::path::{Path, PathBuf};

use serde::Serialize;
use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::{Hierarchy, io};

use crate::context::{Context, Exit};
use crate::inputs::DataArgs;

/// Group neighbouring items in their natural order (item9 before item10)
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    setveil hierarchy balanced baskets.dat --fanout 5 -o hierarchy.csv")]
pub struct BalancedArgs {
    #[command(flatten)]
    made: MadeArgs,
}

/// Group neighbouring items in the order of their text
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    setveil hierarchy alphabetical log.txt --fanout 10 -o hierarchy.csv")]
pub struct AlphabeticalArgs {
    #[command(flatten)]
    made: MadeArgs,
}

#[derive(Debug, clap::Args)]
struct MadeArgs {
    #[command(flatten)]
    data: DataArgs,
    /// How many neighbours make one group
    #[arg(long, default_value = "5", value_name = "F")]
    fanout: usize,
    #[command(flatten)]
    target: Target,
}

/// Where a hierarchy goes.
#[derive(Debug, clap::Args)]
pub(super) struct Target {
    /// The hierarchy file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Replace an earlier file of that name
    #[arg(long)]
    force: bool,
}

impl Target {
    /// Before any work: a hierarchy that somebody made by hand is not replaced
    /// by accident.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        Ok(io::check_file(&self.output, self.force)?)
    }

    pub(super) fn write(&self, hierarchy: &Hierarchy, context: &Context) -> anyhow::Result<Exit> {
        io::write_hierarchy(hierarchy, &self.output, self.force)?;
        answer(hierarchy, &self.output, context)
    }
}

impl BalancedArgs {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        self.made.run(LeafOrder::Natural, context)
    }
}

impl AlphabeticalArgs {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        self.made.run(LeafOrder::Alphabetical, context)
    }
}

impl MadeArgs {
    fn run(&self, order: LeafOrder, context: &Context) -> anyhow::Result<Exit> {
        self.target.check()?;
        let input = self.data.read(context)?;
        let hierarchy = balanced(input.dataset.vocabulary(), self.fanout, order)?;
        self.target.write(&hierarchy, context)
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    hierarchy: &'a Path,
    leaves: u32,
    nodes: usize,
}

/// What every command that makes a hierarchy answers.
fn answer(hierarchy: &Hierarchy, path: &Path, context: &Context) -> anyhow::Result<Exit> {
    let answer =
        Answer { hierarchy: path, leaves: hierarchy.leaf_count(0), nodes: hierarchy.len() };
    context.answer(&answer, || {
        format!("{}: {} leaves, {} nodes\n", path.display(), answer.leaves, answer.nodes)
    })?;
    Ok(Exit::Done)
}
