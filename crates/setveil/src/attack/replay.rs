//! The attacker who replays the whole program and knows all records but some:
//! a world counts only if the program would have published this very release.
//!
//! **Clusters of chunks.** The records of one cluster are unknown. Everything that its
//! chunks fix is kept: what each record has of a chunk's terms stays together.
//! What goes together with what is drawn at random. Instances that DLS suppressed are part of what is
//! drawn, so these are inputs and not only worlds of the release. In how many records a
//! term of the term chunk is, is not published: it is drawn too, all sets of fewer than k
//! records being equally likely, and in a second series it is known ([`TermSupports`]). Three
//! stages: would the chunks be the same, the clusters (HORPART), the whole release
//! (REFINE)?
//!
//! **Classes.** One record is unknown. Each of its items is replaced by a random one below the
//! node that is published for it.
//!
//! This is a sample with a bound on the work: the first stage is cheap, a replay of
//! the whole program is not.

use rand::seq::SliceRandom;
use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::Options;
use super::report::{Stage, TermSupports};
use crate::data::{Dataset, ItemId};
use crate::release::{Bag, SimpleCluster};
use crate::{Error, Progress, Result};

type Chunks<'a> = dyn Fn(&[&[ItemId]]) -> SimpleCluster + Sync + 'a;
type Replay<'a> = dyn Fn(&Dataset, &[u32]) -> Result<Alike> + Sync + 'a;
/// For every item of a record what could stand in its place.
type Below<'a> = dyn Fn(&[ItemId]) -> Option<Vec<Vec<ItemId>>> + 'a;

/// A program with the release's parameters, and what it makes of the original.
pub struct Program<'a> {
    /// The original.
    pub original: &'a Dataset,
    /// The clusters before refining. Empty for methods without clusters of chunks.
    pub leaves: Vec<Leaf>,
    /// What is made of the records of one cluster.
    pub chunks: Box<Chunks<'a>>,
    /// What is made of other data, in which only the records with these numbers
    /// are not those of the original.
    pub replay: Box<Replay<'a>>,
}

/// A cluster before refining.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The numbers of its records.
    pub members: Vec<u32>,
    /// Whether it has two record chunks or more.
    pub several: bool,
}

/// Whether other data lead to the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alike {
    /// The same clusters with the same chunks, before refining.
    pub clusters: bool,
    /// The same release; not looked at if the clusters differ.
    pub release: bool,
}

impl std::fmt::Debug for Program<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("leaves", &self.leaves.len()).finish_non_exhaustive()
    }
}

/// Draws, per world that is asked for, that may fail because a record is empty.
const PATIENCE: usize = 20;
/// A replay takes as long as the program did, so a series has fewer of them on large data: as many
/// as go through this number of items in all, but at least [`LEAST`].
const ITEMS: usize = 40_000_000;
const LEAST: usize = 2;

/// How many replays of the whole program a series may have.
fn affordable(items: usize, asked: usize) -> usize {
    asked.min((ITEMS / items.max(1)).max(LEAST))
}

/// Replays on clusters with two record chunks or more: without knowing how often
/// terms of term chunks occur, and knowing it.
pub(super) fn clusters(
    program: &Program,
    k: u32,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Vec<Stage>> {
    let mut stages = Vec::new();
    for supports in [TermSupports::Unknown, TermSupports::Known] {
        stages.extend(series(program, (k, supports), options, progress)?);
    }
    Ok(stages)
}

fn series(
    program: &Program,
    (k, supports): (u32, TermSupports),
    options: &Options,
    progress: &dyn Progress,
) -> Result<[Stage; 3]> {
    let several = |i: &usize| program.leaves[*i].several;
    let leaves: Vec<usize> = (0..program.leaves.len()).filter(several).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed ^ 0x7265_706c_6179);
    let chosen = sample(&mut rng, leaves.len(), leaves.len().min(options.clusters));
    let mut stages = ["chunks", "clusters", "release"].map(|name| Stage::new(name, supports));
    // Per cluster the worlds that are left after the first stage.
    let mut kept: Vec<(usize, Vec<Vec<Vec<ItemId>>>)> = Vec::new();
    let mut left = affordable(program.original.occurrences().len(), options.replays);
    let each = left.div_ceil(chosen.len().max(1));
    for i in chosen {
        let members = program.leaves[leaves[i]].members.iter();
        let records: Vec<&[ItemId]> =
            members.map(|&r| program.original.record(r as usize)).collect();
        let leaf = &(program.chunks)(&records);
        let deck = Deck::new(leaf, &records);
        let draw = |_| deck.draw((k, supports), &mut rng);
        let mut worlds: Vec<Vec<Vec<ItemId>>> = (0..options.worlds).map_while(draw).collect();
        let published = alike(leaf);
        let is_same = |world: &Vec<Vec<ItemId>>| {
            let rows: Vec<&[ItemId]> = world.iter().map(Vec::as_slice).collect();
            alike(&(program.chunks)(&rows)) == published
        };
        let same: Vec<bool> = worlds.par_iter().map(is_same).collect();
        same.iter().for_each(|&same| stages[0].count(same));
        let mut same = same.into_iter();
        worlds.retain(|_| same.next() == Some(true));
        worlds.truncate(each);
        progress.step(1)?;
        kept.push((leaves[i], worlds));
    }
    for turn in 0..each {
        for (leaf, worlds) in kept.iter().filter(|(_, worlds)| turn < worlds.len()) {
            if left == 0 {
                return Ok(stages);
            }
            left -= 1;
            progress.step(0)?;
            let members = &program.leaves[*leaf].members;
            let found = replayed(program, members, &worlds[turn])?;
            stages[1].count(found.clusters);
            if found.clusters {
                stages[2].count(found.release);
            }
        }
    }
    Ok(stages)
}

/// What becomes of the original with other records in some places. A program
/// that refuses a world does not publish it.
fn replayed(program: &Program, places: &[u32], records: &[Vec<ItemId>]) -> Result<Alike> {
    let mut other: Vec<(u32, &[ItemId])> =
        places.iter().copied().zip(records.iter().map(Vec::as_slice)).collect();
    other.sort_unstable_by_key(|(place, _)| *place);
    let places: Vec<u32> = other.iter().map(|(place, _)| *place).collect();
    match (program.replay)(&program.original.with_replaced(&other), &places) {
        Ok(found) => Ok(found),
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Err(_) => Ok(Alike::default()),
    }
}

/// What can be compared of a cluster: the order of its chunks says nothing.
fn alike(leaf: &SimpleCluster) -> (u32, Vec<Bag>, &[ItemId]) {
    let mut chunks = leaf.record_chunks.clone();
    chunks.sort_unstable();
    (leaf.size, chunks, &leaf.term_chunk)
}

/// What is dealt out to the records of a cluster.
struct Deck {
    records: usize,
    /// For each record chunk what each record has of it.
    chunks: Vec<Vec<Vec<ItemId>>>,
    /// The terms of the term chunk, and how many records have each.
    terms: Vec<(ItemId, usize)>,
}

impl Deck {
    fn new(leaf: &SimpleCluster, records: &[&[ItemId]]) -> Self {
        let of_chunk = |chunk: &Bag| {
            let domain = chunk.domain();
            let part = |record: &&[ItemId]| -> Vec<ItemId> {
                let has = |item: &ItemId| domain.binary_search(item).is_ok();
                record.iter().copied().filter(has).collect()
            };
            records.iter().map(part).collect()
        };
        let of_term = |&term: &ItemId| {
            let has = |record: &&&[ItemId]| record.binary_search(&term).is_ok();
            (term, records.iter().filter(has).count())
        };
        Self {
            records: records.len(),
            chunks: leaf.record_chunks.iter().map(of_chunk).collect(),
            terms: leaf.term_chunk.iter().map(of_term).collect(),
        }
    }

    /// Other records with the same chunks; none if all that were drawn had an empty one.
    fn draw(
        &self,
        (k, supports): (u32, TermSupports),
        rng: &mut ChaCha8Rng,
    ) -> Option<Vec<Vec<ItemId>>> {
        for _ in 0..PATIENCE {
            let mut world: Vec<Vec<ItemId>> = vec![Vec::new(); self.records];
            let mut places: Vec<usize> = (0..self.records).collect();
            for parts in &self.chunks {
                places.shuffle(rng);
                for (part, &place) in parts.iter().zip(&places) {
                    world[place].extend(part);
                }
            }
            for &(term, held) in &self.terms {
                // A term of k records or more was moved there by a repair or is sensitive.
                let held = match supports {
                    TermSupports::Unknown if held < k as usize => {
                        size_of_a_set(self.records, k, rng)
                    }
                    _ => held,
                };
                sample(rng, self.records, held).iter().for_each(|place| world[place].push(term));
            }
            if world.iter().all(|record| !record.is_empty()) {
                world.iter_mut().for_each(|record| record.sort_unstable());
                return Some(world);
            }
        }
        None
    }
}

/// The size of a set of 1 to k - 1 out of `n` records, all sets being equally likely.
fn size_of_a_set(n: usize, k: u32, rng: &mut ChaCha8Rng) -> usize {
    let most = (k as usize - 1).clamp(1, n.max(1));
    // Sets of one size in proportion to those of the largest, which cannot overflow.
    let mut weights = vec![1.0; most];
    for size in (1..most).rev() {
        weights[size - 1] = weights[size] * (size + 1) as f64 / (n - size) as f64;
    }
    let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
    for (i, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return i + 1;
        }
    }
    most
}

/// Replays on single records of a generalised release. `below` gives, for a record,
/// what could stand in the place of each of its items; none if that is not known.
pub(super) fn records(
    program: &Program,
    below: &Below,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Vec<Stage>> {
    let data = program.original;
    let mut stage = Stage::new("release", TermSupports::Known);
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed ^ 0x7265_706c_6179);
    let replays = affordable(data.occurrences().len(), options.replays);
    for _ in 0..replays.saturating_mul(PATIENCE) {
        if data.is_empty() || stage.tried == replays as u64 {
            break;
        }
        progress.step(0)?;
        let place = rng.random_range(0..data.len());
        let Some(choices) = below(data.record(place)) else { continue };
        let mut record: Vec<ItemId> = choices
            .iter()
            .filter(|leaves| !leaves.is_empty())
            .map(|leaves| leaves[rng.random_range(0..leaves.len())])
            .collect();
        record.sort_unstable();
        record.dedup();
        if record.is_empty() || record == data.record(place) {
            continue;
        }
        stage.count(replayed(program, &[place as u32], &[record])?.release);
    }
    Ok(vec![stage])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_data_is_replayed_less_often() {
        assert_eq!(affordable(1000, 8), 8);
        assert_eq!(affordable(5_000_000, 8), 8);
        assert_eq!(affordable(10_000_000, 8), 4);
        assert_eq!(affordable(1_000_000_000, 8), 2);
        assert_eq!([affordable(0, 0), affordable(1_000_000_000, 1)], [0, 1]);
    }
}
