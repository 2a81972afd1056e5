//! One simple cluster: its sub-records and terms dealt to its records.

use rand_chacha::ChaCha8Rng;

use super::TermOccurrences;
use super::assemble::Dealt;
use super::cover::{Cover, Scratch};
use crate::release::SimpleCluster;
use crate::{Error, Result};

/// Completes a leaf; `dealt` holds the sub-records of shared chunks that it
/// has received, and receives its own.
pub(super) fn place<'a>(
    leaf: &'a SimpleCluster,
    dealt: &mut Dealt<'a>,
    (terms, k): (TermOccurrences, Option<u32>),
    scratch: &mut Scratch,
    rng: &mut ChaCha8Rng,
) -> Result<()> {
    let size = leaf.size as usize;
    let mut filled = vec![false; size];
    for (slot, items) in dealt.iter() {
        filled[slot as usize] |= !items.is_empty();
    }
    let parts: Vec<usize> = leaf.record_chunks.iter().map(|c| c.total() as usize).collect();
    let open = filled.iter().filter(|f| !**f).count();
    let uncovered = open.saturating_sub(parts.iter().sum());
    let cap = terms.cap(k, size, uncovered, leaf.term_chunk.len());
    let cover = Cover { filled, parts, terms: leaf.term_chunk.len(), cap };
    if !cover.feasible() {
        return Err(impossible(leaf));
    }
    let mut placement = cover.draw(scratch, rng).steps();
    for chunk in &leaf.record_chunks {
        let mut slots = placement.next().expect("a step a chunk").iter();
        for (items, count) in chunk.iter() {
            slots.by_ref().take(count as usize).for_each(|&slot| dealt.deal(slot, items));
        }
    }
    for (i, slots) in placement.enumerate() {
        let term = &leaf.term_chunk[i..=i];
        slots.iter().for_each(|&slot| dealt.deal(slot, term));
    }
    Ok(())
}

/// How many records only shared sub-records can fill.
pub(super) fn deficit(leaf: &SimpleCluster) -> usize {
    if !leaf.term_chunk.is_empty() {
        return 0;
    }
    let own: u64 = leaf.record_chunks.iter().map(|c| c.total()).sum();
    (leaf.size as usize).saturating_sub(own as usize)
}

pub(super) fn impossible(leaf: &SimpleCluster) -> Error {
    let chunks: Vec<String> = leaf.record_chunks.iter().map(|c| c.total().to_string()).collect();
    Error::Infeasible {
        what: format!(
            "no data set fits the release: a cluster of {} records has chunks of {} sub-records \
             and {} terms in its term chunk",
            leaf.size,
            if chunks.is_empty() { "no".to_owned() } else { chunks.join(", ") },
            leaf.term_chunk.len()
        ),
        hint: "verify tells what is wrong with the release".into(),
    }
}
