//! HORPART: similar records come together in clusters
//! (disassociation-2012, section 4).
//!
//! A part that is too large is split by its most frequent term into the
//! records that have it and the rest; the rest is split again, until it is
//! small. Each such *chain* keeps the counts of what is left by subtracting
//! what goes, and finds the records of a term through posting lists. The parts
//! that leave a chain are chains of their own, on any thread.
//!
//! Clusters are sets of records that depend on the content alone: neither the
//! order of the rows nor the number of threads changes them. What becomes of
//! clusters that are too small is in [`pooling`](super::pooling).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::pooling;
use super::{Clusters, HorizontalPartitioning, Sizes};
use crate::data::{Dataset, ItemId};
use crate::progress::Progress;

/// The paper's horizontal partitioning.
///
/// # Guarantee
/// Every cluster has at least `k` and at most `max` records.
///
/// # Complexity
/// A record takes part in at most as many chains as it has terms, and costs
/// its length in each; in practice in three or four.
///
/// # Deviations
/// The paper rescans what is left after every split, which is quadratic, and
/// publishes clusters of fewer than k records, which is not private. The set
/// *ignore* is not kept: a term that was used on the way to a part is in all of
/// its records, and a term that all records have cannot split them. A chain
/// ends where no two records have a term in common: what is left is cut.
#[derive(Clone, Copy, Debug, Default)]
pub struct Horpart;

impl HorizontalPartitioning for Horpart {
    fn partition(
        &self,
        data: &Dataset,
        may_split: &[bool],
        sizes: Sizes,
        progress: &dyn Progress,
    ) -> Clusters {
        progress.stage("clustering", Some(data.len() as u64));
        let shared = Shared {
            data,
            may_split,
            max: sizes.max(),
            next_chain: AtomicUsize::new(1),
            chains: Mutex::default(),
            scratch: Mutex::default(),
            progress,
        };
        let all: Vec<u32> = (0..data.len() as u32).collect();
        let whole = if all.len() <= shared.max {
            vec![Part::Cluster(all)]
        } else {
            rayon::scope(|scope| {
                run(scope, &shared, Chain { number: 0, records: all, rows: None });
            });
            vec![Part::Chain(0)]
        };
        let chains = shared.chains.into_inner().expect("no chain panicked");
        pooling::pool(depth_first(whole, chains), data, sizes)
    }
}

/// What a chain falls into, in order.
enum Part {
    Cluster(Vec<u32>),
    Chain(usize),
}

/// A part of the data that is still too large.
struct Chain {
    number: usize,
    records: Vec<u32>,
    /// None for the whole data.
    rows: Option<Rows>,
}

/// The items of a chain's records that can still split it, side by side: the
/// passes over a chain then read memory in order.
#[derive(Default)]
struct Rows {
    ends: Vec<u32>,
    items: Vec<ItemId>,
}

struct Shared<'a> {
    data: &'a Dataset,
    may_split: &'a [bool],
    max: usize,
    next_chain: AtomicUsize,
    chains: Mutex<Vec<(usize, Vec<Part>)>>,
    scratch: Mutex<Vec<Scratch>>,
    progress: &'a dyn Progress,
}

/// Arrays that are clean between chains.
#[derive(Default)]
struct Scratch {
    /// Per item: how many of the records that are left have it.
    counts: Vec<u32>,
    /// Per item: where its posting list starts and ends; both 0 if it has none.
    starts: Vec<u32>,
    ends: Vec<u32>,
    touched: Vec<ItemId>,
    postings: Vec<u32>,
    gone: Vec<bool>,
}

fn run<'s>(scope: &rayon::Scope<'s>, shared: &'s Shared<'s>, chain: Chain) {
    let mut scratch = shared.scratch.lock().expect("no chain panicked").pop().unwrap_or_default();
    for array in [&mut scratch.counts, &mut scratch.starts, &mut scratch.ends] {
        array.resize(shared.data.item_count(), 0);
    }
    let number = chain.number;
    let parts = split(shared, chain, &mut scratch, |child| {
        scope.spawn(move |scope| run(scope, shared, child));
    });
    shared.scratch.lock().expect("no chain panicked").push(scratch);
    shared.chains.lock().expect("no chain panicked").push((number, parts));
}

/// Splits a chain by its most frequent terms until the rest is small.
fn split(
    shared: &Shared,
    chain: Chain,
    scratch: &mut Scratch,
    mut spawn: impl FnMut(Chain),
) -> Vec<Part> {
    let Chain { records, rows, .. } = chain;
    let row = |position: usize| match &rows {
        None => shared.data.record(records[position] as usize),
        Some(rows) => {
            let start = if position == 0 { 0 } else { rows.ends[position - 1] as usize };
            &rows.items[start..rows.ends[position] as usize]
        }
    };
    let mut heap = index(shared.may_split, records.len(), &row, scratch);
    let (mut left, mut parts) = (records.len(), Vec::new());
    let mut ahead: Vec<&[ItemId]> = Vec::with_capacity(AHEAD);
    let mean_length = scratch.postings.len() / records.len() + 1;
    while left > shared.max {
        // Alg. HORPART, line 3. Counts only fall: an entry that is out of date goes back.
        let Some((count, Reverse(term))) = heap.pop() else { break };
        let now = scratch.counts[term as usize];
        if now < count {
            if now > 1 {
                heap.push((now, Reverse(term)));
            }
            continue;
        }
        // Lines 4 and 5.
        let is_chain = now as usize > shared.max;
        let mut with_term = Vec::with_capacity(now as usize);
        let mut rows = Rows::default();
        if is_chain {
            rows.ends.reserve(now as usize);
            rows.items.reserve(now as usize * mean_length);
        }
        let list = scratch.starts[term as usize] as usize..scratch.ends[term as usize] as usize;
        let Scratch { counts, ends, postings, gone, .. } = &mut *scratch;
        for some in postings[list].chunks(AHEAD) {
            // Without a branch: who is gone cannot be predicted.
            let (mut still, mut found) = ([0; AHEAD], 0);
            for &position in some {
                still[found] = position;
                found += usize::from(!std::mem::replace(&mut gone[position as usize], true));
            }
            ahead.clear();
            ahead.extend(still[..found].iter().map(|&position| row(position as usize)));
            with_term.extend(still[..found].iter().map(|&position| records[position as usize]));
            touch(&ahead);
            for &row in &ahead {
                for &item in row {
                    counts[item as usize] -= 1;
                }
                if is_chain {
                    let splits = |item: &&ItemId| **item != term && ends[**item as usize] > 0;
                    rows.items.extend(row.iter().filter(splits));
                    rows.ends.push(rows.items.len() as u32);
                }
            }
        }
        debug_assert_eq!(with_term.len(), now as usize);
        left -= with_term.len();
        if is_chain {
            let number = shared.next_chain.fetch_add(1, Ordering::Relaxed);
            parts.push(Part::Chain(number));
            spawn(Chain { number, records: with_term, rows: Some(rows) });
        } else {
            shared.progress.advance(with_term.len() as u64);
            parts.push(Part::Cluster(with_term));
        }
    }
    if left > 0 {
        let rest = records.iter().zip(&scratch.gone).filter(|(_, gone)| !**gone);
        parts.push(Part::Cluster(rest.map(|(&r, _)| r).collect()));
        shared.progress.advance(left as u64);
    }
    for item in scratch.touched.drain(..) {
        scratch.counts[item as usize] = 0;
        scratch.starts[item as usize] = 0;
        scratch.ends[item as usize] = 0;
    }
    parts
}

/// Rows that are fetched from memory at the same time.
const AHEAD: usize = 32;

/// Asks for the memory of all rows before any is worked on: they lie far from
/// each other, and one at a time the processor would wait for each.
fn touch(rows: &[&[ItemId]]) {
    let ends = rows.iter().flat_map(|row| [row.first(), row.last()]).flatten();
    std::hint::black_box(ends.fold(0, |sum: ItemId, item| sum.wrapping_add(*item)));
}

/// Counts the items of a chain and lists where they occur; gives the terms
/// that can split it, the most frequent first, ties by text. A term that one
/// record has brings nobody together and is passed over.
fn index<'r>(
    may_split: &[bool],
    len: usize,
    row: &impl Fn(usize) -> &'r [ItemId],
    scratch: &mut Scratch,
) -> BinaryHeap<(u32, Reverse<ItemId>)> {
    let Scratch { counts, starts, ends, touched, postings, gone } = scratch;
    for position in 0..len {
        for &item in row(position) {
            let count = &mut counts[item as usize];
            if *count == 0 {
                touched.push(item);
            }
            *count += 1;
        }
    }
    let mut end = 0;
    let mut heap = Vec::with_capacity(touched.len());
    for &item in &*touched {
        let count = counts[item as usize];
        if count > 1 && (count as usize) < len && may_split[item as usize] {
            heap.push((count, Reverse(item)));
            end += count;
            // Filled from the end: the start comes down to its place.
            starts[item as usize] = end;
            ends[item as usize] = end;
        }
    }
    postings.resize(end as usize, 0);
    for position in 0..len {
        for &item in row(position) {
            let start = &mut starts[item as usize];
            if *start > 0 {
                *start -= 1;
                postings[*start as usize] = position as u32;
            }
        }
    }
    gone.clear();
    gone.resize(len, false);
    heap.into()
}

/// The clusters in the order in which the paper's recursion reaches them.
fn depth_first(whole: Vec<Part>, mut chains: Vec<(usize, Vec<Part>)>) -> Vec<Vec<u32>> {
    chains.sort_unstable_by_key(|(number, _)| *number);
    let mut chains: Vec<Vec<Part>> = chains.into_iter().map(|(_, parts)| parts).collect();
    let mut clusters = Vec::new();
    let mut stack = vec![whole.into_iter()];
    while let Some(parts) = stack.last_mut() {
        match parts.next() {
            None => {
                stack.pop();
            }
            Some(Part::Cluster(records)) => clusters.push(records),
            Some(Part::Chain(number)) => {
                stack.push(std::mem::take(&mut chains[number]).into_iter())
            }
        }
    }
    clusters
}
