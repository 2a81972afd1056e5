//! Which items are sensitive: from a file, or drawn for an experiment.

use std::path::PathBuf;

use clap::Args;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use setveil::data::P;
use setveil::methods::cahd;
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
    #[arg(long, value_name = "SEED", default_value = "1", requires = "random_sensitive")]
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

/// Remarks how many records hold nothing but sensitive items: whoever knows
/// that of a person knows that the person is sensitive, whatever is published.
pub fn remark_bare(data: &Dataset, labels: &[String], context: &Context) -> anyhow::Result<()> {
    let items = cahd::resolve(data, labels)?;
    let bare = data.records().filter(|r| r.iter().all(|i| items.binary_search(i).is_ok())).count();
    if bare > 0 {
        context.remark(&format!(
            "{bare} records hold sensitive items only: whoever knows that a person has no other \
             item knows that the person has a sensitive one (docs/cahd.md)"
        ));
    }
    Ok(())
}
