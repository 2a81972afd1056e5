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
use super::choose::{Chooser, Voter};
use super::elements::{Elements, NEVER};
use super::rows::Rows;
use crate::progress::Pulse;
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
    supports: &[u32],
    (k, m): (u32, u32),
    effort: Effort,
    progress: &dyn Progress,
) -> Result<(Rows, Vec<bool>)> {
    let mut kept = Vec::new();
    for size in m.min(2)..=m {
        if size > 2 {
            rows = rows.only(&kept);
        }
        rows.shorten(size, supports);
        let elements = Elements::new(&rows, supports.len(), (size, m), k, progress)?;
        let mut solver = Solver {
            kept: vec![true; rows.occurrences()],
            silent: Bits::new(rows.len()),
            rows: &rows,
            elements,
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

struct Solver<'a> {
    rows: &'a Rows,
    elements: Elements,
    kept: Vec<bool>,
    /// Rows that keep nothing so that others who do are not few.
    silent: Bits,
    k: u32,
    progress: &'a dyn Progress,
}

/// Records that choose at the same time: a sixteenth of all, but at least so many.
const BATCH: usize = 1 << 12;
/// Rows that one task works on.
const PIECE: usize = 256;
/// From k on, sets that are kept too rarely die in so many steps.
const STEPS: u32 = 8;
/// Sets are revived once more if that gave one in so many pairs.
const WORTH_IT: u64 = 2_000;

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
    fn fix(&mut self, threshold: u32) -> Result<()> {
        loop {
            let mut died = Vec::new();
            for id in 0..self.elements.len() {
                let count = self.elements.count(id as u32);
                if count < threshold && !self.elements.dead.get(id) {
                    self.elements.dead.set(id, true);
                    died.extend((count > 0).then_some(id as u32));
                }
            }
            if died.is_empty() {
                return Ok(());
            }
            let near = self.elements.homes(&died, self.rows);
            let near = near.unwrap_or_else(|| (0..self.rows.len() as u32).collect());
            let affected = self.keeping_dead(&near)?;
            self.choose(&affected)?;
        }
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

    fn members(&self, r: usize) -> Vec<usize> {
        let kept = &self.kept[self.rows.range(r)];
        (0..kept.len()).filter(|&p| kept[p]).collect()
    }

    /// Those of `rows` that keep a dead set.
    fn keeping_dead(&self, rows: &[u32]) -> Result<Vec<u32>> {
        let pieces: Vec<Vec<u32>> = rows
            .par_chunks(PIECE * 16)
            .map_init(Vec::new, |members, piece| {
                self.progress.step(0)?;
                let keeps = |r: &u32| {
                    let r = *r as usize;
                    self.elements.keeps_dead(r, &self.kept[self.rows.range(r)], members)
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
            let (this, k) = (&*self, self.k);
            let chosen: Vec<Vec<bool>> = batch
                .par_chunks(PIECE)
                .map_init(Chooser::default, |chooser, piece| {
                    this.progress.step(0)?;
                    let mut flat = Vec::new();
                    for &r in piece {
                        let r = r as usize;
                        let kept = &this.kept[this.rows.range(r)];
                        if this.silent.get(r) {
                            flat.extend(std::iter::repeat_n(false, kept.len()));
                            continue;
                        }
                        let (n, own) = (kept.len(), this.rows.weight(r));
                        chooser.choose(&this.elements, &Voter { row: r, n, own, kept }, k);
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
        batch.par_chunks(PIECE).zip(chosen).for_each(|(piece, flat)| {
            let mut rest = &flat[..];
            for &r in piece {
                let range = this.rows.range(r as usize);
                let (new, others) = rest.split_at(range.len());
                this.recount(r as usize, &this.kept[range], new);
                rest = others;
            }
        });
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

    fn recount(&self, r: usize, old: &[bool], new: &[bool]) {
        self.elements.recount(r, self.rows.weight(r), old, new);
    }

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
    fn revive(&mut self) -> Result<bool> {
        let before = (self.pairs(), self.kept.clone(), self.elements.dead.clone());
        let wishes = self.wishes()?;
        let mut tally = vec![0_u32; self.elements.len()];
        for &(r, _, id) in &wishes {
            tally[id as usize] += self.rows.weight(r as usize);
        }
        let mut any = false;
        for (id, &wanted) in tally.iter().enumerate() {
            if wanted >= self.k {
                self.elements.dead.set(id, false);
                any = true;
            }
        }
        if !any {
            return Ok(false);
        }
        let mut pulse = Pulse::new(self.progress);
        for of_row in wishes.chunk_by(|a, b| a.0 == b.0) {
            pulse.work(self.rows.row(of_row[0].0 as usize).len())?;
            self.grant(of_row, &tally);
        }
        self.fix(self.k)?;
        let after = self.pairs();
        if after > before.0 {
            return Ok(after - before.0 >= before.0 / WORTH_IT);
        }
        for r in 0..self.rows.len() {
            let range = self.rows.range(r);
            pulse.work(range.len())?;
            if self.kept[range.clone()] != before.1[range.clone()] {
                self.recount(r, &self.kept[range.clone()], &before.1[range]);
            }
        }
        (self.kept, self.elements.dead) = (before.1, before.2);
        Ok(false)
    }

    /// Rows, positions that they do not keep, and the only dead set in the way.
    fn wishes(&self) -> Result<Vec<(u32, u32, u32)>> {
        let all: Vec<u32> = (0..self.rows.len() as u32).collect();
        let pieces: Vec<Vec<(u32, u32, u32)>> = all
            .par_chunks(PIECE * 4)
            .map(|piece| {
                self.progress.step(0)?;
                let mut wishes = Vec::new();
                for &r in piece {
                    self.wishes_of(r, &mut wishes);
                }
                Ok(wishes)
            })
            .collect::<Result<_>>()?;
        Ok(pieces.concat())
    }

    fn wishes_of(&self, r: u32, wishes: &mut Vec<(u32, u32, u32)>) {
        let (row, members) = (r as usize, self.members(r as usize));
        let n = self.rows.row(row).len();
        for p in (0..n).filter(|p| members.binary_search(p).is_err()) {
            let (mut bars, mut bar) = (0_u32, NEVER);
            self.elements.places.each_with(n, p, &members, &mut |slot, _| {
                let id = self.elements.id(row, slot);
                if id == NEVER {
                    bars += 2;
                } else if self.elements.dead.get(id as usize) {
                    (bars, bar) = (bars + 1, id);
                }
            });
            if bars == 1 {
                wishes.push((r, p as u32, bar));
            }
        }
    }

    /// Gives a row what it wished for, as far as nothing dead comes with it.
    fn grant(&mut self, of_row: &[(u32, u32, u32)], tally: &[u32]) {
        let row = of_row[0].0 as usize;
        let range = self.rows.range(row);
        let mut new = self.kept[range.clone()].to_vec();
        for &(_, p, bar) in of_row {
            if tally[bar as usize] < self.k {
                continue;
            }
            let members: Vec<usize> = (0..new.len()).filter(|&q| new[q]).collect();
            let mut fits = true;
            self.elements.places.each_with(new.len(), p as usize, &members, &mut |slot, _| {
                fits &= !self.elements.is_dead(self.elements.id(row, slot));
            });
            new[p as usize] = fits;
        }
        self.recount(row, &self.kept[range.clone()], &new);
        self.kept[range].copy_from_slice(&new);
    }
}
