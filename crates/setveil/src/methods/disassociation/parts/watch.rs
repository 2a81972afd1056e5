//! One bar for all parts: each part begins its stages again, and only the steps
//! of one of them count.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::budget::Budget;
use crate::progress::{Progress, Stage};

/// Passes on the steps of one stage, and no stage.
pub(super) struct Watch<'a> {
    counted: Stage,
    progress: &'a dyn Progress,
    counts: AtomicBool,
}

impl<'a> Watch<'a> {
    pub(super) fn new(counted: Stage, progress: &'a dyn Progress) -> Self {
        Self { counted, progress, counts: AtomicBool::new(false) }
    }
}

impl Progress for Watch<'_> {
    fn stage(&self, stage: Stage, _total: Option<u64>) {
        self.counts.store(stage == self.counted, Ordering::Relaxed);
    }

    fn advance(&self, steps: u64) -> ControlFlow<()> {
        self.progress.advance(if self.counts.load(Ordering::Relaxed) { steps } else { 0 })
    }

    fn budget(&self) -> Budget {
        self.progress.budget()
    }
}
