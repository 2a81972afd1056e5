//! HORPART: similar records come together in clusters
//! (disassociation-2012, section 4).
//!
//! A part that is too large is split by its most frequent term into the
//! records that have it and the rest; the rest is split again, until it is
//! small. Each such *chain* finds the records of a term through posting lists
//! ([`postings`](super::postings)). The parts that leave a chain and are still
//! too large are chains of their own: those of the first chain and other large
//! ones on any thread, small ones on a stack beside their parent, while their
//! rows are still in the cache.
//!
//! Clusters are sets of records that depend on the content alone: neither the
//! order of the rows nor the number of threads changes them. What becomes of
//! clusters that are too small is in [`pooling`](super::pooling).

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::pooling;
use super::postings::{Postings, Queue};
use super::rows::{Rows, Waiting};
use super::spare::Spare;
use super::{Clusters, HorizontalPartitioning, Sizes};
use crate::data::{Dataset, ItemId};
use crate::progress::{Progress, Stage};

/// The paper's horizontal partitioning.
///
/// # Guarantee
/// Every cluster has at least `k` and at most `max` records.
///
/// # Complexity
/// A record takes part in at most as many chains as it has terms, and costs
/// its length in each; in practice in five. The list of a term is read when
/// the term comes to the front, and again if others then took its records;
/// a chain that reads too much begins to subtract, so that it stays linear.
///
/// # Deviations
/// The paper rescans what is left after every split, which is quadratic, and
/// publishes clusters of fewer than k records, which is not private. The set
/// *ignore* is not kept: a term that was used on the way to a part is in all of
/// its records, and a term that all records have cannot split them. A chain
/// ends where no two records have a term in common: what is left is cut.
#[derive(Clone, Copy, Debug, Default)]
pub struct Horpart;

/// From so many records on, a part of a part may run on another thread.
const LARGE: usize = 8192;
/// The whole data is listed in at least so many pieces, so that threads share
/// the work, each of about so many records at most, so that a piece fits into
/// the cache.
const PIECES: usize = 8;
const PIECE: usize = 1 << 17;

impl HorizontalPartitioning for Horpart {
    fn partition(
        &self,
        data: &Dataset,
        may_split: &[bool],
        sizes: Sizes,
        progress: &dyn Progress,
    ) -> Clusters {
        progress.stage(Stage::Clustering, Some(data.len() as u64));
        let shared = Shared {
            data,
            may_split,
            max: sizes.max(),
            next_chain: AtomicUsize::new(1),
            outcomes: Mutex::default(),
            workers: Spare::default(),
            progress,
        };
        if data.len() <= shared.max {
            let all: Vec<u32> = (0..data.len() as u32).collect();
            return pooling::pool([&all[..]].into_iter(), data, sizes);
        }
        rayon::scope(|scope| split_data(scope, &shared));
        let outcomes = shared.outcomes.into_inner().expect("no chain panicked");
        pooling::pool(DepthFirst::new(&outcomes), data, sizes)
    }
}

struct Shared<'a> {
    data: &'a Dataset,
    may_split: &'a [bool],
    max: usize,
    next_chain: AtomicUsize,
    outcomes: Mutex<Vec<Outcome>>,
    workers: Spare<Worker>,
    progress: &'a dyn Progress,
}

impl Shared<'_> {
    fn put(&self, outcome: Outcome) {
        self.progress.advance(outcome.records.len() as u64);
        self.outcomes.lock().expect("no chain panicked").push(outcome);
    }
}

/// What a chain falls into, in order.
enum Part {
    /// Where its records stand in the outcome.
    Cluster(Range<usize>),
    Chain(usize),
}

/// What some chains fell into.
#[derive(Default)]
struct Outcome {
    /// The numbers of the chains, with where their parts stand.
    chains: Vec<(usize, Range<usize>)>,
    parts: Vec<Part>,
    records: Vec<u32>,
}

impl Outcome {
    fn push_cluster(&mut self, records: impl Iterator<Item = u32>) {
        let start = self.records.len();
        self.records.extend(records);
        if self.records.len() > start {
            self.parts.push(Part::Cluster(start..self.records.len()));
        }
    }

    /// Announces a chain and gives its number.
    fn push_chain(&mut self, shared: &Shared) -> usize {
        let number = shared.next_chain.fetch_add(1, Ordering::Relaxed);
        self.parts.push(Part::Chain(number));
        number
    }

    /// Ends the chain whose parts were pushed since the last one ended.
    fn end_chain(&mut self, number: usize) {
        let start = self.chains.last().map_or(0, |(_, parts)| parts.end);
        self.chains.push((number, start..self.parts.len()));
    }
}

/// Records that are being split.
trait Chain {
    /// How many of the records that are left have the term.
    fn count(&mut self, term: ItemId) -> u32;

    /// Those leave and become a part.
    fn take(&mut self, term: ItemId);
}

/// Takes the most frequent term until at most `max` of `len` records are left
/// (Alg. HORPART, lines 3 to 5). Of two that are equally frequent the first by
/// text comes first.
fn split(chain: &mut impl Chain, queue: &mut Queue, len: usize, max: usize) {
    let (mut left, mut terms) = (len, Vec::new());
    'taking: for expected in (2..=queue.top()).rev() {
        queue.pop_all(expected, &mut terms);
        for &term in &terms {
            if left <= max {
                break 'taking;
            }
            let now = chain.count(term);
            if now == expected {
                chain.take(term);
                left -= now as usize;
            } else if now > 1 {
                // Counts only fall: it will come again. A term that one record
                // has brings nobody together.
                queue.push(now, term);
            }
        }
    }
    queue.clear();
}

/// The first chain: all records. It is listed piece by piece, so that several
/// threads can do it.
struct Whole<'r, 'scope> {
    scope: &'r rayon::Scope<'scope>,
    shared: &'scope Shared<'scope>,
    /// The postings of each piece, with its first record.
    pieces: Vec<(u32, Postings)>,
    outcome: Outcome,
}

impl Chain for Whole<'_, '_> {
    fn count(&mut self, term: ItemId) -> u32 {
        self.pieces.iter_mut().map(|(_, postings)| postings.count(term)).sum()
    }

    fn take(&mut self, term: ItemId) {
        let mut records = Vec::new();
        let shared = self.shared;
        for (first, postings) in &mut self.pieces {
            let taken = postings.take(term, |row| shared.data.record((*first + row) as usize));
            records.extend(taken.iter().map(|row| *first + row));
        }
        if records.len() <= shared.max {
            self.outcome.push_cluster(records.into_iter());
        } else {
            let number = self.outcome.push_chain(shared);
            self.scope.spawn(move |scope| run(scope, shared, number, records));
        }
    }
}

fn split_data<'s>(scope: &rayon::Scope<'s>, shared: &'s Shared<'s>) {
    let data = shared.data;
    // Every piece has a span per item: together no more than twice the lists.
    let most = (data.occurrences().len() / data.item_count().max(1)).max(1);
    let pieces = (data.len() / PIECE).max(PIECES).min(most);
    let first = |piece: usize| piece * data.len() / pieces;
    let list = |piece: usize| {
        let (start, end) = (first(piece), first(piece + 1));
        let rows = (start..end).map(|r| data.record(r)).zip(0..);
        let occurrences = rows.flat_map(|(record, row)| record.iter().map(move |&i| (i, row)));
        let mut postings = Postings::default();
        let items = data.occurrences_of(start..end);
        postings.fill(data.item_count(), end - start, items, occurrences);
        (start as u32, postings)
    };
    let pieces: Vec<(u32, Postings)> = (0..pieces).into_par_iter().map(list).collect();
    let mut queue = Queue::default();
    queue.prepare(data.item_count());
    for item in 0..data.item_count() as ItemId {
        let support: u32 = pieces.iter().map(|(_, postings)| postings.initial_count(item)).sum();
        if 1 < support && (support as usize) < data.len() && shared.may_split[item as usize] {
            queue.push(support, item);
        }
    }
    let mut whole = Whole { scope, shared, pieces, outcome: Outcome::default() };
    split(&mut whole, &mut queue, data.len(), shared.max);
    let Whole { pieces, mut outcome, .. } = whole;
    let left = pieces.iter().flat_map(|(first, postings)| postings.left().map(move |r| first + r));
    outcome.push_cluster(left);
    outcome.end_chain(0);
    shared.put(outcome);
}

/// Splits the chain of these records and all small ones that come of it.
fn run<'s>(scope: &rayon::Scope<'s>, shared: &'s Shared<'s>, number: usize, records: Vec<u32>) {
    let outcome = shared.workers.with(|worker| {
        let mut outcome = Outcome::default();
        worker.rows.fetch(records, shared.data, shared.may_split);
        let mut next = Some(number);
        while let Some(number) = next {
            worker.split(scope, shared, &mut outcome);
            outcome.end_chain(number);
            next = worker.waiting.pop(&mut worker.rows);
        }
        outcome
    });
    shared.put(outcome);
}

/// Arrays that are used again from chain to chain.
#[derive(Default)]
struct Worker {
    rows: Rows,
    postings: Postings,
    queue: Queue,
    /// Per item of the chain: whether it can split one of its parts.
    worth: Vec<bool>,
    waiting: Waiting,
}

/// A part that was too large: it falls into clusters, small chains that wait,
/// and large ones for any thread.
struct Inner<'r, 'scope> {
    scope: &'r rayon::Scope<'scope>,
    shared: &'scope Shared<'scope>,
    rows: &'r Rows,
    postings: &'r mut Postings,
    worth: &'r mut [bool],
    waiting: &'r mut Waiting,
    outcome: &'r mut Outcome,
}

impl Chain for Inner<'_, '_> {
    fn count(&mut self, term: ItemId) -> u32 {
        self.postings.count(term)
    }

    fn take(&mut self, term: ItemId) {
        let (shared, rows) = (self.shared, self.rows);
        let list = self.postings.take(term, |row| rows.row(row));
        let records = list.iter().map(|&row| rows.records[row as usize]);
        if list.len() <= shared.max {
            self.outcome.push_cluster(records);
        } else {
            let number = self.outcome.push_chain(shared);
            if list.len() < LARGE {
                // All of its records have the term.
                self.worth[term as usize] = false;
                self.waiting.push(number, rows, list, self.worth);
            } else {
                let records = records.collect();
                self.scope.spawn(move |scope| run(scope, shared, number, records));
            }
        }
    }
}

impl Worker {
    /// Splits the chain of `rows`.
    fn split<'s>(
        &mut self,
        scope: &rayon::Scope<'s>,
        shared: &'s Shared<'s>,
        outcome: &mut Outcome,
    ) {
        let Self { rows, postings, queue, worth, waiting } = self;
        let (len, item_count) = (rows.records.len(), shared.data.item_count());
        postings.fill(item_count, len, &rows.items, rows.occurrences());
        worth.resize(item_count, false);
        queue.prepare(item_count);
        for &item in postings.present() {
            let count = postings.initial_count(item);
            worth[item as usize] = 1 < count && (count as usize) < len;
            if worth[item as usize] {
                queue.push(count, item);
            }
        }
        let mut chain = Inner { scope, shared, rows, postings, worth, waiting, outcome };
        split(&mut chain, queue, len, shared.max);
        outcome.push_cluster(postings.left().map(|row| rows.records[row as usize]));
    }
}

/// The clusters in the order in which the paper's recursion reaches them.
struct DepthFirst<'a> {
    outcomes: &'a [Outcome],
    /// Per chain: its outcome and where its parts stand there.
    chains: Vec<(usize, Range<usize>)>,
    stack: Vec<(usize, Range<usize>)>,
}

impl<'a> DepthFirst<'a> {
    fn new(outcomes: &'a [Outcome]) -> Self {
        let of_all = outcomes.iter().enumerate();
        let mut chains: Vec<(usize, (usize, Range<usize>))> = of_all
            .flat_map(|(o, outcome)| {
                outcome.chains.iter().map(move |(number, parts)| (*number, (o, parts.clone())))
            })
            .collect();
        chains.sort_unstable_by_key(|(number, _)| *number);
        debug_assert!(chains.iter().map(|(number, _)| *number).eq(0..chains.len()));
        let chains: Vec<_> = chains.into_iter().map(|(_, parts)| parts).collect();
        Self { outcomes, stack: chains.first().cloned().into_iter().collect(), chains }
    }
}

impl<'a> Iterator for DepthFirst<'a> {
    type Item = &'a [u32];

    fn next(&mut self) -> Option<&'a [u32]> {
        loop {
            let (o, parts) = self.stack.last_mut()?;
            let outcome = &self.outcomes[*o];
            match parts.next().map(|part| &outcome.parts[part]) {
                None => {
                    self.stack.pop();
                }
                Some(Part::Cluster(range)) => return Some(&outcome.records[range.clone()]),
                Some(Part::Chain(number)) => self.stack.push(self.chains[*number].clone()),
            }
        }
    }
}
