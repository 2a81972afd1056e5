//! RRCC: the record chunks of the items that were partitioned from the first
//! one (dls-2022, section 5.2 and Algorithm 5).
//!
//! A domain is allowed if it contains no minimal problematic itemset of the
//! original records, which is the same as that its projection is
//! k^m-anonymous. Domains are cut off one after the other, each the best that
//! is left: found exactly while few items are left, greedily beyond. The time
//! is polynomial in the number of items for any m.

use std::ops::ControlFlow;

use super::columns::Columns;
use super::mpii::minimal_problematic;
use crate::Result;
use crate::data::{K, M};
use crate::progress::{Progress, Pulse};

/// Up to this many items the best domain is found by branch and bound.
const EXACT: usize = 16;

/// Divides the items of `columns` into domains of k^m-anonymous chunks, each
/// as ascending indices. Every item must have at least k records.
///
/// # Guarantee
/// Every item is in exactly one domain; the projection on each is
/// k^m-anonymous.
///
/// # Complexity
/// At most 2^16 steps a domain while 16 items or fewer are left. Beyond, an
/// item enters a domain after one search of the itemsets that it would add.
///
/// # Deviations
/// - Algorithm 5, line 8, only removes minimal problematic itemsets
///   themselves and keeps itemsets that contain one.
/// - Itemsets are not enumerated, which takes up to 2^|Dr| of them.
/// - Largest means first the domain that keeps most occurrences of pairs and
///   then that with most items: items that never occur together are in
///   nobody's way (Theorem 2 does not hold for them), but a domain full of
///   such items keeps nothing.
pub(crate) fn rrcc(
    columns: &Columns,
    k: K,
    m: M,
    progress: &dyn Progress,
) -> Result<Vec<Vec<usize>>> {
    let mut rest: Vec<usize> = (0..columns.len()).collect();
    let mut domains = Vec::new();
    while !rest.is_empty() {
        let left = columns.select(&rest);
        let domain = if rest.len() <= EXACT {
            Exact::new(&left, k, m, progress)?.solve()
        } else {
            greedy(&left, k, m, progress)?
        };
        domains.push(domain.iter().map(|&i| rest[i]).collect());
        let mut index = 0;
        rest.retain(|_| {
            index += 1;
            domain.binary_search(&(index - 1)).is_err()
        });
    }
    Ok(domains)
}

/// Branch and bound over the items, as bits of a word.
struct Exact {
    items: usize,
    /// Minimal problematic itemsets by their last item.
    forbidden: Vec<Vec<u32>>,
    /// Occurrences of each pair.
    pairs: Vec<u32>,
    best: (u32, u32),
    best_set: u32,
}

impl Exact {
    fn new(columns: &Columns, k: K, m: M, progress: &dyn Progress) -> Result<Self> {
        let items = columns.len();
        let mut forbidden = vec![Vec::new(); items];
        let _ = minimal_problematic(columns, k, m, progress, |itemset, _| {
            let (last, others) = itemset.split_last().expect("two items or more");
            forbidden[*last].push(others.iter().fold(0, |set, i| set | 1 << i));
            ControlFlow::Continue(())
        })?;
        let mut pairs = vec![0; items * items];
        for i in 0..items {
            for j in 0..items {
                pairs[i * items + j] = if i == j { 0 } else { columns.pair_support(i, j) };
            }
        }
        Ok(Self { items, forbidden, pairs, best: (0, 0), best_set: 0 })
    }

    fn solve(mut self) -> Vec<usize> {
        let all: u32 = self.pairs.iter().sum::<u32>() / 2;
        self.branch(0, 0, (0, 0), all);
        (0..self.items).filter(|i| self.best_set >> i & 1 == 1).collect()
    }

    /// `possible` is how many pair occurrences `set` and all items from
    /// `next` on would have together.
    fn branch(&mut self, next: usize, set: u32, score: (u32, u32), possible: u32) {
        let room = (self.items - next) as u32;
        if (possible, score.1 + room) <= self.best {
            return;
        }
        if next == self.items {
            (self.best, self.best_set) = (score, set);
            return;
        }
        let with = |from: u32| -> u32 {
            let row = &self.pairs[next * self.items..][..self.items];
            (0..self.items).filter(|i| from >> i & 1 == 1).map(|i| row[i]).sum()
        };
        let (gain, later) = (with(set), with(!0 << next));
        if self.forbidden[next].iter().all(|&others| others & !set != 0) {
            let score = (score.0 + gain, score.1 + 1);
            self.branch(next + 1, set | 1 << next, score, possible);
        }
        self.branch(next + 1, set, score, possible - gain - later);
    }
}

/// Adds the item that keeps most pair occurrences with the domain, as long
/// as one fits; ties go to the more frequent, then to the first.
fn greedy(columns: &Columns, k: K, m: M, progress: &dyn Progress) -> Result<Vec<usize>> {
    let mut pulse = Pulse::new(progress);
    let n = columns.len();
    let mut kept = vec![0_u32; n];
    let mut open: Vec<usize> = (0..n).collect();
    let mut domain: Vec<usize> = Vec::new();
    while let Some(position) = (0..open.len())
        .max_by_key(|&p| (kept[open[p]], columns.support(open[p]), std::cmp::Reverse(open[p])))
    {
        let item = open.swap_remove(position);
        pulse.work(columns.words() * (open.len() + domain.len()))?;
        if !fits(columns, &domain, item, k, m, progress)? {
            continue;
        }
        domain.push(item);
        for &other in &open {
            kept[other] += columns.pair_support(item, other);
        }
    }
    domain.sort_unstable();
    Ok(domain)
}

/// Whether `domain` and `item` together contain no minimal problematic
/// itemset, given that `domain` alone contains none.
fn fits(
    columns: &Columns,
    domain: &[usize],
    item: usize,
    k: K,
    m: M,
    progress: &dyn Progress,
) -> Result<bool> {
    let Ok(m_rest) = M::new(m.get() - 1) else { return Ok(true) };
    let mut meeting = Vec::new();
    for &other in domain {
        match columns.pair_support(other, item) {
            0 => {}
            support if support < k.get() => return Ok(false),
            _ => meeting.push(other),
        }
    }
    meeting.sort_unstable();
    // Among the records of the item, one item less is to be looked for.
    let among = columns.select(&meeting).restrict(columns.column(item));
    let stop = |_: &[usize], _: &[u64]| ControlFlow::Break(());
    Ok(minimal_problematic(&among, k, m_rest, progress, stop)?.is_continue())
}
