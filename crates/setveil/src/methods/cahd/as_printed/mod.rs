//! CAHD's group formation as the paper has it (cahd-2008, section IV, Fig. 8):
//! each sensitive record is grouped with the p - 1 most similar records nearby
//! that share no sensitive item with it or with each other.
//!
//! It tells who: the order of the records can be computed by anybody, so the
//! member of a group that would have chosen the others is the holder. For
//! comparison and for the paper's figures only; see [`blind`](super::blind).
//!
//! Invariant, before and after every group: each sensitive item is in at most
//! 1/p of the records that remain, and p or more records remain, or none. So
//! what is left at the end is itself a group of degree p.

mod histogram;
mod remaining;

use histogram::Histogram;
use remaining::Remaining;

use crate::methods::sensitive::{Rows, Split};
use crate::{Progress, Result, Stage};

/// On either side, at most this many times alpha * p conflicting records are
/// passed over; beyond them only records without sensitive items are looked at.
const PASSED: usize = 16;
/// A pass that groups fewer than one in so many of its records is the last.
const WORTHWHILE: usize = 64;

/// Groups the rows of `split`, which stand in the band matrix in `order`.
/// The caller has checked that degree `p` is feasible.
///
/// # Deviations
/// - Line 8 of Fig. 8 compares with what remains *after* the group,
///   H\[s\] * p <= remaining - |G|: with the printed test the last group can
///   miss the degree.
/// - A rolled-back record is put aside until the next pass; the printed loop
///   would try it again for ever. The last pass is the one that forms no
///   group, or so few that the passes together would no longer be linear.
/// - While an item has so many occurrences left that every further group must
///   hold one of them, a group takes the candidate that holds it: the printed
///   algorithm would roll back, and the last group would grow.
/// - Of candidates with as many items in common the one with fewer other items
///   goes first, then the nearer one.
/// - A group is not formed if fewer than p records, but not none, would remain.
pub(super) fn group(
    split: &Split,
    order: &[u32],
    p: usize,
    alpha: usize,
    columns: usize,
    progress: &dyn Progress,
) -> Result<Rows> {
    let mut grouping = Grouping::new(split, order, p, alpha, columns);
    let is_sensitive = |&place: &usize| !grouping.sensitive_of(place).is_empty();
    let mut waiting: Vec<usize> = (0..order.len()).filter(is_sensitive).collect();
    progress.stage(Stage::Grouping, Some(waiting.len() as u64));
    loop {
        let tried = waiting.len();
        let formed = grouping.groups.len();
        let mut aside = Vec::new();
        for pivot in waiting {
            progress.step(1)?;
            if !grouping.taken[pivot] && !grouping.form(pivot) {
                aside.push(pivot);
            }
        }
        aside.retain(|&place| !grouping.taken[place]);
        let formed = grouping.groups.len() - formed;
        if aside.is_empty() || formed == 0 || formed * WORTHWHILE < tried {
            break;
        }
        waiting = aside;
    }
    Ok(grouping.finish())
}

/// A record that may join the group of the pivot, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// Must be in the group, or an item could no longer be hidden.
    optional: bool,
    /// How many items of the pivot it does not have.
    missing: usize,
    /// How many items it has.
    length: usize,
    distance: usize,
    place: usize,
}

struct Grouping<'a> {
    split: &'a Split,
    order: &'a [u32],
    p: usize,
    reach: usize,
    /// The places with and without sensitive items that are not grouped yet.
    sensitive: Remaining,
    plain: Remaining,
    taken: Vec<bool>,
    histogram: Histogram,
    /// The pivot for which a sensitive item stands in the candidate list, an item in the pivot.
    listed: Vec<usize>,
    marked: Vec<usize>,
    candidates: Vec<Candidate>,
    groups: Rows,
}

impl<'a> Grouping<'a> {
    fn new(split: &'a Split, order: &'a [u32], p: usize, alpha: usize, columns: usize) -> Self {
        let own = |place: usize| split.sensitive.row(order[place] as usize);
        Self {
            split,
            order,
            p,
            reach: alpha.saturating_mul(p),
            sensitive: Remaining::new(order.len(), |place| !own(place).is_empty()),
            plain: Remaining::new(order.len(), |place| own(place).is_empty()),
            taken: vec![false; order.len()],
            histogram: Histogram::new(split, p),
            listed: vec![usize::MAX; split.items.len()],
            marked: vec![usize::MAX; columns],
            candidates: Vec::new(),
            groups: Rows::default(),
        }
    }

    fn sensitive_of(&self, place: usize) -> &'a [u32] {
        self.split.sensitive.row(self.order[place] as usize)
    }

    fn qid_of(&self, place: usize) -> &'a [u32] {
        self.split.qid.row(self.order[place] as usize)
    }

    /// Forms a group around `pivot`, unless it would break the invariant.
    fn form(&mut self, pivot: usize) -> bool {
        self.list_candidates(pivot);
        let needed = self.p - 1;
        if self.candidates.len() < needed {
            return false;
        }
        // Fig. 8, line 6. Only the set of the best matters, not their order.
        if needed > 0 && needed < self.candidates.len() {
            self.candidates.select_nth_unstable(needed - 1);
        }
        let others = self.candidates[..needed].iter().map(|c| c.place);
        let members: Vec<usize> = std::iter::once(pivot).chain(others).collect();
        let (split, order) = (self.split, self.order);
        let own = members.iter().flat_map(|&m| split.sensitive.row(order[m] as usize)).copied();
        // Lines 7 to 11.
        if !self.histogram.take(own, self.p) {
            return false;
        }
        for &place in &members {
            self.taken[place] = true;
            if self.sensitive_of(place).is_empty() {
                self.plain.remove(place);
            } else {
                self.sensitive.remove(place);
            }
        }
        self.groups.push(members.iter().map(|&place| order[place]));
        true
    }

    /// Fig. 8, line 5: the nearest records on both sides that conflict with
    /// neither the pivot nor each other.
    fn list_candidates(&mut self, pivot: usize) {
        self.candidates.clear();
        for &item in self.qid_of(pivot) {
            self.marked[item as usize] = pivot;
        }
        for &s in self.sensitive_of(pivot) {
            self.listed[s as usize] = pivot;
        }
        self.walk(pivot, Remaining::before);
        self.walk(pivot, Remaining::after);
    }

    fn walk(&mut self, pivot: usize, step: fn(&mut Remaining, usize) -> Option<usize>) {
        let mut plain = step(&mut self.plain, pivot);
        let mut sensitive = step(&mut self.sensitive, pivot);
        let (mut found, mut passed) = (0, 0);
        while found < self.reach {
            let near = |place: Option<usize>| place.map_or(usize::MAX, |i| i.abs_diff(pivot));
            if near(plain) < near(sensitive) {
                let Some(place) = plain else { break };
                self.add_candidate(pivot, place);
                plain = step(&mut self.plain, place);
                found += 1;
                continue;
            }
            let Some(place) = sensitive else { break };
            if self.sensitive_of(place).iter().any(|&s| self.listed[s as usize] == pivot) {
                passed += 1;
            } else {
                for &s in self.sensitive_of(place) {
                    self.listed[s as usize] = pivot;
                }
                self.add_candidate(pivot, place);
                found += 1;
            }
            sensitive = step(&mut self.sensitive, place);
            if passed >= self.reach.saturating_mul(PASSED) {
                sensitive = None;
            }
        }
    }

    fn add_candidate(&mut self, pivot: usize, place: usize) {
        let items = self.qid_of(place);
        let common = items.iter().filter(|&&i| self.marked[i as usize] == pivot).count();
        let own = self.sensitive_of(place);
        self.candidates.push(Candidate {
            optional: !own.iter().any(|&s| self.histogram.is_urgent(s)),
            missing: self.qid_of(pivot).len() - common,
            length: items.len(),
            distance: place.abs_diff(pivot),
            place,
        });
    }

    /// Fig. 8, line 13: what remains is one group.
    fn finish(mut self) -> Rows {
        let rest = (0..self.order.len()).filter(|&place| !self.taken[place]);
        let rest: Vec<u32> = rest.map(|place| self.order[place]).collect();
        if !rest.is_empty() {
            self.groups.push(rest);
        }
        self.groups
    }
}
