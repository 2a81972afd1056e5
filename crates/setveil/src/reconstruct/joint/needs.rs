//! Leaves that only shared sub-records can fill. Lemma 2 leaves none in a
//! release that verifies; others may have them.

use std::collections::VecDeque;

use super::chunk::Placed;
use super::tree::Tree;
use super::{WORK, too_much};
use crate::Result;

/// Sub-records given to leaves that need them, and the kinds they are of.
struct Gifts<'t, 'a> {
    tree: &'t Tree<'a>,
    /// Chunk and number of each kind.
    kinds: Vec<(usize, usize)>,
    /// Of each kind, how many are not given away.
    left: Vec<u32>,
    /// Per leaf, the kinds it was given.
    given: Vec<Vec<usize>>,
    work: u64,
}

/// Gives each leaf as many sub-records as it needs, in slots of their own: a
/// flow along shortest augmenting paths. None if it cannot be done.
pub(super) fn serve(tree: &Tree, needs: &[usize]) -> Result<Option<Vec<Placed>>> {
    let numbered = |(c, kinds): (usize, &Vec<_>)| (0..kinds.len()).map(move |i| (c, i));
    let kinds: Vec<(usize, usize)> = tree.chunks.iter().enumerate().flat_map(numbered).collect();
    let left = kinds.iter().map(|&(c, i)| tree.chunks[c][i].count).collect();
    let given = vec![Vec::new(); tree.leaves.len()];
    let mut gifts = Gifts { tree, kinds, left, given, work: WORK };
    for (l, &need) in needs.iter().enumerate() {
        for _ in 0..need {
            if !gifts.one_more(l)? {
                return Ok(None);
            }
        }
    }
    Ok(Some(gifts.placed()))
}

impl Gifts<'_, '_> {
    fn may_take(&self, leaf: usize, kind: usize) -> bool {
        let (c, i) = self.kinds[kind];
        let takers = self.tree.takers(&self.tree.chunks[c][i]);
        let at = takers.partition_point(|r| r.end as usize <= leaf);
        takers.get(at).is_some_and(|r| r.start as usize <= leaf)
    }

    fn spend(&mut self, steps: usize) -> Result<()> {
        let left = self.work.checked_sub(steps as u64);
        self.work = left.ok_or_else(|| too_much("steps to fill records"))?;
        Ok(())
    }

    /// Finds one more for `leaf`, taking from others what they can replace.
    fn one_more(&mut self, leaf: usize) -> Result<bool> {
        // Per kind the leaf that asked for it first, and per leaf the kind that
        // it would have to give away.
        let mut asked: Vec<Option<usize>> = vec![None; self.kinds.len()];
        let mut gives: Vec<Option<usize>> = vec![None; self.given.len()];
        let mut queue = VecDeque::from([leaf]);
        while let Some(l) = queue.pop_front() {
            self.spend(self.kinds.len())?;
            for kind in 0..self.kinds.len() {
                if asked[kind].is_some() || !self.may_take(l, kind) {
                    continue;
                }
                asked[kind] = Some(l);
                if self.left[kind] > 0 {
                    self.left[kind] -= 1;
                    self.hand_on(leaf, kind, &asked, &gives);
                    return Ok(true);
                }
                self.spend(self.given.iter().map(Vec::len).sum())?;
                for other in (0..self.given.len()).filter(|&other| other != leaf) {
                    if gives[other].is_none() && self.given[other].contains(&kind) {
                        gives[other] = Some(kind);
                        queue.push_back(other);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Gives `kind` to the leaf that asked for it, which gives away what the
    /// leaf before it asked for, and so on to `leaf`.
    fn hand_on(
        &mut self,
        leaf: usize,
        mut kind: usize,
        asked: &[Option<usize>],
        gives: &[Option<usize>],
    ) {
        loop {
            let taker = asked[kind].expect("somebody asked for it");
            self.given[taker].push(kind);
            if taker == leaf {
                return;
            }
            kind = gives[taker].expect("it was reached by what it gives away");
            let at = self.given[taker].iter().position(|&k| k == kind).expect("it was given it");
            self.given[taker].swap_remove(at);
        }
    }

    /// One slot after the other of each leaf, in the order of the chunks.
    fn placed(&self) -> Vec<Placed> {
        let mut placed: Vec<Placed> = Vec::new();
        for (l, kinds) in self.given.iter().enumerate() {
            for (slot, &kind) in (self.tree.starts[l]..).zip(kinds) {
                let (c, i) = self.kinds[kind];
                placed.push((c, i as u32, slot));
            }
        }
        placed.sort_unstable();
        placed
    }
}
