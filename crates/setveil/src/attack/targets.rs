//! Who is attacked: records of the original, or records as the release's
//! worlds have them where the original is not at hand.

use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::adversary::random_subset;
use super::{Background, Options};
use crate::data::{Dataset, ItemId, Vocabulary};
use crate::release::Disassociated;
use crate::worlds::BodyWorlds;

/// Records over the release's item numbers; items that the release does not
/// have are left out.
#[derive(Clone, Debug)]
pub(super) enum People<'a> {
    /// Record `r` is `items[offsets[r]..offsets[r + 1]]`.
    Own { offsets: Vec<usize>, items: Vec<ItemId> },
    /// Those of a data set with the release's numbers, in this order.
    Of { data: &'a Dataset, order: Vec<u32> },
}

/// Somebody of whom some items are known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Target {
    /// Ascending.
    pub(super) known: Vec<ItemId>,
    /// The number of the record, where there is one.
    pub(super) record: Option<usize>,
    /// Weights of all targets add up to 1.
    pub(super) weight: f64,
}

/// Targets, and how many there would be.
pub(super) struct Targets {
    pub(super) targets: Vec<Target>,
    pub(super) population: f64,
    pub(super) sampled: bool,
}

impl<'a> People<'a> {
    pub(super) fn new(
        original: Option<&'a Dataset>,
        body: &Disassociated,
        worlds: &BodyWorlds,
        options: &Options,
    ) -> Self {
        match original {
            Some(data) => Self::of(data, &body.vocabulary),
            None => {
                let mut rng = ChaCha8Rng::seed_from_u64(options.seed ^ 0x7065_6f70_6c65);
                let count = (body.records() as usize).min(4 * options.targets);
                Self::from_records((0..count).map(|_| worlds.draw(&mut rng)))
            }
        }
    }

    /// The records of `data` with the numbers of `vocabulary`, by their content: what is
    /// drawn must not depend on the order of the rows.
    pub(super) fn of(data: &'a Dataset, vocabulary: &Vocabulary) -> Self {
        if data.vocabulary() == vocabulary {
            return Self::Of { data, order: data.order_by_content() };
        }
        let ids: Vec<Option<ItemId>> =
            data.vocabulary().labels().map(|label| vocabulary.id(label)).collect();
        let published = |r: &u32| data.record(*r as usize).iter().filter_map(|&i| ids[i as usize]);
        let mut order: Vec<u32> = (0..data.len() as u32).collect();
        order.par_sort_unstable_by(|a, b| published(a).cmp(published(b)));
        Self::from_records(order.iter().map(published))
    }

    pub(super) fn from_records<R: IntoIterator<Item = ItemId>>(
        records: impl Iterator<Item = R>,
    ) -> Self {
        let (mut offsets, mut items) = (vec![0], Vec::new());
        for record in records {
            items.extend(record);
            offsets.push(items.len());
        }
        Self::Own { offsets, items }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Own { offsets, .. } => offsets.len() - 1,
            Self::Of { order, .. } => order.len(),
        }
    }

    /// Ascending.
    pub(super) fn record(&self, r: usize) -> &[ItemId] {
        match self {
            Self::Own { offsets, items } => &items[offsets[r]..offsets[r + 1]],
            Self::Of { data, order } => data.record(order[r] as usize),
        }
    }

    /// Targets of whom `known` items are known: a record with at least one item
    /// more drawn uniformly, that many of its items drawn uniformly. All of
    /// them, weighted like that, if they are no more than `limit`.
    pub(super) fn targets(
        &self,
        background: &Background,
        known: usize,
        limit: usize,
        options: &Options,
    ) -> Targets {
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed.wrapping_add(known as u64));
        match background {
            Background::Everything => {
                let records: Vec<usize> =
                    (0..self.len()).filter(|&r| self.record(r).len() > known).collect();
                self.any_items(&records, known, limit, &mut rng)
            }
            Background::Records { known: sets, .. } => {
                let longer = sets.iter().filter(|(r, _)| self.record(*r).len() > known);
                let mut targets: Vec<(usize, Vec<ItemId>)> = longer
                    .map(|(r, set)| match set.len() == known {
                        true => (*r, set.clone()),
                        false => (*r, random_subset(self.record(*r), known, &mut rng)),
                    })
                    .collect();
                let population = targets.len() as f64;
                let sampled = targets.len() > limit;
                if sampled {
                    let chosen = sample(&mut rng, targets.len(), limit);
                    targets = chosen.iter().map(|i| targets[i].clone()).collect();
                }
                let weight = 1.0 / targets.len().max(1) as f64;
                let target = |(r, known)| Target { known, record: Some(r), weight };
                Targets { targets: targets.into_iter().map(target).collect(), population, sampled }
            }
            Background::Loose { items } => {
                let sets = subsets(items, known);
                let (population, weight) = (sets.len() as f64, 1.0 / sets.len().max(1) as f64);
                let target = |known| Target { known, record: None, weight };
                let targets = sets.into_iter().map(target).collect();
                Targets { targets, population, sampled: false }
            }
        }
    }

    fn any_items(
        &self,
        records: &[usize],
        known: usize,
        limit: usize,
        rng: &mut impl RngExt,
    ) -> Targets {
        let ways = |r: usize| binomial(self.record(r).len(), known);
        let population: f64 = records.iter().map(|&r| ways(r)).sum();
        if population <= limit as f64 {
            let share = 1.0 / records.len().max(1) as f64;
            let of_record = |&r: &usize| {
                let weight = share / ways(r);
                let target = move |known| Target { known, record: Some(r), weight };
                subsets(self.record(r), known).into_iter().map(target)
            };
            let targets = records.iter().flat_map(of_record).collect();
            return Targets { targets, population, sampled: false };
        }
        let weight = 1.0 / limit as f64;
        let mut draw = |_| {
            let r = records[rng.random_range(0..records.len())];
            let known = random_subset(self.record(r), known, rng);
            Target { known, record: Some(r), weight }
        };
        Targets { targets: (0..limit).map(&mut draw).collect(), population, sampled: true }
    }
}

/// C(n, c), in floating point: only sizes are compared with it.
fn binomial(n: usize, c: usize) -> f64 {
    (0..c).map(|i| n.saturating_sub(i) as f64 / (i + 1) as f64).product()
}

/// All subsets of `size` items, each ascending.
pub(super) fn subsets(items: &[ItemId], size: usize) -> Vec<Vec<ItemId>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (i, &first) in items.iter().enumerate() {
        for mut rest in subsets(&items[i + 1..], size - 1) {
            rest.insert(0, first);
            all.push(rest);
        }
    }
    all
}
