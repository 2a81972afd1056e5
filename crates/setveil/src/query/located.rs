//! Questions about a located release. Bounds and expectations come from
//! [`worlds`](crate::worlds), as an attacker's do.

use super::prepared::Estimate;
use crate::data::ItemId;
use crate::reconstruct::TermOccurrences;
use crate::release::Located;
use crate::worlds::LocatedWorlds;

#[derive(Debug)]
pub(super) struct Index<'a> {
    body: &'a Located,
    worlds: LocatedWorlds<'a>,
}

impl<'a> Index<'a> {
    pub(super) fn new(body: &'a Located, terms: TermOccurrences, k: Option<u32>) -> Self {
        Self { body, worlds: LocatedWorlds::new(body, &|room, _| terms.mean(k, room)) }
    }

    pub(super) fn ask(&self, labels: &[&str]) -> Estimate {
        let ids = labels.iter().map(|label| self.body.vocabulary.id(label));
        let Some(mut itemset) = ids.collect::<Option<Vec<ItemId>>>() else {
            return Estimate::default();
        };
        itemset.sort_unstable();
        let answer = self.worlds.answer(&itemset);
        Estimate { lower: answer.lower, expected: answer.expected, upper: answer.upper }
    }
}
