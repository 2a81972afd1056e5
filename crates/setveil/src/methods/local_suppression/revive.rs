//! Dead sets that k records would take back at once are revived.

use rayon::prelude::*;

use super::elements::NEVER;
use super::solve::{PIECE, Solver};
use super::store::Block;
use crate::Result;
use crate::progress::Pulse;

/// Sets are revived once more if that gave one in so many pairs.
const WORTH_IT: u64 = 2_000;

impl Solver<'_> {
    /// The pairs that are kept.
    fn pairs(&self) -> u64 {
        let pairs = |r: usize| {
            let n = self.kept[self.rows.range(r)].iter().filter(|k| **k).count() as u64;
            n * n.saturating_sub(1) / 2 * u64::from(self.rows.weight(r))
        };
        (0..self.rows.len()).into_par_iter().map(pairs).sum()
    }

    /// Revives dead sets that k records would take back at once, gives them
    /// back, and lets die what is then too rare. If no more pairs are kept,
    /// nothing is changed. Whether so many more are that it pays to go on.
    pub(super) fn revive(&mut self) -> Result<bool> {
        let before = (self.pairs(), self.kept.clone(), self.elements.dead());
        let wishes = self.wishes()?;
        let mut tally = vec![0_u32; self.elements.len()];
        for &(r, _, id) in &wishes {
            tally[id as usize] += self.rows.weight(r as usize);
        }
        let mut any = false;
        for (id, &wanted) in tally.iter().enumerate() {
            if wanted >= self.k {
                self.elements.set_dead(id as u32, false);
                any = true;
            }
        }
        if !any {
            return Ok(false);
        }
        let mut pulse = Pulse::new(self.progress);
        let mut block = Block::default();
        for of_row in wishes.chunk_by(|a, b| a.0 == b.0) {
            pulse.work(self.rows.row(of_row[0].0 as usize).len())?;
            self.grant(of_row, &tally, &mut block);
        }
        self.fix(self.k)?;
        let after = self.pairs();
        if after > before.0 {
            return Ok(after - before.0 >= before.0 / WORTH_IT);
        }
        for r in 0..self.rows.len() {
            let range = self.rows.range(r);
            pulse.work(range.len())?;
            let change = (&self.kept[range.clone()], &before.1[range]);
            self.recount(r, change, &mut block, &mut Vec::new());
        }
        self.kept = before.1;
        (0..self.elements.len()).for_each(|id| self.elements.set_dead(id as u32, before.2.get(id)));
        Ok(false)
    }

    /// Rows, positions that they do not keep, and the only dead set in the way.
    fn wishes(&self) -> Result<Vec<(u32, u32, u32)>> {
        let all: Vec<u32> = (0..self.rows.len() as u32).collect();
        let pieces: Vec<Vec<(u32, u32, u32)>> = all
            .par_chunks(PIECE * 4)
            .map_init(Block::default, |block, piece| {
                self.progress.step(0)?;
                let mut wishes = Vec::new();
                for &r in piece {
                    self.wishes_of(r, block, &mut wishes);
                }
                Ok(wishes)
            })
            .collect::<Result<_>>()?;
        Ok(pieces.concat())
    }

    fn wishes_of(&self, r: u32, block: &mut Block, wishes: &mut Vec<(u32, u32, u32)>) {
        let (row, members) = (r as usize, self.members(r as usize));
        let n = self.rows.row(row).len();
        if members.len() == n {
            return;
        }
        self.elements.read(self.rows, row, block);
        for p in (0..n).filter(|p| members.binary_search(p).is_err()) {
            let (mut bars, mut bar) = (0_u32, NEVER);
            self.elements.places.each_with(n, p, &members, &mut |slot, _| {
                let id = block.ids[slot];
                if id == NEVER {
                    bars += 2;
                } else if self.elements.is_dead(id) {
                    (bars, bar) = (bars + 1, id);
                }
            });
            if bars == 1 {
                wishes.push((r, p as u32, bar));
            }
        }
    }

    /// Gives a row what it wished for, as far as nothing dead comes with it.
    fn grant(&mut self, of_row: &[(u32, u32, u32)], tally: &[u32], block: &mut Block) {
        let row = of_row[0].0 as usize;
        self.elements.read(self.rows, row, block);
        let range = self.rows.range(row);
        let mut new = self.kept[range.clone()].to_vec();
        for &(_, p, bar) in of_row {
            if tally[bar as usize] < self.k {
                continue;
            }
            let members: Vec<usize> = (0..new.len()).filter(|&q| new[q]).collect();
            let mut fits = true;
            self.elements.places.each_with(new.len(), p as usize, &members, &mut |slot, _| {
                fits &= !self.elements.is_dead(block.ids[slot]);
            });
            new[p as usize] = fits;
        }
        self.recount(row, (&self.kept[range.clone()], &new), block, &mut Vec::new());
        self.kept[range].copy_from_slice(&new);
    }
}
