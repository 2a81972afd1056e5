//! Which items are sensitive: from a file, or drawn for an experiment.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use setveil::data::P;
use setveil::methods::cahd::{self, SensitiveOnly};
use setveil::{Dataset, io};

use crate::context::Context;

/// The sensitive items of a method that separates them.
#[derive(Debug, Args)]
pub struct SensitiveArgs {
    /// The sensitive items, one a line; each must occur in the data
    #[arg(long, value_name = "FILE", required_unless_present = "random_sensitive")]
    sensitive: Option<PathBuf>,
    /// For experiments: draw N sensitive items among those rare enough for p, and list them
    #[arg(long, value_name = "N", conflicts_with = "sensitive")]
    random_sensitive: Option<usize>,
    /// Where the draw of --random-sensitive begins; not published
    #[arg(long, value_name = "SEED", default_value = "1", conflicts_with = "sensitive")]
    seed: u64,
}

impl SensitiveArgs {
    /// The labels; drawn ones are remarked.
    pub fn labels(&self, data: &Dataset, p: P, context: &Context) -> anyhow::Result<Vec<String>> {
        if let Some(path) = &self.sensitive {
            return Ok(io::read_items(path)?);
        }
        let count = self.random_sensitive.unwrap_or(0);
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let labels = cahd::draw(data, count, p, &mut rng)?;
        context.remark(&format!("sensitive items: {}", labels.join(", ")));
        Ok(labels)
    }
}

/// What happens to records with sensitive items only.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SensitiveOnlyArg {
    /// Publish nothing while there is one, and say how many there are
    Refuse,
    /// Leave them out of the release, and say how many there were
    Drop,
}

impl From<SensitiveOnlyArg> for SensitiveOnly {
    fn from(rule: SensitiveOnlyArg) -> Self {
        match rule {
            SensitiveOnlyArg::Refuse => Self::Refuse,
            SensitiveOnlyArg::Drop => Self::Drop,
        }
    }
}
