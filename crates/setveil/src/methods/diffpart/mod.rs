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

use std::sync::Arc;

use rand::rngs::SysRng;
use rand::{CryptoRng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};

use super::generalization::{Rows, body};
use super::recipe::{Knob, Needs, Outcome, Recipe, given};
use crate::data::hierarchy::{LeafOrder, NodeId, balanced};
use crate::data::{Dataset, Epsilon, Hierarchy, ItemId};
use crate::error::{Hint, Setting};
use crate::release::{Body, Guarantee, Model, Release, Supports, Universe};
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Parameters {
    epsilon: Epsilon,
    #[serde(default)]
    fanout: Fanout,
    #[serde(default)]
    drop_unknown: bool,
    /// Stands in the guarantee: it is part of what is promised.
    #[serde(skip, default = "public")]
    universe: Universe,
    /// Published as a file of its own.
    #[serde(skip)]
    hierarchy: Option<Arc<Hierarchy>>,
}

fn public() -> Universe {
    Universe::Public
}

/// How many children of a node are told apart at once: 2 to 16, because
/// expanding a node draws for 2^fanout sub-partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "usize", into = "usize")]
struct Fanout(usize);

impl Default for Fanout {
    fn default() -> Self {
        Self(FANOUT)
    }
}

impl TryFrom<usize> for Fanout {
    type Error = Error;
    fn try_from(fanout: usize) -> Result<Self> {
        if (2..=16).contains(&fanout) {
            return Ok(Self(fanout));
        }
        let expected = "a whole number from 2 to 16";
        Err(Error::Parameter { name: "fanout", found: fanout.to_string(), expected })
    }
}

impl From<Fanout> for usize {
    fn from(fanout: Fanout) -> usize {
        fanout.0
    }
}

impl Parameters {
    /// Spends `epsilon`; the hierarchy is public, and an item outside of it
    /// is an error.
    pub fn new(epsilon: Epsilon, hierarchy: impl Into<Arc<Hierarchy>>) -> Self {
        Self::spending(epsilon).hierarchy(hierarchy)
    }

    /// The same, and the hierarchy is still to be given.
    pub fn spending(epsilon: Epsilon) -> Self {
        Self {
            epsilon,
            fanout: Fanout::default(),
            drop_unknown: false,
            universe: Universe::Public,
            hierarchy: None,
        }
    }

    /// How many children of a node are told apart at once; wider nodes are
    /// split.
    ///
    /// # Errors
    /// Outside of 2 to 16: expanding a node draws for 2^fanout sub-partitions.
    pub fn fanout(self, fanout: usize) -> Result<Self> {
        Ok(Self { fanout: fanout.try_into()?, ..self })
    }

    /// Another hierarchy of all items that could occur.
    pub fn hierarchy(self, hierarchy: impl Into<Arc<Hierarchy>>) -> Self {
        Self { hierarchy: Some(hierarchy.into()), ..self }
    }

    /// Where the names in the hierarchy come from.
    pub fn universe(self, universe: Universe) -> Self {
        Self { universe, ..self }
    }

    /// The items of `data` as the universe, in a balanced hierarchy: that they
    /// occur is published without protection.
    ///
    /// # Errors
    /// If there are too few items for a hierarchy.
    pub fn universe_from_data(self, data: &Dataset) -> Result<Self> {
        let tree = balanced(data.vocabulary(), self.fanout.0, LeafOrder::Natural)?;
        Ok(self.hierarchy(tree).universe(Universe::Data))
    }

    /// Leave items outside of the hierarchy out of the records. Each record is
    /// changed by itself, so the guarantee stays.
    pub fn drop_unknown(self, drop_unknown: bool) -> Self {
        Self { drop_unknown, ..self }
    }
}

/// The method by its name.
pub(super) struct Method;

impl Recipe for Method {
    type Parameters = Parameters;
    const NAME: &'static str = "diffpart";
    const IN_WORDS: &'static str = "Sets of items were counted top-down along a taxonomy with \
        random noise, and only counts that stand out from the noise were kept.";
    const KNOBS: &'static [Knob] = &[Knob::Epsilon];

    fn guarantee(parameters: &Parameters) -> Guarantee {
        let (epsilon, universe) = (parameters.epsilon.get(), parameters.universe);
        let model = Model::DifferentialPrivacy { epsilon, universe };
        Guarantee { model, supports: Supports::Noisy }
    }

    /// With noise that nobody can draw again.
    fn run(parameters: &Parameters, data: &Dataset, progress: &dyn Progress) -> Result<Outcome> {
        Ok(anonymize(data, parameters, &mut generator()?, progress)?.into())
    }

    fn needs(parameters: &mut Parameters) -> Needs<'_> {
        Needs { hierarchy: Some(&mut parameters.hierarchy), ..Needs::default() }
    }

    fn promise(parameters: &mut Parameters, guarantee: &Guarantee) {
        if let Model::DifferentialPrivacy { universe, .. } = guarantee.model {
            parameters.universe = universe;
        }
    }
}

/// A cryptographically secure generator with a key from the system: whoever
/// can guess the key can subtract the noise.
fn generator() -> Result<ChaCha20Rng> {
    ChaCha20Rng::try_from_rng(&mut SysRng).map_err(|e| Error::Infeasible {
        what: format!("the system gives no random numbers: {e}"),
        hint: "noise cannot be drawn without them".into(),
    })
}

/// Publishes noisy counts of sets of items, with randomness from `rng`.
/// [`Method::run`](super::Method::run) takes one that the system seeds.
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
/// let parameters = Parameters::new("1".parse::<Epsilon>()?, tree);
/// let release = diffpart::anonymize(&data, &parameters, &mut rng, &())?;
/// assert!(verify::verify(&release, &())?.holds);
/// # Ok::<(), setveil::Error>(())
/// ```
pub fn anonymize<R: CryptoRng>(
    data: &Dataset,
    parameters: &Parameters,
    rng: &mut R,
    progress: &dyn Progress,
) -> Result<Release> {
    let hierarchy = given(&parameters.hierarchy)?;
    let taxonomy = Taxonomy::new(hierarchy, parameters.fanout.0);
    if taxonomy.inner(taxonomy.root()) > MOST_INNER {
        return Err(Error::Infeasible {
            what: format!("the hierarchy has {} leaves", taxonomy.leaf_nodes.len()),
            hint: "too little budget would be left for each of its nodes; use a smaller one".into(),
        });
    }
    progress.stage(Stage::Generalizing, None);
    let rows = rows(data, hierarchy, &taxonomy, parameters.drop_unknown, progress)?;
    let (epsilon, noise) = (parameters.epsilon, Noise::new(rng));
    let found = Partitioner { taxonomy: &taxonomy, rows: &rows, epsilon, noise }.run(progress)?;
    let node = |&leaf: &u32| taxonomy.leaf_nodes[leaf as usize];
    let classes: Vec<(Vec<NodeId>, u32)> = found
        .into_iter()
        .map(|(leaves, count)| (leaves.iter().map(node).collect(), count))
        .collect();
    let mut body = body(hierarchy, &classes, progress)?;
    body.hierarchy = Some(hierarchy.clone());
    // Not the number of records: that would be published without noise.
    let (records, items) = (body.classes.total(), body.vocabulary.len() as u64);
    let manifest = Method::manifest(parameters, records, items);
    Ok(Release { manifest, body: Body::Generalized(body) })
}

/// The records as leaves of the taxonomy.
fn rows(
    data: &Dataset,
    hierarchy: &Hierarchy,
    taxonomy: &Taxonomy,
    drop_unknown: bool,
    progress: &dyn Progress,
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
        return Rows::new(data, &leaves, progress);
    }
    if !drop_unknown {
        return Err(Error::Unknown {
            what: format!(
                "{} of {} items are no leaf of the hierarchy, the first: {}",
                missing.len(),
                data.item_count(),
                missing[..missing.len().min(5)].join(", ")
            ),
            hint: Hint::of(
                "add them to the hierarchy if they are no secret, or leave them out of the \
                 records with {}",
                &[Setting::DropUnknown],
            ),
        });
    }
    let known: Vec<Vec<ItemId>> =
        data.records().map(|r| r.iter().copied().filter(|&i| !unknown(i)).collect()).collect();
    let known = data.with_records(known.iter().map(Vec::as_slice));
    Rows::new(&known, &leaves, progress)
}
