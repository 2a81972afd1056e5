//! What all records keep together: every set of 1 to m items is kept k times
//! or not at all.
//!
//! Every record starts with all of its candidates. Sets that are kept too
//! rarely die, the weakest first, and whoever keeps a dead set chooses again;
//! sets only die, so this ends. Then dead sets that k records would take back at
//! once are revived, as long as more pairs are kept. For m above 2 this is done
//! for sets of 2, then 3 and so on, each time on what is left.
//!
//! Records choose in batches of a fixed number, all from the same counts, so
//! that neither threads nor the order of rows matter.

use rayon::prelude::*;

use super::bits::Bits;
use super::choose::{Chooser, Voter, Worth};
use super::elements::Elements;
use super::rows::Rows;
use super::store::Block;
use crate::data::Wanted;
use crate::{Progress, Result};

/// How far a solution is improved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// How often dead sets are revived.
    pub(super) revivals: u32,
    /// Whether leaves are published: then none or at least k records of a leaf
    /// keep nothing (rule B).
    pub(super) leaves: bool,
}

/// Which occurrences the rows keep, for sets of 1 to m items.
///
/// # Complexity
/// Linear in the subsets of at most m items of the rows, times the rounds:
/// on all data that was measured, a row chooses two or three times.
pub(super) fn solve(
    mut rows: Rows,
    priorities: &[u32],
    (k, m): (u32, u32),
    wanted: &Wanted,
    effort: Effort,
    progress: &dyn Progress,
) -> Result<(Rows, Vec<bool>)> {
    let mut kept = Vec::new();
    for size in m.min(2)..=m {
        if size > 2 {
            rows = rows.only(&kept);
        }
        rows.shorten(size, priorities);
        let elements = Elements::new(&rows, priorities.len(), (size, m), k, progress)?;
        let mut solver = Solver {
            kept: vec![true; rows.occurrences()],
            silent: Bits::new(rows.len()),
            rows: &rows,
            elements,
            floor: 0,
            fallen: Vec::new(),
            worth: Worth::new(k),
            wanted,
            k,
            progress,
        };
        solver.run(effort)?;
        if size == m && effort.leaves {
            solver.join_the_bare()?;
        }
        kept = solver.kept;
    }
    Ok((rows, kept))
}

pub(super) struct Solver<'a> {
    pub(super) rows: &'a Rows,
    pub(super) elements: Elements,
    pub(super) kept: Vec<bool>,
    /// Rows that keep nothing so that others who do are not few.
    silent: Bits,
    /// Sets that fell below this since the last look.
    floor: u32,
    fallen: Vec<u32>,
    worth: Worth,
    wanted: &'a Wanted,
    pub(super) k: u32,
    pub(super) progress: &'a dyn Progress,
}

/// Records that choose at the same time: a sixteenth of all, but at least so many.
const BATCH: usize = 1 << 12;
/// Rows that one task works on.
pub(super) const PIECE: usize = 256;
/// Sets that one task looks at.
const SUSPECTS: usize = 1 << 14;
/// From k on, sets that are kept too rarely die in so many steps.
const STEPS: u32 = 8;

impl Solver<'_> {
    fn run(&mut self, effort: Effort) -> Result<()> {
        let all: Vec<u32> = (0..self.rows.len() as u32).collect();
        let barred = self.keeping_dead(&all)?;
        self.choose(&barred)?;
        let steps = STEPS.min(self.k);
        for step in 1..=steps {
            let threshold = (u64::from(self.k) * u64::from(step)).div_ceil(u64::from(steps));
            self.fix(threshold as u32)?;
        }
        for _ in 0..effort.revivals {
            if !self.revive()? {
                break;
            }
        }
        Ok(())
    }

    /// Lets everything die that is kept fewer than `threshold` times, until
    /// nothing more does.
    pub(super) fn fix(&mut self, threshold: u32) -> Result<()> {
        self.floor = threshold;
        let all = (0..self.elements.len() as u32).into_par_iter().with_min_len(SUSPECTS);
        let mut died: Vec<u32> = all.filter(|&id| self.elements.dies(id, threshold)).collect();
        while !died.is_empty() {
            self.fallen.clear();
            let mut affected = self.elements.keepers(&died, self.rows, &self.kept);
            if !self.elements.exact {
                affected = self.keeping_dead(&affected)?;
            }
            self.choose(&affected)?;
            died = std::mem::take(&mut self.fallen);
            died.retain(|&id| self.elements.dies(id, threshold));
        }
        Ok(())
    }

    /// Lets more records keep nothing where 1 to k - 1 of a leaf do. Rows only
    /// fall silent, so this ends.
    fn join_the_bare(&mut self) -> Result<()> {
        loop {
            let leaves = 0..self.rows.leaf_count();
            let more: Vec<u32> = leaves.flat_map(|l| self.joining(l)).collect();
            if more.is_empty() {
                return Ok(());
            }
            more.iter().for_each(|&r| self.silent.set(r as usize, true));
            self.choose(&more)?;
            self.fix(self.k)?;
        }
    }

    /// The rows of a leaf that should keep nothing: those that keep least.
    fn joining(&self, l: usize) -> Vec<u32> {
        let keeps = |r: usize| self.kept[self.rows.range(r)].iter().filter(|kept| **kept).count();
        let weight = |r: usize| u64::from(self.rows.weight(r));
        let mut bare: u64 = self.rows.leaf(l).filter(|&r| keeps(r) == 0).map(weight).sum();
        let mut joining = Vec::new();
        if bare > 0 && bare < u64::from(self.k) {
            let mut others: Vec<usize> = self.rows.leaf(l).filter(|&r| keeps(r) > 0).collect();
            others.sort_by_key(|&r| (keeps(r), r));
            for r in others {
                if bare >= u64::from(self.k) {
                    break;
                }
                bare += weight(r);
                joining.push(r as u32);
            }
        }
        joining
    }

    pub(super) fn members(&self, r: usize) -> Vec<usize> {
        let kept = &self.kept[self.rows.range(r)];
        (0..kept.len()).filter(|&p| kept[p]).collect()
    }

    /// Those of `rows` that keep a dead set.
    fn keeping_dead(&self, rows: &[u32]) -> Result<Vec<u32>> {
        let pieces: Vec<Vec<u32>> = rows
            .par_chunks(PIECE * 16)
            .map_init(Default::default, |(block, members): &mut (Block, Vec<usize>), piece| {
                self.progress.step(0)?;
                let keeps = |r: &u32| {
                    let r = *r as usize;
                    self.elements.read(self.rows, r, block);
                    self.elements.keeps_dead(&block.ids, &self.kept[self.rows.range(r)], members)
                };
                Ok(piece.iter().copied().filter(keeps).collect())
            })
            .collect::<Result<_>>()?;
        Ok(pieces.concat())
    }

    /// Lets `rows` choose, batch by batch.
    fn choose(&mut self, rows: &[u32]) -> Result<()> {
        let batch = BATCH.max(self.rows.len() / 16);
        for batch in rows.chunks(batch) {
            let this = &*self;
            let chosen: Vec<Vec<bool>> = batch
                .par_chunks(PIECE)
                .map_init(Default::default, |(chooser, block): &mut (Chooser, Block), piece| {
                    this.progress.step(0)?;
                    let mut flat = Vec::new();
                    for &r in piece {
                        let r = r as usize;
                        let kept = &this.kept[this.rows.range(r)];
                        if this.silent.get(r) {
                            flat.extend(std::iter::repeat_n(false, kept.len()));
                            continue;
                        }
                        this.elements.read(this.rows, r, block);
                        let (items, own) = (this.rows.row(r), this.rows.weight(r));
                        let voter = Voter { items, ids: &block.ids, own, kept };
                        chooser.choose(&this.elements, &voter, &this.worth, this.wanted);
                        flat.extend_from_slice(&chooser.kept);
                    }
                    Ok(flat)
                })
                .collect::<Result<_>>()?;
            self.apply(batch, &chosen);
        }
        Ok(())
    }

    /// Takes over what the rows of a batch chose.
    fn apply(&mut self, batch: &[u32], chosen: &[Vec<bool>]) {
        let this = &*self;
        let fallen = batch.par_chunks(PIECE).zip(chosen).map_init(Block::default, |block, pair| {
            let (piece, mut rest, mut fallen) = (pair.0, &pair.1[..], Vec::new());
            for &r in piece {
                let range = this.rows.range(r as usize);
                let (new, others) = rest.split_at(range.len());
                this.recount(r as usize, (&this.kept[range], new), block, &mut fallen);
                rest = others;
            }
            fallen
        });
        let fallen: Vec<Vec<u32>> = fallen.collect();
        self.fallen.extend(fallen.into_iter().flatten());
        for (piece, flat) in batch.chunks(PIECE).zip(chosen) {
            let mut rest = &flat[..];
            for &r in piece {
                let range = self.rows.range(r as usize);
                let (new, others) = rest.split_at(range.len());
                self.kept[range].copy_from_slice(new);
                rest = others;
            }
        }
    }

    /// Moves the counts from what row `r` kept to what it keeps.
    pub(super) fn recount(
        &self,
        r: usize,
        change: (&[bool], &[bool]),
        block: &mut Block,
        fallen: &mut Vec<u32>,
    ) {
        if change.0 != change.1 {
            self.elements.read(self.rows, r, block);
            let floor = (self.floor, fallen);
            self.elements.recount(&block.ids, self.rows.weight(r), change, floor);
        }
    }
}
