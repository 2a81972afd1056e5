//! One simple cluster: its sub-records and terms dealt to its records.

use rand_chacha::ChaCha8Rng;

use super::TermOccurrences;
use super::assemble::Records;
use super::cover::Cover;
use crate::data::ItemId;
use crate::release::SimpleCluster;
use crate::{Error, Result};

/// The records of a cluster while they are filled.
#[derive(Debug, Default)]
pub(super) struct Dealt {
    records: Vec<Vec<ItemId>>,
}

impl Dealt {
    pub(super) fn push_into(self, records: &mut Records) {
        self.records.into_iter().for_each(|record| records.push(record));
    }
}

/// Sub-records from shared chunks: the record they go to, and their items.
pub(super) type Received<'a> = (usize, &'a [ItemId]);

/// Completes a leaf that has received sub-records of shared chunks.
pub(super) fn place(
    leaf: &SimpleCluster,
    received: &[Received],
    terms: TermOccurrences,
    k: Option<u32>,
    rng: &mut ChaCha8Rng,
) -> Result<Dealt> {
    let size = leaf.size as usize;
    let mut records = vec![Vec::new(); size];
    for &(slot, items) in received {
        records[slot].extend_from_slice(items);
    }
    let parts: Vec<usize> = leaf.record_chunks.iter().map(|c| c.total() as usize).collect();
    let filled: Vec<bool> = records.iter().map(|r| !r.is_empty()).collect();
    let open = filled.iter().filter(|f| !**f).count();
    let uncovered = open.saturating_sub(parts.iter().sum());
    let cap = terms.cap(k, size, uncovered, leaf.term_chunk.len());
    let cover = Cover { filled, parts, terms: leaf.term_chunk.len(), cap };
    if !cover.feasible() {
        return Err(impossible(leaf));
    }
    let placement = cover.draw(rng);
    for (chunk, slots) in leaf.record_chunks.iter().zip(&placement.parts) {
        let mut slots = slots.iter();
        for (items, count) in chunk.iter() {
            for &slot in slots.by_ref().take(count as usize) {
                records[slot].extend_from_slice(items);
            }
        }
    }
    for (&term, slots) in leaf.term_chunk.iter().zip(&placement.terms) {
        slots.iter().for_each(|&slot| records[slot].push(term));
    }
    Ok(Dealt { records })
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
        hint: "see `setveil verify`".into(),
    }
}
