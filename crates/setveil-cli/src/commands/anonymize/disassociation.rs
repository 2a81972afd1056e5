//! `setveil anonymize disassociation`.

use std::path::PathBuf;

use setveil::budget::Budget;
use setveil::data::{K, L, M};
use setveil::methods::disassociation::safe::{Eta, JoinWidth, Safe};
use setveil::methods::disassociation::{Clustering, Parameters};
use setveil::workflow::files::OnDisk;
use setveil::{Dataset, Method, io};

use super::MethodArgs;
use crate::context::Context;

/// Keep every item, hide which rare combinations occurred together
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    setveil anonymize disassociation baskets.dat -k 5 -m 2 -o release\n  \
    setveil anonymize disassociation visits.csv --id patient --item code \\\n    \
    --sensitive hiv.txt -l 4 -o release\n  \
    setveil anonymize disassociation baskets.dat --safe --eta 0.05 -o release\n  \
    setveil anonymize disassociation huge.dat.zst --memory 4G -o release\n\n\
    The promise and its limits: docs/guarantees.md and, with --safe, docs/safe.md")]
pub struct Args {
    #[command(flatten)]
    method: DisassociationArgs,
    /// Show nothing that somebody who knows this program could use to undo it
    #[arg(long, conflicts_with_all = ["sensitive", "l", "keep"])]
    safe: bool,
    /// The share of possible data sets that --safe may rule out [default: 0.05]
    #[arg(long, requires = "safe")]
    eta: Option<Eta>,
    /// How many clusters share terms with each other with --safe, or `all` [default: all]
    #[arg(long, value_name = "CLUSTERS", requires = "safe", conflicts_with = "no_refine")]
    join_width: Option<JoinWidth>,
    /// Leave out items of fewer than k records with --safe
    #[arg(long, requires = "safe")]
    drop_below_k: bool,
    /// Keep the data on disk and work with this much memory in all, as 4G; data that does not fit
    /// is anonymized in parts (docs/disassociation.md)
    #[arg(long, value_name = "SIZE", value_parser = crate::memory::parse)]
    memory: Option<Budget>,
    /// With --memory: on which disk raw data lies while the command runs, in a file without a name
    /// [default: that of the release]
    #[arg(long, value_name = "DIR", requires = "memory")]
    temporary: Option<PathBuf>,
}

/// The horizontal step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ClusteringArg {
    /// the paper's: similar records together, at most --max-cluster-size
    Horpart,
    /// all records in one cluster: frequent combinations stay together, little is told about rare ones
    Whole,
}

/// What disassociation and DLS have in common.
#[derive(Debug, clap::Args)]
pub struct DisassociationArgs {
    /// How many candidates must remain for whatever an attacker knows
    #[arg(short, default_value = "5")]
    pub k: K,
    /// How many items of a person an attacker may know
    #[arg(short, default_value = "2")]
    pub m: M,
    /// The most records of a cluster, at least 2k [default: 50, or 2k if that is more]
    #[arg(long, value_name = "RECORDS")]
    pub max_cluster_size: Option<usize>,
    /// How records come together in clusters
    #[arg(long, value_enum, default_value = "horpart")]
    pub clustering: ClusteringArg,
    /// Leave clusters as they are instead of letting them share chunks
    #[arg(long)]
    pub no_refine: bool,
    /// Terms that are sensitive in themselves, one a line; needs -l
    #[arg(long, value_name = "FILE", requires = "l")]
    pub sensitive: Option<PathBuf>,
    /// A sensitive term occurs in at most 1/l of the records of every cluster
    #[arg(short, requires = "sensitive")]
    pub l: Option<L>,
    /// Sets of terms to keep together where that is allowed, a set a line; not published
    #[arg(long, value_name = "FILE")]
    pub keep: Option<PathBuf>,
}

impl DisassociationArgs {
    /// The parameters; reads the lists of sensitive terms and of sets to keep.
    pub fn parameters(&self) -> anyhow::Result<Parameters> {
        let mut parameters = Parameters::new(self.k, self.m).with_refine(!self.no_refine);
        if self.clustering == ClusteringArg::Whole {
            parameters = parameters.with_clustering(Clustering::Whole);
        }
        if let Some(max) = self.max_cluster_size {
            parameters.max_cluster_size = max;
        }
        if let (Some(path), Some(l)) = (&self.sensitive, self.l) {
            parameters = parameters.with_sensitive(io::read_items(path)?, l);
        }
        if let Some(path) = &self.keep {
            parameters = parameters.with_keep(io::read_keep(path)?);
        }
        Ok(parameters)
    }
}

impl Args {
    /// Whether the data does not stay on disk.
    pub fn is_in_memory(&self) -> bool {
        self.memory.is_none()
    }
}

impl MethodArgs for Args {
    fn method(&self, _: &Dataset, _: &Context) -> anyhow::Result<Method> {
        let mut parameters = self.method.parameters()?;
        if self.safe {
            parameters = parameters.with_safe(Safe {
                eta: self.eta.unwrap_or_default(),
                join_width: self.join_width.unwrap_or_default(),
                drop_below_k: self.drop_below_k,
            });
        }
        Ok(Method::Disassociation(parameters))
    }

    fn on_disk(&self) -> anyhow::Result<Option<OnDisk>> {
        let Some(memory) = self.memory else { return Ok(None) };
        Ok(Some(OnDisk::new(memory)?.temporary(self.temporary.clone())))
    }
}
