//! From drawn sub-records to a data set.

use crate::data::{Dataset, ItemId, Vocabulary};

/// Records one after the other.
#[derive(Debug, Default)]
pub(super) struct Records {
    ends: Vec<usize>,
    items: Vec<ItemId>,
}

impl Records {
    /// Adds a record of distinct items in any order.
    pub(super) fn push(&mut self, items: impl IntoIterator<Item = ItemId>) {
        let start = self.items.len();
        self.items.extend(items);
        self.items[start..].sort_unstable();
        self.ends.push(self.items.len());
    }

    /// Adds `count` records made of what was dealt to them.
    pub(super) fn push_dealt(&mut self, dealt: &mut Dealt, count: usize) {
        // Stable, so that equal seeds give equal records whatever sorts.
        dealt.0.sort_by_key(|piece| piece.0);
        let mut rest = dealt.0.as_slice();
        for slot in 0..count as u32 {
            let mine = rest.iter().take_while(|piece| piece.0 == slot).count();
            let (pieces, others) = rest.split_at(mine);
            self.push(pieces.iter().flat_map(|piece| piece.1.iter().copied()));
            rest = others;
        }
        dealt.0.clear();
    }
}

/// Sub-records and terms, each with the slot that it goes to.
#[derive(Debug, Default)]
pub(super) struct Dealt<'a>(Vec<(u32, &'a [ItemId])>);

impl<'a> Dealt<'a> {
    /// Deals `items` to a slot.
    pub(super) fn deal(&mut self, slot: u32, items: &'a [ItemId]) {
        self.0.push((slot, items));
    }

    /// What was dealt so far.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &'a [ItemId])> {
        self.0.iter().copied()
    }
}

/// Puts pieces together. Labels that no record uses are left out, as a
/// [`Dataset`] asks for.
pub(super) fn assemble(vocabulary: &Vocabulary, pieces: Vec<Records>) -> Dataset {
    let mut used = vec![false; vocabulary.len()];
    for piece in &pieces {
        piece.items.iter().for_each(|&i| used[i as usize] = true);
    }
    let mut renumber = vec![0; vocabulary.len()];
    let mut labels = Vec::new();
    for (i, _) in used.iter().enumerate().filter(|(_, u)| **u) {
        renumber[i] = labels.len() as ItemId;
        labels.push(vocabulary.label(i as ItemId));
    }
    let records: usize = pieces.iter().map(|p| p.ends.len()).sum();
    let mut offsets = Vec::with_capacity(records + 1);
    let mut items = Vec::with_capacity(pieces.iter().map(|p| p.items.len()).sum());
    offsets.push(0);
    // One piece after the other is given back.
    for piece in pieces {
        let base = items.len();
        items.extend(piece.items.iter().map(|&i| renumber[i as usize]));
        offsets.extend(piece.ends.iter().map(|&end| base + end));
    }
    Dataset::from_parts(Vocabulary::from_sorted(labels), offsets, items)
}
