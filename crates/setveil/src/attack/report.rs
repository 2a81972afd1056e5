//! What an attack reports. The names of the fields are stable.

use serde::Serialize;

use super::{Adversary, Options};
use crate::release::Release;

/// What no number of this report covers.
pub(super) const OTHER_KNOWLEDGE: &str = "not modelled: that a person does not have an item, \
    several releases of the same people, and knowledge of more items";
/// What takes the original.
pub(super) const NOT_REPLAYED: &str = "how clusters were formed and joined was not replayed: that \
    takes the original and a method that this program has";

/// How many of the worst targets are listed.
pub(super) const LISTED: usize = 20;

/// The result of an attack. Fields are null where they do not apply to the
/// method or need the original.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The method of the release.
    pub method: String,
    /// The promised model.
    pub model: &'static str,
    /// Its k, where it has one.
    pub k: Option<u32>,
    /// Its m, where it has one.
    pub m: Option<u32>,
    /// Who attacks.
    pub adversary: Adversary,
    /// Whether targets are records of the original or drawn from the release.
    pub original: bool,
    /// Algorithm guarantee: Algorithm 1 of cover-problem-2016 as printed.
    pub printed_total: Option<u64>,
    /// Algorithm guarantee: original records that contain a breached pair of a
    /// cluster they fit into and that the attacker knows.
    pub vulnerable_records: Option<u64>,
    /// Algorithm guarantee: pairs of items, counted per cluster, that are in
    /// fewer than k records of it, by the corrected cover test.
    pub breached_pairs: Option<u64>,
    /// Those of them, counted once, that are in fewer than k records of the
    /// whole release.
    pub breached_pairs_release: Option<u64>,
    /// Algorithm guarantee: items that stand in one term chunk and nowhere
    /// else, so that fewer than k records have them.
    pub items_below_k: Option<u64>,
    /// Posterior: the greatest probability of a further item over the targets,
    /// with the worlds of the format.
    pub max_posterior: Option<f64>,
    /// Posterior: the mean over the targets of the most probable further item.
    pub mean_posterior: Option<f64>,
    /// For attackers that know m, m + 1 and m + 2 items.
    pub levels: Vec<Level>,
    /// The targets that fare worst, with m items known.
    pub worst_targets: Vec<WorstTarget>,
    /// What trying the algorithm itself on possible worlds gave.
    pub algorithm: Option<AlgorithmRisk>,
    /// For generalised releases.
    pub classes: Option<Classes>,
    /// For grouped releases.
    pub association: Option<Association>,
    /// What the numbers do not say.
    pub notes: Vec<String>,
}

/// An attacker who knows `known` items of each target.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Level {
    /// How many items are known.
    pub known: u32,
    /// How many targets were examined.
    pub targets: u64,
    /// How many there are.
    pub population: f64,
    /// Whether they are a random sample: then the maximum is one over the
    /// sample and means have an error.
    pub sampled: bool,
    /// Share of the targets with fewer than k candidate records in every world
    /// of the format.
    pub below_k: Option<f64>,
    /// Share of the targets with fewer than k candidate records on average.
    pub expected_below_k: Option<f64>,
    /// The smallest expected number of candidate records.
    pub min_candidates: Option<f64>,
    /// The posterior with the worlds of the format.
    pub posterior: PosteriorRisk,
    /// The posterior if terms of term chunks are known to be in fewer than k
    /// records of their cluster.
    pub posterior_algorithm: Option<PosteriorRisk>,
}

/// How well further items of the targets can be guessed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PosteriorRisk {
    /// The greatest probability over the targets.
    pub max: Option<f64>,
    /// The mean over the targets of the most probable item's probability.
    pub mean: Option<f64>,
    /// The standard error of the mean; 0 if all targets were examined.
    pub error: Option<f64>,
    /// With the original: how often the most probable item is really there.
    pub guess_right: Option<f64>,
    /// Share of the targets whose most probable further item has at least
    /// probability 0.95.
    pub certain: Option<f64>,
}

/// A target and its most probable further item.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WorstTarget {
    /// What is known.
    pub known: Vec<String>,
    /// What is learned.
    pub item: String,
    /// With which probability.
    pub posterior: f64,
    /// The expected number of candidate records.
    pub candidates: f64,
    /// Their greatest number in any world.
    pub upper: u64,
    /// Whether the target's record really has the item, with the original.
    pub right: Option<bool>,
}

/// What the algorithm-aware attacker found (see
/// [`algorithm`](super::algorithm)).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AlgorithmRisk {
    /// Clusters whose worlds were all tried.
    pub clusters_enumerated: u64,
    /// Clusters of which random worlds were tried.
    pub clusters_sampled: u64,
    /// Clusters that were chosen but gave no world that the algorithm would
    /// publish like this.
    pub clusters_undecided: u64,
    /// Worlds that were tried, and how many of them give this very output.
    pub worlds_tried: u64,
    /// See `worlds_tried`.
    pub worlds_accepted: u64,
    /// Pairs of record-chunk items with k records in some world of the format
    /// and in none that the algorithm would publish: certain, in enumerated
    /// clusters.
    pub breached_pairs: u64,
    /// How many of these the cover test finds.
    pub breached_pairs_covered: u64,
    /// Pairs with fewer than k records in all accepted random worlds: not
    /// certain; more than `suspicion_bound` of the worlds would have to
    /// contradict to be missed with probability below 5 %.
    pub suspected_pairs: u64,
    /// How many of these the cover test finds: those are certain.
    pub suspected_pairs_covered: u64,
    /// The largest 3 / accepted worlds over the sampled clusters.
    pub suspicion_bound: Option<f64>,
    /// The mean absolute change of P(y | x) inside a cluster between the
    /// worlds of the format and those of the algorithm, over pairs of
    /// record-chunk items of different chunks.
    pub mean_shift: Option<f64>,
    /// The largest such change, where it is larger than three standard errors.
    pub max_shift: Option<f64>,
    /// With the original: worlds that were tried and kept at each stage by an
    /// attacker who knows all other records and replays the program.
    pub stages: Vec<Stage>,
    /// For grouped releases: a world is tried once for every group, and
    /// accepted where the program makes that group of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<GroupReplay>,
}

/// How many worlds passed one stage of a replay. A stage tries worlds that passed
/// the one before; the later ones try fewer, as each takes a run of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Stage {
    /// `groups`: a group came out as published; `chunks`: one cluster would be split alike; `clusters`: all records would
    /// come into the same clusters; `release`: the release would be the same.
    pub stage: &'static str,
    /// Whether the attacker knows in how many records of the cluster each term of
    /// its term chunk is. No release tells; what is ruled out then is ruled out by what
    /// goes together alone.
    pub supports: TermSupports,
    /// How many were tried.
    pub tried: u64,
    /// How many of them were kept.
    pub kept: u64,
}

/// What an attacker knows about how often terms of term chunks occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TermSupports {
    /// In fewer than k records of the cluster, as everybody knows.
    Unknown,
    /// In how many.
    Known,
}

impl Stage {
    pub(super) fn new(stage: &'static str, supports: TermSupports) -> Self {
        Self { stage, supports, tried: 0, kept: 0 }
    }

    pub(super) fn count(&mut self, kept: bool) {
        self.tried += 1;
        self.kept += u64::from(kept);
    }
}

/// What replaying the program says about groups with one sensitive
/// occurrence: who is it?
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupReplay {
    /// How many such groups there are.
    pub groups: u64,
    /// How many came out of some world.
    pub groups_out: u64,
    /// How many came out so often that members can be told apart, and have no
    /// record that looks like one of another group; the others keep count / size.
    pub groups_judged: u64,
    /// How many of the judged ones came out for one member only.
    pub certain: u64,
    /// The mean over these groups of the most probable member's probability:
    /// chosen by one half of the worlds, judged by the other.
    pub mean_posterior: Option<f64>,
    /// The mean of what the counts say, 1 / size.
    pub mean_promised: Option<f64>,
    /// With the original: how often the most probable member is the holder.
    pub guess_right: Option<f64>,
}

/// What the classes of a generalised release give away.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Classes {
    /// How many.
    pub count: u64,
    /// The smallest.
    pub min_size: u64,
    /// Records per class.
    pub mean_size: f64,
    /// Share of the published item occurrences that are not generalised:
    /// whoever knows a person's class knows these items of the person.
    pub certain_items: f64,
    /// Share of the records whose class has at least one such item.
    pub homogeneous_records: f64,
}

/// What the groups of a grouped release give away.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Association {
    /// How many groups.
    pub groups: u64,
    /// The smallest.
    pub min_size: u64,
    /// The greatest probability of one sensitive item for a member of its
    /// group: at most 1/p is promised.
    pub max_item: f64,
    /// The mean over the records of the most probable sensitive item.
    pub mean_item: f64,
    /// The greatest probability of any sensitive item at all, if the items are
    /// spread independently. Nothing is promised about it.
    pub max_any: f64,
    /// The mean of that over the records.
    pub mean_any: f64,
    /// Records in groups where every member may have a sensitive item, and
    /// has for certain if nobody has two.
    pub possibly_all_sensitive: u64,
}

impl Report {
    pub(super) fn new(release: &Release, options: &Options, original: bool) -> Self {
        let model = &release.manifest.guarantee.model;
        let mut report = Self {
            method: release.manifest.method.clone(),
            model: model.name(),
            k: model.k(),
            m: model.m(),
            adversary: options.adversary,
            original,
            printed_total: None,
            vulnerable_records: None,
            breached_pairs: None,
            breached_pairs_release: None,
            items_below_k: None,
            max_posterior: None,
            mean_posterior: None,
            levels: Vec::new(),
            worst_targets: Vec::new(),
            algorithm: None,
            classes: None,
            association: None,
            notes: Vec::new(),
        };
        if !original {
            report.note(
                "without the original, targets are drawn from the release: this is what anybody \
                 can compute, and says nothing about how often guesses are right",
            );
        }
        report
    }

    pub(super) fn note(&mut self, note: &str) {
        self.notes.push(note.to_owned());
    }

    /// Takes the headline figures from the first level.
    pub(super) fn set_headline(&mut self) {
        if let Some(level) = self.levels.first() {
            self.max_posterior = level.posterior.max;
            self.mean_posterior = level.posterior.mean;
        }
    }
}
