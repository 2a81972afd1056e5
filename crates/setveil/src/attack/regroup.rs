//! The algorithm-aware attacker on a grouped release: a world counts for a
//! group only if the program makes this very group of it.
//!
//! A world says of every group who holds what. The attacker begins with any
//! world, runs the program on it, and looks which of the published groups come
//! out. Where one does, the holders may be right; elsewhere others are tried. As
//! more groups fall into place, less disturbs the rest. Of each member it is
//! counted in how many of the worlds where it held the item its group came out:
//! that share, over the sum of all members', is its probability. The largest of
//! several shares overstates, so every second world only chooses the most
//! probable member and the others say how probable it is.
//!
//! Only groups are judged whose records look like no record of another group. A
//! record with a double elsewhere can be exchanged for it unseen, unless it is
//! the holder; so its group comes out more rarely with it as the holder, and in
//! exchange there are more worlds with such a holder. That the two cancel is
//! no news about anybody, and the shares alone would show one side of it.
//!
//! This is a search and no enumeration: it proves no safety, and a group that
//! never came out keeps count / size. A program with secret randomness makes
//! other groups every time, so hardly any comes out.

use rand::seq::{IteratorRandom, index::sample};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;

use super::kernel::Kernel;
use super::report::{AlgorithmRisk, GroupReplay, Stage as ReplayStage, TermSupports};
use super::{Options, Report};
use crate::data::{Dataset, ItemId};
use crate::release::{Group, Grouped};
use crate::{Error, Progress, Result, Stage};

/// How often a group that came out is tried with other holders.
const EXPLORE: f64 = 1.0 / 4.0;
/// A group is judged once every member was tried so often that it would have
/// come out this many times if the member were as good as the best.
const EXPECTED: f64 = 2.0;

/// Records of all worlds together, at most, but this many worlds are always tried.
const MOST_RECORDS: usize = 20_000_000;
const FEWEST: usize = 4;

/// Said where that makes worlds fewer.
const FEWER: &str =
    "fewer worlds were replayed than asked for, because the release has very many records";

/// Said with every replay.
const A_SEARCH: &str = "replaying is a search: a group that did not come out is not safe by that, \
    and neither is a method whose randomness the attacker could learn";

/// Replays the program on `options.worlds` worlds.
pub(super) fn replay(
    report: &mut Report,
    body: &Grouped,
    original: Option<&Dataset>,
    options: &Options,
    kernel: &Kernel,
    progress: &dyn Progress,
) -> Result<()> {
    if options.worlds == 0 || !kernel.is_grouped() {
        return Ok(());
    }
    progress.stage(Stage::Replaying, Some(options.worlds as u64));
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let mut secrets: Vec<Secret> =
        body.groups.iter().map(|group| Secret::new(group, &mut rng)).collect();
    let mut risk = AlgorithmRisk::default();
    let records: usize = secrets.iter().map(|secret| secret.members.len()).sum();
    let worlds = options.worlds.min((MOST_RECORDS / records.max(1)).max(FEWEST));
    for round in 0..worlds {
        progress.step(1)?;
        let world: Vec<Vec<ItemId>> = secrets.iter().flat_map(Secret::records).collect();
        let found = match kernel.regroup(&world) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(()),
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            // The program refuses this world.
            Err(_) => Vec::new(),
        };
        for (secret, out) in secrets.iter_mut().zip(came_out(&body.groups, &found)) {
            if !secret.holders.is_empty() {
                risk.worlds_tried += 1;
                risk.worlds_accepted += u64::from(out);
                secret.learn(out, round % 2, &mut rng);
            }
        }
    }
    risk.stages = vec![ReplayStage {
        tried: risk.worlds_tried,
        kept: risk.worlds_accepted,
        ..ReplayStage::new("groups", TermSupports::Known)
    }];
    let truth = original.map(|data| Truth::new(data, body));
    risk.groups = Some(summarize(body, &secrets, truth.as_ref()));
    report.algorithm = Some(risk);
    report.note(A_SEARCH);
    if worlds < options.worlds {
        report.note(FEWER);
    }
    Ok(())
}

/// Which of the published groups are among `found`; both ascend.
fn came_out(published: &[Group], found: &[Group]) -> Vec<bool> {
    let mut at = 0;
    let is_found = |group: &Group| {
        while at < found.len() && found[at] < *group {
            at += 1;
        }
        let same = at < found.len() && found[at] == *group;
        at += usize::from(same);
        same
    };
    published.iter().map(is_found).collect()
}

/// What the attacker supposes about a group, and what came of it.
struct Secret {
    members: Vec<Vec<ItemId>>,
    /// For each sensitive item the members that are supposed to hold it.
    holders: Vec<(ItemId, Vec<usize>)>,
    /// The last ones with which the group came out.
    good: Option<Vec<(ItemId, Vec<usize>)>>,
    /// For the first sensitive item, in worlds of each half: how often each
    /// member held it, and in how many of these worlds the group came out.
    tried: [Vec<u32>; 2],
    kept: [Vec<u32>; 2],
}

impl Secret {
    fn new(group: &Group, rng: &mut ChaCha8Rng) -> Self {
        let mut members: Vec<Vec<ItemId>> = Vec::with_capacity(group.size as usize);
        for (items, count) in group.records.iter() {
            members.extend((0..count).map(|_| items.to_vec()));
        }
        members.resize(members.len().max(group.size as usize), Vec::new());
        let nobody = group.sensitive.iter().map(|&(s, n)| (s, vec![0; n as usize])).collect();
        let none = [vec![0; members.len()], vec![0; members.len()]];
        let mut secret =
            Self { members, holders: nobody, good: None, tried: none.clone(), kept: none };
        secret.suppose(rng);
        secret
    }

    /// Supposes other holders; if there is one, somebody who was tried least.
    fn suppose(&mut self, rng: &mut ChaCha8Rng) {
        for (_, holders) in &mut self.holders {
            let count = holders.len().min(self.members.len());
            *holders = sample(rng, self.members.len(), count).into_vec();
        }
        if let [(_, holders)] = &mut self.holders[..]
            && let [holder] = &mut holders[..]
        {
            let tried = |m: usize| self.tried[0][m] + self.tried[1][m];
            let least = (0..self.members.len()).map(tried).min();
            let fresh = (0..self.members.len()).filter(|&m| Some(tried(m)) == least);
            *holder = fresh.choose(rng).unwrap_or(0);
        }
    }

    /// The records of the group in the supposed world. One without any item
    /// would not be in the data, so it is left out, and the group cannot come out.
    fn records(&self) -> impl Iterator<Item = Vec<ItemId>> {
        let mut records = self.members.clone();
        for (item, holders) in &self.holders {
            holders.iter().for_each(|&m| records[m].push(*item));
        }
        records.into_iter().filter(|record| !record.is_empty()).map(|mut record| {
            record.sort_unstable();
            record
        })
    }

    fn learn(&mut self, out: bool, half: usize, rng: &mut ChaCha8Rng) {
        for &m in &self.holders[0].1 {
            self.tried[half][m] += 1;
            self.kept[half][m] += u32::from(out);
        }
        if out {
            self.good = Some(self.holders.clone());
        } else if let Some(good) = &self.good {
            self.holders.clone_from(good);
        }
        if self.good.is_none() || rng.random_bool(EXPLORE) {
            self.suppose(rng);
        }
    }

    /// The probability of each member to hold the first sensitive item, from
    /// the worlds of some halves; none if the group did not come out there.
    fn posterior(&self, halves: &[usize]) -> Option<Vec<f64>> {
        let sum = |counts: &[Vec<u32>; 2], m: usize| -> f64 {
            halves.iter().map(|&half| f64::from(counts[half][m])).sum()
        };
        let share = |m: usize| sum(&self.kept, m) / sum(&self.tried, m).max(1.0);
        let shares: Vec<f64> = (0..self.members.len()).map(share).collect();
        let all: f64 = shares.iter().sum();
        (all > 0.0).then(|| shares.iter().map(|share| share / all).collect())
    }

    /// How probable the most probable member is: chosen by one half, judged by
    /// the other.
    fn most(&self) -> Option<f64> {
        let [a, b] = [self.posterior(&[0])?, self.posterior(&[1])?];
        let judged = |chosen: &[f64], judge: &[f64]| mean_of(&best(chosen), judge);
        Some((judged(&a, &b) + judged(&b, &a)) / 2.0)
    }

    /// Whether every member was tried often enough to be told from the best.
    fn is_tried(&self) -> bool {
        let counts = (0..self.members.len()).map(|m| {
            let sum = |counts: &[Vec<u32>; 2]| f64::from(counts[0][m] + counts[1][m]);
            (sum(&self.kept), sum(&self.tried))
        });
        let share = counts.clone().map(|(kept, tried)| kept / tried.max(1.0)).fold(0.0, f64::max);
        counts.into_iter().all(|(_, tried)| tried * share >= EXPECTED)
    }
}

/// The members with the greatest probability.
fn best(posterior: &[f64]) -> Vec<usize> {
    let most = posterior.iter().copied().fold(0.0, f64::max);
    (0..posterior.len()).filter(|&m| posterior[m] >= most - 1e-9).collect()
}

fn mean_of(members: &[usize], values: &[f64]) -> f64 {
    members.iter().map(|&m| values[m]).sum::<f64>() / members.len() as f64
}

/// Who holds what, as far as the original and the groups tell: how many
/// records with the same non-sensitive items hold a sensitive one, and how many
/// groups could count them.
struct Truth {
    holders: FxHashMap<(Vec<ItemId>, ItemId), f64>,
    groups: FxHashMap<(Vec<ItemId>, ItemId), f64>,
}

impl Truth {
    fn new(data: &Dataset, body: &Grouped) -> Self {
        let mut sensitive = vec![false; body.vocabulary.len()];
        let mut groups = FxHashMap::default();
        for group in &body.groups {
            for &(item, _) in &group.sensitive {
                sensitive[item as usize] = true;
                for (items, _) in group.records.iter() {
                    *groups.entry((items.to_vec(), item)).or_default() += 1.0;
                }
            }
        }
        let mut holders = FxHashMap::default();
        let id = |&item: &ItemId| body.vocabulary.id(data.vocabulary().label(item));
        for record in data.records() {
            let items = record.iter().filter_map(id);
            let (own, mut open): (Vec<ItemId>, Vec<ItemId>) =
                items.partition(|&item| sensitive[item as usize]);
            open.sort_unstable();
            for item in own {
                *holders.entry((open.clone(), item)).or_default() += 1.0;
            }
        }
        Self { holders, groups }
    }

    /// How likely each member holds `item`, of which the group has one. Where
    /// several groups have records like the holder's, each is as likely to have it.
    fn of(&self, members: &[Vec<ItemId>], item: ItemId) -> Vec<f64> {
        let weight = |items: &Vec<ItemId>| {
            let key = (items.clone(), item);
            let holders = self.holders.get(&key).copied().unwrap_or(0.0);
            let alike = members.iter().filter(|other| *other == items).count() as f64;
            holders / self.groups.get(&key).copied().unwrap_or(1.0) / alike
        };
        let weights: Vec<f64> = members.iter().map(weight).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|w| if sum > 0.0 { w / sum } else { 0.0 }).collect()
    }
}

/// In how many groups each set of non-sensitive items stands.
fn spread(body: &Grouped) -> FxHashMap<&[ItemId], u32> {
    let mut groups = FxHashMap::default();
    for (items, _) in body.groups.iter().flat_map(|group| group.records.iter()) {
        *groups.entry(items).or_default() += 1;
    }
    groups
}

/// Groups with one sensitive occurrence: who is it?
fn summarize(body: &Grouped, secrets: &[Secret], truth: Option<&Truth>) -> GroupReplay {
    let mut found = GroupReplay::default();
    let (mut chance, mut guess, mut right) = (0.0, 0.0, 0.0);
    let spread = spread(body);
    for (group, secret) in body.groups.iter().zip(secrets) {
        let [(item, 1)] = group.sensitive[..] else { continue };
        found.groups += 1;
        found.groups_out += u64::from(secret.good.is_some());
        let (Some(most), Some(all)) = (secret.most(), secret.posterior(&[0, 1])) else { continue };
        let alone = |items: &Vec<ItemId>| spread.get(&items[..]) == Some(&1);
        if !secret.is_tried() || !secret.members.iter().all(alone) {
            continue;
        }
        found.groups_judged += 1;
        found.certain += u64::from(all.iter().any(|&share| share > 0.999));
        guess += most;
        chance += 1.0 / f64::from(group.size.max(1));
        if let Some(truth) = truth {
            right += mean_of(&best(&all), &truth.of(&secret.members, item));
        }
    }
    let mean = |sum: f64| (found.groups_judged > 0).then(|| sum / found.groups_judged as f64);
    found.mean_posterior = mean(guess);
    found.mean_promised = mean(chance);
    found.guess_right = mean(right).filter(|_| truth.is_some());
    found
}
