//! Groups: exact counts of what was kept together, overlaps of what was not.

use super::intersection;
use super::prepared::Estimate;
use crate::data::ItemId;
use crate::release::Grouped;

#[derive(Debug)]
pub(super) struct Index<'a> {
    body: &'a Grouped,
    /// Per item, the groups that have it.
    postings: Vec<Vec<u32>>,
    /// Per item, whether a row has it: it is not sensitive.
    ordinary: Vec<bool>,
}

impl<'a> Index<'a> {
    pub(super) fn new(body: &'a Grouped) -> Self {
        let mut postings = vec![Vec::new(); body.vocabulary.len()];
        let mut ordinary = vec![false; body.vocabulary.len()];
        for (g, group) in body.groups.iter().enumerate() {
            let mut items = group.records.domain();
            items.iter().for_each(|&item| ordinary[item as usize] = true);
            items.extend(group.sensitive.iter().map(|s| s.0));
            items.sort_unstable();
            items.dedup();
            items.into_iter().for_each(|item| postings[item as usize].push(g as u32));
        }
        Self { body, postings, ordinary }
    }

    pub(super) fn is_ordinary(&self, label: &str) -> bool {
        self.body.vocabulary.id(label).is_some_and(|item| self.ordinary[item as usize])
    }

    pub(super) fn ask(&self, labels: &[&str]) -> Estimate {
        let ids = labels.iter().map(|label| self.body.vocabulary.id(label));
        let Some(itemset) = ids.collect::<Option<Vec<ItemId>>>() else {
            return Estimate::default();
        };
        let lists: Vec<&[u32]> =
            itemset.iter().map(|&item| &self.postings[item as usize][..]).collect();
        let mut sum = Estimate::default();
        for g in intersection(&lists) {
            let group = &self.body.groups[g as usize];
            let size = u64::from(group.size);
            let count = |item| group.sensitive.iter().find(|s| s.0 == item).map(|s| s.1);
            let sensitive: Vec<u64> =
                itemset.iter().filter_map(|&item| count(item)).map(u64::from).collect();
            let open: Vec<ItemId> =
                itemset.iter().copied().filter(|&item| count(item).is_none()).collect();
            let together = if open.is_empty() { size } else { group.records.support(&open) };
            let all = together + sensitive.iter().sum::<u64>();
            sum.lower += all.saturating_sub(sensitive.len() as u64 * size);
            sum.upper += sensitive.iter().copied().fold(together, u64::min);
            sum.expected +=
                sensitive.iter().fold(together as f64, |share, &s| share * s as f64 / size as f64);
        }
        sum
    }
}
