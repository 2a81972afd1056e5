//! The three attackers of cover-problem-2016, sections 4 and 6.

use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::Options;
use super::targets::People;
use crate::data::ItemId;

/// How many items a weak attacker takes from the data.
const WEAK_ITEMS: usize = 10;

/// How much the attacker knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adversary {
    /// Knows the right m items of every record: every cover counts.
    Strong,
    /// Knows m random items of some of the records.
    Moderate,
    /// Knows pairs out of ten random items and ten words from elsewhere, and
    /// no record that they belong to.
    Weak,
}

/// What an attacker knows.
#[derive(Clone, Debug)]
pub enum Background {
    /// Any m items of any record.
    Everything,
    /// For some records, by number, m of their items.
    Records {
        /// The record and the items, ascending.
        known: Vec<(usize, Vec<ItemId>)>,
        /// The pairs in them.
        pairs: FxHashSet<(ItemId, ItemId)>,
        /// What is known of a record.
        of_record: FxHashMap<usize, usize>,
    },
    /// Itemsets, ascending, that belong to nobody in particular. Those with a
    /// word from elsewhere are left out: nothing in the release matches them.
    Loose {
        /// The items that the attacker combines.
        items: Vec<ItemId>,
    },
}

impl Background {
    /// What the attacker of `options` knows about `people`.
    pub(super) fn new(people: &People, items: usize, known: u32, options: &Options) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
        match options.adversary {
            Adversary::Strong => Self::Everything,
            Adversary::Moderate => {
                let some = (people.len() as f64 * options.share).round() as usize;
                let mut chosen = sample(&mut rng, people.len(), some).into_vec();
                chosen.sort_unstable();
                let known = chosen
                    .into_iter()
                    .filter(|&r| people.record(r).len() >= 2)
                    .map(|r| (r, random_subset(people.record(r), known as usize, &mut rng)))
                    .collect();
                Self::of_records(known)
            }
            Adversary::Weak => {
                let chosen = sample(&mut rng, items, items.min(WEAK_ITEMS));
                let mut items: Vec<ItemId> = chosen.iter().map(|i| i as ItemId).collect();
                items.sort_unstable();
                Self::Loose { items }
            }
        }
    }

    fn of_records(known: Vec<(usize, Vec<ItemId>)>) -> Self {
        let mut pairs = FxHashSet::default();
        for (_, items) in &known {
            for (i, &a) in items.iter().enumerate() {
                pairs.extend(items[i + 1..].iter().map(|&b| (a, b)));
            }
        }
        let of_record = known.iter().enumerate().map(|(i, (r, _))| (*r, i)).collect();
        Self::Records { known, pairs, of_record }
    }

    /// Whether the attacker knows somebody with both items.
    pub fn knows_pair(&self, a: ItemId, b: ItemId) -> bool {
        match self {
            Self::Everything => true,
            Self::Records { pairs, .. } => pairs.contains(&(a.min(b), a.max(b))),
            Self::Loose { items } => {
                items.binary_search(&a).is_ok() && items.binary_search(&b).is_ok()
            }
        }
    }

    /// The items of record `r` that the attacker can put together.
    pub(super) fn of_record<'a>(&'a self, r: usize, record: &'a [ItemId]) -> &'a [ItemId] {
        match self {
            Self::Records { known, of_record, .. } => {
                of_record.get(&r).map_or(&[], |&i| &known[i].1)
            }
            _ => record,
        }
    }
}

/// `size` of the items (all, if there are no more), ascending.
pub(super) fn random_subset(items: &[ItemId], size: usize, rng: &mut impl RngExt) -> Vec<ItemId> {
    if items.len() <= size {
        return items.to_vec();
    }
    let mut chosen: Vec<ItemId> = sample(rng, items.len(), size).iter().map(|i| items[i]).collect();
    chosen.sort_unstable();
    chosen
}
