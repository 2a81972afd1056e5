//! DiffPart: differential privacy by top-down partitioning (diffpart-2011: R.
//! Chen, N. Mohammed, B. C. M. Fung, B. C. Desai, L. Xiong: Publishing
//! Set-Valued Data via Differential Privacy. PVLDB 4(11), 2011).
//!
//! The hierarchy names all items that could occur; it is public and is
//! published. Half of epsilon is spent on finding the sets of items that many
//! records have, from the root down, the other half on their counts. What is
//! published: sets of leaves with noisy counts.
//!
//! Invariants: classes are sets of leaves, each once, with a positive count;
//! nothing beside the noisy counts depends on the data.

mod noise;
mod partition;
mod taxonomy;

use rand::CryptoRng;
use serde_json::json;

use super::generalization::{Rows, body};
use crate::data::hierarchy::NodeId;
use crate::data::{Dataset, Epsilon, Hierarchy, ItemId};
use crate::release::{Body, Guarantee, Manifest, Model, Release, Supports, Universe};
use crate::{Error, Progress, Result, Stage};
use noise::Noise;
use partition::Partitioner;
use taxonomy::Taxonomy;

/// How many children a node may have unless something else is asked for: the
/// paper's.
pub const FANOUT: usize = 10;

/// More inner nodes than this would make the smallest budgets coarse.
const MOST_INNER: u64 = 1 << 24;

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    epsilon: Epsilon,
    fanout: usize,
    universe: Universe,
    drop_unknown: bool,
}

impl Parameters {
    /// Spends `epsilon`; the hierarchy is public, and an item outside of it
    /// is an error.
    pub fn new(epsilon: Epsilon) -> Self {
        Self { epsilon, fanout: FANOUT, universe: Universe::Public, drop_unknown: false }
    }

    /// How many children of a node are told apart at once; wider nodes are
    /// split.
    ///
    /// # Errors
    /// Outside of 2 to 16: expanding a node draws for 2^fanout sub-partitions.
    pub fn fanout(self, fanout: usize) -> Result<Self> {
        if (2..=16).contains(&fanout) {
            return Ok(Self { fanout, ..self });
        }
        let expected = "a whole number from 2 to 16";
        Err(Error::Parameter { name: "fanout", found: fanout.to_string(), expected })
    }

    /// Where the names in the hierarchy come from.
    pub fn universe(self, universe: Universe) -> Self {
        Self { universe, ..self }
    }

    /// Leave items outside of the hierarchy out of the records. Each record is
    /// changed by itself, so the guarantee stays.
    pub fn drop_unknown(self, drop_unknown: bool) -> Self {
        Self { drop_unknown, ..self }
    }
}

/// Publishes noisy counts of sets of items.
///
/// # Guarantee
/// Epsilon-differential privacy: for data sets that differ by one record, the
/// probabilities of any release differ by a factor of at most e^epsilon. A
/// record lies in one sub-partition of every operation, so only the counts on
/// its way down change, each by 1; what is spent on that way adds up to
/// epsilon (`partition.rs`). It holds if `rng` cannot be predicted, if the
/// hierarchy was not made from the data, and if every record is over the
/// hierarchy's leaves or `drop_unknown` is set. It covers the release, and not
/// how long the program ran.
///
/// # Complexity
/// An operation costs 2^fanout / 64 draws of a few random numbers and time in
/// the items of its records below the expanded node. Operations on empty
/// sub-partitions are a fraction of those on others, on average.
///
/// # Deviations
/// - The paper's thresholds are C1 sqrt(2) height / (budget of the operation)
///   and C2 sqrt(2) / (budget of the count) with constants to be tuned. Small
///   constants let more than one empty sub-partition pass an operation, and
///   then the work grows exponentially. Here the threshold follows from how
///   many empty sub-partitions may pass on average: a tenth of one, and half
///   of one where it is published.
/// - The noise is two-sided geometric and exact instead of Laplace.
/// - Empty sub-partitions are drawn one by one, 64 at a time, which gives the
///   paper's binomial number and uniform choice without computing either.
/// - Whatever was not spent goes into the published counts, also where all
///   of a sub-partition's items are leaves before the last operation.
/// - Of the nodes of greatest height the leftmost is expanded, not a random
///   one: neither depends on the data.
/// - Nodes with more than `fanout` children are split (`taxonomy.rs`).
///
/// ```
/// use rand::{SeedableRng, rngs::SysRng};
/// use rand_chacha::ChaCha20Rng;
/// use setveil::data::{Epsilon, Hierarchy};
/// use setveil::methods::diffpart::{self, Parameters};
/// use setveil::{Dataset, verify};
///
/// let tree = Hierarchy::from_paths(&[
///     vec!["beer", "alcohol", "*"], vec!["wine", "alcohol", "*"], vec!["diapers", "*"],
/// ]).unwrap();
/// let data = Dataset::from_records(std::iter::repeat_n(vec!["beer", "diapers"], 1000));
/// let mut rng = ChaCha20Rng::try_from_rng(&mut SysRng).expect("a source of randomness");
/// let parameters = Parameters::new("1".parse::<Epsilon>()?);
/// let release = diffpart::anonymize(&data, tree, &parameters, &mut rng, &())?;
/// assert!(verify::verify(&release).holds);
/// # Ok::<(), setveil::Error>(())
/// ```
pub fn anonymize<R: CryptoRng>(
    data: &Dataset,
    hierarchy: Hierarchy,
    parameters: &Parameters,
    rng: &mut R,
    progress: &dyn Progress,
) -> Result<Release> {
    let taxonomy = Taxonomy::new(&hierarchy, parameters.fanout);
    if taxonomy.inner(taxonomy.root()) > MOST_INNER {
        return Err(Error::Infeasible {
            what: format!("the hierarchy has {} leaves", taxonomy.leaf_nodes.len()),
            hint: "too little budget would be left for each of its nodes; use a smaller one".into(),
        });
    }
    let rows = rows(data, &hierarchy, &taxonomy, parameters.drop_unknown)?;
    progress.stage(Stage::Generalizing, None);
    let (epsilon, noise) = (parameters.epsilon, Noise::new(rng));
    let found = Partitioner { taxonomy: &taxonomy, rows: &rows, epsilon, noise }.run(progress);
    let node = |&leaf: &u32| taxonomy.leaf_nodes[leaf as usize];
    let classes: Vec<(Vec<NodeId>, u32)> = found
        .into_iter()
        .map(|(leaves, count)| (leaves.iter().map(node).collect(), count))
        .collect();
    let mut body = body(&hierarchy, &classes);
    body.hierarchy = Some(hierarchy);
    let manifest = Manifest::new(
        "diffpart",
        [
            ("epsilon", json!(epsilon.get())),
            ("fanout", json!(parameters.fanout)),
            ("drop_unknown", json!(parameters.drop_unknown)),
        ],
        Guarantee {
            model: Model::DifferentialPrivacy {
                epsilon: epsilon.get(),
                universe: parameters.universe,
            },
            supports: Supports::Noisy,
        },
        // Not the number of records: that would be published without noise.
        body.classes.total(),
        body.vocabulary.len() as u64,
    );
    Ok(Release { manifest, body: Body::Generalized(body) })
}

/// The records as leaves of the taxonomy.
fn rows(
    data: &Dataset,
    hierarchy: &Hierarchy,
    taxonomy: &Taxonomy,
    drop_unknown: bool,
) -> Result<Rows> {
    let bound = hierarchy.bind(data.vocabulary(), true)?;
    // The root is nobody's leaf.
    let unknown = |item: ItemId| bound[item as usize] == 0;
    let missing: Vec<&str> = (0..data.item_count() as ItemId)
        .filter(|&i| unknown(i))
        .map(|i| data.vocabulary().label(i))
        .collect();
    let leaf = |&node: &NodeId| taxonomy.leaf_nodes.partition_point(|&l| l < node) as u32;
    let leaves: Vec<u32> = bound.iter().map(leaf).collect();
    if missing.is_empty() {
        return Ok(Rows::new(data, &leaves));
    }
    if !drop_unknown {
        return Err(Error::Unknown {
            what: format!(
                "{} of {} items are no leaf of the hierarchy, the first: {}",
                missing.len(),
                data.item_count(),
                missing[..missing.len().min(5)].join(", ")
            ),
            hint: "add them to the hierarchy if they are no secret, or leave them out of the \
                   records with --drop-unknown"
                .into(),
        });
    }
    let known: Vec<Vec<ItemId>> =
        data.records().map(|r| r.iter().copied().filter(|&i| !unknown(i)).collect()).collect();
    Ok(Rows::new(&data.with_records(known.iter().map(Vec::as_slice)), &leaves))
}
