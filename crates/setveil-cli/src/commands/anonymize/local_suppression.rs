//! `setveil anonymize local-suppression`.

use std::path::PathBuf;

use setveil::data::{K, M};
use setveil::methods::local_suppression::{LeafSize, Parameters};
use setveil::{Dataset, Method, io};

use super::MethodArgs;
use crate::context::Context;

/// Keep frequent combinations together: each record gives up the items that make a rare one
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    setveil anonymize local-suppression baskets.dat -k 5 -m 2 -o release\n  \
    setveil anonymize local-suppression baskets.dat -k 10 --max-cluster-size all -o release\n\n\
    Small leaves tell more about rare combinations, large ones keep more of the frequent ones.\n\
    Who knows more than m items of a person learns more here than from disassociation: choose m\n\
    one higher, or a higher k. See docs/local-suppression.md")]
pub struct Args {
    /// How many candidates must remain for whatever an attacker knows
    #[arg(short, default_value = "5")]
    k: K,
    /// How many items of a person an attacker may know
    #[arg(short, default_value = "2")]
    m: M,
    /// The most records of a leaf, at least 2k, or `all` for one leaf [default: 100, or 2k if that is more]
    #[arg(long, value_name = "RECORDS")]
    max_cluster_size: Option<LeafSize>,
    /// Say nothing about the instances that are given up; counts become lower bounds
    #[arg(long)]
    no_item_counts: bool,
    /// Publish nothing but what the records keep, as classes
    #[arg(long, conflicts_with_all = ["no_item_counts", "max_cluster_size"])]
    only_combinations: bool,
    /// Terms that are never kept together with others, one a line
    #[arg(long, value_name = "FILE")]
    sensitive: Option<PathBuf>,
    /// Sets of items to keep together where that is allowed, a set a line; not published
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
}

impl MethodArgs for Args {
    fn method(&self, _: &Dataset, _: &Context) -> anyhow::Result<Method> {
        let sensitive = match &self.sensitive {
            Some(path) => io::read_items(path)?,
            None => Vec::new(),
        };
        let mut parameters = Parameters::new(self.k, self.m);
        parameters.max_cluster_size = self.max_cluster_size.unwrap_or_default();
        parameters.no_item_counts = self.no_item_counts;
        parameters.only_combinations = self.only_combinations;
        parameters.sensitive = sensitive;
        if let Some(path) = &self.keep {
            parameters.keep = io::read_keep(path)?;
        }
        Ok(Method::LocalSuppression(parameters))
    }
}
