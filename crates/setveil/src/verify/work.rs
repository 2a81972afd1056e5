//! How much counting a release may cost.
//!
//! Whether every set of at most m items of a bag occurs k times is a question
//! about hitting sets: there are bags of a few kilobytes for which no quick
//! answer is known. A manifest is not trusted, so counting has a limit that
//! grows with what is published, and beyond it the answer is
//! [`Error::Undecided`]. Work is counted in steps, not in time: the same
//! release is decided, or not, on every machine and on any number of threads.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Error, Progress, Result};

/// Steps that any release may cost: about a second.
const BASE: u64 = 1 << 28;
/// Steps for every published occurrence of an item beyond that.
const PER_OCCURRENCE: u64 = 1 << 10;
/// Steps between two questions whether to go on.
const BETWEEN: u64 = 1 << 16;

/// What was done so far, on all threads, for one block of a release.
pub(super) struct Work<'a> {
    progress: &'a dyn Progress,
    spent: AtomicU64,
    limit: u64,
}

impl<'a> Work<'a> {
    pub(super) fn new(occurrences: u64, progress: &'a dyn Progress) -> Self {
        let limit = BASE.saturating_add(PER_OCCURRENCE.saturating_mul(occurrences));
        Self { progress, spent: AtomicU64::new(0), limit }
    }

    /// One thread's purse.
    pub(super) fn meter(&'a self) -> Meter<'a> {
        Meter { work: self, open: 0 }
    }

    fn undecided(&self) -> Error {
        Error::Undecided { limit: self.limit }
    }

    fn spend(&self, steps: u64) -> Result<()> {
        let before = self.spent.fetch_add(steps, Ordering::Relaxed);
        if before.saturating_add(steps) > self.limit {
            return Err(self.undecided());
        }
        self.progress.step(0)
    }
}

/// Counts steps and hands them on now and then.
pub(super) struct Meter<'a> {
    work: &'a Work<'a>,
    open: u64,
}

impl Meter<'_> {
    /// Fails when the limit is reached or the caller says stop.
    pub(super) fn step(&mut self, steps: u64) -> Result<()> {
        self.open += steps;
        if self.open < BETWEEN {
            return Ok(());
        }
        self.flush()
    }

    /// What a search says that gives up.
    pub(super) fn undecided(&self) -> Error {
        self.work.undecided()
    }

    /// Hands on what is left. The sum over all threads is the same however
    /// the work was divided.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.work.spend(std::mem::take(&mut self.open))
    }
}
