//! A placement of all chunks of a cluster that makes no link, in which
//! sub-records can change places.
//!
//! It begins with a shuffle whose seed everybody knows: nothing secret is
//! needed, only some placement that depends on the chunks alone.

use super::columns::Columns;
use super::links::Thresholds;

/// So many shuffles are tried. Each makes a link with a probability of at
/// most eta.
const SHUFFLES: u64 = 8;
/// So many ways to bring a set together are tried.
const WAYS: usize = 4;
/// What it costs to look at a set.
const SET: u64 = 64;
/// Nothing stands here.
const NONE: u32 = u32::MAX;

pub(super) struct Placement<'a> {
    thresholds: &'a Thresholds,
    n: usize,
    terms: usize,
    /// Per chunk its sub-records, as terms.
    rows: Vec<Vec<Vec<usize>>>,
    /// Per chunk and record: the sub-record that stands there.
    stands: Vec<Vec<u32>>,
    /// Per term: the records that have it, as bits.
    records: Vec<Vec<u64>>,
    /// How often two terms meet; the one of the earlier chunk first.
    meetings: Vec<u32>,
    /// So many meetings may still be counted.
    work: u64,
}

impl<'a> Placement<'a> {
    /// A placement without a link; none if none was found.
    pub(super) fn new(
        columns: &'a Columns,
        thresholds: &'a Thresholds,
        chunks: &[Vec<usize>],
        work: u64,
    ) -> Option<Self> {
        let terms = columns.items.len();
        let rows = chunks.iter().map(|chunk| rows(columns, chunk)).collect();
        let n = columns.n as usize;
        let mut this = Self {
            thresholds,
            n,
            terms,
            rows,
            stands: Vec::new(),
            records: Vec::new(),
            meetings: vec![0; terms * terms],
            work,
        };
        (0..SHUFFLES).any(|seed| this.shuffle(seed)).then_some(this)
    }

    /// Places all chunks anew; whether there is no link.
    fn shuffle(&mut self, seed: u64) -> bool {
        let (n, words) = (self.n, self.n.div_ceil(64));
        let mut random = SplitMix(seed);
        self.stands.clear();
        self.records = vec![vec![0; words]; self.terms];
        for rows in &self.rows {
            let mut places: Vec<usize> = (0..n).collect();
            for i in (1..n).rev() {
                places.swap(i, random.below(i + 1));
            }
            let mut stands = vec![NONE; n];
            for (row, &place) in rows.iter().zip(&places) {
                for &t in row {
                    self.records[t][place / 64] |= 1 << (place % 64);
                }
            }
            (0..).zip(&places).take(rows.len()).for_each(|(row, &place)| stands[place] = row);
            self.stands.push(stands);
        }
        self.meetings.fill(0);
        let mut met = Vec::new();
        for record in 0..n {
            for chunk in 0..self.rows.len() {
                // Each pair once: with the chunks before.
                self.meet(chunk, record, chunk, true, &mut met);
            }
        }
        self.is_unlinked(&met)
    }

    /// Counts, or no longer counts, the meetings of what stands in a record of
    /// `chunk` with what stands there of the other chunks before `end`.
    fn meet(
        &mut self,
        chunk: usize,
        record: usize,
        end: usize,
        add: bool,
        met: &mut Vec<(u32, u32)>,
    ) {
        let Self { rows, stands, meetings, terms, work, .. } = self;
        let row_of = |c: usize| match stands[c][record] {
            NONE => &[][..],
            row => &rows[c][row as usize][..],
        };
        let own = row_of(chunk);
        if own.is_empty() {
            return;
        }
        for other in (0..end).filter(|&c| c != chunk) {
            for &b in row_of(other) {
                for &a in own {
                    let (a, b) = if chunk < other { (a, b) } else { (b, a) };
                    let count = &mut meetings[a * *terms + b];
                    if add {
                        *count += 1;
                        met.push((a as u32, b as u32));
                    } else {
                        *count -= 1;
                    }
                }
                *work = work.saturating_sub(own.len() as u64);
            }
        }
    }

    fn is_unlinked(&self, met: &[(u32, u32)]) -> bool {
        met.iter().all(|&(a, b)| {
            let (a, b) = (a as usize, b as usize);
            self.meetings[a * self.terms + b] < self.thresholds.get(a, b)
        })
    }

    /// Lets the sub-records of a chunk in two records change places.
    fn swap(&mut self, chunk: usize, a: usize, b: usize, met: &mut Vec<(u32, u32)>) {
        let all = self.rows.len();
        self.meet(chunk, a, all, false, met);
        self.meet(chunk, b, all, false, met);
        self.stands[chunk].swap(a, b);
        self.meet(chunk, a, all, true, met);
        self.meet(chunk, b, all, true, met);
    }

    /// Whether the parts of a set, one from each of the `chosen` chunks, can be
    /// brought into k records without a link.
    pub(super) fn brings_together(&mut self, chosen: &[usize], set: &[&[usize]], k: u32) -> bool {
        if self.work < SET {
            return false;
        }
        self.work -= SET;
        let holders: Vec<Vec<u64>> = set.iter().map(|part| self.holders(part)).collect();
        let both = |w: usize| holders.iter().fold(u64::MAX, |all, part| all & part[w]);
        let together: Vec<u64> = (0..holders[0].len()).map(both).collect();
        let count: u32 = together.iter().map(|w| w.count_ones()).sum();
        if count >= k {
            return true;
        }
        (0..WAYS).any(|way| {
            self.work > 0 && {
                let swaps = swaps(&holders, &together, k as usize, way);
                swaps.is_some_and(|swaps| self.try_swaps(chosen, &swaps))
            }
        })
    }

    fn holders(&self, part: &[usize]) -> Vec<u64> {
        let word = |w| part.iter().fold(u64::MAX, |all, &t| all & self.records[t][w]);
        (0..self.n.div_ceil(64)).map(word).collect()
    }

    /// Whether there is no link after the swaps; all is as before then.
    fn try_swaps(&mut self, chosen: &[usize], swaps: &[(usize, usize, usize)]) -> bool {
        let mut met = Vec::new();
        for &(part, a, b) in swaps {
            self.swap(chosen[part], a, b, &mut met);
        }
        let fine = self.is_unlinked(&met);
        for &(part, a, b) in swaps.iter().rev() {
            self.swap(chosen[part], a, b, &mut met);
        }
        fine
    }
}

/// Which sub-records change places, by the number of the part, so that k of
/// the records that hold the first part hold all: those that do already, then
/// others, beginning at another one in each `way`.
fn swaps(
    holders: &[Vec<u64>],
    together: &[u64],
    k: usize,
    way: usize,
) -> Option<Vec<(usize, usize, usize)>> {
    let bit = |set: &[u64], r: usize| set[r / 64] >> (r % 64) & 1 == 1;
    let records =
        |set: &[u64]| -> Vec<usize> { (0..set.len() * 64).filter(|&r| bit(set, r)).collect() };
    let mut first: Vec<usize> =
        records(&holders[0]).into_iter().filter(|&r| !bit(together, r)).collect();
    turn(&mut first, way);
    let mut targets = records(together);
    let missing = k - targets.len();
    targets.extend(first.get(..missing)?);
    let mut swaps = Vec::new();
    for (part, holders) in holders.iter().enumerate().skip(1) {
        let mut sources: Vec<usize> =
            records(holders).into_iter().filter(|r| !targets.contains(r)).collect();
        turn(&mut sources, way);
        let mut sources = sources.into_iter();
        for &target in targets.iter().filter(|&&r| !bit(holders, r)) {
            swaps.push((part, target, sources.next()?));
        }
    }
    Some(swaps)
}

fn turn(records: &mut [usize], way: usize) {
    let start = records.len() * way / WAYS;
    records.rotate_left(start);
}

/// The sub-records of a chunk in an order that depends on the chunk alone: the
/// longest first, then by their terms.
fn rows(columns: &Columns, chunk: &[usize]) -> Vec<Vec<usize>> {
    let mut rows = columns.rows(chunk);
    rows.iter_mut().flatten().for_each(|t| *t = chunk[*t]);
    rows.iter_mut().for_each(|row| row.sort_unstable());
    rows.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    rows
}

/// SplitMix64: a shuffle that everybody can repeat.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}
