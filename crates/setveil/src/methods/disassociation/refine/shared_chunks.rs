//! The shared chunks of a joint cluster: each leaf is projected on the shared
//! terms that stand in its own term chunk.

use super::join::{Joiner, Scratch};
use crate::Result;
use crate::data::ItemId;
use crate::methods::disassociation::VerticalPartitioning;
use crate::progress::Pulse;
use crate::release::Bag;

impl<V: VerticalPartitioning> Joiner<'_, V> {
    /// Makes the chunks; `used` are the terms of chunks below.
    pub(super) fn shared_chunks(
        &self,
        used: &[ItemId],
        scratch: &mut Scratch,
        pulse: &mut Pulse,
    ) -> Result<Vec<Bag>> {
        let Scratch { candidates, chunker, .. } = scratch;
        let mut chunks = Vec::new();
        chunker.clear();
        for candidate in candidates.iter_mut().filter(|c| !c.stays) {
            let (item, support) = (candidate.item, candidate.support);
            if used.binary_search(&item).is_ok() {
                // Corrected Property 1: what stands in a chunk below is alone in its chunk.
                let mut alone = Bag::default();
                alone.push(&[item], support);
                chunks.push(alone);
            } else {
                candidate.in_chunker = chunker.push_term(item, support) + 1;
            }
        }
        if chunker.is_empty() {
            return Ok(chunks);
        }
        self.find_records(scratch, pulse)?;
        chunks.extend(self.vertical.share(&mut scratch.chunker, self.k, self.m, self.progress)?);
        Ok(chunks)
    }

    /// Gives the chunker the records that have terms of their leaf's term
    /// chunk which may share a chunk.
    fn find_records(&self, scratch: &mut Scratch, pulse: &mut Pulse) -> Result<()> {
        let Scratch { candidates, givers, gifts, table, chunker } = scratch;
        for giver in &*givers {
            let own =
                || gifts[giver.gifts.clone()].iter().map(|g| &candidates[g.candidate as usize]);
            let free = || own().filter(|candidate| candidate.in_chunker > 0);
            if free().next().is_none() {
                continue;
            }
            free().for_each(|candidate| table[candidate.item as usize] = candidate.in_chunker);
            for record in self.leaves.records(giver.leaf) {
                let numbers = record.iter().map(|&item| table[item as usize]);
                chunker.push_record(numbers.filter(|&number| number > 0).map(|number| number - 1));
                pulse.work(record.len())?;
            }
            free().for_each(|candidate| table[candidate.item as usize] = 0);
        }
        Ok(())
    }
}
