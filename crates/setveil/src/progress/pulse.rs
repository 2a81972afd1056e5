//! Asking now and then, from loops whose rounds are too short to ask in each.

use super::Progress;
use crate::Result;

/// Collects steps and work of one thread and passes them on in portions.
///
/// A unit of work is about one item that is looked at; a portion takes
/// a thousandth of a second or so.
pub(crate) struct Pulse<'a> {
    progress: &'a dyn Progress,
    steps: u64,
    work: u64,
}

impl<'a> Pulse<'a> {
    /// How much work is done between two questions.
    pub(crate) const PORTION: u64 = 1 << 14;

    pub(crate) fn new(progress: &'a dyn Progress) -> Self {
        Self { progress, steps: 0, work: 0 }
    }

    /// So much work was done.
    #[inline]
    pub(crate) fn work(&mut self, work: usize) -> Result<()> {
        self.work += work as u64;
        if self.work < Self::PORTION { Ok(()) } else { self.flush() }
    }

    /// So many steps of the stage were done, each a unit of work.
    #[inline]
    pub(crate) fn done(&mut self, steps: usize) -> Result<()> {
        self.steps += steps as u64;
        self.work(steps)
    }

    /// Passes on what was collected.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.work = 0;
        self.progress.step(std::mem::take(&mut self.steps))
    }
}
