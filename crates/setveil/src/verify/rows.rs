//! Whether some set of at most m items of one row is rare, for any m.
//!
//! Larger sets are rarer. So a row of at most m items has a rare subset if and
//! only if the row itself is rare, and a longer row if and only if one of its
//! subsets of exactly m items is. The latter is a partial hitting set: every
//! other row lacks some items of this one, a chosen item that it lacks
//! excludes it, and m items must exclude so many that fewer than k are left.
//! Branch and bound decides it; the general problem is NP-hard, and
//! [`Meter`] ends what takes too long.

use super::work::Meter;
use crate::Result;
use crate::data::ItemId;

/// How many items are chosen at most before the search gives up: nobody's
/// stack is at the mercy of a manifest.
const DEEPEST: usize = 512;

/// Distinct rows with counts, and where each item stands.
pub(super) struct Rows<'a> {
    rows: &'a [(&'a [ItemId], u64)],
    /// Item, row and place in the row, ascending.
    places: Vec<(ItemId, u32, u32)>,
}

impl<'a> Rows<'a> {
    /// The items of every row must ascend.
    pub(super) fn new(rows: &'a [(&'a [ItemId], u64)]) -> Self {
        let mut places: Vec<(ItemId, u32, u32)> = rows
            .iter()
            .zip(0..)
            .flat_map(|(row, r)| row.0.iter().zip(0..).map(move |(&item, p)| (item, r, p)))
            .collect();
        places.sort_unstable();
        Self { rows, places }
    }

    fn with(&self, item: ItemId) -> &[(ItemId, u32, u32)] {
        let start = self.places.partition_point(|p| p.0 < item);
        let end = self.places.partition_point(|p| p.0 <= item);
        &self.places[start..end]
    }

    /// A set of at most `m` items of row `r` that fewer than `k` have, none of
    /// whose subsets is rare, with its support.
    pub(super) fn rare_subset(
        &self,
        r: usize,
        k: u64,
        m: usize,
        meter: &mut Meter,
    ) -> Result<Option<(Vec<ItemId>, u64)>> {
        let (items, count) = self.rows[r];
        if count >= k || items.is_empty() || m == 0 {
            return Ok(None);
        }
        let (always, groups) = self.lacking(items, meter)?;
        if always >= k {
            return Ok(None);
        }
        let chosen = if items.len() <= m {
            (0..items.len()).collect()
        } else {
            let mut search = Search { spare: k - 1 - always, meter, chosen: Vec::new() };
            let open: Vec<usize> = (0..groups.len()).collect();
            let columns = items.len() as u64 * groups.len() as u64;
            search.meter.step(columns + columns / 64 * items.len() as u64)?;
            let allowed = undominated(items.len(), &groups);
            if !search.hit(&groups, &open, allowed, m)? {
                return Ok(None);
            }
            search.chosen
        };
        self.smallest(items, chosen, k, meter).map(Some)
    }

    /// How many rows have all of `items`, and for the others that have some:
    /// which of them they lack, with their counts.
    fn lacking(&self, items: &[ItemId], meter: &mut Meter) -> Result<(u64, Vec<Group>)> {
        let mut has: Vec<(u32, usize)> = Vec::new();
        for (place, &item) in items.iter().enumerate() {
            has.extend(self.with(item).iter().map(|p| (p.1, place)));
        }
        meter.step(has.len() as u64)?;
        has.sort_unstable();
        let (mut always, mut groups) = (0, Vec::new());
        for run in has.chunk_by(|a, b| a.0 == b.0) {
            let count = self.rows[run[0].0 as usize].1;
            let mut lacks = Set::full(items.len());
            run.iter().for_each(|&(_, place)| lacks.remove(place));
            if lacks.is_empty() {
                always += count;
            } else {
                groups.push(Group { lacks, count });
            }
        }
        groups.sort_unstable_by(|a, b| a.lacks.cmp(&b.lacks));
        groups.dedup_by(|later, first| {
            let same = later.lacks == first.lacks;
            if same {
                first.count += later.count;
            }
            same
        });
        Ok((always, groups))
    }

    /// Leaves out items while the rest is still rare.
    fn smallest(
        &self,
        items: &[ItemId],
        mut chosen: Vec<usize>,
        k: u64,
        meter: &mut Meter,
    ) -> Result<(Vec<ItemId>, u64)> {
        chosen.sort_unstable();
        if chosen.is_empty() {
            // Every row that has any of the items counts, and all are too few.
            chosen.push(0);
        }
        let set = |chosen: &[usize]| chosen.iter().map(|&p| items[p]).collect::<Vec<ItemId>>();
        for at in (0..chosen.len()).rev() {
            let mut fewer = chosen.clone();
            fewer.remove(at);
            if !fewer.is_empty() && self.support(&set(&fewer), meter)? < k {
                chosen = fewer;
            }
        }
        let itemset = set(&chosen);
        let support = self.support(&itemset, meter)?;
        Ok((itemset, support))
    }

    fn support(&self, itemset: &[ItemId], meter: &mut Meter) -> Result<u64> {
        let fewest = itemset.iter().map(|&i| self.with(i)).min_by_key(|with| with.len());
        let mut support = 0;
        for &(_, r, _) in fewest.unwrap_or(&[]) {
            let (row, count) = self.rows[r as usize];
            meter.step(itemset.len() as u64)?;
            if itemset.iter().all(|i| row.binary_search(i).is_ok()) {
                support += count;
            }
        }
        Ok(support)
    }
}

/// Rows that lack the same items.
struct Group {
    lacks: Set,
    count: u64,
}

struct Search<'a, 'b> {
    /// How many occurrences may stay beside those that have everything.
    spare: u64,
    meter: &'a mut Meter<'b>,
    chosen: Vec<usize>,
}

impl Search<'_, '_> {
    /// Whether `left` more items out of `allowed` can exclude so many of the
    /// `open` groups that at most `spare` occurrences stay.
    fn hit(
        &mut self,
        groups: &[Group],
        open: &[usize],
        mut allowed: Set,
        left: usize,
    ) -> Result<bool> {
        let stays: u64 = open.iter().map(|&g| groups[g].count).sum();
        if stays <= self.spare {
            return Ok(true);
        }
        if self.chosen.len() > DEEPEST {
            return Err(self.meter.undecided());
        }
        loop {
            let gains = self.gains(groups, open, &allowed)?;
            let best: u64 = gains.iter().take(left).map(|g| g.0).sum();
            if best < stays - self.spare {
                return Ok(false);
            }
            // A group that may not stay whole must be hit: one of its items is chosen.
            let must = open
                .iter()
                .filter(|&&g| groups[g].count > self.spare)
                .min_by_key(|&&g| groups[g].lacks.common(&allowed));
            let (branches, exhaustive) = match must {
                Some(&g) => {
                    let own = gains.iter().map(|gain| gain.1).filter(|&i| groups[g].lacks.has(i));
                    (own.collect::<Vec<usize>>(), true)
                }
                None => (vec![gains[0].1], false),
            };
            for item in branches {
                let rest: Vec<usize> =
                    open.iter().copied().filter(|&g| !groups[g].lacks.has(item)).collect();
                allowed.remove(item);
                self.chosen.push(item);
                if self.hit(groups, &rest, allowed.clone(), left - 1)? {
                    return Ok(true);
                }
                self.chosen.pop();
            }
            if exhaustive {
                return Ok(false);
            }
        }
    }

    /// What each allowed item excludes by itself, most first.
    fn gains(
        &mut self,
        groups: &[Group],
        open: &[usize],
        allowed: &Set,
    ) -> Result<Vec<(u64, usize)>> {
        let mut gains: Vec<(u64, usize)> = allowed.iter().map(|item| (0, item)).collect();
        self.meter.step((open.len() * gains.len() + 16) as u64)?;
        for gain in &mut gains {
            let hit = open.iter().filter(|&&g| groups[g].lacks.has(gain.1));
            gain.0 = hit.map(|&g| groups[g].count).sum();
        }
        gains.retain(|gain| gain.0 > 0);
        gains.sort_unstable_by_key(|&(gain, item)| (std::cmp::Reverse(gain), item));
        Ok(gains)
    }
}

/// The items without those that exclude nothing which another item does not
/// exclude as well.
fn undominated(items: usize, groups: &[Group]) -> Set {
    let columns: Vec<Set> = (0..items)
        .map(|item| {
            let mut column = Set::empty(groups.len());
            let hit = (0..groups.len()).filter(|&g| groups[g].lacks.has(item));
            hit.for_each(|g| column.insert(g));
            column
        })
        .collect();
    let mut kept = Set::full(items);
    for i in 0..items {
        let more = |j: usize| j != i && kept.has(j) && columns[i].within(&columns[j]);
        if (0..items).any(more) {
            kept.remove(i);
        }
    }
    kept
}

/// A set of small numbers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Set(Vec<u64>);

impl Set {
    fn empty(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)])
    }

    fn full(len: usize) -> Self {
        let mut set = Self::empty(len);
        (0..len).for_each(|i| set.insert(i));
        set
    }

    fn insert(&mut self, i: usize) {
        self.0[i / 64] |= 1 << (i % 64);
    }

    fn remove(&mut self, i: usize) {
        self.0[i / 64] &= !(1 << (i % 64));
    }

    fn has(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 == 1
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    fn within(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }

    fn common(&self, other: &Self) -> u32 {
        self.0.iter().zip(&other.0).map(|(a, b)| (a & b).count_ones()).sum()
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.0.len() * 64).filter(|&i| self.has(i))
    }
}
