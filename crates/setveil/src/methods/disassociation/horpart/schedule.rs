//! Which chain of HORPART runs when and where: the first one, of all records,
//! is listed by several threads; those that come of it and other large ones
//! run on any thread; small ones wait on a stack beside their parent, while
//! their rows are still in the cache. What they fall into is put together in
//! the order of the paper's recursion.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::postings::Postings;
use super::queue::Queue;
use super::rows::{Rows, Waiting};
use super::{Chain, Floor, take_frequent_terms};
use crate::Result;
use crate::data::{Dataset, ItemId};
use crate::methods::disassociation::index::{ChainId, Row};
use crate::methods::disassociation::scratch::ScratchPool;
use crate::progress::{Progress, Pulse};

/// From so many records on, a part of a part may run on another thread.
const LARGE: usize = 8192;
/// The whole data is listed in at least so many pieces, so that threads share
/// the work, each of about so many records or occurrences at most, so that a
/// piece fits into the cache and can be stopped.
const PIECES: usize = 8;
const PIECE: usize = 1 << 17;
const PIECE_OCCURRENCES: usize = 1 << 22;

/// Splits all records, more than `max`, by the items that `may_split` them.
pub(super) fn run_chains(
    data: &Dataset,
    may_split: &[bool],
    max: usize,
    floor: Floor,
    progress: &dyn Progress,
) -> Result<Vec<Outcome>> {
    let shared = Shared {
        data,
        may_split,
        max,
        floor,
        next_chain: AtomicUsize::new(1),
        outcomes: Mutex::new(Ok(Vec::new())),
        workers: ScratchPool::default(),
        progress,
    };
    rayon::scope(|scope| shared.put(run_first(scope, &shared)));
    shared.outcomes.into_inner().expect("no chain panicked")
}

/// What all chains share.
struct Shared<'a> {
    data: &'a Dataset,
    may_split: &'a [bool],
    max: usize,
    floor: Floor,
    next_chain: AtomicUsize,
    /// What came out so far, or the first error.
    outcomes: Mutex<Result<Vec<Outcome>>>,
    workers: ScratchPool<Worker>,
    progress: &'a dyn Progress,
}

impl Shared<'_> {
    fn put(&self, outcome: Result<Outcome>) {
        let mut outcomes = self.outcomes.lock().expect("no chain panicked");
        match (outcome, &mut *outcomes) {
            (Ok(outcome), Ok(all)) => all.push(outcome),
            (Err(error), Ok(_)) => *outcomes = Err(error),
            (_, Err(_)) => {}
        }
    }
}

/// What a chain falls into, in order.
enum Part {
    /// Where its records stand in the outcome.
    Cluster(Range<usize>),
    Chain(ChainId),
}

/// What some chains fell into.
#[derive(Default)]
pub(super) struct Outcome {
    /// The chains, with where their parts stand.
    chains: Vec<(ChainId, Range<usize>)>,
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
    fn push_chain(&mut self, shared: &Shared) -> ChainId {
        let number = ChainId(shared.next_chain.fetch_add(1, Ordering::Relaxed));
        self.parts.push(Part::Chain(number));
        number
    }

    /// Ends the chain whose parts were pushed since the last one ended.
    fn end_chain(&mut self, number: ChainId) {
        let start = self.chains.last().map_or(0, |(_, parts)| parts.end);
        self.chains.push((number, start..self.parts.len()));
    }
}

/// The first chain: all records. It is listed piece by piece, so that several
/// threads can do it.
struct FirstChain<'r, 'scope> {
    scope: &'r rayon::Scope<'scope>,
    shared: &'scope Shared<'scope>,
    /// The postings of each piece, with its first record.
    pieces: Vec<(u32, Postings)>,
    outcome: Outcome,
}

impl Chain for FirstChain<'_, '_> {
    fn count(&mut self, term: ItemId) -> u32 {
        self.pieces.iter_mut().map(|(_, postings)| postings.count(term)).sum()
    }

    fn take(&mut self, term: ItemId) -> Result<()> {
        let mut records = Vec::new();
        let shared = self.shared;
        for (first, postings) in &mut self.pieces {
            let taken = postings.take(term, |row| shared.data.record((*first + row.0) as usize));
            records.extend(taken.iter().map(|row| *first + row.0));
        }
        if records.len() <= shared.max {
            self.outcome.push_cluster(records.into_iter());
        } else {
            let number = self.outcome.push_chain(shared);
            spawn(self.scope, shared, number, records);
        }
        Ok(())
    }
}

fn run_first<'s>(scope: &rayon::Scope<'s>, shared: &'s Shared<'s>) -> Result<Outcome> {
    let data = shared.data;
    let pieces = list_all(data, shared.progress)?;
    let mut queue = Queue::default();
    queue.prepare(data.item_count());
    for item in 0..data.item_count() as ItemId {
        let support: u32 = pieces.iter().map(|(_, postings)| postings.initial_count(item)).sum();
        let splits = shared.floor.part <= support && (support as usize) < data.len();
        if splits && shared.may_split[item as usize] {
            queue.push(support, item);
        }
    }
    let mut chain = FirstChain { scope, shared, pieces, outcome: Outcome::default() };
    let mut pulse = Pulse::new(shared.progress);
    take_frequent_terms(&mut chain, &mut queue, data.len(), shared.max, shared.floor, &mut pulse)?;
    let FirstChain { pieces, mut outcome, .. } = chain;
    let before = outcome.records.len();
    outcome.push_cluster(
        pieces.iter().flat_map(|(first, postings)| postings.left().map(move |r| first + r.0)),
    );
    pulse.done(outcome.records.len() - before)?;
    pulse.flush()?;
    outcome.end_chain(ChainId(0));
    Ok(outcome)
}

/// The postings of all records, piece by piece, with the first record of each.
fn list_all(data: &Dataset, progress: &dyn Progress) -> Result<Vec<(u32, Postings)>> {
    let occurrences = data.occurrences().len();
    // Every piece has a span per item: together no more than twice the lists.
    let most = (occurrences / data.item_count().max(1)).max(1);
    let pieces = (data.len() / PIECE).max(occurrences / PIECE_OCCURRENCES).max(PIECES).min(most);
    let first = |piece: usize| piece * data.len() / pieces;
    let list = |piece: usize| {
        let (start, end) = (first(piece), first(piece + 1));
        let rows = (start..end).map(|r| data.record(r)).zip((0..).map(Row));
        let occurrences = rows.flat_map(|(record, row)| record.iter().map(move |&i| (i, row)));
        let mut postings = Postings::default();
        let items = data.occurrences_of(start..end);
        postings.fill(data.item_count(), end - start, items, occurrences)?;
        progress.step(0)?;
        Ok((start as u32, postings))
    };
    (0..pieces).into_par_iter().map(list).collect()
}

/// Splits the chain of these records, and all small ones that come of it, on
/// any thread.
fn spawn<'s>(scope: &rayon::Scope<'s>, shared: &'s Shared<'s>, number: ChainId, records: Vec<u32>) {
    scope.spawn(move |scope| {
        let run = |worker: &mut Worker| worker.run(scope, shared, number, records);
        shared.put(shared.workers.with(run));
    });
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

impl Worker {
    fn run<'s>(
        &mut self,
        scope: &rayon::Scope<'s>,
        shared: &'s Shared<'s>,
        number: ChainId,
        records: Vec<u32>,
    ) -> Result<Outcome> {
        let (mut outcome, mut pulse) = (Outcome::default(), Pulse::new(shared.progress));
        self.rows.fetch(records, shared.data, shared.may_split, &mut pulse)?;
        let mut next = Some(number);
        while let Some(number) = next {
            self.run_chain(scope, shared, &mut outcome, &mut pulse)?;
            outcome.end_chain(number);
            next = self.waiting.pop(&mut self.rows);
        }
        pulse.flush()?;
        Ok(outcome)
    }

    /// Splits the chain of `rows`.
    fn run_chain<'s>(
        &mut self,
        scope: &rayon::Scope<'s>,
        shared: &'s Shared<'s>,
        outcome: &mut Outcome,
        pulse: &mut Pulse,
    ) -> Result<()> {
        let Self { rows, postings, queue, worth, waiting } = self;
        let (len, item_count) = (rows.records.len(), shared.data.item_count());
        postings.fill(item_count, len, &rows.items, rows.occurrences())?;
        worth.resize(item_count, false);
        queue.prepare(item_count);
        for &item in postings.items() {
            let count = postings.initial_count(item);
            worth[item as usize] = shared.floor.part <= count && (count as usize) < len;
            if worth[item as usize] {
                queue.push(count, item);
            }
        }
        let mut chain = LaterChain { scope, shared, rows, postings, worth, waiting, outcome };
        take_frequent_terms(&mut chain, queue, len, shared.max, shared.floor, pulse)?;
        let before = outcome.records.len();
        outcome.push_cluster(postings.left().map(|row| rows.record(row)));
        pulse.done(outcome.records.len() - before)
    }
}

/// A part that was too large: it falls into clusters, small chains that wait,
/// and large ones for any thread.
struct LaterChain<'r, 'scope> {
    scope: &'r rayon::Scope<'scope>,
    shared: &'scope Shared<'scope>,
    rows: &'r Rows,
    postings: &'r mut Postings,
    worth: &'r mut [bool],
    waiting: &'r mut Waiting,
    outcome: &'r mut Outcome,
}

impl Chain for LaterChain<'_, '_> {
    fn count(&mut self, term: ItemId) -> u32 {
        self.postings.count(term)
    }

    fn take(&mut self, term: ItemId) -> Result<()> {
        let (shared, rows) = (self.shared, self.rows);
        let list = self.postings.take(term, |row| rows.row(row));
        let records = list.iter().map(|&row| rows.record(row));
        if list.len() <= shared.max {
            self.outcome.push_cluster(records);
            return Ok(());
        }
        let number = self.outcome.push_chain(shared);
        if list.len() < LARGE {
            // All of its records have the term.
            self.worth[term as usize] = false;
            self.waiting.push(number, rows, list, self.worth)
        } else {
            spawn(self.scope, shared, number, records.collect());
            Ok(())
        }
    }
}

/// The clusters in the order in which the paper's recursion reaches them.
pub(super) struct DepthFirst<'a> {
    outcomes: &'a [Outcome],
    /// Per chain: its outcome and where its parts stand there.
    chains: Vec<(usize, Range<usize>)>,
    stack: Vec<(usize, Range<usize>)>,
}

impl<'a> DepthFirst<'a> {
    pub(super) fn new(outcomes: &'a [Outcome]) -> Self {
        let of_all = outcomes.iter().enumerate();
        let mut chains: Vec<(ChainId, (usize, Range<usize>))> = of_all
            .flat_map(|(o, outcome)| {
                outcome.chains.iter().map(move |(number, parts)| (*number, (o, parts.clone())))
            })
            .collect();
        chains.sort_unstable_by_key(|(number, _)| *number);
        debug_assert!(chains.iter().map(|(number, _)| number.index()).eq(0..chains.len()));
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
                Some(Part::Chain(number)) => self.stack.push(self.chains[number.index()].clone()),
            }
        }
    }
}
