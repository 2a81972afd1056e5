//! Itemsets that occur in fewer than k records of a whole release: in its
//! classes, or in the kept sub-records of all leaves together.
//!
//! A search over prefixes, by the first item on all threads. Only sets inside
//! a class with fewer than k records need counting: a larger class supports
//! all its subsets by itself. Where the search grows too long, for a large m,
//! every class is asked by itself ([`Rows`]).

use rayon::prelude::*;

use super::Findings;
use super::rows::Rows;
use super::work::{Meter, Work};
use crate::Result;
use crate::data::ItemId;

/// Steps of the search behind one item before classes are asked one by one,
/// and as many more for every class with it.
const BEHIND: u64 = 1 << 21;
const BEHIND_PER_CLASS: u64 = 1 << 11;
/// How long an itemset becomes before classes are asked one by one.
const LONGEST: usize = 128;

/// A class as it stands in a list: its items from the next one on.
pub(super) type Class<'a> = (&'a [ItemId], u64);

/// What is looked for, and how it is called when it is found.
#[derive(Clone, Copy)]
pub(super) struct Search {
    pub(super) k: u64,
    pub(super) m: usize,
    pub(super) rule: &'static str,
    pub(super) place: &'static str,
}

/// Room to count the items that follow an itemset.
struct Counter {
    support: Vec<u64>,
    /// Whether a class below k shows the item.
    rare: Vec<bool>,
    /// Steps that are left for the present first item.
    left: u64,
}

impl Search {
    /// Reports the sets of 1 to m items that occur in fewer than k records. The
    /// items of every class must ascend.
    pub(super) fn check(
        self,
        classes: &[Class],
        work: &Work,
        findings: &mut Findings,
    ) -> Result<()> {
        match self.all(classes, findings, work)? {
            Some(found) => found.into_iter().for_each(|f| findings.append(f)),
            None => self.each_class(classes, findings, work)?,
        }
        Ok(())
    }

    fn report(&self, itemset: &[ItemId], support: u64, findings: &mut Findings) {
        findings.add(self.rule, || self.place.into(), itemset, support, self.k);
    }

    /// The rare itemsets by their first item; none if the search was too long.
    fn all<'a>(
        &self,
        classes: &[Class],
        findings: &Findings<'a>,
        work: &Work,
    ) -> Result<Option<Vec<Findings<'a>>>> {
        let vocabulary = findings.vocabulary;
        let mut with: Vec<Vec<(u32, u32)>> = vec![Vec::new(); vocabulary.len()];
        for ((items, _), class) in classes.iter().zip(0..) {
            for (&item, behind) in items.iter().zip(1..) {
                with[item as usize].push((class, behind));
            }
        }
        let behind = |&(class, from): &(u32, u32)| {
            let (items, count) = classes[class as usize];
            (&items[from as usize..], count)
        };
        let empty = || Counter {
            support: vec![0; vocabulary.len()],
            rare: vec![false; vocabulary.len()],
            left: 0,
        };
        with.par_iter()
            .enumerate()
            .filter(|(_, with)| with.iter().any(|place| behind(place).1 < self.k))
            .map_init(empty, |counter, (item, with)| {
                let classes: Vec<Class> = with.iter().map(behind).collect();
                let mut findings = Findings::new(vocabulary);
                let mut itemset = vec![item as ItemId];
                let mut meter = work.meter();
                counter.left = BEHIND + BEHIND_PER_CLASS * classes.len() as u64;
                let done =
                    self.descend(counter, &mut itemset, &classes, &mut findings, &mut meter)?;
                meter.flush()?;
                Ok(done.then_some(findings))
            })
            .collect()
    }

    /// Asks every class below k by itself for a rare itemset.
    fn each_class(&self, classes: &[Class], findings: &mut Findings, work: &Work) -> Result<()> {
        let rows = Rows::new(classes);
        let found: Result<Vec<_>> = (0..classes.len())
            .into_par_iter()
            .map(|class| {
                let mut meter = work.meter();
                let found = rows.rare_subset(class, self.k, self.m, &mut meter)?;
                meter.flush()?;
                Ok(found)
            })
            .collect();
        for (itemset, support) in found?.into_iter().flatten() {
            self.report(&itemset, support, findings);
        }
        Ok(())
    }

    /// Reports `itemset` if it is rare, and otherwise looks at what extends
    /// it. `classes` are all that show it. False if the search was too long.
    fn descend(
        &self,
        counter: &mut Counter,
        itemset: &mut Vec<ItemId>,
        classes: &[Class],
        findings: &mut Findings,
        meter: &mut Meter,
    ) -> Result<bool> {
        let support: u64 = classes.iter().map(|c| c.1).sum();
        if support < self.k {
            self.report(itemset, support, findings);
            return Ok(true);
        }
        if itemset.len() == self.m {
            return Ok(true);
        }
        let steps = classes.iter().map(|c| c.0.len() as u64).sum::<u64>() + 1;
        meter.step(steps)?;
        if steps > counter.left || itemset.len() > LONGEST {
            return Ok(false);
        }
        counter.left -= steps;
        for (item, support) in self.extensions(counter, classes) {
            itemset.push(item);
            if support < self.k {
                self.report(itemset, support, findings);
            } else if itemset.len() < self.m {
                let narrowed: Vec<Class> = classes
                    .iter()
                    .filter_map(|(rest, count)| {
                        let at = rest.binary_search(&item).ok()?;
                        Some((&rest[at + 1..], *count))
                    })
                    .collect();
                if !self.descend(counter, itemset, &narrowed, findings, meter)? {
                    return Ok(false);
                }
            }
            itemset.pop();
        }
        Ok(true)
    }

    /// The items that follow in a class below k, with their support in all classes.
    fn extensions(&self, counter: &mut Counter, classes: &[Class]) -> Vec<(ItemId, u64)> {
        let mut items = Vec::new();
        for (rest, _) in classes.iter().filter(|c| c.1 < self.k) {
            for &item in *rest {
                if !std::mem::replace(&mut counter.rare[item as usize], true) {
                    items.push(item);
                }
            }
        }
        if !items.is_empty() {
            for (rest, count) in classes {
                for &item in *rest {
                    if counter.rare[item as usize] {
                        counter.support[item as usize] += count;
                    }
                }
            }
        }
        items.sort_unstable();
        items
            .into_iter()
            .map(|item| {
                counter.rare[item as usize] = false;
                (item, std::mem::take(&mut counter.support[item as usize]))
            })
            .collect()
    }
}
