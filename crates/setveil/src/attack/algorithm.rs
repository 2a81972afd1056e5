//! The attacker who knows the algorithm: of the worlds that the format leaves
//! possible, only those count that the algorithm would have published like
//! this (disassociation-2012, Guarantee 1, read literally).
//!
//! One cluster at a time. If its worlds are few, all of them are tried; since
//! neither the algorithm nor supports depend on the order of the records, one
//! chunk can stay where it is. Otherwise random worlds are tried: each chunk
//! in random places, each term in fewer than k, drawn again while a record is
//! empty. Accepted worlds are then uniform among all that the algorithm would
//! publish like this and in which every term of the term chunk is in fewer than
//! k records; a term that was moved there to repair Lemma 2 breaks the second
//! condition and is not seen.
//!
//! Sensitive terms are in the term chunk however frequent they are: they are
//! tried in up to 1/l of the records. Releases of DLS cannot be attacked like
//! this, see [`Kernel`].
//!
//! A leaf of a joint cluster is only asked for its record chunks: REFINE took
//! terms out of its term chunk. Records that would be empty hold such a term.
//!
//! How the records came into this cluster (HORPART) is not used: an attacker
//! who uses it learns more.

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::report::AlgorithmRisk;
use super::worlds::{self, Tally};
use super::{Kernel, Options, cover};
use crate::data::{ItemId, K};
use crate::release::{Cluster, Disassociated, SimpleCluster};
use crate::worlds::{ClusterModel, Knowledge};
use crate::{Progress, Result};

/// Clusters with up to this many times the worlds that would be drawn are
/// enumerated.
const ENUMERATION: usize = 10;
/// If no more than this many times as many ways are to be tried, of which the others leave a
/// record empty.
const DEAD_ENDS: f64 = 64.0;

/// How many items stand in exactly one term chunk and in no other chunk: if
/// VERPART left them there, fewer than k records have them. Sensitive items
/// (ascending) stand there however frequent they are, and do not count.
pub fn items_below_k(body: &Disassociated, sensitive: &[ItemId]) -> u64 {
    let mut places = vec![0u32; body.vocabulary.len()];
    let mut stack: Vec<&Cluster> = body.clusters.iter().collect();
    while let Some(cluster) = stack.pop() {
        stack.extend(cluster.children());
        for &item in cluster.chunks().iter().flat_map(|c| c.items()) {
            places[item as usize] = u32::MAX;
        }
        if let Cluster::Simple(leaf) = cluster {
            for &item in &leaf.term_chunk {
                places[item as usize] = places[item as usize].saturating_add(1);
            }
        }
    }
    sensitive.iter().for_each(|&item| places[item as usize] = 0);
    places.iter().filter(|&&p| p == 1).count() as u64
}

/// What trying the algorithm on the worlds of one cluster gave.
#[derive(Clone, Debug, Default)]
pub struct ClusterFinding {
    /// Whether all worlds were tried.
    pub enumerated: bool,
    /// How many were.
    pub tried: u64,
    /// How many give this very output.
    pub accepted: u64,
    /// Pairs of record-chunk items that the format allows in k records, that
    /// some accepted world has, and that no accepted world has k times.
    pub breached: Vec<(ItemId, ItemId)>,
    /// Sum of |P(y | x, algorithm) - P(y | x, format)|, and of how many.
    shift: (f64, u64),
    /// The largest change that is no accident of sampling.
    max_shift: f64,
}

/// The largest leaf that is replayed, in records and in distinct items: no
/// method makes a larger one, but a file may say so.
const REPLAYED: u64 = 1 << 11;

/// Whether a leaf is small enough to be replayed, and has a world.
fn replayable(leaf: &SimpleCluster) -> bool {
    let items: usize = leaf.record_chunks.iter().map(|chunk| chunk.items().len()).sum();
    u64::from(leaf.size) <= REPLAYED
        && (items + leaf.term_chunk.len()) as u64 <= REPLAYED
        && leaf.record_chunks.iter().all(|chunk| chunk.total() <= u64::from(leaf.size))
}

/// Looks at one leaf. `budget` worlds are drawn, up to ten times as many
/// enumerated.
pub fn of_leaf(
    leaf: &SimpleCluster,
    joint: bool,
    k: K,
    budget: usize,
    seed: u64,
    kernel: &Kernel,
) -> ClusterFinding {
    if !replayable(leaf) {
        return ClusterFinding::default();
    }
    let mut published = leaf.clone();
    published.record_chunks.sort_unstable();
    let would_publish = |records: &[Vec<ItemId>]| {
        let rows: Vec<&[ItemId]> = records.iter().map(Vec::as_slice).collect();
        let Some(mut output) = kernel.publish(&rows) else { return false };
        output.record_chunks.sort_unstable();
        output.record_chunks == published.record_chunks
            && (joint || output.term_chunk == published.term_chunk)
    };
    let mut tally = Tally::new(leaf);
    let mut try_world = |records: &[Vec<ItemId>]| {
        let accepted = would_publish(records);
        tally.count(records, accepted);
    };
    let most = ((ENUMERATION * budget) as f64).ln();
    let enumerated = !joint
        && worlds::ln_up_to_order(leaf) <= most
        && worlds::ln_placements(leaf) <= most + DEAD_ENDS.ln();
    if enumerated {
        worlds::enumerate(leaf, kernel, &mut try_world);
    } else {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        worlds::draw(leaf, joint, k, kernel, budget, &mut rng, &mut try_world);
    }
    let model = ClusterModel::of(leaf, Knowledge::Format);
    conclude(&tally, &model, joint, enumerated, u64::from(k.get()))
}

/// Compares what the accepted worlds say with what the format says.
fn conclude(
    tally: &Tally,
    model: &ClusterModel,
    joint: bool,
    enumerated: bool,
    k: u64,
) -> ClusterFinding {
    let mut finding = ClusterFinding {
        enumerated,
        tried: tally.tried,
        accepted: tally.accepted,
        breached: Vec::new(),
        shift: (0.0, 0),
        max_shift: 0.0,
    };
    if tally.accepted == 0 {
        return finding;
    }
    let n = tally.accepted as f64;
    for pair in tally.pairs() {
        let counts = [pair.support_a, pair.support_b];
        // A leaf of a joint cluster has more to fill its records with.
        let (upper, expected) = if joint || !model.possible() {
            let product = counts.iter().map(|&c| c as f64).product::<f64>();
            (counts[0].min(counts[1]), product / model.size() as f64)
        } else {
            (model.bounds(&counts, 0).1, model.expected_support(&counts, 0))
        };
        if pair.max > 0 && pair.max < k && upper >= k {
            finding.breached.push((pair.a, pair.b));
        }
        let mean = pair.sum / n;
        let error =
            if enumerated { 0.0 } else { ((pair.squares / n - mean * mean).max(0.0) / n).sqrt() };
        for support in counts {
            let change = (mean - expected).abs() / support as f64;
            finding.shift.0 += change;
            finding.shift.1 += 1;
            if (mean - expected).abs() > 3.0 * error + 1e-9 {
                finding.max_shift = finding.max_shift.max(change);
            }
        }
    }
    finding
}

/// Looks at up to `options.clusters` leaves with at least two record chunks.
pub(super) fn examine(
    body: &Disassociated,
    k: K,
    m: u32,
    options: &Options,
    kernel: &Kernel,
    progress: &dyn Progress,
) -> Result<AlgorithmRisk> {
    let leaves = body.clusters.iter().flat_map(|cluster| {
        let joint = !cluster.children().is_empty();
        cluster.leaves().into_iter().map(move |leaf| (leaf, joint))
    });
    let leaves: Vec<_> = leaves.filter(|(leaf, _)| leaf.record_chunks.len() >= 2).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed ^ 0x616c_676f);
    let mut chosen = sample(&mut rng, leaves.len(), leaves.len().min(options.clusters)).into_vec();
    chosen.sort_unstable();
    let findings: Vec<(ClusterFinding, u64)> = chosen
        .par_iter()
        .map(|&i| {
            let (leaf, joint) = leaves[i];
            let seed = options.seed.wrapping_add(i as u64);
            let finding = of_leaf(leaf, joint, k, options.worlds, seed, kernel);
            let covers: FxHashSet<(ItemId, ItemId)> =
                cover::of_leaf(leaf, k, m).into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
            let covered = finding.breached.iter().filter(|pair| covers.contains(pair)).count();
            progress.step(1)?;
            Ok((finding, covered as u64))
        })
        .collect::<Result<_>>()?;
    Ok(summary(&findings))
}

fn summary(findings: &[(ClusterFinding, u64)]) -> AlgorithmRisk {
    let mut risk = AlgorithmRisk::default();
    let (mut shift, mut pairs) = (0.0, 0);
    for (finding, covered) in findings {
        risk.worlds_tried += finding.tried;
        risk.worlds_accepted += finding.accepted;
        if finding.accepted == 0 {
            risk.clusters_undecided += 1;
            continue;
        }
        let breached = finding.breached.len() as u64;
        if finding.enumerated {
            risk.clusters_enumerated += 1;
            risk.breached_pairs += breached;
            risk.breached_pairs_covered += covered;
        } else {
            risk.clusters_sampled += 1;
            risk.suspected_pairs += breached;
            risk.suspected_pairs_covered += covered;
            let bound = (3.0 / finding.accepted as f64).min(1.0);
            risk.suspicion_bound = Some(risk.suspicion_bound.unwrap_or(0.0).max(bound));
        }
        shift += finding.shift.0;
        pairs += finding.shift.1;
        risk.max_shift = Some(risk.max_shift.unwrap_or(0.0).max(finding.max_shift));
    }
    risk.mean_shift = (pairs > 0).then(|| shift / pairs as f64);
    risk
}
