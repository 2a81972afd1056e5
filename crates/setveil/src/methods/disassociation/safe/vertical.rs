//! The chunks of one cluster: what its supports force together, and what is
//! together far too often for chance.
//!
//! Invariants, on which the promise rests (`docs/safe.md` has the proofs): the
//! release of a cluster is the same for every placement of its chunks in which
//! no pair across chunks reaches its threshold; and whatever is decided from
//! more than supports shows in the chunks.

use super::Rule;
use super::columns::Columns;
use super::links::{self, Thresholds};
use super::tails::Tails;
use super::units::certified;
use super::witness::Witnesses;
use crate::Result;
use crate::data::ItemId;
use crate::methods::disassociation::ChunkedCluster;
use crate::progress::Progress;
use crate::release::SimpleCluster;

/// With more terms than this, those of all records left out, nothing is linked:
/// there would be too many pairs. Supports alone decide, so it tells nothing.
const MOST_TERMS: usize = 2_048;

/// Arrays that are used again from cluster to cluster.
#[derive(Debug, Default)]
pub struct Scratch {
    counts: Vec<u32>,
    /// Per item of the cluster: its number among the columns, counted from 1.
    index: Vec<u32>,
    present: Vec<ItemId>,
    columns: Columns,
    tails: Tails,
}

/// How the chunks of a cluster came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// From supports alone.
    Supports,
    /// Units were linked, and every set has a witness.
    Links,
    /// Units were or could have been linked, but some set had no witness: the
    /// units are published.
    NoWitness,
    /// The cluster would have had too few sub-records: one chunk was kept.
    OneChunk,
}

/// Splits the records of a cluster into chunks.
///
/// # Errors
/// If `progress` says stop.
pub(super) fn split(
    scratch: &mut Scratch,
    records: &[&[ItemId]],
    rule: Rule,
    progress: &dyn Progress,
) -> Result<(ChunkedCluster, Basis)> {
    let n = records.len() as u32;
    let (mut term_chunk, terms) = count(scratch, records, rule.k);
    let Scratch { index, columns, tails, .. } = scratch;
    columns.fill(records, &terms, |item| (index[item as usize] as usize).checked_sub(1));
    for term in &terms {
        index[term.0 as usize] = 0;
    }
    // Terms of all records are with everything.
    let full = columns.supports.partition_point(|&s| s == n);
    let mut units = certified(&columns.supports[full..], n, rule.k, rule.m);
    units.iter_mut().flatten().for_each(|t| *t += full);
    let (mut chunks, basis) = if full == 0 {
        strict_lemma_2(columns, units, &mut term_chunk, rule)
    } else {
        link(columns, units, tails, rule, progress)?
    };
    if full > 0 {
        // The terms of all records go where most occurrences are.
        let weight = |chunk: &Vec<usize>| -> u64 {
            chunk.iter().map(|&t| u64::from(columns.supports[t])).sum()
        };
        let heaviest = (0..chunks.len()).rev().max_by_key(|&c| weight(&chunks[c]));
        match heaviest {
            Some(c) => chunks[c].extend(0..full),
            None => chunks.push((0..full).collect()),
        }
    }
    let record_chunks = chunks.iter().map(|chunk| columns.bag(chunk)).collect();
    let (term_chunk, supports) = term_chunk.into_iter().unzip();
    let cluster = SimpleCluster { size: n, record_chunks, term_chunk };
    Ok((ChunkedCluster { cluster, supports }, basis))
}

/// A term with its support in the cluster.
type Counted = (ItemId, u32);

/// The terms of fewer than k records, by text, and the others by falling
/// support, ties by text; these are numbered in `index`.
fn count(scratch: &mut Scratch, records: &[&[ItemId]], k: u32) -> (Vec<Counted>, Vec<Counted>) {
    // The records ascend, so the last item tells how long the arrays must be.
    let items = records.iter().filter_map(|r| r.last()).max().map_or(0, |&i| i as usize + 1);
    let Scratch { counts, index, present, .. } = scratch;
    counts.resize(items.max(counts.len()), 0);
    index.resize(items.max(index.len()), 0);
    present.clear();
    for &item in records.iter().copied().flatten() {
        if counts[item as usize] == 0 {
            present.push(item);
        }
        counts[item as usize] += 1;
    }
    present.sort_unstable();
    let counted = present.iter().map(|&item| (item, std::mem::take(&mut counts[item as usize])));
    let (rare, mut terms): (Vec<Counted>, Vec<Counted>) = counted.partition(|t| t.1 < k);
    terms.sort_by_key(|t| std::cmp::Reverse(t.1));
    for (number, term) in (1..).zip(&terms) {
        index[term.0 as usize] = number;
    }
    (rare, terms)
}

/// Without a term of all records: the units, if there are enough sub-records
/// that k records can take several at once and none stays empty. A term of the
/// term chunk is sure to fill one record and no more.
fn strict_lemma_2(
    columns: &Columns,
    mut units: Vec<Vec<usize>>,
    term_chunk: &mut Vec<Counted>,
    rule: Rule,
) -> (Vec<Vec<usize>>, Basis) {
    let covered: Vec<u32> = units.iter().map(|unit| columns.covered(unit)).collect();
    let subrecords: u64 = covered.iter().map(|&c| u64::from(c)).sum();
    let together = (units.len() as u64).min(rule.m.into()).saturating_sub(1);
    let needed = u64::from(columns.n) + u64::from(rule.k) * together;
    if units.len() < 2 || subrecords + term_chunk.len() as u64 >= needed {
        return (units, Basis::Supports);
    }
    let most = (0..units.len()).rev().max_by_key(|&u| covered[u]).expect("two units");
    let kept = units.swap_remove(most);
    let others = units.iter().flatten().map(|&t| (columns.items[t], columns.supports[t]));
    term_chunk.extend(others);
    term_chunk.sort_unstable();
    (vec![kept], Basis::OneChunk)
}

/// With a term of all records: units that meet too often for chance come
/// together, unless that would rule some set out.
fn link(
    columns: &Columns,
    units: Vec<Vec<usize>>,
    tails: &mut Tails,
    rule: Rule,
    progress: &dyn Progress,
) -> Result<(Vec<Vec<usize>>, Basis)> {
    if units.len() < 2 || units.iter().map(Vec::len).sum::<usize>() > MOST_TERMS {
        return Ok((units, Basis::Supports));
    }
    let thresholds = &Thresholds::new(columns.n, &columns.supports, &units, rule, tails);
    let linked: Vec<Vec<usize>> = links::chunks(columns, &units, thresholds, rule, progress)?
        .into_iter()
        .map(|members| {
            let mut terms: Vec<usize> =
                members.into_iter().flat_map(|u| units[u].iter().copied()).collect();
            terms.sort_unstable();
            terms
        })
        .collect();
    let none = linked.len() == units.len();
    let witnesses =
        |chunks: &[Vec<usize>]| Witnesses { columns, thresholds, rule, chunks }.exist(progress);
    // Whether units may be linked at all is decided from the units alone: where
    // they are published because nothing was linked, their sets need witnesses.
    if !witnesses(&units)? {
        return Ok((units, Basis::NoWitness));
    }
    if none {
        return Ok((units, Basis::Links));
    }
    let found = witnesses(&linked)?;
    Ok(if found { (linked, Basis::Links) } else { (units, Basis::NoWitness) })
}
